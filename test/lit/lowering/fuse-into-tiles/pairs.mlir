// What reads tiles element by element is done where they are written, if nothing else needs them.
// RUN: nn-opt --fuse-into-tiles --split-input-file %s | filecheck %s

// A bias that is repeated, and a residual addition after it; the result lies transposed.

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[EVEN:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2)>
// CHECK-DAG: #[[ODD:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[EVEN_T:.*]] = affine_map<(d0, d1) -> (d1 * 2, d0)>
// CHECK-DAG: #[[ODD_T:.*]] = affine_map<(d0, d1) -> (d1 * 2 + 1, d0)>
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: memref<3x4xf32>, %[[B:.*]]: memref<3xf32>, %[[R:.*]]: memref<3x8xf32>, %[[Y:.*]]: memref<8x3xf32>)
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[IN]], #[[BIAS]], #[[EVEN]], #[[ODD]], #[[EVEN_T]], #[[ODD_T]]]
// CHECK-SAME:      ins(%[[X]], %[[B]], %[[R]], %[[R]] : {{.*}}) outs(%[[Y]], %[[Y]] :
// CHECK-NEXT:    ^bb0(%[[E:[a-z0-9_]+]]: f32, %[[C:[a-z0-9_]+]]: f32, %[[R0:[a-z0-9_]+]]: f32, %[[R1:[a-z0-9_]+]]: f32,
// CHECK-NEXT:      %[[N:.*]] = arith.negf %[[E]]
// CHECK-NEXT:      %[[S0:.*]] = arith.addf %[[E]], %[[C]]
// CHECK-NEXT:      %[[S1:.*]] = arith.addf %[[N]], %[[C]]
// CHECK-NEXT:      %[[T0:.*]] = arith.addf %[[S0]], %[[R0]]
// CHECK-NEXT:      %[[T1:.*]] = arith.addf %[[S1]], %[[R1]]
// CHECK-NEXT:      linalg.yield %[[T0]], %[[T1]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
#in = affine_map<(i, j) -> (i, j)>
#even = affine_map<(i, j) -> (i, j * 2)>
#odd = affine_map<(i, j) -> (i, j * 2 + 1)>
#row = affine_map<(i, j) -> (i)>
#transposed = affine_map<(i, j) -> (j, i)>
func.func @chain(%x: memref<3x4xf32>, %b: memref<3xf32>, %r: memref<3x8xf32>, %y: memref<8x3xf32>) {
  %t = memref.alloc() : memref<3x8xf32>
  linalg.generic {indexing_maps = [#in, #even, #odd], iterator_types = ["parallel", "parallel"]} ins(%x : memref<3x4xf32>) outs(%t, %t : memref<3x8xf32>, memref<3x8xf32>) {
  ^bb0(%e: f32, %o0: f32, %o1: f32):
    %0 = arith.negf %e : f32
    linalg.yield %e, %0 : f32, f32
  }
  %u = memref.alloc() : memref<3x8xf32>
  linalg.generic {indexing_maps = [#in, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%t, %b : memref<3x8xf32>, memref<3xf32>) outs(%u : memref<3x8xf32>) {
  ^bb0(%e: f32, %bias: f32, %o: f32):
    %0 = arith.addf %e, %bias : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #in, #transposed], iterator_types = ["parallel", "parallel"]} ins(%u, %r : memref<3x8xf32>, memref<3x8xf32>) outs(%y : memref<8x3xf32>) {
  ^bb0(%e: f32, %old: f32, %o: f32):
    %0 = arith.addf %e, %old : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<3x8xf32>
  memref.dealloc %u : memref<3x8xf32>
  return
}

// -----

// The tiles are not all of the buffer: the rest is read too.

// CHECK-LABEL: func.func @gaps
// CHECK-COUNT-2: linalg.generic
#third = affine_map<(i) -> (i * 3)>
#next = affine_map<(i) -> (i * 3 + 1)>
#id = affine_map<(i) -> (i)>
func.func @gaps(%x: memref<4xf32>, %y: memref<12xf32>) {
  %t = memref.alloc() : memref<12xf32>
  linalg.generic {indexing_maps = [#id, #third, #next], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%t, %t : memref<12xf32>, memref<12xf32>) {
  ^bb0(%e: f32, %o0: f32, %o1: f32):
    linalg.yield %e, %e : f32, f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : memref<12xf32>) outs(%y : memref<12xf32>) {
  ^bb0(%e: f32, %o: f32):
    %0 = arith.negf %e : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<12xf32>
  return
}

// -----

// Two need them; one needs other elements than those at its place; what the tiles are made of is
// overwritten between, or by what reads them.

// CHECK-LABEL: func.func @two_readers
// CHECK-COUNT-3: linalg.
// CHECK-LABEL: func.func @neighbours
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @overwritten
// CHECK-COUNT-3: linalg.
// CHECK-LABEL: func.func @in_place
// CHECK:         linalg.generic
// CHECK:         linalg.copy
#even1 = affine_map<(i) -> (i * 2)>
#odd1 = affine_map<(i) -> (i * 2 + 1)>
#one = affine_map<(i) -> (i)>
#window = affine_map<(i) -> (i + 1)>
func.func @two_readers(%x: memref<4xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#one, #even1, #odd1], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%t, %t : memref<8xf32>, memref<8xf32>) {
  ^bb0(%e: f32, %o0: f32, %o1: f32):
    linalg.yield %e, %e : f32, f32
  }
  linalg.copy ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  linalg.copy ins(%t : memref<8xf32>) outs(%z : memref<8xf32>)
  memref.dealloc %t : memref<8xf32>
  return
}
func.func @neighbours(%x: memref<4xf32>, %y: memref<7xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#one, #even1, #odd1], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%t, %t : memref<8xf32>, memref<8xf32>) {
  ^bb0(%e: f32, %o0: f32, %o1: f32):
    linalg.yield %e, %e : f32, f32
  }
  linalg.generic {indexing_maps = [#window, #one], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<7xf32>) {
  ^bb0(%e: f32, %o: f32):
    %0 = arith.negf %e : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<8xf32>
  return
}
func.func @overwritten(%x: memref<4xf32>, %y: memref<8xf32>, %c: f32) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#one, #even1, #odd1], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%t, %t : memref<8xf32>, memref<8xf32>) {
  ^bb0(%e: f32, %o0: f32, %o1: f32):
    linalg.yield %e, %e : f32, f32
  }
  linalg.fill ins(%c : f32) outs(%x : memref<4xf32>)
  linalg.copy ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %t : memref<8xf32>
  return
}
func.func @in_place(%x: memref<8xf32>, %y: memref<4xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#one, #odd1, #even1, #odd1], iterator_types = ["parallel"]} ins(%y, %x : memref<4xf32>, memref<8xf32>) outs(%t, %t : memref<8xf32>, memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32):
    linalg.yield %a, %b : f32, f32
  }
  linalg.copy ins(%t : memref<8xf32>) outs(%x : memref<8xf32>)
  memref.dealloc %t : memref<8xf32>
  return
}

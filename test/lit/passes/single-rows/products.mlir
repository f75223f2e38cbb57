// Products of open rows with large matrices get code for one row.
// RUN: nn-opt --single-rows='target=x86-64-v3' --split-input-file %s | filecheck %s

// CHECK-LABEL: @fires
// CHECK:         %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %[[ROWS]], %{{.*}} : index
// CHECK:         scf.if %[[ONE]] {
// CHECK:           memref.cast %{{.*}} : memref<?x?x512xf32> to memref<1x1x512xf32>
// CHECK:           func.call @k_row
// CHECK:         } else {
// CHECK:           func.call @k(%
// CHECK:       func.func private @k(
// CHECK:       func.func private @k_row(%{{.*}}: memref<1x1x512xf32>, %{{.*}}: memref<512x1024xf32>, %{{.*}}: memref<1x1x1024xf32>) attributes {nn.kernel}
func.func @fires(%x: memref<?x?x512xf32>, %w: memref<512x1024xf32>, %y: memref<?x?x1024xf32>) {
  call @k(%x, %w, %y) : (memref<?x?x512xf32>, memref<512x1024xf32>, memref<?x?x1024xf32>) -> ()
  return
}
func.func private @k(%x: memref<?x?x512xf32>, %w: memref<512x1024xf32>, %y: memref<?x?x1024xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<?x?x1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(a, b, n, k) -> (a, b, k)>, affine_map<(a, b, n, k) -> (k, n)>, affine_map<(a, b, n, k) -> (a, b, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : memref<?x?x512xf32>, memref<512x1024xf32>) outs(%y : memref<?x?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A matrix that a core holds is not what takes the time.
// CHECK-LABEL: @small_matrix
// CHECK-NOT:     scf.if
func.func @small_matrix(%x: memref<?x16xf32>, %w: memref<16x32xf32>, %y: memref<?x32xf32>) {
  call @k(%x, %w, %y) : (memref<?x16xf32>, memref<16x32xf32>, memref<?x32xf32>) -> ()
  return
}
func.func private @k(%x: memref<?x16xf32>, %w: memref<16x32xf32>, %y: memref<?x32xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(a, n, k) -> (a, k)>, affine_map<(a, n, k) -> (k, n)>, affine_map<(a, n, k) -> (a, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<?x16xf32>, memref<16x32xf32>) outs(%y : memref<?x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// An extent that counts no rows stays open for one row too.
// CHECK-LABEL: @open_depth
// CHECK-NOT:     scf.if
func.func @open_depth(%x: memref<?x512xf32>, %w: memref<512x1024xf32>, %z: memref<?x1024xf32>, %y: memref<?x1024xf32>) {
  call @k(%x, %w, %z, %y) : (memref<?x512xf32>, memref<512x1024xf32>, memref<?x1024xf32>, memref<?x1024xf32>) -> ()
  return
}
func.func private @k(%x: memref<?x512xf32>, %w: memref<512x1024xf32>, %z: memref<?x1024xf32>, %y: memref<?x1024xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(a, n, k) -> (a, k)>, affine_map<(a, n, k) -> (k, n)>, affine_map<(a, n, k) -> (a, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<?x512xf32>, memref<512x1024xf32>) outs(%y : memref<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(z, a, n) -> (z, n)>, affine_map<(z, a, n) -> (a, n)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%z : memref<?x1024xf32>) outs(%y : memref<?x1024xf32>) {
  ^bb0(%a: f32, %c: f32):
    %1 = arith.addf %c, %a : f32
    linalg.yield %1 : f32
  }
  return
}

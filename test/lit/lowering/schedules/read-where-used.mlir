// A reduction that keeps its dimensions computes what it reads inside its own loops.
// RUN: nn-opt --choose-schedules='target=x86-64-v4' --apply-schedules='target=x86-64-v4' %s | filecheck %s

// CHECK-LABEL: func.func private @spatial_mean
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             arith.sitofp
// CHECK-NEXT:        arith.addf
// CHECK-NEXT:        scf.yield
func.func private @spatial_mean(%x: memref<1x4x5x5x16xi8>, %out: memref<1x4x1x1x16xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %wide = memref.alloc() : memref<1x4x5x5x16xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j, l, m, n) -> (i, j, l, m, n)>, affine_map<(i, j, l, m, n) -> (i, j, l, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<1x4x5x5x16xi8>) outs(%wide : memref<1x4x5x5x16xf32>) {
  ^bb0(%in: i8, %o: f32):
    %0 = arith.sitofp %in : i8 to f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%out : memref<1x4x1x1x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, l, m, n, r, s) -> (i, j, r, s, n)>, affine_map<(i, j, l, m, n, r, s) -> (i, j, l, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%wide : memref<1x4x5x5x16xf32>) outs(%out : memref<1x4x1x1x16xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %o, %in : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %wide : memref<1x4x5x5x16xf32>
  return
}

// What only an epilogue reads is computed on its tile, too.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func private @shortcut
// CHECK-NOT:     memref.alloc
// CHECK:         vector.contract
// CHECK:         arith.sitofp
// CHECK-NEXT:    arith.addf
func.func private @shortcut(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %q: memref<64x64xi8>, %out: memref<64x64xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %product = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%product : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%product : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  %wide = memref.alloc() : memref<64x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : memref<64x64xi8>) outs(%wide : memref<64x64xf32>) {
  ^bb0(%in: i8, %o: f32):
    %0 = arith.sitofp %in : i8 to f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%product, %wide : memref<64x64xf32>, memref<64x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%in: f32, %other: f32, %o: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %product : memref<64x64xf32>
  memref.dealloc %wide : memref<64x64xf32>
  return
}

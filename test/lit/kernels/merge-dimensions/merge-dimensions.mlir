// RUN: nn-opt --merge-dimensions=target=cuda %s | filecheck %s
// RUN: nn-opt --merge-dimensions=target=host %s | filecheck %s --check-prefix=HOST
// Rows and columns are one dimension where all operations go over both alike, also through a window
// of one element and where images are farther apart than they are long.

// HOST-NOT: collapse_shape

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
#image = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#weight = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#out = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func private @product
// CHECK: %[[X:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : memref<1x4x7x7xf32, strided<[224, 56, 7, 1]>> into memref<1x4x49xf32, strided<[224, 56, 1]>>
// CHECK: %[[Y:.*]] = memref.collapse_shape %{{.*}} : memref<1x8x7x7xf32> into memref<1x8x49xf32>
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #{{.*}}, #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[X]]
// CHECK-SAME: outs(%[[Y]]
func.func private @product(%x: memref<1x4x7x7xf32, strided<[224, 56, 7, 1]>>, %w: memref<8x4x1x1xf32>, %y: memref<1x8x7x7xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x4x7x7xf32, strided<[224, 56, 7, 1]>>, memref<8x4x1x1xf32>) outs(%y : memref<1x8x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A real window tells rows from columns.
// CHECK-LABEL: func.func private @window
// CHECK-NOT: collapse_shape
func.func private @window(%x: memref<1x4x9x9xf32>, %w: memref<8x4x3x3xf32>, %y: memref<1x8x7x7xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x4x9x9xf32>, memref<8x4x3x3xf32>) outs(%y : memref<1x8x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// So do an operand of one dimension, one that is turned, numbers of rows, open extents, rows apart,
// and an operation that stands in a loop.
// CHECK-LABEL: func.func private @apart
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func private @merged
func.func private @apart(%a: memref<3x5xf32>, %b: memref<3xf32>, %c: memref<3x5xf32>, %t: memref<5x3xf32>, %n: memref<3x5xindex>, %o: memref<?x5xf32>, %s: memref<3x5xf32, strided<[8, 1]>>, %l: memref<3x5xf32>, %z: f32, %low: index, %high: index) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b : memref<3xf32>) outs(%a : memref<3x5xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<5x3xf32>) outs(%c : memref<3x5xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%n : memref<3x5xindex>) {
  ^bb0(%q: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  }
  linalg.fill ins(%z : f32) outs(%o : memref<?x5xf32>)
  linalg.fill ins(%z : f32) outs(%s : memref<3x5xf32, strided<[8, 1]>>)
  scf.for %k = %low to %high step %low {
    linalg.fill ins(%z : f32) outs(%l : memref<3x5xf32>)
  }
  return
}

// Both buffers of a copy, and one that the kernel makes for itself.
// CHECK: %[[A:.*]] = memref.collapse_shape %{{.*}} : memref<3x5xf32> into memref<15xf32>
// CHECK: memref.alloc() : memref<15xf32>
// CHECK: linalg.copy ins(%[[A]] : memref<15xf32>)
func.func private @merged(%a: memref<3x5xf32>) attributes {nn.kernel} {
  %b = memref.alloc() : memref<3x5xf32>
  linalg.copy ins(%a : memref<3x5xf32>) outs(%b : memref<3x5xf32>)
  memref.dealloc %b : memref<3x5xf32>
  return
}

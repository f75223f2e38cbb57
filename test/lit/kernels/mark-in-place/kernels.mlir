// A result may be written over an operand whose element at the same place it needs, and nothing else does.
// RUN: nn-opt --mark-in-place %s | filecheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#turned = affine_map<(i, j) -> (j, i)>

// Directly: both operands qualify.
// CHECK-LABEL: @add(
// CHECK-SAME: memref<8x8xf32> {nn.in_place}, %{{.*}}: memref<8x8xf32> {nn.in_place}, %{{.*}}: memref<8x8xf32> {nn.in_place = array<i64: 0, 1>})
func.func private @add(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %out: memref<8x8xf32>) attributes {nn.kernel} {
  linalg.map { arith.addf } ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%out : memref<8x8xf32>)
  return
}

// Through a buffer, and next to a product: the residual qualifies, what is multiplied does not.
// CHECK-LABEL: @product_add(
// CHECK-SAME: %{{.*}}: memref<8x8xf32>, %{{.*}}: memref<8x8xf32>, %{{.*}}: memref<8x8xf32> {nn.in_place}, %{{.*}}: memref<8x8xf32> {nn.in_place = array<i64: 2>})
func.func private @product_add(%a: memref<8x8xf32>, %w: memref<8x8xf32>, %r: memref<8x8xf32>, %out: memref<8x8xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8x8xf32>)
  linalg.matmul ins(%a, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%t : memref<8x8xf32>)
  %s = memref.alloc() : memref<8x8xf32>
  linalg.map { arith.addf } ins(%t, %r : memref<8x8xf32>, memref<8x8xf32>) outs(%s : memref<8x8xf32>)
  linalg.map { math.absf } ins(%s : memref<8x8xf32>) outs(%out : memref<8x8xf32>)
  memref.dealloc %t : memref<8x8xf32>
  memref.dealloc %s : memref<8x8xf32>
  return
}

// Each element needs all of its row, so the row has been read before it is written.
// CHECK-LABEL: @row_sum(
// CHECK-SAME: memref<8x8xf32> {nn.in_place}, %{{.*}}: memref<8x8xf32> {nn.in_place = array<i64: 0>})
func.func private @row_sum(%x: memref<8x8xf32>, %out: memref<8x8xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %0 = arith.addf %sum, %e : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %t : memref<8x8xf32>, memref<8xf32>) outs(%out : memref<8x8xf32>) {
  ^bb0(%e: f32, %sum: f32, %old: f32):
    %0 = arith.divf %e, %sum : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<8xf32>
  return
}

// The sum of another row: rows below are read after the one above is written.
// CHECK-LABEL: @column_sum_by_row(
// CHECK-NOT: nn.in_place
// CHECK: return
func.func private @column_sum_by_row(%x: memref<8x8xf32>, %out: memref<8x8xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8xf32>)
  linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %0 = arith.addf %sum, %e : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<8xf32>) outs(%out : memref<8x8xf32>) {
  ^bb0(%sum: f32, %old: f32):
    linalg.yield %sum : f32
  }
  memref.dealloc %t : memref<8xf32>
  return
}

// CHECK-LABEL: @transpose(
// CHECK-NOT: nn.in_place
// CHECK: return
func.func private @transpose(%x: memref<8x8xf32>, %out: memref<8x8xf32>) attributes {nn.kernel} {
  linalg.transpose ins(%x : memref<8x8xf32>) outs(%out : memref<8x8xf32>) permutation = [1, 0]
  return
}

// Other columns of the product need the element too.
// CHECK-LABEL: @product(
// CHECK-NOT: nn.in_place
// CHECK: return
func.func private @product(%a: memref<8x8xf32>, %w: memref<8x8xf32>, %out: memref<8x8xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8x8xf32>)
  linalg.matmul ins(%a, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%t : memref<8x8xf32>)
  linalg.map { math.absf } ins(%t : memref<8x8xf32>) outs(%out : memref<8x8xf32>)
  memref.dealloc %t : memref<8x8xf32>
  return
}

// A second stage reads the operand and the result does not need what it makes.
// CHECK-LABEL: @two_results(
// CHECK-SAME: memref<8x8xf32>, %{{.*}}: memref<8x8xf32>, %{{.*}}: memref<8x8xf32>)
func.func private @two_results(%x: memref<8x8xf32>, %first: memref<8x8xf32>, %second: memref<8x8xf32>) attributes {nn.kernel} {
  linalg.map { math.absf } ins(%x : memref<8x8xf32>) outs(%first : memref<8x8xf32>)
  linalg.map { math.sqrt } ins(%x : memref<8x8xf32>) outs(%second : memref<8x8xf32>)
  return
}

// CHECK-LABEL: @no_kernel(
// CHECK-NOT: nn.in_place
// CHECK: return
func.func private @no_kernel(%x: memref<8x8xf32>, %out: memref<8x8xf32>) {
  linalg.map { math.absf } ins(%x : memref<8x8xf32>) outs(%out : memref<8x8xf32>)
  return
}

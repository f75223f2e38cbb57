// Packed weights are unpacked for all rows where these are many, and for each tile where they are few.
// RUN: nn-opt --decompose %s | filecheck %s

// CHECK-LABEL: @many_rows
// CHECK:         %[[W:.*]] = nn.dequantize_words %arg1, %arg2 {middle = 8 : i64} {{.*}} -> tensor<2x2x4x8x16xf32>
// CHECK:         nn.unpacked_matmul %arg0, %[[W]]
func.func @many_rows(%x: tensor<4x8x2x4x8xf32>, %w: tensor<2x2x4x16xi32>, %s: tensor<2x2x16xf32>) -> tensor<4x8x2x16xf32> {
  %y = nn.quantized_matmul %x, %w, %s {middle = 8 : i64} : (tensor<4x8x2x4x8xf32>, tensor<2x2x4x16xi32>, tensor<2x2x16xf32>) -> tensor<4x8x2x16xf32>
  return %y : tensor<4x8x2x16xf32>
}

// CHECK-LABEL: @few_rows
// CHECK:         nn.quantized_matmul
func.func @few_rows(%x: tensor<8x2x4x8xf32>, %w: tensor<2x2x4x16xi32>, %s: tensor<2x2x16xf32>) -> tensor<8x2x16xf32> {
  %y = nn.quantized_matmul %x, %w, %s {middle = 8 : i64} : (tensor<8x2x4x8xf32>, tensor<2x2x4x16xi32>, tensor<2x2x16xf32>) -> tensor<8x2x16xf32>
  return %y : tensor<8x2x16xf32>
}

// CHECK-LABEL: @open_rows
// CHECK:         nn.quantized_matmul
func.func @open_rows(%x: tensor<?x2x4x8xf32>, %w: tensor<2x2x4x16xi32>, %s: tensor<2x2x16xf32>) -> tensor<?x2x16xf32> {
  %y = nn.quantized_matmul %x, %w, %s {middle = 8 : i64} : (tensor<?x2x4x8xf32>, tensor<2x2x4x16xi32>, tensor<2x2x16xf32>) -> tensor<?x2x16xf32>
  return %y : tensor<?x2x16xf32>
}

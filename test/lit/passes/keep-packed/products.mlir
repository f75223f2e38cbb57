// Products with packed integers become products of words; columns are padded to whole blocks.
// RUN: nn-opt --keep-packed='target=x86-64-v4' --split-input-file %s | filecheck %s

// CHECK-LABEL: @fires
// CHECK-DAG:     nn.words {{.*}} -> tensor<16x2x4xi32>
// CHECK-DAG:     %[[WORDS:.*]] = nn.transpose {{.*}} -> tensor<1x2x4x16xi32>
// CHECK-DAG:     %[[SCALE:.*]] = nn.transpose {{.*}} -> tensor<1x2x16xf16>
// CHECK-DAG:     %[[X:.*]] = nn.reshape %arg0 : (tensor<?x3x64xf32>) -> tensor<?x3x2x4x8xf32>
// CHECK:         %[[Y:.*]] = nn.quantized_matmul %[[X]], %[[WORDS]], %[[SCALE]] {middle = 8 : i64}
// CHECK:         nn.reshape %[[Y]] : (tensor<?x3x1x16xf32>) -> tensor<?x3x16xf32>
// CHECK:         nn.slice {{.*}} -> tensor<?x3x12xf32>
func.func @fires(%x: tensor<?x3x64xf32>) -> tensor<?x3x12xf32> {
  %bytes = nn.constant dense<135> : tensor<12x2x16xui8>
  %scale = nn.constant dense<0.5> : tensor<12x2xf16>
  %0 = nn.dequantize %bytes, %scale {middle = 8 : i64} : (tensor<12x2x16xui8>, tensor<12x2xf16>) -> tensor<12x2x16x2xf32>
  %1 = nn.reshape %0 : (tensor<12x2x16x2xf32>) -> tensor<12x64xf32>
  %w = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<12x64xf32>) -> tensor<64x12xf32>
  %y = nn.matmul %x, %w : (tensor<?x3x64xf32>, tensor<64x12xf32>) -> tensor<?x3x12xf32>
  return %y : tensor<?x3x12xf32>
}

// -----

// The last group is longer than what is left of a row: zeros take part in the product.
// CHECK-LABEL: @fills_groups
// CHECK:         %[[X:.*]] = nn.pad %arg0, {{.*}} -> tensor<2x32xf32>
// CHECK:         nn.reshape %[[X]] : (tensor<2x32xf32>) -> tensor<2x2x4x4xf32>
// CHECK:         nn.quantized_matmul {{.*}} {bits = 8 : i64}
func.func @fills_groups(%x: tensor<2x30xf32>) -> tensor<2x16xf32> {
  %bytes = nn.constant dense<7> : tensor<16x2x16xui8>
  %scale = nn.constant dense<0.5> : tensor<16x2xf32>
  %0 = nn.dequantize %bytes, %scale, %scale {bits = 8 : i64} : (tensor<16x2x16xui8>, tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<16x2x16x1xf32>
  %1 = nn.reshape %0 : (tensor<16x2x16x1xf32>) -> tensor<16x32xf32>
  %2 = nn.slice %1 {starts = array<i64: 0, 0>} : (tensor<16x32xf32>) -> tensor<16x30xf32>
  %w = nn.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<16x30xf32>) -> tensor<30x16xf32>
  %y = nn.matmul %x, %w : (tensor<2x30xf32>, tensor<30x16xf32>) -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// -----

// Integers that are computed are not packed in words.
// CHECK-LABEL: @declines
// CHECK:         nn.matmul
func.func @declines(%x: tensor<2x32xf32>, %bytes: tensor<16x1x16xui8>) -> tensor<2x16xf32> {
  %scale = nn.constant dense<0.5> : tensor<16x1xf32>
  %0 = nn.dequantize %bytes, %scale {middle = 8 : i64} : (tensor<16x1x16xui8>, tensor<16x1xf32>) -> tensor<16x1x16x2xf32>
  %1 = nn.reshape %0 : (tensor<16x1x16x2xf32>) -> tensor<16x32xf32>
  %w = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %y = nn.matmul %x, %w : (tensor<2x32xf32>, tensor<32x16xf32>) -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// -----

// CHECK-LABEL: @gathers
// CHECK-DAG:     %[[X:.*]] = nn.gather {{.*}} : (tensor<16x2x16xui8>, tensor<3x?xi64>) -> tensor<3x?x2x16xui8>
// CHECK-DAG:     %[[SCALE:.*]] = nn.gather {{.*}} -> tensor<3x?x2xf32>
// CHECK:         nn.dequantize %[[X]], %[[SCALE]] {middle = 8 : i64}
func.func @gathers(%i: tensor<3x?xi64>) -> tensor<3x?x64xf32> {
  %bytes = nn.constant dense<135> : tensor<16x2x16xui8>
  %scale = nn.constant dense<0.5> : tensor<16x2xf32>
  %0 = nn.dequantize %bytes, %scale {middle = 8 : i64} : (tensor<16x2x16xui8>, tensor<16x2xf32>) -> tensor<16x2x16x2xf32>
  %w = nn.reshape %0 : (tensor<16x2x16x2xf32>) -> tensor<16x64xf32>
  %y = nn.gather %w, %i {axis = 0 : i64} : (tensor<16x64xf32>, tensor<3x?xi64>) -> tensor<3x?x64xf32>
  return %y : tensor<3x?x64xf32>
}

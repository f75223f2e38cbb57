// Rows that the model allows to be rounded to bytes are, where an instruction multiplies bytes: each
// step of 32 numbers, or of a shorter group, has a scale.
// RUN: nn-opt --keep-packed='target=neoverse-n1' --split-input-file %s | filecheck %s
// RUN: nn-opt --keep-packed='target=x86-64-v3' --split-input-file %s | filecheck %s --check-prefix=FLOATS

// CHECK-LABEL: @fires
// CHECK:         nn.reduce_max {{.*}} -> tensor<?x2x2x1xf32>
// CHECK:         nn.reduce_sum {{.*}} -> tensor<?x2x2xf32>
// CHECK:         nn.words {{.*}} -> tensor<?x2x2x4x2x1xi32>
// CHECK:         nn.quantized_byte_matmul {{.*}} {packing = "s8"} : (tensor<?x2x2x4x2xi32>, tensor<{{.*}}x2x2x4x{{.*}}xi32>
// FLOATS-LABEL: @fires
// FLOATS:         nn.quantized_matmul
func.func @fires(%x: tensor<?x128xf32>) -> tensor<?x16xf32> {
  %bytes = nn.constant dense<135> : tensor<16x2x32xui8>
  %scale = nn.constant dense<0.5> : tensor<16x2xf16>
  %0 = nn.dequantize %bytes, %scale {middle = 8 : i64, factor_bits = 8 : i64} : (tensor<16x2x32xui8>, tensor<16x2xf16>) -> tensor<16x2x32x2xf32>
  %1 = nn.reshape %0 : (tensor<16x2x32x2xf32>) -> tensor<16x128xf32>
  %w = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<16x128xf32>) -> tensor<128x16xf32>
  %y = nn.matmul %x, %w : (tensor<?x128xf32>, tensor<128x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// Unsigned integers of 8 bits are no signed bytes.
// CHECK-LABEL: @declines
// CHECK:         nn.quantized_matmul
// FLOATS-LABEL: @declines
func.func @declines(%x: tensor<2x32xf32>) -> tensor<2x16xf32> {
  %bytes = nn.constant dense<7> : tensor<16x1x32xui8>
  %scale = nn.constant dense<0.5> : tensor<16x1xf32>
  %0 = nn.dequantize %bytes, %scale {bits = 8 : i64, middle = 128 : i64, factor_bits = 8 : i64} : (tensor<16x1x32xui8>, tensor<16x1xf32>) -> tensor<16x1x32x1xf32>
  %1 = nn.reshape %0 : (tensor<16x1x32x1xf32>) -> tensor<16x32xf32>
  %w = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %y = nn.matmul %x, %w : (tensor<2x32xf32>, tensor<32x16xf32>) -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

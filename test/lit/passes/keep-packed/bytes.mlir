// Matrices of 8-bit integers that no core holds stay integers for few rows.
// RUN: nn-opt --keep-packed='target=x86-64-v4' --split-input-file %s | filecheck %s

// CHECK-LABEL: @fires
// CHECK:         %[[WORDS:.*]] = nn.transpose {{.*}} -> tensor<64x1x128x16xi32>
// CHECK:         %[[Y:.*]] = nn.quantized_matmul {{.*}}, %[[WORDS]], {{.*}} {bits = 8 : i64, middle = 128 : i64}
// CHECK:         nn.reshape %[[Y]] : (tensor<1x64x16xf32>) -> tensor<1x1024xf32>
func.func @fires(%x: tensor<1x512xf32>) -> tensor<1x1024xf32> {
  %bytes = nn.constant dense<7> : tensor<512x1024xi8>
  %scale = nn.constant dense<0.5> : tensor<1024xf32>
  %0 = nn.cast %bytes : (tensor<512x1024xi8>) -> tensor<512x1024xf32>
  %w = nn.mul %0, %scale : (tensor<512x1024xf32>, tensor<1024xf32>) -> tensor<512x1024xf32>
  %y = nn.matmul %x, %w : (tensor<1x512xf32>, tensor<512x1024xf32>) -> tensor<1x1024xf32>
  return %y : tensor<1x1024xf32>
}

// -----

// Many rows are bound by arithmetic, and floats take less of it.
// CHECK-LABEL: @many_rows
// CHECK-NOT:     nn.quantized_matmul
func.func @many_rows(%x: tensor<64x512xf32>) -> tensor<64x1024xf32> {
  %bytes = nn.constant dense<7> : tensor<512x1024xi8>
  %scale = nn.constant dense<0.5> : tensor<1024xf32>
  %0 = nn.cast %bytes : (tensor<512x1024xi8>) -> tensor<512x1024xf32>
  %w = nn.mul %0, %scale : (tensor<512x1024xf32>, tensor<1024xf32>) -> tensor<512x1024xf32>
  %y = nn.matmul %x, %w : (tensor<64x512xf32>, tensor<512x1024xf32>) -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}

// -----

// Scales along rows of the matrix belong to x.
// CHECK-LABEL: @scaled_rows
// CHECK-NOT:     nn.quantized_matmul
func.func @scaled_rows(%x: tensor<1x1024xf32>) -> tensor<1x1024xf32> {
  %bytes = nn.constant dense<7> : tensor<1024x1024xi8>
  %scale = nn.constant dense<0.5> : tensor<1024x1xf32>
  %0 = nn.cast %bytes : (tensor<1024x1024xi8>) -> tensor<1024x1024xf32>
  %w = nn.mul %0, %scale : (tensor<1024x1024xf32>, tensor<1024x1xf32>) -> tensor<1024x1024xf32>
  %y = nn.matmul %x, %w : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  return %y : tensor<1x1024xf32>
}

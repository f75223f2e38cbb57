// Where words hold pairs of integers, Winograd's algorithm on f32 beats products of integers; where an instruction multiplies bytes, it does not.
// RUN: nn-opt --use-integers=target=x86-64-v3 %s | filecheck %s
// RUN: nn-opt --use-integers=target=neoverse-n1 %s | filecheck --check-prefix=BYTES %s

// CHECK-LABEL: @window
// CHECK:         nn.conv {{.*}} -> tensor<1x64x56x56xf32>
// BYTES-LABEL: @window
// BYTES:         nn.conv {{.*}} -> tensor<1x64x56x56xi32>
func.func @window(%xi: tensor<1x64x56x56xui8>) -> tensor<1x64x56x56xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %wi = nn.constant dense<3> : tensor<64x64x3x3xi8>
  %0 = nn.cast %xi : (tensor<1x64x56x56xui8>) -> tensor<1x64x56x56xf32>
  %x = nn.mul %0, %scale : (tensor<1x64x56x56xf32>, tensor<f32>) -> tensor<1x64x56x56xf32>
  %1 = nn.cast %wi : (tensor<64x64x3x3xi8>) -> tensor<64x64x3x3xf32>
  %w = nn.mul %1, %scale : (tensor<64x64x3x3xf32>, tensor<f32>) -> tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}

// There is nothing that Winograd's algorithm saves.
// CHECK-LABEL: @place
// CHECK:         nn.conv {{.*}} -> tensor<1x64x56x56xi32>
func.func @place(%xi: tensor<1x64x56x56xui8>) -> tensor<1x64x56x56xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %wi = nn.constant dense<3> : tensor<64x64x1x1xi8>
  %0 = nn.cast %xi : (tensor<1x64x56x56xui8>) -> tensor<1x64x56x56xf32>
  %x = nn.mul %0, %scale : (tensor<1x64x56x56xf32>, tensor<f32>) -> tensor<1x64x56x56xf32>
  %1 = nn.cast %wi : (tensor<64x64x1x1xi8>) -> tensor<64x64x1x1xf32>
  %w = nn.mul %1, %scale : (tensor<64x64x1x1xf32>, tensor<f32>) -> tensor<64x64x1x1xf32>
  %y = nn.conv %x, %w : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}

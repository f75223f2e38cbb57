// Convolutions of 16-bit floats become ones of f32, unless their weights outweigh the products.
// RUN: nn-opt --widen-convolutions %s | filecheck %s
// RUN: nn-opt --widen-convolutions --check-numerics %s

// CHECK-LABEL: @fires
// CHECK-DAG:     %[[X:.*]] = nn.cast %arg0 : (tensor<1x3x34x34xf16>) -> tensor<1x3x34x34xf32>
// CHECK-DAG:     %[[W:.*]] = nn.cast %{{.*}} : (tensor<8x3x3x3xf16>) -> tensor<8x3x3x3xf32>
// CHECK-DAG:     %[[B:.*]] = nn.cast %{{.*}} : (tensor<8xf16>) -> tensor<8xf32>
// CHECK:         %[[Y:.*]] = nn.conv %[[X]], %[[W]], %[[B]]
// CHECK:         nn.cast %[[Y]] : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf16>
func.func @fires(%x: tensor<1x3x34x34xf16>) -> tensor<1x8x32x32xf16> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf16>
  %b = nn.constant dense<0.25> : tensor<8xf16>
  %y = nn.conv %x, %w, %b : (tensor<1x3x34x34xf16>, tensor<8x3x3x3xf16>, tensor<8xf16>) -> tensor<1x8x32x32xf16>
  return %y : tensor<1x8x32x32xf16>
}

// Of images whose extents only the run tells, usual ones count.
// CHECK-LABEL: @fires_on_open_images
// CHECK:         nn.conv {{.*}} tensor<1x8x?x?xf32>
func.func @fires_on_open_images(%x: tensor<1x3x?x?xbf16>) -> tensor<1x8x?x?xbf16> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xbf16>
  %y = nn.conv %x, %w : (tensor<1x3x?x?xbf16>, tensor<8x3x3x3xbf16>) -> tensor<1x8x?x?xbf16>
  return %y : tensor<1x8x?x?xbf16>
}

// Each weight is read for one result, and larger ones take longer to read.
// CHECK-LABEL: @declines_weights_that_are_used_once
// CHECK:         nn.conv {{.*}} tensor<1x64x1x1xf16>
func.func @declines_weights_that_are_used_once(%x: tensor<1x64x1x1xf16>) -> tensor<1x64x1x1xf16> {
  %w = nn.constant dense<0.5> : tensor<64x64x1x1xf16>
  %y = nn.conv %x, %w : (tensor<1x64x1x1xf16>, tensor<64x64x1x1xf16>) -> tensor<1x64x1x1xf16>
  return %y : tensor<1x64x1x1xf16>
}

// CHECK-LABEL: @declines_weights_that_vary
// CHECK:         nn.conv %arg0, %arg1 {{.*}} tensor<1x8x32x32xf16>
func.func @declines_weights_that_vary(%x: tensor<1x3x34x34xf16>, %w: tensor<8x3x3x3xf16>) -> tensor<1x8x32x32xf16> {
  %y = nn.conv %x, %w : (tensor<1x3x34x34xf16>, tensor<8x3x3x3xf16>) -> tensor<1x8x32x32xf16>
  return %y : tensor<1x8x32x32xf16>
}

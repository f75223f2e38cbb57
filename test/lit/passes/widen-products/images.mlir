// Products of 16-bit floats become ones of f32, unless their weights outweigh the products.
// RUN: nn-opt --widen-products %s | filecheck %s
// RUN: nn-opt --widen-products --check-numerics %s

// CHECK-LABEL: @fires
// CHECK-DAG:     %[[X:.*]] = nn.cast %arg0 {nn.implied} : (tensor<1x3x34x34xf16>) -> tensor<1x3x34x34xf32>
// CHECK-DAG:     %[[W:.*]] = nn.cast %{{.*}} {nn.implied} : (tensor<8x3x3x3xf16>) -> tensor<8x3x3x3xf32>
// CHECK-DAG:     %[[B:.*]] = nn.cast %{{.*}} {nn.implied} : (tensor<8xf16>) -> tensor<8xf32>
// CHECK:         %[[Y:.*]] = nn.conv %[[X]], %[[W]], %[[B]]
// CHECK:         nn.cast %[[Y]] {nn.implied} : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf16>
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

// Activations are cast once, not once for each block of columns.
// CHECK-LABEL: @fires_on_matrices_of_many_rows
// CHECK:         %[[Y:.*]] = nn.matmul {{.*}} : (tensor<2x128x64xf32>, tensor<64x96xf32>) -> tensor<2x128x96xf32>
// CHECK:         nn.cast %[[Y]] {nn.implied} : (tensor<2x128x96xf32>) -> tensor<2x128x96xbf16>
func.func @fires_on_matrices_of_many_rows(%x: tensor<2x128x64xbf16>) -> tensor<2x128x96xbf16> {
  %w = nn.constant dense<0.5> : tensor<64x96xbf16>
  %y = nn.matmul %x, %w : (tensor<2x128x64xbf16>, tensor<64x96xbf16>) -> tensor<2x128x96xbf16>
  return %y : tensor<2x128x96xbf16>
}

// CHECK-LABEL: @fires_on_matrices_that_are_computed
// CHECK:         nn.matmul {{.*}} : (tensor<128x64xf32>, tensor<64x128xf32>)
func.func @fires_on_matrices_that_are_computed(%x: tensor<128x64xf16>, %y: tensor<64x128xf16>) -> tensor<128x128xf16> {
  %z = nn.matmul %x, %y : (tensor<128x64xf16>, tensor<64x128xf16>) -> tensor<128x128xf16>
  return %z : tensor<128x128xf16>
}

// Few rows take the time of reading the weights; an open number of rows may be one.
// CHECK-LABEL: @declines_matrices_of_few_rows
// CHECK:         nn.matmul {{.*}} tensor<1x64xf16>
// CHECK:         nn.matmul {{.*}} tensor<?x64xf16>
func.func @declines_matrices_of_few_rows(%x: tensor<1x64xf16>, %z: tensor<?x64xf16>) -> (tensor<1x64xf16>, tensor<?x64xf16>) {
  %w = nn.constant dense<0.5> : tensor<64x64xf16>
  %y = nn.matmul %x, %w : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
  %t = nn.matmul %z, %w : (tensor<?x64xf16>, tensor<64x64xf16>) -> tensor<?x64xf16>
  return %y, %t : tensor<1x64xf16>, tensor<?x64xf16>
}

// The sum beside a product reads what the product reads: the tensor is stored once. What else reads
// it in 16 bits has it stored so, and then the sum takes that.
// CHECK-LABEL: func.func @fires_on_sums_beside_products
// CHECK:         %[[V:.*]] = nn.relu %arg0
// CHECK:         %[[S:.*]] = nn.add {{.*}} -> tensor<1x8x32x32xf32>
// CHECK:         nn.cast %[[S]] {nn.implied} : {{.*}} -> tensor<1x8x32x32xf16>
// CHECK:         %[[X:.*]] = nn.tanh %arg0
// CHECK:         nn.softmax %[[X]]
// CHECK:         nn.add {{.*}} -> tensor<1x8x32x32xf16>
func.func @fires_on_sums_beside_products(%x: tensor<1x8x32x32xf16>) -> (tensor<1x8x32x32xf16>, tensor<1x8x32x32xf16>, tensor<1x8x32x32xf16>) {
  %w = nn.constant dense<0.5> : tensor<8x8x1x1xf16>
  %v = nn.relu %x : (tensor<1x8x32x32xf16>) -> tensor<1x8x32x32xf16>
  %y = nn.conv %v, %w : (tensor<1x8x32x32xf16>, tensor<8x8x1x1xf16>) -> tensor<1x8x32x32xf16>
  %s = nn.add %v, %y : (tensor<1x8x32x32xf16>, tensor<1x8x32x32xf16>) -> tensor<1x8x32x32xf16>
  %u = nn.tanh %x : (tensor<1x8x32x32xf16>) -> tensor<1x8x32x32xf16>
  %z = nn.conv %u, %w : (tensor<1x8x32x32xf16>, tensor<8x8x1x1xf16>) -> tensor<1x8x32x32xf16>
  %m = nn.softmax %u {axis = 1 : i64} : (tensor<1x8x32x32xf16>) -> tensor<1x8x32x32xf16>
  %t = nn.add %u, %z : (tensor<1x8x32x32xf16>, tensor<1x8x32x32xf16>) -> tensor<1x8x32x32xf16>
  return %s, %t, %m : tensor<1x8x32x32xf16>, tensor<1x8x32x32xf16>, tensor<1x8x32x32xf16>
}

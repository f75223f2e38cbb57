// Large products with constant matrices are seven of halves, where that is expected to be faster.
// RUN: nn-opt --choose-algorithms='target=x86-64-v4' --canonicalize --split-input-file %s | filecheck %s

// Blocks of 32 pairs of rows; halves of the sums' steps are a dimension of 2.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<2x256x768xf32>)
// CHECK:         %[[R:.*]] = nn.reshape %[[X]] : {{.*}} -> tensor<8x64x2x384xf32>
// CHECK:         %[[V:.*]] = nn.strassen_input %[[R]] {columns = 2 : i64, rows = 1 : i64} : {{.*}} -> tensor<7x8x32x1x384xf32>
// CHECK:         nn.strassen_weight {{.*}} {columns = 0 : i64, rows = 1 : i64} : {{.*}} -> tensor<7x24x1x384x16xf32>
// CHECK:         %[[M:.*]] = nn.packed_matmul %[[V]], {{.*}} -> tensor<7x8x32x1x24x16xf32>
// CHECK:         %[[Y:.*]] = nn.strassen_output %[[M]] {columns = 3 : i64, rows = 1 : i64} : {{.*}} -> tensor<8x64x1x48x16xf32>
// CHECK:         nn.reshape %[[Y]] : {{.*}} -> tensor<2x256x48x16xf32>
func.func @rows(%x: tensor<2x256x768xf32>) -> tensor<2x256x48x16xf32> {
  %w = nn.constant dense<0.5> : tensor<48x768x16xf32>
  %0 = nn.packed_matmul %x, %w : (tensor<2x256x768xf32>, tensor<48x768x16xf32>) -> tensor<2x256x48x16xf32>
  return %0 : tensor<2x256x48x16xf32>
}

// -----

// Of an odd number of rows, pixels: the products are groups of a convolution.

// CHECK-LABEL: func.func @image(
// CHECK-SAME:    %[[X:.*]]: tensor<1x48x31x32x16xf32>)
// CHECK:         %[[V:.*]] = nn.strassen_input %[[X]] {columns = 1 : i64, products = 1 : i64, rows = 3 : i64} : {{.*}} -> tensor<1x7x24x31x16x16xf32>
// CHECK:         %[[U:.*]] = nn.strassen_weight {{.*}} -> tensor<7x24x24x1x1x16x16xf32>
// CHECK:         %[[M:.*]] = nn.blocked_grouped_conv %[[V]], %[[U]] : {{.*}} -> tensor<1x7x24x31x16x16xf32>
// CHECK:         nn.strassen_output %[[M]] {columns = 1 : i64, products = 1 : i64, rows = 3 : i64} : {{.*}} -> tensor<1x48x31x32x16xf32>
func.func @image(%x: tensor<1x48x31x32x16xf32>) -> tensor<1x48x31x32x16xf32> {
  %w = nn.constant dense<0.5> : tensor<48x48x1x1x16x16xf32>
  %0 = nn.blocked_conv %x, %w : (tensor<1x48x31x32x16xf32>, tensor<48x48x1x1x16x16xf32>) -> tensor<1x48x31x32x16xf32>
  return %0 : tensor<1x48x31x32x16xf32>
}

// -----

// A stride, and weights known at run time only, which would be summed then, every time.

// CHECK-LABEL: func.func @stride
// CHECK-NOT:     nn.strassen
func.func @stride(%x: tensor<1x48x63x63x16xf32>) -> tensor<1x48x32x32x16xf32> {
  %w = nn.constant dense<0.5> : tensor<48x48x1x1x16x16xf32>
  %0 = nn.blocked_conv %x, %w {strides = array<i64: 2, 2>} : (tensor<1x48x63x63x16xf32>, tensor<48x48x1x1x16x16xf32>) -> tensor<1x48x32x32x16xf32>
  return %0 : tensor<1x48x32x32x16xf32>
}

// -----

// CHECK-LABEL: func.func @weights_at_run_time
// CHECK-NOT:     nn.strassen
func.func @weights_at_run_time(%x: tensor<512x768xf32>, %w: tensor<48x768x16xf32>) -> tensor<512x48x16xf32> {
  %0 = nn.packed_matmul %x, %w : (tensor<512x768xf32>, tensor<48x768x16xf32>) -> tensor<512x48x16xf32>
  return %0 : tensor<512x48x16xf32>
}

// Constant right-hand sides of matrix products are packed into blocks of columns.
// RUN: nn-opt --choose-layouts='block=4' --fold-constants --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @packed(
// CHECK-SAME:    %[[A:.*]]: tensor<8x2xf32>)
// CHECK:         %[[W:.*]] = nn.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [1.100000e+01, {{.*}}> : tensor<2x2x4xf32>
// CHECK:         %[[P:.*]] = nn.packed_matmul %[[A]], %[[W]] : (tensor<8x2xf32>, tensor<2x2x4xf32>) -> tensor<8x2x4xf32>
// CHECK:         nn.reshape %[[P]] : (tensor<8x2x4xf32>) -> tensor<8x8xf32>
func.func @packed(%a: tensor<8x2xf32>) -> tensor<8x8xf32> {
  %w = nn.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0]]> : tensor<2x8xf32>
  %0 = nn.matmul %a, %w : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Among many blocks, one that zeros fill up does not count.

// CHECK-LABEL: func.func @filled_up
// CHECK:         nn.packed_matmul {{.*}} -> tensor<8x33x4xf32>
// CHECK:         nn.slice {{.*}} : (tensor<8x132xf32>) -> tensor<8x130xf32>
func.func @filled_up(%a: tensor<8x2xf32>) -> tensor<8x130xf32> {
  %w = nn.constant dense<0.5> : tensor<2x130xf32>
  %0 = nn.matmul %a, %w : (tensor<8x2xf32>, tensor<2x130xf32>) -> tensor<8x130xf32>
  return %0 : tensor<8x130xf32>
}

// Of a single row, reading the weights is all: more of them lie together.

// CHECK-LABEL: func.func @one_row
// CHECK:         nn.packed_matmul {{.*}} : (tensor<1x2xf32>, tensor<2x2x8xf32>) -> tensor<1x2x8xf32>
func.func @one_row(%a: tensor<1x2xf32>) -> tensor<1x16xf32> {
  %w = nn.constant dense<0.5> : tensor<2x16xf32>
  %0 = nn.matmul %a, %w : (tensor<1x2xf32>, tensor<2x16xf32>) -> tensor<1x16xf32>
  return %0 : tensor<1x16xf32>
}

// CHECK-LABEL: func.func @vector
// CHECK:         nn.matmul
func.func @vector(%a: tensor<2xf32>) -> tensor<16xf32> {
  %w = nn.constant dense<0.5> : tensor<2x16xf32>
  %0 = nn.matmul %a, %w : (tensor<2xf32>, tensor<2x16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

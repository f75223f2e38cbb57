// merge-convolutions adds the weights of convolutions of one tensor whose results are added, also
// within a larger sum; a smaller window's get zeros around. Multiples of the tensor are added to the diagonal.
// RUN: nn-opt --merge-convolutions --fold-constants %s | filecheck %s

// 3x3 and 1x1, with t between them in the sum.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x8x8xf32>, %[[T:.*]]: tensor<1x1x8x8xf32>)
// CHECK: %[[W:.*]] = nn.constant dense<{{\[\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00], [1.000000e+00, 3.000000e+00, 1.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00{{\]\]\]\]}}> : tensor<1x1x3x3xf32>
// CHECK: %[[C:.*]] = nn.conv %[[X]], %[[W]], %{{.*}} {pads = array<i64: 1, 1, 1, 1>}
// CHECK-NEXT: %[[S:.*]] = nn.add %[[C]], %[[T]]
// CHECK-NEXT: return %[[S]]
func.func @windows(%x: tensor<1x1x8x8xf32>, %t: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %v = nn.constant dense<1.0> : tensor<1x1x3x3xf32>
  %u = nn.constant dense<2.0> : tensor<1x1x1x1xf32>
  %b = nn.constant dense<4.0> : tensor<1xf32>
  %0 = nn.conv %x, %u, %b : (tensor<1x1x8x8xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x8x8xf32>
  %1 = nn.add %0, %t : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  %2 = nn.conv %x, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x8x8xf32>
  %3 = nn.add %1, %2 : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  return %3 : tensor<1x1x8x8xf32>
}

// x + 2 (conv(x) - (3 x + 5)) of two groups: 1 + 2 (w - 3) on the diagonals, and -10.
// CHECK-LABEL: func.func @diagonal(
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{\[\[\[}}-3.000000e+00], [2.000000e+00{{\]\], \[\[}}2.000000e+00], [-3.000000e+00{{\]\], \[\[}}-3.000000e+00], [2.000000e+00{{\]\], \[\[}}2.000000e+00], [-3.000000e+00{{\]\]\]}}> : tensor<4x2x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<-1.000000e+01> : tensor<4xf32>
// CHECK: %[[C:.*]] = nn.conv %{{.*}}, %[[W]], %[[B]] {groups = 2 : i64}
// CHECK-NEXT: return %[[C]]
func.func @diagonal(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %w = nn.constant dense<1.0> : tensor<4x2x1xf32>
  %two = nn.constant dense<2.0> : tensor<4x1xf32>
  %three = nn.constant dense<3.0> : tensor<4x1xf32>
  %five = nn.constant dense<5.0> : tensor<4x1xf32>
  %0 = nn.conv %x, %w {groups = 2 : i64} : (tensor<?x4x8xf32>, tensor<4x2x1xf32>) -> tensor<?x4x8xf32>
  %1 = nn.mul %x, %three : (tensor<?x4x8xf32>, tensor<4x1xf32>) -> tensor<?x4x8xf32>
  %2 = nn.add %1, %five : (tensor<?x4x8xf32>, tensor<4x1xf32>) -> tensor<?x4x8xf32>
  %3 = nn.sub %0, %2 : (tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %4 = nn.mul %3, %two : (tensor<?x4x8xf32>, tensor<4x1xf32>) -> tensor<?x4x8xf32>
  %5 = nn.add %x, %4 : (tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  return %5 : tensor<?x4x8xf32>
}

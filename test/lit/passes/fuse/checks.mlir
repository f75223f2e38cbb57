// Checks and their conditions join the kernel that makes the tensor which they pass on.
// RUN: nn-opt --fuse --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @joined(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8x2xf32>)
// CHECK:         %[[K:.*]] = nn.kernel {{.*}}(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[W]])
// CHECK-NEXT:      nn.shape_of %[[A]]
// CHECK:           %[[Y:.*]] = nn.matmul %[[A]], %[[B]]
// CHECK-NEXT:      %[[P:.*]] = nn.holds
// CHECK-NEXT:      %[[Z:.*]] = nn.assume %[[Y]], %[[P]]
// CHECK-NEXT:      %[[Q:.*]] = nn.holds
// CHECK-NEXT:      %[[R:.*]] = nn.assume %[[Z]], %[[Q]]
// CHECK-NEXT:      nn.yield %[[R]]
// CHECK:         return %[[K]]
func.func @joined(%x: tensor<?x8xf32>, %w: tensor<8x2xf32>) -> tensor<?x2xf32> {
  %n = nn.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
  %y = nn.matmul %x, %w : (tensor<?x8xf32>, tensor<8x2xf32>) -> tensor<?x2xf32>
  %p = nn.holds %n {code = "n0 != 1"} : (tensor<2xi64>) -> tensor<i1>
  %1 = nn.assume %y, %p {message = "one row"} : (tensor<?x2xf32>, tensor<i1>) -> tensor<?x2xf32>
  %q = nn.holds %n {code = "n0 < 9"} : (tensor<2xi64>) -> tensor<i1>
  %2 = nn.assume %1, %q {message = "9 rows"} : (tensor<?x2xf32>, tensor<i1>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// The unchecked tensor is read as well, so it leaves its kernel; a condition that an operand gives
// is an operand.

// CHECK-LABEL: func.func @apart(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<i1>)
// CHECK:         %[[Y:.*]] = nn.kernel (%{{.*}} = %[[X]])
// CHECK-NEXT:      nn.relu
// CHECK-NEXT:      nn.yield
// CHECK:         %[[Z:.*]] = nn.kernel (%{{.*}} = %[[Y]], %{{.*}} = %[[P]])
// CHECK-NEXT:      nn.assume
// CHECK-NEXT:      nn.yield
// CHECK:         return %[[Y]], %[[Z]]
func.func @apart(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = nn.assume %y, %p {message = "no"} : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

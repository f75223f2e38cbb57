// merge-convolutions leaves windows of which none holds the other, results that others use, other
// tensors, other strides, and math that is to stay as written.
// RUN: nn-opt --merge-convolutions %s | filecheck %s

// CHECK-LABEL: func.func @crossed
// CHECK-COUNT-2: nn.conv
func.func @crossed(%x: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %v = nn.constant dense<1.0> : tensor<1x1x3x1xf32>
  %u = nn.constant dense<2.0> : tensor<1x1x1x3xf32>
  %0 = nn.conv %x, %v {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x1x8x8xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x8x8xf32>
  %1 = nn.conv %x, %u {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x8x8xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x8x8xf32>
  %2 = nn.add %0, %1 : (tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  return %2 : tensor<1x1x8x8xf32>
}

// CHECK-LABEL: func.func @used
// CHECK-COUNT-2: nn.conv
func.func @used(%x: tensor<1x1x8xf32>) -> (tensor<1x1x8xf32>, tensor<1x1x8xf32>) {
  %v = nn.constant dense<1.0> : tensor<1x1x1xf32>
  %0 = nn.conv %x, %v : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %1 = nn.conv %x, %v : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %2 = nn.add %0, %1 : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %0, %2 : tensor<1x1x8xf32>, tensor<1x1x8xf32>
}

// CHECK-LABEL: func.func @tensors
// CHECK-COUNT-2: nn.conv
func.func @tensors(%x: tensor<1x1x8xf32>, %y: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %v = nn.constant dense<1.0> : tensor<1x1x1xf32>
  %0 = nn.conv %x, %v : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %1 = nn.conv %y, %v : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %2 = nn.add %0, %1 : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %2 : tensor<1x1x8xf32>
}

// One result of either, from other places.
// CHECK-LABEL: func.func @shifted
// CHECK-COUNT-2: nn.conv
func.func @shifted(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %v = nn.constant dense<1.0> : tensor<1x1x2xf32>
  %0 = nn.conv %x, %v {pads = array<i64: 1, 0>} : (tensor<1x1x8xf32>, tensor<1x1x2xf32>) -> tensor<1x1x8xf32>
  %1 = nn.conv %x, %v {pads = array<i64: 0, 1>} : (tensor<1x1x8xf32>, tensor<1x1x2xf32>) -> tensor<1x1x8xf32>
  %2 = nn.add %0, %1 : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %2 : tensor<1x1x8xf32>
}

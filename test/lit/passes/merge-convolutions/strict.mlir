// merge-convolutions leaves math that is to stay as written.
// RUN: nn-opt --merge-convolutions %s | filecheck %s

// CHECK-COUNT-2: nn.conv
module attributes {nn.strict_math} {
  func.func @strict(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
    %v = nn.constant dense<1.0> : tensor<1x1x1xf32>
    %0 = nn.conv %x, %v : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
    %1 = nn.conv %x, %v : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
    %2 = nn.add %0, %1 : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    return %2 : tensor<1x1x8xf32>
  }
}

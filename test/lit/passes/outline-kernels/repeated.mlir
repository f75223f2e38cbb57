// A kernel that only loops call is marked where the threads of a pool stay awake between iterations:
// then less work is worth sharing. C's caller may start threads for each parallel loop.
// RUN: nn-opt --outline-kernels --target=x86-64-v3 %s | filecheck %s
// RUN: nn-opt --outline-kernels --target=c-x86-64-v3 %s | filecheck %s --check-prefix=C

// C-NOT: nn.repeated
// CHECK: func.func private @relu_0({{.*}} attributes {nn.kernel} {
// CHECK: func.func private @add_0({{.*}} attributes {nn.kernel, nn.repeated} {
func.func @main(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.call_while @less, @step(%x) {carried = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %z = nn.kernel (%a = %y) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}
func.func private @less(%x: tensor<4xf32>) -> tensor<i1> {
  %0 = nn.constant dense<false> : tensor<i1>
  return %0 : tensor<i1>
}
func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.kernel (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  %z = nn.kernel (%a = %y) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

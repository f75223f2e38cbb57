// A kernel function leads back to all the model's nodes that it computes.
// RUN: nn-opt --fuse --outline-kernels --mlir-print-debuginfo %s | filecheck %s

// CHECK:       call @matmul_relu_0({{.*}} loc(#[[BOTH:.*]])
// CHECK:       func.func private @matmul_relu_0
// CHECK:         nn.matmul {{.*}} loc(#[[A:.*]])
// CHECK:         nn.relu {{.*}} loc(#[[B:.*]])
// CHECK-DAG:   #[[A]] = loc("dense")
// CHECK-DAG:   #[[B]] = loc("activation")
// CHECK-DAG:   #[[BOTH]] = loc(fused[#[[A]], #[[B]]])
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> loc("dense")
  %1 = nn.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("activation")
  return %1 : tensor<4x2xf32>
}

// What is on tensors and no nn operation is an error that names it.
// RUN: nn-opt --lower-to-linalg --verify-diagnostics %s

func.func @f(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tensor.cast' op works on tensors, but only nn operations can be lowered to linalg}}
  %0 = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

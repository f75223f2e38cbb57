// Arithmetic of complex numbers, which front ends take apart, is an error on the line.
// RUN: nn-opt --lower-to-linalg --split-input-file --verify-diagnostics %s

func.func @a(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error @+1 {{'add' of complex<f32> has no lowering}}
  %0 = nn.add %x, %x : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

func.func @b(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error @+1 {{a constant of type complex<f32> has no lowering}}
  %0 = nn.softsign %x : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

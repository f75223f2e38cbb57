// Kernels that differ in added or multiplied numbers take those as operands, and share a function
// then; what all have in common stays, and so do numbers of other ops.
// RUN: nn-opt --parametrize-kernels --outline-kernels --target=x86-64-v3 --split-input-file %s | filecheck %s
// RUN: nn-opt --parametrize-kernels --outline-kernels --target=cuda --split-input-file %s | filecheck %s --check-prefix=DEVICE
// RUN: nn-opt --parametrize-kernels --outline-kernels --target=hls --split-input-file %s | filecheck %s --check-prefix=DEVICE

// CHECK-LABEL: func.func @scales(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[HALF:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %[[Y:.*]] = call @mul_add_0(%[[A]], %[[HALF]])
// CHECK-NEXT:    %[[THIRD:.*]] = nn.constant dense<3.000000e-01> : tensor<f32>
// CHECK-NEXT:    %[[Z:.*]] = call @mul_add_0(%[[Y]], %[[THIRD]])
// CHECK-NEXT:    return %[[Z]]
// CHECK:       func.func private @mul_add_0(%[[X:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<f32>) -> tensor<8xf32> attributes {nn.kernel} {
// CHECK-NEXT:    %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[P:.*]] = nn.mul %[[X]], %[[S]]
// CHECK-NEXT:    nn.add %[[P]], %[[ONE]]
// DEVICE-DAG:  func.func private @mul_add_0(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
// DEVICE-DAG:  func.func private @mul_add_1(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
func.func @scales(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.kernel (%x = %a) : (tensor<8xf32>) -> tensor<8xf32> {
    %half = nn.constant dense<0.5> : tensor<f32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %y = nn.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %z = nn.add %y, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %z : tensor<8xf32>
  }
  %1 = nn.kernel (%x = %0) : (tensor<8xf32>) -> tensor<8xf32> {
    %third = nn.constant dense<0.3> : tensor<f32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %y = nn.mul %x, %third : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %z = nn.add %y, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %z : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}

// -----

// The name of an open extent, and what is expected of it, stay with their operands.

// CHECK-LABEL: func.func @open(
// CHECK:       func.func private @div_0(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<1xf32>) -> tensor<?x8xf32>
// CHECK-SAME:    nn.expected_extents = [array<i64: 5, 8>, array<i64: 0>, array<i64: 5, 8>]
// CHECK-SAME:    nn.input_dims = {{\[\["d0", ""\], \[""\]\]}}
func.func @open(%a: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = nn.kernel attributes {nn.expected_extents = [array<i64: 5, 8>, array<i64: 5, 8>], nn.input_dims = [["d0", ""]]} (%x = %a) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %s = nn.constant dense<0.5> : tensor<1xf32>
    %y = nn.div %x, %s : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
    nn.yield %y : tensor<?x8xf32>
  }
  %1 = nn.kernel attributes {nn.expected_extents = [array<i64: 5, 8>, array<i64: 5, 8>], nn.input_dims = [["d0", ""]]} (%x = %0) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %s = nn.constant dense<0.3> : tensor<1xf32>
    %y = nn.div %x, %s : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
    nn.yield %y : tensor<?x8xf32>
  }
  return %1 : tensor<?x8xf32>
}

// -----

// Bounds, exponents and integers stay: code is better where they are known.

// CHECK-LABEL: func.func @others(
// CHECK-COUNT-6: func.func private @{{.*}} attributes {nn.kernel}
func.func @others(%a: tensor<8xf32>, %i: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xi64>) {
  %0 = nn.kernel (%x = %a) : (tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<0.5> : tensor<f32>
    %y = nn.pow %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  %1 = nn.kernel (%x = %0) : (tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<3.0> : tensor<f32>
    %y = nn.pow %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  %2 = nn.kernel (%x = %1) : (tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<3.0> : tensor<f32>
    %d = nn.constant dense<4.0> : tensor<f32>
    %y = nn.clip %x, %c, %d : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  %3 = nn.kernel (%x = %2) : (tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<3.0> : tensor<f32>
    %d = nn.constant dense<5.0> : tensor<f32>
    %y = nn.clip %x, %c, %d : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  %4 = nn.kernel (%x = %i) : (tensor<8xi64>) -> tensor<8xi64> {
    %c = nn.constant dense<3> : tensor<i64>
    %y = nn.div %x, %c : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
    nn.yield %y : tensor<8xi64>
  }
  %5 = nn.kernel (%x = %4) : (tensor<8xi64>) -> tensor<8xi64> {
    %c = nn.constant dense<5> : tensor<i64>
    %y = nn.div %x, %c : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
    nn.yield %y : tensor<8xi64>
  }
  return %3, %5 : tensor<8xf32>, tensor<8xi64>
}

// Ops on constants are computed; shape arithmetic is followed through unknown dimensions.
// RUN: nn-opt --fold-constants --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @arithmetic
// CHECK-NEXT:    %[[C:.*]] = nn.constant dense<[5.000000e+00, 7.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    return %[[C]]
func.func @arithmetic() -> tensor<2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.mul %a, %two : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = nn.add %0, %three : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// The batch is unknown, yet the last extents of the result are not.

// CHECK-LABEL: func.func @shapes(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4x6xf32>) -> (tensor<?x2x12xf32>, tensor<i64>)
// CHECK-DAG:     %[[N:.*]] = nn.constant dense<6> : tensor<i64>
// CHECK-DAG:     %[[Y:.*]] = nn.reshape_dynamic %[[X]], {{.*}} -> tensor<?x2x12xf32>
// CHECK:         return %[[Y]], %[[N]]
func.func @shapes(%x: tensor<?x4x6xf32>) -> (tensor<?x?x?xf32>, tensor<i64>) {
  %zero = nn.constant dense<0> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<i64>
  %two = nn.constant dense<2> : tensor<1xi64>
  %0 = nn.shape_of %x : (tensor<?x4x6xf32>) -> tensor<3xi64>
  %1 = nn.gather %0, %zero : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = nn.gather %0, %last : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %3 = nn.mul %2, %two : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %4 = nn.concat %1, %two, %3 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %5 = nn.reshape_dynamic %x, %4 : (tensor<?x4x6xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %5, %2 : tensor<?x?x?xf32>, tensor<i64>
}

// -----

// A million equal numbers are made faster than they are loaded.

// CHECK-LABEL: func.func @growing
// CHECK:         nn.range
// CHECK:         nn.tile
func.func @growing(%x: tensor<1000000xi64>) -> tensor<1000000xi64> {
  %zero = nn.constant dense<0> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64>
  %many = nn.constant dense<100000> : tensor<i64>
  %0 = nn.range %zero, %many, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %1 = nn.tile %0 {repeats = array<i64: 10>} : (tensor<?xi64>) -> tensor<?xi64>
  %2 = nn.add %x, %1 : (tensor<1000000xi64>, tensor<?xi64>) -> tensor<1000000xi64>
  return %2 : tensor<1000000xi64>
}

// -----

// The weights of a product are constants all the same: their layout is chosen at compile time.

// CHECK-LABEL: func.func @weights
// CHECK:         %[[W:.*]] = nn.constant dense_resource<{{.*}}> : tensor<300x200xf32>
// CHECK-NEXT:    nn.matmul %{{.*}}, %[[W]]
func.func @weights(%x: tensor<1x300xf32>) -> tensor<1x200xf32> {
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.fill %half : (tensor<f32>) -> tensor<200x300xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<200x300xf32>) -> tensor<300x200xf32>
  %2 = nn.matmul %x, %1 : (tensor<1x300xf32>, tensor<300x200xf32>) -> tensor<1x200xf32>
  return %2 : tensor<1x200xf32>
}

// -----

// Not where something else reads the whole of them too.

// CHECK-LABEL: func.func @shared_weights
// CHECK:         nn.fill
func.func @shared_weights(%x: tensor<1x300xf32>) -> (tensor<1x200xf32>, tensor<300x200xf32>) {
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.fill %half : (tensor<f32>) -> tensor<300x200xf32>
  %1 = nn.matmul %x, %0 : (tensor<1x300xf32>, tensor<300x200xf32>) -> tensor<1x200xf32>
  return %1, %0 : tensor<1x200xf32>, tensor<300x200xf32>
}

// What is joined and then made narrower is made narrower before it is joined.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: @fires
// CHECK:         %[[A:.*]] = nn.cast {{.*}} : (tensor<2x3xf32>) -> tensor<2x3xui8>
// CHECK:         %[[B:.*]] = nn.cast {{.*}} : (tensor<2x?xf32>) -> tensor<2x?xui8>
// CHECK:         nn.concat %[[A]], %[[B]] {axis = 1 : i64} : (tensor<2x3xui8>, tensor<2x?xui8>) -> tensor<2x?xui8>
func.func @fires(%x: tensor<2x3xf32>, %y: tensor<2x?xf32>, %s: tensor<1xf32>) -> tensor<2x?xui8> {
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %1 = nn.mul %s, %0 : (tensor<1xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %2 = nn.round %1 : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %3 = nn.cast %2 : (tensor<2x?xf32>) -> tensor<2x?xui8>
  return %3 : tensor<2x?xui8>
}

// A number for each column is another one for each part, and wider parts are more bytes.
// CHECK-LABEL: @declines
// CHECK:         nn.concat {{.*}} -> tensor<2x6xf32>
// CHECK:         nn.concat {{.*}} -> tensor<2x6xui8>
func.func @declines(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %s: tensor<6xf32>, %b: tensor<2x3xui8>) -> (tensor<2x6xui8>, tensor<2x6xf32>) {
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = nn.mul %0, %s : (tensor<2x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  %2 = nn.cast %1 : (tensor<2x6xf32>) -> tensor<2x6xui8>
  %3 = nn.concat %b, %b {axis = 1 : i64} : (tensor<2x3xui8>, tensor<2x3xui8>) -> tensor<2x6xui8>
  %4 = nn.cast %3 : (tensor<2x6xui8>) -> tensor<2x6xf32>
  return %2, %4 : tensor<2x6xui8>, tensor<2x6xf32>
}

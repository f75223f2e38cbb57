// Nearest neighbours that are each element several times, or every so-many-th one.
// RUN: nn-opt --pass-pipeline='builtin.module(decompose{level=layout})' --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @repeated(
// CHECK:         nn.broadcast_to %{{.*}} : (tensor<1x2x3x1x5x1xf32>) -> tensor<1x2x3x2x5x4xf32>
// CHECK-NOT:     nn.resize
func.func @repeated(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x6x20xf32> {
  %0 = nn.resize %x {coordinate_transform = "asymmetric", mode = "nearest", nearest_mode = "floor", scales = array<f32: 1.0, 1.0, 2.0, 4.0>} : (tensor<1x2x3x5xf32>) -> tensor<1x2x6x20xf32>
  return %0 : tensor<1x2x6x20xf32>
}

// -----

// CHECK-LABEL: func.func @taken(
// CHECK-SAME:    %[[X:.*]]: tensor
// CHECK-NEXT:    %[[Y:.*]] = nn.slice %[[X]] {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 2, 4>} : (tensor<1x2x6x20xf32>) -> tensor<1x2x3x5xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @taken(%x: tensor<1x2x6x20xf32>) -> tensor<1x2x3x5xf32> {
  %0 = nn.resize %x {coordinate_transform = "asymmetric", mode = "nearest", nearest_mode = "floor", scales = array<f32: 1.0, 1.0, 0.5, 0.25>} : (tensor<1x2x6x20xf32>) -> tensor<1x2x3x5xf32>
  return %0 : tensor<1x2x3x5xf32>
}

// -----

// Two of three elements are neither.

// CHECK-LABEL: func.func @uneven(
// CHECK-NEXT:    nn.resize
func.func @uneven(%x: tensor<1x2x6x9xf32>) -> tensor<1x2x6x6xf32> {
  %0 = nn.resize %x {coordinate_transform = "asymmetric", mode = "nearest", nearest_mode = "floor", scales = array<f32: 1.0, 1.0, 1.0, 0.66666666>} : (tensor<1x2x6x9xf32>) -> tensor<1x2x6x6xf32>
  return %0 : tensor<1x2x6x6xf32>
}

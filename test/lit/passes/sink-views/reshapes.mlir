// A reshape after a product moves below the elementwise ops that follow, so that they can be
// fused with the product.
// RUN: nn-opt --sink-views --canonicalize --split-input-file %s | filecheck %s

// The bias has the last dimension, which the reshape keeps; the residual is reshaped, too.

// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME:    %[[A:.*]]: tensor<16x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[C:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<2x8x4xf32>)
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[A]], %[[B]]
// CHECK-NEXT:    %[[S:.*]] = nn.add %[[P]], %[[C]] : (tensor<16x4xf32>, tensor<4xf32>) -> tensor<16x4xf32>
// CHECK-NEXT:    %[[R:.*]] = nn.reshape %[[D]] : (tensor<2x8x4xf32>) -> tensor<16x4xf32>
// CHECK-NEXT:    %[[T:.*]] = nn.add %[[S]], %[[R]]
// CHECK-NEXT:    %[[G:.*]] = nn.gelu %[[T]]
// CHECK-NEXT:    %[[Y:.*]] = nn.reshape %[[G]] : (tensor<16x4xf32>) -> tensor<2x8x4xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @epilogue(%a: tensor<16x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4xf32>, %d: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0 = nn.matmul %a, %b : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %1 = nn.reshape %0 : (tensor<16x4xf32>) -> tensor<2x8x4xf32>
  %2 = nn.add %1, %c : (tensor<2x8x4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32>
  %3 = nn.add %2, %d : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %4 = nn.gelu %3 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %4 : tensor<2x8x4xf32>
}

// -----

// A mask for each row of the new shape has no place in the old one.

// CHECK-LABEL: func.func @middle_dimension
// CHECK:         nn.reshape
// CHECK-NEXT:    nn.add
func.func @middle_dimension(%a: tensor<16x8xf32>, %b: tensor<8x4xf32>, %c: tensor<8x1xf32>) -> tensor<2x8x4xf32> {
  %0 = nn.matmul %a, %b : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %1 = nn.reshape %0 : (tensor<16x4xf32>) -> tensor<2x8x4xf32>
  %2 = nn.add %1, %c : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  return %2 : tensor<2x8x4xf32>
}

// -----

// Nothing is gained where no product stands before the reshape.

// CHECK-LABEL: func.func @no_product
// CHECK:         nn.reshape
// CHECK-NEXT:    nn.relu
func.func @no_product(%a: tensor<16x4xf32>) -> tensor<2x8x4xf32> {
  %0 = nn.reshape %a : (tensor<16x4xf32>) -> tensor<2x8x4xf32>
  %1 = nn.relu %0 : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %1 : tensor<2x8x4xf32>
}

// -----

// The heads of an attention: a split becomes slices of whole heads.

// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[X:.*]]: tensor<2x12xf32>)
// CHECK-DAG:     %[[Q:.*]] = nn.reshape %[[X]] : (tensor<2x12xf32>) -> tensor<2x4x3xf32>
// CHECK-DAG:     nn.slice %{{.*}} {starts = array<i64: 0, 0, 0>} : (tensor<2x4x3xf32>) -> tensor<2x2x3xf32>
// CHECK-DAG:     nn.slice %{{.*}} {starts = array<i64: 0, 2, 0>} : (tensor<2x4x3xf32>) -> tensor<2x2x3xf32>
func.func @heads(%x: tensor<2x12xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xf32>) {
  %0, %1 = nn.split %x {axis = 1 : i64} : (tensor<2x12xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  %2 = nn.reshape %0 : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  %3 = nn.reshape %1 : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  return %2, %3 : tensor<2x2x3xf32>, tensor<2x2x3xf32>
}

// -----

// A part that is not made of whole heads is cut first.

// CHECK-LABEL: func.func @not_whole
// CHECK:         nn.slice
// CHECK-NEXT:    nn.reshape
func.func @not_whole(%x: tensor<2x11xf32>) -> tensor<2x2x3xf32> {
  %0 = nn.slice %x {starts = array<i64: 0, 5>} : (tensor<2x11xf32>) -> tensor<2x6xf32>
  %1 = nn.reshape %0 : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  return %1 : tensor<2x2x3xf32>
}

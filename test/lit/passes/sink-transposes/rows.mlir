// Rows of a product are taken as they lie in memory where the innermost of their extents is open.
// RUN: nn-opt --sink-transposes --canonicalize --split-input-file %s | filecheck %s

// The projection of an attention that has the sequence before the batch, with its bias.

// CHECK-LABEL: func.func @projection(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x64xf32>, %[[W:.*]]: tensor<64x96xf32>, %[[B:.*]]: tensor<1x1x96xf32>)
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[X]], %[[W]] : (tensor<?x?x64xf32>, tensor<64x96xf32>) -> tensor<?x?x96xf32>
// CHECK-NEXT:    %[[A:.*]] = nn.add %[[P]], %[[B]]
// CHECK-NEXT:    %[[Y:.*]] = nn.transpose %[[A]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT:    return %[[Y]]
func.func @projection(%x: tensor<?x?x64xf32>, %w: tensor<64x96xf32>, %b: tensor<1x1x96xf32>) -> tensor<?x?x96xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  %1 = nn.matmul %0, %w : (tensor<?x?x64xf32>, tensor<64x96xf32>) -> tensor<?x?x96xf32>
  %2 = nn.add %1, %b : (tensor<?x?x96xf32>, tensor<1x1x96xf32>) -> tensor<?x?x96xf32>
  return %2 : tensor<?x?x96xf32>
}

// -----

// A batch of 8 is a tile of rows; a matrix that is transposed itself has its columns summed.

// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-2: nn.transpose
// CHECK-COUNT-2: nn.matmul
func.func @stays(%x: tensor<8x?x64xf32>, %z: tensor<?x64x?xf32>, %w: tensor<64x96xf32>) -> (tensor<?x8x96xf32>, tensor<?x?x96xf32>) {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x?x64xf32>) -> tensor<?x8x64xf32>
  %2 = nn.transpose %z {permutation = array<i64: 0, 2, 1>} : (tensor<?x64x?xf32>) -> tensor<?x?x64xf32>
  %1 = nn.matmul %0, %w : (tensor<?x8x64xf32>, tensor<64x96xf32>) -> tensor<?x8x96xf32>
  %3 = nn.matmul %2, %w : (tensor<?x?x64xf32>, tensor<64x96xf32>) -> tensor<?x?x96xf32>
  return %1, %3 : tensor<?x8x96xf32>, tensor<?x?x96xf32>
}

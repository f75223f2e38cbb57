// Products of the parts of one tensor by one matrix become one product, whose parts follow.
// RUN: nn-opt --merge-products --canonicalize --split-input-file %s | filecheck %s

// Steps of an unrolled recurrent network, the last first; their batch is open.

// CHECK-LABEL: func.func @steps(
// CHECK-SAME:    %[[X:.*]]: tensor<3x?x64xf32>, %[[W:.*]]: tensor<64x96xf32>)
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[X]], %[[W]] : (tensor<3x?x64xf32>, tensor<64x96xf32>) -> tensor<3x?x96xf32>
// CHECK-NEXT:    %[[S2:.*]] = nn.slice %[[P]] {starts = array<i64: 2, 0, 0>}
// CHECK-NEXT:    %[[Y2:.*]] = nn.reshape %[[S2]] : (tensor<1x?x96xf32>) -> tensor<?x96xf32>
// CHECK-NEXT:    %[[S1:.*]] = nn.slice %[[P]] {starts = array<i64: 1, 0, 0>}
// CHECK-NEXT:    %[[Y1:.*]] = nn.reshape %[[S1]]
// CHECK-NEXT:    %[[S0:.*]] = nn.slice %[[P]] {starts = array<i64: 0, 0, 0>}
// CHECK-NEXT:    %[[Y0:.*]] = nn.reshape %[[S0]]
// CHECK-NEXT:    return %[[Y2]], %[[Y1]], %[[Y0]]
func.func @steps(%x: tensor<3x?x64xf32>, %w: tensor<64x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>) {
  %0 = nn.slice %x {starts = array<i64: 2, 0, 0>} : (tensor<3x?x64xf32>) -> tensor<1x?x64xf32>
  %1 = nn.reshape %0 : (tensor<1x?x64xf32>) -> tensor<?x64xf32>
  %2 = nn.matmul %1, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %3 = nn.slice %x {starts = array<i64: 1, 0, 0>} : (tensor<3x?x64xf32>) -> tensor<1x?x64xf32>
  %4 = nn.reshape %3 : (tensor<1x?x64xf32>) -> tensor<?x64xf32>
  %5 = nn.matmul %4, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  %6 = nn.slice %x {starts = array<i64: 0, 0, 0>} : (tensor<3x?x64xf32>) -> tensor<1x?x64xf32>
  %7 = nn.reshape %6 : (tensor<1x?x64xf32>) -> tensor<?x64xf32>
  %8 = nn.matmul %7, %w : (tensor<?x64xf32>, tensor<64x96xf32>) -> tensor<?x96xf32>
  func.return %2, %5, %8 : tensor<?x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>
}

// -----

// Parts of a split, and only some: what is not multiplied before is not multiplied now.

// CHECK-LABEL: func.func @some_parts(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x64xf32>, %[[W:.*]]: tensor<64x96xf32>)
// CHECK-NEXT:    %[[C:.*]] = nn.slice %[[X]] {starts = array<i64: 0, 1, 0>} : (tensor<2x8x64xf32>) -> tensor<2x3x64xf32>
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[C]], %[[W]] : (tensor<2x3x64xf32>, tensor<64x96xf32>) -> tensor<2x3x96xf32>
// CHECK-NEXT:    %[[A:.*]] = nn.slice %[[P]] {starts = array<i64: 0, 0, 0>} : (tensor<2x3x96xf32>) -> tensor<2x2x96xf32>
// CHECK-NEXT:    %[[B:.*]] = nn.slice %[[P]] {starts = array<i64: 0, 2, 0>} : (tensor<2x3x96xf32>) -> tensor<2x1x96xf32>
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @some_parts(%x: tensor<2x8x64xf32>, %w: tensor<64x96xf32>) -> (tensor<2x2x96xf32>, tensor<2x1x96xf32>) {
  %a, %b, %c, %d = nn.split %x {axis = 1 : i64} : (tensor<2x8x64xf32>) -> (tensor<2x1x64xf32>, tensor<2x2x64xf32>, tensor<2x1x64xf32>, tensor<2x4x64xf32>)
  %0 = nn.matmul %b, %w : (tensor<2x2x64xf32>, tensor<64x96xf32>) -> tensor<2x2x96xf32>
  %1 = nn.matmul %c, %w : (tensor<2x1x64xf32>, tensor<64x96xf32>) -> tensor<2x1x96xf32>
  func.return %0, %1 : tensor<2x2x96xf32>, tensor<2x1x96xf32>
}

// -----

// With many rows the weights do not matter; gaps and the summed dimension keep products apart.

// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-6: nn.matmul
func.func @apart(%x: tensor<2x100x64xf32>, %y: tensor<3x1x64xf32>, %z: tensor<1x128xf32>, %w: tensor<64x96xf32>) -> (tensor<1x100x96xf32>, tensor<1x100x96xf32>, tensor<1x1x96xf32>, tensor<1x1x96xf32>, tensor<1x96xf32>, tensor<1x96xf32>) {
  %a, %b = nn.split %x {axis = 0 : i64} : (tensor<2x100x64xf32>) -> (tensor<1x100x64xf32>, tensor<1x100x64xf32>)
  %0 = nn.matmul %a, %w : (tensor<1x100x64xf32>, tensor<64x96xf32>) -> tensor<1x100x96xf32>
  %1 = nn.matmul %b, %w : (tensor<1x100x64xf32>, tensor<64x96xf32>) -> tensor<1x100x96xf32>
  %c, %d, %e = nn.split %y {axis = 0 : i64} : (tensor<3x1x64xf32>) -> (tensor<1x1x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>)
  %2 = nn.matmul %c, %w : (tensor<1x1x64xf32>, tensor<64x96xf32>) -> tensor<1x1x96xf32>
  %3 = nn.matmul %e, %w : (tensor<1x1x64xf32>, tensor<64x96xf32>) -> tensor<1x1x96xf32>
  %f, %g = nn.split %z {axis = 1 : i64} : (tensor<1x128xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>)
  %4 = nn.matmul %f, %w : (tensor<1x64xf32>, tensor<64x96xf32>) -> tensor<1x96xf32>
  %5 = nn.matmul %g, %w : (tensor<1x64xf32>, tensor<64x96xf32>) -> tensor<1x96xf32>
  func.return %0, %1, %2, %3, %4, %5 : tensor<1x100x96xf32>, tensor<1x100x96xf32>, tensor<1x1x96xf32>, tensor<1x1x96xf32>, tensor<1x96xf32>, tensor<1x96xf32>
}

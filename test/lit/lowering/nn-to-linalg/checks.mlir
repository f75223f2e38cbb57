// What only the run tells of sizes and indices is checked before it is used.
// RUN: nn-opt --lower-to-linalg --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @fill(
// CHECK-SAME:    %[[S:.*]]: memref<1xi64>
// CHECK:         %[[N:.*]] = memref.load %[[S]]
// CHECK:         %[[FITS:.*]] = arith.cmpi sge, %[[N]], %{{.*}} : i64
// CHECK:         cf.assert %[[FITS]], "an extent is negative"
// CHECK:         %[[SIZE:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK:         memref.alloc(%[[SIZE]])
func.func @fill(%s: tensor<1xi64>, %v: tensor<f32>) -> tensor<?xf32> {
  %y = nn.fill_dynamic %s, %v : (tensor<1xi64>, tensor<f32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Indices are compared with the extent, before the reading, in a loop of their own on vectors.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[X:.*]]: memref<5x2xf32>, %[[I:.*]]: memref<40xi64>
// CHECK:         %[[WIDE:.*]]:2 = scf.for {{.*}} -> (vector<16xi64>, vector<16xi64>)
// CHECK:         vector.reduction <minsi>, %[[WIDE]]#0
// CHECK:         vector.reduction <maxsi>, %[[WIDE]]#1
// CHECK:         %[[ALL:.*]]:2 = scf.for
// CHECK:         arith.cmpi sge, %[[ALL]]#0, %{{.*}} : i64
// CHECK:         arith.cmpi slt, %[[ALL]]#1, %{{.*}} : i64
// CHECK:         cf.assert %{{.*}}, "an index is out of range"
// CHECK:         linalg.generic
// CHECK-NOT:     arith.minsi
func.func @gather(%x: tensor<5x2xf32>, %i: tensor<40xi64>) -> tensor<40x2xf32> {
  %y = nn.gather %x, %i : (tensor<5x2xf32>, tensor<40xi64>) -> tensor<40x2xf32>
  return %y : tensor<40x2xf32>
}

// -----

// On a device groups of threads compare them, and what reads them moves them into range.
module attributes {nnc.target = "cuda-sm80"} {
  // CHECK-LABEL: func.func @by_groups(
  // CHECK-SAME:    %[[X:.*]]: memref<5x2xf32>, %[[I:.*]]: memref<300xi64>
  // CHECK:         scf.parallel (%[[G:.*]]) = (%{{.*}}) to (%c2) step (%{{.*}}) {
  // CHECK:           %[[AT:.*]] = arith.muli %[[G]], %c256
  // CHECK:           %[[V:.*]] = vector.transfer_read %{{.*}}[%[[AT]], %{{.*}}], {{.*}} vector<256xi64>
  // CHECK:           arith.cmpi sge, %[[V]]
  // CHECK:           arith.cmpi slt, %[[V]]
  // CHECK:           vector.multi_reduction <minsi>
  // CHECK:           cf.assert %{{.*}}, "an index is out of range"
  // CHECK:         } {mapping = [#gpu.block<x>], nn.threads = 32 : i64}
  // CHECK:         linalg.generic
  // CHECK:           %[[IN:.*]] = arith.cmpi ult, %[[J:.*]], %c5
  // CHECK:           arith.select %[[IN]], %[[J]], %c0
  func.func @by_groups(%x: tensor<5x2xf32>, %i: tensor<300xi64>) -> tensor<300x2xf32> {
    %y = nn.gather %x, %i : (tensor<5x2xf32>, tensor<300xi64>) -> tensor<300x2xf32>
    return %y : tensor<300x2xf32>
  }
}

// -----

// Constant indices are looked at now.
// CHECK-LABEL: func.func @constant(
// CHECK-NOT:     cf.assert
// CHECK:         linalg.generic
func.func @constant(%x: tensor<5x2xf32>) -> tensor<2x2xf32> {
  %i = nn.constant dense<[-5, 4]> : tensor<2xi64>
  %y = nn.gather %x, %i : (tensor<5x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// An extent that a product and its operands share is one extent.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:.*]]: memref<4x?xf32>, %[[B:.*]]: memref<?x5xf32>
// CHECK:         %[[K:.*]] = memref.dim %[[A]], %{{.*}}
// CHECK:         %[[L:.*]] = memref.dim %[[B]], %{{.*}}
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[L]], %[[K]]
// CHECK:         cf.assert %[[SAME]], "extent 0 of an operand does not fit the others'"
func.func @matmul(%a: tensor<4x?xf32>, %b: tensor<?x5xf32>) -> tensor<4x5xf32> {
  %y = nn.matmul %a, %b : (tensor<4x?xf32>, tensor<?x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// Extents of one name are one value: nothing is repeated or checked in a kernel, and an entry checks
// its arguments once.
// RUN: nn-opt --lower-to-linalg --canonicalize --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func private @kernel(
// CHECK-NOT:     cf.assert
// CHECK-NOT:     memref.reinterpret_cast
// CHECK:         linalg.generic
func.func private @kernel(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {nn.input_dims = [["d0", ""], ["d0", ""]], nn.kernel} {
  %0 = nn.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func private @unnamed(
// CHECK:         cf.assert
// CHECK:         memref.reinterpret_cast
func.func private @unnamed(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {nn.kernel} {
  %0 = nn.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32>, %[[Y:.*]]: memref<?x8xf32>)
// CHECK-DAG:     %[[M:.*]] = memref.dim %[[X]]
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[Y]]
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK-NEXT:    cf.assert %[[SAME]], "dimension 'batch' of input 'b' differs from that of input 'a'"
// CHECK-NOT:     cf.assert
func.func @main(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {nn.entry, nn.input_names = ["a", "b"], nn.input_dims = [["batch", ""], ["batch", ""]], nn.output_names = ["c"]} {
  %0 = nn.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

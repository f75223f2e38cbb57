// Functions: results become out-arguments or are returned, calls get buffers, constants globals.
// RUN: nn-opt --lower-to-linalg %s | filecheck %s

// CHECK: memref.global "private" constant @w : memref<4xf32> = dense_resource<w>
// CHECK: memref.global "private" constant @constant : memref<4xf32> = dense<[1.0{{.*}}, 2.0{{.*}}

// CHECK: func.func private @kernel(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) -> memref<1x?xi64>
func.func private @kernel(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<1x?xi64>) attributes {nn.kernel} {
  %0 = nn.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.non_zero %0 : (tensor<4xf32>) -> tensor<1x?xi64>
  func.return %0, %1 : tensor<4xf32>, tensor<1x?xi64>
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<2x2xf32>) -> memref<1x?xi64>
// CHECK-SAME: nn.inputs = [tensor<4xf32>]
// CHECK-SAME: nn.outputs = [tensor<1x?xi64>, tensor<2x2xf32>]
// CHECK-DAG: %[[W:.*]] = memref.get_global @w
// CHECK-DAG: %[[C:.*]] = memref.get_global @constant
// A reshaped result is written through a view of the out-argument.
// CHECK-DAG: %[[FLAT:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1]] : memref<2x2xf32> into memref<4xf32>
// CHECK: %[[T:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %[[FIRST:.*]] = call @kernel(%[[X]], %[[W]], %[[T]])
// CHECK-NEXT: %[[SECOND:.*]] = call @kernel(%[[T]], %[[C]], %[[FLAT]])
// CHECK-DAG: memref.dealloc %[[T]]
// CHECK-DAG: memref.dealloc %[[SECOND]]
// CHECK-NOT: memref.dealloc
// CHECK: return %[[FIRST]] : memref<1x?xi64>
func.func @main(%x: tensor<4xf32>) -> (tensor<1x?xi64>, tensor<2x2xf32>)
    attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["i", "y"]} {
  %w = nn.constant dense_resource<w> : tensor<4xf32>
  %c = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0:2 = func.call @kernel(%x, %w) : (tensor<4xf32>, tensor<4xf32>)
    -> (tensor<4xf32>, tensor<1x?xi64>)
  %1:2 = func.call @kernel(%0#0, %c) : (tensor<4xf32>, tensor<4xf32>)
    -> (tensor<4xf32>, tensor<1x?xi64>)
  %2 = nn.reshape %1#0 : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return %0#1, %2 : tensor<1x?xi64>, tensor<2x2xf32>
}

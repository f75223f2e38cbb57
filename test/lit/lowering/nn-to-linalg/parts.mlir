// Parts of tensors are views of the bytes of the whole: nothing is copied.
// RUN: nn-opt --fuse --outline-kernels --lower-to-linalg %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT:     linalg.copy
// CHECK:         %[[BYTES:.*]] = memref.alloc() : memref<48xi8>
// CHECK:         %[[A:.*]] = memref.view %[[BYTES]][%c0][] : memref<48xi8> to memref<2x4xf32>
// CHECK:         call @exp_0(%{{.*}}, %[[A]])
// CHECK:         %[[B:.*]] = memref.view %[[BYTES]][%c32][] : memref<48xi8> to memref<1x4xf32>
// CHECK:         call @tanh_0(%{{.*}}, %[[B]])
// CHECK:         %[[S:.*]] = memref.view %[[BYTES]][%c16][] : memref<48xi8> to memref<2x4xf32>
// CHECK:         call @sqrt_0(%[[S]], %{{.*}})
// CHECK:         memref.dealloc %[[BYTES]]
// CHECK-NOT:     linalg.copy
// CHECK:         return
func.func @main(%x: tensor<2x4xf32>, %y: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %a = nn.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = nn.tanh %y : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = nn.concat %a, %b {axis = 0 : i64} : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %s = nn.slice %c {starts = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = nn.sqrt %s : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// Without kernels, what an operation has written elsewhere is copied to its part.

// CHECK-LABEL: func.func @alone
// CHECK:         memref.alloc() : memref<32xi8>
// CHECK:         return
func.func @alone(%x: tensor<4xf32>) -> tensor<8xf32> {
  %a = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = nn.concat %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %r = nn.sqrt %c : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

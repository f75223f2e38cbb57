// What would need as much memory on the way as the weight itself is stored.
// RUN: nn-opt --fold-constants='limit=0' --prepare-weights %s | filecheck %s

// CHECK:     func.func @main
// CHECK:       nn.constant dense_resource<folded_{{.*}}> : tensor<4x5xf32>
// CHECK-NOT: nn.prepare

func.func @main(%x: tensor<4x4xf32>) -> tensor<4x5xf32> attributes {nn.entry} {
  %bytes = nn.constant dense_resource<bytes> : tensor<4x4xi8>
  %c = nn.cast %bytes : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %t = nn.transpose %c {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %zero = nn.constant dense<0.0> : tensor<f32>
  %w = nn.pad %t, %zero {pads = array<i64: 0, 0, 0, 1>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x5xf32>
  %y = nn.matmul %x, %w : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

{-#
  dialect_resources: {
    builtin: {
      bytes: "0x0100000000010203040506070809FFFEFDFCFBFA"
    }
  }
#-}

// nn-opt --fold-constants='limit=0' --prepare-weights
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {nn.entry} {
  %q = nn.constant dense_resource<q> : tensor<4x4xi8>
  %w = nn.cast %q : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %y = nn.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      q: "0x0100000000010203040506070809FFFEFDFCFBFA"
    }
  }
#-}

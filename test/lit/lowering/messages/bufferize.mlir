// What no other test provokes of the messages of lowering.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(bufferize)'

// expected-error@+1 {{@f has several blocks; only straight-line functions are lowered}}
func.func @f(%arg0: i1, %arg1: tensor<4xi8>) -> tensor<4xi8> {
  cf.cond_br %arg0, ^bb1(%arg1 : tensor<4xi8>), ^bb2
^bb1(%0: tensor<4xi8>):
  return %0 : tensor<4xi8>
^bb2:
  return %arg1 : tensor<4xi8>
}

// What no other test provokes of the messages of passes.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(apply-schedules)'

#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: memref<9999999999x3xf32>, %arg1: memref<9999999999x3xf32>) attributes {nn.entry, nn.input_names = ["x"], nn.inputs = [tensor<9999999999x3xf32>], nn.output_names = ["y"], nn.outputs = [tensor<9999999999x3xf32>]} {
    return
  }
  func.func private @relu_0(%arg0: memref<9999999999x3xf32>, %arg1: memref<9999999999x3xf32>) attributes {nn.kernel} {
    %cst = arith.constant 0.000000e+00 : f32
// expected-error@+1 {{'linalg.generic' op schedule: a vector of 29999999997 lanes; at most 64 are supported}}
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : memref<9999999999x3xf32>) outs(%arg1 : memref<9999999999x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %in, %cst : f32
      linalg.yield %0 : f32
    }
    return
  }
  schedule.for @relu_0 {
  ^bb0(%map: !schedule.stage):
    %d0, %d1 = schedule.loops 2 of %map
    %d0d1 = schedule.collapse %d0, %d1
    schedule.vectorize %d0d1
  }
}

// A function on tensors gives the same interpreted, compiled, and lowered by nn-opt before.
// RUN: nn-run %s --entry softmax --args 'f32[2x3]:[1,2,3,0,0,0]' | filecheck %s
// RUN: nn-run %s --entry softmax --args '[1,2,3,0,0,0]' --compile --print=summary | filecheck %s --check-prefix=SUMMARY
// RUN: nn-opt --lower-to-loops %s | nn-run --entry softmax --args '[1,2,3,0,0,0],zeros' --print=summary | filecheck %s --check-prefix=LOOPS
// RUN: nn-run %s --entry softmax --args f32[2x3]:random --seed 3 --output %t.npz --print=none
// RUN: nn-run %s --entry softmax --args random --seed 3 --compile --compare %t.npz --rtol 1e-6 --print=none
// RUN: not nn-run %s --entry softmax --args random --seed 4 --compare %t.npz --rtol 1e-6 --print=none 2>&1 | filecheck %s --check-prefix=DIFFERS

// CHECK:      result #0: f32[2x3]
// CHECK-NEXT: {{\[\[}}0.09003{{[0-9]*}}, 0.24472{{[0-9]*}}, 0.66524{{[0-9]*}}],
// CHECK-NEXT:  [0.33333334, 0.33333334, 0.33333334]]

// SUMMARY: result #0: f32[2x3] min 0.0900306 max 0.665241 mean 0.333333: 0.0900{{.*}}

// The out-argument is shown, what is only read is not.
// LOOPS-NOT: argument #0
// LOOPS: argument #1: f32[2x3] min 0.0900306 max 0.665241 mean 0.333333
// LOOPS-NOT: argument

// DIFFERS: nn-run: result #0: {{[0-9]}} of 6 elements differ; first at [{{[0-9], [0-9]}}]: 0.{{[0-9]+}}, but the reference has 0.
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = nn.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

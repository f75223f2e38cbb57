// --mlir-pass-statistics says what passes counted; --mlir-timing where the time went.
// RUN: nn-opt --cse --mlir-pass-statistics --mlir-timing %s 2>&1 | filecheck %s

// CHECK: Pass execution timing report
// CHECK: s ({{.*}} %)  cse
// CHECK: Pass statistics report
// CHECK: (S) 1 operations removed
func.func @f(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.mulf %a, %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}

// --pass-pipeline takes upstream's text: nesting by operation name, options in braces.
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(canonicalize{max-rewrites=100},cse),symbol-dce)' --dump-pass-pipeline %s 2>&1 | filecheck %s
// RUN: nn-opt --canonicalize='max-rewrites=100' --cse --symbol-dce %s | filecheck %s --check-prefix=FLAGS

// CHECK: builtin.module(func.func(canonicalize{max-rewrites=100},cse),symbol-dce)
// CHECK-NOT: @unused
// FLAGS-NOT: @unused

// CHECK-LABEL: func.func @f
// CHECK-NEXT:    arith.muli
// CHECK-NEXT:    return
// FLAGS-LABEL: func.func @f
// FLAGS-NEXT:    arith.muli
// FLAGS-NEXT:    return
func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.constant 0 : i32
  %3 = arith.addi %1, %2 : i32
  return %3 : i32
}
func.func private @unused()

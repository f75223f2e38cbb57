// --pass-pipeline takes upstream's text: nesting by operation name, `any`, options in braces.
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(canonicalize{max-rewrites=100},cse),any(symbol-dce),symbol-dce)' --dump-pass-pipeline %s 2>&1 | filecheck %s
// RUN: nn-opt --canonicalize='max-rewrites=100' --cse --symbol-dce %s | filecheck %s --check-prefix=FLAGS
// RUN: nn-opt --symbol-dce -cse -dump-pass-pipeline %s 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: nn-opt --dump-pass-pipeline %s 2>&1 | filecheck %s --check-prefix=EMPTY

// CHECK:      Pass Manager with 3 passes:
// CHECK-NEXT: builtin.module(
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     canonicalize{max-iterations=10 max-num-rewrites=-1 max-rewrites=100 region-simplify=normal test-convergence=false top-down=true},
// CHECK-NEXT:     cse
// CHECK-NEXT:   ),
// CHECK-NEXT:   any(
// CHECK-NEXT:     symbol-dce
// CHECK-NEXT:   ),
// CHECK-NEXT:   symbol-dce
// CHECK-NEXT: )
// CHECK-EMPTY:
// CHECK-NOT: @unused
// FLAGS-NOT: @unused

// ORDER:      Pass Manager with 2 passes:
// ORDER-NEXT: builtin.module(
// ORDER-NEXT:   symbol-dce,
// ORDER-NEXT:   cse
// ORDER-NEXT: )

// EMPTY:      Pass Manager with 0 passes:
// EMPTY-NEXT: builtin.module(
// EMPTY-EMPTY:
// EMPTY-NEXT: )

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

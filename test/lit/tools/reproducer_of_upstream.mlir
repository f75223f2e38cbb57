// A reproducer with all that upstream writes into one, options of its canonicalize included.
// RUN: nn-opt --run-reproducer --dump-pass-pipeline %s 2>&1 | filecheck %s
// RUN: nn-opt %s | filecheck %s --check-prefix=NOT-RUN

// CHECK:      Pass Manager with 1 passes:
// CHECK-NEXT: builtin.module(
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     cse,
// CHECK-NEXT:     canonicalize{max-iterations=1 max-num-rewrites=-1 max-rewrites=0 region-simplify=normal test-convergence=false top-down=false}
// CHECK-NEXT:   )
// CHECK-NEXT: )
// CHECK:      func.func @f
// CHECK-NEXT:   return %arg0

// NOT-RUN: arith.addi
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %a, %c : i32
  return %0 : i32
}

{-#
  external_resources: {
    mlir_reproducer: {
      verify_each: true,
      // a comment, as in upstream's own
      pipeline: "builtin.module(func.func(cse,canonicalize{  max-iterations=1 max-num-rewrites=-1 region-simplify=normal top-down=false}))",
      disable_threading: true
    }
  }
#-}

// What is applied and how often is limited by upstream's options.
// RUN: nn-opt --canonicalize='max-num-rewrites=1' %s | filecheck %s --check-prefix=ONE
// RUN: not nn-opt --canonicalize='max-num-rewrites=1 test-convergence' %s 2>&1 | filecheck %s --check-prefix=CONVERGE
// RUN: nn-opt --canonicalize='max-iterations=0' %s | filecheck %s --check-prefix=NONE
// RUN: nn-opt --canonicalize='max-num-rewrites=0' %s | filecheck %s --check-prefix=NONE
// RUN: nn-opt --canonicalize='top-down=false region-simplify=aggressive' %s | filecheck %s --check-prefix=ALL
// RUN: nn-opt --canonicalize='disable-patterns={combine-constants,constant-to-right}' %s | filecheck %s --check-prefix=DISABLED
// RUN: nn-opt --canonicalize='enable-patterns=combine-constants' %s | filecheck %s --check-prefix=ALL
// RUN: not nn-opt --canonicalize='disable-patterns=nope' %s 2>&1 | filecheck %s --check-prefix=ERROR

// ONE-LABEL:   @f
// ONE-COUNT-1: arith.addi
// ONE-NOT:     arith.addi
// ONE:         return
// CONVERGE:    error: canonicalize: no fixed point after 1 rewrites
// NONE-LABEL:   @f
// NONE-COUNT-2: arith.addi
// ALL-LABEL:   @f
// ALL-NEXT:    return
// ERROR:       error: canonicalize: no pattern is named 'nope'
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %a, %c : i32
  %1 = arith.addi %0, %c : i32
  return %1 : i32
}

// ALL-LABEL:      @combined
// ALL-NEXT:         arith.constant 5
// ALL-NEXT:         arith.addi
// ALL-NEXT:         return
// DISABLED-LABEL: @combined
// DISABLED:         arith.addi
// DISABLED:         arith.addi
func.func @combined(%a: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %0 = arith.addi %a, %c2 : i32
  %1 = arith.addi %0, %c3 : i32
  return %1 : i32
}

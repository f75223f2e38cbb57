// Each way of printing is upstream's: the same text as mlir-opt writes for the same flag.
// RUN: nn-opt --mlir-print-value-users %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-print-value-users %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=USERS
// RUN: nn-opt --mlir-print-unique-ssa-ids %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-print-unique-ssa-ids %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=UNIQUE
// RUN: nn-opt --mlir-use-nameloc-as-prefix %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-use-nameloc-as-prefix %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=NAMES
// RUN: nn-opt --mlir-print-local-scope --mlir-print-debuginfo %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-print-local-scope --mlir-print-debuginfo %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=LOCAL
// RUN: nn-opt --mlir-print-debuginfo %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-print-debuginfo %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=DEBUG
// RUN: nn-opt --mlir-pretty-debuginfo --mlir-print-debuginfo %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-pretty-debuginfo --mlir-print-debuginfo %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=PRETTY
// RUN: nn-opt --mlir-print-skip-regions %s | filecheck %s --check-prefix=SKIP
// RUN: nn-opt --mlir-print-assume-verified %s | filecheck %s --check-prefix=VERIFIED
// RUN: nn-opt --mlir-print-op-generic=0 --mlir-print-debuginfo=false %s | filecheck %s --check-prefix=VERIFIED

// USERS:      func.func @f(%arg0: i32, %arg1: index) -> i32 {
// USERS-NEXT:   // %arg0 is used by
// USERS-NEXT:   // %arg1 is used by
// USERS:        arith.addi {{.*}} // users: %{{.*}}, %{{.*}}
// USERS:        return {{.*}} // id: %

// UNIQUE:     scf.for %arg
// UNIQUE:       %[[FIRST:[0-9]+]] = arith.addi
// UNIQUE:     scf.for
// UNIQUE-NOT:   %[[FIRST]] =
// UNIQUE:     return

// NAMES: func.func @f(%arg: i32, %arg1: index)
// NAMES: %sum = arith.addi %arg, %arg : i32
// NAMES: %the_product21 = arith.muli %sum, %arg : i32

// LOCAL-NOT: #loc
// LOCAL:     arith.addi {{.*}} loc("sum")
// LOCAL:     arith.muli {{.*}} loc("the product!"("x.c":3:4))

// DEBUG: #[[ARG:loc[0-9]*]] = loc("arg")
// DEBUG: arith.addi {{.*}} loc(#loc{{[0-9]+}})
// DEBUG: = loc("the product!"(#loc{{[0-9]+}}))

// PRETTY: arith.addi {{.*}} "sum"{{$}}
// PRETTY: = x.c:3:4{{$}}

// SKIP:      module {...}
// SKIP-NOT:  func.func

// VERIFIED:     func.func @f(%arg0: i32, %arg1: index) -> i32 {
// VERIFIED-NOT: loc(
func.func @f(%a: i32 loc("arg"), %n: index) -> i32 {
  %0 = arith.addi %a, %a : i32 loc("sum")
  %1 = arith.muli %0, %a : i32 loc("the product!"("x.c":3:4))
  %2 = arith.addi %1, %0 : i32 loc(fused["x", "y"])
  %3 = scf.for %i = %n to %n step %n iter_args(%x = %2) -> (i32) {
    %5 = arith.addi %x, %x : i32 loc(callsite("callee" at "f.c":1:2))
    scf.yield %5 : i32
  }
  scf.for %i = %n to %n step %n {
    %5 = arith.addi %a, %3 : i32 loc(callsite("callee" at "caller"))
  }
  return %3 : i32
}

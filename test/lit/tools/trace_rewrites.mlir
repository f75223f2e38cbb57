// --trace-rewrites shows each rule that fires: the pass, where, the operation, what it became.
// RUN: nn-opt --canonicalize --cse --trace-rewrites %s 2>&1 | filecheck %s
// RUN: nn-opt --canonicalize --cse --trace-rewrites=%t %s | filecheck %s --check-prefix=RESULT
// RUN: cat %t | filecheck %s
// RUN: nn-opt --canonicalize --cse %s 2>&1 | filecheck %s --check-prefix=OFF

// CHECK:      // -----// canonicalize: fold at {{.*}}trace_rewrites.mlir:{{[0-9]+}}:8
// CHECK-NEXT: //   - %0 = arith.addi %arg0, %c0_i32 : i32
// CHECK-NEXT: //   = %arg0
// CHECK:      // -----// canonicalize: fold at {{.*}}trace_rewrites.mlir:{{[0-9]+}}:8
// CHECK-NEXT: //   - %1 = arith.addi %c2_i32, %c3_i32 : i32
// CHECK-NEXT: //   + %new0 = arith.constant 5 : i32
// CHECK-NEXT: //   = %new0
// CHECK:      // -----// canonicalize: dead code at
// CHECK-NEXT: //   - %c{{[23]}}_i32 = arith.constant
// CHECK:      // -----// cse: common subexpression at {{.*}}:{{[0-9]+}}:8
// CHECK-NEXT: //   - %1 = arith.muli
// CHECK-NEXT: //   = %0

// RESULT-NOT: -----//
// OFF-NOT:    -----//
func.func @f(%a: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32


  // The traced operations:

  %0 = arith.addi %a, %c0 : i32
  %1 = arith.addi %c2, %c3 : i32
  %2 = arith.muli %0, %1 : i32
  %3 = arith.muli %0, %1 : i32
  return %1, %2, %3 : i32, i32, i32
}

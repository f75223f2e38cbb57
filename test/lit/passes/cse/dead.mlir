// What nobody uses is erased where it is met; what only dead operations use is met too early.
// RUN: nn-opt --cse --mlir-pass-statistics %s 2>&1 | filecheck %s --check-prefixes=COUNT,CHECK
// RUN: mlir-opt-22 --cse %s | filecheck %s

// COUNT:      (S) 0 num-cse'd - Number of operations CSE'd
// COUNT-NEXT: (S) 2 num-dce'd - Number of operations DCE'd
// CHECK-LABEL: func.func @f
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    return
func.func @f(%a: i32, %m: memref<i32>) {
  %unused = arith.constant 1 : i32
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %0, %0 : i32
  memref.store %a, %m[] : memref<i32>
  return
}

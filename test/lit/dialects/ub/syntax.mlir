// Poison of any type, unreachable.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --allow-unregistered-dialect --mlir-print-op-generic %s | nn-opt --allow-unregistered-dialect | filecheck %s

// CHECK:         func.func @poison() -> vector<4xf32> {
// CHECK-NEXT:      %0 = ub.poison : vector<4xf32>
// CHECK-NEXT:      %1 = ub.poison : tensor<?xi32>
// CHECK-NEXT:      %2 = ub.poison {tag} : !llvm.ptr
// CHECK-NEXT:      return %0 : vector<4xf32>
// CHECK-NEXT:    }
// CHECK:         func.func @unreachable() {
// CHECK-NEXT:      ub.unreachable
// CHECK-NEXT:    }

func.func @poison() -> vector<4xf32> {
  %0 = ub.poison : vector<4xf32>
  %1 = ub.poison <#ub.poison> : tensor<?xi32>
  %2 = ub.poison {tag} : !llvm.ptr
  return %0 : vector<4xf32>
}
func.func @unreachable() {
  ub.unreachable
}

// Branches with and without arguments, weights and cases.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --allow-unregistered-dialect --mlir-print-op-generic %s | nn-opt --allow-unregistered-dialect | filecheck %s

// CHECK:         func.func @branches(%arg0: i1, %arg1: i32, %arg2: f32) -> i32 {
// CHECK-NEXT:      cf.assert %arg0, "a \22quoted\22 message"
// CHECK-NEXT:      cf.br ^bb1(%arg1, %arg2 : i32, f32)
// CHECK-NEXT:    ^bb1(%0: i32, %1: f32):  // 3 preds: ^bb0, ^bb2, ^bb3
// CHECK-NEXT:      cf.cond_br %arg0, ^bb2, ^bb3(%0 : i32)
// CHECK-NEXT:    ^bb2:  // 2 preds: ^bb1, ^bb3
// CHECK-NEXT:      cf.cond_br %arg0 weights([3, 1]), ^bb3(%arg1 : i32), ^bb1(%0, %1 : i32, f32)
// CHECK-NEXT:    ^bb3(%2: i32):  // 3 preds: ^bb1, ^bb2, ^bb3
// CHECK-NEXT:      cf.switch %2 : i32, [
// CHECK-NEXT:        default: ^bb2,
// CHECK-NEXT:        42: ^bb3(%2 : i32),
// CHECK-NEXT:        4294967289: ^bb1(%2, %arg2 : i32, f32)
// CHECK-NEXT:      ]
// CHECK-NEXT:    }
// CHECK:         func.func @only_default(%arg0: i8) {
// CHECK-NEXT:      cf.switch %arg0 : i8, [
// CHECK-NEXT:        default: ^bb1] {tag}
// CHECK-NEXT:    ^bb1:  // pred: ^bb0
// CHECK-NEXT:      return
// CHECK-NEXT:    }

func.func @branches(%c: i1, %x: i32, %y: f32) -> i32 {
  cf.assert %c, "a \"quoted\" message"
  cf.br ^bb1(%x, %y : i32, f32)
^bb1(%0: i32, %1: f32):
  cf.cond_br %c, ^bb2, ^bb3(%0 : i32)
^bb2:
  cf.cond_br %c weights([3, 1]), ^bb3(%x : i32), ^bb1(%0, %1 : i32, f32)
^bb3(%2: i32):
  cf.switch %2 : i32, [
    default: ^bb2,
    42: ^bb3(%2 : i32),
    -7: ^bb1(%2, %y : i32, f32)
  ]
}
func.func @only_default(%x: i8) {
  cf.switch %x : i8, [
    default: ^bb1
  ] {tag}
^bb1:
  return
}

// convert-scf-to-cf makes blocks of loops, which may carry values and be nested, of branches with
// and without results, and of loops with a condition.
// RUN: nn-opt --convert-scf-to-cf %s | filecheck %s

// CHECK-LABEL: func.func @sums
// CHECK: cf.br ^[[HEAD:.*]](%{{.*}}, %{{.*}} : index, i32)
// CHECK: ^[[HEAD]](%[[I:.*]]: index, %[[S:.*]]: i32):
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %arg1 : index
// CHECK-NEXT: cf.cond_br %[[MORE]], ^[[BODY:.*]], ^[[END:.*]]{{$}}
// CHECK: ^[[BODY]]:
// CHECK: ^[[INNER:.*]](%[[J:.*]]: index, %[[T:.*]]: i32):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1 : index
// CHECK-NEXT: cf.br ^[[HEAD]](%[[NEXT]], %[[T]] : index, i32)
// CHECK: ^[[END]]:
// CHECK-NEXT: return %[[S]] : i32
func.func @sums(%x: memref<?x?xi32>, %n: index, %m: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (i32) {
    %t = scf.for %j = %c0 to %m step %c1 iter_args(%b = %a) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %b, %v : i32
      scf.yield %w : i32
    }
    scf.yield %t : i32
  }
  return %s : i32
}

// The compared numbers are read as the loop reads them.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.cmpi ult
func.func @unsigned(%x: memref<8xi32>, %n: i8) {
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  scf.for unsigned %i = %c0 to %n step %c1 : i8 {
    %k = arith.index_castui %i : i8 to index
    %v = arith.extui %i : i8 to i32
    memref.store %v, %x[%k] : memref<8xi32>
  }
  return
}

// CHECK-LABEL: func.func @branches
// CHECK: cf.cond_br %arg0, ^[[YES:.*]], ^[[REST:.*]]{{$}}
// CHECK: ^[[YES]]:
// CHECK: cf.br ^[[REST]]{{$}}
// CHECK: ^[[REST]]:
// CHECK-NEXT: cf.cond_br %arg0, ^[[A:.*]], ^[[B:.*]]{{$}}
// CHECK: ^[[A]]:
// CHECK-NEXT: cf.br ^[[LAST:.*]](%arg1 : i32)
// CHECK: ^[[B]]:
// CHECK-NEXT: cf.br ^[[LAST]](%arg2 : i32)
// CHECK: ^[[LAST]](%[[R:.*]]: i32):
// CHECK-NEXT: cf.br
// CHECK: return %[[R]] : i32
func.func @branches(%c: i1, %a: i32, %b: i32, %x: memref<1xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  scf.if %c {
    memref.store %a, %x[%c0] : memref<1xi32>
  }
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @halves
// CHECK: cf.br ^[[BEFORE:.*]](%arg0 : i32)
// CHECK: ^[[BEFORE]](%[[N:.*]]: i32):
// CHECK: cf.cond_br %{{.*}}, ^[[AFTER:.*]](%[[N]] : i32), ^[[DONE:.*]]{{$}}
// CHECK: ^[[AFTER]](%[[M:.*]]: i32):
// CHECK-NEXT: %[[H:.*]] = arith.shrui %[[M]]
// CHECK-NEXT: cf.br ^[[BEFORE]](%[[H]] : i32)
// CHECK: ^[[DONE]]:
// CHECK-NEXT: return %[[N]] : i32
func.func @halves(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %r = scf.while (%a = %n) : (i32) -> i32 {
    %more = arith.cmpi ugt, %a, %one : i32
    scf.condition(%more) %a : i32
  } do {
  ^bb0(%b: i32):
    %h = arith.shrui %b, %one : i32
    scf.yield %h : i32
  }
  return %r : i32
}

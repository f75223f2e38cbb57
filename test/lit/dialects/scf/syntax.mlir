// Loops and branches in all their forms; terminators that say nothing are left out.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --allow-unregistered-dialect --mlir-print-op-generic %s | nn-opt --allow-unregistered-dialect | filecheck %s

// CHECK:         func.func @f(%arg0: index, %arg1: f32, %arg2: tensor<4xf32>, %arg3: i1, %arg4: i32) -> f32 {
// CHECK-NEXT:      scf.for %arg5 = %arg0 to %arg0 step %arg0 {
// CHECK-NEXT:        "t.u"(%arg5) : (index) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.for %arg5 = %arg4 to %arg4 step %arg4  : i32 {
// CHECK-NEXT:      } {x}
// CHECK-NEXT:      scf.for unsigned %arg5 = %arg4 to %arg4 step %arg4  : i32 {
// CHECK-NEXT:        scf.yield {y}
// CHECK-NEXT:      } {x}
// CHECK-NEXT:      %0:2 = scf.for %arg5 = %arg0 to %arg0 step %arg0 iter_args(%arg6 = %arg1, %arg7 = %arg0) -> (f32, index) {
// CHECK-NEXT:        scf.yield %arg6, %arg7 : f32, index
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.if %arg3 {
// CHECK-NEXT:        "t.u"() : () -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.if %arg3 {
// CHECK-NEXT:        "t.u"() : () -> ()
// CHECK-NEXT:      } else {
// CHECK-NEXT:        "t.v"() : () -> ()
// CHECK-NEXT:      } {x}
// CHECK-NEXT:      %1 = scf.if %arg3 -> (f32) {
// CHECK-NEXT:        scf.yield %arg1 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %arg1 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      %2:2 = scf.while (%arg5 = %arg1, %arg6 = %arg0) : (f32, index) -> (f32, index) {
// CHECK-NEXT:        scf.condition(%arg3) %arg5, %arg6 : f32, index
// CHECK-NEXT:      } do {
// CHECK-NEXT:      ^bb0(%arg5: f32, %arg6: index):
// CHECK-NEXT:        scf.yield %arg5, %arg6 : f32, index
// CHECK-NEXT:      } attributes {x}
// CHECK-NEXT:      scf.while : () -> () {
// CHECK-NEXT:        scf.condition(%arg3)
// CHECK-NEXT:      } do {
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      %3 = scf.while (%arg5 = %arg1) : (f32) -> f32 {
// CHECK-NEXT:        scf.condition(%arg3) %arg5 : f32
// CHECK-NEXT:      } do {
// CHECK-NEXT:      ^bb0(%arg5: f32):
// CHECK-NEXT:        scf.yield %arg5 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.parallel (%arg5, %arg6) = (%arg0, %arg0) to (%arg0, %arg0) step (%arg0, %arg0) {
// CHECK-NEXT:        "t.u"() : () -> ()
// CHECK-NEXT:        scf.reduce
// CHECK-NEXT:      } {x}
// CHECK-NEXT:      %4:2 = scf.parallel (%arg5) = (%arg0) to (%arg0) step (%arg0) init (%arg1, %arg1) -> (f32, f32) {
// CHECK-NEXT:        scf.reduce(%arg1, %arg1 : f32, f32) {
// CHECK-NEXT:        ^bb0(%arg6: f32, %arg7: f32):
// CHECK-NEXT:          %10 = arith.addf %arg6, %arg7 : f32
// CHECK-NEXT:          scf.reduce.return %10 : f32
// CHECK-NEXT:        }, {
// CHECK-NEXT:        ^bb0(%arg6: f32, %arg7: f32):
// CHECK-NEXT:          %10 = arith.addf %arg6, %arg7 : f32
// CHECK-NEXT:          scf.reduce.return %10 : f32
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      %5 = scf.forall (%arg5, %arg6) in (%arg0, 5) shared_outs(%arg7 = %arg2) -> (tensor<4xf32>) {
// CHECK-NEXT:        scf.forall.in_parallel {
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.forall (%arg5) = (%arg0) to (10) step (2) {
// CHECK-NEXT:        "t.u"() : () -> ()
// CHECK-NEXT:      } {mapping = []}
// CHECK-NEXT:      scf.forall (%arg5) in (%arg0) {
// CHECK-NEXT:      } {x}
// CHECK-NEXT:      %6 = scf.execute_region -> i32 {
// CHECK-NEXT:        scf.yield %arg4 : i32
// CHECK-NEXT:      }
// CHECK-NEXT:      %7:2 = scf.execute_region -> (i32, i32) no_inline {
// CHECK-NEXT:        cf.br ^bb1
// CHECK-NEXT:      ^bb1:  // pred: ^bb0
// CHECK-NEXT:        scf.yield %arg4, %arg4 : i32, i32
// CHECK-NEXT:      } {x}
// CHECK-NEXT:      scf.execute_region {
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      %8 = scf.index_switch %arg0 -> f32
// CHECK-NEXT:      case 2 {
// CHECK-NEXT:        scf.yield %arg1 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      case -5 {
// CHECK-NEXT:        scf.yield %arg1 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      default {
// CHECK-NEXT:        scf.yield %arg1 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.index_switch %arg0 {x}
// CHECK-NEXT:      default {
// CHECK-NEXT:      }
// CHECK-NEXT:      %9:2 = scf.index_switch %arg0 -> f32, f32
// CHECK-NEXT:      default {
// CHECK-NEXT:        scf.yield %arg1, %arg1 : f32, f32
// CHECK-NEXT:      }
// CHECK-NEXT:      return %arg1 : f32
// CHECK-NEXT:    }

func.func @f(%n: index, %x: f32, %t: tensor<4xf32>, %c: i1, %i32: i32) -> f32 {
  scf.for %i = %n to %n step %n {
    "t.u"(%i) : (index) -> ()
  }
  scf.for %i = %i32 to %i32 step %i32 : i32 {
  } {x}
  scf.for unsigned %i = %i32 to %i32 step %i32 : i32 {
    scf.yield {y}
  } {x}
  %r:2 = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %n) -> (f32, index) {
    scf.yield %a, %b : f32, index
  }
  scf.if %c {
    "t.u"() : () -> ()
  }
  scf.if %c {
    "t.u"() : () -> ()
  } else {
    "t.v"() : () -> ()
  } {x}
  %1 = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %x : f32
  }
  %2:2 = scf.while (%a = %x, %b = %n) : (f32, index) -> (f32, index) {
    scf.condition(%c) %a, %b : f32, index
  } do {
  ^bb0(%d: f32, %e: index):
    scf.yield %d, %e : f32, index
  } attributes {x}
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  scf.while (%a = %x) : (f32) -> (f32) {
    scf.condition(%c) %a : f32
  } do {
  ^bb0(%d: f32):
    scf.yield %d : f32
  }
  scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) {
    "t.u"() : () -> ()
    scf.reduce
  } {x}
  %3:2 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x, %x) -> (f32, f32) {
    scf.reduce(%x, %x : f32, f32) {
      ^bb0(%lhs: f32, %rhs: f32):
        %q = arith.addf %lhs, %rhs : f32
        scf.reduce.return %q : f32
      }, {
      ^bb0(%lhs: f32, %rhs: f32):
        %q = arith.addf %lhs, %rhs : f32
        scf.reduce.return %q : f32
      }
  }
  %4 = scf.forall (%i, %j) in (%n, 5) shared_outs(%o = %t) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
    }
  }
  scf.forall (%i) = (%n) to (10) step (2) {
    "t.u"() : () -> ()
  } {mapping = []}
  scf.forall (%i) = (0) to (%n) step (1) {
  } {x}
  %5 = scf.execute_region -> i32 {
    scf.yield %i32 : i32
  }
  %55:2 = scf.execute_region -> (i32, i32) no_inline {
    cf.br ^b
    ^b:
    scf.yield %i32, %i32 : i32, i32
  } {x}
  scf.execute_region {
    scf.yield
  }
  %6 = scf.index_switch %n -> f32
  case 2 {
    scf.yield %x : f32
  }
  case -5 {
    scf.yield %x : f32
  }
  default {
    scf.yield %x : f32
  }
  scf.index_switch %n {x} 
  default {
    scf.yield 
  }
  %66:2 = scf.index_switch %n -> f32, f32 
  default {
    scf.yield %x, %x : f32, f32 
  }
  return %x : f32
}

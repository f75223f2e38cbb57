// What upstream leaves out: bounds that are constants 0 and 1 of operations too, the terminator
// of a switch's default region and not those of its cases.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s

// CHECK-LABEL: func.func @f
func.func @f(%n: index) {
  // CHECK: scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 7) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i, %j) = (%c0, 0) to (%n, 7) step (%c1, 1) {
  }
  // CHECK: scf.forall (%{{.*}}) = (%c1) to (%{{.*}}) step (%c1{{.*}}) {
  scf.forall (%i) = (%c1) to (%n) step (%c1) {
  }
  // CHECK:      scf.index_switch %{{.*}}
  // CHECK-NEXT: case 1 {
  // CHECK-NEXT:   "t.u"() : () -> ()
  // CHECK-NEXT:   scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: default {
  // CHECK-NEXT:   "t.u"() : () -> ()
  // CHECK-NEXT: }
  scf.index_switch %n
  case 1 {
    "t.u"() : () -> ()
    scf.yield
  }
  default {
    "t.u"() : () -> ()
    scf.yield
  }
  // CHECK: "t.t"() {a = vector<4xf32>, b = tensor<2xf32>, c = memref<2xf32>} : () -> ()
  "t.t"() {a = vector <4xf32>, b = tensor
    <2xf32>, c = memref <2xf32>} : () -> ()
  return
}

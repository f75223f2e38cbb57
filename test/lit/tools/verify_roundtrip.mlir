// --verify-roundtrip reads back what was printed, in both forms and with locations.
// RUN: nn-opt --verify-roundtrip --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --verify-roundtrip --no-implicit-module --allow-unregistered-dialect %s | filecheck %s

// CHECK: func.func @f
#map = affine_map<(d0) -> (d0 + 1)>
func.func @f(%a: i32, %n: index) -> i32 {
  %0 = arith.addi %a, %a : i32 loc("sum")
  %1:2 = "their.op"(%0) ({
  ^bb0(%x: i32):
    "their.end"(%x) {m = #map} : (i32) -> ()
  }) : (i32) -> (i32, i32) loc(fused["a", "b"])
  %2 = scf.for %i = %n to %n step %n iter_args(%x = %1#1) -> (i32) {
    scf.yield %x : i32
  }
  return %2 : i32
}

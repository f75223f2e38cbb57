// Operations of unknown dialects pass through with --allow-unregistered-dialect, and only then.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: not nn-opt %s 2>&1 | filecheck %s --check-prefix=STRICT

// STRICT: unregistered.mlir:{{[0-9]+}}:{{.*}}: error: {{.*}} unregistered dialect 'their'
// CHECK: %[[R:.*]]:2 = "their.op"(%{{.*}}) <{p = 1 : i32}> ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: !their.type<i32>):
// CHECK-NEXT:   "their.end"(%[[A]]) : (!their.type<i32>) -> ()
// CHECK-NEXT: }) {note = "x"} : (i32) -> (i32, !their.type<i32>)
// CHECK: "their.use"(%[[R]]#1, %[[R]]#0)
func.func @f(%a: i32) {
  %0:2 = "their.op"(%a) <{p = 1 : i32}> ({
  ^bb0(%b: !their.type<i32>):
    "their.end"(%b) : (!their.type<i32>) -> ()
  }) {note = "x"} : (i32) -> (i32, !their.type<i32>)
  "their.use"(%0#1, %0#0) : (!their.type<i32>, i32) -> ()
  return
}

// --trace prints what every operation gave, with its place, before the results.
// RUN: nn-run %s --args 2.5 --trace | filecheck %s

// CHECK:      {{.*}}trace.mlir:{{[0-9]+:[0-9]+}}: arith.constant -> f32 1.0
// CHECK-NEXT: {{.*}}trace.mlir:{{[0-9]+:[0-9]+}}: arith.addf -> f32 3.5
// CHECK-NEXT: {{^}}3.5
// CHECK-NEXT: {{.*}}trace.mlir:{{[0-9]+:[0-9]+}}: vector.print -> nothing
// CHECK-NEXT: result #0: f32
// CHECK-NEXT: 3.5
func.func @main(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %y = arith.addf %x, %one : f32
  vector.print %y : f32
  return %y : f32
}

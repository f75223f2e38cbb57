// With `kernels`, kernels are inlined like other functions, and erased.
// RUN: nn-opt --inline=kernels=true %s | filecheck %s

// CHECK-NOT: @kernel
// CHECK-LABEL: func.func @main(%arg0: f32)
// CHECK-NEXT: %[[A:.*]] = arith.addf %arg0, %arg0
// CHECK-NEXT: return %[[A]]
func.func private @kernel(%x: f32) -> f32 attributes {nn.kernel} {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func @main(%x: f32) -> f32 {
  %a = call @kernel(%x) : (f32) -> f32
  return %a : f32
}

// inline replaces calls by bodies, callees first, and erases private functions that nothing
// mentions any more. Kernels, recursive functions and what is marked `no_inline` stay.
// RUN: nn-opt --inline %s | filecheck %s

// CHECK-NOT: @twice
// CHECK-LABEL: func.func private @mentioned
// CHECK-LABEL: func.func private @endless
// CHECK: call @endless
// CHECK-LABEL: func.func private @kept
// CHECK-LABEL: func.func private @kernel
// CHECK-NOT: @four_times
func.func private @twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func private @four_times(%x: f32) -> (f32, f32) {
  %y = call @twice(%x) : (f32) -> f32
  %z = call @twice(%y) : (f32) -> f32
  return %z, %x : f32, f32
}
func.func private @mentioned(%x: f32) -> f32 {
  return %x : f32
}
func.func private @endless(%x: f32) -> f32 {
  %y = call @endless(%x) : (f32) -> f32
  return %y : f32
}
func.func private @kept(%x: f32) -> f32 attributes {no_inline} {
  return %x : f32
}
func.func private @kernel(%x: f32) -> f32 attributes {nn.kernel} {
  return %x : f32
}
// CHECK-LABEL: func.func @main(%arg0: f32)
// CHECK-NEXT: %[[A:.*]] = arith.addf %arg0, %arg0
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT: constant @mentioned
// CHECK-NEXT: %[[C:.*]] = call @endless(%[[B]])
// CHECK-NEXT: %[[D:.*]] = call @kept(%[[C]])
// CHECK-NEXT: %[[E:.*]] = call @kernel(%[[D]])
// CHECK-NEXT: return %[[E]], %arg0
func.func @main(%x: f32) -> (f32, f32) {
  %a:2 = call @four_times(%x) : (f32) -> (f32, f32)
  %f = constant @mentioned : (f32) -> f32
  %b = call @mentioned(%a#0) : (f32) -> f32
  %c = call @endless(%b) : (f32) -> f32
  %d = call @kept(%c) : (f32) -> f32
  %e = call @kernel(%d) : (f32) -> f32
  return %e, %a#1 : f32, f32
}

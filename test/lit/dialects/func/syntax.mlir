// Declarations, attributes of arguments and results, calls; the dialect's name is left out directly in a function.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --allow-unregistered-dialect --mlir-print-op-generic %s | nn-opt --allow-unregistered-dialect | filecheck %s

// CHECK:         func.func private @declared(f32 {a.b}, memref<?xf32>) -> (f32 {x.y = 1 : i32}, i32)
// CHECK:         func.func private @returns_function() -> (() -> i32)
// CHECK:         func.func private @returns_one_with_attribute() -> (i32 {a.b = "c"})
// CHECK:         func.func public @"needs quotes"() {
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK:         func.func @main(%arg0: f32 {nn.name = "x"}, %arg1: i32) -> i32 attributes {nn.entry} {
// CHECK-NEXT:      %f = constant @returns_function : () -> (() -> i32)
// CHECK-NEXT:      %0 = call_indirect %f() : () -> (() -> i32)
// CHECK-NEXT:      %1 = call_indirect %0() {tag} : () -> i32
// CHECK-NEXT:      %2 = "test.source"() : () -> memref<?xf32>
// CHECK-NEXT:      %3:2 = call @declared(%arg0, %2) : (f32, memref<?xf32>) -> (f32, i32)
// CHECK-NEXT:      call @"needs quotes"() {no_inline} : () -> ()
// CHECK-NEXT:      "test.region"() ({
// CHECK-NEXT:        func.call @"needs quotes"() : () -> ()
// CHECK-NEXT:        "test.end"() : () -> ()
// CHECK-NEXT:      }) : () -> ()
// CHECK-NEXT:      return %3#1 : i32
// CHECK-NEXT:    }

func.func private @declared(f32 {a.b}, memref<?xf32>) -> (f32 {x.y = 1 : i32}, i32)
func.func private @returns_function() -> (() -> i32)
func.func private @returns_one_with_attribute() -> (i32 {a.b = "c"})
func.func public @"needs quotes"() {
  return
}
func.func @main(%x: f32 {nn.name = "x"}, %n: i32) -> i32 attributes {nn.entry} {
  %f = constant @returns_function : () -> (() -> i32)
  %g = func.call_indirect %f() : () -> (() -> i32)
  %0 = call_indirect %g() {tag} : () -> i32
  %m = "test.source"() : () -> memref<?xf32>
  %1:2 = call @declared(%x, %m) : (f32, memref<?xf32>) -> (f32, i32)
  call @"needs quotes"() {no_inline} : () -> ()
  "test.region"() ({
    func.call @"needs quotes"() : () -> ()
    "test.end"() : () -> ()
  }) : () -> ()
  return %1#1 : i32
}

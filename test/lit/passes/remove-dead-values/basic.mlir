// Operations whose results nobody uses go, unless they have an effect.
// RUN: nn-opt --remove-dead-values %s | filecheck %s

// CHECK-LABEL: func.func @f
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    return
func.func @f(%a: f32, %m: memref<4xf32>, %i: index) {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.addf %0, %a : f32
  %2 = memref.load %m[%i] : memref<4xf32>
  %3 = memref.alloc() : memref<8xf32>
  memref.store %a, %m[%i] : memref<4xf32>
  return
}

// expand-math keeps f64, which a library computes, tensors, and operations that processors have.
// RUN: nn-opt --expand-math %s | filecheck %s

// CHECK-LABEL: func.func @f64
// CHECK-NEXT:    math.exp %{{.*}} : vector<4xf64>
func.func @f64(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp %x : vector<4xf64>
  return %y : vector<4xf64>
}

// CHECK-LABEL: func.func @tensor
// CHECK-NEXT:    math.tanh %{{.*}} : tensor<4xf32>
func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @instructions
// CHECK-NEXT:    math.sqrt
// CHECK-NEXT:    math.floor
// CHECK-NEXT:    math.absf
// CHECK-NEXT:    math.copysign
// CHECK-NEXT:    math.fma
// CHECK-NEXT:    return
func.func @instructions(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.floor %0 : f32
  %2 = math.absf %1 : f32
  %3 = math.copysign %2, %x : f32
  %4 = math.fma %3, %2, %1 : f32
  return %4 : f32
}

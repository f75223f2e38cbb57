// expand-math sees what makes a function cheaper: exponents that are constants, and a sum with
// 1 or a rounding to f16 in which the denormals of an exponential are lost, as in a sigmoid.
// RUN: nn-opt --expand-math %s | filecheck %s

// CHECK-LABEL: func.func @square
// CHECK:         %[[Y:.*]] = arith.mulf %[[X:.*]], %[[X]] : vector<8xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @square(%x: vector<8xf32>) -> vector<8xf32> {
  %two = arith.constant dense<2.0> : vector<8xf32>
  %y = math.powf %x, %two : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @cube_of_f64
// CHECK:         %[[S:.*]] = arith.mulf %[[X:.*]], %[[X]] : f64
// CHECK-NEXT:    arith.mulf %[[X]], %[[S]] : f64
func.func @cube_of_f64(%x: f64) -> f64 {
  %three = arith.constant 3.0 : f64
  %y = math.powf %x, %three : f64
  return %y : f64
}

// CHECK-LABEL: func.func @root
// CHECK:         math.sqrt
// CHECK-NOT:     math.powf
// CHECK:         return
func.func @root(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %y = math.powf %x, %half : f32
  return %y : f32
}

// CHECK-LABEL: func.func @power
// CHECK:         arith.extf {{.*}} : f32 to f64
// CHECK-NOT:     math.powf
// CHECK:         arith.truncf {{.*}} : f64 to f32
func.func @power(%x: f32, %p: f32) -> f32 {
  %y = math.powf %x, %p : f32
  return %y : f32
}

// One product with the power of two where the tail is lost, else two.
// CHECK-LABEL: func.func @sigmoid
// CHECK:         arith.shli
// CHECK-COUNT-1: arith.mulf
// CHECK-NEXT:    arith.addf
func.func @sigmoid(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %e = math.exp %x : f32
  %y = arith.addf %e, %one : f32
  return %y : f32
}

// CHECK-LABEL: func.func @sum_with_unknown
// CHECK:         arith.shli
// CHECK-COUNT-2: arith.mulf
// CHECK:         arith.addf
func.func @sum_with_unknown(%x: f32, %c: f32) -> f32 {
  %e = math.exp %x : f32
  %y = arith.addf %e, %c : f32
  return %y : f32
}

// CHECK-LABEL: func.func @rounded_to_f16
// CHECK:         arith.shli
// CHECK-COUNT-1: arith.mulf
// CHECK-NEXT:    arith.truncf
func.func @rounded_to_f16(%x: f32) -> f16 {
  %e = math.exp %x : f32
  %y = arith.truncf %e : f32 to f16
  return %y : f16
}

// Denormals of f32 are ones of bf16, too.
// CHECK-LABEL: func.func @rounded_to_bf16
// CHECK:         arith.shli
// CHECK-COUNT-2: arith.mulf
// CHECK-NEXT:    arith.truncf
func.func @rounded_to_bf16(%x: f32) -> bf16 {
  %e = math.exp %x : f32
  %y = arith.truncf %e : f32 to bf16
  return %y : bf16
}

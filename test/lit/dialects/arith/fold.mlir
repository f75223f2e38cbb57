// Folds of arith and math that golden text shows best; the tests in test/dialects do the rest.
// RUN: nn-opt --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @wraparound
// CHECK-DAG:     %[[A:.*]] = arith.constant -128 : i8
// CHECK-DAG:     %[[B:.*]] = arith.constant -9223372036854775808 : index
// CHECK:         return %[[A]], %[[B]]
func.func @wraparound() -> (i8, index) {
  %a = arith.constant 127 : i8
  %b = arith.constant 1 : i8
  %0 = arith.addi %a, %b : i8
  %c = arith.constant 9223372036854775807 : index
  %d = arith.constant 1 : index
  %1 = arith.addi %c, %d : index
  return %0, %1 : i8, index
}

// CHECK-LABEL: func.func @division_by_zero
// CHECK:         %[[Q:.*]] = arith.divsi
// CHECK:         %[[R:.*]] = arith.remui
// CHECK:         return %[[Q]], %[[R]]
func.func @division_by_zero() -> (i32, i32) {
  %a = arith.constant 5 : i32
  %b = arith.constant 0 : i32
  %0 = arith.divsi %a, %b : i32
  %1 = arith.remui %a, %b : i32
  return %0, %1 : i32, i32
}

// CHECK-LABEL: func.func @float_identities
// CHECK-NEXT:    return %arg0, %arg0, %arg0 : f32, f32, f32
func.func @float_identities(%x: f32) -> (f32, f32, f32) {
  %minus_zero = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.addf %x, %minus_zero : f32
  %1 = arith.mulf %one, %x : f32
  %2 = arith.divf %x, %one : f32
  return %0, %1, %2 : f32, f32, f32
}

// -0.0 + 0.0 is 0.0, so x + 0.0 is not x.
// CHECK-LABEL: func.func @no_float_identity
// CHECK:         arith.addf %arg0
func.func @no_float_identity(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.addf %x, %zero : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @special_floats
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG:     %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:         return %[[INF]], %[[NAN]]
func.func @special_floats() -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %inf = arith.divf %one, %zero : f32
  %0 = arith.divf %zero, %zero : f32
  %nan = arith.maximumf %one, %0 : f32
  return %inf, %nan : f32, f32
}

// CHECK-LABEL: func.func @splats_and_small_dense
// CHECK-DAG:     %[[S:.*]] = arith.constant dense<7> : vector<4xi32>
// CHECK-DAG:     %[[D:.*]] = arith.constant dense<[11, 12, 13]> : tensor<3xi32>
// CHECK-DAG:     %[[M:.*]] = arith.constant dense<[true, false, false]> : tensor<3xi1>
// CHECK:         return %[[S]], %[[D]], %[[M]]
func.func @splats_and_small_dense() -> (vector<4xi32>, tensor<3xi32>, tensor<3xi1>) {
  %a = arith.constant dense<3> : vector<4xi32>
  %b = arith.constant dense<4> : vector<4xi32>
  %0 = arith.addi %a, %b : vector<4xi32>
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %d = arith.constant dense<10> : tensor<3xi32>
  %e = arith.constant dense<12> : tensor<3xi32>
  %1 = arith.addi %c, %d : tensor<3xi32>
  %2 = arith.cmpi slt, %1, %e : tensor<3xi32>
  return %0, %1, %2 : vector<4xi32>, tensor<3xi32>, tensor<3xi1>
}

// CHECK-LABEL: func.func @poison
// CHECK-NEXT:    %[[P:.*]] = ub.poison : f32
// CHECK-NEXT:    return %[[P]], %arg0 : f32, f32
func.func @poison(%x: f32, %c: i1) -> (f32, f32) {
  %p = ub.poison : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.addf %p, %one : f32
  %1 = arith.select %c, %x, %p : f32
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func.func @rounding
// CHECK-DAG:     %[[A:.*]] = arith.constant 1.000000e+00 : f16
// CHECK-DAG:     %[[B:.*]] = arith.constant 0x7C00 : f16
// CHECK-DAG:     %[[C:.*]] = arith.constant 2.718{{.*}} : f32
// CHECK:         return %[[A]], %[[B]], %[[C]]
func.func @rounding() -> (f16, f16, f32) {
  %a = arith.constant 1.0001 : f32
  %b = arith.constant 1.0e+20 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.truncf %a : f32 to f16
  %1 = arith.truncf %b : f32 to f16
  %2 = math.exp %one : f32
  return %0, %1, %2 : f16, f16, f32
}

// As upstream, where both casts say that they contract. What compares must see the numbers that
// others see, so all that extend a rounded number must contract.
// CHECK-LABEL: func.func @roundings
// CHECK-SAME:    (%[[X:.*]]: f32, %[[Y:.*]]: vector<4xf32>, %[[Z:.*]]: f64)
// CHECK-NEXT:    %[[A:.*]] = arith.truncf %[[X]] : f32 to f16
// CHECK-NEXT:    %[[B:.*]] = arith.extf %[[A]] fastmath<contract> : f16 to f32
// CHECK-NEXT:    %[[C:.*]] = arith.truncf %[[X]] fastmath<contract> : f32 to f16
// CHECK-NEXT:    arith.extf %[[C]] fastmath<contract>
// CHECK-NEXT:    arith.extf %[[C]] : f16 to f32
// CHECK-NEXT:    %[[D:.*]] = arith.truncf %[[Z]] fastmath<contract> : f64 to bf16
// CHECK-NEXT:    arith.extf %[[D]] fastmath<contract> : bf16 to f32
// CHECK-NEXT:    return %[[X]], %[[Y]], %[[B]]
func.func @roundings(%x: f32, %y: vector<4xf32>, %z: f64)
    -> (f32, vector<4xf32>, f32, f32, f32, f32) {
  %0 = arith.truncf %x fastmath<contract> : f32 to bf16
  %1 = arith.extf %0 fastmath<contract> : bf16 to f32
  %2 = arith.truncf %y fastmath<fast> : vector<4xf32> to vector<4xf16>
  %3 = arith.extf %2 fastmath<nnan,contract> : vector<4xf16> to vector<4xf32>
  %4 = arith.truncf %x : f32 to f16
  %5 = arith.extf %4 fastmath<contract> : f16 to f32
  %6 = arith.truncf %x fastmath<contract> : f32 to f16
  %7 = arith.extf %6 fastmath<contract> : f16 to f32
  %8 = arith.extf %6 : f16 to f32
  %9 = arith.truncf %z fastmath<contract> : f64 to bf16
  %10 = arith.extf %9 fastmath<contract> : bf16 to f32
  return %1, %3, %5, %7, %8, %10 : f32, vector<4xf32>, f32, f32, f32, f32
}

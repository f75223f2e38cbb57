// Folds of vector.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @extract(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK: return %[[X]], %[[Y]]
func.func @extract(%x: f32, %y: f32) -> (f32, f32) {
  %b = vector.broadcast %x : f32 to vector<4xf32>
  %e = vector.from_elements %x, %y : vector<2xf32>
  %0 = vector.extract %b[2] : f32 from vector<4xf32>
  %1 = vector.extract %e[1] : f32 from vector<2xf32>
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: %[[C:.*]] = arith.constant dense<1.0{{.*}}> : vector<4xf32>
// CHECK: return %[[C]]
func.func @broadcast() -> vector<4xf32> {
  %c = arith.constant 1.0 : f32
  %0 = vector.broadcast %c : f32 to vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func.func @there_and_back(
// CHECK-SAME: %[[V:.*]]: vector<2x4xf32>
// CHECK-NEXT: return %[[V]]
func.func @there_and_back(%v: vector<2x4xf32>) -> vector<2x4xf32> {
  %0 = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
  %1 = vector.shape_cast %0 : vector<8xf32> to vector<2x4xf32>
  %2 = vector.transpose %1, [0, 1] : vector<2x4xf32> to vector<2x4xf32>
  return %2 : vector<2x4xf32>
}

// expand-math writes the exponential of a vector as straight-line code: two-step reduction, a
// polynomial of degree 6, and a power of two made of integer ops. It works on any rank and on
// scalars, and computes f16 in f32.
// RUN: nn-opt --target=x86-64-v3 --expand-math %s | filecheck %s

// CHECK-LABEL: func.func @vector
// CHECK-NOT:     math.exp
// CHECK:         %[[LOW:.*]] = arith.cmpf olt
// CHECK-NEXT:    arith.select %[[LOW]]
// CHECK:         %[[SHIFTED:.*]] = math.fma
// CHECK-NEXT:    %[[N:.*]] = arith.subf %[[SHIFTED]]
// CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %[[SHIFTED]] : vector<16xf32> to vector<16xi32>
// CHECK:         math.fma %[[N]]
// CHECK:         %[[R:.*]] = math.fma %[[N]]
// CHECK-COUNT-6: math.fma %{{.*}} : vector<16xf32>
// CHECK:         arith.shli %[[BITS]]
// CHECK-COUNT-2: arith.mulf
// CHECK-NEXT:    return
func.func @vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @rank_two
// CHECK:         math.fma {{.*}} : vector<6x16xf32>
// CHECK:         arith.shli {{.*}} : vector<6x16xi32>
func.func @rank_two(%x: vector<6x16xf32>) -> vector<6x16xf32> {
  %y = math.exp %x : vector<6x16xf32>
  return %y : vector<6x16xf32>
}

// CHECK-LABEL: func.func @scalar
// CHECK:         arith.bitcast {{.*}} : f32 to i32
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @half
// CHECK:         arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK:         %[[Y:.*]] = arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
// CHECK-NEXT:    return %[[Y]]
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %y = math.exp %x : vector<8xf16>
  return %y : vector<8xf16>
}

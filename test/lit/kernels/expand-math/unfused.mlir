// A machine without a fused multiply-add multiplies and adds. What is taken from the exponent is a
// product that is exact by itself: of the whole part with log(2) as 15 bits; the rest follows.
// RUN: nn-opt --target=wasm32-simd --expand-math %s | filecheck %s

// CHECK-LABEL: func.func @vector
// CHECK-NOT:     math
// CHECK:         %[[N:.*]] = arith.subf
// CHECK:         %[[HIGH:.*]] = arith.constant dense<-0.693145751>
// CHECK-NEXT:    %[[PRODUCT:.*]] = arith.mulf %[[N]], %[[HIGH]]
// CHECK-NEXT:    %[[REST:.*]] = arith.addf %[[PRODUCT]]
// CHECK-NEXT:    %[[LOW:.*]] = arith.constant dense<-1.42860677E-6>
// CHECK-NOT:     math
func.func @vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

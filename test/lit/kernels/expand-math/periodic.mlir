// expand-math leaves the sine of numbers beyond 2**18 to a library, in a branch that a vector
// takes if one of its elements is so large; the marked op stays however often the pass runs.
// RUN: nn-opt --expand-math --expand-math %s | filecheck %s

// CHECK-LABEL: func.func @sine
// CHECK:         %[[FAR:.*]] = arith.cmpf ogt
// CHECK-NEXT:    %[[FLAT:.*]] = vector.shape_cast %[[FAR]] : vector<2x4xi1> to vector<8xi1>
// CHECK-NEXT:    %[[ANY:.*]] = vector.reduction <or>, %[[FLAT]]
// CHECK-NEXT:    %[[Y:.*]] = scf.if %[[ANY]] -> (vector<2x4xf32>) {
// CHECK-NEXT:      %[[EXACT:.*]] = math.sin %{{.*}} {nn.exact}
// CHECK-NEXT:      scf.yield %[[EXACT]]
// CHECK-NEXT:    } else {
// CHECK-NOT:       math.sin
// CHECK:         return %[[Y]]
func.func @sine(%x: vector<2x4xf32>) -> vector<2x4xf32> {
  %y = math.sin %x : vector<2x4xf32>
  return %y : vector<2x4xf32>
}

// No f16 is that large.
// CHECK-LABEL: func.func @half
// CHECK-NOT:     scf.if
// CHECK-NOT:     math.cos
// CHECK:         return
func.func @half(%x: f16) -> f16 {
  %y = math.cos %x : f16
  return %y : f16
}

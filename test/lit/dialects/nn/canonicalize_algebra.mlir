// RUN: nn-opt --canonicalize --split-input-file %s | filecheck %s

// Algebra of elementwise ops: what is removed, and what must stay because a type, a NaN or a
// broadcast would be lost.

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.sub %0, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.mul %one, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.div %2, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.pow %3, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// A constant of more elements than the operand broadcasts it.

// CHECK-LABEL: @broadcasting_stays
// CHECK: nn.add
func.func @broadcasting_stays(%x: tensor<1xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %0 = nn.add %x, %zero : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @zero_times_nan_is_nan
// CHECK: nn.mul
func.func @zero_times_nan_is_nan(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.mul %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @powers
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[MINUS:.*]] = nn.constant dense<-1.000000e+00>
// CHECK-DAG: %[[HALF:.*]] = nn.constant dense<5.000000e-01>
// CHECK-DAG: %[[SQUARE:.*]] = nn.mul %[[X]], %[[X]]
// CHECK-DAG: %[[INVERSE:.*]] = nn.pow %[[X]], %[[MINUS]]
// CHECK-DAG: %[[ROOT:.*]] = nn.pow %[[X]], %[[HALF]]
// CHECK: return %[[SQUARE]], %[[INVERSE]], %[[ROOT]]
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = nn.constant dense<2.0> : tensor<f32>
  %minus = nn.constant dense<-1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.pow %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.pow %x, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.pow %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @repeated
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = nn.relu %[[X]]
// CHECK-NEXT: return %[[R]]
func.func @repeated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = nn.max %3, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Applied twice, the exponential is another function.

// CHECK-LABEL: @not_idempotent
// CHECK-COUNT-2: nn.exp
func.func @not_idempotent(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @constant_to_the_right
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[C:.*]] = nn.constant
// CHECK: nn.add %[[X]], %[[C]]
// CHECK: nn.sub %[[C]], %{{.*}}
func.func @constant_to_the_right(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.add %c, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.sub %c, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Division by 8 is multiplication by 1/8, exactly; by 3 it is not.

// CHECK-LABEL: @divisions
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[EIGHTH:.*]] = nn.constant dense<1.250000e-01>
// CHECK-DAG: %[[THREE:.*]] = nn.constant dense<3.000000e+00>
// CHECK: %[[A:.*]] = nn.mul %[[X]], %[[EIGHTH]]
// CHECK: nn.div %[[A]], %[[THREE]]
func.func @divisions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %eight = nn.constant dense<8.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.div %x, %eight : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.div %0, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @clip
// CHECK: nn.relu
// CHECK: nn.clip
func.func @clip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %six = nn.constant dense<6.0> : tensor<f32>
  %inf = nn.constant dense<0x7F800000> : tensor<f32>
  %ninf = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.clip %x, %zero, %inf : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.clip %0, %ninf, %inf : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %2 = nn.clip %1, %zero, %six : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// f16 goes through f32 unharmed, f32 through f16 does not.

// CHECK-LABEL: @casts
// CHECK-SAME: (%[[A:.*]]: tensor<4xf16>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[N:.*]] = nn.cast %[[B]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: %[[W:.*]] = nn.cast %[[N]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK: return %[[A]], %[[W]]
func.func @casts(%a: tensor<4xf16>, %b: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  %0 = nn.cast %a : (tensor<4xf16>) -> tensor<4xf32>
  %1 = nn.cast %0 : (tensor<4xf32>) -> tensor<4xf16>
  %2 = nn.cast %b : (tensor<4xf32>) -> tensor<4xf16>
  %3 = nn.cast %2 : (tensor<4xf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf16>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @where_decided
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<f32>)
// CHECK: %[[B:.*]] = nn.where {{.*}}, %[[X]], %[[Y]]
// CHECK: return %[[X]], %[[B]]
func.func @where_decided(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = nn.constant dense<true> : tensor<i1>
  %false = nn.constant dense<false> : tensor<i1>
  %0 = nn.where %true, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = nn.where %false, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The rules of the outer cast stay.
// CHECK-LABEL: @casts_to_small_floats
// CHECK: nn.cast %arg0 {saturate = false} : (tensor<4xf16>) -> tensor<4xf8E5M2>
func.func @casts_to_small_floats(%a: tensor<4xf16>) -> tensor<4xf8E5M2> {
  %0 = nn.cast %a : (tensor<4xf16>) -> tensor<4xf32>
  %1 = nn.cast %0 {saturate = false} : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %1 : tensor<4xf8E5M2>
}

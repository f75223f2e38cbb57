// Softmax, layer normalization and GELU as JAX and TensorFlow spell them out become one op each.
// RUN: nn-opt --recognize-composites --canonicalize --split-input-file %s | filecheck %s

// As in jax.nn.softmax; the product's second operand is turned, so the product is.

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x8xf32>, %[[V:.*]]: tensor<2x3x8xf32>)
// CHECK-NEXT:    %[[S:.*]] = nn.softmax %[[X]] {axis = 2 : i64}
// CHECK-NEXT:    %[[T:.*]] = nn.transpose %[[V]]
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[S]], %[[T]]
// CHECK-NEXT:    %[[Y:.*]] = nn.transpose %[[P]]
// CHECK-NEXT:    return %[[Y]]
func.func @attention(%x: tensor<2x4x8xf32>, %v: tensor<2x3x8xf32>) -> tensor<2x3x4xf32> {
  %floor = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.reduce_max %x {axes = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %1 = nn.max %0, %floor : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = nn.reshape %1 : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %3 = nn.sub %x, %2 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %4 = nn.exp %3 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %5 = nn.reduce_sum %4 {axes = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %6 = nn.reshape %5 : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %7 = nn.div %4, %6 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %8 = nn.transpose %7 {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  %9 = nn.matmul %v, %8 : (tensor<2x3x8xf32>, tensor<2x8x4xf32>) -> tensor<2x3x4xf32>
  return %9 : tensor<2x3x4xf32>
}

// -----

// Of 16-bit floats too: a kernel rounds what it stores only.

// CHECK-LABEL: func.func @rounded(
// CHECK-NEXT:    nn.softmax %{{.*}} -> tensor<4x8xf16>
// CHECK-NEXT:    return
func.func @rounded(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = nn.reduce_max %x {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %1 = nn.sub %x, %0 : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %2 = nn.exp %1 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %4 = nn.div %2, %3 : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  return %4 : tensor<4x8xf16>
}

// -----

// The largest of another tensor is no softmax's.

// CHECK-LABEL: func.func @other_maximum(
// CHECK-NOT:     nn.softmax
func.func @other_maximum(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.reduce_max %z {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = nn.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = nn.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = nn.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// As TensorFlow's batch normalization of rows, which Keras' LayerNormalization is made of.

// CHECK-LABEL: func.func @factored_norm(
// CHECK:         %[[Y:.*]] = nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64
// CHECK-NEXT:    return %[[Y]]
func.func @factored_norm(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %scale = nn.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %shift = nn.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %epsilon = nn.constant dense<0.001> : tensor<f32>
  %mean = nn.reduce_mean %x {axes = array<i64: 1>, keep_dims = true} : (tensor<4x2xf32>) -> tensor<4x1xf32>
  %0 = nn.sub %x, %mean : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %1 = nn.mul %0, %0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x2xf32>) -> tensor<4x1xf32>
  %3 = nn.add %2, %epsilon : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = nn.rsqrt %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = nn.mul %4, %scale : (tensor<4x1xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %6 = nn.mul %x, %5 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %7 = nn.neg %mean : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %8 = nn.mul %7, %5 : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %9 = nn.add %8, %shift : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %10 = nn.add %6, %9 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %10 : tensor<4x2xf32>
}

// -----

// As in Flax: the variance is the mean of squares without the square of the mean.

// CHECK-LABEL: func.func @fast_variance(
// CHECK:         %[[Y:.*]] = nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64
// CHECK-NEXT:    return %[[Y]]
func.func @fast_variance(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %scale = nn.constant dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]> : tensor<4x2xf32>
  %shift = nn.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %half = nn.constant dense<0.5> : tensor<4x1xf32>
  %zero = nn.constant dense<0.0> : tensor<4x1xf32>
  %epsilon = nn.constant dense<0.001> : tensor<4x1xf32>
  %0 = nn.reduce_sum %x {axes = array<i64: 1>} : (tensor<4x2xf32>) -> tensor<4xf32>
  %1 = nn.reshape %0 : (tensor<4xf32>) -> tensor<4x1xf32>
  %mean = nn.mul %1, %half : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = nn.sub %x, %mean : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %3 = nn.mul %x, %x : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 1>} : (tensor<4x2xf32>) -> tensor<4xf32>
  %5 = nn.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
  %6 = nn.mul %5, %half : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %7 = nn.mul %mean, %mean : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %8 = nn.sub %6, %7 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %9 = nn.max %8, %zero : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %10 = nn.add %9, %epsilon : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %11 = nn.rsqrt %10 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %12 = nn.mul %11, %scale : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %13 = nn.mul %2, %12 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %14 = nn.add %13, %shift : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  return %14 : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @gelu(
// CHECK-NEXT:    %[[Y:.*]] = nn.gelu
// CHECK-NEXT:    return %[[Y]]
func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = nn.constant dense<0.5> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %root = nn.constant dense<0.707106769> : tensor<f32>
  %0 = nn.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = nn.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.mul %1, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = nn.erf %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = nn.sub %one, %3 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = nn.mul %0, %4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// As in jax.nn.gelu.

// CHECK-LABEL: func.func @gelu_by_erfc(
// CHECK-NEXT:    %[[Y:.*]] = nn.gelu
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_by_erfc(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = nn.constant dense<0.5> : tensor<f32>
  %root = nn.constant dense<0.707106769> : tensor<f32>
  %0 = nn.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = nn.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.mul %1, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = nn.erfc %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = nn.mul %0, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// A module that wants its math as written keeps it.

// CHECK-LABEL: func.func @as_written(
// CHECK:         nn.erf
module attributes {nn.strict_math} {
  func.func @as_written(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %half = nn.constant dense<0.5> : tensor<f32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %root = nn.constant dense<0.707106769> : tensor<f32>
    %0 = nn.mul %x, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %1 = nn.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = nn.mul %1, %root : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %3 = nn.erf %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = nn.sub %one, %3 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = nn.mul %0, %4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %5 : tensor<4x8xf32>
  }
}

// -----

// A number times its sigmoid is a quotient; a sigmoid that something else reads too stays.

// CHECK-LABEL: func.func @swish(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = nn.swish %[[X]] {alpha = 1.702{{.*}} : f32}
// CHECK-NEXT:    %[[Z:.*]] = nn.swish %[[Y]]
// CHECK-NOT:     alpha
// CHECK:         %[[S:.*]] = nn.sigmoid %[[Z]]
// CHECK-NEXT:    %[[P:.*]] = nn.mul %[[Z]], %[[S]]
// CHECK-NEXT:    %[[Q:.*]] = nn.mul %[[P]], %[[S]]
// CHECK-NEXT:    %[[R:.*]] = nn.sigmoid %[[X]]
// CHECK-NEXT:    nn.mul %[[Q]], %[[R]]
func.func @swish(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %alpha = nn.constant dense<1.702> : tensor<f32>
  %0 = nn.mul %x, %alpha : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = nn.sigmoid %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.mul %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = nn.sigmoid %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = nn.mul %3, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = nn.sigmoid %4 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = nn.mul %4, %5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = nn.mul %6, %5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = nn.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = nn.mul %7, %8 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %9 : tensor<4x8xf32>
}

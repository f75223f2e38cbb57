// Sums of products: a fill and one generic; padding and bias are stages of their own.
// RUN: nn-opt --lower-to-linalg %s | filecheck %s

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 + d6)>
// CHECK-DAG: #[[XG:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3 + d5)>
// CHECK-DAG: #[[WG:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d4, d5)>

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<4x2xf32>) {
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[OUT]] : memref<4x2xf32>)
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: %[[S:.*]] = arith.addf %{{.*}}, %[[P]]
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK-NOT: memref.alloc
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  func.return %0 : tensor<4x2xf32>
}

// Halves accumulate in single precision.
// CHECK-LABEL: func.func @half(
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<4x2xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SUM]]
// CHECK: linalg.generic {{.*}} outs(%[[SUM]] : memref<4x2xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : memref<4x2xf32>)
// CHECK: arith.truncf
func.func @half(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>) -> tensor<4x2xf16> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf16>
  func.return %0 : tensor<4x2xf16>
}

// The border is filled in strips, the middle copied.
// CHECK-LABEL: func.func @conv(
// CHECK: %[[PADDED:.*]] = memref.alloc() : memref<1x3x9x9xf32>
// CHECK: memref.subview %[[PADDED]][0, 0, 0, 0] [1, 3, 1, 9]
// CHECK: memref.subview %[[PADDED]][0, 0, 1, 8] [1, 3, 8, 1]
// CHECK: %[[MIDDLE:.*]] = memref.subview %[[PADDED]][0, 0, 1, 0] [1, 3, 8, 8]
// CHECK: linalg.copy ins(%{{.*}}) outs(%[[MIDDLE]]
// CHECK: linalg.generic {indexing_maps = [#[[X]]{{.*}} ins(%[[PADDED]],
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x2xf32>) -> tensor<1x4x4x8xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x2xf32>) -> tensor<1x4x4x8xf32>
  func.return %0 : tensor<1x4x4x8xf32>
}

// Groups are a dimension of their own.
// CHECK-LABEL: func.func @grouped(
// CHECK: memref.expand_shape {{.*}} memref<1x6x8xf32> into memref<1x2x3x8xf32>
// CHECK: memref.expand_shape {{.*}} memref<4x3x3xf32> into memref<2x2x3x3xf32>
// CHECK: memref.expand_shape {{.*}} memref<1x4x6xf32> into memref<1x2x2x6xf32>
// CHECK: linalg.generic {indexing_maps = [#[[XG]], #[[WG]],
func.func @grouped(%x: tensor<1x6x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x4x6xf32> {
  %0 = nn.conv %x, %w {groups = 2 : i64}
    : (tensor<1x6x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  func.return %0 : tensor<1x4x6xf32>
}

// No operand tells how large the window is, so a buffer that is never read does.
// CHECK-LABEL: func.func @pool(
// CHECK: %[[WINDOW:.*]] = memref.alloca() : memref<2x3xi8>
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[WINDOW]] :
// CHECK: arith.cmpf ogt
// CHECK-NEXT: arith.select
func.func @pool(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x7x6xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 2, 3>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x6xf32>
  func.return %0 : tensor<1x3x7x6xf32>
}

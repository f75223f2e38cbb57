// Elementwise ops: one generic each, constants in the body, broadcasting by the constant 0.
// RUN: nn-opt --lower-to-linalg %s | filecheck %s

// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[X:.*]]: memref<4x8xf32>, %[[OUT:.*]]: memref<4x8xf32>) {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[SAME]], #[[SAME]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : memref<4x8xf32>) outs(%[[OUT]] : memref<4x8xf32>) {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[E]], %[[ZERO]] fastmath<nsz> : f32
// CHECK-NEXT: linalg.yield %[[MAX]] : f32
// CHECK: return
func.func @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: indexing_maps = [#[[COLUMN]], #[[ROW]], #[[SAME]]]
// CHECK: arith.subf
func.func @broadcast(%x: tensor<4x1xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.sub %x, %y : (tensor<4x1xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @splat(
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NOT: memref.global
// CHECK: ins(%{{.*}} : memref<8xf32>)
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
func.func @splat(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// Halves are computed in single precision and rounded once.
// CHECK-LABEL: func.func @half(
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} fastmath<contract> : f16 to f32
// CHECK: %[[TANH:.*]] = math.tanh %[[WIDE]] : f32
// CHECK: %[[NARROW:.*]] = arith.truncf %[[TANH]] fastmath<contract> : f32 to f16
// CHECK: linalg.yield %[[NARROW]] : f16
func.func @half(%x: tensor<8xf16>) -> tensor<8xf16> {
  %0 = nn.tanh %x : (tensor<8xf16>) -> tensor<8xf16>
  func.return %0 : tensor<8xf16>
}

// Unsigned integers are signless in memory; the operation knows better.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: memref<8xi8>
// CHECK: arith.maxui %{{.*}} : i8
func.func @unsigned(%x: tensor<8xui8>, %y: tensor<8xui8>) -> tensor<8xui8> {
  %0 = nn.max %x, %y : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  func.return %0 : tensor<8xui8>
}

// Whether an unknown extent repeats is decided at run time, by a stride of 0; the other is checked.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[A:.*]]: memref<?x8xf32>, %[[B:.*]]: memref<?x8xf32>) -> memref<?x8xf32>
// CHECK: %[[N:.*]] = memref.dim %[[A]]
// CHECK: %[[M:.*]] = memref.dim %[[B]]
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[N]]
// CHECK: %[[SIZE:.*]] = arith.select %[[ONE]], %[[M]], %[[N]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[M]], %[[SIZE]]
// CHECK: %[[REPEATS:.*]] = arith.cmpi eq, %[[M]]
// CHECK: %[[FITS:.*]] = arith.ori %[[SAME]], %[[REPEATS]]
// CHECK: cf.assert %[[FITS]], "extent 0 of an operand does not fit the others'"
// CHECK-NOT: cf.assert
// CHECK: %[[OUT:.*]] = memref.alloc(%[[SIZE]]) : memref<?x8xf32>
// CHECK: memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[SIZE]], 8], strides: [%{{.*}}, 1]
// CHECK: linalg.generic
// CHECK: return %[[OUT]] : memref<?x8xf32>
func.func @unknown(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = nn.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %0 : tensor<?x8xf32>
}

// Small numbers are bytes in memory: of an integer the low bits count, the code of a float is
// converted by arithmetic on it.
// CHECK-LABEL: @small
// CHECK-SAME: memref<4xi8>, %{{.*}}: memref<4xi8>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xi8>)
// CHECK: ^bb0(%[[C:.*]]: i8, %{{.*}}: f32):
// CHECK: %[[H:.*]] = arith.shli %[[C]], %{{.*}} : i8
// CHECK: %[[N:.*]] = arith.shrsi %[[H]], %{{.*}} : i8
// CHECK: arith.sitofp %[[N]] : i8 to f32
// CHECK: ^bb0(%[[F:.*]]: i8, %{{.*}}: i8):
// CHECK: arith.extui %[[F]] : i8 to i32
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: arith.trunci
// CHECK: arith.andi
func.func @small(%a: tensor<4xi4>, %b: tensor<4xf8E5M2>) -> (tensor<4xf32>, tensor<4xui4>) {
  %0 = nn.cast %a : (tensor<4xi4>) -> tensor<4xf32>
  %1 = nn.cast %b : (tensor<4xf8E5M2>) -> tensor<4xui4>
  return %0, %1 : tensor<4xf32>, tensor<4xui4>
}

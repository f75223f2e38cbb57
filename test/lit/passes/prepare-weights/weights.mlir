// A weight that is larger than what it is made of gets a function that makes it, and stays itself.
// RUN: nn-opt --fold-constants='limit=0' --prepare-weights %s | filecheck %s
// RUN: nn-opt --fold-constants='limit=0' --prepare-weights='milliseconds=0' %s | filecheck %s --check-prefix=SLOW

// CHECK-LABEL: func.func @main(
// CHECK-DAG:     nn.constant dense_resource<[[BYTES:.*]]> : tensor<4x4xf32>
// CHECK-DAG:     nn.constant dense_resource<[[HALVES:.*]]> : tensor<16x4xf32>
// CHECK-DAG:     nn.constant dense_resource<[[SAME:.*]]> : tensor<4x16xf16>
// CHECK:         return

// The largest comes first, and what it is made of is all that is stored of it.
// CHECK:       func.func @prepare_0() -> (tensor<16x4xf32> {nn.weight = "[[HALVES]]"})
// CHECK-SAME:    attributes {nn.prepare = 0 : i64}
// CHECK-NEXT:    %[[W:.*]] = nn.constant dense_resource<halves> : tensor<16x4xf16>
// CHECK-NEXT:    %[[C:.*]] = nn.cast %[[W]] : (tensor<16x4xf16>) -> tensor<16x4xf32>
// CHECK-NEXT:    return %[[C]]

// From the smallest form on, with the constants that the steps need.
// CHECK:       func.func @prepare_1() -> (tensor<4x4xf32> {nn.weight = "[[BYTES]]"})
// CHECK-SAME:    attributes {nn.prepare = 1 : i64}
// CHECK-NEXT:    %[[W:.*]] = nn.constant dense_resource<bytes> : tensor<4x4xi8>
// CHECK-NEXT:    %[[C:.*]] = nn.cast %[[W]] : (tensor<4x4xi8>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[S:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT:    %[[M:.*]] = nn.mul %[[C]], %[[S]]
// CHECK-NEXT:    return %[[M]]

// A change of layout makes nothing larger.
// CHECK-NOT:   func.func

// SLOW:     func.func @main
// SLOW-NOT: func.func @prepare

func.func @main(%x: tensor<4x4xf32>, %z: tensor<4x4xf16>, %one: tensor<4x16xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x16xf16>) attributes {nn.entry} {
  %bytes = nn.constant dense_resource<bytes> : tensor<4x4xi8>
  %scale = nn.constant dense<0.25> : tensor<f32>
  %c = nn.cast %bytes : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %w = nn.mul %c, %scale : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %y = nn.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %halves = nn.constant dense_resource<halves> : tensor<16x4xf16>
  %h = nn.cast %halves : (tensor<16x4xf16>) -> tensor<16x4xf32>
  %v = nn.matmul %one, %h : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %t = nn.transpose %halves {permutation = array<i64: 1, 0>} : (tensor<16x4xf16>) -> tensor<4x16xf16>
  %u = nn.matmul %z, %t : (tensor<4x4xf16>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return %y, %v, %u : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x16xf16>
}

{-#
  dialect_resources: {
    builtin: {
      bytes: "0x0100000000010203040506070809FFFEFDFCFBFA",
      halves: "0x02000000003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040003C0040"
    }
  }
#-}

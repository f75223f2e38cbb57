// Extents that are equal by their names, or made of those that are, let reshapes and broadcasts go.
// RUN: nn-opt --simplify-shapes --canonicalize --split-input-file %s | filecheck %s

// The rows of a matrix are given their shape again: they never lose it.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x2x4xf32>, %[[W:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[R:.*]] = nn.reshape %[[X]] : (tensor<?x?x2x4xf32>) -> tensor<?x?x8xf32>
// CHECK-NEXT:    %[[P:.*]] = nn.matmul %[[R]], %[[W]] : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
// CHECK-NEXT:    %[[Y:.*]] = nn.add %[[P]], %[[B]] : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @rows(%x: tensor<?x?x2x4xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<?x?x4xf32> {
  %0 = nn.reshape %x : (tensor<?x?x2x4xf32>) -> tensor<?x8xf32>
  %1 = nn.matmul %0, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %2 = nn.add %1, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %shape = nn.shape_of %x : (tensor<?x?x2x4xf32>) -> tensor<4xi64>
  %n = nn.slice %shape {starts = array<i64: 0>} : (tensor<4xi64>) -> tensor<2xi64>
  %columns = nn.constant dense<4> : tensor<1xi64>
  %wanted = nn.concat %n, %columns {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %3 = nn.reshape_dynamic %2, %wanted : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
  return %3 : tensor<?x?x4xf32>
}

// -----

// -1 stands for what is left, and that is a length.

// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x8xf32>)
// CHECK-NEXT:    %[[Y:.*]] = nn.reshape %[[X]] : (tensor<?x?x8xf32>) -> tensor<?x?x4x2xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @heads(%x: tensor<?x?x8xf32>) -> tensor<?x?x4x2xf32> {
  %shape = nn.shape_of %x : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %batch = nn.slice %shape {starts = array<i64: 0>} : (tensor<3xi64>) -> tensor<1xi64>
  %rest = nn.constant dense<[-1, 4, 2]> : tensor<3xi64>
  %wanted = nn.concat %batch, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
  %0 = nn.reshape_dynamic %x, %wanted : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x?x4x2xf32>
  return %0 : tensor<?x?x4x2xf32>
}

// -----

// What is repeated is repeated by the sum anyway, as both lengths have one name.

// CHECK-LABEL: func.func @same_name(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NEXT:    %[[S:.*]] = nn.add %[[X]], %[[Y]]
// CHECK-NEXT:    return %[[S]]
func.func @same_name(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> attributes {nn.input_dims = [["batch", "length"], ["length"]]} {
  %shape = nn.shape_of %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %0 = nn.broadcast_dynamic %y, %shape : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = nn.add %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// Without the name one may be 1, and the other not.

// CHECK-LABEL: func.func @other_names(
// CHECK:         nn.broadcast_dynamic
// CHECK:         nn.add
func.func @other_names(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> attributes {nn.input_dims = [["batch", "length"], ["width"]]} {
  %shape = nn.shape_of %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %0 = nn.broadcast_dynamic %y, %shape : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = nn.add %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// A matrix whose rows are those of no other tensor keeps its computed shape.

// CHECK-LABEL: func.func @new_rows(
// CHECK:         nn.reshape_dynamic
func.func @new_rows(%x: tensor<?x8xf32>, %y: tensor<?x?xf32>) -> tensor<?x?x8xf32> {
  %shape = nn.shape_of %y : (tensor<?x?xf32>) -> tensor<2xi64>
  %columns = nn.constant dense<8> : tensor<1xi64>
  %wanted = nn.concat %shape, %columns {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = nn.reshape_dynamic %x, %wanted : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// -----

// The first n of 16 rows are n rows or fewer; where they are added to n rows, they are n.

// CHECK-LABEL: func.func @positions(
// CHECK-NOT:     nn.reshape_dynamic
// CHECK:         return
func.func @positions(%x: tensor<?x?x8xf32>, %p: tensor<16x8xf32>) -> tensor<?x?x8xf32> {
  %shape = nn.shape_of %x : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %n = nn.slice %shape {starts = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
  %zero = nn.constant dense<0> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64>
  %0 = nn.slice_dynamic %p, %zero, %n, %zero, %one : (tensor<16x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  %1 = nn.add %x, %0 : (tensor<?x?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  %2 = nn.reshape_dynamic %1, %shape : (tensor<?x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  return %2 : tensor<?x?x8xf32>
}

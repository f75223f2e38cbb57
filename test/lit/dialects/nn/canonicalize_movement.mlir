// RUN: nn-opt --canonicalize --split-input-file %s | filecheck %s

// Movements of elements that cancel, merge or are mere views, and those that do not.

// CHECK-LABEL: @transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: %[[T:.*]] = nn.transpose %[[X]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[T]], %[[X]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x4x3xf32>, tensor<2x3x4xf32>) {
  %0 = nn.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<2x4x3xf32>, tensor<2x3x4xf32>
}

// -----

// Where only extents of 1 change their place, nothing moves in memory.

// CHECK-LABEL: @transpose_of_ones
// CHECK: nn.reshape {{.*}} -> tensor<3x1x4xf32>
// CHECK: nn.transpose
func.func @transpose_of_ones(%x: tensor<1x3x4xf32>) -> (tensor<3x1x4xf32>, tensor<1x4x3xf32>) {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  %1 = nn.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x3x4xf32>) -> tensor<1x4x3xf32>
  return %0, %1 : tensor<3x1x4xf32>, tensor<1x4x3xf32>
}

// -----

// CHECK-LABEL: @reshapes
// CHECK-SAME: (%[[X:.*]]: tensor<?x6xf32>)
// CHECK-NEXT: %[[R:.*]] = nn.reshape %[[X]] : (tensor<?x6xf32>) -> tensor<?x2xf32>
// CHECK-NEXT: return %[[R]]
func.func @reshapes(%x: tensor<?x6xf32>) -> tensor<?x2xf32> {
  %0 = nn.reshape %x : (tensor<?x6xf32>) -> tensor<?xf32>
  %1 = nn.reshape %0 : (tensor<?xf32>) -> tensor<?xf32>
  %2 = nn.reshape %1 : (tensor<?xf32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// The other operand has the result's shape already. Two broadcasts need each other.

// CHECK-LABEL: @broadcast_implied
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<3x4xf32>, %[[Z:.*]]: tensor<3x1xf32>)
// CHECK: nn.add %[[X]], %[[Y]]
// CHECK: %[[W:.*]] = nn.broadcast_to %[[Z]]
// CHECK: nn.mul %{{.*}}, %[[W]]
func.func @broadcast_implied(%x: tensor<4xf32>, %y: tensor<3x4xf32>, %z: tensor<3x1xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = nn.broadcast_to %x : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = nn.add %0, %y : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = nn.broadcast_to %z : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %3 = nn.reshape %x : (tensor<4xf32>) -> tensor<1x4xf32>
  %4 = nn.mul %3, %2 : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1, %4 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// Neighbouring slices in a concatenation are one, or what they are slices of, whatever lies before the
// axis; others stay.
// CHECK-LABEL: @neighbours
// CHECK-SAME: %[[X:.*]]: tensor<?x4x?xf32>, %[[Y:.*]]: tensor<?x1x?xf32>
// CHECK: %[[F:.*]] = nn.slice %[[X]] {starts = array<i64: 0, 0, 0>}
// CHECK: %[[L:.*]] = nn.slice %[[X]] {starts = array<i64: 0, 1, 0>}
// CHECK: nn.concat %[[X]], %[[Y]] {axis = 1 : i64}
// CHECK: %[[S:.*]] = nn.slice %[[X]] {starts = array<i64: 0, 1, 0>} : (tensor<?x4x?xf32>) -> tensor<?x3x?xf32>
// CHECK: nn.concat %[[Y]], %[[S]] {axis = 1 : i64}
// CHECK: nn.concat %[[L]], %[[F]] {axis = 1 : i64}
func.func @neighbours(%x: tensor<?x4x?xf32>, %y: tensor<?x1x?xf32>) -> (tensor<?x5x?xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>) {
  %first = nn.slice %x {starts = array<i64: 0, 0, 0>} : (tensor<?x4x?xf32>) -> tensor<?x1x?xf32>
  %next = nn.slice %x {starts = array<i64: 0, 1, 0>} : (tensor<?x4x?xf32>) -> tensor<?x1x?xf32>
  %two = nn.slice %x {starts = array<i64: 0, 2, 0>} : (tensor<?x4x?xf32>) -> tensor<?x2x?xf32>
  %last = nn.slice %x {starts = array<i64: 0, 1, 0>} : (tensor<?x4x?xf32>) -> tensor<?x3x?xf32>
  %a = nn.concat %first, %next, %two, %y {axis = 1 : i64} : (tensor<?x1x?xf32>, tensor<?x1x?xf32>, tensor<?x2x?xf32>, tensor<?x1x?xf32>) -> tensor<?x5x?xf32>
  %b = nn.concat %y, %next, %two {axis = 1 : i64} : (tensor<?x1x?xf32>, tensor<?x1x?xf32>, tensor<?x2x?xf32>) -> tensor<?x4x?xf32>
  %c = nn.concat %last, %first {axis = 1 : i64} : (tensor<?x3x?xf32>, tensor<?x1x?xf32>) -> tensor<?x4x?xf32>
  return %a, %b, %c : tensor<?x5x?xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>
}

// CHECK-LABEL: @concats
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<0x3xf32>)
// CHECK-NEXT: %[[C:.*]] = nn.concat %[[X]], %[[X]], %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[D:.*]] = nn.concat %[[C]], %[[C]] {axis = 1 : i64}
// CHECK-NEXT: return %[[D]], %[[X]]
func.func @concats(%x: tensor<2x3xf32>, %y: tensor<0x3xf32>) -> (tensor<6x6xf32>, tensor<2x3xf32>) {
  %0 = nn.concat %x, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = nn.concat %0, %x {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  %2 = nn.concat %1, %1 {axis = 1 : i64} : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x6xf32>
  %3 = nn.concat %y, %x {axis = 0 : i64} : (tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2, %3 : tensor<6x6xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @slices
// CHECK-SAME: (%[[X:.*]]: tensor<10xf32>)
// CHECK-NEXT: %[[S:.*]] = nn.slice %[[X]] {starts = array<i64: 7>, steps = array<i64: -4>} : (tensor<10xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[S]], %[[X]]
func.func @slices(%x: tensor<10xf32>) -> (tensor<2xf32>, tensor<10xf32>) {
  %0 = nn.slice %x {starts = array<i64: 1>, steps = array<i64: 2>} : (tensor<10xf32>) -> tensor<5xf32>
  %1 = nn.slice %0 {starts = array<i64: 3>, steps = array<i64: -2>} : (tensor<5xf32>) -> tensor<2xf32>
  %2 = nn.slice %x {starts = array<i64: 0>} : (tensor<10xf32>) -> tensor<10xf32>
  return %1, %2 : tensor<2xf32>, tensor<10xf32>
}

// -----

// Padding of zeros is the convolution's own business, padding of ones is not.

// CHECK-LABEL: @pad_into_conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>)
// CHECK: nn.conv %[[X]], %[[W]] {pads = array<i64: 2, 1, 1, 1>}
// CHECK: %[[P:.*]] = nn.pad
// CHECK: nn.conv %[[P]], %[[W]] :
func.func @pad_into_conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> (tensor<1x4x9x8xf32>, tensor<1x4x8x8xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.pad %x {pads = array<i64: 0, 0, 1, 0, 0, 0, 0, 0>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x9x8xf32>
  %1 = nn.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x9x8xf32>
  %2 = nn.pad %x, %one {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %3 = nn.conv %2, %w : (tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %1, %3 : tensor<1x4x9x8xf32>, tensor<1x4x8x8xf32>
}

// -----

// Identities of single ops.

// CHECK-LABEL: @nothing
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x3x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @nothing(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = nn.pad %x {pads = array<i64: 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %1 = nn.tile %0 {repeats = array<i64: 1, 1, 1, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %2 = nn.resize %1 {scales = array<f32: 1.0, 1.0, 1.0, 1.0>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %3 = nn.broadcast_to %2 : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %4 = nn.split %3 {axis = 1 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %5 = nn.reduce_sum %4 {axes = array<i64: 0>, keep_dims = true} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %5 : tensor<1x2x3x4xf32>
}

// -----

// Without its dimension, the sum of one element is a view; the absolute value is not.

// CHECK-LABEL: @reduce_ones
// CHECK: nn.reshape
// CHECK: nn.reduce_l1
func.func @reduce_ones(%x: tensor<1x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.reduce_mean %x {axes = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
  %1 = nn.reduce_l1 %x {axes = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Consecutive indices are a slice, others are not.

// CHECK-LABEL: @gathers
// CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>)
// CHECK: %[[A:.*]] = nn.slice %[[X]] {starts = array<i64: 4, 0>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
// CHECK: nn.reshape %[[A]] : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK: nn.slice %[[X]] {starts = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<5x2xf32>
// CHECK: nn.gather
func.func @gathers(%x: tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x2xf32>, tensor<2x4xf32>) {
  %last = nn.constant dense<-1> : tensor<i64>
  %middle = nn.constant dense<[1, 2]> : tensor<2xi64>
  %apart = nn.constant dense<[0, 3]> : tensor<2xi64>
  %0 = nn.gather %x, %last : (tensor<5x4xf32>, tensor<i64>) -> tensor<4xf32>
  %1 = nn.gather %x, %middle {axis = 1 : i64} : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<5x2xf32>
  %2 = nn.gather %x, %apart : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<5x2xf32>, tensor<2x4xf32>
}

// -----

// What became static takes its static form.

// CHECK-LABEL: @static
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[V:.*]]: tensor<f32>)
// CHECK-DAG: nn.reshape %[[X]] : (tensor<?x8xf32>) -> tensor<?x4xf32>
// CHECK-DAG: nn.fill %[[V]] : (tensor<f32>) -> tensor<2x3xf32>
// CHECK-DAG: nn.broadcast_to %[[V]] : (tensor<f32>) -> tensor<2x3xf32>
// CHECK-DAG: nn.slice %[[X]] {starts = array<i64: 2, 7>, steps = array<i64: 1, -2>} : (tensor<?x8xf32>) -> tensor<?x4xf32>
func.func @static(%x: tensor<?x8xf32>, %v: tensor<f32>) -> (tensor<?x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<?x4xf32>) {
  %to4 = nn.constant dense<[-1, 4]> : tensor<2xi64>
  %shape = nn.constant dense<[2, 3]> : tensor<2xi64>
  %starts = nn.constant dense<[2, -1]> : tensor<2xi64>
  %ends = nn.constant dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>
  %axes = nn.constant dense<[0, 1]> : tensor<2xi64>
  %steps = nn.constant dense<[1, -2]> : tensor<2xi64>
  %0 = nn.reshape_dynamic %x, %to4 : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %1 = nn.fill_dynamic %shape, %v : (tensor<2xi64>, tensor<f32>) -> tensor<2x3xf32>
  %2 = nn.broadcast_dynamic %v, %shape : (tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %3 = nn.slice_dynamic %x, %starts, %ends, %axes, %steps : (tensor<?x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x4xf32>
  return %0, %1, %2, %3 : tensor<?x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<?x4xf32>
}

// -----

// What stays unknown keeps its dynamic form.

// CHECK-LABEL: @dynamic
// CHECK: nn.reshape_dynamic
// CHECK: nn.slice_dynamic
func.func @dynamic(%x: tensor<?x8xf32>, %shape: tensor<2xi64>, %n: tensor<1xi64>) -> (tensor<?x?xf32>, tensor<?x8xf32>) {
  %zero = nn.constant dense<0> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64>
  %0 = nn.reshape_dynamic %x, %shape : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = nn.slice_dynamic %x, %zero, %n, %zero, %one : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x8xf32>
}

// -----

// Pads and sizes that become known make the ops static.

// CHECK-LABEL: @known_numbers
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[I:.*]]: tensor<?x2x4x4xf32>
// CHECK-DAG: nn.pad %[[X]], %{{.*}} {mode = "edge", pads = array<i64: 0, 1, 2, 0>} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x9xf32>
// CHECK-DAG: nn.resize %[[I]] {{{.*}}mode = "linear", scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 5.000000e-01>} : (tensor<?x2x4x4xf32>) -> tensor<?x2x8x2xf32>
func.func @known_numbers(%x: tensor<?x8xf32>, %i: tensor<?x2x4x4xf32>, %v: tensor<f32>) -> (tensor<?x9xf32>, tensor<?x2x8x2xf32>) {
  %pads = nn.constant dense<[0, 1, 2, 0]> : tensor<4xi64>
  %scales = nn.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %sizes = nn.constant dense<[8, 2]> : tensor<2xi64>
  %0 = nn.pad_dynamic %x, %pads, %v {mode = "edge"} : (tensor<?x8xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x9xf32>
  %1 = nn.resize_dynamic %i, %scales, %sizes {axes = array<i64: 2, 3>, mode = "linear"} : (tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<?x2x8x2xf32>
  return %0, %1 : tensor<?x9xf32>, tensor<?x2x8x2xf32>
}

// -----

// CHECK-LABEL: @unknown_numbers
// CHECK: nn.pad_dynamic
// CHECK: nn.resize_dynamic
func.func @unknown_numbers(%x: tensor<?x8xf32>, %i: tensor<1x2x?x4xf32>, %pads: tensor<4xi64>) -> (tensor<?x?xf32>, tensor<1x2x8x4xf32>) {
  %scales = nn.constant dense<2.0> : tensor<1xf32>
  %sizes = nn.constant dense<8> : tensor<1xi64>
  %0 = nn.pad_dynamic %x, %pads : (tensor<?x8xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  %1 = nn.resize_dynamic %i, %scales, %sizes {axes = array<i64: 2>} : (tensor<1x2x?x4xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<1x2x8x4xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<1x2x8x4xf32>
}

// What a kernel expects of unknown extents: of an input with rows and columns an image, of one without a sound, of tokens a text, and
// what the run computes on the way is estimated.
// RUN: nn-opt --fuse %s | filecheck %s

// CHECK-LABEL: func.func @image
// CHECK:         nn.kernel attributes {nn.expected_extents = [array<i64: 0, 0, 320, 320, 0>, array<i64: 0, 0, 0, 0, 0, 0>, array<i64: 0, 0, 318, 318, 0>]
func.func @image(%x: tensor<1x1x?x?x3xf32>, %w: tensor<2x1x3x3x3x16xf32>) -> tensor<1x2x?x?x16xf32> attributes {nn.entry, nn.input_dims = [["", "", "h", "w", ""], []]} {
  %0 = nn.blocked_conv %x, %w : (tensor<1x1x?x?x3xf32>, tensor<2x1x3x3x3x16xf32>) -> tensor<1x2x?x?x16xf32>
  return %0 : tensor<1x2x?x?x16xf32>
}

// CHECK-LABEL: func.func @sound
// CHECK:         nn.kernel attributes {nn.expected_extents = [array<i64: 0, 0, 16000, 0>, array<i64: 0, 0, 0, 0, 0>, array<i64: 0, 0, 98, 0>]
func.func @sound(%x: tensor<1x1x?x1xf32>, %w: tensor<2x1x400x1x16xf32>) -> tensor<1x2x?x16xf32> attributes {nn.entry, nn.input_dims = [["", "", "n", ""], []]} {
  %0 = nn.blocked_conv %x, %w {strides = array<i64: 160>} : (tensor<1x1x?x1xf32>, tensor<2x1x400x1x16xf32>) -> tensor<1x2x?x16xf32>
  return %0 : tensor<1x2x?x16xf32>
}

// CHECK-LABEL: func.func @part_of_a_sound
// CHECK:         nn.slice_dynamic
// CHECK:         nn.kernel attributes {nn.expected_extents = [array<i64: 0, 0, 100, 0>, array<i64: 0, 0, 0, 0, 0>, array<i64: 0, 0, 100, 0>]
func.func @part_of_a_sound(%x: tensor<1x1x?x1xf32>, %n: tensor<1xi64>, %w: tensor<2x1x400x1x16xf32>) -> tensor<1x2x?x16xf32> attributes {nn.entry, nn.input_dims = [["", "", "n", ""], [""], []]} {
  %s = nn.constant dense<0> : tensor<1xi64>
  %a = nn.constant dense<2> : tensor<1xi64>
  %o = nn.constant dense<1> : tensor<1xi64>
  %0 = nn.slice_dynamic %x, %s, %n, %a, %o : (tensor<1x1x?x1xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x?x1xf32>
  %1 = nn.blocked_conv %0, %w {strides = array<i64: 160>} : (tensor<1x1x?x1xf32>, tensor<2x1x400x1x16xf32>) -> tensor<1x2x?x16xf32>
  return %1 : tensor<1x2x?x16xf32>
}

// CHECK-LABEL: func.func @text
// CHECK:         nn.gather
// CHECK:         nn.kernel attributes {nn.expected_extents = [array<i64: 0, 0, 128, 0>, array<i64: 0, 0, 0, 0, 0>, array<i64: 0, 0, 126, 0>]
func.func @text(%t: tensor<99x4xf32>, %i: tensor<1x1x?xi64>, %w: tensor<2x1x3x4x16xf32>) -> tensor<1x2x?x16xf32> attributes {nn.entry, nn.input_dims = [[], ["", "", "n"], []]} {
  %0 = nn.gather %t, %i : (tensor<99x4xf32>, tensor<1x1x?xi64>) -> tensor<1x1x?x4xf32>
  %1 = nn.blocked_conv %0, %w : (tensor<1x1x?x4xf32>, tensor<2x1x3x4x16xf32>) -> tensor<1x2x?x16xf32>
  return %1 : tensor<1x2x?x16xf32>
}

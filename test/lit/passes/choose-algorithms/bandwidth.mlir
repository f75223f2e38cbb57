// Operations are weighed against bytes: 512 channels at 7 x 7 have 16 transformed weights for 9, which
// a core with 21 GB/s from memory reads beside fewer products, and one with 11 GB/s waits for. Of the
// tiles of 4x4 results there would be few, and 36 weights.
// RUN: nn-opt --choose-algorithms --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @fast_memory
// CHECK:         nn.winograd_output {{.*}} {tile = 2 : i64}
module attributes {nnc.target = {machine = {full_width_units = 2 : i64, unit_bits = 512 : i64, memory_bandwidth = 6.0 : f64}, name = "x86-64-v4"}} {
  func.func @fast_memory(%x: tensor<1x32x9x9x16xf32>) -> tensor<1x32x7x7x16xf32> {
    %w = nn.constant dense<0.5> : tensor<32x32x3x3x16x16xf32>
    %0 = nn.blocked_conv %x, %w : (tensor<1x32x9x9x16xf32>, tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x7x7x16xf32>
    return %0 : tensor<1x32x7x7x16xf32>
  }
}

// -----

// CHECK-LABEL: func.func @slow_memory
// CHECK:         nn.blocked_conv
// CHECK-NOT:     nn.winograd
module attributes {nnc.target = {machine = {full_width_units = 2 : i64, unit_bits = 512 : i64, memory_bandwidth = 3.142 : f64}, name = "x86-64-v4"}} {
  func.func @slow_memory(%x: tensor<1x32x9x9x16xf32>) -> tensor<1x32x7x7x16xf32> {
    %w = nn.constant dense<0.5> : tensor<32x32x3x3x16x16xf32>
    %0 = nn.blocked_conv %x, %w : (tensor<1x32x9x9x16xf32>, tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x7x7x16xf32>
    return %0 : tensor<1x32x7x7x16xf32>
  }
}

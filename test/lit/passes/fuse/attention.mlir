// A product whose rows are normalized and multiplied by another one is one kernel with it, so that
// few rows of scores need be there at a time.
// RUN: nn-opt --fuse --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @attention
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.constant
// CHECK-NEXT:      nn.transpose
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.add
// CHECK-NEXT:      nn.softmax
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.transpose
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.kernel
func.func @attention(%q: tensor<2x7x8xf32>, %k: tensor<2x9x8xf32>, %v: tensor<2x9x8xf32>, %mask: tensor<9xf32>) -> tensor<7x2x8xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x9x8xf32>) -> tensor<2x8x9xf32>
  %1 = nn.matmul %q, %0 : (tensor<2x7x8xf32>, tensor<2x8x9xf32>) -> tensor<2x7x9xf32>
  %2 = nn.mul %1, %scale : (tensor<2x7x9xf32>, tensor<f32>) -> tensor<2x7x9xf32>
  %3 = nn.add %2, %mask : (tensor<2x7x9xf32>, tensor<9xf32>) -> tensor<2x7x9xf32>
  %4 = nn.softmax %3 {axis = 2 : i64} : (tensor<2x7x9xf32>) -> tensor<2x7x9xf32>
  %5 = nn.matmul %4, %v : (tensor<2x7x9xf32>, tensor<2x9x8xf32>) -> tensor<2x7x8xf32>
  %6 = nn.transpose %5 {permutation = array<i64: 1, 0, 2>} : (tensor<2x7x8xf32>) -> tensor<7x2x8xf32>
  return %6 : tensor<7x2x8xf32>
}

// -----

// What replaces rows without a key is between the products as well.

// CHECK-LABEL: func.func @guarded
// CHECK:         nn.kernel
// CHECK:           nn.matmul
// CHECK-NEXT:      nn.softmax
// CHECK-NEXT:      nn.is_nan
// CHECK-NEXT:      nn.where
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.kernel
func.func @guarded(%q: tensor<7x8xf32>, %k: tensor<8x9xf32>, %v: tensor<9x8xf32>) -> tensor<7x8xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.matmul %q, %k : (tensor<7x8xf32>, tensor<8x9xf32>) -> tensor<7x9xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<7x9xf32>) -> tensor<7x9xf32>
  %2 = nn.is_nan %1 : (tensor<7x9xf32>) -> tensor<7x9xi1>
  %3 = nn.where %2, %zero, %1 : (tensor<7x9xi1>, tensor<f32>, tensor<7x9xf32>) -> tensor<7x9xf32>
  %4 = nn.matmul %3, %v : (tensor<7x9xf32>, tensor<9x8xf32>) -> tensor<7x8xf32>
  return %4 : tensor<7x8xf32>
}

// -----

// Scores that something else needs are in memory anyway.

// CHECK-LABEL: func.func @scores_used
// CHECK-COUNT-3: = nn.kernel
func.func @scores_used(%q: tensor<7x8xf32>, %k: tensor<8x9xf32>, %v: tensor<9x8xf32>) -> (tensor<7x8xf32>, tensor<7x9xf32>) {
  %0 = nn.matmul %q, %k : (tensor<7x8xf32>, tensor<8x9xf32>) -> tensor<7x9xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<7x9xf32>) -> tensor<7x9xf32>
  %2 = nn.matmul %1, %v : (tensor<7x9xf32>, tensor<9x8xf32>) -> tensor<7x8xf32>
  return %2, %1 : tensor<7x8xf32>, tensor<7x9xf32>
}

// -----

// A softmax along columns needs all rows.

// CHECK-LABEL: func.func @columns
// CHECK-COUNT-3: = nn.kernel
func.func @columns(%q: tensor<7x8xf32>, %k: tensor<8x9xf32>, %v: tensor<9x8xf32>) -> tensor<7x8xf32> {
  %0 = nn.matmul %q, %k : (tensor<7x8xf32>, tensor<8x9xf32>) -> tensor<7x9xf32>
  %1 = nn.softmax %0 {axis = 0 : i64} : (tensor<7x9xf32>) -> tensor<7x9xf32>
  %2 = nn.matmul %1, %v : (tensor<7x9xf32>, tensor<9x8xf32>) -> tensor<7x8xf32>
  return %2 : tensor<7x8xf32>
}

// -----

// Nothing between two products needs rows as a whole: they are no attention.

// CHECK-LABEL: func.func @layers
// CHECK-COUNT-2: = nn.kernel
func.func @layers(%x: tensor<7x8xf32>, %a: tensor<8x9xf32>, %b: tensor<9x8xf32>) -> tensor<7x8xf32> {
  %0 = nn.matmul %x, %a : (tensor<7x8xf32>, tensor<8x9xf32>) -> tensor<7x9xf32>
  %1 = nn.relu %0 : (tensor<7x9xf32>) -> tensor<7x9xf32>
  %2 = nn.matmul %1, %b : (tensor<7x9xf32>, tensor<9x8xf32>) -> tensor<7x8xf32>
  return %2 : tensor<7x8xf32>
}

// -----

// A mask of unknown extent may be one number for all keys, or one each.

// CHECK-LABEL: func.func @unknown_mask
// CHECK-COUNT-3: = nn.kernel
func.func @unknown_mask(%q: tensor<?x8xf32>, %k: tensor<8x?xf32>, %v: tensor<?x8xf32>, %mask: tensor<?xf32>) -> tensor<?x8xf32> {
  %0 = nn.matmul %q, %k : (tensor<?x8xf32>, tensor<8x?xf32>) -> tensor<?x?xf32>
  %1 = nn.add %0, %mask : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %2 = nn.softmax %1 {axis = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = nn.matmul %2, %v : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @unknown_lengths
// CHECK-COUNT-1: = nn.kernel
// CHECK-NOT:     nn.kernel
func.func @unknown_lengths(%q: tensor<?x8xf32>, %k: tensor<8x?xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = nn.matmul %q, %k : (tensor<?x8xf32>, tensor<8x?xf32>) -> tensor<?x?xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = nn.matmul %1, %v : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// Extents that only the run tells may be in it where it is known which of them are equal; the kernel says so.

// CHECK-LABEL: func.func @named
// CHECK:         nn.kernel attributes {nn.input_dims = {{\[}}["d0", "", "d1", ""], ["d0", "", "d1", ""], ["d0", "", "", "d1"]]}
// CHECK:           nn.matmul
// CHECK-NEXT:      nn.add
// CHECK-NEXT:      nn.softmax
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.kernel
func.func @named(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, %mask: tensor<?x1x1x?xf32>) -> tensor<?x2x?x8xf32> attributes {nn.input_dims = [["b", "", "n", ""], ["b", "", "n", ""], ["b", "", "", "n"]]} {
  %0 = nn.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<?x2x?x8xf32>) -> tensor<?x2x8x?xf32>
  %1 = nn.matmul %q, %0 : (tensor<?x2x?x8xf32>, tensor<?x2x8x?xf32>) -> tensor<?x2x?x?xf32>
  %2 = nn.add %1, %mask : (tensor<?x2x?x?xf32>, tensor<?x1x1x?xf32>) -> tensor<?x2x?x?xf32>
  %3 = nn.softmax %2 {axis = 3 : i64} : (tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %4 = nn.matmul %3, %k : (tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %4 : tensor<?x2x?x8xf32>
}

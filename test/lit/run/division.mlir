// A division by zero, or of the least number by -1, is computed and does not end the process.
// RUN: nn-run %s --entry signed --args 'i32:7,i32:0' --compile | filecheck %s --check-prefix=ZERO
// RUN: nn-run %s --entry signed --args 'i32:-2147483648,i32:-1' --compile | filecheck %s --check-prefix=LEAST
// RUN: nn-run %s --entry unsigned --args 'i64:7,i64:0' --compile | filecheck %s --check-prefix=UNSIGNED
// RUN: nn-run %s --entry vectors --args 'i32[4]:[7,-2147483648,-9,6],i32[4]:[0,-1,2,-4]' --compile | filecheck %s --check-prefix=VECTOR
// RUN: nn-run %s --entry indices --args '9,0' --compile | filecheck %s --check-prefix=INDEX
// RUN: nn-run %s --entry constants --args 'i8:-128' --compile | filecheck %s --check-prefix=CONSTANT

// x / 0 is x, the remainder 0.
// ZERO:      result #0: i32
// ZERO-NEXT: 7
// ZERO-NEXT: result #1: i32
// ZERO-NEXT: 0
// ZERO-NEXT: result #2: i32
// ZERO-NEXT: 7
// ZERO-NEXT: result #3: i32
// ZERO-NEXT: 7

// The least number has no counterpart: it stays.
// LEAST:      result #0: i32
// LEAST-NEXT: -2147483648
// LEAST-NEXT: result #1: i32
// LEAST-NEXT: 0
// LEAST-NEXT: result #2: i32
// LEAST-NEXT: -2147483648
// LEAST-NEXT: result #3: i32
// LEAST-NEXT: -2147483648
func.func @signed(%a: i32, %b: i32) -> (i32, i32, i32, i32) {
  %0 = arith.divsi %a, %b : i32
  %1 = arith.remsi %a, %b : i32
  %2 = arith.floordivsi %a, %b : i32
  %3 = arith.ceildivsi %a, %b : i32
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// UNSIGNED:      result #0: i64
// UNSIGNED-NEXT: 7
// UNSIGNED-NEXT: result #1: i64
// UNSIGNED-NEXT: 0
// UNSIGNED-NEXT: result #2: i64
// UNSIGNED-NEXT: 7
func.func @unsigned(%a: i64, %b: i64) -> (i64, i64, i64) {
  %0 = arith.divui %a, %b : i64
  %1 = arith.remui %a, %b : i64
  %2 = arith.ceildivui %a, %b : i64
  return %0, %1, %2 : i64, i64, i64
}

// VECTOR: [7, -2147483648, -5, -2]
func.func @vectors(%a: memref<4xi32>, %b: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %x = vector.transfer_read %a[%c0], %zero : memref<4xi32>, vector<4xi32>
  %y = vector.transfer_read %b[%c0], %zero : memref<4xi32>, vector<4xi32>
  %q = arith.floordivsi %x, %y : vector<4xi32>
  vector.transfer_write %q, %a[%c0] : vector<4xi32>, memref<4xi32>
  return
}

// INDEX:      result #0: i64
// INDEX-NEXT: 9
// INDEX-NEXT: result #1: i64
// INDEX-NEXT: 0
func.func @indices(%a: index, %b: index) -> (index, index) {
  %0 = arith.divui %a, %b : index
  %1 = arith.remsi %a, %b : index
  return %0, %1 : index, index
}

// CONSTANT:      result #0: i8
// CONSTANT-NEXT: -128
// CONSTANT-NEXT: result #1: i8
// CONSTANT-NEXT: -128
func.func @constants(%a: i8) -> (i8, i8) {
  %zero = arith.constant 0 : i8
  %less = arith.constant -1 : i8
  %0 = arith.divsi %a, %zero : i8
  %1 = arith.divsi %a, %less : i8
  return %0, %1 : i8, i8
}

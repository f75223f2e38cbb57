// Buffers that a function may write are shown after the call; strided and dynamic ones too.
// RUN: nn-run %s --entry double --args 'f32[2x3]:arange,f32[2x3]:ones' | filecheck %s
// RUN: nn-run %s --entry double --args 'f32[2x3]:arange,f32[2x3]:ones' --compile | filecheck %s
// RUN: nn-run %s --entry made --args i64:3 | filecheck %s --check-prefix=MADE
// RUN: nn-run %s --entry made --args 3 --compile | filecheck %s --check-prefix=MADE

// CHECK-NOT:  argument #0
// CHECK:      argument #1: f32[2x3]
// CHECK-NEXT: {{\[\[}}0.0, 2.0, 4.0],
// CHECK-NEXT:  [6.0, 8.0, 10.0]]
func.func @double(%x: memref<?x3xf32>, %y: memref<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?x3xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x3xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %y[%i, %j] : memref<?x3xf32>
    }
  }
  return
}

// MADE:      result #0: i64[3]
// MADE-NEXT: [0, 1, 2]
func.func @made(%k: i64) -> memref<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %k : i64 to index
  %m = memref.alloc(%n) : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %v = arith.index_cast %i : index to i64
    memref.store %v, %m[%i] : memref<?xi64>
  }
  return %m : memref<?xi64>
}

// outline-parallel leaves loops that combine results, loops inside parallel loops, and functions
// whose address is taken; buffers that may overlap are not said to be apart.
// RUN: nn-opt --outline-parallel %s | filecheck %s

// CHECK-LABEL: func.func @sum
// CHECK:         scf.parallel
func.func @sum(%a: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %x = memref.load %a[%i] : memref<8xf32>
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      scf.reduce.return %t : f32
    }
  }
  return %s : f32
}

// CHECK-LABEL: func.func private @nested_parallel_0
// CHECK-SAME:    memref<8x8xf32>)
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK-LABEL: func.func @nested
// CHECK-NOT:     scf.parallel
func.func @nested(%a: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c8) step (%c1) {
      memref.store %zero, %a[%i, %j] : memref<8x8xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}

// Two views of one argument may overlap.
// CHECK-LABEL: func.func private @views_parallel_0
// CHECK-SAME:    memref<4xf32, strided<[1]>>, %{{.*}}: memref<4xf32, strided<[1], offset: 4>>)
func.func private @views(%a: memref<8xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %l = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %r = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %x = memref.load %l[%i] : memref<4xf32, strided<[1]>>
    memref.store %x, %r[%i] : memref<4xf32, strided<[1], offset: 4>>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func private @taken(
// CHECK:         scf.parallel
func.func private @taken(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %zero, %a[%i] : memref<8xf32>
    scf.reduce
  }
  return
}
func.func @taker() -> ((memref<8xf32>) -> ()) {
  %f = constant @taken : (memref<8xf32>) -> ()
  return %f : (memref<8xf32>) -> ()
}

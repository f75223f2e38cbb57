// outline-launches: what the host keeps. A number that is read once goes into the kernels that use
// it; where one decides how much there is to do, the function stays as it is. Checks of sizes
// are the host's, those of elements the kernel's.
// RUN: nn-opt --outline-launches --canonicalize --cse %s | filecheck %s

// CHECK:       gpu.func @scaled_0(%{{.*}}: memref<64xf32>, %[[S:.*]]: memref<f32>) kernel attributes {nn.kernel} {
// CHECK:         memref.load %[[S]][] : memref<f32>
// CHECK:       gpu.func @checked_0
// CHECK:         cf.assert %{{.*}}, "an element is negative"
// CHECK-NOT: @decided

// CHECK-LABEL: func.func private @scaled
// CHECK-NOT:     memref.load
// CHECK:         gpu.launch_func  @kernels::@scaled_0
func.func private @scaled(%a: memref<64xf32>, %s: memref<f32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %by = memref.load %s[] : memref<f32>
  %twice = arith.addf %by, %by : f32
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.mulf %x, %twice : f32
    memref.store %y, %a[%i] : memref<64xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func private @checked
// CHECK:         cf.assert %{{.*}}, "there is no row"
// CHECK:         gpu.launch_func  @kernels::@checked_0
func.func private @checked(%a: memref<?xi64>, %b: memref<?xi64>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %n = memref.dim %a, %c0 : memref<?xi64>
  %some = arith.cmpi sgt, %n, %c0 : index
  cf.assert %some, "there is no row"
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %a[%i] : memref<?xi64>
    %fits = arith.cmpi sge, %x, %zero : i64
    cf.assert %fits, "an element is negative"
    memref.store %x, %b[%i] : memref<?xi64>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func private @decided
// CHECK:         memref.load
// CHECK:         scf.parallel
func.func private @decided(%a: memref<64xf32>, %n: memref<index>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = memref.load %n[] : memref<index>
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    memref.store %zero, %a[%i] : memref<64xf32>
    scf.reduce
  }
  return
}

// An element that the kernel's own first half writes is read where the second half begins.
// CHECK-LABEL: func.func private @carried
// CHECK:         scf.parallel
func.func private @carried(%a: memref<64xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %a[%c1] : memref<64xf32>
  %first = memref.load %a[%c0] : memref<64xf32>
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    memref.store %first, %a[%i] : memref<64xf32>
    scf.reduce
  }
  return
}

// A number that a kernel has found before, in a buffer of one element of the function itself, is read by
// the host, checked there, and is an argument of what is launched next.
// CHECK-LABEL: func.func private @counted
// CHECK:         gpu.launch_func  @kernels::@counted_0
// CHECK:         %[[N:.*]] = memref.load %{{.*}}[] : memref<index>
// CHECK:         cf.assert %{{.*}}, "an extent of its result is negative"
// CHECK:         memref.alloc(%[[N]])
// CHECK:         gpu.launch_func  @kernels::@counted_1 blocks in (%{{.*}}, %c1, %c1) threads in (%c1, %c1, %c1)  args(%[[N]] : index
func.func private @counted(%a: memref<64xf32>) -> memref<?xindex> attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.alloc() : memref<index>
  %found = scf.for %i = %c0 to %c64 step %c1 iter_args(%so_far = %c0) -> (index) {
    %x = memref.load %a[%i] : memref<64xf32>
    %is = arith.cmpf une, %x, %zero : f32
    %one = arith.select %is, %c1, %c0 : index
    %next = arith.addi %so_far, %one : index
    scf.yield %next : index
  }
  memref.store %found, %n[] : memref<index>
  %count = memref.load %n[] : memref<index>
  %is_extent = arith.cmpi sge, %count, %c0 : index
  cf.assert %is_extent, "an extent of its result is negative"
  %y = memref.alloc(%count) : memref<?xindex>
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    %last = arith.subi %count, %i : index
    memref.store %last, %y[%i] : memref<?xindex>
    scf.reduce
  }
  memref.dealloc %n : memref<index>
  return %y : memref<?xindex>
}

// outline-launches: iterations of scalar code that say they have one thread get the threads of a group
// that run in lockstep, 32 here, of one group for each of the 10 cores at least. Of several dimensions of
// open extents the last one is divided. What a whole group has (vectors, buffers, checks) stays.
// RUN: nn-opt --outline-launches --canonicalize --cse %s | filecheck %s
module attributes {nnc.target = {name = "opencl", machine = {cores = 10 : i64}}} {

// CHECK:       gpu.func @known_0(%[[A:.*]]: memref<300x2xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>
// CHECK-DAG:     %[[B:.*]] = gpu.block_id  x
// CHECK-DAG:     %[[T:.*]] = gpu.thread_id  x
// CHECK:         %[[G:.*]] = arith.muli %[[B]], %c32
// CHECK:         %[[N:.*]] = arith.addi %[[G]], %[[T]]
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %[[N]], %c600
// CHECK:         scf.if %[[IN]] {
// CHECK:           %[[J:.*]] = arith.remui %[[N]], %c2
// CHECK:           %[[I:.*]] = arith.divui %[[N]], %c2
// CHECK:           memref.store %{{.*}}, %[[A]][%[[I]], %[[J]]]
// CHECK:       gpu.func @few_0({{.*}}known_block_size = array<i32: 8, 1, 1>
// CHECK:       gpu.func @open_0(
// CHECK:         gpu.thread_id  x
// CHECK:       gpu.func @checked_0(
// CHECK-NOT:     gpu.thread_id
// CHECK:       func.func private @known
// CHECK:         gpu.launch_func  @kernels::@known_0 blocks in (%c19, %c1, %c1) threads in (%c32, %c1, %c1)
func.func private @known(%a: memref<300x2xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c300, %c2) step (%c1, %c1) {
    memref.store %zero, %a[%i, %j] : memref<300x2xf32>
    scf.reduce
  } {mapping = [#gpu.block<x>, #gpu.block<x>], nn.threads = 1 : i64}
  return
}

// CHECK-LABEL: func.func private @few
// CHECK:         gpu.launch_func  @kernels::@few_0 blocks in (%c13, %c1, %c1) threads in (%c8, %c1, %c1)
func.func private @few(%a: memref<100xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    memref.store %zero, %a[%i] : memref<100xf32>
    scf.reduce
  } {mapping = [#gpu.block<x>], nn.threads = 1 : i64}
  return
}

// CHECK-LABEL: func.func private @open
// CHECK:         arith.ceildivui %{{.*}}, %c32
// CHECK:         %[[ALL:.*]] = arith.muli
// CHECK:         gpu.launch_func  @kernels::@open_0 blocks in (%[[ALL]], %c1, %c1) threads in (%c32, %c1, %c1)
func.func private @open(%a: memref<?x?xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?x?xf32>
  %m = memref.dim %a, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    memref.store %zero, %a[%i, %j] : memref<?x?xf32>
    scf.reduce
  } {mapping = [#gpu.block<x>, #gpu.block<x>], nn.threads = 1 : i64}
  return
}

// CHECK-LABEL: func.func private @checked
// CHECK:         gpu.launch_func  @kernels::@checked_0 blocks in (%c300, %c1, %c1) threads in (%c1, %c1, %c1)
func.func private @checked(%a: memref<300xi64>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %zero = arith.constant 0 : i64
  scf.parallel (%i) = (%c0) to (%c300) step (%c1) {
    %x = memref.load %a[%i] : memref<300xi64>
    %fits = arith.cmpi sge, %x, %zero : i64
    cf.assert %fits, "an element is negative"
    scf.reduce
  } {mapping = [#gpu.block<x>], nn.threads = 1 : i64}
  return
}
}

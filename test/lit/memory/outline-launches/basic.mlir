// outline-launches: a parallel loop is a grid of groups whose last dimension counts along x; what
// stands between such loops is run by one group; sizes and buffers stay on the host.
// RUN: nn-opt --outline-launches --canonicalize --cse %s | filecheck %s

// CHECK:       module attributes {gpu.container_module}
// CHECK:         gpu.module @kernels {
// CHECK:           gpu.func @two_0(%[[A:.*]]: memref<?x64xf32>, %[[T:.*]]: memref<?x64xf32>) kernel attributes {nn.kernel} {
// CHECK-DAG:         %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:         %[[X:.*]] = gpu.block_id  x
// CHECK-DAG:         %[[Y:.*]] = gpu.block_id  y
// CHECK:             %[[J:.*]] = arith.muli %[[X]], %[[C16]] : index
// CHECK:             vector.transfer_read %[[A]][%[[Y]], %[[J]]]
// CHECK:             vector.transfer_write %{{.*}}, %[[T]][%[[Y]], %[[J]]]
// CHECK:             gpu.return
// CHECK:           gpu.func @two_1(%{{.*}}: memref<?x64xf32>, %{{.*}}: memref<f32>) kernel attributes {nn.kernel} {
// CHECK-NOT:         gpu.block_id
// CHECK:             scf.for
// CHECK:             memref.store
// CHECK:             gpu.return

// CHECK-LABEL:   func.func private @two
// CHECK:           %[[N:.*]] = memref.dim
// CHECK:           memref.alloc
// CHECK:           gpu.launch_func  @kernels::@two_0 blocks in (%c4, %{{.*}}, %c1) threads in (%c1, %c1, %c1)
// CHECK:           gpu.launch_func  @kernels::@two_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
// CHECK:           memref.dealloc
func.func private @two(%a: memref<?x64xf32>, %s: memref<f32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %a, %c0 : memref<?x64xf32>
  %t = memref.alloc(%n) : memref<?x64xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c16) {
    %x = vector.transfer_read %a[%i, %j], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<16xf32>
    %y = arith.mulf %x, %x : vector<16xf32>
    vector.transfer_write %y, %t[%i, %j] {in_bounds = [true]} : vector<16xf32>, memref<?x64xf32>
    scf.reduce
  }
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zero) -> (f32) {
    %x = memref.load %t[%i, %c0] : memref<?x64xf32>
    %new = arith.addf %old, %x : f32
    scf.yield %new : f32
  }
  memref.store %sum, %s[] : memref<f32>
  memref.dealloc %t : memref<?x64xf32>
  return
}

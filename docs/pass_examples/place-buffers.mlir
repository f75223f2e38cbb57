// nn-opt --place-buffers
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @double(%x: memref<4xf32>, %y: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %p = ub.poison : f32
      %v = vector.transfer_read %x[%c0], %p {in_bounds = [true]} : memref<4xf32>, vector<4xf32>
      %s = arith.addf %v, %v : vector<4xf32>
      vector.transfer_write %s, %y[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
      gpu.return
    }
  }
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>, %y : memref<4xf32>)
    return
  }
}

// nn-opt --align-arguments
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @double(%arg0: memref<4xf32, #gpu.address_space<global>>, %arg1: memref<4xf32, #gpu.address_space<global>>) kernel {
      %c0 = arith.constant 0 : index
      %0 = ub.poison : f32
      %1 = vector.transfer_read %arg0[%c0], %0 {in_bounds = [true]} : memref<4xf32, #gpu.address_space<global>>, vector<4xf32>
      %2 = arith.addf %1, %1 : vector<4xf32>
      vector.transfer_write %2, %arg1[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32, #gpu.address_space<global>>
      gpu.return
    }
  }
  func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>) attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4xf32, #gpu.address_space<global>>
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4xf32, #gpu.address_space<global>>
    gpu.memcpy  %alloc_0, %arg0 : memref<4xf32, #gpu.address_space<global>>, memref<4xf32>
    %c1 = arith.constant 1 : index
    gpu.launch_func  @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)  args(%alloc_0 : memref<4xf32, #gpu.address_space<global>>, %alloc : memref<4xf32, #gpu.address_space<global>>)
    memref.dealloc %alloc_0 : memref<4xf32, #gpu.address_space<global>>
    gpu.memcpy  %arg1, %alloc : memref<4xf32>, memref<4xf32, #gpu.address_space<global>>
    memref.dealloc %alloc : memref<4xf32, #gpu.address_space<global>>
    return
  }
}


// nn-opt --assign-layouts
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @soft(%a: memref<32x64xf32>, %b: memref<32x64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      %y = gpu.block_id y
      %x = vector.transfer_read %a[%y, %c0], %p {in_bounds = [true]} : memref<32x64xf32>, vector<64xf32>
      %e = math.exp %x : vector<64xf32>
      %s = vector.multi_reduction <add>, %e, %p [0] : vector<64xf32> to f32
      %t = vector.broadcast %s : f32 to vector<64xf32>
      %r = arith.divf %e, %t : vector<64xf32>
      vector.transfer_write %r, %b[%y, %c0] {in_bounds = [true]} : vector<64xf32>, memref<32x64xf32>
      gpu.return
    }
  }
  func.func @main(%a: memref<32x64xf32>, %b: memref<32x64xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@soft blocks in (%c1, %c32, %c1) threads in (%c1, %c1, %c1) args(%a : memref<32x64xf32>, %b : memref<32x64xf32>)
    return
  }
}

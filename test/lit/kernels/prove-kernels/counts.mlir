// Every second element: twice the lines, and two in each bank. Every second one of the result is
// written by no launch, which is an error.
// RUN: nn-opt --prove-kernels=counts --verify-diagnostics %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f(%a: memref<64xf32>, %b: memref<64xf32>) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %c2 = arith.constant 2 : index
      %t = gpu.thread_id x
      %i = arith.muli %t, %c2 : index
      // expected-remark@+1 {{'memref.load' op touches 8 lines of 32 bytes where 4 suffice}}
      %x = memref.load %a[%i] : memref<64xf32>
      // expected-remark@+1 {{'memref.store' op takes 2 bank cycles where 1 suffice}}
      memref.store %x, %s[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      // expected-remark@+1 {{'memref.store' op touches 8 lines of 32 bytes where 4 suffice}}
      memref.store %x, %b[%i] : memref<64xf32>
      gpu.return
    }
  }
  func.func @main(%a: memref<64xf32>, %b: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    // expected-error@+1 {{element [1] of a buffer is written by no launch}}
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<64xf32>, %b : memref<64xf32>)
    return
  }
}

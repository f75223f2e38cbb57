// RUN: nn-opt --align-arguments %s | filecheck %s
// What all launches of a kernel pass decides: places in the arena, blocks of their own, and what
// callers of a private function give it. Views that begin elsewhere are aligned as their elements.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK: gpu.func @f(%{{.*}}: memref<8xf32, #gpu.address_space<global>> {llvm.align = 16 : i64}, %{{.*}}: memref<8xf32, #gpu.address_space<global>> {llvm.align = 8 : i64}, %{{.*}}: memref<?xf32, #gpu.address_space<global>> {llvm.align = 16 : i64}, %{{.*}}: index) kernel
    gpu.func @f(%a: memref<8xf32, #gpu.address_space<global>>, %b: memref<8xf32, #gpu.address_space<global>>, %c: memref<?xf32, #gpu.address_space<global>>, %n: index) kernel {
      gpu.return
    }
    // CHECK: gpu.func @g(%{{.*}}: memref<8xf32, #gpu.address_space<global>>, %{{.*}}: memref<4xf32, strided<[1], offset: 1>, #gpu.address_space<global>>) kernel
    gpu.func @g(%a: memref<8xf32, #gpu.address_space<global>>, %b: memref<4xf32, strided<[1], offset: 1>, #gpu.address_space<global>>) kernel {
      gpu.return
    }
  }
  func.func @main(%arena: memref<256xi8, #gpu.address_space<global>> {nn.arena}, %n: index, %shift: index) attributes {nn.entry, nn.input_names = [], nn.output_names = []} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c24 = arith.constant 24 : index
    %c64 = arith.constant 64 : index
    %a = memref.view %arena[%c64][] : memref<256xi8, #gpu.address_space<global>> to memref<8xf32, #gpu.address_space<global>>
    %b = memref.view %arena[%c24][] : memref<256xi8, #gpu.address_space<global>> to memref<8xf32, #gpu.address_space<global>>
    %c = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
    call @calls(%a, %a, %c, %n) : (memref<8xf32, #gpu.address_space<global>>, memref<8xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>, index) -> ()
    call @calls(%a, %b, %c, %n) : (memref<8xf32, #gpu.address_space<global>>, memref<8xf32, #gpu.address_space<global>>, memref<?xf32, #gpu.address_space<global>>, index) -> ()
    %open = memref.view %arena[%shift][] : memref<256xi8, #gpu.address_space<global>> to memref<8xf32, #gpu.address_space<global>>
    %part = memref.subview %a[1] [4] [1] : memref<8xf32, #gpu.address_space<global>> to memref<4xf32, strided<[1], offset: 1>, #gpu.address_space<global>>
    gpu.launch_func @kernels::@g blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%open : memref<8xf32, #gpu.address_space<global>>, %part : memref<4xf32, strided<[1], offset: 1>, #gpu.address_space<global>>)
    return
  }
  func.func private @calls(%a: memref<8xf32, #gpu.address_space<global>>, %b: memref<8xf32, #gpu.address_space<global>>, %c: memref<?xf32, #gpu.address_space<global>>, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32, #gpu.address_space<global>>, %b : memref<8xf32, #gpu.address_space<global>>, %c : memref<?xf32, #gpu.address_space<global>>, %n : index)
    return
  }
}

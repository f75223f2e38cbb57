// RUN: nn-opt --lower-to-llvm --split-input-file %s | filecheck %s
// Kernels of LLVM's devices: where their buffers lie, ids, barriers, exchanges and checks.

module attributes {nnc.target = "cuda-sm80", gpu.container_module} {
  gpu.module @kernels {
    // CHECK: llvm.mlir.global internal @f_workgroup_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
    // CHECK: llvm.func ptx_kernelcc @f(%[[N:.*]]: i64, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.noundef}, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1> {llvm.noundef}, %{{.*}}: i32, %[[STATUS:.*]]: !llvm.ptr<1>)
    // CHECK-SAME: nn.kernel_arguments = "wawa4s"
    // CHECK-SAME: ["nvvm.reqntid", "64,1,1"]
    gpu.func @f(%n: index, %a: memref<?xf32, #gpu.address_space<global>> {llvm.align = 16 : i64}, %b: memref<64xf32, #gpu.address_space<global>>, %flag: i1)
        workgroup(%w : memref<64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, nn.kernel} {
      %c16 = arith.constant 16 : i32
      %c32 = arith.constant 32 : i32
      // CHECK: %[[TID:.*]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
      // CHECK: llvm.zext %[[TID]] : i32 to i64
      %t = gpu.thread_id x
      // CHECK: llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.y"()
      %g = gpu.block_id y
      // CHECK: llvm.cond_br %{{.*}}, ^[[ON:.*]], ^[[FAILED:.*]]
      // CHECK: ^[[FAILED]]:
      // CHECK-NEXT: llvm.store %{{.*}}, %[[STATUS]] {alignment = 4 : i64} : i32, !llvm.ptr<1>
      // CHECK-NEXT: llvm.return
      cf.assert %flag, "no flag"
      // CHECK: ^[[ON]]:
      %x = memref.load %a[%t] : memref<?xf32, #gpu.address_space<global>>
      // CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
      %y, %ok = gpu.shuffle xor %x, %c16, %c32 : f32
      // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
      memref.store %y, %w[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier0"() : () -> ()
      gpu.barrier
      %z = memref.load %w[%g] : memref<64xf32, #gpu.address_space<workgroup>>
      %old = memref.load %b[%t] : memref<64xf32, #gpu.address_space<global>>
      %sum = arith.addf %z, %old : f32
      memref.store %sum, %b[%t] : memref<64xf32, #gpu.address_space<global>>
      gpu.return
    }
  }
}

// -----

module attributes {nnc.target = "amd-gfx90a", gpu.container_module} {
  gpu.module @kernels {
    // CHECK: llvm.func amdgpu_kernelcc @f(
    // CHECK-SAME: ["amdgpu-flat-work-group-size", "64,64"]
    gpu.func @f(%a: memref<64xf64, #gpu.address_space<global>>)
        private(%p : memref<4xf64, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, nn.subgroup_size = 64 : i64} {
      // CHECK: llvm.alloca %{{.*}} x f64 {{.*}} -> !llvm.ptr<5>
      %c1 = arith.constant 1 : i32
      %c64 = arith.constant 64 : i32
      // CHECK: llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"
      %t = gpu.thread_id x
      // CHECK: llvm.call_intrinsic "llvm.amdgcn.dispatch.ptr"() : () -> !llvm.ptr<4>
      // CHECK: llvm.udiv
      %n = gpu.grid_dim x
      %x = memref.load %a[%t] : memref<64xf64, #gpu.address_space<global>>
      // CHECK-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.ds.bpermute"
      %y, %ok = gpu.shuffle down %x, %c1, %c64 : f64
      // CHECK: llvm.select
      // CHECK: llvm.fence syncscope("workgroup") release
      // CHECK: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
      // CHECK: llvm.fence syncscope("workgroup") acquire
      gpu.barrier
      memref.store %y, %a[%n] : memref<64xf64, #gpu.address_space<global>>
      gpu.return
    }
  }
}

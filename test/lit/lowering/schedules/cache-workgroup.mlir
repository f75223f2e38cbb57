// schedule.cache in workgroup memory: each iteration of a loop copies the part of an operand that it
// needs into a buffer of the group, which becomes a buffer of the kernel. With 2 buffers, an
// iteration reads what the next one needs before it computes, and writes it after that.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules --outline-launches --canonicalize --cse %s | filecheck %s --check-prefix=KERNEL
// RUN: nn-opt --apply-schedules --outline-launches --assign-layouts --distribute-tiles --prove-kernels=require %s

// CHECK-LABEL: func.func @one
// CHECK:         scf.parallel (%[[M:.*]], %[[N:.*]]) =
// CHECK:           %[[X:.*]] = memref.alloca() : memref<64x16xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[W:.*]] = memref.alloca() : memref<16x96xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c16
// CHECK:             %[[XS:.*]] = vector.transfer_read %arg0[%[[M]], %[[K]]]
// CHECK:             %[[WS:.*]] = vector.transfer_read %arg1[%[[K]], %[[N]]]
// CHECK:             vector.transfer_write %[[XS]], %[[X]][%c0, %c0]
// CHECK:             vector.transfer_write %[[WS]], %[[W]][%c0, %c0]
// CHECK:             %[[A:.*]] = vector.transfer_read %[[X]][%c0, %c0]
// CHECK:             %[[B:.*]] = vector.transfer_read %[[W]][%c0, %c0]
// CHECK:             vector.contract {{.*}} %[[A]], %[[B]],

// KERNEL:       gpu.func @one_0({{.*}}) workgroup(%{{.*}} : memref<64x16xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<16x96xf32, #gpu.address_space<workgroup>>) kernel
// KERNEL-NOT:   memref.alloca
// KERNEL:       gpu.func @two_0({{.*}}) workgroup(%{{.*}} : memref<2x64x16xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<2x16x96xf32, #gpu.address_space<workgroup>>) kernel
// KERNEL-NOT:   memref.alloca

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @one(%x: memref<512x256xf32>, %w: memref<256x384xf32>, %y: memref<512x384xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x256xf32>, memref<256x384xf32>) outs(%y : memref<512x384xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @one {
^bb0(%mm: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %mm
  %mo, %mi = schedule.split %m by 64
  %no, %nu = schedule.split %n by 96
  %nv, %ni = schedule.split %nu by 32
  %ko, %ki = schedule.split %k by 16
  schedule.reorder %mo, %no, %ko, %mi, %ki, %nv, %ni
  schedule.unroll %mi
  schedule.unroll %ki
  schedule.unroll %nv
  schedule.vectorize %ni
  schedule.accumulate %ko
  schedule.bind %mo to groups<y>
  schedule.bind %no to groups<x>
  schedule.cache 0 of %mm in workgroup at %ko
  schedule.cache 1 of %mm in workgroup at %ko
}

// The first iteration's part is copied before the loop. What iteration ko needs is in buffer
// ko / 16 % 2; the last iteration has no next one.

// CHECK-LABEL: func.func @two
// CHECK:         scf.parallel (%[[M:.*]], %[[N:.*]]) =
// CHECK:           %[[X:.*]] = memref.alloca() : memref<2x64x16xf32, #gpu.address_space<workgroup>>
// CHECK:           vector.transfer_write %{{.*}}, %[[X]][%c0, %c0, %c0]
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c16
// CHECK:             %[[NEXT:.*]] = arith.addi %[[K]], %c16
// CHECK:             %[[INSIDE:.*]] = arith.cmpi slt, %[[NEXT]], %c256
// CHECK:             %[[R:.*]]:2 = scf.if %[[INSIDE]]
// CHECK:               vector.transfer_read %arg0[%[[M]], %[[NEXT]]]
// CHECK:             %[[NUMBER:.*]] = arith.divui %[[K]], %c16
// CHECK:             %[[SLOT:.*]] = arith.remui %[[NUMBER]], %c2
// CHECK:             vector.transfer_read %[[X]][%[[SLOT]], %c0, %c0]
// CHECK:             vector.contract
// CHECK:             %[[LATER:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK:             %[[OTHER:.*]] = arith.remui %[[LATER]], %c2
// CHECK:             scf.if %[[INSIDE]] {
// CHECK:               vector.transfer_write %[[R]]#0, %[[X]][%[[OTHER]], %c0, %c0]
func.func @two(%x: memref<512x256xf32>, %w: memref<256x384xf32>, %y: memref<512x384xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<512x256xf32>, memref<256x384xf32>) outs(%y : memref<512x384xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%mm: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %mm
  %mo, %mi = schedule.split %m by 64
  %no, %nu = schedule.split %n by 96
  %nv, %ni = schedule.split %nu by 32
  %ko, %ki = schedule.split %k by 16
  schedule.reorder %mo, %no, %ko, %mi, %ki, %nv, %ni
  schedule.unroll %mi
  schedule.unroll %ki
  schedule.unroll %nv
  schedule.vectorize %ni
  schedule.accumulate %ko
  schedule.bind %mo to groups<y>
  schedule.bind %no to groups<x>
  schedule.cache 0 of %mm in workgroup at %ko buffers 2
  schedule.cache 1 of %mm in workgroup at %ko buffers 2
}

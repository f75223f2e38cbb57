// A share that repeats is read and written in pieces, each where the layout says; a table of which
// threads have different parts is chosen by the bits of their numbers.
// RUN: nn-opt --assign-layouts --distribute-tiles --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: gpu.func @rows
// CHECK:         vector.transfer_read %arg0[%{{.*}}, [[COLUMN:%.*]]], {{.*}}vector<4x4xf32>
// CHECK:         [[SECOND:%.*]] = arith.addi [[COLUMN]], %c32
// CHECK:         vector.transfer_read {{.*}}, [[SECOND]]], {{.*}}vector<4x4xf32>
// CHECK:         [[THIRD:%.*]] = arith.addi [[COLUMN]], %c64
// CHECK:         vector.transfer_read {{.*}}, [[THIRD]]], {{.*}}vector<4x4xf32>
// CHECK:         arith.negf {{.*}} : vector<4x12xf32>
// CHECK-COUNT-3: vector.transfer_write {{.*}} : vector<4x4xf32>, memref<64x96xf32>
// CHECK-NOT:     vector.transfer_write

// CHECK-LABEL: gpu.func @table
// CHECK:         [[BIT:%.*]] = arith.cmpi ne
// CHECK-DAG:     [[FIRST:%.*]] = arith.constant dense<3.0{{.*}}>
// CHECK-DAG:     [[OTHER:%.*]] = arith.constant dense<-5.0{{.*}}>
// CHECK:         arith.select [[BIT]], [[OTHER]], [[FIRST]]
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rows(%a: memref<64x96xf32>, %b: memref<64x96xf32>) kernel {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      %x = vector.transfer_read %a[%c0, %c0], %p {in_bounds = [true, true]} : memref<64x96xf32>, vector<64x96xf32>
      %y = arith.negf %x : vector<64x96xf32>
      vector.transfer_write %y, %b[%c0, %c0] {in_bounds = [true, true]} : vector<64x96xf32>, memref<64x96xf32>
      gpu.return
    }
    gpu.func @table(%a: memref<2x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %t = arith.constant dense<[[3.0], [-5.0]]> : vector<2x1xf32>
      %x = vector.broadcast %t : vector<2x1xf32> to vector<2x16xf32>
      vector.transfer_write %x, %a[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x16xf32>
      gpu.return
    }
    gpu.func @cast(%a: memref<4x8xf32>, %b: memref<32xf32>) kernel {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      %x = vector.transfer_read %a[%c0, %c0], %p {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
      %y = vector.shape_cast %x : vector<4x8xf32> to vector<32xf32>
      vector.transfer_write %y, %b[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
      gpu.return
    }
  }
}

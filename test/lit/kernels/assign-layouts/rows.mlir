// 96 columns are 3 times 32: 8 threads have 4 each, and 16 threads 4 rows each. All vectors that are
// computed together have that layout. A cast to other dimensions goes through a buffer of the group.
// RUN: nn-opt --assign-layouts %s | filecheck %s

// CHECK-LABEL: gpu.func @rows
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK:         vector.transfer_read {{.*}}nn.layout = {{\[\[}}array<i64: 4, 16, 8, 1>, array<i64: 4, 8, 1, 3>]]
// CHECK:         arith.negf {{.*}}nn.layout = {{\[\[}}array<i64: 4, 16, 8, 1>, array<i64: 4, 8, 1, 3>]]

// CHECK-LABEL: gpu.func @cast
// CHECK:         [[BUFFER:%.*]] = memref.alloca() : memref<4x8xf32>
// CHECK:         vector.transfer_write {{.*}}, [[BUFFER]]
// CHECK:         [[FLAT:%.*]] = memref.reinterpret_cast [[BUFFER]]
// CHECK:         vector.transfer_read [[FLAT]]
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

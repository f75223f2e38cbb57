// Threads share a division whose divisor is safe for any elements, also beyond an edge. Where the
// divisor may be anything there, one thread of each group divides.
// RUN: nn-opt --assign-layouts --distribute-tiles %s | filecheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @safe(
    // CHECK-SAME:    known_block_size = array<i32: 8, 1, 1>
    // CHECK:         %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<3xi1>, vector<3xi32>
    // CHECK:         %[[ROWS:.*]] = vector.broadcast %[[SAFE]] : vector<3xi32> to vector<3x3xi32>
    // CHECK:         arith.divsi %{{.*}}, %[[ROWS]]
    gpu.func @safe(%a: memref<3x21xi32>, %b: memref<21xi32>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = ub.poison : i32
      %zero = arith.constant dense<0> : vector<21xi32>
      %last = arith.constant dense<-1> : vector<21xi32>
      %one = arith.constant dense<1> : vector<21xi32>
      %x = vector.transfer_read %a[%c0, %c0], %p {in_bounds = [true, true]} : memref<3x21xi32>, vector<3x21xi32>
      %y = vector.transfer_read %b[%c0], %p {in_bounds = [true]} : memref<21xi32>, vector<21xi32>
      %is_zero = arith.cmpi eq, %zero, %y : vector<21xi32>
      %is_last = arith.cmpi eq, %y, %last : vector<21xi32>
      %both = arith.ori %is_zero, %is_last : vector<21xi1>
      %safe = arith.select %both, %one, %y : vector<21xi1>, vector<21xi32>
      %rows = vector.broadcast %safe : vector<21xi32> to vector<3x21xi32>
      %q = arith.divsi %x, %rows : vector<3x21xi32>
      vector.transfer_write %q, %a[%c0, %c0] {in_bounds = [true, true]} : vector<3x21xi32>, memref<3x21xi32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @zero_only(
    // CHECK:         arith.divsi %{{.*}}, %{{.*}} : vector<21xi32>
    gpu.func @zero_only(%a: memref<21xi32>, %b: memref<21xi32>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = ub.poison : i32
      %zero = arith.constant dense<0> : vector<21xi32>
      %one = arith.constant dense<1> : vector<21xi32>
      %x = vector.transfer_read %a[%c0], %p {in_bounds = [true]} : memref<21xi32>, vector<21xi32>
      %y = vector.transfer_read %b[%c0], %p {in_bounds = [true]} : memref<21xi32>, vector<21xi32>
      %is_zero = arith.cmpi eq, %y, %zero : vector<21xi32>
      %safe = arith.select %is_zero, %one, %y : vector<21xi1>, vector<21xi32>
      %q = arith.divsi %x, %safe : vector<21xi32>
      vector.transfer_write %q, %a[%c0] {in_bounds = [true]} : vector<21xi32>, memref<21xi32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @unsigned(
    // CHECK:         arith.remui %{{.*}}, %{{.*}} : vector<3xi32>
    gpu.func @unsigned(%a: memref<21xi32>, %b: memref<21xi32>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = ub.poison : i32
      %zero = arith.constant dense<0> : vector<21xi32>
      %one = arith.constant dense<1> : vector<21xi32>
      %x = vector.transfer_read %a[%c0], %p {in_bounds = [true]} : memref<21xi32>, vector<21xi32>
      %y = vector.transfer_read %b[%c0], %p {in_bounds = [true]} : memref<21xi32>, vector<21xi32>
      %is_zero = arith.cmpi eq, %y, %zero : vector<21xi32>
      %safe = arith.select %is_zero, %one, %y : vector<21xi1>, vector<21xi32>
      %q = arith.remui %x, %safe : vector<21xi32>
      vector.transfer_write %q, %a[%c0] {in_bounds = [true]} : vector<21xi32>, memref<21xi32>
      gpu.return
    }
  }
}

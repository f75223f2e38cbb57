// Layouts that a text has are believed only if threads can have them, and if they fit each other.
// RUN: nn-opt --distribute-tiles --split-input-file --verify-diagnostics %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f(%a: memref<8xf32>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      // expected-error@+1 {{has a 'nn.layout' that does not fit its results over 2 threads}}
      %x = vector.transfer_read %a[%c0], %p {in_bounds = [true], nn.layout = [[array<i64: 2, 2, 1, 1>]]} : memref<8xf32>, vector<8xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f(%a: memref<8xf32>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      // expected-error@+1 {{has a 'nn.layout' that does not fit its results over 2 threads}}
      %x = vector.transfer_read %a[%c0], %p {in_bounds = [true], nn.layout = [[array<i64: 2, 4, 1, 1>]]} : memref<8xf32>, vector<8xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f(%a: memref<8xf32>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      // expected-error@+1 {{has a 'nn.layout' that does not fit its results over 2 threads}}
      %x = vector.transfer_read %a[%c0], %p {in_bounds = [true], nn.layout = [[array<i64: 4, 2, 1>]]} : memref<8xf32>, vector<8xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f(%a: memref<8xf32>) kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      %x = vector.transfer_read %a[%c0], %p {in_bounds = [true], nn.layout = [[array<i64: 4, 2, 1, 1>]]} : memref<8xf32>, vector<8xf32>
      // expected-error@+1 {{has operands and results whose 'nn.layout' do not follow from each other}}
      %y = arith.negf %x {nn.layout = [[array<i64: 2, 2, 1, 2>]]} : vector<8xf32>
      gpu.return
    }
  }
}

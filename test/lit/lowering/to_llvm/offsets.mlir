// RUN: nn-opt %s --lower-to-llvm --split-input-file | filecheck %s
// In an inner loop on vectors, what constant offsets are added to is hidden from LLVM where loads
// and stores take the offset; not elsewhere, and not on other targets.

module attributes {nnc.target = "wasm32-simd"} {
  // CHECK-LABEL: @sum
  func.func @sum(%x: memref<4096xf32>, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c512 = arith.constant 512 : index
    %c2048 = arith.constant 2048 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    // CHECK: %[[P:.*]] = llvm.getelementptr inbounds|nuw %{{.*}}[%{{.*}}]
    // CHECK-NEXT: %[[Q:.*]] = llvm.intr.launder.invariant.group %[[P]] : !llvm.ptr
    // CHECK: llvm.load %[[Q]]
    // CHECK: %[[R:.*]] = llvm.getelementptr inbounds|nuw %[[Q]][2048]
    // CHECK: llvm.load %[[R]]
    %s:2 = scf.for %i = %c0 to %c512 step %c4 iter_args(%a = %zero, %b = %zero) -> (vector<4xf32>, vector<4xf32>) {
      %j = arith.addi %i, %c2048 : index
      %u = vector.load %x[%i] : memref<4096xf32>, vector<4xf32>
      %v = vector.load %x[%j] : memref<4096xf32>, vector<4xf32>
      %c = arith.addf %a, %u : vector<4xf32>
      %d = arith.addf %b, %v : vector<4xf32>
      scf.yield %c, %d : vector<4xf32>, vector<4xf32>
    }
    // CHECK-NOT: launder
    vector.store %s#0, %y[%c0] : memref<8xf32>, vector<4xf32>
    vector.store %s#1, %y[%c4] : memref<8xf32>, vector<4xf32>
    return
  }

  // CHECK-LABEL: @scalars
  // CHECK-NOT: launder
  func.func @scalars(%x: memref<4096xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %c2048 = arith.constant 2048 : index
    scf.for %i = %c0 to %c512 step %c1 {
      %j = arith.addi %i, %c2048 : index
      %u = memref.load %x[%i] : memref<4096xf32>
      memref.store %u, %x[%j] : memref<4096xf32>
    }
    return
  }
}

// -----

module attributes {nnc.target = "x86-64-v3"} {
  // CHECK-LABEL: @elsewhere
  // CHECK-NOT: launder
  func.func @elsewhere(%x: memref<4096xf32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c512 = arith.constant 512 : index
    %c2048 = arith.constant 2048 : index
    scf.for %i = %c0 to %c512 step %c4 {
      %j = arith.addi %i, %c2048 : index
      %u = vector.load %x[%i] : memref<4096xf32>, vector<4xf32>
      vector.store %u, %x[%j] : memref<4096xf32>, vector<4xf32>
    }
    return
  }
}

// How many iterations a piece has at least follows from what one iteration does: loops count as often
// as they run, wide vectors as several, addresses not at all, a call as much.
// RUN: nn-opt --pass-pipeline='builtin.module(outline-parallel{piece-operations=1000})' %s | filecheck %s

// 10 x (load, add) and a store: 21.
// CHECK-LABEL: func.func @loop
// CHECK: call @loop_parallel_0{{.*}} {nn.parallel = 48 : i64}
module attributes {nnc.target = "x86-64-v4"} {
func.func @loop(%a: memref<521xf32>, %b: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c512) step (%c1) {
    %sum = scf.for %j = %c0 to %c10 step %c1 iter_args(%s = %zero) -> (f32) {
      %at = arith.addi %i, %j : index
      %x = memref.load %a[%at] : memref<521xf32>
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    }
    memref.store %sum, %b[%i] : memref<512xf32>
    scf.reduce
  }
  return
}

// Two vectors of the machine loaded, 2 x 16 for the function, two stored: 36.
// CHECK-LABEL: func.func @vectors
// CHECK: call @vectors_parallel_0{{.*}} {nn.parallel = 28 : i64}
func.func @vectors(%a: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  scf.parallel (%i) = (%c0) to (%c512) step (%c32) {
    %x = vector.load %a[%i] : memref<512xf32>, vector<32xf32>
    %y = math.exp %x : vector<32xf32>
    vector.store %y, %a[%i] : memref<512xf32>, vector<32xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @calls
// CHECK: call @calls_parallel_0{{.*}} {nn.parallel = 1 : i64}
func.func @calls() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  scf.parallel (%i) = (%c0) to (%c512) step (%c1) {
    func.call @outside(%i) : (index) -> ()
    scf.reduce
  }
  return
}
func.func private @outside(index)
}

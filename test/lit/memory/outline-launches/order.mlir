// A read of what the same launch has written stays where it is, behind the writes; a read before them
// of what nobody writes any more is the kernel's own copy.
// RUN: nn-opt --outline-launches --canonicalize %s | filecheck %s

// CHECK-LABEL: gpu.func @read_behind_0
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[T:.*]][%{{.*}}]
// CHECK:         %[[LAST:.*]] = memref.load %[[T]]
// CHECK:         memref.store %[[LAST]]
// CHECK-LABEL: func.func private @read_behind
// CHECK-NOT:     memref.load
func.func private @read_behind(%x: memref<8xf32>, %y: memref<1xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %t = memref.alloca() : memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %t[%i] : memref<8xf32>
  }
  %last = memref.load %t[%c7] : memref<8xf32>
  memref.store %last, %y[%c0] : memref<1xf32>
  return
}

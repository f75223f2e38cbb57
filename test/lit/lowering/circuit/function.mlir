// lower-to-circuit flattens buffers, makes arguments of constants, once each, and replaces copies
// and the larger or smaller of two numbers; nothing is left that upstream does not have.
// RUN: nn-opt --lower-to-circuit %s | filecheck %s

// CHECK: module {
// CHECK-NEXT: func.func @main(%arg0: memref<8xi8>, %arg1: memref<1xi8>, %arg2: memref<8xi8>)
// CHECK-SAME: attributes {argNames = ["in_x", "in_x_2", "w", "start"], resNames = ["done"]}
// CHECK: %[[T:.*]] = memref.alloca() : memref<8xi8>
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[AT:.*]] = arith.addi
// CHECK-NEXT: %[[A:.*]] = memref.load %arg0[%[[AT]]]
// CHECK-NEXT: memref.store %[[A]], %[[T]][%[[AT]]]
// CHECK: memref.load %arg2
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[X:.*]], %[[Y:.*]] : i8
// CHECK-NEXT: %[[Z:.*]] = arith.select %[[IS]], %[[X]], %[[Y]] : i8
// CHECK: memref.store %[[Z]], %arg1[%c0{{.*}}] : memref<1xi8>
// CHECK-NOT: memref.get_global
// CHECK-NOT: nn.
memref.global "private" constant @unused : memref<2xi8> = dense<7>
memref.global "private" constant @w : memref<2x4xi8> = dense<[[1, 2, 3, 4], [5, 6, 7, 8]]>
func.func @main(%x: memref<2x4xi8>, %y: memref<i8>) attributes {nn.entry, nn.input_names = ["in/x"], nn.output_names = ["in:x"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = memref.alloca() : memref<2x4xi8>
  memref.copy %x, %t : memref<2x4xi8> to memref<2x4xi8>
  %v = memref.get_global @w : memref<2x4xi8>
  %w = memref.get_global @w : memref<2x4xi8>
  %a = memref.load %t[%c1, %c3] : memref<2x4xi8>
  %b = memref.load %w[%c1, %c0] : memref<2x4xi8>
  %c = memref.load %v[%c0, %c3] : memref<2x4xi8>
  %d = arith.addi %b, %c : i8
  %e = arith.minui %a, %d : i8
  memref.store %e, %y[] : memref<i8>
  return
}

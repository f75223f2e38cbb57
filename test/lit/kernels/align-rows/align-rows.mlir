// RUN: nn-opt --align-rows=target=cuda %s | filecheck %s
// RUN: nn-opt --align-rows=target=host %s | filecheck %s --check-prefix=HOST
// Images of 49 elements between kernels get 56, seven times the 32 bytes that memory moves at once;
// so do the parts of a buffer that kernels write side by side. What the function is given, what the
// host looks into, and what a kernel takes a view of that keeps no dimensions, stay as they are;
// so do rows that would be longer by more than a fifth.

// HOST-NOT: reinterpret_cast

// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = memref.alloc() : memref<1x4x56xf32>
// CHECK: %[[V:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [1, 4, 7, 7], strides: [224, 56, 7, 1]
// CHECK: call @make(%[[V]])
// CHECK: memref.dealloc %[[A]]
func.func @chain(%y: memref<1x4x7x7xf32>) {
  %a = memref.alloc() : memref<1x4x7x7xf32>
  call @make(%a) : (memref<1x4x7x7xf32>) -> ()
  call @move(%a, %y) : (memref<1x4x7x7xf32>, memref<1x4x7x7xf32>) -> ()
  memref.dealloc %a : memref<1x4x7x7xf32>
  return
}
// CHECK: func.func private @make(%{{.*}}: memref<1x4x7x7xf32, strided<[224, 56, 7, 1]>>)
func.func private @make(%out: memref<1x4x7x7xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<1x4x7x7xf32>)
  return
}
// CHECK: func.func private @move(%{{.*}}: memref<1x4x7x7xf32, strided<[224, 56, 7, 1]>>, %{{.*}}: memref<1x4x7x7xf32>)
func.func private @move(%x: memref<1x4x7x7xf32>, %out: memref<1x4x7x7xf32>) attributes {nn.kernel} {
  linalg.copy ins(%x : memref<1x4x7x7xf32>) outs(%out : memref<1x4x7x7xf32>)
  return
}

// The second part begins behind two longer rows: 448 bytes, where two rows were 392.
// CHECK-LABEL: func.func @parts
// CHECK: %[[ALL:.*]] = memref.alloc() : memref<896xi8>
// CHECK: %[[FIRST:.*]] = memref.view %[[ALL]][%{{.*}}][] : memref<896xi8> to memref<1x2x56xf32>
// CHECK: %[[BEHIND:.*]] = arith.constant 448 : index
// CHECK: %[[SECOND:.*]] = memref.view %[[ALL]][%[[BEHIND]]][] : memref<896xi8> to memref<1x2x56xf32>
// CHECK: memref.reinterpret_cast %[[SECOND]] to offset: [0], sizes: [1, 2, 7, 7], strides: [112, 56, 7, 1]
func.func @parts() {
  %c0 = arith.constant 0 : index
  %c392 = arith.constant 392 : index
  %all = memref.alloc() : memref<784xi8>
  %first = memref.view %all[%c0][] : memref<784xi8> to memref<1x2x7x7xf32>
  %second = memref.view %all[%c392][] : memref<784xi8> to memref<1x2x7x7xf32>
  call @part(%first) : (memref<1x2x7x7xf32>) -> ()
  call @part(%second) : (memref<1x2x7x7xf32>) -> ()
  memref.dealloc %all : memref<784xi8>
  return
}
func.func private @part(%out: memref<1x2x7x7xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<1x2x7x7xf32>)
  return
}

// CHECK-LABEL: func.func @stay
// CHECK-NOT: reinterpret_cast
func.func @stay() -> f32 {
  %c0 = arith.constant 0 : index
  %short = memref.alloc() : memref<1x4x3x3xf32>
  call @short(%short) : (memref<1x4x3x3xf32>) -> ()
  memref.dealloc %short : memref<1x4x3x3xf32>
  %seen = memref.alloc() : memref<1x8x7x7xf32>
  call @seen(%seen) : (memref<1x8x7x7xf32>) -> ()
  %value = memref.load %seen[%c0, %c0, %c0, %c0] : memref<1x8x7x7xf32>
  memref.dealloc %seen : memref<1x8x7x7xf32>
  %flat = memref.alloc() : memref<1x5x7x7xf32>
  call @flat(%flat) : (memref<1x5x7x7xf32>) -> ()
  memref.dealloc %flat : memref<1x5x7x7xf32>
  return %value : f32
}
// CHECK: func.func private @short(%{{.*}}: memref<1x4x3x3xf32>)
func.func private @short(%out: memref<1x4x3x3xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<1x4x3x3xf32>)
  return
}
// CHECK: func.func private @seen(%{{.*}}: memref<1x8x7x7xf32>)
func.func private @seen(%out: memref<1x8x7x7xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<1x8x7x7xf32>)
  return
}
// CHECK: func.func private @flat(%{{.*}}: memref<1x5x7x7xf32>)
func.func private @flat(%out: memref<1x5x7x7xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %all = memref.collapse_shape %out [[0, 1, 2, 3]] : memref<1x5x7x7xf32> into memref<245xf32>
  linalg.fill ins(%zero : f32) outs(%all : memref<245xf32>)
  return
}

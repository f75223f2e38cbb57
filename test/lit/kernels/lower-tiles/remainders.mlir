// Where the machine has no masked accesses of such elements, the last lanes of a row are read and
// written by ever smaller vectors, 7 = 4 + 2 + 1; arithmetic has the least register that holds them.
// RUN: nn-opt --split-input-file --lower-tiles='target=sse' --forward-stores --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --split-input-file --lower-tiles='target=cortex-a76' --forward-stores --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --split-input-file --lower-tiles='target=avx2' --forward-stores --canonicalize --cse %s | filecheck %s --check-prefix=AVX2

// CHECK-LABEL: func.func @seven
// CHECK:         %[[A:.*]] = vector.load %arg0[%c0] : memref<7xf32>, vector<4xf32>
// CHECK-NEXT:    arith.negf %[[A]] : vector<4xf32>
// CHECK-NEXT:    %[[B:.*]] = vector.load %arg0[%c4] : memref<7xf32>, vector<2xf32>
// CHECK-NEXT:    %[[C:.*]] = vector.insert_strided_slice %[[B]], %{{.*}} {offsets = [0], strides = [1]}
// CHECK-NEXT:    %[[D:.*]] = memref.load %arg0[%c6]
// CHECK-NEXT:    %[[E:.*]] = vector.insert %[[D]], %[[C]] [2]
// CHECK-NEXT:    %[[F:.*]] = arith.negf %[[E]] : vector<4xf32>
// CHECK-NEXT:    %[[G:.*]] = vector.extract_strided_slice %[[F]] {offsets = [0], sizes = [2], strides = [1]}
// CHECK-NEXT:    %[[H:.*]] = vector.extract %[[F]][2]
// CHECK-NEXT:    vector.store %{{.*}}, %arg1[%c0] : memref<7xf32>, vector<4xf32>
// CHECK-NEXT:    vector.store %[[G]], %arg1[%c4] : memref<7xf32>, vector<2xf32>
// CHECK-NEXT:    memref.store %[[H]], %arg1[%c6]
// AVX2-LABEL:  func.func @seven
// AVX2:          vector.maskedload %arg0[%c0]
// AVX2:          vector.maskedstore %arg1[%c0]
func.func @seven(%x: memref<7xf32>, %y: memref<7xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true]} : memref<7xf32>, vector<7xf32>
  %b = arith.negf %a : vector<7xf32>
  vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<7xf32>, memref<7xf32>
  return
}

// -----

// AVX2 has masks for elements of four bytes and more. Padding stays where nothing is read.
// AVX2-LABEL:  func.func @bytes
// AVX2:          %[[P:.*]] = vector.broadcast %arg2 : i8 to vector<16xi8>
// AVX2:          %[[A:.*]] = vector.load %arg0[%c0] : memref<13xi8>, vector<8xi8>
// AVX2-NEXT:     %[[B:.*]] = vector.insert_strided_slice %[[A]], %[[P]]
// AVX2-NEXT:     %[[C:.*]] = vector.load %arg0[%c8] : memref<13xi8>, vector<4xi8>
// AVX2-NEXT:     %[[D:.*]] = vector.insert_strided_slice %[[C]], %[[B]]
// AVX2-NEXT:     %[[E:.*]] = memref.load %arg0[%c12]
// AVX2-NEXT:     %[[F:.*]] = vector.insert %[[E]], %[[D]] [12]
// AVX2-NEXT:     vector.store %[[F]], %arg1[%c0] : memref<16xi8>, vector<16xi8>
func.func @bytes(%x: memref<13xi8>, %y: memref<16xi8>, %pad: i8) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad : memref<13xi8>, vector<16xi8>
  vector.transfer_write %a, %y[%c0] {in_bounds = [true]} : vector<16xi8>, memref<16xi8>
  return
}

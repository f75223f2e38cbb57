// Forms of text that the examples of ops do not show: scalable and 0-d vectors, positions, names.
// RUN: nn-opt %s | filecheck %s

#row = affine_map<(i, j) -> (i)>
#trait = {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}

// CHECK-LABEL: func.func @scalable
func.func @scalable(%v: vector<2x[4]xf32>, %r: vector<[4]xf32>, %m: memref<?xi8>, %i: index, %b: i8, %k: vector<[4]xi1>) {
  // CHECK: vector.extract %{{.*}}[1] : vector<[4]xf32> from vector<2x[4]xf32>
  %0 = vector.extract %v[1] : vector<[4]xf32> from vector<2x[4]xf32>
  // CHECK: vector.transpose %{{.*}}, [1, 0] : vector<2x[4]xf32> to vector<[4]x2xf32>
  %1 = vector.transpose %v, [1, 0] : vector<2x[4]xf32> to vector<[4]x2xf32>
  // CHECK: vector.interleave %{{.*}} : vector<[4]xf32> -> vector<[8]xf32>
  %2 = vector.interleave %r, %r : vector<[4]xf32> -> vector<[8]xf32>
  // CHECK: vector.transfer_read %{{.*}} : memref<?xi8>, vector<[4]xi8>
  %3 = vector.transfer_read %m[%i], %b, %k : memref<?xi8>, vector<[4]xi8>
  // CHECK: vector.outerproduct %{{.*}}, %{{.*}} : vector<[4]xf32>, vector<[4]xf32>
  %4 = vector.outerproduct %r, %r : vector<[4]xf32>, vector<[4]xf32>
  // CHECK: vector.multi_reduction <add>, %{{.*}}, %{{.*}} [0] : vector<2x[4]xf32> to vector<[4]xf32>
  %5 = vector.multi_reduction <add>, %v, %r [0] : vector<2x[4]xf32> to vector<[4]xf32>
  // CHECK: vector.constant_mask [4] : vector<[4]xi1>
  %6 = vector.constant_mask [4] : vector<[4]xi1>
  return
}

// CHECK-LABEL: func.func @zero_dimensional
func.func @zero_dimensional(%i: index, %x: vector<f32>) {
  // CHECK: vector.create_mask %{{.*}} : vector<i1>
  %0 = vector.create_mask %i : vector<i1>
  // CHECK: vector.constant_mask [1] : vector<i1>
  %1 = vector.constant_mask [1] : vector<i1>
  // CHECK: vector.extract %{{.*}}[] : f32 from vector<f32>
  %2 = vector.extract %x[] : f32 from vector<f32>
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%x: vector<4xf32>, %c: vector<4x4xf32>, %s: f32, %T: tensor<?xf32>, %i: index, %at: vector<4xi32>, %m: vector<4xi1>) {
  // CHECK: vector.outerproduct %{{.*}}, %{{.*}}, %{{.*}} {kind = #vector.kind<add>} : vector<4xf32>, vector<4xf32>
  %0 = vector.outerproduct %x, %x, %c : vector<4xf32>, vector<4xf32>
  // CHECK: vector.contract {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["reduction"], kind = #vector.kind<add>}
  %1 = vector.contract #trait %x, %x, %s : vector<4xf32>, vector<4xf32> into f32
  // CHECK: vector.multi_reduction <maxnumf>, %{{.*}}, %{{.*}} [0] : vector<4xf32> to f32
  %2 = vector.multi_reduction #vector.kind<maxnumf>, %x, %s [0] : vector<4xf32> to f32
  // CHECK: vector.scatter %{{.*}}[%{{.*}}] [%{{.*}}], %{{.*}}, %{{.*}} : tensor<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> -> tensor<?xf32>
  %3 = vector.scatter %T[%i] [%at], %m, %x : tensor<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> -> tensor<?xf32>
  // CHECK: vector.print str "a\22b\0A"
  vector.print str "a\"b\n"
  // CHECK: %[[C:.*]] = arith.constant 4 : index
  // CHECK: %[[N:.*]] = vector.vscale
  // CHECK: %c4_vscale = arith.muli %[[C]], %[[N]] : index
  %four = arith.constant 4 : index
  %n = vector.vscale
  %4 = arith.muli %four, %n : index
  // CHECK: vector.extract %{{.*}}[-1] : f32 from vector<4xf32>
  %5 = vector.extract %x[-1] : f32 from vector<4xf32>
  return
}

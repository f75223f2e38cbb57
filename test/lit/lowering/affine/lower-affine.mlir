// Loops, conditions and accesses of the affine dialect become those of scf and memref; the text of
// `mlir-opt --lower-affine` differs in how quotients are computed.
// RUN: nn-opt --lower-affine --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @bounds
// CHECK: %[[END:.*]] = arith.minsi {{.*}}, %c8 : index
// CHECK: scf.for %[[I:.*]] = %c0 to %[[END]] step %c4 {
// CHECK:   %[[AT:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK:   %[[X:.*]] = memref.load %{{.*}}[%[[AT]]] : memref<16xf32>
// CHECK:   %[[HALF:.*]] = arith.floordivsi %[[I]], %{{.*}} : index
// CHECK:   memref.store %[[X]], %{{.*}}[%[[HALF]]] : memref<16xf32>
func.func @bounds(%m: memref<16xf32>, %n: index) {
  affine.for %i = 0 to min affine_map<()[s0] -> (s0, 8)>()[%n] step 4 {
    %x = affine.load %m[%i + 1] : memref<16xf32>
    affine.store %x, %m[%i floordiv 2] : memref<16xf32>
  }
  return
}

// --canonicalize makes a choice of the branches.
// CHECK-LABEL: func.func @condition
// CHECK: %[[A:.*]] = arith.cmpi sge
// CHECK: %[[B:.*]] = arith.cmpi eq
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: arith.select %[[BOTH]], %{{.*}}, %{{.*}} : f32
func.func @condition(%i: index, %n: index, %x: f32, %y: f32) -> f32 {
  %0 = affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 mod 2 == 0)>(%i)[%n] -> f32 {
    affine.yield %x : f32
  } else {
    affine.yield %y : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @parallel
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: scf.for {{.*}} iter_args
// CHECK:   scf.for {{.*}} iter_args
// CHECK:     arith.addf
func.func @parallel(%m: memref<4x8xf32>, %x: f32) -> f32 {
  affine.parallel (%i, %j) = (0, 0) to (4, 8) {
    affine.store %x, %m[%i, %j] : memref<4x8xf32>
  }
  %0 = affine.parallel (%i, %j) = (0, 0) to (4, 8) reduce ("addf") -> (f32) {
    %1 = affine.load %m[%i, %j] : memref<4x8xf32>
    affine.yield %1 : f32
  }
  return %0 : f32
}

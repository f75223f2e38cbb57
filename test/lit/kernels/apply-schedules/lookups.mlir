// What is read at places that data give is gathered; a mask stands for lanes beyond an extent that
// is known only at run time.
// RUN: nn-opt --apply-schedules='machine=avx512' %s | filecheck %s

// CHECK-LABEL: func.func @lookup
// CHECK:         scf.for %[[I:[^ ]*]] = {{.*}} to %{{.*}} step %c8
// CHECK:           %[[AT:.*]] = vector.transfer_read %arg1[%[[I]]]{{.*}}, vector<8xindex>
// CHECK:           vector.gather %{{.*}}[%c0] [%[[AT]]], %{{.*}} : memref<?xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>
// CHECK:         scf.for %[[I:[^ ]*]] = {{.*}} step %c8
// CHECK:           %[[LEFT:.*]] = arith.minsi
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK:           vector.transfer_read %arg1[%[[I]]], %{{.*}}, %[[MASK]]
// CHECK:           vector.transfer_write %{{.*}}, %arg2[%[[I]]], %[[MASK]]
func.func @lookup(%x: memref<?xf32>, %at: memref<?xindex>, %y: memref<?xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%at : memref<?xindex>) outs(%y : memref<?xf32>) {
  ^bb0(%place: index, %old: f32):
    %0 = memref.load %x[%place] : memref<?xf32>
    linalg.yield %0 : f32
  }
  return
}

schedule.for @lookup {
^bb0(%take: !schedule.stage):
  %i = schedule.loops 1 of %take
  %io, %ii = schedule.split %i by 8
  schedule.vectorize %ii
}

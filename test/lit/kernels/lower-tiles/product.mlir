// A tile of 2 rows and 40 columns: what a step reads of the right side is loaded once, elements of the
// left one are scalars that are repeated, the accumulators are carried piece by piece. The last 8
// columns are a vector of their own.
// RUN: nn-opt --lower-tiles='target=avx512' --forward-stores --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --check-numerics --lower-tiles='target=avx512' --forward-stores %s | filecheck %s --check-prefix=SAME

// SAME: func.func @product
// CHECK-LABEL: func.func @product
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK:         %[[REST:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         %[[ACC:.*]]:6 = scf.for %[[K:.*]] = {{.*}} iter_args(%[[A0:.*]] = %[[ZERO]], %[[A1:.*]] = %[[ZERO]], %[[A2:.*]] = %[[REST]], %[[A3:.*]] = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[REST]])
// CHECK:           %[[X0:.*]] = memref.load %arg0[%c0, %[[K]]]
// CHECK:           %[[B0:.*]] = vector.load %arg1[%[[K]], %c0] : memref<32x40xf32>, vector<16xf32>
// CHECK:           %[[S0:.*]] = vector.broadcast %[[X0]] : f32 to vector<16xf32>
// CHECK:           math.fma %[[S0]], %[[B0]], %[[A0]] : vector<16xf32>
// CHECK:           %[[B1:.*]] = vector.load %arg1[%[[K]], %c16] : memref<32x40xf32>, vector<16xf32>
// CHECK:           math.fma %[[S0]], %[[B1]], %[[A1]] : vector<16xf32>
// CHECK:           %[[B2:.*]] = vector.load %arg1[%[[K]], %c32] : memref<32x40xf32>, vector<8xf32>
// CHECK:           math.fma %{{.*}}, %[[B2]], %[[A2]] : vector<8xf32>
// CHECK:           %[[X1:.*]] = memref.load %arg0[%c1, %[[K]]]
// CHECK-NOT:       vector.load
// CHECK:           math.fma %{{.*}}, %[[B0]], %[[A3]] : vector<16xf32>
// CHECK:           scf.yield
// CHECK:         arith.maximumf %[[ACC]]#0, %[[ZERO]] : vector<16xf32>
// CHECK-COUNT-6: vector.store
// CHECK-NOT:     vector.store
func.func @product(%a: memref<2x32xf32>, %b: memref<32x40xf32>, %c: memref<2x40xf32>) attributes {nn.kernel} {
  %zero = arith.constant dense<0.0> : vector<2x40xf32>
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = scf.for %k = %c0 to %c32 step %c1 iter_args(%acc = %zero) -> (vector<2x40xf32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<2x32xf32>, vector<2x1xf32>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<32x40xf32>, vector<1x40xf32>
    %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %acc : vector<2x1xf32>, vector<1x40xf32> into vector<2x40xf32>
    scf.yield %d : vector<2x40xf32>
  }
  %r = arith.maximumf %t, %zero : vector<2x40xf32>
  vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x40xf32>, memref<2x40xf32>
  return
}

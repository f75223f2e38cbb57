// Where there are no vectors of an element type, its lanes are scalars, whatever a schedule asks for.
// RUN: nn-opt --split-input-file --check-numerics --lower-tiles='target=webgpu' --forward-stores --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @rows_by_number
// CHECK-NOT:     vector<{{[0-9]+}}xi64>
// CHECK-COUNT-2: memref.load %arg1{{.*}} : memref<2xi64>
// CHECK-NOT:     vector<{{[0-9]+}}xi64>
// CHECK:         return
func.func @rows_by_number(%x: memref<32xf32>, %i: memref<2xi64>, %y: memref<2xf32>) attributes {nn.kernel} {
  %pad = ub.poison : i64
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : vector<2xf32>
  %all = arith.constant dense<true> : vector<2xi1>
  %a = vector.transfer_read %i[%c0], %pad {in_bounds = [true]} : memref<2xi64>, vector<2xi64>
  %b = arith.index_cast %a : vector<2xi64> to vector<2xindex>
  %c = vector.gather %x[%c0] [%b], %all, %none {schedule.lanes = 8 : i64} : memref<32xf32>, vector<2xindex>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  vector.transfer_write %c, %y[%c0] {in_bounds = [true]} : vector<2xf32>, memref<2xf32>
  return
}

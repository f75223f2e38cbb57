// What the attributes of arith look like, read and written; the generic form; both meet again.
// RUN: nn-opt %s | filecheck %s
// RUN: nn-opt --mlir-print-op-generic %s | nn-opt | filecheck %s
// RUN: nn-opt --mlir-print-op-generic %s | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @flags
// GENERIC-LABEL: sym_name = "flags"
func.func @flags(%i: i32, %f: f32) {
  // CHECK-NEXT:    arith.addi %arg0, %arg0 overflow<nsw, nuw> : i32
  // GENERIC:       "arith.addi"{{.*}} <{overflowFlags = #arith.overflow<nsw, nuw>}>
  %0 = arith.addi %i, %i overflow<nuw, nsw> : i32
  // CHECK-NEXT:    arith.addi %arg0, %arg0 : i32
  // GENERIC-NEXT:  "arith.addi"{{.*}} <{overflowFlags = #arith.overflow<none>}>
  %1 = arith.addi %i, %i : i32
  // CHECK-NEXT:    arith.shrui %arg0, %arg0 exact : i32
  // GENERIC-NEXT:  "arith.shrui"{{.*}} <{isExact}>
  %2 = arith.shrui %i, %i exact : i32
  // CHECK-NEXT:    arith.addf %arg1, %arg1 fastmath<nnan,contract> : f32
  // GENERIC-NEXT:  "arith.addf"{{.*}} <{fastmath = #arith.fastmath<nnan,contract>}>
  %3 = arith.addf %f, %f fastmath<contract,nnan> : f32
  // CHECK-NEXT:    arith.mulf %arg1, %arg1 fastmath<fast> : f32
  %4 = arith.mulf %f, %f fastmath<reassoc,nnan,ninf,nsz,arcp,contract,afn> : f32
  // CHECK-NEXT:    arith.subf %arg1, %arg1 : f32
  // GENERIC:       "arith.subf"{{.*}} <{fastmath = #arith.fastmath<none>}>
  %5 = arith.subf %f, %f fastmath<none> : f32
  // CHECK-NEXT:    arith.truncf %arg1 to_nearest_away : f32 to f16
  // GENERIC-NEXT:  "arith.truncf"{{.*}} <{roundingmode = 4 : i32}>
  %6 = arith.truncf %f to_nearest_away : f32 to f16
  // CHECK-NEXT:    arith.truncf %arg1 downward fastmath<fast> : f32 to bf16
  %7 = arith.truncf %f downward fastmath<fast> : f32 to bf16
  return
}

// CHECK-LABEL: func.func @predicates
// GENERIC-LABEL: sym_name = "predicates"
func.func @predicates(%i: index, %f: vector<4xf32>) {
  // CHECK-NEXT:    arith.cmpi ult, %arg0, %arg0 : index
  // GENERIC:       "arith.cmpi"{{.*}} <{predicate = 6 : i64}> : (index, index) -> i1
  %0 = arith.cmpi ult, %i, %i : index
  // CHECK-NEXT:    arith.cmpf uno, %arg1, %arg1 : vector<4xf32>
  // GENERIC-NEXT:  "arith.cmpf"{{.*}}predicate = 14 : i64}> : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
  %1 = arith.cmpf uno, %f, %f : vector<4xf32>
  // CHECK-NEXT:    arith.cmpf true, %arg1, %arg1 fastmath<nnan> : vector<4xf32>
  %2 = arith.cmpf true, %f, %f fastmath<nnan> : vector<4xf32>
  // CHECK-NEXT:    arith.cmpf false, %arg1, %arg1 : vector<4xf32>
  %3 = arith.cmpf false, %f, %f : vector<4xf32>
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT:    %c-1_i8 = arith.constant -1 : i8
  %0 = arith.constant 255 : i8
  // CHECK-NEXT:    %true = arith.constant true
  %1 = arith.constant true
  // CHECK-NEXT:    %c7 = arith.constant 7 : index
  %2 = arith.constant 7 : index
  // CHECK-NEXT:    %cst = arith.constant 0xFF800000 : f32
  %3 = arith.constant 0xFF800000 : f32
  // CHECK-NEXT:    %cst_0 = arith.constant 1.500000e+00 : bf16
  %4 = arith.constant 1.5 : bf16
  // CHECK-NEXT:    %cst_1 = arith.constant {tag = 1 : i64} dense<[1, 2]> : tensor<2xi8>
  %5 = arith.constant {tag = 1} dense<[1, 2]> : tensor<2xi8>
  // CHECK-NEXT:    %cst_2 = arith.constant dense<0.000000e+00> : vector<2x2xf64>
  %6 = arith.constant dense<0.0> : vector<2x2xf64>
  return
}

// CHECK-LABEL: func.func @selections
func.func @selections(%c: i1, %m: vector<4xi1>, %x: vector<4xf32>, %p: memref<4xf32>) {
  // CHECK-NEXT:    arith.select %arg0, %arg2, %arg2 : vector<4xf32>
  %0 = arith.select %c, %x, %x : vector<4xf32>
  // CHECK-NEXT:    arith.select %arg1, %arg2, %arg2 : vector<4xi1>, vector<4xf32>
  %1 = arith.select %m, %x, %x : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT:    arith.select %arg0, %arg3, %arg3 : memref<4xf32>
  %2 = arith.select %c, %p, %p : memref<4xf32>
  return
}

// Flags and odd shapes of math.
// RUN: nn-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: nn-opt --allow-unregistered-dialect --mlir-print-op-generic %s | nn-opt --allow-unregistered-dialect | filecheck %s

// CHECK:         func.func @several(%arg0: f32, %arg1: i32, %arg2: vector<4xf32>) {
// CHECK-NEXT:      %0 = math.exp %arg0 fastmath<afn> : f32
// CHECK-NEXT:      %1 = math.fma %arg2, %arg2, %arg2 fastmath<contract> : vector<4xf32>
// CHECK-NEXT:      %2 = math.fpowi %arg0, %arg1 fastmath<fast> : f32, i32
// CHECK-NEXT:      %3 = math.ipowi %arg1, %arg1 : i32
// CHECK-NEXT:      %4 = math.clampf %arg0 to [%arg0, %arg0] fastmath<nnan> : f32
// CHECK-NEXT:      %sin, %cos = math.sincos %arg0 : f32
// CHECK-NEXT:      %5 = math.isnan %arg2 {fastmath = #arith.fastmath<ninf>} : vector<4xf32>
// CHECK-NEXT:      %6 = math.ctpop %arg1 : i32
// CHECK-NEXT:      %7 = math.atan2 %arg0, %arg0 {tag} : f32
// CHECK-NEXT:      return
// CHECK-NEXT:    }

func.func @several(%x: f32, %i: i32, %v: vector<4xf32>) {
  %0 = math.exp %x fastmath<afn> : f32
  %1 = math.fma %v, %v, %v fastmath<contract> : vector<4xf32>
  %2 = math.fpowi %x, %i fastmath<fast> : f32, i32
  %3 = math.ipowi %i, %i : i32
  %4 = math.clampf %x to [%x, %x] fastmath<nnan> : f32
  %5, %6 = math.sincos %x : f32
  %7 = math.isnan %v {fastmath = #arith.fastmath<ninf>} : vector<4xf32>
  %8 = math.ctpop %i : i32
  %9 = math.atan2 %x, %x {tag} : f32
  return
}

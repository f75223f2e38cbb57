// RUN: nn-opt --plan-memory %s | filecheck %s

// Choices between two buffers, each of which may be either: both live as long as the last one is
// read, so a buffer made later has a place of its own. There are 2^40 ways through the choices.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: memref<192xi8> {nn.arena}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>, %c: i1) attributes {nn.entry} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  linalg.map { math.sqrt } ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  linalg.map { math.exp } ins(%x : memref<16xf32>) outs(%b : memref<16xf32>)
  %s0 = arith.select %c, %a, %b : memref<16xf32>
  %s1 = arith.select %c, %b, %s0 : memref<16xf32>
  %s2 = arith.select %c, %s0, %s1 : memref<16xf32>
  %s3 = arith.select %c, %s1, %s2 : memref<16xf32>
  %s4 = arith.select %c, %s2, %s3 : memref<16xf32>
  %s5 = arith.select %c, %s3, %s4 : memref<16xf32>
  %s6 = arith.select %c, %s4, %s5 : memref<16xf32>
  %s7 = arith.select %c, %s5, %s6 : memref<16xf32>
  %s8 = arith.select %c, %s6, %s7 : memref<16xf32>
  %s9 = arith.select %c, %s7, %s8 : memref<16xf32>
  %s10 = arith.select %c, %s8, %s9 : memref<16xf32>
  %s11 = arith.select %c, %s9, %s10 : memref<16xf32>
  %s12 = arith.select %c, %s10, %s11 : memref<16xf32>
  %s13 = arith.select %c, %s11, %s12 : memref<16xf32>
  %s14 = arith.select %c, %s12, %s13 : memref<16xf32>
  %s15 = arith.select %c, %s13, %s14 : memref<16xf32>
  %s16 = arith.select %c, %s14, %s15 : memref<16xf32>
  %s17 = arith.select %c, %s15, %s16 : memref<16xf32>
  %s18 = arith.select %c, %s16, %s17 : memref<16xf32>
  %s19 = arith.select %c, %s17, %s18 : memref<16xf32>
  %s20 = arith.select %c, %s18, %s19 : memref<16xf32>
  %s21 = arith.select %c, %s19, %s20 : memref<16xf32>
  %s22 = arith.select %c, %s20, %s21 : memref<16xf32>
  %s23 = arith.select %c, %s21, %s22 : memref<16xf32>
  %s24 = arith.select %c, %s22, %s23 : memref<16xf32>
  %s25 = arith.select %c, %s23, %s24 : memref<16xf32>
  %s26 = arith.select %c, %s24, %s25 : memref<16xf32>
  %s27 = arith.select %c, %s25, %s26 : memref<16xf32>
  %s28 = arith.select %c, %s26, %s27 : memref<16xf32>
  %s29 = arith.select %c, %s27, %s28 : memref<16xf32>
  %s30 = arith.select %c, %s28, %s29 : memref<16xf32>
  %s31 = arith.select %c, %s29, %s30 : memref<16xf32>
  %s32 = arith.select %c, %s30, %s31 : memref<16xf32>
  %s33 = arith.select %c, %s31, %s32 : memref<16xf32>
  %s34 = arith.select %c, %s32, %s33 : memref<16xf32>
  %s35 = arith.select %c, %s33, %s34 : memref<16xf32>
  %s36 = arith.select %c, %s34, %s35 : memref<16xf32>
  %s37 = arith.select %c, %s35, %s36 : memref<16xf32>
  %s38 = arith.select %c, %s36, %s37 : memref<16xf32>
  %s39 = arith.select %c, %s37, %s38 : memref<16xf32>
  %d = memref.alloc() : memref<16xf32>
  linalg.map { math.exp } ins(%s39 : memref<16xf32>) outs(%d : memref<16xf32>)
  linalg.map { arith.mulf } ins(%d, %s38 : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  return
}

// Functions of C's library for kernels, where no library is: of f32 that are too far from 0 for the
// formulas of --expand-math.

// x is n + 2/pi r with |r| <= pi/4: gives n modulo 4, and r in f64.
//
// |x| is m 2**e with an integer m of 24 bits, so x 2/pi modulo 4 is m times (2/pi 2**e modulo 4),
// modulo 4. That factor are 128 bits from somewhere in 2/pi, 2 of them before the point.
llvm.func internal @nnc_quarter_turns(%x: f32) -> !llvm.struct<(i32, f64)> {
  %two_over_pi = llvm.mlir.constant(1098447047058148710457028424527632811774283130880410771149818061974263 : i256) : i256
  %mantissa = llvm.mlir.constant(0x7FFFFF : i32) : i32
  %hidden = llvm.mlir.constant(0x800000 : i32) : i32
  %c23 = llvm.mlir.constant(23 : i32) : i32
  %c255 = llvm.mlir.constant(255 : i32) : i32
  %last = llvm.mlir.constant(254 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i128) : i128
  %c64 = llvm.mlir.constant(64 : i128) : i128
  %c126 = llvm.mlir.constant(126 : i128) : i128
  %half = llvm.mlir.constant(42535295865117307932921825928971026432 : i128) : i128
  %zero = llvm.mlir.constant(0 : i32) : i32
  %quarter = llvm.mlir.constant(8.515303950216386e-20 : f64) : f64
  %near = llvm.mlir.constant(0.785 : f64) : f64
  %poison = llvm.mlir.poison : !llvm.struct<(i32, f64)>

  %bits = llvm.bitcast %x : f32 to i32
  %low = llvm.and %bits, %mantissa : i32
  %m = llvm.or %low, %hidden : i32
  %shifted = llvm.lshr %bits, %c23 : i32
  %exponent = llvm.and %shifted, %c255 : i32
  // 2/pi has 230 bits behind the point here: 126 of the factor are left.
  %by = llvm.sub %last, %exponent : i32
  %is_number = llvm.icmp "slt" %exponent, %c255 : i32
  %inside = llvm.select %is_number, %by, %zero : i1, i32
  %by_256 = llvm.zext %inside : i32 to i256
  %from = llvm.lshr %two_over_pi, %by_256 : i256
  %factor = llvm.trunc %from : i256 to i128
  %m_128 = llvm.zext %m : i32 to i128
  %turns = llvm.mul %factor, %m_128 : i128
  %rounded = llvm.add %turns, %half : i128
  %number_128 = llvm.lshr %rounded, %c126 : i128
  %number = llvm.trunc %number_128 : i128 to i32
  %behind = llvm.shl %turns, %c2 : i128
  %upper = llvm.lshr %behind, %c64 : i128
  %fraction_64 = llvm.trunc %upper : i128 to i64
  %fraction = llvm.sitofp %fraction_64 : i64 to f64
  %rest = llvm.fmul %fraction, %quarter : f64

  %wide = llvm.fpext %x : f32 to f64
  %magnitude = llvm.intr.fabs(%wide) : (f64) -> f64
  %negative = llvm.icmp "slt" %bits, %zero : i32
  %minus_number = llvm.sub %zero, %number : i32
  %minus_rest = llvm.fneg %rest : f64
  %signed_number = llvm.select %negative, %minus_number, %number : i1, i32
  %signed_rest = llvm.select %negative, %minus_rest, %rest : i1, f64
  %is_near = llvm.fcmp "olt" %magnitude, %near : f64
  %n = llvm.select %is_near, %zero, %signed_number : i1, i32
  %r_number = llvm.select %is_near, %wide, %signed_rest : i1, f64
  // NaN for what is no number.
  %nothing = llvm.fsub %wide, %wide : f64
  %r = llvm.select %is_number, %r_number, %nothing : i1, f64
  %first = llvm.insertvalue %n, %poison[0] : !llvm.struct<(i32, f64)>
  %both = llvm.insertvalue %r, %first[1] : !llvm.struct<(i32, f64)>
  llvm.return %both : !llvm.struct<(i32, f64)>
}

// Taylor's series; off by 1e-11 where |r| <= pi/4.
llvm.func internal @nnc_sine(%r: f64) -> f64 {
  %a3 = llvm.mlir.constant(-0.16666666666666666 : f64) : f64
  %a5 = llvm.mlir.constant(0.008333333333333333 : f64) : f64
  %a7 = llvm.mlir.constant(-1.984126984126984e-4 : f64) : f64
  %a9 = llvm.mlir.constant(2.7557319223985893e-6 : f64) : f64
  %a11 = llvm.mlir.constant(-2.505210838544172e-8 : f64) : f64
  %s = llvm.fmul %r, %r : f64
  %p0 = llvm.intr.fma(%s, %a11, %a9) : (f64, f64, f64) -> f64
  %p1 = llvm.intr.fma(%s, %p0, %a7) : (f64, f64, f64) -> f64
  %p2 = llvm.intr.fma(%s, %p1, %a5) : (f64, f64, f64) -> f64
  %p3 = llvm.intr.fma(%s, %p2, %a3) : (f64, f64, f64) -> f64
  %p4 = llvm.fmul %s, %p3 : f64
  %p5 = llvm.intr.fma(%p4, %r, %r) : (f64, f64, f64) -> f64
  llvm.return %p5 : f64
}

llvm.func internal @nnc_cosine(%r: f64) -> f64 {
  %one = llvm.mlir.constant(1.0 : f64) : f64
  %a2 = llvm.mlir.constant(-0.5 : f64) : f64
  %a4 = llvm.mlir.constant(0.041666666666666664 : f64) : f64
  %a6 = llvm.mlir.constant(-0.001388888888888889 : f64) : f64
  %a8 = llvm.mlir.constant(2.48015873015873e-5 : f64) : f64
  %a10 = llvm.mlir.constant(-2.755731922398589e-7 : f64) : f64
  %a12 = llvm.mlir.constant(2.08767569878681e-9 : f64) : f64
  %s = llvm.fmul %r, %r : f64
  %p0 = llvm.intr.fma(%s, %a12, %a10) : (f64, f64, f64) -> f64
  %p1 = llvm.intr.fma(%s, %p0, %a8) : (f64, f64, f64) -> f64
  %p2 = llvm.intr.fma(%s, %p1, %a6) : (f64, f64, f64) -> f64
  %p3 = llvm.intr.fma(%s, %p2, %a4) : (f64, f64, f64) -> f64
  %p4 = llvm.intr.fma(%s, %p3, %a2) : (f64, f64, f64) -> f64
  %p5 = llvm.intr.fma(%s, %p4, %one) : (f64, f64, f64) -> f64
  llvm.return %p5 : f64
}

// The sine of n quarter turns and r more.
llvm.func internal @nnc_turned(%n: i32, %r: f64) -> f64 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %sine = llvm.call @nnc_sine(%r) : (f64) -> f64
  %cosine = llvm.call @nnc_cosine(%r) : (f64) -> f64
  %odd = llvm.and %n, %one : i32
  %is_odd = llvm.icmp "ne" %odd, %zero : i32
  %chosen = llvm.select %is_odd, %cosine, %sine : i1, f64
  %minus = llvm.fneg %chosen : f64
  %over = llvm.and %n, %two : i32
  %is_over = llvm.icmp "ne" %over, %zero : i32
  %result = llvm.select %is_over, %minus, %chosen : i1, f64
  llvm.return %result : f64
}

llvm.func internal @sinf(%x: f32) -> f32 {
  %turns = llvm.call @nnc_quarter_turns(%x) : (f32) -> !llvm.struct<(i32, f64)>
  %n = llvm.extractvalue %turns[0] : !llvm.struct<(i32, f64)>
  %r = llvm.extractvalue %turns[1] : !llvm.struct<(i32, f64)>
  %wide = llvm.call @nnc_turned(%n, %r) : (i32, f64) -> f64
  %result = llvm.fptrunc %wide : f64 to f32
  llvm.return %result : f32
}

llvm.func internal @cosf(%x: f32) -> f32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %turns = llvm.call @nnc_quarter_turns(%x) : (f32) -> !llvm.struct<(i32, f64)>
  %n = llvm.extractvalue %turns[0] : !llvm.struct<(i32, f64)>
  %r = llvm.extractvalue %turns[1] : !llvm.struct<(i32, f64)>
  %next = llvm.add %n, %one : i32
  %wide = llvm.call @nnc_turned(%next, %r) : (i32, f64) -> f64
  %result = llvm.fptrunc %wide : f64 to f32
  llvm.return %result : f32
}

llvm.func internal @tanf(%x: f32) -> f32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %turns = llvm.call @nnc_quarter_turns(%x) : (f32) -> !llvm.struct<(i32, f64)>
  %n = llvm.extractvalue %turns[0] : !llvm.struct<(i32, f64)>
  %r = llvm.extractvalue %turns[1] : !llvm.struct<(i32, f64)>
  %next = llvm.add %n, %one : i32
  %sine = llvm.call @nnc_turned(%n, %r) : (i32, f64) -> f64
  %cosine = llvm.call @nnc_turned(%next, %r) : (i32, f64) -> f64
  %wide = llvm.fdiv %sine, %cosine : f64
  %result = llvm.fptrunc %wide : f64 to f32
  llvm.return %result : f32
}

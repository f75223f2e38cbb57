// Every builtin type, where a type can stand: attribute, operand, result, block argument.
"t.integers"() {a = i1, b = i7, c = i16777215, d = si1, e = si8, f = ui16, g = ui1, h = i0, i = index} : () -> ()
"t.floats"() {a = f16, b = bf16, c = tf32, d = f32, e = f64, f = f80, g = f128, h = f8E5M2, i = f8E4M3,
  j = f8E4M3FN, k = f8E5M2FNUZ, l = f8E4M3FNUZ, m = f8E4M3B11FNUZ, n = f8E3M4, o = f8E8M0FNU,
  p = f6E2M3FN, q = f6E3M2FN, r = f4E2M1FN} : () -> ()
"t.complex"() {a = complex<f32>, b = complex<i8>, c = complex<si16>, d = complex<bf16>, e = complex<f8E5M2>} : () -> ()
"t.none"() {a = none} : () -> none
"t.tuple"() {a = tuple<>, b = tuple<i32>, c = tuple<i32, tuple<f32, none>, vector<4xf32>>, d = tuple<() -> ()>} : () -> ()
"t.functions"() {a = () -> (), b = (i32) -> f32, c = (i32) -> (f32), d = (i32, f32) -> (f32, i32),
  e = () -> (() -> ()), f = (() -> ()) -> (), g = (i32) -> ((i32) -> i32), h = ((i32) -> i32) -> i32,
  i = () -> (() -> (), i32)} : () -> ()
"t.vectors"() {a = vector<4xf32>, b = vector<2x3x4xi8>, c = vector<[4]xf32>, d = vector<2x[4]xf32>,
  e = vector<[2]x[4]xindex>, f = vector<f32>, g = vector<[1]x2x[3]x4xbf16>, h = vector<1xi1>} : () -> ()
"t.tensors"() {a = tensor<f32>, b = tensor<4xf32>, c = tensor<?x4x?xf32>, d = tensor<*xf32>, e = tensor<0xf32>,
  f = tensor<0x?xi4>, g = tensor<4xcomplex<f32>>, h = tensor<4xvector<2xf32>>, i = tensor<2x!t.x<[a, "b>"]>>,
  j = tensor<4xf32, "encoding">, k = tensor<4xf32, {a = 1 : i32, b}>, l = tensor<4xindex, 5>,
  m = tensor<?xf32, affine_map<(d0) -> (d0)>>, n = tensor<9223372036854775807xi1>, o = tensor<2xf32, #t.e<x>>} : () -> ()
"t.memrefs"() {a = memref<f32>, b = memref<4xf32>, c = memref<?x4xf32>, d = memref<*xf32>, e = memref<0xf32>,
  f = memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, g = memref<4x4xf32, affine_map<(d0, d1) -> (d0, d1)>>,
  h = memref<4x?xf32, strided<[?, 1], offset: ?>>, i = memref<4xf32, strided<[1]>>, j = memref<f32, strided<[]>>,
  k = memref<4xf32, strided<[1], offset: 5>>, l = memref<4xf32, 1>, m = memref<4xf32, 1 : i32>,
  n = memref<4xf32, "local">, o = memref<*xf32, 3 : i8>, p = memref<4xf32, strided<[2]>, "x">,
  q = memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>, r = memref<4xf32, strided<[1], offset: 0>>,
  s = memref<2xmemref<*xf32>>, t = memref<4xvector<4xf32>>, u = memref<4xmemref<4xf32>>, v = memref<4xf32, {a}>,
  w = memref<4xcomplex<f64>>, x = memref<2x2xf32, affine_map<(d0, d1) -> (d0 * 2 + d1)>>,
  y = memref<4xf32, strided<[-1], offset: 3>>, z = memref<4xf32, 0>} : () -> ()
"t.spaces"() {d = memref<4xf32, 0 : i32>,
  e = memref<*xf32, 0>, f = memref<*xf32, "x">} : () -> ()
%0:6 = "t.values"() : () -> (i3, tf32, complex<f64>, tuple<i1, index>, vector<[2]xf32>, tensor<*xi8>)
"t.uses"(%0#0, %0#1, %0#2, %0#3, %0#4, %0#5) ({
^bb0(%a: memref<*xf32>, %b: none, %c: (i32) -> i32, %d: !t.opaque<1>):
  "t.end"(%a, %b, %c, %d) : (memref<*xf32>, none, (i32) -> i32, !t.opaque<1>) -> ()
}) : (i3, tf32, complex<f64>, tuple<i1, index>, vector<[2]xf32>, tensor<*xi8>) -> ()

// -----

// Types written with spaces, comments and line breaks inside.
"t.a"() {a = tensor< 4x4xf32 >, b = memref<? x ? x f32,
   strided< [ ? , 1 ] , offset : ? > , 2>, c = vector< [ 4 ] x f32 >, d = tuple<i32 , f32>,
   e = ( i32 ) -> ( ), f = complex< f32 >} // a comment
   : ( ) -> ( )

// -----

// Type aliases, used before one another and nested.
!int = i32
!pair = tuple<!int, !int>
!fn = (!int, !pair) -> !pair
%0 = "t.x"() {t = !fn} : () -> !pair
%1 = "t.y"(%0) : (!pair) -> tensor<4x!int>
%2 = "t.z"() : () -> memref<2x!int, strided<[1]>>

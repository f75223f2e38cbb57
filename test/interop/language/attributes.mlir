// Scalars, strings, containers and references.
"t.integers"() {a = 5, b = -5 : i8, c = 255 : i8, d = 0xFF : i8, e = 5 : index, f = -1 : index, g = 3 : si4, h = -3 : si4,
  i = 15 : ui4, j = 0 : i0, k = 170141183460469231731687303715884105727 : i128, l = -170141183460469231731687303715884105728 : i128,
  m = 0x7FFFFFFFFFFFFFFF, n = 18446744073709551615 : ui64, o = 9223372036854775807, p = -9223372036854775808 : i64,
  q = 1 : i1, r = 0 : i1, s = true, t = false, u = -1 : i1, v = -1 : si1, w = 1 : ui1, x = 18446744073709551615 : i64} : () -> ()
"t.units"() {a, b = unit, "c d" = unit, c = [unit, unit]} : () -> ()
"t.strings"() {a = "", b = "plain", c = "tab\tnewline\nquote\"backslash\\", d = "\00\01\7F\80\FF", e = "é∀", f = "x" : i32,
  g = "a" : !t.type, h = "// no comment", i = "%x {} <> -> loc(", j = "\22\5C"} : () -> ()
"t.arrays"() {a = [], b = [1], c = [1, 2 : i8, 3.0, 4.0 : f32, true, "x", @s, [[]], {}, i32], d = [1 : i64, 1 : index, 1.5 : f64]} : () -> ()
"t.dicts"() {a = {}, b = {x}, c = {x = 1, y = {z = 2 : i8, "w w" = unit}, "quoted" = 3, "0digit" = 4, a.b = 5, "a-b" = 6, _x = 7, A$b = 8}} : () -> ()
"t.symbols"() {a = @x, b = @x::@y, c = @x::@y::@z, d = @"with space", e = @"a"::@"b c", f = @x.y$z, g = @"1", i = @"q\"q", j = @_0, k = @"a-b"} : () -> ()
"t.types"() {a = i32, b = (i32) -> (), c = !t.x, d = [i32, f32], e = tensor<4xf32>} : () -> ()
"t.dense_arrays"() {a = array<i64>, b = array<i64: 1, -2>, c = array<i1: true, false>, d = array<i8: 0xF, -128>, e = array<f32: 1.0, 0x7FC00000, -0.0>,
  f = array<f64: 1.0e10>, h = array<bf16: 1.5>, i = array<ui8: 255>, j = array<si8: -1>, l = array<i128: 5>} : () -> ()

// -----

"t.keys"() {"operand_segment" = 1, a.b.c = 2, "with space" = 3, "1" = 4, b = 6, A = 7, _ = 8} : () -> ()

// -----

// Opaque attributes and types of unknown dialects.
"t.opaque"() {a = #foo.bar, b = #foo<bar>, c = #foo<"bar">, d = #foo.bar<x -> y>, e = #foo.bar<[a, (b), {c}, <d>]>, f = #foo<"a > b"> , g = #foo.bar<"\"">,
  h = #foo.b.c<1>, i = #foo.bar : i32, j = #foo.x<{a = 1}> : tensor<2xf32>, k = #foo<a b c>, m = #foo.bar<>, n = #foo<x.y>,
  o = #foo.bar<a == b>, p = #foo.bar<i32, @x::@y, 1.0e5, 0xF>} : () -> ()
"t.opaque_types"() {a = !foo.bar, b = !foo<bar>, c = !foo<"bar baz">, d = !foo.bar<i32, [1, 2], "x>">, e = !foo.b.c, f = !foo.bar<(a) -> b>, g = !foo<x y>,
  h = !foo.bar<>, i = tensor<2x!foo.bar<3>>, j = !foo.a$b} : () -> ()

// -----

// Properties of unregistered operations, and both dictionaries.
"t.b"() <{a = 1 : i32, b}> {c = 2 : i32} : () -> ()
"t.c"() <{a = {x = [1]}, z = "s"}> ({}) {y} : () -> ()

// -----

// distinct, strided, locations as values.
"t.distinct"() {a = distinct[0]<1 : i32>, b = distinct[1]<1 : i32>, c = distinct[0]<1 : i32>, d = distinct[5]<unit>, e = distinct[7]<>,
  f = distinct[9]<"x">, g = distinct[10]<distinct[11]<@a>>, h = [distinct[1]<1 : i32>]} : () -> ()

// -----

"t.strided"() {a = strided<[]>, b = strided<[1]>, c = strided<[?, 1]>, d = strided<[4, 1], offset: 3>, e = strided<[?], offset: ?>,
  f = strided<[-4, -1], offset: -3>, g = strided<[0], offset: 0>} : () -> ()
"t.locations"() {a = loc(unknown), b = loc("f":1:2), c = loc("n"), d = loc("n"("f":1:2)), e = loc(callsite("a" at "b")), f = loc(fused["a", "b"]),
  g = loc(fused<"meta">["a", "b"]), h = loc("f":1:2 to 3:4), i = loc("f":1:2 to :5), j = loc("f":0:0)} : () -> ()

// -----

// Attribute aliases.
#one = 1 : i32
#list = [#one, #one]
#dict = {a = #list, b = #one}
#map = affine_map<(d0) -> (d0 + 1)>
#all = [#dict, #map, "x"]
#opaque = #foo.bar<1>
#loc_alias = loc("x":1:2)
"t.a"() {a = #one, b = #list, c = #dict, d = #map, e = #all, f = #opaque, g = #loc_alias} : () -> ()
"t.b"() {t = memref<4xf32, #map>, u = tensor<4xf32, #dict>} : () -> ()

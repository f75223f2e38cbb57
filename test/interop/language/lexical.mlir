// Small things: literals, names, comments, forms of functions and modules.
%-x = "t.a"() : () -> i32
%$y = "t.a"(%-x) : (i32) -> i32
%.z = "t.a"(%$y) : (i32) -> i32
%_ = "t.a"(%.z) : (i32) -> i32
%a-b.c$d_e = "t.a"(%_) : (i32) -> i32
"t.b"(%a-b.c$d_e) : (i32) -> ()

// -----

#0 = 5 : i32
#a$b = 6 : i32
#a_1 = 7 : i8
!0 = i32
"t.a"() {a = #0, b = #a$b, c = #a_1} : () -> ()

// -----

#a-b = 5 : i32
"t.a"() {a = #a-b} : () -> ()

// -----

"t.a"() {a = 1234567890123456789012345678901234567890 : i256, b = 0xbeef : i32, c = 0x0 : i8, d = -0x10 : i8} : () -> ()

// -----

"t.a"() {a = dense<-0x1> : tensor<2xi8>} : () -> ()

// -----

"t.a"() {a = dense<[-5, 0x7F]> : tensor<2xi8>, b = -5 : index, c = array<i8: -5, 0x10>} : () -> ()

// -----

"t.a"() ({ ^bb0(%a: i32, %b : i32): "t.b"(%a, %b) : (i32, i32) -> () ^bb1(%c:i8):"t.b"(%c):(i8)->() }) : () -> ()

// -----

"t.a"() {a = -0.0 : f32, b = 0.0e0, c = 1.e-5, d = 12.5E+2 : f32} : () -> ()

// -----

"t.a"() {a = -1.0e400} : () -> ()

// -----

"t.a"() {a = "\t\n\"\\\0A\7f\C3\A9"} : () -> ()

// -----

"t.a"() {a = @a::@b::@"c d"::@e} : () -> ()

// -----

"t.a"() {"a b" = 1, "a\"b" = 2, "c\\d" = 3} : () -> ()

// -----

"t.a"() {a = loc("f":1:2), b = [loc(unknown)], c = {d = loc("x"("y"))}} : () -> ()

// -----

"t.a"() {a = affine_map<(d0)[s0] -> (d0 + s0 - 1, -d0, d0 ceildiv 5 mod 3)>, b = affine_map<(i, j)[] -> (i)>, c = affine_map<()[] -> ()>} : () -> ()

// -----

"t.a"() {a = affine_map<(d0, d1) -> (d0 + d1 floordiv 2 * 2)>} : () -> ()

// -----

"t.a"() {a = affine_map<(d0) -> (0xF + d0)>} : () -> ()

// -----

"t.a"() {a = affine_set<(d0)[s0] : (s0 >= d0, 2 * d0 <= s0 * 3 - 4)>} : () -> ()

// -----

%0 = "t.a"() : () -> i32
%1:2 = "t.b"(%0#0) : (i32) -> (i32, i32)
"t.c"(%1#0, %1#1, %1) : (i32, i32, i32) -> ()

// -----

"t.a"() {a = tensor<2x3xf32, #t.enc>, b = !t<tensor<2xf32>>, c = #t<{a = "}"}>} : () -> ()

// -----

"t.a"() {a = #t.x<"unterminated \" quote", [1, {2}]>, b = #t.x<a-b>, c = #t.x<->>, d = !t.y<(i32) -> i32>} : () -> ()

// -----

"t.a"() {a = memref<4xf32, affine_map<(d0)[s0] -> (d0)>>, b = memref<4xf32, affine_map<(d0) -> (d0)>, 0>} : () -> ()

// -----

"t.a"() {a = memref<2x2xf32, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>>} : () -> ()

// -----

"t.a"() {a = memref<?xf32, strided<[?], offset: 5>, {a = 1}>} : () -> ()

// -----

"t.a"() {a = tuple<>, b = none, c = index, d = tuple<none, index>} : () -> ()

// -----

"t.a"() {a = i32, b = [i32, () -> ()], c = {d = tensor<*xi8>}} : () -> ()

// -----

"t.a"() <{a = 1}> ({ "t.b"() : () -> () }) : () -> ()

// -----

"t.a"() {a = dense<[]> : tensor<0xf32>, b = dense<[[], []]> : tensor<2x0xf32>} : () -> ()

// -----

"t.a"() {a = dense<"0xFFFFFFFF"> : tensor<i32>, b = dense<"0xffeeddcc"> : tensor<4xi8>} : () -> ()

// -----

"t.a"() {a = dense_resource<a> : tensor<?xf32>} : () -> ()

// -----

"t.a"() {a = dense_resource<"a b"> : vector<4xf32>, b = dense_resource<a.b$c> : memref<4xf32>} : () -> ()

// -----

"t.a"() {a = distinct[0]<>, b = distinct[1]<>, c = distinct[0]<>} : () -> ()

// -----

"t.a"() {a = distinct[18446744073709551615]<1 : i32>} : () -> ()

// -----

"t.a"() : () -> () loc("file":4294967295:5)

// -----

func.func private @f(%a: i32, %b: f32) -> ()

// -----

func.func @f() -> (i32 {t.a}, f32) attributes {} { %0:2 = "t.x"() : () -> (i32, f32) return %0#0, %0#1 : i32, f32 }

// -----

module @a { module @a {} module @b attributes {t.x} {} }

// -----

module {} module {}

// -----

module {} "t.a"() : () -> ()

// -----

module { ^bb0: "t.a"() : () -> () }

// -----

builtin.module @x { }

// -----

func.func @f() { "t.a"() : () -> () }

// -----

func.func @f() { func.call @g() : () -> () return } func.func private @g()

// -----

func.func @f() { cf.br ^bb1 ^bb1: cf.br ^bb2 ^bb2: return }

// -----

"func.func"() <{sym_name = "f", function_type = () -> ()}> ({ "func.return"() : () -> () }) {t.x} : () -> ()

// -----

"func.func"() ({ "func.return"() : () -> () }) {sym_name = "f", function_type = () -> (), t.x} : () -> ()

// -----

"t.a"() {a = 5 : si8, b = 5 : ui8, c = -5 : si8} : () -> ()

// -----

"t.a"() {a = 0x1 : f32, b = 0x7FC00000 : f32} : () -> ()

// -----

"t.a"() {a = "x" : !t.y, b = "x" : none} : () -> ()

// -----

"t.a"() {a = #t.x : none, b = #t.x : i32} : () -> ()

// -----

"t.a"() {a = strided<[1, ?], offset: -5>, b = strided<[]>} : () -> ()

// -----

"t.a"() {a = strided<[1], offset: 0>} : () -> ()

// -----

"t.a"() {a = strided<[1],offset:?>} : () -> ()

// -----

"t.a"() {a = tensor<0x1xf32>, b = tensor<0x10xf32>} : () -> ()

// -----

"t.a"() {a = tensor<0xf32>, b = memref<0x0xi0>} : () -> ()

// -----

"t.a"() {a = vector<1x1x1xi1>, b = vector<[1]xi1>} : () -> ()

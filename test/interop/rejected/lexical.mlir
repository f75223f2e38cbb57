// What neither tool accepts.
"t.a"() {a = "x\qy"} : () -> ()

// -----

"t.a"() {a = affine_map<(d0, d0) -> (d0)>} : () -> ()

// -----

"t.a"() {a = affine_set<(d0) : (d0 < 5)>} : () -> ()

// -----

%0:0 = "t.a"() : () -> ()

// -----

"t.a"() {a = complex<index>} : () -> ()

// -----

"t.a"() {a = tensor<4xtuple<i32>>} : () -> ()

// -----

"t.a"() {a = tensor<4xtensor<4xf32>>} : () -> ()

// -----

"t.a"() {a = tensor<4xmemref<4xf32>>} : () -> ()

// -----

"t.a"() {a = memref<4xtensor<4xf32>>} : () -> ()

// -----

"t.a"()[] : () -> ()

// -----

"t.a"() ({ "t.b"() : () -> () }, { }) <{a}> : () -> ()

// -----

"t.a"() {a, a} : () -> ()

// -----

"t.a"() {a = unit, b = array<f32>, c = dense<> : tensor<0x3xf32>, d = dense<> : vector<0xf32>} : () -> ()

// -----

"t.a"() {a = dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<ui8>>, b = dense<(0.0, 1.0)> : vector<2xcomplex<f64>>} : () -> ()

// -----

"t.a"() {a = dense<"0x0"> : tensor<1xi8>} : () -> ()

// -----

"t.a"() {a = dense<1> : tensor<2x?xi32>} : () -> ()

// -----

"t.a"() : () -> () loc("a"

// -----

"t.a"() : () -> () loc(fused["a", "b"](x))

// -----

func.func @f(%arg0: i32 {t.a = 1}, i32) { return }

// -----

func.func @f(i32, f32) -> ()

// -----

func.func private @f(...)

// -----

module { func.func @f() { return } func.func @f() { return } }

// -----

module { ^bb0(%a: i32): }

// -----

"t.a"() {a = -5 : ui8} : () -> ()

// -----

"t.a"() {a = 128 : si8} : () -> ()

// -----

"t.a"() {a = 256 : i8} : () -> ()

// -----

"t.a"() {a = -129 : i8} : () -> ()

// -----

"t.a"() {a = 1.0 : i32} : () -> ()

// -----

"t.a"() {a = 1 : f32} : () -> ()

// -----

"t.a"() {a = 0x1FFFFFFFF : f32} : () -> ()

// -----

"t.a"() {a = true : i8} : () -> ()

// -----

"t.a"() {a = tensor<1x-1xf32>} : () -> ()

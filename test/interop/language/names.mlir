// Operation names, symbols and comments.
"noDialect"() : () -> ()
"a.b.c.d"() : () -> ()
"a$b.c$d"() : () -> ()
"with space.op"() : () -> ()
"t.\22quoted\22"() : () -> ()
"UPPER.Case_1"() : () -> () // trailing
"t.x" () {  } : ( ) -> ( )// none
/// three slashes
"t.y"( ) : () -> ()

// -----

module @"quoted name" {
  func.func private @"with space"()
  func.func private @"1digit"(i32) -> i32
  func.func private @dollar$dot.under_()
  func.func private @"a-b"()
  func.func @caller(%x: i32) -> i32 attributes {t.ref = @"with space", t.nested = @"quoted name"::@"1digit"} {
    func.call @"with space"() : () -> ()
    %0 = call @"1digit"(%x) : (i32) -> i32
    call @dollar$dot.under_() : () -> ()
    return %0 : i32
  }
}

// -----

module attributes {t.a = 1 : i32, t.b} {
  module @inner attributes {sym_visibility = "private"} {
    "t.x"() : () -> ()
  }
  module {
  }
  module @nested {
    module @deeper {
      func.func @f() {
        return
      }
    }
  }
}

// -----

"builtin.module"() ({
  "t.x"() : () -> ()
}) {t.a} : () -> ()

// -----

"builtin.module"() <{sym_name = "m", sym_visibility = "nested"}> ({
^bb0:
}) : () -> ()

// -----

%0 = builtin.unrealized_conversion_cast to i32
%1:2 = builtin.unrealized_conversion_cast %0 : i32 to i8, f32
%2 = builtin.unrealized_conversion_cast %1#0, %1#1 : i8, f32 to !t.x {a}

// -----

// Functions in all their forms.
func.func private @declared()
func.func private @types(i32, memref<4xf32>) -> (i32, f32)
func.func private @attributes(i32 {t.a = 1 : i8}, f32) -> (f32 {t.b}) attributes {t.c = "x"}
func.func private @variadic_results() -> (i32, i32)
func.func nested @nested() { return }
func.func public @public() { return }
func.func private @private() attributes {no_inline} { func.return }
func.func @identity(%a: (i32) -> i32, %b: tuple<>) -> ((i32) -> i32) { return %a : (i32) -> i32 }
func.func @no_names(%arg0: i32, %arg1: i32) -> (i32, i32) { return %arg1, %arg0 : i32, i32 }
func.func @attributed(%x: i32 {t.a}, %y: i32) -> (i32, i32 {t.r = 1}) attributes {t.f = unit, "t.g h" = 1} { return %x, %y : i32, i32 }
func.func @calls(%x: i32) -> i32 {
  %f = constant @self : (i32) -> i32
  %0 = call_indirect %f(%x) : (i32) -> i32
  %1 = call @self(%0) {t.a} : (i32) -> i32
  return {t.b} %1 : i32
}
func.func @self(%x: i32) -> i32 { return %x : i32 }
func.func @"llvm.style"(%x: i32) -> i32 attributes {visibility = "private"} { return %x : i32 }

// -----

// cf and ub.
func.func @control(%c: i1, %i: i32, %v: index) -> i32 {
  cf.assert %c, "message with \"quotes\""
  cf.assert %c, "x" {t.a}
  cf.cond_br %c, ^bb1(%i : i32), ^bb2
^bb1(%a: i32):
  cf.switch %i : i32, [
    default: ^bb2,
    42: ^bb3(%a : i32),
    -1: ^bb3(%i : i32)
  ]
^bb2:
  %p = ub.poison : i32
  %q = ub.poison {t.a} : vector<4xf32>
  cf.cond_br %c weights([5, 7]), ^bb3(%p : i32), ^bb4
^bb3(%r: i32):
  return %r : i32
^bb4:
  cf.switch %i : i32, [
    default: ^bb5
  ] {t.a}
^bb5:
  ub.unreachable
}

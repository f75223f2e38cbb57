"""Our text against the real mlir-opt's: the same input gives the same output, byte for byte."""

import subprocess

import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op

pytestmark = pytest.mark.mlir_opt

BUILTIN = """
#alias = affine_map<(i, j)[s] -> (j + s, i floordiv 2)>
!type = tuple<i32, tensor<?x4xf32>>
"t.numbers"() {a = 5 : i64, b = [5 : i64, 5 : i32, 1.0 : f64, 1.0 : f32], c = true, d = 3 : si8,
  e = 200 : ui8, f = 3 : index, g = -0.0 : f32, h = 0xFF : i8, i = 1.0e400 : f64} : () -> ()
"t.floats"() {a = 3.14159 : f32, b = 16777217.0 : f64, c = 0x7FC00000 : f32, d = 0.1 : f32,
  e = 123456789.0 : f32, f = 1.0e-10 : f64, g = 0.1 : f16, h = 1.1 : bf16, i = 2.0e20 : f32,
  j = 0.0001 : f64, k = 0.001234567 : f64, l = 12345.678 : f64, m = 1.0e-45 : f32,
  n = 0.3 : f8E4M3FN, o = 1234567.0 : f32, p = 0.333333333333 : f64, q = 1.0e22 : f64,
  r = 2097151.125 : f64, s = 65504.0 : f16} : () -> ()
"t.strings"() {a = "a\\n\\t\\"\\\\\\22x\\FFé", b = @a::@"b c", c = unit, "w w" = unit, d = "x" : i32,
  e = {a, b = 1 : i64}, z = #foo.bar<x -> y>, y = #foo<bar>} : () -> ()
"t.dense"() {a = array<i64>, b = array<i8: 1, -2>, c = array<i1: true, false>,
  d = array<f32: 1.0, 2.5>, e = dense<(1.0, 2.0)> : tensor<complex<f32>>,
  f = dense<[(1,2),(3,4)]> : tensor<2xcomplex<i8>>, g = dense<["a", "b"]> : tensor<2x!foo.s>,
  h = dense<[[1,2],[3,4]]> : vector<2x2xi32>, i = dense<1.0> : tensor<f32>,
  j = dense<"0x01000000"> : tensor<1xi32>, k = dense_resource<foo> : tensor<2xf32>,
  l = dense<> : tensor<0xf32>, m = dense<[1.5, 0x7FC0]> : tensor<2xbf16>,
  n = dense<[-1, 1]> : tensor<2xi4>} : () -> ()
"t.types"() {a = strided<[?, 1], offset: ?>, b = tensor<?x2xf32, {a = 5 : i64}>, c = !type,
  d = memref<2x2xf32, affine_map<(d0, d1) -> (d1, d0)>, "x">, e = vector<[4]x3xf32>,
  f = memref<*xf32, 3 : i32>, g = () -> (), h = (i32) -> ((i32) -> i32), i = tuple<i32, tuple<>>,
  j = none, k = !foo.bar<[a, "b"]>, l = memref<4xf32, 1>, m = tensor<2xf8E4M3FN>} : () -> ()
"t.maps"() {a = #alias, b = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>,
  c = affine_map<(d0, d1) -> (d0 * 2 - d1, -d0, (d0 + d1) * 3, d0 mod 4 - 1)>,
  d = distinct[0]<5 : i32>, e = distinct[1]<unit>, f = [#alias, affine_map<() -> (1)>]} : () -> ()
"t.locations"() {a = loc("x":1:2), b = loc(fused<"m">["a"("b"), unknown]), c = loc(unknown),
  d = loc(callsite("a" at "f":2:3)), e = loc("f":1:2 to 3:4)} : () -> ()
%0:2, %1 = "t.results"() <{property = 1 : i8}> : () -> (i32, f32, !foo.bar)
"t.regions"(%0#1, %1) ({
^bb0(%a: i32, %b: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>):
  "t.branch"(%a)[^bb1, ^bb1] {m = affine_map<(d0) -> (d0 * 8)>} : (i32) -> ()
^bb1:
  %c = "t.value"() : () -> i32
  "t.nested"() ({ %d = "t.value"() : () -> i32 }, {}) : () -> ()
  "t.branch"(%c)[^bb2] : (i32) -> ()
^bb2:
  "t.end"() : () -> ()
^bb3(%e: i8):
  "t.end"() : () -> ()
}) : (f32, !foo.bar) -> ()
"""

FUNCTIONS = """
func.func private @declared(i32, memref<4xf32>) -> (i32, f32)
func.func @f(%a: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, %x: i1, %y: f32 {t.a = 1 : i8})
    -> (f32 {t.r}) attributes {test.a = affine_map<(d0) -> (d0)>} {
  %c = arith.constant 4 : i32
  %d = arith.constant 4 : index
  %e = arith.constant 1.0 : f32
  %t = arith.constant true
  %v = arith.constant dense<1.0> : vector<4xf32>
  %m = memref.alloc() : memref<4xf32>
  %r = memref.alloc(%d) {alignment = 64 : i64} : memref<?xf32>
  %u:2 = func.call @declared(%c, %m) : (i32, memref<4xf32>) -> (i32, f32)
  %z = arith.addi %c, %u#0 overflow<nsw, nuw> : i32
  %w = arith.addf %y, %u#1 fastmath<nnan,ninf> : f32
  %l = memref.load %m[%d] : memref<4xf32>
  memref.store %l, %m[%d] {nontemporal = true} : memref<4xf32>
  cf.cond_br %x, ^bb1(%y : f32), ^bb1(%w : f32)
^bb1(%p: f32):
  scf.if %x { %q = arith.cmpi slt, %c, %c : i32 }
  %i = scf.if %x -> f32 { scf.yield %p : f32 } else { scf.yield %w : f32 }
  %o = scf.for %k = %d to %d step %d iter_args(%s = %i) -> (f32) {
    %n = arith.mulf %s, %s : f32
    func.call @g() : () -> ()
    scf.yield %n : f32
  } {tag}
  %sv = memref.subview %r[0][4][%d] : memref<?xf32> to memref<4xf32, strided<[?]>>
  %tr = vector.transfer_read %m[%d], %y {in_bounds = [true]} : memref<4xf32>, vector<4xf32>
  %fm = vector.fma %tr, %v, %tr : vector<4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]} ins(%m : memref<4xf32>) outs(%m : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return %o : f32
}
func.func @g() { return }
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64}
llvm.func @h(%p: !llvm.ptr) -> !llvm.struct<(i32, ptr)> {
  %0 = llvm.mlir.undef : !llvm.struct<(i32, ptr)>
  llvm.return %0 : !llvm.struct<(i32, ptr)>
}
"""

FORMS = {
    "custom": ({}, []),
    "generic": ({"generic": True}, ["--mlir-print-op-generic"]),
    "locations": ({"debuginfo": True}, ["--mlir-print-debuginfo"]),
    "generic with locations": (
        {"generic": True, "debuginfo": True},
        ["--mlir-print-op-generic", "--mlir-print-debuginfo"],
    ),
}


def upstream(mlir_opt, text, options):
    command = [mlir_opt, "--allow-unregistered-dialect", *options]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.removesuffix("\n").removesuffix("\n")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [BUILTIN, FUNCTIONS], ids=["builtin", "functions"])
def test_output_is_mlir_opts(mlir_opt, text, form):
    ours, theirs = FORMS[form]
    module = parse_module(text, "<stdin>", allow_unregistered=True)
    assert print_op(module, **ours) == upstream(mlir_opt, text, theirs)


@pytest.mark.parametrize("form", FORMS)
def test_mlir_opts_output_reads_and_prints_unchanged(mlir_opt, form):
    ours, theirs = FORMS[form]
    text = upstream(mlir_opt, FUNCTIONS, theirs)
    assert print_op(parse_module(text, "<stdin>"), **ours) == text


REJECTED = [
    '"t.a"(%x) : (i32) -> ()',
    '%x = "t.a"() : () -> ()',
    '%x = "t.a"() : () -> i32 "t.b"(%x) : (f32) -> ()',
    '%x = "t.a"() : () -> i32 %x = "t.a"() : () -> i32',
    '"t.a"() {a = 1, a = 2} : () -> ()',
    '"t.a"() {a = 256 : i8} : () -> ()',
    '"t.a"() {a = 1.0 : i8} : () -> ()',
    '"t.a"() {a = #undefined} : () -> ()',
    '"t.a"() {a = dense<[1, 2]> : tensor<3xi8>} : () -> ()',
    '"t.a"() {a = dense<[[1], [2, 3]]> : tensor<2x1xi8>} : () -> ()',
    '"t.a"() {a = affine_map<(d0) -> (d1)>} : () -> ()',
    '"t.a"() {a = affine_map<(d0, d1) -> (d0 * d1)>} : () -> ()',
    '"t.a"() {a = memref<4xf32, strided<[1, 2]>>} : () -> ()',
    '"t.a"() {a = vector<0xf32>} : () -> ()',
    '"t.a"() ({ "t.b"()[^nope] : () -> () }) : () -> ()',
    '"t.a"() ({ ^x: "t.b"() : () -> () ^x: "t.b"() : () -> () }) : () -> ()',
    '"t.a"() ({',
    '"t.a"() : () -> () loc(#undefined)',
    "func.func @f(%a: i32) { %0 = arith.addi %a : i32 return }",
    "arith.nothing",
]


@pytest.mark.parametrize("text", REJECTED)
def test_both_reject(mlir_opt, text):
    from nnc.ir.diagnostics import ParseError

    with pytest.raises(ParseError):
        parse_module(text, "<stdin>", allow_unregistered=True)
    command = [mlir_opt, "--allow-unregistered-dialect"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert run.returncode != 0

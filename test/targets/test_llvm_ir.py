"""The llvm dialect as LLVM IR: valid for LLVM, and meaning what the op says."""

import ctypes
import re

import numpy as np
import pytest
from nnc.dialects.marks import SCALAR_LOOPS
from nnc.ir.diagnostics import NncError
from nnc.ir.dialect import registry
from nnc.ir.syntax.parser import parse_module
from nnc.targets.base import host, target
from nnc.targets.llvm.constants import float_text
from nnc.targets.llvm.instructions import EMITTERS
from nnc.targets.llvm.ir import _INLINE, UNTRANSLATED, llvm_ir
from nnc.targets.llvm.native import emit_object, load_object, parse_and_verify


def test_every_op_has_a_translation():
    parse_module("")
    translated = {*EMITTERS, *_INLINE}
    outside = {"llvm.func", "llvm.mlir.global"}
    missing = [
        name
        for name, cls in registry.dialect("llvm").ops.items()
        if cls not in translated
        and name not in outside | UNTRANSLATED
        and not name.startswith("llvm.intr.")  # see test/dialects/test_llvm_intrinsics.py
    ]
    assert not missing
    assert registry.dialect("llvm").ops.keys() >= UNTRANSLATED


EVERYTHING = """
llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.func @free(!llvm.ptr)
llvm.mlir.global internal constant @s("a\\22b\\00") {addr_space = 0 : i32, alignment = 64 : i64}
llvm.mlir.global internal @g(dense<[1.0, 2.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
llvm.mlir.global internal thread_local @t(0 : i32) : i32
llvm.mlir.global external @gi() : i32 {
  %0 = llvm.mlir.constant(1 : i32) : i32
  llvm.return %0 : i32
}
llvm.func internal @f(%p: !llvm.ptr {llvm.noalias, llvm.nocapture, llvm.align = 16 : i64}, %x: f32,
    %v: vector<4xf32>, %i: i64) -> f32 attributes {passthrough = ["cold", ["frame-pointer", "all"]]} {
  %a = llvm.add %i, %i overflow<nsw, nuw> : i64
  %b = llvm.sdiv exact %a, %i : i64
  %b2 = llvm.or disjoint %a, %i : i64
  %c = llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<contract, reassoc>} : f32
  %c2 = llvm.fneg %x {fastmathFlags = #llvm.fastmath<fast>} : f32
  %d = llvm.icmp "slt" %a, %b : i64
  %e = llvm.fcmp "_true" %c, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32
  %g = llvm.getelementptr inbounds|nuw %p[%i, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %l = llvm.load volatile %g {alignment = 4 : i64, nontemporal} : !llvm.ptr -> f32
  %l2 = llvm.load %g atomic syncscope("singlethread") acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.store %l, %g {alignment = 4 : i64, nontemporal} : f32, !llvm.ptr
  llvm.store %l2, %g atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  %al = llvm.alloca %i x i32 {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %un = llvm.mlir.undef : !llvm.struct<(ptr, array<3 x i64>, struct<packed (i8, i32)>)>
  %ex = llvm.extractvalue %un[1, 2] : !llvm.struct<(ptr, array<3 x i64>, struct<packed (i8, i32)>)>
  %in = llvm.insertvalue %ex, %un[1, 2] : !llvm.struct<(ptr, array<3 x i64>, struct<packed (i8, i32)>)>
  %ee = llvm.extractelement %v[%i : i64] : vector<4xf32>
  %ie = llvm.insertelement %x, %v[%i : i64] : vector<4xf32>
  %sv = llvm.shufflevector %v, %v [0, 1, -1, 3, 4] : vector<4xf32>
  %se = llvm.select %d, %x, %c : i1, f32
  %z2 = llvm.zext nneg %l2 : i32 to i64
  %z3 = llvm.trunc %i overflow<nsw> : i64 to i32
  %fm = llvm.intr.fma(%v, %v, %v) {fastmathFlags = #llvm.fastmath<contract>} : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %rd = "llvm.intr.vector.reduce.fadd"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<4xf32>) -> f32
  %m = llvm.mlir.constant(dense<[true, false, true, true]> : vector<4xi1>) : vector<4xi1>
  %m2 = llvm.mlir.constant(dense<[1, 2, 3, 4]> : vector<4xi32>) : vector<4xi32>
  %ri = "llvm.intr.vector.reduce.add"(%m2) : (vector<4xi32>) -> i32
  %ml = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.store %ml, %p, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  %ps = llvm.getelementptr %p[%m2] : (!llvm.ptr, vector<4xi32>) -> vector<4x!llvm.ptr>, f32
  %mg = llvm.intr.masked.gather %ps, %m, %v {alignment = 4 : i32} : (vector<4x!llvm.ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.scatter %mg, %ps, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr>
  "llvm.intr.memcpy"(%p, %g, %i) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %z8 = llvm.trunc %i : i64 to i8
  "llvm.intr.memset"(%p, %z8, %i) <{isVolatile = true}> : (!llvm.ptr, i8, i64) -> ()
  %ca = llvm.call @malloc(%i) : (i64) -> !llvm.ptr
  %cp = llvm.call %ca(%i) : !llvm.ptr, (i64) -> i64
  %st = llvm.mlir.addressof @s : !llvm.ptr
  %cv = llvm.call @printf(%st, %i) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i64) -> i32
  llvm.call tail @free(%ca) : (!llvm.ptr) -> ()
  %at = llvm.atomicrmw _and %p, %i monotonic {alignment = 8 : i64} : !llvm.ptr, i64
  %cx = llvm.cmpxchg weak %p, %i, %i acq_rel monotonic : !llvm.ptr, i64
  llvm.fence syncscope("singlethread") seq_cst
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  llvm.intr.assume %d : i1
  %fz = llvm.freeze %x : f32
  %abs = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (i64) -> i64
  %ctlz = "llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i64) -> i64
  %pw = llvm.intr.powi(%x, %l2) : (f32, i32) -> f32
  %cl = "llvm.intr.is.fpclass"(%x) <{bit = 3 : i32}> : (f32) -> i1
  %ze = llvm.mlir.zero : !llvm.ptr
  %cpi = llvm.ptrtoint %p : !llvm.ptr to i64
  llvm.switch %i : i64, ^bb3(%i : i64) [
    1: ^bb1,
    -2: ^bb2
  ]
^bb1:
  llvm.cond_br %d weights([3, 4]), ^bb3(%i : i64), ^bb2
^bb2:
  llvm.br ^bb3(%a : i64)
^bb3(%q: i64):
  llvm.return %x : f32
}
llvm.func @v() {
  llvm.unreachable
}
"""


def test_llvm_accepts_all_kinds_of_ops():
    module = parse_module(EVERYTHING)
    module.verify()
    text = llvm_ir(module)
    parse_and_verify(text)
    for expected in (
        "define internal float @f(ptr align 16 noalias captures(none) %0, float %1",
        '#0 cold "frame-pointer"="all" {',
        '@s = internal constant [4 x i8] c"a\\22b\\00", align 64',
        "add nuw nsw i64",
        "load volatile float, ptr %11, align 4, !nontemporal !0",
        'load atomic i32, ptr %11 syncscope("singlethread") acquire, align 4',
        "call i32 (ptr, ...) @printf(ptr @s, i64 %3)",
        "!prof",
    ):
        assert expected in text, expected


MORE = """
llvm.mlir.global external hidden unnamed_addr constant @g(1 : i32) {externally_initialized} : i32
llvm.func @variadic(i32, ...)
llvm.func hidden @f(%p: !llvm.ptr, %x: i32, %n: i64, %c: i1) -> i32 attributes {
    target_cpu = "x86-64", target_features = #llvm.target_features<["+avx"]>, no_unwind,
    inline_hint, no_infs_fp_math = true, frame_pointer = #llvm.framePointerKind<"non-leaf">,
    uwtable_kind = #llvm.uwtableKind<sync>, alignment = 32 : i64} {
  %a = llvm.inline_asm has_side_effects asm_dialect = intel "mov $0, $1", "=r,r" %x : (i32) -> i32
  %b = llvm.call_intrinsic "llvm.bswap.i32"(%a) : (i32) -> i32
  llvm.call @variadic(%b, %x) vararg(!llvm.func<void (i32, ...)>) {no_unwind, will_return} : (i32, i32) -> ()
  %v = llvm.va_arg %p : (!llvm.ptr) -> i32
  %s = llvm.alloca inalloca %n x i32 : (i64) -> !llvm.ptr
  llvm.br ^bb1
^bb1:
  llvm.cond_br %c, ^bb1, ^bb2 {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>,
    vectorize = <disable = false, width = 8 : i32>, mustProgress = true>}
^bb2:
  llvm.return %v : i32
}
"""


def test_functions_and_calls_with_more_attributes():
    module = parse_module(MORE)
    module.verify()
    text = llvm_ir(module)
    parse_and_verify(text)
    for expected in (
        "@g = hidden unnamed_addr externally_initialized constant i32 1",
        "define hidden i32 @f(",
        '"target-cpu"="x86-64"',
        '"target-features"="+avx"',
        "uwtable(sync) ",
        'call i32 asm sideeffect inteldialect "mov $0, $1", "=r,r"(i32 %1)',
        "call i32 @llvm.bswap.i32(i32 %4)",
        "call void (i32, ...) @variadic(i32 %5, i32 %1) nounwind willreturn",
        "va_arg ptr %0, i32",
        "alloca inalloca i32, i64 %2",
        '!{!"llvm.loop.unroll.disable"}',
        '!{!"llvm.loop.vectorize.enable", i1 true}',
        '!{!"llvm.loop.vectorize.width", i32 8}',
        '!{!"llvm.loop.mustprogress"}',
    ):
        assert expected in text, expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("llvm.func @f() attributes {convergent}", "'convergent' has no translation"),
        ('llvm.mlir.global external @g() {section = "x"} : i32', "'section' has no translation"),
        (
            "llvm.func @f() {\n  llvm.br ^bb1\n^bb1:\n  llvm.br ^bb1 {loop_annotation = "
            "#llvm.loop_annotation<licm = <disable = true>>}\n}",
            "'licm.disable' has no translation",
        ),
        (
            "llvm.func @f() {\n  llvm.br ^bb1\n^bb1:\n  llvm.br ^bb1 {loop_annotation = "
            "#llvm.loop_annotation<isVectorized = true>}\n}",
            "'isVectorized' has no translation",
        ),
    ],
)
def test_what_has_no_translation_is_refused(text, message):
    module = parse_module(text, "x.mlir")
    module.verify()
    with pytest.raises(NncError, match=message) as caught:
        llvm_ir(module)
    assert "x.mlir:" in str(caught.value)


LLVM_NAMES = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}


@pytest.mark.parametrize("kind", LLVM_NAMES)
@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, -2.75, float("inf"), float("nan"), 1e-5])
def test_float_constants(kind, value):
    import ml_dtypes

    bits = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}[kind]
    text = f"""
define i64 @f() {{
  %b = bitcast {LLVM_NAMES[kind]} {_constant(value, kind)} to {bits}
  %r = zext {bits} %b to {"i128" if bits == "i64" else "i64"}
  ret i64 {"0" if bits == "i64" else "%r"}
}}"""
    if kind == "f64":
        text = text.replace("  %r = zext i64 %b to i128\n", "").replace("ret i64 0", "ret i64 %b")
    code = load_object(emit_object(text, host()), ("f",))
    got = ctypes.CFUNCTYPE(ctypes.c_uint64)(code["f"])()
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}[
        kind
    ]
    want = np.array(value, dtype)
    found = np.array(got, np.uint64).astype(f"u{want.itemsize}").view(dtype)
    np.testing.assert_array_equal(found.astype(np.float64), want.astype(np.float64))
    assert np.signbit(found) == np.signbit(want) or np.isnan(value)


def _constant(value, kind):
    from nnc.ir.types import FloatType

    return float_text(FloatType(kind).round(value), kind)


@pytest.mark.parametrize("count", [3, 1000])
def test_global_arrays(count):
    values = np.random.default_rng(0).standard_normal(count).astype(np.float32)
    data = values.tobytes().hex().upper()
    module = parse_module(f"""
llvm.mlir.global internal constant @g(dense<"0x{data}"> : tensor<{count}xf32>) : !llvm.array<{count} x f32>
llvm.func @f(%i: i64) -> f32 {{
  %p = llvm.mlir.addressof @g : !llvm.ptr
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.load %q {{alignment = 4 : i64}} : !llvm.ptr -> f32
  llvm.return %x : f32
}}""")
    code = load_object(emit_object(llvm_ir(module), host()), ("f",))
    f = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int64)(code["f"])
    np.testing.assert_array_equal([f(i) for i in range(count)], values)


def test_one_block_cannot_be_reached_twice_from_another_with_different_values():
    module = parse_module(
        """
llvm.func @f(%c: i1, %x: i64, %y: i64) -> i64 {
  llvm.cond_br %c, ^bb1(%x : i64), ^bb1(%y : i64)
^bb1(%r: i64):
  llvm.return %r : i64
}""",
        "x.mlir",
    )
    with pytest.raises(NncError, match="put a block between") as caught:
        llvm_ir(module)
    assert "x.mlir:3:" in str(caught.value)


def test_other_dialects_are_an_error():
    module = parse_module("func.func @f() {\n  return\n}", "x.mlir")
    with pytest.raises(NncError, match="not of the llvm dialect"):
        llvm_ir(module)


def test_faults_of_llvm_are_errors():
    with pytest.raises(NncError, match="LLVM: the generated IR is not valid"):
        parse_and_verify("define i32 @f() { ret i64 0 }")
    with pytest.raises(NncError, match="cannot be linked"):
        text = "declare void @nowhere_to_be_found()\ndefine void @f() { call void @nowhere_to_be_found() ret void }"
        load_object(emit_object(text, host()), ("f",))
    with pytest.raises(NncError, match="0 to 3"):
        emit_object("define void @f() { ret void }", host(), opt_level=4)


def test_code_for_another_processor():
    text = "define <16 x float> @f(<16 x float> %x) { %y = fadd <16 x float> %x, %x ret <16 x float> %y }"
    assert "zmm" in target("x86-64-v4").assembly_of(text)
    assert "zmm" not in target("x86-64-v3").assembly_of(text)


def test_scalar_loops_are_found():
    head = "llvm.func @f(%p: !llvm.ptr, %n: i64) {\n  llvm.br ^bb1\n^bb1:\n"
    tail = "  llvm.br ^bb1\n}"
    scalar = "  %x = llvm.load %p : !llvm.ptr -> f32\n"
    vector = "  %v = llvm.load %p : !llvm.ptr -> vector<4xf32>\n"
    stride = "  %m = llvm.mul %n, %n : i64\n  %q = llvm.getelementptr %p[%m] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
    strided = stride + "  %x = llvm.load %q : !llvm.ptr -> f32\n"
    assert SCALAR_LOOPS in llvm_ir(parse_module(head + scalar + tail))
    assert SCALAR_LOOPS not in llvm_ir(parse_module(head + scalar + vector + tail))
    assert SCALAR_LOOPS not in llvm_ir(parse_module(head + strided + tail))
    assert SCALAR_LOOPS not in llvm_ir(parse_module(head + tail))


def test_only_scalar_loops_are_vectorized():
    """Of two functions with the same loop, the one that holds a vector too is cleaned up only."""
    loop = """
      %c0 = llvm.mlir.constant(0 : i64) : i64
      %c1 = llvm.mlir.constant(1 : i64) : i64
      {}
      llvm.br ^bb1(%c0 : i64)
    ^bb1(%i: i64):
      %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %q : !llvm.ptr -> f32
      %y = llvm.fadd %x, %x : f32
      llvm.store %y, %q : f32, !llvm.ptr
      %j = llvm.add %i, %c1 : i64
      %more = llvm.icmp "slt" %j, %n : i64
      llvm.cond_br %more, ^bb1(%j : i64), ^bb2
    ^bb2:
      llvm.return
    }}
    """
    vector = (
        "%v = llvm.load %p : !llvm.ptr -> vector<2xi8>\nllvm.store %v, %p : vector<2xi8>, !llvm.ptr"
    )
    text = f"llvm.func @scalar(%p: !llvm.ptr, %n: i64) {{ {loop.format('')}"
    text += f"llvm.func @mixed(%p: !llvm.ptr, %n: i64) {{ {loop.format(vector)}"
    assembly = target("x86-64-v3").assembly_of(llvm_ir(parse_module(text)))
    scalar, mixed = assembly.split("mixed:")
    assert re.search(r"vaddps\s.*ymm", scalar)
    assert not re.search(r"vaddps\s", mixed)


def test_code_is_unloaded():
    """Loading the same names again and again neither clashes nor keeps the old code."""
    for n in range(3):
        code = load_object(emit_object(f"define i32 @f() {{ ret i32 {n} }}", host()), ("f",))
        assert ctypes.CFUNCTYPE(ctypes.c_int32)(code["f"])() == n

"""memref as machine code against the interpreter."""

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError

from .native import call_native, check, lowered

VIEWS = {
    "subview": """
        %v = memref.subview %m[1, 2] [3, 4] [2, 1] :
          memref<8x8xf32> to memref<3x4xf32, strided<[16, 1], offset: 10>>
        %x = memref.load %v[%c1, %c2] : memref<3x4xf32, strided<[16, 1], offset: 10>>""",
    "subview of unknown offset and size": """
        %v = memref.subview %m[%c1, %n] [%n, 4] [%c2, 1] :
          memref<8x8xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
        %x = memref.load %v[%c2, %c1] : memref<?x4xf32, strided<[?, 1], offset: ?>>""",
    "rank-reducing subview": """
        %v = memref.subview %m[3, 0] [1, 8] [1, 1] :
          memref<8x8xf32> to memref<8xf32, strided<[1], offset: 24>>
        %x = memref.load %v[%n] : memref<8xf32, strided<[1], offset: 24>>""",
    "subview of a subview": """
        %u = memref.subview %m[2, 2] [6, 6] [1, 1] :
          memref<8x8xf32> to memref<6x6xf32, strided<[8, 1], offset: 18>>
        %v = memref.subview %u[%c1, 1] [4, 4] [1, 1] :
          memref<6x6xf32, strided<[8, 1], offset: 18>> to memref<4x4xf32, strided<[8, 1], offset: ?>>
        %x = memref.load %v[%c2, %n] : memref<4x4xf32, strided<[8, 1], offset: ?>>""",
    "expand_shape": """
        %v = memref.expand_shape %m [[0, 1], [2]] output_shape [2, 4, 8] :
          memref<8x8xf32> into memref<2x4x8xf32>
        %x = memref.load %v[%c1, %c2, %n] : memref<2x4x8xf32>""",
    "collapse_shape": """
        %v = memref.collapse_shape %m [[0, 1]] : memref<8x8xf32> into memref<64xf32>
        %x = memref.load %v[%c17] : memref<64xf32>""",
    "transpose": """
        %v = memref.transpose %m (i, j) -> (j, i) :
          memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
        %x = memref.load %v[%n, %c1] : memref<8x8xf32, strided<[1, 8]>>""",
    "reinterpret_cast": """
        %v = memref.reinterpret_cast %m to offset: [5], sizes: [3, %c2], strides: [%n, 1] :
          memref<8x8xf32> to memref<3x?xf32, strided<[?, 1], offset: 5>>
        %x = memref.load %v[%c2, %c1] : memref<3x?xf32, strided<[?, 1], offset: 5>>""",
    "cast": """
        %v = memref.cast %m : memref<8x8xf32> to memref<?x8xf32>
        %d = memref.dim %v, %c0 : memref<?x8xf32>
        %last = arith.subi %d, %c1 : index
        %x = memref.load %v[%last, %n] : memref<?x8xf32>""",
    "reshape": """
        %s = memref.alloca() : memref<2xindex>
        %c4 = arith.constant 4 : index
        %c16 = arith.constant 16 : index
        memref.store %c4, %s[%c0] : memref<2xindex>
        memref.store %c16, %s[%c1] : memref<2xindex>
        %v = memref.reshape %m(%s) : (memref<8x8xf32>, memref<2xindex>) -> memref<?x?xf32>
        %x = memref.load %v[%c2, %n] : memref<?x?xf32>""",
    "view": """
        %bytes = memref.alloc() : memref<256xi8>
        %v = memref.view %bytes[%c16][%n] : memref<256xi8> to memref<?x4xf32>
        %e = memref.load %m[%n, %n] : memref<8x8xf32>
        memref.store %e, %v[%c2, %c1] : memref<?x4xf32>
        %x = memref.load %v[%c2, %c1] : memref<?x4xf32>
        memref.dealloc %bytes : memref<256xi8>""",
    "heap and copy": """
        %h = memref.alloc(%n) : memref<?x8xf32>
        %u = memref.subview %m[2, 0] [%n, 8] [1, 1] :
          memref<8x8xf32> to memref<?x8xf32, strided<[8, 1], offset: 16>>
        memref.copy %u, %h : memref<?x8xf32, strided<[8, 1], offset: 16>> to memref<?x8xf32>
        %x = memref.load %h[%c1, %c2] : memref<?x8xf32>
        memref.dealloc %h : memref<?x8xf32>""",
    "strided copy": """
        %h = memref.alloc() : memref<4x4xf32>
        %u = memref.subview %m[1, 1] [4, 4] [1, 1] :
          memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
        memref.copy %u, %h : memref<4x4xf32, strided<[8, 1], offset: 9>> to memref<4x4xf32>
        %x = memref.load %h[%n, %c2] : memref<4x4xf32>
        memref.dealloc %h : memref<4x4xf32>""",
    "dim of unknown number": """
        %h = memref.alloc(%c17) : memref<2x?x4xf32>
        %d = memref.dim %h, %c1 : memref<2x?x4xf32>
        %y = arith.index_cast %d : index to i32
        %x = arith.sitofp %y : i32 to f32
        memref.dealloc %h : memref<2x?x4xf32>""",
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    text = f"""
func.func @f(%m: memref<8x8xf32>, %n: index, %o: memref<1xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  {VIEWS[name].replace("%c16 = arith.constant 16 : index", "")}
  memref.store %x, %o[%c0] : memref<1xf32>
  return
}}"""
    m = np.arange(64, dtype=np.float32).reshape(8, 8)
    (_, _, out) = check(text, m, 3, np.zeros(1, np.float32))
    assert np.isfinite(out).all()


def test_strided_metadata():
    text = """
func.func @f(%m: memref<8x8xf32>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %u = memref.subview %m[2, 3] [4, 4] [1, 1] :
    memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 19>>
  %base, %at, %sizes:2, %strides:2 = memref.extract_strided_metadata %u :
    memref<4x4xf32, strided<[8, 1], offset: 19>>
    -> memref<f32>, index, index, index, index, index
  %v = memref.reinterpret_cast %base to offset: [%at], sizes: [2], strides: [%strides#0] :
    memref<f32> to memref<2xf32, strided<[?], offset: ?>>
  %x = memref.load %v[%c1] : memref<2xf32, strided<[?], offset: ?>>
  memref.store %x, %o[%c0] : memref<1xf32>
  return
}"""
    m, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros(1, np.float32)
    call_native(text, [m, out])
    assert out[0] == m[2:, 3:][1, 0]


def test_arguments_of_unknown_strides():
    text = """
func.func @f(%m: memref<?x?xf32, strided<[?, ?], offset: ?>>, %o: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i, %c1] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    memref.store %x, %o[%i] : memref<?xf32>
  }
  return
}"""
    m = np.arange(48, dtype=np.float32).reshape(6, 8)[1:6:2, ::3]
    out = np.zeros(3, np.float32)
    call_native(text, [m, out])
    np.testing.assert_array_equal(out, m[:, 1])


GLOBALS = """
memref.global "private" constant @table : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
memref.global "private" constant @flags : memref<3xi1> = dense<[true, false, true]>
memref.global "private" constant @same : memref<100xi32> = dense<7>
memref.global "private" @scratch : memref<4xf32> = uninitialized
func.func @f(%i: index, %o: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = memref.get_global @table : memref<2x3xf32>
  %x = memref.load %t[%c1, %i] : memref<2x3xf32>
  %s = memref.get_global @scratch : memref<4xf32>
  memref.store %x, %s[%i] : memref<4xf32>
  %y = memref.load %s[%i] : memref<4xf32>
  memref.store %y, %o[%c0] : memref<3xf32>
  %g = memref.get_global @flags : memref<3xi1>
  %b = memref.load %g[%i] : memref<3xi1>
  %z = arith.uitofp %b : i1 to f32
  memref.store %z, %o[%c1] : memref<3xf32>
  %e = memref.get_global @same : memref<100xi32>
  %k = memref.load %e[%i] : memref<100xi32>
  %w = arith.sitofp %k : i32 to f32
  memref.store %w, %o[%c2] : memref<3xf32>
  return
}"""


@pytest.mark.parametrize("i", [0, 1, 2])
def test_globals(i):
    (_, out) = check(GLOBALS, i, np.zeros(3, np.float32))
    np.testing.assert_array_equal(out, [4 + i, [1, 0, 1][i], 7])


def test_booleans_take_a_byte():
    text = """
func.func @f(%a: memref<40xi1>, %o: memref<40xi1>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %v = vector.load %a[%c8] : memref<40xi1>, vector<32xi1>
  %ones = arith.constant dense<true> : vector<32xi1>
  %w = arith.xori %v, %ones : vector<32xi1>
  vector.store %w, %o[%c0] : memref<40xi1>, vector<32xi1>
  %x = memref.load %a[%c0] : memref<40xi1>
  memref.store %x, %o[%c32] : memref<40xi1>
  return
}"""
    a = np.random.default_rng(0).integers(0, 2, 40).astype(np.bool_)
    check(text, a, np.zeros(40, np.bool_))


def test_negative_offsets_keep_away_from_inbounds():
    """A padded window starts before the buffer; only the last sum is inside."""
    text = """
func.func @f(%m: memref<8xf32>, %o: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c1 to %n step %c1 {
    %a = arith.subi %i, %c3 : index
    %b = arith.addi %a, %c1 : index
    %c = arith.maxsi %b, %c0 : index
    %x = memref.load %m[%c] : memref<8xf32>
    memref.store %x, %o[%i] : memref<8xf32>
  }
  return
}"""
    check(text, np.arange(8, dtype=np.float32), np.zeros(8, np.float32), 8)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("%v = memref.cast %u : memref<4xf32> to memref<*xf32>", "unranked"),
        ('"test.op"() : () -> ()', "has no lowering to the llvm dialect"),
    ],
)
def test_what_cannot_be_lowered_says_so(body, words):
    from nnc.ir.syntax.parser import parse_module
    from nnc.lowering.to_llvm import LowerToLlvm

    text = f"func.func @f(%u: memref<4xf32>) {{\n  {body}\n  return\n}}"
    module = parse_module(text, "x.mlir", allow_unregistered=True)
    with pytest.raises(NncError, match=words) as caught:
        LowerToLlvm().run(module, None)
    assert "x.mlir:2:" in str(caught.value)


def test_kernel_arguments_do_not_alias():
    module = lowered("""
func.func private @k(%a: memref<4xf32>, %b: memref<4xf32> {nn.in_place}) attributes {nn.kernel} {
  return
}""")
    text = str(module)
    assert "%arg0: !llvm.ptr {llvm.noalias, llvm.noundef}" in text
    assert "%arg1: !llvm.ptr {llvm.noundef}" in text

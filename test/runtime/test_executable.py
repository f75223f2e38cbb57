"""Executables: calling compiled models with NumPy arrays, and what is wrong with a call."""

import threading

import ml_dtypes
import nnc
import numpy as np
import pytest
from nnc.driver.program import compile_module
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.runtime.memory import aligned_buffer

SCALE = """
module attributes {nn.weights = {w = {offset = 64 : i64, data = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>}}} {
  func.func private @scale(%x: memref<?x3xf32>, %w: memref<3xf32>, %y: memref<?x3xf32>) attributes {nn.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %n = memref.dim %x, %c0 : memref<?x3xf32>
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        %a = memref.load %x[%i, %j] : memref<?x3xf32>
        %b = memref.load %w[%j] : memref<3xf32>
        %c = arith.mulf %a, %b : f32
        memref.store %c, %y[%i, %j] : memref<?x3xf32>
      }
    }
    return
  }
  func.func @main(%x: memref<?x3xf32>, %flag: memref<i1>, %odd: memref<2xi1>, %a: memref<256xi8> {nn.arena},
      %weights: memref<128xi8> {nn.weights}) -> memref<?x3xf32> attributes {
      nn.entry, nn.input_names = ["x", "flag"], nn.output_names = ["y", "odd"],
      nn.inputs = [tensor<?x3xf32>, tensor<i1>], nn.outputs = [tensor<?x3xf32>, tensor<2xi1>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %n = memref.dim %x, %c0 : memref<?x3xf32>
    %w = memref.view %weights[%c64][] : memref<128xi8> to memref<3xf32>
    %y = memref.alloc(%n) : memref<?x3xf32>
    call @scale(%x, %w, %y) : (memref<?x3xf32>, memref<3xf32>, memref<?x3xf32>) -> ()
    %f = memref.load %flag[] : memref<i1>
    memref.store %f, %odd[%c1] : memref<2xi1>
    %t = arith.constant true
    memref.store %t, %odd[%c0] : memref<2xi1>
    return %y : memref<?x3xf32>
  }
}"""
W = np.array([10, 20, 30], np.float32)


def compiled(text, **options):
    module = parse_module(text)
    module.verify()
    LowerToLlvm().run(module, PassContext())
    return compile_module(module, **options)


@pytest.fixture(scope="module")
def scale():
    return compiled(SCALE)


def test_call_forms(scale):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for y, odd in (scale(x, True), scale(x=x, flag=np.bool_(True)), scale({"x": x, "flag": True})):
        np.testing.assert_array_equal(y, x * W)
        np.testing.assert_array_equal(odd, [True, True])
    outputs = scale.run({"flag": False, "x": x})
    assert list(outputs) == ["y", "odd"]
    np.testing.assert_array_equal(outputs["odd"], [True, False])
    assert scale.input_names == ["x", "flag"]
    assert [str(t) for t in scale.output_types] == ["tensor<?x3xf32>", "tensor<2xi1>"]


def test_arrays_of_any_layout(scale):
    x = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::2]
    np.testing.assert_array_equal(scale(x, False)[0], x * W)
    np.testing.assert_array_equal(scale(np.asfortranarray(x), False)[0], x * W)
    np.testing.assert_array_equal(scale(x.astype(">f4"), False)[0], x * W)


def test_an_empty_dimension(scale):
    y, _ = scale(np.zeros((0, 3), np.float32), True)
    assert y.shape == (0, 3)


def test_outputs_outlive_the_executable():
    executable = compiled(SCALE)
    x = np.ones((1000, 3), np.float32)
    y, _ = executable(x, True)
    part = y[1:]
    del executable, y
    np.testing.assert_array_equal(part, x[1:] * W)


X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("arrays", "named", "message"),
    [
        (
            (X.astype(np.float64), True),
            {},
            "input 'x': expected tensor<?x3xf32>, got float64 (2, 3)",
        ),
        ((X[0], True), {}, "input 'x': expected tensor<?x3xf32>, got float32 (3,)"),
        ((X[:, :2], True), {}, "input 'x': expected tensor<?x3xf32>, got float32 (2, 2)"),
        ((X, 1), {}, "input 'flag': expected tensor<i1>, got int64 ()"),
        ((X, None), {}, "input 'flag': expected tensor<i1>, got object ()"),
        ((X,), {}, "missing input 'flag'"),
        ((X, True, X), {}, "expected 2 inputs, got 3"),
        ((X,), {"y": True}, "there is no input 'y'; the inputs are 'x', 'flag'"),
        ((X,), {"x": X}, "input 'x' is given twice"),
    ],
)
def test_what_is_wrong_with_a_call(scale, arrays, named, message):
    with pytest.raises(NncError) as caught:
        scale(*arrays, **named)
    assert message in str(caught.value)


def test_calls_from_several_threads(scale):
    """Each call has an arena of its own."""
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal((500, 3), dtype=np.float32)
        for _ in range(50):
            if not np.array_equal(scale(x, True)[0], x * W):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("bf16", ml_dtypes.bfloat16), ("f16", np.float16), ("i8", np.int8), ("f64", np.float64)],
)
def test_element_types(kind, dtype):
    identity = compiled(f"""
func.func @main(%x: memref<?x{kind}>, %s: memref<4x{kind}>) -> memref<?x{kind}> attributes {{
    nn.entry, nn.inputs = [tensor<?x{kind}>], nn.outputs = [tensor<4x{kind}>, tensor<?x{kind}>]}} {{
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x{kind}>
  %y = memref.alloc(%n) : memref<?x{kind}>
  memref.copy %x, %y : memref<?x{kind}> to memref<?x{kind}>
  %v = vector.load %x[%c0] : memref<?x{kind}>, vector<4x{kind}>
  vector.store %v, %s[%c0] : memref<4x{kind}>, vector<4x{kind}>
  return %y : memref<?x{kind}>
}}""")
    x = np.arange(6).astype(dtype)
    first, everything = identity(x)
    assert first.dtype == everything.dtype == dtype
    np.testing.assert_array_equal(everything.astype(np.float64), np.arange(6))
    np.testing.assert_array_equal(first.astype(np.float64), np.arange(4))
    assert identity.input_names == ["input0"]
    assert identity.output_names == ["output0", "output1"]


def test_no_outputs_and_no_inputs():
    nothing = compiled("""
func.func @main() attributes {nn.entry, nn.inputs = [], nn.outputs = []} {
  return
}""")
    assert nothing() == ()


def test_weights_must_be_there():
    text = SCALE.replace(
        "offset = 64 : i64, data = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>",
        "offset = 120 : i64, data = dense<1.0> : tensor<3xf32>",
    )
    with pytest.raises(NncError, match="'w' ends at byte 132 of 128"):
        compiled(text)
    with pytest.raises(NncError, match="is missing"):
        compiled(SCALE.replace("nn.weights = {w", "other = {w"))
    with pytest.raises(NncError, match="no data for dense_resource<w>"):
        compiled(SCALE.replace("dense<[10.0, 20.0, 30.0]>", "dense_resource<w>"))


def test_a_module_without_an_entry():
    with pytest.raises(NncError, match="it has no entry function"):
        compiled("func.func @f() {\n  return\n}")


def test_threads(scale):
    scale.threads = 2
    assert scale.threads == 2
    with pytest.raises(NncError, match="at least 1"):
        scale.threads = 0
    scale.threads = 1


def test_memory_of_large_outputs_is_used_again_but_never_while_it_is_looked_at():
    text = """
    func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
      %y = nn.add %x, %x : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
      return %y : tensor<256x256xf32>
    }
    """
    executable = nnc.compile(nnc.parse(text))
    kept = []
    for i in range(12):
        x = np.full((256, 256), i, np.float32)
        y = executable(x)
        kept.append(y[3:5, ::2] if i % 2 else y)  # a view keeps its memory too
    for i, y in enumerate(kept):
        np.testing.assert_array_equal(y, np.full_like(y, 2 * i))
    assert len({y.ctypes.data for y in kept}) == len(kept)
    del kept, y
    first = executable(x).ctypes.data
    assert executable(x).ctypes.data == first
    result = executable(x)
    del executable
    np.testing.assert_array_equal(result, 2 * x)
    result[:] = 1  # it is the caller's


@pytest.mark.parametrize(
    ("size", "alignment"), [(100, 64), ((1 << 21) - 1, 64), (1 << 21, 1 << 21)]
)
def test_large_buffers_begin_with_a_large_page(size, alignment):
    several = [aligned_buffer(size) for _ in range(4)]
    assert all(buffer.size == size for buffer in several)
    assert all(buffer.ctypes.data % alignment == 0 for buffer in several)

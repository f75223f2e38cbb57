"""WebGPU: its text, what is refused, and every op and small networks, by `wgpu` on any driver.

The oracle is the interpreter. CI's driver is Mesa's for processors.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.syntax.parser import parse_type
from nnc.targets.webgpu import expressions
from nnc.targets.webgpu.language import FUNCTIONS
from nnc.tools.nnc import main
from onnx import TensorProto, helper

from ..conftest import skip_unless_ci
from ..lowering.nn_cases import one_op
from ..models.test_small_models import assert_close, expected
from ..models.test_small_models import inputs_of as model_inputs
from .device_checks import chain, check_divisions, check_indices, gathering, model_of, value
from .emulated import TOLERANCES
from .small_networks import NETWORKS, by_default
from .test_emulated_operators import check_together, remainders
from .test_metal import ADD_AND_SOFTMAX, CASES, check, parsed


@pytest.fixture
def adapter():
    """Skip where nothing runs WebGPU; fail in CI."""
    if find_spec("wgpu") is None:
        skip_unless_ci("wgpu is not installed")
    from nnc.targets.webgpu.running import wgpu

    try:
        wgpu.gpu.request_adapter_sync()
    except Exception:
        skip_unless_ci("no driver of Vulkan is installed")


def compiled(text: str, made, *options: str) -> int:
    """What the command line says of a program as a file for WebGPU."""
    source = made.with_suffix(".mlir")
    source.write_text(str(parsed(text)[0]))
    command = ["compile", str(source), "--target", "webgpu", "-o", str(made), "--quiet", *options]
    return main(command)


def wgsl(text: str, tmp_path) -> str:
    """The kernels of a program."""
    made = tmp_path / "m.wgsl"
    assert compiled(text, made) == 0
    return made.read_text()


# -- the text ----------------------------------------------------------------------------------


def test_bindings_are_buffers_and_then_numbers(tmp_path):
    text = wgsl(ADD_AND_SOFTMAX, tmp_path)
    kernels = re.split(r"\n@compute @workgroup_size\(\d+\)\n", text)
    assert len(kernels) > 1
    for above in kernels[:-1]:
        found = re.findall(r"@group\(0\) @binding\((\d+)\) var<([\w, ]+)> (\w+)", above)
        assert [int(n) for n, *_ in found] == list(range(len(found)))
        kinds = [kind for _, kind, _ in found]
        assert kinds[-1] == "uniform" and "storage, read_write" in kinds
        assert set(kinds[:-1]) <= {"storage, read", "storage, read_write"}
    names = re.findall(r"^(?:@group.*|var)<[\w, ]+> (\w+)", text, re.MULTILINE)
    assert len(set(names)) == len(names)


def test_functions_are_there_that_are_called(tmp_path):
    text = wgsl(ADD_AND_SOFTMAX, tmp_path)
    made = set(re.findall(r"^fn (\w+)", text, re.MULTILINE)) & set(FUNCTIONS)
    assert made and made == set(re.findall(r"(?<!fn )\b\w+(?=\()", text)) & set(FUNCTIONS)


def test_bytes_are_written_by_atomic_operations(tmp_path):
    """Of a word whose other bytes other threads write."""
    text = wgsl(
        """func.func @main(%x: tensor<5x7xf32>) -> (tensor<5x7xi8>) {
          %y = nn.cast %x : (tensor<5x7xf32>) -> tensor<5x7xi8>
          func.return %y : tensor<5x7xi8>
        }""",
        tmp_path,
    )
    (name,) = re.findall(r"(\w+): array<atomic<u32>>", text)
    written = [line for line in text.splitlines() if f"{name}[" in line]
    assert written
    assert all("atomicXor(&" in line for line in written)


# -- what is refused ---------------------------------------------------------------------------


def test_f64_is_refused_where_asked(tmp_path, capsys):
    text = """func.func @main(%x: tensor<8xf64>) -> (tensor<8xf64>) {
      %y = nn.relu %x : (tensor<8xf64>) -> tensor<8xf64>
      func.return %y : tensor<8xf64>
    }"""
    assert compiled(text, tmp_path / "m.wgsl", "--fallback", "error") == 1
    assert "'webgpu' has no f64" in capsys.readouterr().err


def test_a_chain_of_more_tensors_than_a_kernel_takes(tmp_path):
    """Is several kernels."""
    text = wgsl(sum_of(20), tmp_path)
    kernels = text.split("@compute")[:-1]
    assert len(kernels) > 1
    assert max(one.count("var<storage") for one in kernels) <= 8


def sum_of(count: int) -> str:
    """A sum of tensors."""
    given = ", ".join(f"%x{i}: tensor<64xf32>" for i in range(count))
    sums = [
        f"%s{i} = nn.add %{'s' if i > 1 else 'x'}{i - 1}, %x{i} : "
        "(tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>"
        for i in range(1, count)
    ]
    return f"""func.func @main({given}) -> (tensor<64xf32>) {{
      {chr(10).join(sums)}
      func.return %s{count - 1} : tensor<64xf32>
    }}"""


def test_more_buffers_than_a_kernel_may_take_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(expressions, "WGSL", replace(expressions.WGSL, most_parameters=2))
    assert compiled(ADD_AND_SOFTMAX, tmp_path / "m.wgsl") == 1
    assert "takes 3 buffers, and WGSL gives a kernel 2 at most" in capsys.readouterr().err


def test_threads_share_integer_powers(tmp_path):
    """Of rows that are no multiple of a vector, which no thread has for itself."""
    text = "nn.pow %x, %y : (tensor<15x7xi32>, tensor<7xi32>) -> tensor<15x7xi32>"
    found = wgsl(one_op(text, "%x: tensor<15x7xi32>", "%y: tensor<7xi32>"), tmp_path)
    assert int(re.findall(r"@workgroup_size\((\d+)\)", found)[0]) > 1


@pytest.mark.parametrize("name", ["m.so", "m.a"])
def test_a_library_is_refused(tmp_path, name, capsys):
    assert compiled(ADD_AND_SOFTMAX, tmp_path / name) == 1
    error = capsys.readouterr().err
    assert "needs WebGPU from the program around it" in error and error.count("\n") == 1


def test_running_needs_the_package(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("nnc.targets.webgpu.find_spec", lambda name: None)
    source = tmp_path / "m.mlir"
    source.write_text(str(parsed(ADD_AND_SOFTMAX)[0]))
    assert main(["run", str(source), "--target", "webgpu", "--random"]) == 1
    error = capsys.readouterr().err
    assert "'wgpu' is not installed" in error and error.count("\n") == 1


@pytest.mark.emulated
def test_no_adapter(tmp_path, adapter):
    path = tmp_path / "m.onnx"
    onnx.save(gathering(), path)
    command = [sys.executable, "-m", "nnc.tools.nnc", "run", str(path), "--target", "webgpu"]
    command += ["--random"]
    drivers = {"VK_ICD_FILENAMES": "/nowhere", "VK_DRIVER_FILES": "/nowhere", "NNC_CACHE": "0"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | drivers, check=False
    )
    assert done.returncode == 1
    assert "no WebGPU adapter is here" in done.stderr
    assert "Traceback" not in done.stderr


# -- what it computes --------------------------------------------------------------------------


@pytest.mark.emulated
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_operator(name, adapter):
    text, given, sizes = CASES[name]()
    check(text, "webgpu", given, sizes)


@pytest.mark.emulated
def test_f64_is_for_the_host(adapter):
    """Between kernels of the device."""
    text = """func.func @main(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>) {
      %s = nn.softmax %x {axis = 1 : i64} : (tensor<3x8xf32>) -> tensor<3x8xf32>
      %w = nn.cast %s : (tensor<3x8xf32>) -> tensor<3x8xf64>
      %c = nn.cumsum %w {axis = 1 : i64} : (tensor<3x8xf64>) -> tensor<3x8xf64>
      %y = nn.cast %c : (tensor<3x8xf64>) -> tensor<3x8xf32>
      func.return %y : tensor<3x8xf32>
    }"""
    check(text, "webgpu")


@pytest.mark.emulated
@pytest.mark.parametrize("element", ["f32", "f16", "i8", "i64"])
def test_remainders(element, adapter):
    """Small elements of rows that begin within a word."""
    check_together(remainders(element), "webgpu")


_EDGES = {
    "i8": [0, 1, -1, 2, 7, 8, 9, 100, -100, 127, -128],
    "ui8": [0, 1, 2, 7, 8, 9, 100, 127, 128, 200, 255],
    "i16": [0, 1, -1, 3, 15, 16, 17, 255, -256, 32767, -32768],
    "i32": [0, 1, -1, 31, 32, 33, 65535, -65536, 10**9, 2**31 - 1, -(2**31)],
    "ui32": [0, 1, 31, 32, 33, 65535, 65536, 10**9, 2**31 - 1, 2**31, 2**32 - 1],
    "i64": [0, 1, -1, 63, 64, 65, 2**32 - 1, -(2**32), 10**15 + 7, 2**63 - 1, -(2**63)],
}
"""Numbers of each type with all its edges."""
_BINARY = ("add", "sub", "mul", "div", "mod", "min", "max", "and", "xor")
_COMPARISONS = ("equal", "less", "less_equal", "greater")


def pairs(element: str) -> list[np.ndarray]:
    """Every pair of a type's numbers."""
    values = np.array(_EDGES[element], type_to_numpy(parse_type(element)))
    return [np.repeat(values, len(values)), np.tile(values, len(values))]


@pytest.mark.emulated
@pytest.mark.parametrize("element", _EDGES)
def test_integers(element, adapter):
    """Wrapping, division by zero and of the least number, shifts too far, comparisons."""
    x, y = given = pairs(element)
    type = f"tensor<{len(x)}x{element}>"
    truths = f"tensor<{len(x)}xi1>"
    functions = []
    for op in _BINARY:
        text = f"nn.{op} %x, %y : ({type}, {type}) -> {type}"
        some = given if op not in ("div", "mod") else divisible(x, y)
        functions.append((op, one_op(text, f"%x: {type}", f"%y: {type}"), some, ()))
    for op in _COMPARISONS:
        text = f"nn.{op} %x, %y : ({type}, {type}) -> {truths}"
        functions.append((op, one_op(text, f"%x: {type}", f"%y: {type}"), given, ()))
    for op in ("shift_left", "shift_right"):
        text = f"nn.{op} %x, %y : ({type}, {type}) -> {type}"
        some = [x, np.where((y < 0) | (y > 255), 3, y).astype(y.dtype)]
        functions.append((op, one_op(text, f"%x: {type}", f"%y: {type}"), some, ()))
    check_together(functions, "webgpu")


def divisible(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The pairs, without those whose quotient is not defined."""
    y = np.where(y == 0, 5, y).astype(y.dtype)
    if y.dtype.kind == "i":
        least = np.iinfo(y.dtype).min
        y = np.where((x == least) & (y == -1), 3, y).astype(y.dtype)
    return [x, y]


@pytest.mark.emulated
@pytest.mark.parametrize("element", ["i32", "i64"])
def test_integer_powers(element, adapter):
    """Of rows that are no multiple of a vector, with one row of exponents: as NumPy has them."""
    types = [f"tensor<15x7x{element}>", f"tensor<7x{element}>"]
    text = f"nn.pow %x, %y : ({types[0]}, {types[1]}) -> {types[0]}"
    module, _ = parsed(one_op(text, f"%x: {types[0]}", f"%y: {types[1]}"))
    rng, dtype = np.random.default_rng(0), type_to_numpy(parse_type(element))
    x = rng.integers(-9, 10, (15, 7)).astype(dtype)
    y = np.array([0, 1, 2, 3, 20, 31, 63], dtype)
    found = nnc.compile(module, target="webgpu", cache=False)(x, y)
    np.testing.assert_array_equal(found, x**y)


@pytest.mark.emulated
@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_padding_whose_place_is_a_remainder(mode, adapter):
    """A negative index, of which a remainder is taken, is a constant of the kernel."""
    pads = helper.make_tensor("p", TensorProto.INT64, [4], [2, 1, 3, 0])
    node = helper.make_node("Pad", ["x", "p"], ["y"], mode=mode)
    model = model_of([node], [value("x", ["n", "k"])], [value("y", ["m", "l"])], [pads])
    compiled = nnc.compile(model, target="webgpu", cache=False)
    for shape in ((7, 5), (4, 3)):
        x = np.random.default_rng(0).standard_normal(shape, np.float32)
        np.testing.assert_array_equal(compiled(x), np.pad(x, ((2, 3), (1, 0)), mode))


@pytest.mark.emulated
@pytest.mark.parametrize("element", [*_EDGES, "f32", "f16", "bf16", "i1"])
def test_casts(element, adapter):
    """From each type to each other one."""
    functions = []
    dtype = type_to_numpy(parse_type(element))
    if element in _EDGES:
        values = np.array(_EDGES[element], dtype)
    elif element == "i1":
        values = np.array([True, False, True])
    else:
        values = np.array([0.0, -0.0, 1.5, 2.5, 99.75, 100.0, 0.001, 6e-8, 3.0], dtype)
    type = f"tensor<{len(values)}x{element}>"
    for other in [*_EDGES, "f32", "f16", "bf16", "i1"]:
        made = f"tensor<{len(values)}x{other}>"
        text = f"nn.cast %x : ({type}) -> {made}"
        functions.append((f"to {other}", one_op(text, f"%x: {type}"), [values], ()))
    check_together(functions, "webgpu")


@pytest.mark.emulated
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
def test_comparisons_with_nan(element, adapter):
    """In vectors and alone. NaN is no zero, and neither equal to, above nor below any number."""
    values = [0.0, np.nan, 1.0, -np.inf, np.inf, np.nan, -0.0, 2.5]
    functions = []
    for count in (len(values), 64, 1):
        x = np.resize(np.roll(values, -1), count).astype(type_to_numpy(parse_type(element)))
        type, truths = (f"tensor<{count}x{e}>" for e in (element, "i1"))
        functions.append(
            ("cast", one_op(f"nn.cast %x : ({type}) -> {truths}", f"%x: {type}"), [x], ())
        )
        for op in _COMPARISONS:
            text = f"nn.{op} %x, %y : ({type}, {type}) -> {truths}"
            given = [x, np.roll(x, 1)]
            functions.append((op, one_op(text, f"%x: {type}", f"%y: {type}"), given, ()))
    check_together(functions, "webgpu")


@pytest.mark.emulated
@pytest.mark.parametrize("kind", by_default("squeezenet", "gpt2", "lstm", "detector"))
def test_network(kind, adapter):
    model = NETWORKS[kind]()
    inputs = model_inputs(model)
    found = nnc.compile(model, target="webgpu")(**inputs)
    assert_close(found, expected(model, inputs), TOLERANCES[kind])


@pytest.mark.emulated
def test_open_extents_one_after_the_other(adapter):
    """Larger and smaller ones by turns, one-element and empty ones."""
    there, here = (nnc.compile(chain(), target=name, cache=False) for name in ("webgpu", "host"))
    rng = np.random.default_rng(0)
    for n, k, m in ((3, 5, 7), (64, 65, 33), (1, 1, 1), (0, 4, 3), (130, 2, 257), (2, 5, 7)):
        x, w = (rng.standard_normal(shape, np.float32) for shape in ((n, k), (k, m)))
        np.testing.assert_allclose(there(x, w), here(x, w), rtol=1e-5, atol=1e-5)


@pytest.mark.emulated
def test_a_grid_larger_than_a_dispatch(adapter, monkeypatch):
    """In pieces, each of which knows where it begins."""
    from nnc.targets.webgpu import running

    monkeypatch.setattr(running, "_MOST_GROUPS", 3)
    check(ADD_AND_SOFTMAX, "webgpu", sizes=[77])


@pytest.mark.emulated
def test_indices_out_of_range(adapter):
    check_indices("webgpu")


@pytest.mark.emulated
def test_divisions_are_shared(adapter):
    check_divisions("webgpu")


@pytest.mark.emulated
def test_a_buffer_that_no_binding_takes(adapter, monkeypatch):
    from nnc.targets.webgpu import running

    limits = running._LIMITS | {"max-storage-buffer-binding-size": 1 << 10}
    monkeypatch.setattr(running, "_LIMITS", limits)
    with pytest.raises(
        NncError, match="is given a buffer of 3200 bytes, and WebGPU lets it see 1024"
    ):
        check(ADD_AND_SOFTMAX, "webgpu", sizes=[20])


@pytest.mark.emulated
def test_a_buffer_larger_than_any(adapter, monkeypatch):
    from nnc.targets.webgpu import running

    monkeypatch.setattr(running, "_LIMITS", running._LIMITS | {"max-buffer-size": 1 << 10})
    with pytest.raises(NncError, match="WebGPU gives buffers of 1024 bytes at most, not 3200"):
        check(ADD_AND_SOFTMAX, "webgpu", sizes=[20])


@pytest.mark.emulated
@pytest.mark.parametrize("where", ["start", "copy"])
def test_a_run_is_interrupted(where, adapter, monkeypatch):
    """Ctrl-C while Python code acts for the device: the run ends, without results; the next is right."""
    from nnc.targets.webgpu.running import WebGpuHost

    works, calls = getattr(WebGpuHost, where), []

    def interrupted(*arguments):
        calls.append(where)
        if len(calls) == 2:
            raise KeyboardInterrupt
        works(*arguments)

    monkeypatch.setattr(WebGpuHost, where, interrupted)
    compiled = nnc.compile(chain(), target="webgpu", cache=False)
    x, w = np.eye(5, dtype=np.float32), np.ones((5, 7), np.float32)
    with pytest.raises(KeyboardInterrupt):
        compiled(x, w)
    np.testing.assert_allclose(compiled(x, w), np.full((5, 7), 5 / 7), rtol=1e-6, atol=0)

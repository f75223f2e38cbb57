"""Weights that are made when a library is loaded: as small as the model, and the same numbers."""

import ctypes
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from nnc.targets.linker import find_toolchain
from onnx import TensorProto, helper, numpy_helper

from ..artifacts.test_artifacts import Library, Tensor, build, compile_to

pytestmark = pytest.mark.thorough

CHANNELS = 128
SHAPE = (1, CHANNELS, 12, 12)
PREPARED = 0.98 * 16 / 9
"""How much larger weights are at least: F(2x2) has 16 numbers for 9, F(4x4), which some
processors take, 36."""


def convolutions(channels: int, quantized: bool = False) -> onnx.ModelProto:
    """Two convolutions with 3x3 kernels, whose weights Winograd's way makes larger."""
    rng = np.random.default_rng(5)
    nodes, stored, name = [], [], "x"
    for i in range(2):
        kernel = rng.standard_normal((channels, channels, 3, 3)) / (3 * channels**0.5)
        weight = f"w{i}"
        if quantized:
            eighth = np.clip(np.round(kernel * 256), -127, 127).astype(np.int8)
            stored += [
                numpy_helper.from_array(eighth, f"q{i}"),
                numpy_helper.from_array(np.float32(1 / 256), f"scale{i}"),
            ]
            nodes.append(helper.make_node("DequantizeLinear", [f"q{i}", f"scale{i}"], [weight]))
        else:
            stored.append(numpy_helper.from_array(kernel.astype(np.float32), weight))
        nodes.append(helper.make_node("Conv", [name, weight], [f"c{i}"], pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"]))
        name = f"r{i}"
    shape = [1, channels, 12, 12]
    inputs, outputs = (
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape)] for n in ("x", name)
    )
    graph = helper.make_graph(nodes, "convolutions", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    """A folder with the libraries, an input, and what ONNX Runtime and packed weights give."""
    folder = tmp_path_factory.mktemp("prepared")
    model = folder / "model.onnx"
    onnx.save(convolutions(CHANNELS), model)
    for name, *options in (
        ("packed.so", "--weights", "packed"),
        ("original.so", "--weights", "original"),
        ("default.so",),
        ("beside.so", "--weights", "beside", "--weights", "original"),
        ("model.o", "--weights", "original"),
        ("default.o",),
    ):
        assert compile_to(model, *options, "-o", str(folder / name)) == 0
    x = np.random.default_rng(6).standard_normal(SHAPE).astype(np.float32)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": x})[0]
    packed = Library(folder / "packed.so")
    context = packed.create()
    found = packed.call(context, x)
    packed.code.nnc_destroy(context)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    return folder, x, found


def test_sizes(compiled) -> None:
    folder, _, _ = compiled
    model = (folder / "model.onnx").stat().st_size
    sizes = {p.name: p.stat().st_size for p in folder.glob("*.so")}
    assert model <= sizes["original.so"] < 1.1 * model
    assert sizes["default.so"] == sizes["original.so"]
    assert sizes["packed.so"] > PREPARED * model
    assert (folder / "beside.weights").stat().st_size < 1.1 * model


def test_descriptions_say_what_is_made(compiled) -> None:
    folder, _, _ = compiled
    about = {
        name: json.loads((folder / f"{name}.json").read_text()) for name in ("packed", "beside")
    }
    assert about["packed"]["prepared_bytes"] == 0
    assert about["beside"]["prepared_bytes"] > PREPARED * about["beside"]["weights_bytes"]
    assert "NNC_PREPARED_BYTES" in (folder / "beside.h").read_text()
    assert "nnc_prepare" not in (folder / "packed.h").read_text()


@pytest.mark.parametrize("name", ["original", "beside"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_bits(compiled, name: str, threads: int) -> None:
    folder, x, expected = compiled
    library = Library(folder / f"{name}.so")
    weights = folder / "beside.weights" if name == "beside" else None
    context = library.create(weights, threads)
    np.testing.assert_array_equal(library.call(context, x), expected)
    library.code.nnc_destroy(context)


def test_contexts_share_what_is_made(compiled) -> None:
    """The first one may go while the second is used, and all may go and come again."""
    folder, x, expected = compiled
    library = Library(folder / "beside.so")
    for _ in range(2):
        first = library.create(folder / "beside.weights")
        second = library.create(folder / "beside.weights", threads=2)
        np.testing.assert_array_equal(library.call(first, x), expected)
        library.code.nnc_destroy(first)
        np.testing.assert_array_equal(library.call(second, x), expected)
        library.code.nnc_destroy(second)


def test_contexts_made_at_once(compiled) -> None:
    folder, x, expected = compiled
    library = Library(folder / "original.so")
    found: dict[int, np.ndarray] = {}
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        context = library.create()
        found[number] = library.call(context, x)
        library.code.nnc_destroy(context)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(found) == [0, 1, 2, 3]
    for value in found.values():
        np.testing.assert_array_equal(value, expected)


def test_weights_file_of_each_context_is_looked_at(compiled, tmp_path: Path) -> None:
    folder, _, _ = compiled
    library = Library(folder / "beside.so")
    first = library.create(folder / "beside.weights")
    with pytest.raises(RuntimeError, match="cannot be read"):
        library.create(tmp_path / "none.weights")
    (tmp_path / "other.weights").write_bytes(b"other")
    with pytest.raises(RuntimeError, match="another model"):
        library.create(tmp_path / "other.weights")
    library.code.nnc_destroy(first)


OUT_OF_MEMORY = """
import ctypes, resource, sys
library = ctypes.CDLL(sys.argv[1])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
context = ctypes.c_void_p()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
status = library.nnc_create(ctypes.byref(context), None, 1)
assert not context.value
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
again = library.nnc_create(ctypes.byref(context), None, 1)
print(status, again)
"""


def test_no_memory_is_a_status(compiled) -> None:
    folder, _, _ = compiled
    command = [sys.executable, "-c", OUT_OF_MEMORY, str(folder / "original.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "0"]


PEAK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
context = ctypes.c_void_p()
before = 0
def peak():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1])
x = (ctypes.c_float * int(sys.argv[2]))()
y = (ctypes.c_float * int(sys.argv[2]))()
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_void_p)]
given, made = Tensor(ctypes.addressof(x), None), Tensor(ctypes.addressof(y), None)
before = peak()
assert not library.nnc_create(ctypes.byref(context), None, 1)
assert not library.nnc_call(context, ctypes.byref(given), ctypes.byref(made))
print(peak() - before)
"""


def test_memory_is_no_more_than_with_stored_weights(tmp_path: Path) -> None:
    """What is made takes the place of what was mapped, also while it is being made."""
    onnx.save(convolutions(512), tmp_path / "model.onnx")
    peaks = {}
    for form in ("packed", "original"):
        library = tmp_path / f"{form}.so"
        assert compile_to(tmp_path / "model.onnx", "--weights", form, "-o", str(library)) == 0
        command = [sys.executable, "-c", PEAK, str(library), str(512 * 144)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks[form] = int(done.stdout)
    assert peaks["packed"] > 30_000
    # One source is still mapped when the last weight is made, and large pages are rounded up.
    assert peaks["original"] < 1.1 * peaks["packed"] + 10_000


def test_object_file(compiled) -> None:
    """Who brings memory for an object file makes the weights by steps."""
    folder, x, expected = compiled
    find_toolchain().shared_library([folder / "model.o"], folder / "object.so")
    about = json.loads((folder / "model.json").read_text())
    code = ctypes.CDLL(str(folder / "object.so"))
    code.nnc_prepare.restype = ctypes.c_int64
    stored = np.fromfile(folder / "model.weights", np.uint8)
    arena_bytes = max(about["arena_bytes"], about["prepare_arena_bytes"])
    blocks = [aligned(n) for n in (stored.size, about["prepared_bytes"], arena_bytes)]
    blocks[0][:] = stored
    pointers = [ctypes.c_void_p(b.ctypes.data) for b in blocks]
    ends = []
    while (end := code.nnc_prepare(*pointers, None, len(ends))) >= 0:
        ends.append(end)
    assert ends == sorted(ends)
    assert ends[-1] <= about["weights_bytes"]
    y = np.zeros(SHAPE, np.float32)
    given, made = Tensor(x.ctypes.data, None), Tensor(y.ctypes.data, None)
    run = [ctypes.byref(given), ctypes.byref(made), pointers[2], pointers[1], None]
    assert code.nnc_run(*run) == 0
    np.testing.assert_array_equal(y, expected)


def aligned(size: int) -> np.ndarray:
    raw = np.zeros(size + 64, np.uint8)
    return raw[-raw.ctypes.data % 64 :][:size]


def test_object_file_has_packed_weights_unless_asked(compiled) -> None:
    folder, _, _ = compiled
    assert json.loads((folder / "default.json").read_text())["prepared_bytes"] == 0


MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "static.h"

int main(void) {
    float *x = malloc(BYTES), *y = malloc(BYTES);
    FILE *file = fopen("x.bin", "rb");
    if (!file || fread(x, 1, BYTES, file) != BYTES) return 2;
    nnc_tensor input = {x, NULL}, output = {y, NULL};
    nnc_context *context;
    if (nnc_create(&context, NULL, 2)) return 3;
    if (nnc_call(context, &input, &output)) return 4;
    nnc_destroy(context);
    return fwrite(y, 1, BYTES, stdout) != BYTES;
}
"""


def test_static_library_in_c(compiled) -> None:
    folder, x, expected = compiled
    x.tofile(folder / "x.bin")
    assert compile_to(folder / "model.onnx", "-o", str(folder / "static.a")) == 0
    made = build(folder, "program", MAIN, f"-DBYTES={x.nbytes}", "static.a")
    np.testing.assert_array_equal(np.frombuffer(made, np.float32).reshape(SHAPE), expected)


def test_quantized_weights_stay_small(tmp_path: Path) -> None:
    """What is dequantized and transformed is stored in eighths of what it becomes, or less."""
    model = tmp_path / "model.onnx"
    onnx.save(convolutions(64, quantized=True), model)
    for form in ("packed", "original"):
        assert compile_to(model, "--weights", form, "-o", str(tmp_path / f"{form}.so")) == 0
    about = json.loads((tmp_path / "original.json").read_text())
    assert about["weights_bytes"] < 1.1 * model.stat().st_size
    x = np.random.default_rng(7).standard_normal((1, 64, 12, 12)).astype(np.float32)
    found = []
    for form in ("packed", "original"):
        library = Library(tmp_path / f"{form}.so")
        found.append(library.call(library.create(), x))
    np.testing.assert_array_equal(*found)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": x})[0]
    np.testing.assert_allclose(found[1], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "output,options,message",
    [
        ("m.so", ["--weights", "small"], "invalid choice: 'small'"),
        (
            "m.so",
            ["--weights", "inside", "--weights", "beside"],
            "cannot be both beside and inside",
        ),
        ("m.so", ["--weights", "packed", "--weights", "original"], "both original and packed"),
        (
            "m.ll",
            ["--weights", "original"],
            "only a .o, .so, .a, .dll, .dylib or .wasm file makes weights, not 'm.ll'",
        ),
        (
            "m.mlir",
            ["--weights", "original"],
            "only a .o, .so, .a, .dll, .dylib or .wasm file makes weights",
        ),
        (
            "m.o",
            ["--weights", "inside"],
            "only a .so, .a, .dll, .dylib, .wasm, .c or .cpp file holds weights",
        ),
    ],
)
def test_bad_values(compiled, tmp_path: Path, capsys, output, options, message) -> None:
    folder, _, _ = compiled
    assert compile_to(folder / "model.onnx", *options, "-o", str(tmp_path / output)) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_slow_machine_gets_packed_weights(compiled, tmp_path: Path, monkeypatch) -> None:
    """What would take longer than the limit is stored as it is used."""
    folder, _, _ = compiled
    monkeypatch.setattr("nnc.artifacts.options.PREPARE_MILLISECONDS", 0)
    assert compile_to(folder / "model.onnx", "-o", str(tmp_path / "m.so")) == 0
    assert json.loads((tmp_path / "m.json").read_text())["prepared_bytes"] == 0


def test_as_many_as_there_is_time_for(tmp_path: Path) -> None:
    """Of two weights, one is made in the time of one and a half."""
    from nnc.driver.compile import load_module, run_stages
    from nnc.ir.passes import PassContext
    from nnc.passes.nn import prepare_weights
    from nnc.targets.attribute import target_of

    onnx.save(convolutions(512), tmp_path / "m.onnx")
    module = load_module(tmp_path / "m.onnx")
    run_stages(module, last="simplify-graph")
    machine = target_of(module).machine
    found = prepare_weights._sources(module)
    one = max(prepare_weights.seconds(*item, machine) for item in found.items())
    limit = int(1500 * one)
    prepare_weights.PrepareWeights(milliseconds=limit).run(module, PassContext())
    made = [f for f in module.walk() if "nn.prepare" in f.attributes]
    assert (len(found), len(made)) == (2, 1)


def test_in_process_too(compiled) -> None:
    """IR that says which weights are made runs in this process as well."""
    from nnc.driver.compile import load_module, run_stages
    from nnc.driver.program import compile_module

    folder, x, expected = compiled
    module = load_module(folder / "model.onnx")
    run_stages(module, prepare_milliseconds=1000)
    np.testing.assert_array_equal(compile_module(module, threads=2)(x), expected)

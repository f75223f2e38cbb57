"""Models on OpenCL's devices, of which PoCL makes one of any processor: what NumPy and `host` say."""

import ctypes
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import compile_model, load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from onnx import TensorProto, helper

from ..conftest import skip_unless_ci
from ..lowering.nn_cases import CONVOLUTIONS, MOVEMENT, one_op
from ..lowering.test_nn_to_linalg import example_of
from .device_checks import (
    chain,
    check_divisions,
    check_indices,
    gathering,
    halving,
    model_of,
    value,
)
from .emulated import require_opencl
from .test_c import NETWORKS, network, outputs
from .test_emulated_operators import GROUPS, check_together, together, truth_values

pytestmark = pytest.mark.emulated


@pytest.fixture(autouse=True)
def driver():
    require_opencl()


# -- operators and networks ------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS, ids=lambda ops: f"{ops[0].name}..{ops[-1].name}")
def test_operators(group):
    check_together([(cls.name, *example_of(cls)) for cls in group], "opencl")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["opencl", "opencl-cpu"])
def test_convolutions(target):
    """Also in groups, of f16, of unknown extents."""
    check_together(
        [(k, one_op(text, *args), None, [3, 7, 5]) for k, (text, args) in CONVOLUTIONS.items()],
        target,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["opencl", "opencl-cpu"])
def test_movement(target):
    check_together(
        [(k, one_op(text, *args), None, sizes) for k, (text, args, sizes) in MOVEMENT.items()],
        target,
    )


def test_truth_values():
    check_together(truth_values(), "opencl")


def by_turns():
    """Every network on every device; by default on one, and the devices take turns.

    PoCL takes long for kernels of the two GPUs, so the largest networks are for the others; all
    have one with convolutions.
    """
    devices = ["opencl-intel", "opencl-cpu", "opencl", "opencl-mali"]
    for at, target in enumerate(devices):
        for number, name in enumerate(NETWORKS):
            rare = number % len(devices) != at and name != "squeezenet"
            yield pytest.param(name, target, marks=[pytest.mark.thorough] * rare)


@pytest.mark.parametrize(("name", "target"), list(by_turns()))
def test_networks(name, target):
    check_network(name, target)


def check_network(name: str, target: str) -> None:
    """Check that a network gives on a device what it gives here."""
    model, inputs, here = network(name)
    tolerance = 4e-3 if name == "half" else 1e-5
    for got, want in zip(outputs(model, inputs, target), here, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_open_extents_one_after_the_other():
    """Larger and smaller ones by turns, one-element and empty ones."""
    model = chain()
    there, here = (nnc.compile(model, target=name, cache=False) for name in ("opencl", "host"))
    rng = np.random.default_rng(0)
    for n, k, m in ((3, 5, 7), (64, 65, 33), (1, 1, 1), (0, 4, 3), (130, 2, 257), (2, 5, 7)):
        x, w = (rng.standard_normal(shape, np.float32) for shape in ((n, k), (k, m)))
        np.testing.assert_allclose(there(x, w), here(x, w), rtol=1e-5, atol=1e-5)


def test_an_entry_whose_inputs_have_no_names():
    """As a text may be that somebody has written: its inputs are copied to the device all the same."""
    text = """func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> attributes {nn.entry} {
      %y = nn.neg %x : (tensor<5xf32>) -> tensor<5xf32>
      func.return %y : tensor<5xf32>
    }"""
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(nnc.compile(parse_module(text), target="opencl")(x), -x)


def test_open_rows_that_several_passes_read():
    """Have no room in a group's memory, which has a known size."""
    node = helper.make_node("ReduceLogSumExp", ["x", "a"], ["y"], keepdims=0)
    axes = helper.make_tensor("a", TensorProto.INT64, [1], [1])
    model = model_of([node], [value("x", ["n", "k"])], [value("y", ["n"])], [axes])
    compiled = nnc.compile(model, target="opencl", cache=False)
    rng = np.random.default_rng(0)
    for shape in ((3, 5), (2, 700), (1, 1), (4, 0)):
        x = rng.standard_normal(shape, np.float32)
        with np.errstate(divide="ignore"):
            wanted = np.log(np.exp(x).sum(1))
        np.testing.assert_allclose(compiled(x), wanted, rtol=1e-5, atol=1e-5)


def test_not_a_number_and_infinities():
    x = np.float32([[np.nan, 1, -np.inf, 0.0], [np.inf, -0.0, 3, -1]])
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Max", ["x", "a"], ["b"]),
        helper.make_node("Clip", ["x", "low", "high"], ["c"]),
        helper.make_node("Exp", ["x"], ["d"]),
    ]
    bounds = [
        helper.make_tensor(n, TensorProto.FLOAT, [], [v]) for n, v in (("low", -2), ("high", 2))
    ]
    results = [value(n, [2, 4]) for n in "abcd"]
    model = model_of(nodes, [value("x", [2, 4])], results, bounds)
    for got, want in zip(outputs(model, [x], "opencl"), outputs(model, [x], "host"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("target", ["opencl-cpu", "opencl-intel"])
@pytest.mark.parametrize(("rows", "heads"), [(17, 2), (17, 4), (19, 4)])
def test_attention_with_odd_rows(rows, heads, target):
    """A thread has none or one column more than others, and then stands at barriers (PoCL 3.1)."""
    rng, shape = np.random.default_rng(0), (1, heads, rows, 8)
    q, k, v = (rng.standard_normal(shape).astype("f") for _ in range(3))
    tensors = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "qkvy"]
    nodes = [
        helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "turned"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["shares"]),
        helper.make_node("MatMul", ["shares", "v"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "attention", tensors[:3], tensors[3:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    scores = np.exp(q.astype("d") @ k.astype("d").swapaxes(2, 3))
    wanted = scores / scores.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(nnc.compile(model, target=target)(q, k, v), wanted, atol=1e-5)


def test_control_flow_of_the_host():
    """A loop whose condition a kernel computes: the host looks at what is in the device's memory."""
    model = halving()
    for scale in (0.01, 1, 1e4):
        x = np.full((3, 5), scale, np.float32)
        (got,), (want,) = (outputs(model, [x], name) for name in ("opencl", "host"))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("target", ["opencl", "opencl-cpu"])
def test_elements_by_number_however_many(target):
    """A schedule asks for 64 lanes, and OpenCL has vectors of 16 elements at most."""
    model = model_of(
        [helper.make_node("GatherND", ["x", "i"], ["y"])],
        [value("x", [7, 9]), value("i", ["n", 2], TensorProto.INT64)],
        [value("y", ["n"])],
    )
    compiled = compile_model(model, target=target, cache=False)
    for count in (31, 200):
        x = np.random.default_rng(0).standard_normal((7, 9), np.float32)
        i = np.random.default_rng(1).integers(-7, 7, (count, 2))
        np.testing.assert_array_equal(compiled(x, i), x[i[:, 0], i[:, 1]])


def test_what_the_compiler_says(monkeypatch):
    """However long it is: the first error is told."""
    from nnc.targets.opencl import OpenClTarget

    right = OpenClTarget.code_of
    wrong = "".join(f"int f{i}(void) {{ return no_such_name; }}\n" for i in range(99))

    def code_of(self, kernels):
        found = right(self, kernels)
        return replace(found, text=found.text + wrong)

    monkeypatch.setattr(OpenClTarget, "code_of", code_of)
    with pytest.raises(NncError, match="no_such_name"):
        compile_model(gathering(), target="opencl", cache=False)(
            np.zeros((4, 3), np.float32), np.int64([0, 1])
        )


@pytest.mark.parametrize("cached", [False, True])
def test_steps_of_the_host_are_refused_where_asked(cached, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    counting = model_of(
        [helper.make_node("Range", ["a", "b", "c"], ["y"])],
        [value(name, [], TensorProto.INT64) for name in "abc"],
        [value("y", [None], TensorProto.INT64)],
    )
    if cached:
        found = nnc.compile(counting, target="opencl")(*map(np.int64, (3, 20, 4)))
        np.testing.assert_array_equal(found, np.arange(3, 20, 4))
    with pytest.raises(NncError, match="1 steps are not for 'opencl'"):
        nnc.compile(counting, target="opencl", fallback=False)


def test_indices_out_of_range():
    check_indices("opencl")


def test_divisions_are_shared():
    check_divisions("opencl")


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("NNC_OPENCL_DEVICE", "99", "there is no device 99: NNC_OPENCL_DEVICE is at most 0"),
        (
            "NNC_OPENCL_DEVICE",
            "gpu",
            "NNC_OPENCL_DEVICE is the number of a device, from 0, not 'gpu'",
        ),
        ("OCL_ICD_VENDORS", "/nowhere", "no OpenCL device is here"),
    ],
)
def test_no_device(variable, text, message, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(gathering(), path)
    command = [
        sys.executable,
        "-m",
        "nnc.tools.nnc",
        "run",
        str(path),
        "--target",
        "opencl",
        "--random",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {variable: text, "NNC_CACHE": "0"}
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


_LARGE = """
import sys
import numpy as np, nnc
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
compiled = nnc.compile(parse_module(sys.argv[1]), target="opencl", cache=False)
try:
    compiled(np.zeros(300_000_000, np.uint8))
except NncError as error:
    print(error)
print(compiled(np.uint8([1, 2])))
"""


@pytest.mark.thorough
def test_a_buffer_larger_than_the_device_gives():
    """PoCL with one GB of memory, of which a buffer has a quarter. The next run is right."""
    model = """func.func @main(%x: tensor<?xui8>) -> tensor<?xui8> {
      %y = nn.add %x, %x : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xui8>
      func.return %y : tensor<?xui8>
    }"""
    done = subprocess.run(
        [sys.executable, "-c", _LARGE, model],
        capture_output=True,
        text=True,
        env=os.environ | {"POCL_MEMORY_LIMIT": "1"},
        check=True,
    )
    assert "the device gives buffers of 268435456 bytes at most, not 300000000" in done.stdout
    assert done.stdout.endswith("[2 4]\n")


def test_other_files_are_refused(tmp_path):
    module = run_stages(load_module(gathering()), target="opencl")
    with pytest.raises(NncError, match=r"'opencl' is written as .*\.cl"):
        write_artifact(module, tmp_path / "m.wasm", ArtifactOptions())


# -- libraries -----------------------------------------------------------------------------------


class Tensor(ctypes.Structure):
    """As in the header."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)))


@pytest.mark.parametrize("weights", ["inside", "beside"])
def test_a_library(weights, tmp_path):
    """Contexts come and go, several at once; each call gives what the host gives."""
    model, (x,), (want,) = network("squeezenet")
    path = tmp_path / "model.so"
    write_artifact(
        run_stages(load_module(model), target="opencl"), path, ArtifactOptions(weights=weights)
    )
    library = ctypes.CDLL(str(path))
    library.nnc_message.restype = ctypes.c_char_p
    stored = str(tmp_path / "model.weights").encode() if weights == "beside" else None

    def use(times: int, found: list) -> None:
        for _ in range(times):
            context = ctypes.c_void_p()
            status = library.nnc_create(ctypes.byref(context), stored, 1)
            assert status == 0, library.nnc_message(status)
            for _ in range(3):
                y = np.zeros_like(want)
                given, made = Tensor(x.ctypes.data, None), Tensor(y.ctypes.data, None)
                status = library.nnc_call(context, ctypes.byref(given), ctypes.byref(made))
                assert status == 0, library.nnc_message(status)
                found.append(y)
            library.nnc_destroy(context)

    found: list[np.ndarray] = []
    workers = [threading.Thread(target=use, args=(2, found)) for _ in range(3)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert len(found) == 18
    for y in found:
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


def test_the_text_alone(tmp_path):
    path = tmp_path / "model.cl"
    write_artifact(run_stages(load_module(gathering()), target="opencl"), path, ArtifactOptions())
    text = path.read_text()
    assert "__kernel" in text
    assert "/* node 'rows' (Gather) */" in text


OCLGRIND = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"

CALLER = """
#include <stdio.h>
#include <stdlib.h>
#include "model.h"
int main(void) {{
    {inputs}
    {outputs}
    nnc_context *context;
    int32_t status = nnc_create(&context, NULL, 1);
    if (status == 0) status = nnc_call(context, inputs, outputs);
    if (status) puts(nnc_message(status));
    return status;
}}
"""


def check_with_oclgrind(module, folder):
    """Check that an interpreter of OpenCL finds no race and no access outside, all inputs 0."""
    if not Path(OCLGRIND).exists():
        skip_unless_ci("oclgrind is not installed")
    module = run_stages(module, target="opencl")
    program = write_artifact(module, folder / "model.so", ArtifactOptions())
    assert program[0].exists()
    sides = {}
    for side in ("inputs", "outputs"):
        types = module.attributes[f"nn.{side}"].elements
        rooms = ", ".join(f"{{calloc({max(1, t.num_elements)}, 8), NULL}}" for t in types)
        sides[side] = f"nnc_tensor {side}[] = {{{rooms}}};"
    (folder / "main.c").write_text(CALLER.format(**sides))
    built = ["gcc", "main.c", "model.so", "-o", "main", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(built, cwd=folder, check=True)
    checks = {"OCL_ICD_VENDORS": OCLGRIND, "OCLGRIND_DATA_RACES": "1", "OCLGRIND_CHECK_API": "1"}
    done = subprocess.run(
        ["./main"], cwd=folder, capture_output=True, text=True, env=os.environ | checks
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr


def test_calibration():
    """Each number is there, whatever the machine is doing meanwhile."""
    from nnc.driver.calibrating.calibrate import calibrate
    from nnc.driver.calibrating.devices import MEMORIES

    found = calibrate("opencl-cpu", 0.1, lambda text: None).calibration.numbers
    costs = {"costs.groups.group_cycles", "costs.groups.barrier_cycles"}
    assert set(found) == {"cores", "launch_microseconds", "copy_bandwidth"} | costs | {
        *MEMORIES.values()
    }


@pytest.mark.parametrize("name", ["groups", "barriers", "workgroup", "cache"])
@pytest.mark.parametrize("side_by_side", [False, True])
def test_kernels_of_calibration_do_what_is_counted(name, side_by_side):
    """Sums of the halves that all memory has: of eight sums, each with as many as there are passes;
    threads that meet double what they have each time.
    """
    from dataclasses import replace

    from nnc.driver.calibrating.kernels import AT_ONCE, pairs
    from nnc.targets.base import target

    machine = replace(target("opencl-cpu").machine, in_step=8 if side_by_side else 1, cores=2)
    kernel = replace(pairs(machine)[name].less, often=3)
    text = kernel.text()
    model = compile_model(parse_module(text.text()), target="opencl-cpu", cache=False)
    made = model(np.full(text.floats, 0.5, np.float32))
    wanted = {"groups": 1.0, "barriers": 0.5 * 2**3}.get(name, AT_ONCE * (0.5 + 3 * 0.5))
    np.testing.assert_array_equal(made, np.full(4, wanted, np.float32))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["lstm", "quantized", "mobilenet_v2", "bert"])
def test_oclgrind_finds_nothing(name, tmp_path):
    check_with_oclgrind(load_module(NETWORKS[name]()), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("group", GROUPS, ids=lambda ops: f"{ops[0].name}..{ops[-1].name}")
def test_oclgrind_finds_nothing_in_operators(group, tmp_path):
    """Those whose extents are constants; the others' are the caller's."""
    texts = [text for text, *_ in map(example_of, group) if "?" not in text]
    if texts:
        check_with_oclgrind(together(texts), tmp_path)

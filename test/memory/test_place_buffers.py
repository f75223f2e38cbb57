"""What a device's kernels work on lies in its memory: the interpreter keeps both memories apart."""

import nnc
import numpy as np
import pytest
from nnc.dialects import func, gpu, scf, vector
from nnc.dialects.marks import ARENA, DEVICE, ENTRY, ON_HOST, WEIGHTS
from nnc.driver.compile import load_module, mark_entry, run_stages
from nnc.driver.weights import filling
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter
from nnc.runtime.model import Model
from nnc.targets.base import target

from ..models.small_models import small_cnn
from ..targets.test_c import NETWORKS, inputs_for

STAGES = ("launches", "shares", "threads")


def run(module, inputs, results) -> list[np.ndarray]:
    """The results of the entry on arrays."""
    made = [np.zeros(r.shape, r.dtype) for r in results]
    Interpreter(module).call("main", [*inputs, *made, *arenas(module)])
    return made


def arenas(module) -> list[np.ndarray]:
    """What nnc's runtime gives the entry beside tensors: an arena in each memory, the weights."""
    entry = next(
        f for f in module.body_block if isinstance(f, func.FuncOp) and ENTRY in f.attributes
    )
    found = []
    for i, type in enumerate(entry.function_type.inputs):
        if any(entry.arg_attribute(i, mark) is not None for mark in (ARENA, WEIGHTS)):
            found.append(np.zeros(type.shape, np.int8))
        if entry.arg_attribute(i, WEIGHTS) is not None and type.num_elements:
            with filling(module, found[-1].view(np.uint8)):
                pass
    return found


def expected(model: object, inputs) -> list[np.ndarray]:
    """What this machine's own code gives."""
    compiled: Model = nnc.compile(model, cache=False)
    found = compiled(*inputs)
    return list(found) if isinstance(found, tuple) else [found]


def plain() -> str:
    """Two products, an exponential, and a value that comes back through a view."""
    return """
func.func @main(%x: tensor<6x5xf32>, %w: tensor<5x7xf32>) -> (tensor<7x6xf32>, tensor<6x1xf32>) {
  %0 = nn.matmul %x, %w : (tensor<6x5xf32>, tensor<5x7xf32>) -> tensor<6x7xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<6x7xf32>) -> tensor<7x6xf32>
  %3 = nn.reduce_sum %0 {axes = array<i64: 1>, keep_dims = true} : (tensor<6x7xf32>) -> tensor<6x1xf32>
  func.return %2, %3 : tensor<7x6xf32>, tensor<6x1xf32>
}
"""


def module_of(text: str):
    """A module with an entry."""
    module = parse_module(text)
    module.verify()
    mark_entry(module)
    return module


def inputs_of_plain() -> list[np.ndarray]:
    """Numbers for it."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape, np.float32) for shape in ((6, 5), (5, 7))]


@pytest.mark.sampled(3)  # what comes after `launches` is interpreted thread by thread
@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_computes_the_same(stage):
    inputs = inputs_of_plain()
    want = expected(module_of(plain()), inputs)
    module = run_stages(module_of(plain()), target="opencl", last=stage)
    again = parse_module(str(module))
    for got, one in zip(run(again, inputs, want), want, strict=True):
        np.testing.assert_allclose(got, one, rtol=1e-5, atol=1e-6)


def test_without_any_copy_the_numbers_are_wrong():
    """So that the test above sees a copy that is missing."""
    inputs = inputs_of_plain()
    want = expected(module_of(plain()), inputs)
    text = str(run_stages(module_of(plain()), target="opencl", last="launches"))
    count = sum(isinstance(op, gpu.Memcpy) for op in parse_module(text).walk())
    assert count == 4
    for number in range(count):
        module = parse_module(text)
        copies = [op for op in module.walk() if isinstance(op, gpu.Memcpy)]
        copies[number].erase()
        found = run(module, inputs, want)
        assert not all(np.allclose(a, b, rtol=1e-3) for a, b in zip(found, want, strict=True))


def test_what_is_told():
    """Launches, bytes and expected time; a step whose extents follow from values is the host's."""
    module = run_stages(module_of(plain()), target="opencl", last="launches")
    found = dict(module.attributes[DEVICE].items())
    assert found["launches"].value >= 3
    assert found["copied"].value == 4 * (6 * 5 + 5 * 7 + 7 * 6 + 6)
    assert found["microseconds"].value > 0
    assert not found["host"].elements
    text = """
func.func @main(%x: tensor<4x8xf32>, %p: tensor<4xi64>) -> tensor<?x?xf32> {
  %0 = nn.pad_dynamic %x, %p {mode = "reflect"} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
"""
    module = run_stages(module_of(text), target="opencl")
    steps = target("opencl").fallbacks(module)
    assert len(steps) == 1
    assert "how much it computes depends on data" in steps[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["lstm", "quantized", "cnn"])
def test_networks(name):
    model = small_cnn() if name == "cnn" else NETWORKS[name]()
    inputs = inputs_for(model)
    want = expected(model, inputs)
    module = run_stages(load_module(model), target="opencl", last="launches")
    assert not any(ON_HOST in f.attributes for f in module.body_block)
    for got, one in zip(run(module, inputs, want), want, strict=True):
        np.testing.assert_allclose(got, one, rtol=1e-4, atol=1e-5)


def test_what_the_host_makes_and_the_device_reads():
    """The places of what is not 0: their number follows from values, so the host finds them."""
    text = """
func.func @main(%x: tensor<4x3xf32>) -> tensor<?x2xi64> {
  %0 = nn.non_zero %x : (tensor<4x3xf32>) -> tensor<2x?xi64>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x?xi64>) -> tensor<?x2xi64>
  %2 = nn.mul %1, %1 : (tensor<?x2xi64>, tensor<?x2xi64>) -> tensor<?x2xi64>
  func.return %2 : tensor<?x2xi64>
}
"""
    x = np.float32([[0, 1, 0], [2, 0, 0], [0, 0, 0], [1, 1, 1]])
    module = run_stages(module_of(text), target="opencl", last="threads")
    (found,) = Interpreter(parse_module(str(module))).call("main", [x, *arenas(module)])
    np.testing.assert_array_equal(found, np.argwhere(x) ** 2)


def test_nothing_to_do():
    text = """
func.func @main(%x: tensor<2x0x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.reduce_sum %x {axes = array<i64: 1>} : (tensor<2x0x4xf32>) -> tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}
"""
    module = run_stages(module_of(text), target="opencl", last="threads")
    (found,) = run(module, [np.zeros((2, 0, 4), np.float32)], [np.ones((2, 4), np.float32)])
    np.testing.assert_array_equal(found, np.zeros((2, 4)))


def test_copies_of_whole_buffers_are_no_loops_of_the_host():
    """A result that is a view of an input, fixed and open, and one that is returned twice."""
    text = """
func.func @main(%x: tensor<6x4xf32>, %y: tensor<?x4xf32>)
    -> (tensor<24xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<?x1x4xf32>) {
  %0 = nn.reshape %x : (tensor<6x4xf32>) -> tensor<24xf32>
  %1 = nn.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = nn.reshape %y : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
  func.return %0, %1, %1, %2 : tensor<24xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<?x1x4xf32>
}
"""
    module = run_stages(module_of(text), target="opencl", last="launches")
    main = next(f for f in module.body_block if isinstance(f, func.FuncOp) and f.sym_name == "main")
    assert not any(
        isinstance(op, scf.For | scf.Parallel | vector.TransferRead) for op in main.walk()
    )
    x = np.arange(24, dtype=np.float32).reshape(6, 4) - 9
    y = np.float32([[1, 2, 3, 4], [5, 6, 7, 8]])
    made = [np.zeros(24, np.float32), np.zeros_like(x), np.zeros_like(x)]
    found = Interpreter(module).call("main", [x, y, *made, *arenas(module)])
    for got, want in zip(
        [*made, *found], [x.ravel(), np.maximum(x, 0), np.maximum(x, 0), y[:, None]], strict=True
    ):
        np.testing.assert_array_equal(got, want)

"""Circuits of networks of integers: CIRCT makes them, Verilator runs them, to the processor's bits."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import nnc
import numpy as np
import pytest
from nnc.dialects import func, memref
from nnc.dialects.marks import PORT_NAMES
from nnc.driver.compile import load_module, run_stages
from nnc.ir.attributes import ArrayAttr
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import CIRCUIT, pipeline, pipeline_of
from nnc.numerics.interpreter import Interpreter

from ..conftest import skip_unless_ci
from .circuits import simulated, verilog
from .integer_networks import NETWORKS, WHOLE


def circuit(model) -> tuple[Operation, dict[str, np.ndarray]]:
    """A module that CIRCT reads, and the elements of its constants."""
    module = run_stages(load_module(model), target="hls")
    constants = {
        op.sym_name: op.initial_value.to_numpy()
        for op in module.body_block
        if isinstance(op, memref.Global)
    }
    PassManager(pipeline_of(CIRCUIT)).run(module)
    return module, constants


def inputs_of(model) -> list[np.ndarray]:
    """Inputs at random, and the least and the largest."""
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    found = [np.random.default_rng(seed).integers(-128, 128, shape) for seed in range(3)]
    return [x.astype(np.int8) for x in (*found, np.full(shape, -128), np.full(shape, 127))]


def test_memories():
    """One function, whose arguments are the input, the result and the constants."""
    module, constants = circuit(WHOLE["row"]())
    (function,) = module.body_block
    assert isinstance(function, func.FuncOp)
    names = function.attributes[PORT_NAMES]
    assert isinstance(names, ArrayAttr)
    assert [one.value for one in names] == ["x", "add_8", *constants, "start"]  # type: ignore[attr-defined]
    found = {str(type) for type in function.function_type.inputs}
    assert found == {
        f"memref<{n}xi{bits}>" for n, bits in ((8, 8), (4, 32), (48, 32), (6, 32), (24, 32))
    }
    assert "nn." not in str(module)


@pytest.mark.parametrize("name", WHOLE)
def test_numbers(name: str):
    """The function itself, interpreted, on the least, the largest and random inputs."""
    model = WHOLE[name]()
    module, constants = circuit(model)
    processor = nnc.compile(model, target="host", cache=False)
    for x in inputs_of(model):
        y = np.zeros(4, np.int32)
        buffers = [x.reshape(-1), y, *(one.reshape(-1) for one in constants.values())]
        Interpreter(module).call("main", buffers)
        assert y.tolist() == processor(x).reshape(-1).tolist()


def test_floats():
    """What rounds floats between its layers has no circuit, and the error names the node."""
    with pytest.raises(
        NncError, match=r"n_quantizelinear_0.*'arith.constant' on f32 has no circuit"
    ):
        circuit(NETWORKS["table"]())


_OPEN = """
func.func private @kernel(%x: memref<{n}xi8>, %y: memref<{n}xi8>) {{
  memref.copy %x, %y : memref<{n}xi8> to memref<{n}xi8>
  return
}}
func.func @main(%x: memref<{n}xi8>, %y: memref<{n}xi8>) {mark} {{
  call @kernel(%x, %y) : (memref<{n}xi8>, memref<{n}xi8>) -> ()
  return
}}
"""

_ENTRY = "attributes {nn.entry, nn.inputs = [tensor<?xi8>, tensor<?xi8>], nn.outputs = []}"


@pytest.mark.parametrize(("passes", "n", "mark", "said"), [
    ("lower-to-circuit", "4", "attributes {nn.entry}", "one function, but @kernel is called"),
    ("inline,lower-to-circuit", "?", _ENTRY, r"'memref.copy' on memref<\?xi8>"),
    ("inline,lower-to-circuit", "4", "", "no function is marked nn.entry"),
])  # fmt: skip
def test_other_modules(passes: str, n: str, mark: str, said: str):
    module = parse_module(_OPEN.format(n=n, mark=mark))
    with pytest.raises(NncError, match=said):
        PassManager(pipeline(f"builtin.module({passes})")).run(module)


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["row", pytest.param("image", marks=pytest.mark.thorough)])
def test_network(name: str, tmp_path):
    """Runs one after the other, the last ones on the least and largest inputs."""
    if not find_spec("pycde"):
        skip_unless_ci("CIRCT is not installed")
    if not shutil.which("verilator"):
        skip_unless_ci("Verilator is not installed")
    model = WHOLE[name]()
    module, constants = circuit(model)
    output = model.graph.output[0].name
    runs = [{"x": x, output: np.zeros(4, np.int32), **constants} for x in inputs_of(model)]
    found = simulated(verilog(str(module)), runs, output, tmp_path)
    processor = nnc.compile(model, target="host", cache=False)
    for run, (cycles, numbers) in zip(runs, found, strict=True):
        assert numbers.tolist() == processor(run["x"]).reshape(-1).tolist()
        assert cycles > 100

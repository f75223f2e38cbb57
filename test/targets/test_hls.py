"""HLS C++: right to the bit against the processor, widths of sums, pragmas, errors.

The text is compiled as any C++ compiler takes it; no synthesis is here.
"""

from __future__ import annotations

import json
import subprocess

import nnc
import numpy as np
import onnx
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.dialects import memref
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.targets.c.running import cpp_compiler
from nnc.targets.hls.devices import ZU7EV
from nnc.targets.hls.estimate import estimated
from nnc.targets.hls.ranges import Ranges, bits_of
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper

from ..models.small_models import GraphMaker
from .integer_networks import NETWORKS

pytestmark = pytest.mark.skipif(not cpp_compiler(), reason="no C++ compiler")
FLAGS = ["-std=c++14", "-O1", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas", "-Werror"]


def written(model, folder, target: str = "hls"):
    """A model's files, and its module."""
    module = run_stages(load_module(model), target=target)
    write_artifact(module, folder / "model.cpp", ArtifactOptions())
    return module


def bench(folder) -> str:
    """What the test bench says."""
    sources = [folder / "model.cpp", folder / "model_tb.cpp"]
    subprocess.run([*cpp_compiler(), *FLAGS, *sources, "-o", folder / "bench"], check=True)
    return subprocess.run([folder / "bench"], capture_output=True, text=True).stdout


def check_network(name: str, folder) -> None:
    """A network's bits are the processor's, its bench passes, and fails where a weight is off."""
    model = NETWORKS[name]()
    module = written(model, folder)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    run, processor = (nnc.compile(model, target=t, cache=False) for t in ("hls", "host"))
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        assert run(x).tobytes() == processor(x).tobytes()
    assert bench(folder).startswith("PASS: 0 wrong, largest difference 0")
    report = json.loads((folder / "model.json").read_text())
    sums = [one for kernel in report["kernels"] for one in kernel["sums"]]
    assert sums and all(one["proven"] and one["bits"] < 32 for one in sums)
    assert 0 < report["dsps"] <= 1728
    text = (folder / "model.cpp").read_text()
    assert "#pragma HLS PIPELINE II=1" in text and "#pragma HLS UNROLL" in text
    assert "#pragma HLS ARRAY_PARTITION variable=" in text
    assert sum(isinstance(op, memref.Alloc) for op in module.walk()) == 0
    broken = text.replace("127.0f", "12.0f")
    (folder / "model.cpp").write_text(broken)
    assert bench(folder).startswith("FAIL")


def test_table(tmp_path):
    check_network("table", tmp_path)


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["lenet", "keywords"])
def test_network(name: str, tmp_path):
    check_network(name, tmp_path)


def product(weights: np.ndarray) -> onnx.ModelProto:
    """The product of a row of integers with weights, as floats."""
    g = GraphMaker()
    y = g.op("Cast", g.op("MatMulInteger", "x", g.constant(weights)), to=TensorProto.FLOAT)
    return g.model({"x": (1, len(weights))}, y, TensorProto.INT8)


def sums_of(model) -> list:
    """The sums of a model, as they are estimated."""
    module = run_stages(load_module(model), target="hls")
    return estimated(module, Ranges(module), ZU7EV).sums


def test_sums_are_what_weights_and_limits_give():
    """By hand: 1 * 127 + 100 * 127 - 100 * -128, and the same with the limits exchanged."""
    weights = np.array([[1, -2], [100, 3], [-100, 127]], np.int8)
    (found,) = sums_of(product(weights))
    assert (found.low, found.high) == (-128 - 12800 - 12700, 127 + 12700 + 12800)
    assert (found.bits, found.terms, found.proven) == (16, 3, True)


def test_a_sum_reaches_its_bound():
    """Inputs at their limits give the bound itself: it is no wider than it has to be."""
    weights = np.random.default_rng(0).integers(-127, 128, (40, 6)).astype(np.int8)
    (found,) = sums_of(product(weights))
    run = nnc.compile(product(weights), target="hls", cache=False)
    limits = [
        np.where(w > 0, high, low) for w in weights.T for low, high in ((-128, 127), (127, -128))
    ]
    reached = [run(x.astype(np.int8)[None]) for x in limits]
    assert (min(map(np.min, reached)), max(map(np.max, reached))) == (found.low, found.high)


def test_a_sum_that_may_wrap_is_said_to():
    """140,000 products of 127 and -128 are more than 32 bits hold."""
    (found,) = sums_of(product(np.full((140_000, 1), 127, np.int8)))
    assert not found.proven and found.bits == 32


@pytest.mark.parametrize(("low", "high", "bits"), [
    (0, 1, (1, False)), (0, 255, (8, False)), (-128, 127, (8, True)), (-129, 0, (9, True)),
    (-1, 0, (1, True)), (-1, 128, (9, True)),
])  # fmt: skip
def test_bits(low, high, bits):
    assert bits_of(low, high) == bits


_WHOLE = """
module attributes {nn.inputs = [tensor<4x6xsi8>], nn.outputs = [tensor<4xf32>]} {
  func.func @main(%x: memref<4x6xi8>, %y: memref<4xf32>) attributes {nn.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %zero = arith.constant 0 : i32
    %sum = memref.alloca() : memref<SIZExi32>
    scf.for %i = %c0 to %c4 step %c1 {
      FILL
      scf.for %k = %c0 to %c6 step %c1 {
        %a = memref.load %x[%i, %k] : memref<4x6xi8>
        %b = arith.extsi %a : i8 to i32
        %s = memref.load %sum[PLACE] : memref<SIZExi32>
        %t = arith.addi %s, %b : i32
        memref.store %t, %sum[PLACE] : memref<SIZExi32>
      }
    }
    func.return
  }
}
"""


@pytest.mark.parametrize(("size", "place", "fill", "low"), [
    (1, "%c0", "memref.store %zero, %sum[%c0] : memref<1xi32>", -6 * 128),
    (4, "%i", "memref.store %zero, %sum[%i] : memref<4xi32>", -6 * 128),
    (4, "%c0", "memref.store %zero, %sum[%i] : memref<4xi32>", -24 * 128),
    (1, "%c0", "", -(2**31)),
])  # fmt: skip
def test_sums_that_start_anew(size, place, fill, low):
    """What is set to zero in each turn adds up no more than that turn; else all turns count."""
    text = _WHOLE.replace("SIZE", str(size)).replace("PLACE", place).replace("FILL", fill)
    module = parse_module(text)
    ranges = Ranges(module)
    (buffer,) = [op.results[0] for op in module.walk() if isinstance(op, memref.Alloca)]
    assert ranges.of(buffer).interval.span[0] == low


def dense(kind: type = np.float32, shape=(1, 4), width: int = 2) -> onnx.ModelProto:
    """One product."""
    g = GraphMaker()
    g.initializers.append(numpy_helper.from_array(np.ones((shape[1], width), kind), "w"))
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    model = g.model({"x": shape}, g.op("MatMul", "x", "w"), element)
    model.graph.output[0].type.tensor_type.elem_type = element
    return model


@pytest.mark.parametrize(("model", "said"), [
    (dense(shape=("n", 4)), r"open size, and hardware has fixed ones.*--shape"),
    (dense(np.float64), r"f64 has no form in hardware"),
    (dense(shape=(1, 3000), width=1000), r"needs 9\d.* Mbit of memory on the chip.*larger part"),
])  # fmt: skip
def test_what_no_hardware_takes(model, said, tmp_path):
    with pytest.raises(NncError, match=said):
        written(model, tmp_path)
    assert not list(tmp_path.iterdir())


def test_command(tmp_path, capsys):
    """The files of a compilation, and what it says at its end."""
    onnx.save(dense(), tmp_path / "model.onnx")
    out = tmp_path / "hardware.cpp"
    assert (
        main(["compile", str(tmp_path / "model.onnx"), "--target", "hls-u50", "-o", str(out)]) == 0
    )
    said = capsys.readouterr().err
    assert "estimated: " in said and "of 5,952 DSPs" in said
    names = {"hardware.cpp", "hardware.h", "hardware.json", "hardware_tb.cpp"}
    assert names <= {one.name for one in tmp_path.iterdir()}


def test_other_suffix(tmp_path, capsys):
    onnx.save(dense(), tmp_path / "model.onnx")
    out = str(tmp_path / "model.so")
    assert main(["compile", str(tmp_path / "model.onnx"), "--target", "hls", "-o", out]) == 1
    assert "'hls' is written as .cpp or .mlir" in capsys.readouterr().err

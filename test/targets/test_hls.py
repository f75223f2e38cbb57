"""HLS C++: right to the bit against the processor, widths of sums, pragmas, errors.

The text is compiled as any C++ compiler takes it; no synthesis is here.
"""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec

import nnc
import numpy as np
import onnx
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.dialects import memref
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.targets.attribute import target_of
from nnc.targets.base import target
from nnc.targets.c.running import cpp_compiler
from nnc.targets.hls.devices import ZU7EV
from nnc.targets.hls.estimate import estimated
from nnc.targets.hls.fixed import FixedRanges
from nnc.targets.hls.formats import Format, whole_bits
from nnc.targets.hls.ranges import Ranges, bits_of
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper

from ..models.small_models import GraphMaker
from .integer_networks import NETWORKS

pytestmark = pytest.mark.skipif(not cpp_compiler(), reason="no C++ compiler")
FLAGS = ["-std=c++14", "-O1", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas", "-Werror"]


def written(model, folder, name: str = "hls"):
    """A model's files, and its module."""
    module = run_stages(load_module(model), target=name)
    write_artifact(module, folder / "model.cpp", ArtifactOptions())
    return module


def bench(folder, *more: str) -> str:
    """What the test bench says."""
    sources = [folder / "model.cpp", folder / "model_tb.cpp"]
    subprocess.run([*cpp_compiler(), *FLAGS, *more, *sources, "-o", folder / "bench"], check=True)
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
    (dense(shape=("n", 4)), r"dynamic shape, but hardware needs static ones.*--shape"),
    (dense(np.float64), r"f64 is not supported in hardware"),
    (dense(shape=(1, 600), width=500), r"needs 9\.\d Mbit of memory on the chip.*larger part"),
])  # fmt: skip
def test_what_no_hardware_takes(model, said, tmp_path):
    with pytest.raises(NncError, match=said):
        written(model, tmp_path, "hls-zynq7020")
    assert not list(tmp_path.iterdir())


_CALLED = """
module attributes {nn.inputs = [tensor<16xsi32>], nn.outputs = []} {
  func.func private @kernel(%x: memref<16xi32>) attributes {nn.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    scf.for %i = %c0 to %c16 step %c1 {
      %a = memref.load %x[%i] : memref<16xi32>
      %b = arith.addi %a, %a : i32
      memref.store %b, %x[%i] : memref<16xi32>
    } {nn.pipeline = 1 : i64}
    func.return
  }
  func.func @main(%x: memref<16xi32>) attributes {nn.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    scf.for %i = %c0 to %c10 step %c1 {
      func.call @kernel(%x) : (memref<16xi32>) -> ()
    }
    func.return
  }
}
"""


def test_cycles():
    """By hand: a read of 2 cycles, a sum and a write; 15 more starts; and all that ten times."""
    module = parse_module(_CALLED)
    found = estimated(module, Ranges(module), ZU7EV)
    kernel = 2 + 1 + 1 + 15 + 2
    assert [one.cycles for one in found.kernels] == [kernel, 10 * (kernel + 1 + 2)]
    assert found.cycles == 10 * (kernel + 1 + 2)


def floats(scale: float = 1.0) -> onnx.ModelProto:
    """A convolution, a dense layer and softmax of floats."""
    g = GraphMaker(0)
    weights = g.weight(4, 1, 3, 3), g.weight(4, scale=0.1)
    x = g.op("Flatten", g.op("Relu", g.op("Conv", "x", *weights, pads=[1] * 4)))
    x = g.op("Gemm", x, g.weight(5, 144, scale=scale), g.weight(5, scale=0.1), transB=1)
    return g.model({"x": (1, 1, 6, 6)}, g.op("Softmax", x, axis=-1))


TYPES = find_spec("hls4ml")
needs_types = pytest.mark.skipif(TYPES is None, reason="hls4ml is not installed")


def test_fixed_point_text(tmp_path):
    """Kernels exchange 16 bits; what they add up is as wide as the proof says; exp is on floats."""
    module = written(floats(0.1), tmp_path, "hls-fixed16")
    text = (tmp_path / "model.cpp").read_text()
    assert "#include <ap_fixed.h>" in text and "ap_fixed<16, " in text and "expf(" in text
    notes = target_of(module).notes(module)
    assert any("some numbers stay floats in 1 kernels: " in note for note in notes)
    sums = estimated(module, FixedRanges(module, 16), ZU7EV).sums
    assert sums and all(one.proven and 16 < one.bits <= 48 for one in sums)
    assert "void nnc_top(const float x[36], float softmax" in (tmp_path / "model.h").read_text()


def bench_of_types(model, name: str, folder) -> str:
    """What the bench says of a model whose text needs AMD's types."""
    assert TYPES is not None and TYPES.submodule_search_locations
    written(model, folder, name)
    where = f"{TYPES.submodule_search_locations[0]}/templates/vivado/ap_types"
    return bench(folder, f"-I{where}", "-w")


@pytest.mark.emulated
@needs_types
def test_integers_of_any_width(tmp_path):
    """Arrays of just as many bits as they need have the same numbers."""
    said = bench_of_types(NETWORKS["table"](), "hls-ap", tmp_path)
    assert said.startswith("PASS: 0 wrong, largest difference 0\n")


@needs_types
@pytest.mark.parametrize("bits", [
    pytest.param(16, marks=pytest.mark.emulated),
    *(pytest.param(bits, marks=pytest.mark.thorough) for bits in (10, 12, 24)),
])  # fmt: skip
def test_fixed_point(bits: int, tmp_path):
    """The bench's bound for so many bits holds."""
    assert bench_of_types(floats(0.1), f"hls-fixed{bits}", tmp_path).startswith("PASS")


def test_ranges_that_overflow(tmp_path):
    with pytest.raises(NncError, match=r"numbers between -?\d.* need \d+ bits before the point"):
        written(floats(1000.0), tmp_path, "hls-fixed8")
    assert not list(tmp_path.iterdir())


def test_given_samples(tmp_path):
    """Samples of the user's, by the pass, decide how many bits stand before the point."""
    module = run_stages(load_module(dense()), target="hls-fixed16", last="schedule")
    samples = tmp_path / "samples.npz"
    np.savez(samples, x=np.array([[[1, 2, 3, 4]], [[-90, -80, 0, 0]]], np.float32))
    name = str(samples)
    PassManager(pipeline(f"builtin.module(sample-ranges{{inputs={name}}})")).run(module)
    ranges = FixedRanges(run_stages(module, target="hls-fixed16"), 16)
    entry = next(op for op in module.body_block if "nn.entry" in op.attributes)
    found = [ranges.of(arg).format for arg in entry.args]
    assert [(one.bits, one.whole) for one in found if one] == [(16, 8), (16, 9)]


@pytest.mark.parametrize(("low", "high", "whole"), [
    (0, 0, 1), (-1, 0.99, 1), (-1, 1, 2), (0, 1, 2), (-2, 1.5, 2), (-0.25, 0.2, -1), (-90, 4, 8),
    (-170, 10, 9), (0, 0.1, -2),
])  # fmt: skip
def test_bits_before_the_point(low, high, whole):
    assert whole_bits(low, high) == whole
    least, most = Format(32, whole).limits
    assert least <= low and high <= most


def test_rounding():
    """To the nearest, halves up, and cut off at the limits: AP_RND and AP_SAT."""
    found = Format(4, 2).rounded(np.array([0.125, -0.125, 0.3, 5.0, -5.0]))
    assert found.tolist() == [0.25, 0.0, 0.25, 1.75, -2.0]


def test_no_types(monkeypatch):
    """Without AMD's types, a model of them says where to name them."""
    monkeypatch.setattr("nnc.targets.hls.target._has_types", lambda: False)
    with pytest.raises(NncError, match=r"ap_int.h and ap_fixed.h are not found.*CPLUS_INCLUDE"):
        target("hls-ap").check_runs_here()


def test_other_suffix(tmp_path, capsys):
    onnx.save(dense(), tmp_path / "model.onnx")
    out = str(tmp_path / "model.so")
    assert main(["compile", str(tmp_path / "model.onnx"), "--target", "hls", "-o", out]) == 1
    assert "'hls' is written as .cpp or .mlir" in capsys.readouterr().err

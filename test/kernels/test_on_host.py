"""Kernels of a device's program that the host carries out are scheduled for the host."""

from __future__ import annotations

import pytest
from nnc.dialects.func import FuncOp
from nnc.dialects.marks import KERNEL, ON_HOST
from nnc.ir.attributes import StringAttr
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import VectorType
from nnc.lowering.pipelines import pipeline
from nnc.targets.attribute import target_of

TEXT = """
module attributes {ATTRIBUTES} {
  func.func @main(%x: tensor<512x64xf32>, %p: tensor<4xi64>) -> tensor<?x?xf32> {
    %s = nn.softmax %x {axis = 1} : (tensor<512x64xf32>) -> tensor<512x64xf32>
    %y = nn.pad_dynamic %s, %p {mode = "reflect"}
      : (tensor<512x64xf32>, tensor<4xi64>) -> tensor<?x?xf32>
    func.return %y : tensor<?x?xf32>
  }
}"""
TO_LOOPS = "simplify-graph,make-kernels,bufferize,mark-in-place,choose-schedules,apply-schedules"


def kernels(target=None):
    attributes = f'nnc.target = "{target}"' if target else ""
    return kernels_of(TEXT.replace("ATTRIBUTES", attributes))


def kernels_of(text):
    module = parse_module(text)
    PassManager(pipeline(TO_LOOPS)).run(module)
    return [op for op in module.body_block if isinstance(op, FuncOp) and KERNEL in op.attributes]


def widest(function):
    """The most elements of an innermost dimension of its vectors."""
    types = [r.type for op in function.walk() for r in op.results]
    return max((t.shape[-1] for t in types if isinstance(t, VectorType) and t.shape), default=1)


@pytest.mark.parametrize("target", ["opencl", "metal"])
def test_what_values_decide_is_for_the_processor(target):
    softmax, pad = kernels(target)
    assert ON_HOST not in softmax.attributes
    assert target_of(softmax).name == target
    assert pad.attributes[ON_HOST] == StringAttr("how much it computes depends on data")
    assert target_of(pad) == target_of(pad).caller
    assert widest(pad) == widest(kernels()[1])


@pytest.mark.parametrize(
    ("op", "target", "missing"),
    [
        ("relu", "opencl", None),
        ("relu", "webgpu", "f64"),
        ("relu", "metal", "f64"),
        ("relu", "cuda", None),
        ("exp", "opencl", None),
        ("exp", "cuda", "'exp' of f64"),
        ("tanh", "amd-gfx90a", "'tanh' of f64"),
        ("sqrt", "amd-gfx90a", None),
    ],
)
def test_what_a_device_has_no_form_for_is_for_the_processor(op, target, missing):
    """Also where the numbers before and behind are f32."""
    text = f"""
    module attributes {{nnc.target = "{target}"}} {{
      func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {{
        %w = nn.cast %x : (tensor<64xf32>) -> tensor<64xf64>
        %v = nn.{op} %w : (tensor<64xf64>) -> tensor<64xf64>
        %y = nn.cast %v : (tensor<64xf64>) -> tensor<64xf32>
        func.return %y : tensor<64xf32>
      }}
    }}"""
    (function,) = kernels_of(text)
    wanted = StringAttr(f"'{target}' has no {missing}") if missing else None
    assert function.attributes.get(ON_HOST) == wanted


def test_processors_have_no_host():
    assert not any(ON_HOST in one.attributes for one in kernels())

"""Functions of nn, their calls and control flow as linalg."""

import pytest
from nnc.dialects import linalg, memref
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module

from .running import compare, lowered


def test_last_stage_writes_to_the_out_argument():
    """No temporary but those between stages, and no copy at the end, also through a reshape."""
    text = """
        func.func @main(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
          %0 = nn.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
          %1 = nn.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
          %2 = nn.reshape %1 : (tensor<4x8xf32>) -> tensor<8x4xf32>
          func.return %2 : tensor<8x4xf32>
        }
    """
    module = compare(text)
    ops = list(module.walk())
    assert sum(isinstance(op, memref.Alloc) for op in ops) == 1
    assert sum(isinstance(op, memref.Dealloc) for op in ops) == 1
    assert not any(isinstance(op, linalg.Copy) for op in ops)


RETURNS = {
    "an argument": ("", "%x", "tensor<4xf32>"),
    "a constant": ("%c = nn.constant dense<1.0> : tensor<4xf32>", "%c", "tensor<4xf32>"),
    "twice": ("%c = nn.neg %x : (tensor<4xf32>) -> tensor<4xf32>", "%c, %c",
              "tensor<4xf32>, tensor<4xf32>"),
    "a view of an argument": ("%c = nn.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>", "%c",
                              "tensor<2x2xf32>"),
    "a value and its view": (
        "%b = nn.neg %x : (tensor<4xf32>) -> tensor<4xf32>\n"
        "%c = nn.reshape %b : (tensor<4xf32>) -> tensor<2x2xf32>", "%b, %c",
        "tensor<4xf32>, tensor<2x2xf32>"),
    "one on the heap twice": (
        "%c = nn.non_zero %x : (tensor<4xf32>) -> tensor<1x?xi64>\n"
        "%d = nn.reshape %c : (tensor<1x?xi64>) -> tensor<?xi64>", "%d, %c, %c",
        "tensor<?xi64>, tensor<1x?xi64>, tensor<1x?xi64>"),
}  # fmt: skip


@pytest.mark.parametrize("name", RETURNS)
def test_results(name):
    body, values, types = RETURNS[name]
    compare(
        f"func.func @main(%x: tensor<4xf32>) -> ({types}) {{\n{body}\n"
        f"func.return {values} : {types}\n}}"
    )


def test_calls():
    """Static results by out-argument, unknown ones returned; equal constants shared."""
    text = """
        func.func private @k(%a: tensor<4xf32>, %b: tensor<4xf32>)
            -> (tensor<4xf32>, tensor<1x?xi64>) attributes {nn.kernel} {
          %0 = nn.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = nn.non_zero %0 : (tensor<4xf32>) -> tensor<1x?xi64>
          func.return %0, %1 : tensor<4xf32>, tensor<1x?xi64>
        }
        func.func @main(%x: tensor<4xf32>) -> (tensor<1x?xi64>, tensor<4xf32>)
            attributes {nn.entry} {
          %w = nn.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
          %v = nn.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
          %0:2 = func.call @k(%x, %w) : (tensor<4xf32>, tensor<4xf32>)
            -> (tensor<4xf32>, tensor<1x?xi64>)
          %1:2 = func.call @k(%0#0, %v) : (tensor<4xf32>, tensor<4xf32>)
            -> (tensor<4xf32>, tensor<1x?xi64>)
          func.return %0#1, %1#0 : tensor<1x?xi64>, tensor<4xf32>
        }
    """
    module = compare(text)
    assert sum(isinstance(op, memref.Global) for op in module.walk()) == 1
    assert "nn.outputs = [tensor<1x?xi64>, tensor<4xf32>]" in str(module)


def test_kernels_that_were_not_outlined():
    text = """
        func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
          %0 = nn.kernel (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
            %1 = nn.exp %a : (tensor<4xf32>) -> tensor<4xf32>
            nn.yield %1 : tensor<4xf32>
          }
          %2 = nn.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
          func.return %2 : tensor<2x2xf32>
        }
    """
    parse_module(text).verify()
    compare(text)


def test_an_op_that_cannot_be_lowered_is_named():
    text = """
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = tensor.cast %x : tensor<4xf32> to tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """
    with pytest.raises(NncError, match=r"'tensor\.cast' op works on tensors") as caught:
        lowered(text)
    assert caught.value.location is not None

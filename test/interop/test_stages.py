"""Every stage of a compilation: what nnc prints, mlir-opt prints, and the other way round."""

import re
from functools import cache

import pytest

from .upstream import ours, theirs

MODELS = {
    "convolution": """
        func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x8x8xf32>
            attributes {nn.entry} {
          %0 = nn.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
          %1 = nn.relu %0 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
          return %1 : tensor<1x8x8x8xf32>
        }
    """,
    "attention": """
        func.func @main(%q: tensor<2x4x8xf32>, %k: tensor<2x8x4xf32>) -> tensor<2x4x4xf32> attributes {nn.entry} {
          %0 = nn.matmul %q, %k : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
          %1 = nn.softmax %0 {axis = 2 : i64} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
          return %1 : tensor<2x4x4xf32>
        }
    """,
    "dynamic": """
        func.func @main(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {nn.entry} {
          %0 = nn.add %x, %y : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
          %1 = nn.tanh %0 : (tensor<?x16xf32>) -> tensor<?x16xf32>
          return %1 : tensor<?x16xf32>
        }
    """,
}


@cache
def stages_of(model: str) -> dict[str, str]:
    """The generic text after each stage."""
    from nnc.driver.compile import run_stages
    from nnc.ir.syntax.parser import parse_module
    from nnc.ir.syntax.printer import print_op

    module = parse_module(MODELS[model])
    found = {"text": print_op(module, generic=True)}

    def keep(stage, module) -> None:
        found[stage] = print_op(module, generic=True)

    run_stages(module, target="avx512", after_stage=keep)
    return found


@pytest.mark.sampled(3)
@pytest.mark.mlir_opt
@pytest.mark.parametrize("model", MODELS)
def test_stages_are_mlir_opts_text(model: str, mlir_opt: str) -> None:
    for stage, written in stages_of(model).items():
        text = ours(written, "generic")
        assert theirs(mlir_opt, written, "generic") == text, stage
        assert ours(text, "generic") == text, stage
        if not re.search(r'"(nn|schedule)\.', text):  # those mlir-opt knows in generic form only
            custom = ours(text, "custom")
            assert theirs(mlir_opt, text, "custom") == custom, stage
            assert theirs(mlir_opt, custom, "generic") == text, stage
            assert ours(custom, "generic") == text, stage

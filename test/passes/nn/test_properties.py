"""Every pass of the graph level keeps the interpreted result, on random graphs."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.passes.canonicalize import Canonicalize
from nnc.passes.cse import Cse
from nnc.passes.nn.choose_layouts import ChooseLayouts
from nnc.passes.nn.decompose import Decompose
from nnc.passes.nn.fold_batch_norm import FoldBatchNorm
from nnc.passes.nn.fold_constants import FoldConstants
from nnc.passes.nn.fuse import Fuse
from nnc.passes.nn.infer_shapes import InferShapes
from nnc.passes.nn.outline_kernels import OutlineKernels
from nnc.passes.nn.parts import parts_of
from nnc.passes.nn.sink_views import SinkViews

from .graphs import graph, interpret, transform
from .random_graphs import RandomGraph

PASSES = {
    "canonicalize": [Canonicalize()],
    "fold-constants": [FoldConstants()],
    "infer-shapes": [InferShapes()],
    "decompose": [Decompose()],
    "fold-batch-norm": [FoldBatchNorm()],
    "choose-layouts": [FoldBatchNorm(), ChooseLayouts(block=2), FoldConstants(), Canonicalize()],
    "sink-views": [SinkViews(), Canonicalize(), Cse()],
    "fuse": [Fuse()],
    "fuse, 3 at most": [Fuse(limit=3)],
    "outline-kernels": [Fuse(), OutlineKernels()],
    "all": list(pipeline("builtin.module(simplify-graph,make-kernels)").passes()),
}


def close(found, expected) -> None:
    assert len(found) == len(expected)
    for a, e in zip(found, expected, strict=True):
        assert a.shape == e.shape and a.dtype == e.dtype
        scale = np.maximum(1.0, np.abs(e[np.isfinite(e)]).max(initial=0.0))
        np.testing.assert_allclose(a / scale, e / scale, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", PASSES)
def test_passes_keep_the_result(name, seed):
    source = RandomGraph(seed, size=25)
    module = graph(source.build, *source.arrays)
    expected = interpret(module, *source.arrays)
    transform(module, *PASSES[name])
    close(interpret(module, *source.arrays), expected)


@pytest.mark.parametrize("seed", range(6))
def test_text_is_complete(seed):
    """Printing, parsing and printing again gives the same text, kernels included."""
    source = RandomGraph(seed, size=25)
    module = graph(source.build, *source.arrays)
    for passes in ([], [Fuse()], [OutlineKernels()]):
        transform(module, *passes)
        text = str(module)
        if "dense_resource" not in text:
            assert str(parse_module(text)) == text


@pytest.mark.parametrize("seed", range(6))
def test_every_op_ends_in_a_kernel(seed):
    source = RandomGraph(seed, size=25)
    module = transform(graph(source.build, *source.arrays), Fuse())
    body = module.lookup("main").body
    views = parts_of(body.blocks[0]).ops
    free = {op.name for op in body.ops if op not in views}
    assert free <= {"nn.constant", "nn.reshape", "nn.kernel", "func.return"}

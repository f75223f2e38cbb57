"""What is known at compile time is computed, at any precision of knowledge."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.attributes import DenseResource
from nnc.passes.nn.fold_constants import FoldConstants
from nnc.passes.nn.infer_shapes import InferShapes

from .graphs import graph, interpret, names, same, t, transform, value_of


def constants(module):
    return [op for op in module.walk() if isinstance(op, nn.Constant)]


def test_weights_are_computed_ahead(rng):
    x, w = rng.random((2, 40)).astype(np.float32), rng.random((30, 40)).astype(np.float32)

    def build(b, v):
        moved = b(nn.Transpose(value_of(b, w), (1, 0)))
        return b(nn.Matmul(v, b(nn.Mul(moved, value_of(b, np.float32(2))))))

    module = graph(build, x)
    expected = interpret(module, x)
    transform(module, FoldConstants())
    assert names(module) == ["nn.matmul"]
    (weight,) = constants(module)
    assert isinstance(weight.value, DenseResource)  # 1200 elements do not belong in the text
    same(interpret(module, x), expected)


def test_equal_constants_get_equal_keys(rng):
    w = rng.random((10, 10)).astype(np.float32)

    def build(b, v):
        parts = [b(nn.Transpose(value_of(b, w), (1, 0))) for _ in range(2)]
        return b(nn.Add(b(nn.Add(v, parts[0])), parts[1]))

    module = transform(graph(build, w), FoldConstants())
    first, second = constants(module)
    assert first.value.key == second.value.key and first.value.key.startswith("folded_")


def test_different_constants_get_different_keys(rng):
    """Small ones computed at once, from which large ones are computed when they are needed."""

    def build(b, v):
        made = []
        for _ in range(2):
            small = b(nn.Neg(value_of(b, rng.random((100, 100)).astype(np.float32))))
            pads = (0, 0, 100, 100)
            weight = b(nn.Pad(small, value_of(b, np.float32(0)), pads=pads))
            made.append(b(nn.Matmul(v, weight)))
        return b(nn.Add(*made))

    x = rng.random((3, 100)).astype(np.float32)
    x = np.concatenate([x, x], 1)
    module = graph(build, x)
    expected = interpret(module, x)
    transform(module, FoldConstants())
    assert names(module) == ["nn.matmul", "nn.matmul", "nn.add"]
    first, second = constants(module)
    assert first.value.key != second.value.key
    same(interpret(module, x), expected)


def test_what_only_grows_stays():
    def build(b, v):
        wide = b(nn.BroadcastTo(value_of(b, np.arange(512, dtype=np.float32)), out=t(512, 512)))
        return b(nn.Add(v, wide))

    x = np.zeros((512, 512), np.float32)
    module = transform(graph(build, x), FoldConstants())
    assert names(module) == ["nn.broadcast_to", "nn.add"]


def test_what_takes_functions_is_computed_ahead(rng):
    """A table that grows from a row and a column, as those of resampling filters, stays no op."""
    row, column = (rng.random(s).astype(np.float32) for s in ((1, 300), (300, 1)))

    def build(b, v):
        phases = b(nn.Add(value_of(b, row), value_of(b, column)))
        return b(nn.Mul(v, b(nn.Sin(phases))))

    x = rng.random((300, 300)).astype(np.float32)
    module = graph(build, x)
    expected = interpret(module, x)
    transform(module, FoldConstants())
    assert names(module) == ["nn.mul"]
    same(interpret(module, x), expected)
    assert names(transform(graph(build, x), FoldConstants(costly=0))) == [
        "nn.add",
        "nn.sin",
        "nn.mul",
    ]


def test_shape_arithmetic_of_partly_known_shapes(rng):
    """[batch, 4, 6] -> [batch, 24] as exporters write it: gather, unsqueeze, concat, reshape."""
    x = rng.random((3, 4, 6)).astype(np.float32)

    def build(b, v):
        batch = b(nn.Gather(b(nn.ShapeOf(v)), value_of(b, np.int64(0)), axis=0))
        first = b(nn.Reshape(batch, out=t(1, element=batch.result.type.element_type)))
        shape = b(nn.Concat([first.result, value_of(b, np.array([24], np.int64))], axis=0))
        return b(nn.ReshapeDynamic(v, shape))

    module = graph(build, x, dynamic=(0,))
    expected = interpret(module, x)
    transform(module, FoldConstants())
    (reshape,) = [op for op in module.walk() if isinstance(op, nn.ReshapeDynamic)]
    assert reshape.out.type.shape == (None, 24)
    same(interpret(module, x), expected)
    static = transform(graph(build, x), FoldConstants())
    assert names(static) == ["nn.reshape_dynamic"]
    assert static.body_block.first.function_type.results[0].shape == (3, 24)


@pytest.mark.parametrize(
    "build,shape",
    [
        (lambda b, v: nn.Range(*(value_of(b, np.int64(n)) for n in (2, 9, 3))), (3,)),
        (
            lambda b, v: nn.FillDynamic(value_of(b, np.array([2, 3])), value_of(b, np.float32(1))),
            (2, 3),
        ),
        (lambda b, v: nn.BroadcastDynamic(v, value_of(b, np.array([5, 1, 1]))), (5, 2, 7)),
        (lambda b, v: nn.TopK(v, value_of(b, np.array([2])), axis=1), (2, 2)),
        (
            lambda b, v: nn.SliceDynamic(
                v, *(value_of(b, np.array([n])) for n in (-3, 2**63 - 1, 1, 1))
            ),
            (2, 3),
        ),
        (lambda b, v: nn.ReshapeDynamic(v, value_of(b, np.array([-1, 2]))), (7, 2)),
    ],
)
def test_known_values_make_types_precise(build, shape):
    module = graph(lambda b, v: b(build(b, v)).results[0], np.zeros((2, 7), np.float32))
    transform(module, InferShapes())
    assert module.body_block.first.function_type.results[0].shape == shape


def test_a_fault_is_left_for_run_time():
    def build(b, v):
        wrong = b(nn.Gather(value_of(b, np.arange(3)), value_of(b, np.int64(9)), axis=0))
        return b(nn.Add(v, wrong))

    module = transform(graph(build, np.zeros((2,), np.int64)), FoldConstants())
    assert "nn.gather" in names(module)


def test_unused_results_go():
    def build(b, v):
        b(nn.Transpose(value_of(b, np.zeros((3, 4), np.float32)), (1, 0)))
        return nn.Relu(v)

    module = transform(graph(build, np.zeros((2,), np.float32)), FoldConstants())
    assert names(module) == ["nn.relu"] and not constants(module)

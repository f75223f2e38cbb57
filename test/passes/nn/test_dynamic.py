"""Graph passes on shapes that only run time knows."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.lowering.pipelines import pipeline

from .graphs import graph, interpret, same, t, transform, value_of


def network(b, x):
    """Convolution, normalization, pooling, a fully connected layer and softmax."""
    rng = np.random.default_rng(0)

    def weight(*shape):
        return value_of(b, (rng.standard_normal(shape) * 0.3).astype(np.float32))

    y = b(nn.Conv(x, weight(16, 3, 3, 3), weight(16), pads=(1, 1, 1, 1)))
    y = b(nn.BatchNorm(y, weight(16), weight(16), weight(16), value_of(b, np.ones(16, np.float32))))
    y = b(nn.MaxPool(b(nn.Relu(y)), kernel=(2, 2), strides=(2, 2)))
    y = b(nn.Conv(y, weight(16, 1, 3, 3), pads=(1, 1, 1, 1), groups=16))
    y = b(nn.ReduceMean(y, axes=(2, 3)))
    y = b(nn.Add(b(nn.Matmul(y, weight(16, 32))), weight(32)))
    return nn.Softmax(b(nn.Reshape(y, out=t(None, 4, 8))), axis=2)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_network_of_any_batch(rng, batch):
    x = rng.standard_normal((2, 3, 8, 8)).astype(np.float32)
    module = graph(network, x, dynamic=(0,))
    x = rng.standard_normal((batch, 3, 8, 8)).astype(np.float32)
    expected = interpret(module, x)
    transform(module, *pipeline("builtin.module(simplify-graph,make-kernels)").passes())
    same(interpret(module, x), expected, 1e-4)


def test_any_image_size(rng):
    """Nothing static but the channels: layouts stay plain, the result is right."""

    def build(b, x):
        w = value_of(b, np.full((4, 3, 3, 3), 0.1, np.float32))
        y = b(nn.Relu(b(nn.Conv(x, w, pads=(1, 1, 1, 1)))))
        return nn.ReduceMax(y, axes=(2, 3))

    x = rng.standard_normal((1, 3, 9, 7)).astype(np.float32)
    module = graph(build, x, dynamic=(2, 3))
    expected = interpret(module, x)
    transform(module, *pipeline("builtin.module(simplify-graph,make-kernels)").passes())
    same(interpret(module, x), expected, 1e-4)

"""A batch in parts gives what the whole batch gives, and what mixes images stays whole."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.dialects.func import Call, FuncOp
from nnc.ir.attributes import UnitAttr
from nnc.passes.cse import Cse
from nnc.passes.inline import Inline
from nnc.passes.nn.split_batch import SplitBatch

from .graphs import graph, interpret, names, same, t, transform, value_of

RANDOM = np.random.default_rng(0)
WEIGHT = (RANDOM.standard_normal((4, 4, 3, 3)) / 6).astype(np.float32)
BIAS = RANDOM.standard_normal((1, 4, 1, 1)).astype(np.float32)
WHOLE_BATCH = RANDOM.standard_normal((6, 4, 8, 8)).astype(np.float32)


def conv(b, x):
    return b(nn.Conv(x, value_of(b, WEIGHT), pads=(1, 1, 1, 1))).result


def chain(b, x):
    return b(nn.Relu(conv(b, conv(b, conv(b, conv(b, x)))))).result


def residual(b, x):
    y = conv(b, x)
    z = b(nn.Concat([conv(b, y), b(nn.Add(x, value_of(b, BIAS))).result], 1)).result
    z = b(nn.MaxPool(z, kernel=(2, 2), strides=(2, 2)))
    return b(nn.Softmax(b(nn.ReduceMean(z, axes=(2, 3))), axis=1))


def constants_of_a_batch(b, x):
    y = b(nn.Mul(conv(b, x), value_of(b, WHOLE_BATCH)))
    return chain(b, y.result)


def rows(b, x):
    """Batch and channels become one dimension for a while."""
    flat = b(nn.Reshape(chain(b, x), out=t(24, 64))).result
    flat = b(nn.Tanh(b(nn.Matmul(flat, value_of(b, np.eye(64, 8, dtype=np.float32))))))
    return b(nn.Reshape(flat, out=t(6, 4, 8)))


def mean_of_all_in_the_middle(b, x):
    y = conv(b, conv(b, conv(b, x)))
    mean = b(nn.ReduceMean(y, axes=(0,), keep_dims=True))
    return conv(b, b(nn.Sub(y, mean)).result), mean


def two_uses(b, x):
    y = conv(b, conv(b, conv(b, x)))
    swapped = b(nn.Transpose(y, (1, 0, 2, 3)))
    return y, b(nn.Relu(swapped)), b(nn.Neg(y))


def shared(b, x):
    scale = b(nn.Exp(value_of(b, BIAS)))
    return conv(b, b(nn.Mul(conv(b, conv(b, x)), scale)).result)


CASES = [
    *(chain, residual, constants_of_a_batch, rows, mean_of_all_in_the_middle, two_uses, shared)
]


def split(build, batch=6, **options):
    x = np.random.default_rng(1).standard_normal((batch, 4, 8, 8)).astype(np.float32)
    module = graph(build, x)
    (main,) = (f for f in module.body_block if isinstance(f, FuncOp))
    main.attributes["nn.entry"] = UnitAttr()
    expected = interpret(module, x)
    transform(module, SplitBatch(**{"cache_bytes": 8192, **options}))
    return module, x, expected


def calls(module) -> int:
    return sum(isinstance(op, Call) for op in module.walk())


@pytest.mark.parametrize("build", CASES)
def test_parts_give_the_same(build):
    module, x, expected = split(build)
    assert calls(module) in (2, 3, 6)
    same(interpret(module, x), expected)
    transform(module, Inline(), Cse())
    assert calls(module) == 0 and len(list(module.body_block)) == 1
    same(interpret(module, x), expected)


def test_what_mixes_images_stays_whole():
    module, _, _ = split(mean_of_all_in_the_middle)
    main, part = module.body_block
    assert "nn.reduce_mean" in names(main) and "nn.reduce_mean" not in names(part)


@pytest.mark.parametrize("options", [{"cache_bytes": 1 << 20}, {"cache_bytes": 100}, {"parts": 1}])
def test_nothing_to_gain(options):
    """Everything fits the cache; not even parts do; parts are not wanted."""
    module, _, _ = split(chain, **options)
    assert calls(module) == 0


def test_one_image():
    module, _, _ = split(chain, batch=1, cache_bytes=1024)
    assert calls(module) == 0


def test_large_weights():
    """Reading them once for each part would cost more than the activations."""

    def heavy(b, x):
        weight = value_of(b, np.ones((256, 3072), np.float32))
        y = b(nn.Matmul(b(nn.Reshape(x, out=t(6, 256))), weight)).result
        return b(nn.Relu(y))

    assert calls(split(heavy)[0]) == 0

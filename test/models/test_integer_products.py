"""Products of 8-bit integers on every target that runs here, exactly as NumPy computes them."""

from __future__ import annotations

from dataclasses import replace

import nnc
import numpy as np
import pytest
from nnc.driver.compile import load_module
from nnc.targets.attribute import TARGET, to_attribute
from nnc.targets.base import target
from onnx import TensorProto, helper, numpy_helper

from ..processor import runnable
from ..targets.emulated import require_emulator, sampled

TARGETS = [*runnable("avx512", "avx2", "sse", "host"), "bytes"]
TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def numbers(rng, dtype, *shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def model_of(op, x, weights, zero, weight_zero, **attributes):
    element = TYPES[x.dtype.type]
    constants = {
        "w": weights,
        "x_zero": np.array(zero, x.dtype),
        "w_zero": np.array(weight_zero, weights.dtype),
    }
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *constants], ["y"], **attributes)],
        "product",
        [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def compiled(model, name):
    """The model for a target; "bytes" is this machine as one that multiplies bytes."""
    if name != "bytes":
        return nnc.compile(model, target=name, cache=False)
    host = target("host")
    machine = replace(host.machine, has_byte_products=True)
    module = load_module(model)
    module.attributes[TARGET] = to_attribute(replace(host, machine=machine))
    return nnc.compile(module, cache=False)


def convolved(x, weights, pad, stride, groups):
    """A convolution of i64, tap by tap."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    M, C, H, W = weights.shape
    rows, columns = ((n - k) // stride + 1 for n, k in zip(x.shape[2:], (H, W), strict=True))
    out = np.zeros((x.shape[0], M, rows, columns), np.int64)
    for m in range(M):
        first = m // (M // groups) * C
        for h in range(H):
            for w in range(W):
                seen = x[:, first : first + C, h : h + rows * stride : stride]
                seen = seen[..., w : w + columns * stride : stride][:, :, :rows, :columns]
                out[:, m] += np.tensordot(seen, weights[m, :, h, w], axes=(1, 0))
    return out


PRODUCTS = [
    (np.uint8, np.int8, 7, 0, (5, 7, 9)),
    (np.uint8, np.int8, 0, 0, (1, 64, 48)),
    (np.int8, np.int8, -3, 0, (13, 36, 33)),
    (np.uint8, np.uint8, 128, 3, (4, 66, 40)),
    (np.int8, np.uint8, -128, 128, (17, 30, 16)),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("kind, weight_kind, zero, weight_zero, extents", PRODUCTS)
def test_matrix_products_are_exact(name, kind, weight_kind, zero, weight_zero, extents):
    rng = np.random.default_rng(1)
    M, K, N = extents
    x, w = numbers(rng, kind, M, K), numbers(rng, weight_kind, K, N)
    run = compiled(model_of("MatMulInteger", x, w, zero, weight_zero), name)
    wanted = (x.astype(np.int64) - zero) @ (w.astype(np.int64) - weight_zero)
    np.testing.assert_array_equal(run(x), wanted)


@pytest.mark.parametrize("terms", [64, 256, 300])
def test_products_of_two_inputs_are_exact(terms):
    """The largest sums of all: up to a length in f32, which holds them."""
    model = model_of("MatMulInteger", np.zeros((3, terms), np.uint8), np.zeros(1, np.int8), 0, -128)
    model.graph.initializer.remove(model.graph.initializer[0])
    given = helper.make_tensor_value_info("w", TensorProto.INT8, (terms, 5))
    model.graph.input.append(given)
    x, w = np.full((3, terms), 255, np.uint8), np.full((terms, 5), 127, np.int8)
    w[:, 0] -= 1
    wanted = x.astype(np.int64) @ (w.astype(np.int64) + 128)
    np.testing.assert_array_equal(compiled(model, "host")(x, w), wanted)


CONVOLUTIONS = [
    (np.uint8, 9, 0, (2, 3, 7), (8, 3, 3), 1, 1, 1),  # channels that fill no word
    (np.int8, -5, 0, (1, 16, 6), (20, 16, 3), 1, 2, 1),
    (np.uint8, 200, 4, (1, 32, 5), (16, 32, 1), 0, 1, 1),  # weights that do not fit a byte
    (np.uint8, 3, 0, (1, 32, 6), (32, 8, 3), 1, 1, 4),
    (np.int8, 3, 0, (1, 32, 6), (32, 1, 3), 1, 1, 32),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("kind, zero, w_zero, shape, weight, pad, stride, groups", CONVOLUTIONS)
def test_convolutions_are_exact(name, kind, zero, w_zero, shape, weight, pad, stride, groups):
    rng = np.random.default_rng(2)
    x = numbers(rng, kind, *shape, shape[-1])
    w = numbers(rng, np.uint8 if w_zero else np.int8, *weight, weight[-1])
    attributes = {"pads": [pad] * 4, "strides": [stride] * 2, "group": groups}
    model = model_of("ConvInteger", x, w, zero, w_zero, **attributes)
    wanted = convolved(x.astype(np.int64) - zero, w.astype(np.int64) - w_zero, pad, stride, groups)
    run = compiled(model, name)
    np.testing.assert_array_equal(run(x), wanted)


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["cortex-a76", *sampled("shapes")])
def test_other_processors(name):
    require_emulator(name)
    test_matrix_products_are_exact(name, *PRODUCTS[2])
    test_convolutions_are_exact(name, *CONVOLUTIONS[0])

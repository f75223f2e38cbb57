"""The families that formats share: no format builds their ops by itself, and what the families are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeGuard

import numpy as np
import pytest
from nnc import frontends
from nnc.dialects import nn
from nnc.frontends.common import (
    blocks,
    gathering,
    movement,
    normalization,
    recurrent,
    reductions,
)
from nnc.frontends.common.builder import Builder
from nnc.frontends.common.layer import Layer
from nnc.ir.diagnostics import NncError
from nnc.ir.location import NameLoc
from nnc.ir.numpy_types import numpy_to_type
from nnc.ir.types import TensorType
from nnc.ir.values import Value
from nnc.numerics.interpreter import Interpreter

from .sources import parsed

ROOT = Path(frontends.__file__).parent
FAMILIES = {
    "normalization.py": "BatchNorm InstanceNorm GroupNorm LayerNorm RmsNorm Lrn",
    "convolution.py": "Conv ConvTranspose",
    "pooling.py": "MaxPool MaxPoolWithIndices AvgPool SumPool LpPool",
    "reductions.py": "ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean ReduceL1 ReduceL2 "
    "ReduceLogSum ReduceLogSumExp ReduceSumSquare Argmax Argmin TopK",
    "movement.py": "Slice SliceDynamic Pad",
    "windows.py": "PadDynamic",
    "gathering.py": "Gather GatherElements GatherNd OneHot",
}
OWNER = {op: name for name, ops in FAMILIES.items() for op in ops.split()}
FILES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if path.parent != ROOT and path.relative_to(ROOT).parts[0] != "common"
]


def ops_of(function: ast.expr) -> list[str]:
    """The ops that a call may build: `nn.Conv(..)`, `(nn.Conv if a else nn.ConvTranspose)(..)`."""
    either = isinstance(function, ast.IfExp)
    calls = (function.body, function.orelse) if either else (function,)
    return [one.attr for one in calls if is_of_nn(one)]


def is_of_nn(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether this is `nn.NAME`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == "nn"


def reduces(call: ast.Call) -> bool:
    """Whether a call builds a reduction whose op a variable holds."""
    names = {keyword.arg for keyword in call.keywords}
    return (
        isinstance(call.func, ast.Name) and "keep_dims" in names and bool({"axes", "axis"} & names)
    )


def test_no_format_builds_an_op_of_a_family():
    found = []
    for path in FILES:
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call):
                continue
            owners = [OWNER[op] for op in ops_of(node.func) if op in OWNER]
            owners += ["reductions.py"] if reduces(node) else []
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            found += [f"{place}: common/{owner} has it" for owner in owners]
    assert not found, "\n".join(found)


FIXED_POINT = "tflite/integers/ops/lstm.py"
"""LSTMs of integers: gates and states are of fixed point, and rounded between each two steps."""


def builds_a_cell(function: ast.FunctionDef) -> bool:
    """Whether a function computes gates: by their activations, or as variables of their names."""
    parts = list(ast.walk(function))
    ops = {part.attr for part in parts if is_of_nn(part)}
    targets = [target for p in parts if isinstance(p, ast.Assign) for target in p.targets]
    made = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    functions = [part.func for part in parts if isinstance(part, ast.Call)]
    called = {one.id for one in functions if isinstance(one, ast.Name)}
    if {"z", "r"} <= made and "gru_state" not in called:
        return True
    return {"Sigmoid", "Tanh"} <= ops or {"i", "f", "o"} <= made


def test_no_format_builds_the_cell_of_a_recurrence():
    """Cells are `lstm`, `gru` and `rnn` of common/recurrent.py, or its steps `lstm_states` and
    `gru_state`, with the format's order of gates, activations, weights and states.
    """
    found = []
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef) and name != FIXED_POINT and builds_a_cell(node):
                found.append(f"{name}:{node.lineno} {node.name}: common/recurrent.py has it")
    assert not found, "\n".join(found)


def ran(make: Callable[..., Value], *arrays: np.ndarray, opened: bool = False) -> np.ndarray:
    """What a family makes of arrays, whose extents may be open at import."""
    builder = Builder(NameLoc("model"))
    values = [
        builder.argument(
            f"x{i}",
            TensorType((None,) * a.ndim if opened else a.shape, numpy_to_type(a.dtype)),
        )
        for i, a in enumerate(arrays)
    ]
    out = make(Layer(builder, "layer", builder.loc), *values)
    module = builder.module([f"x{i}" for i in range(len(arrays))], [("y", out)], {}, {})
    return Interpreter(module).call("main", list(arrays))[0]


RNG = np.random.default_rng(3)
X = RNG.standard_normal((2, 6, 4, 5)).astype(np.float32)
SCALE, BIAS = (RNG.standard_normal(6).astype(np.float32) for _ in range(2))


def standard(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + epsilon)


def column(v: np.ndarray) -> np.ndarray:
    return v[:, None, None]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_parameters_of_norms_get_the_type_of_what_they_scale(dtype):
    x = X.astype(dtype)
    epsilon, tolerance = 1e-3, 5e-3 if dtype == "f2" else 1e-5
    wide = x.astype("f8")
    cases = {
        "instance": (
            lambda n, x, s, b: normalization.instance_normed(n, x, s, b, epsilon),
            standard(wide, (2, 3), epsilon),
        ),
        "groups": (
            lambda n, x, s, b: normalization.group_normed(n, x, s, b, 3, epsilon),
            standard(wide.reshape(2, 3, 40), (2,), epsilon).reshape(x.shape),
        ),
        "layer, another axis": (
            lambda n, x, s, b: normalization.layer_normed(n, x, s, b, (1,), epsilon),
            standard(wide, (1,), epsilon),
        ),
        "batch": (
            lambda n, x, s, b: normalization.batch_norm_now(
                n, x, s, b, s.type.element_type, epsilon
            )[0],
            standard(wide, (0, 2, 3), epsilon),
        ),
    }
    for name, (make, normal) in cases.items():
        found = ran(make, x, SCALE, BIAS)
        assert found.dtype == x.dtype, name
        wanted = normal * column(SCALE) + column(BIAS)
        np.testing.assert_allclose(found, wanted, tolerance, tolerance, err_msg=name)


def test_norms_along_any_axes_without_parameters():
    mean = (X.astype("f8") ** 2).mean((1, 3), keepdims=True)
    found = ran(lambda n, x: normalization.rms_normed(n, x, None, (3, 1), 1e-5), X)
    np.testing.assert_allclose(found, X / np.sqrt(mean + 1e-5), 1e-5, 1e-5)
    for axes in ((1, 2), (2, 3), (3,)):
        found = ran(
            lambda n, x, axes=axes: normalization.layer_normed(n, x, None, None, axes, 1e-5), X
        )
        np.testing.assert_allclose(found, standard(X, axes, 1e-5), 1e-4, 1e-5)


def test_a_vector_scales_all_dimensions_that_are_normalized():
    """As Paddle and ncnn store it; one of the last dimension's extent is repeated."""
    whole, last = np.arange(20, dtype="f"), np.arange(5, dtype="f")
    for scale in (whole, last):
        found = ran(
            lambda n, x, s: normalization.layer_normed(n, x, s, None, (2, 3), 1e-5), X, scale
        )
        wanted = standard(X, (2, 3), 1e-5) * scale.reshape(-1, 5)
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)


@pytest.mark.parametrize("opened", [False, True])
def test_slices_of_several_axes(opened):
    def make(n: Layer, x: Value) -> Value:
        return movement.sliced(n, x, {1: (1, -1, 2), 2: (-2, movement.FAR, 1), 3: (4, None, 1)})

    np.testing.assert_array_equal(ran(make, X, opened=opened), X[:, 1:-1:2, -2:, 4:5])


def test_extremes_of_all_elements_and_of_truth_values():
    flags = X > 0

    def make(n: Layer, x: Value) -> Value:
        return reductions.extreme_at(n, x, nn.Argmax, None, keep=True)

    assert ran(make, X).tolist() == [[[[X.argmax()]]]]
    assert ran(make, flags).tolist() == [[[[flags.argmax()]]]]
    found = ran(lambda n, x: reductions.reduced(n, x, nn.ReduceMin, (1, 2), True), flags)
    np.testing.assert_array_equal(found, flags.all((1, 2), keepdims=True))


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f4"])
def test_indices_of_any_type(dtype):
    order = X.argsort(1).astype(dtype)
    found = ran(lambda n, x, i: gathering.gathered_elements(n, x, i, 1), X, order)
    np.testing.assert_array_equal(found, np.sort(X, 1))
    places = np.array([[0, 5], [1, 2]], dtype)
    found = ran(gathering.gathered_nd, X, places)
    np.testing.assert_array_equal(found, X[[0, 1], [5, 2]])


@pytest.mark.parametrize("steps", [(1, 2, 1, 3), (1, 1, 4, 1), (1, 1, 1, 1)])
def test_elements_apart(steps):
    shape = [(d - 1) * s + 1 for d, s in zip(X.shape, steps, strict=True)]
    wanted = np.full(shape, 7, np.float32)
    wanted[tuple(slice(None, None, s) for s in steps)] = X
    found = ran(lambda n, x: blocks.dilated(n, x, steps, n.scalar(7, x)), X)
    np.testing.assert_array_equal(found, wanted)


def test_squares_as_channels():
    x = X[:, :, :, :4]
    wanted = [x[:, :, i::2, j::2] for i in range(2) for j in range(2)]
    found = ran(lambda n, x: blocks.pixel_unshuffle(n, x, 2), np.ascontiguousarray(x))
    np.testing.assert_array_equal(found, np.stack(wanted, 2).reshape(2, 24, 2, 2))
    with pytest.raises(NncError, match="does not divide by 3"):
        ran(lambda n, x: blocks.pixel_unshuffle(n, x, 3), X)


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def layer_of_lstm(x: np.ndarray, w: np.ndarray, r: np.ndarray, backward: bool) -> np.ndarray:
    """All steps of an LSTM whose gates lie in the order i f g o, from states of zeros."""
    h = c = np.zeros((x.shape[1], r.shape[0]))
    found = np.zeros((*x.shape[:2], r.shape[0]))
    for t in reversed(range(len(x))) if backward else range(len(x)):
        i, f, g, o = np.split(x[t] @ w + h @ r, 4, axis=1)
        c = logistic(f) * c + logistic(i) * np.tanh(g)
        h = found[t] = logistic(o) * np.tanh(c)
    return found


@pytest.mark.parametrize("steps", [3, 40])
def test_layers_of_both_directions_from_states_of_zeros(steps):
    """Few steps are unrolled, more are a loop."""
    x = RNG.standard_normal((steps, 2, 5)).astype("f")
    sizes = [(5, 12), (5, 12), (6, 12), (6, 12)]
    weights = [RNG.standard_normal(size).astype("f") for size in sizes]
    states = [RNG.standard_normal((3, 12)).astype("f") for _ in sizes]

    def make(n: Layer, x: Value, *given: Value) -> Value:
        def direction(at: int) -> recurrent.Direction:
            return recurrent.Direction(n, given[at], given[4 + at])

        cells = partial(recurrent.lstm, order="ifgo")
        outputs, lasts = recurrent.layers(n, x, (None, None), cells, direction, 2, True)
        assert [v.type.shape for v in lasts] == [(4, 2, 3)] * 2
        return outputs

    wanted = x.astype("f8")
    for first in (0, 2):
        pairs = [(weights[at], states[at], at > first) for at in (first, first + 1)]
        wanted = np.concatenate([layer_of_lstm(wanted, *one) for one in pairs], 2)
    np.testing.assert_allclose(ran(make, x, *weights, *states), wanted, 1e-4, 1e-5)

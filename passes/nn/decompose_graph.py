"""Ops that are taken apart before fusion: their parts fold or fuse better than the whole."""

from __future__ import annotations

import math

from ...dialects import nn
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.rewriting import Rewriter, Var, constant_value, rewrite, rule, rules, term
from ...ir.strict_math import is_strict
from ...ir.types import Dim, FloatType, TensorType, i64
from .building import element_of, finish, per_channel, reshape, scalar, shape_of

x = Var("x")
mul, pow_, reciprocal = (term(c) for c in (nn.Mul, nn.Pow, nn.Reciprocal))

POWERS = rules(
    rule("pow-three", pow_(x, 3) >> mul(mul(x, x), x)),
    rule("pow-minus-one", pow_(x, -1) >> reciprocal(x)),
)
"""Rounded otherwise than by `pow`, which is why they are no canonicalizations."""


ORDINARY = (2.0**-100, 2.0**100)
"""Sizes of numbers whose reciprocals are as precise as they are."""

FEW_NUMBERS = 1 << 16


@rewrite(nn.Div)
def divide_by_constant(op: nn.Div, rewriter: Rewriter) -> None:
    """x / c -> x * (1 / c), which rounds twice, unless the math is wanted as written"""
    value = constant_value(op.rhs)
    if (
        not isinstance(value, DenseElements)
        or not isinstance(element_of(op.rhs), FloatType)
        or value.type.num_elements > FEW_NUMBERS
        or is_strict(op)
        or op.lhs.defined_by(nn.Constant) is not None
    ):
        return
    low, high = ORDINARY
    if all(low <= abs(number) <= high for number in value.values()):
        rewriter.replace(op, nn.Mul(op.lhs, rewriter(nn.Reciprocal(op.rhs)), out=op.out.type))


@rewrite(nn.DepthToSpace)
def decompose_depth_to_space(op: nn.DepthToSpace, rewriter: Rewriter) -> None:
    """depth_to_space(x) -> reshape(transpose(reshape(x)))"""
    N, C, H, W = shape_of(op.x)
    if C is None or [N, H, W].count(None) > 1:
        return
    b, k = rewriter, op.block
    depth = C // (k * k)
    if op.mode == "DCR":
        split, order = (N, k, k, depth, H, W), (0, 3, 4, 1, 5, 2)
    else:
        split, order = (N, depth, k, k, H, W), (0, 1, 4, 2, 5, 3)
    moved = b(nn.Transpose(reshape(b, op.x, split), order))
    finish(b, op, reshape(b, moved, shape_of(op.out)))


@rewrite(nn.SpaceToDepth)
def decompose_space_to_depth(op: nn.SpaceToDepth, rewriter: Rewriter) -> None:
    """space_to_depth(x) -> reshape(transpose(reshape(x)))"""
    N, C, H, W = shape_of(op.x)
    if H is None or W is None or [N, C].count(None) > 1:
        return
    b, k = rewriter, op.block
    split = reshape(b, op.x, (N, C, H // k, k, W // k, k))
    finish(b, op, reshape(b, b(nn.Transpose(split, (0, 3, 5, 1, 2, 4))), shape_of(op.out)))


@rewrite(nn.Tile)
def decompose_tile(op: nn.Tile, rewriter: Rewriter) -> None:
    """tile(x) -> reshape(broadcast_to(reshape(x)))"""
    shape = shape_of(op.x)
    if None in shape:
        return
    b = rewriter
    apart = [d for extent in shape for d in (1, extent)]
    wide = [d for n, extent in zip(op.repeats, shape, strict=True) for d in (n, extent)]
    spread = b(
        nn.BroadcastTo(reshape(b, op.x, apart), out=TensorType(tuple(wide), element_of(op.x)))
    )
    finish(b, op, reshape(b, spread, shape_of(op.out)))


@rewrite(nn.ConvTranspose)
def decompose_conv_transpose(op: nn.ConvTranspose, rewriter: Rewriter) -> None:
    """conv_transpose(x, w) -> one convolution for each phase of the stride, interleaved

    With k = s*q + r, the result at s*t + r sums x[t - q] * w[s*q + r] over q: a convolution
    with kernel q that has the s phases r as channels of its result.
    """
    b = rewriter
    window = op.window(op.operand_types, op)
    x_shape, w_shape = shape_of(op.x), shape_of(op.weight)
    if None in x_shape[1:] or None in w_shape:
        return
    groups, spatial = op.groups, len(x_shape) - 2
    weight, kernel = _undilated(b, op.weight, window.dilations)
    strides = window.strides
    taps = [-(-k // s) for k, s in zip(kernel, strides, strict=True)]
    missing = [q * s - k for q, s, k in zip(taps, strides, kernel, strict=True)]
    if any(missing):
        pads = (0, 0, *[0] * spatial, 0, 0, *missing)
        weight = b(nn.Pad(weight, scalar(b, 0, element_of(weight)), pads=pads)).result
    weight = _phases(b, weight, groups, taps, strides)
    # The kernel is at every place once that it overlaps the operand.
    border = [q - 1 for q in taps]
    pads = border * 2 if any(border) else None
    phases = b(nn.Conv(op.x, weight, pads=pads, groups=groups)).result
    out = _interleave(b, phases, w_shape[1] * groups, strides)
    out = _crop(b, out, window.begin, shape_of(op.out)[2:])
    if op.bias is not None:
        out = b(nn.Add(out, per_channel(b, op.bias, len(x_shape)))).result
    finish(b, op, out)


def _undilated(b: Rewriter, weight: Value, dilations) -> tuple[Value, list[int]]:
    """The kernel with zeros between its elements, and its extents."""
    shape = shape_of(weight)
    kernel: list[int] = list(shape[2:])  # type: ignore[arg-type]
    for i, d in enumerate(dilations):
        if d == 1 or kernel[i] == 1:
            continue
        lead, tail = shape_of(weight)[: 2 + i], shape_of(weight)[3 + i :]
        spread = reshape(b, weight, (*lead, kernel[i], 1, *tail))
        rank = len(shape_of(spread))
        pads = [0] * (2 * rank)
        pads[rank + 3 + i] = d - 1
        zero = scalar(b, 0, element_of(weight))
        spread = b(nn.Pad(spread, zero, pads=pads))
        weight = reshape(b, spread, (*lead, kernel[i] * d, *tail))
        kernel[i] = kernel[i] * d
    return weight, kernel


def _phases(b: Rewriter, weight: Value, groups: int, taps, strides) -> Value:
    """[C, M, K..] as [groups * M * phases, C / groups, Q..], each kernel reversed."""
    C, M = shape_of(weight)[:2]
    spatial = len(taps)
    split = [d for q, s in zip(taps, strides, strict=True) for d in (q, s)]
    apart = reshape(b, weight, (groups, C // groups, M, *split))
    order = [0, 2, *(4 + 2 * i for i in range(spatial)), 1, *(3 + 2 * i for i in range(spatial))]
    moved = b(nn.Transpose(apart, order))
    merged = reshape(b, moved, (groups * M * math.prod(strides), C // groups, *taps))
    if all(q == 1 for q in taps):
        return merged
    shape = shape_of(merged)
    starts = (0, 0, *(q - 1 for q in taps))
    steps = (1, 1, *(-1 for _ in taps))
    return b(nn.Slice(merged, starts, steps, out=TensorType(shape, element_of(merged)))).result


def _interleave(b: Rewriter, phases: Value, M: int, strides) -> Value:
    """[N, M * phases, T..] as [N, M, T * stride..]."""
    N, _, *extents = shape_of(phases)
    if all(s == 1 for s in strides):
        return phases
    spatial = len(strides)
    apart = reshape(b, phases, (N, M, *strides, *extents))
    order = [0, 1, *(d for i in range(spatial) for d in (2 + spatial + i, 2 + i))]
    moved = b(nn.Transpose(apart, order))
    wide = (t * s for t, s in zip(extents, strides, strict=True))  # type: ignore[operator]
    return reshape(b, moved, (N, M, *wide))


def _crop(b: Rewriter, x: Value, begin, wanted) -> Value:
    """`wanted` elements from `begin` on in each spatial dimension, zeros where there are none."""
    extents = shape_of(x)[2:]
    before = [-p for p in begin]
    after = [w + p - e for w, p, e in zip(wanted, begin, extents, strict=True)]
    if not any(before) and not any(after):
        return x
    if any(a > 0 for a in (*before, *after)):
        pads = (0, 0, *before, 0, 0, *after)
        return b(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    out = TensorType((*shape_of(x)[:2], *wanted), element_of(x))
    return b(nn.Slice(x, (0, 0, *begin), out=out)).result


@rewrite(nn.Resize)
def decompose_resize(op: nn.Resize, rewriter: Rewriter) -> None:
    """resize(x) -> for each dimension, a weighted sum of gathers at constant positions"""
    import numpy as np

    shape, result_shape = shape_of(op.x), shape_of(op.out)
    element = element_of(op.x)
    smooth = op.mode != "nearest"
    if None in shape or None in result_shape or op.x.type is op.out.type:
        return
    if smooth and str(element) not in ("f32", "f64"):
        return
    b, out = rewriter, op.x
    beyond = np.zeros(result_shape, np.bool_)
    for axis in range(len(shape)):
        if not op.samples(axis, shape):
            continue
        positions, weights, outside = op.taps(shape, axis)
        beyond |= outside.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        factor = result_shape[axis] // max(shape[axis], 1)
        repeated = np.repeat(np.arange(shape[axis]), factor)
        if not smooth and np.array_equal(positions[:, 0], repeated):
            out = _repeat(b, out, axis, factor)
        else:
            out = _sample(b, out, axis, positions, weights if smooth else None)
    if beyond.any():
        mask = b(nn.Constant(DenseElements.from_numpy(beyond)))
        out = b(nn.Where(mask, scalar(b, op.extrapolation_value, element), out)).result
    finish(b, op, out)


def _repeat(b: Rewriter, x: Value, axis: int, factor: int) -> Value:
    """Every element along the axis `factor` times."""
    shape: tuple[Dim, ...] = shape_of(x)
    lead, tail = shape[: axis + 1], shape[axis + 1 :]
    wide = TensorType((*lead, factor, *tail), element_of(x))
    spread = b(nn.BroadcastTo(reshape(b, x, (*lead, 1, *tail)), out=wide))
    return reshape(b, spread, (*shape[:axis], shape[axis] * factor, *tail))  # type: ignore[operator]


def _sample(b: Rewriter, x: Value, axis: int, positions, weights) -> Value:
    """The sum over t of x at positions[:, t] along the axis, times weights[:, t] if given."""
    from ...ir.numpy_types import type_to_numpy

    total: Value | None = None
    ones = [1] * (len(shape_of(x)) - axis - 1)
    for t in range(positions.shape[1]):
        where = TensorType((len(positions),), i64)
        index = b(nn.Constant(DenseElements.from_list(positions[:, t].tolist(), where)))
        part = b(nn.Gather(x, index, axis=axis)).result
        if weights is not None:
            column = weights[:, t].reshape(-1, *ones).astype(type_to_numpy(element_of(x)))
            part = b(nn.Mul(part, b(nn.Constant(DenseElements.from_numpy(column))))).result
        total = part if total is None else b(nn.Add(total, part)).result
    assert total is not None
    return total


PATTERNS = (
    *POWERS,
    divide_by_constant,
    decompose_depth_to_space,
    decompose_space_to_depth,
    decompose_tile,
    decompose_conv_transpose,
    decompose_resize,
)

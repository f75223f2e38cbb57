"""Decompositions to make before fusion: the parts can be folded or fused better
than the whole op.
"""

from __future__ import annotations

from math import prod

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.attributes import DenseElements
from ...ir.lazy import np
from ...ir.rewrite_rules import Var, rule, rules, term
from ...ir.rewriting import Rewriter, constant_value, rewrite
from ...ir.types import FloatType, TensorType
from ...targets.attribute import target_of
from .building import element_of, extent, finish, reshape, reshape_to, shape_of, widen
from .steps import reaches_step

x = Var("x")
mul, pow_, reciprocal = (term(c) for c in (nn.Mul, nn.Pow, nn.Reciprocal))

POWERS = rules(
    rule("pow-three", pow_(x, 3) >> mul(mul(x, x), x)),
    rule("pow-minus-one", pow_(x, -1) >> reciprocal(x)),
)
"""These round differently from `pow`, so they are not canonicalizations."""


ORDINARY = (2.0**-100, 2.0**100)
"""The range of magnitudes whose reciprocals are as precise as the numbers themselves."""

FEW_NUMBERS = 1 << 16
"""The most elements of a constant that are examined."""


@rewrite(nn.Div)
def divide_by_constant(op: nn.Div, rewriter: Rewriter) -> None:
    """x / c -> x * (1 / c), which rounds twice, unless that may show or math is strict

    Floats of 16 bits are cast to f32, because 1 / c rounded to 16 bits would show in the result. A
    single number is divided: that takes no time, and it may be the scale of many numbers.
    """
    value = constant_value(op.rhs)
    if (
        prod(d or 0 for d in shape_of(op.out)) == 1
        or not isinstance(value, DenseElements)
        or not isinstance(element_of(op.rhs), FloatType)
        or value.type.num_elements > FEW_NUMBERS
        or is_strict(op)
        or op.lhs.defined_by(nn.Constant) is not None
        or reaches_step(op.out)
    ):
        return
    low, high = ORDINARY
    if all(low <= abs(number) <= high for number in value.values()):
        share = rewriter(nn.Reciprocal(widen(rewriter, op.rhs)))
        finish(rewriter, op, rewriter(nn.Mul(widen(rewriter, op.lhs), share)))


@rewrite(nn.DepthToSpace)
def decompose_depth_to_space(op: nn.DepthToSpace, rewriter: Rewriter) -> None:
    """depth_to_space(x) -> reshape(transpose(reshape(x)))"""
    b, k = rewriter, op.block
    N, _, H, W = (extent(b, op.x, axis) for axis in range(4))
    depth = extent(b, op.x, 1, over=k * k)
    if op.mode == "DCR":
        split, order = (N, k, k, depth, H, W), (0, 3, 4, 1, 5, 2)
    else:
        split, order = (N, depth, k, k, H, W), (0, 1, 4, 2, 5, 3)
    moved = b(nn.Transpose(reshape_to(b, op.x, split), order))
    rows, columns = (extent(b, op.x, axis, times=k) for axis in (2, 3))
    finish(b, op, reshape_to(b, moved, (N, depth, rows, columns)))


@rewrite(nn.SpaceToDepth)
def decompose_space_to_depth(op: nn.SpaceToDepth, rewriter: Rewriter) -> None:
    """space_to_depth(x) -> reshape(transpose(reshape(x)))"""
    b, k = rewriter, op.block
    N, C = (extent(b, op.x, axis) for axis in (0, 1))
    rows, columns = (extent(b, op.x, axis, over=k) for axis in (2, 3))
    moved = b(nn.Transpose(reshape_to(b, op.x, (N, C, rows, k, columns, k)), (0, 3, 5, 1, 2, 4)))
    finish(b, op, reshape_to(b, moved, (N, extent(b, op.x, 1, times=k * k), rows, columns)))


@rewrite(nn.MaxPool)
def split_large_max_pool(op: nn.MaxPool, rewriter: Rewriter) -> None:
    """max_pool(x) -> max_pool(max_pool(x)), over rows and then columns, if windows overlap much"""
    axes = [i for i, n in enumerate(op.kernel) if n > 1]
    if len(axes) < 2 or op.ceil_mode:
        return
    window = op.window([op.x.type], op)
    first, rest = axes[0], [i for i in range(len(op.kernel)) if i != axes[0]]
    between = prod(window.strides[i] for i in rest)
    apart = op.kernel[first] * between + prod(op.kernel[i] for i in rest)
    if prod(op.kernel) < target_of(op).machine.costs.algorithms.separated_window * apart:
        return
    out = op.x
    for those in ([first], rest):
        rows = [
            [n if i in those else neutral for i, n in enumerate(numbers)]
            for numbers, neutral in (
                (op.kernel, 1),
                (window.strides, 1),
                (window.dilations, 1),
                (window.begin, 0),
                (window.end, 0),
            )
        ]
        kernel, strides, dilations, begin, end = rows
        form = {"strides": strides, "dilations": dilations, "pads": (*begin, *end), **op.manner}
        out = rewriter(nn.MaxPool(out, kernel, **form)).result
    finish(rewriter, op, out)


@rewrite(nn.Tile)
def decompose_tile(op: nn.Tile, rewriter: Rewriter) -> None:
    """tile(x) -> reshape(broadcast_to(reshape(x)))"""
    b, shape, pairs = rewriter, shape_of(op.x), list(enumerate(op.repeats))
    apart = reshape_to(b, op.x, [d for axis, _ in pairs for d in (1, extent(b, op.x, axis))])
    wide = tuple(d for axis, n in pairs for d in (n, shape[axis]))
    spread = b(nn.BroadcastTo(apart, out=TensorType(wide, element_of(op.x))))
    finish(b, op, reshape_to(b, spread, [extent(b, op.x, axis, times=n) for axis, n in pairs]))


@rewrite(nn.Resize)
def decompose_resize(op: nn.Resize, rewriter: Rewriter) -> None:
    """resize(x) -> broadcast or slice, where each element is repeated or every n-th is taken"""
    shape, result_shape = shape_of(op.x), shape_of(op.out)
    if None in shape or None in result_shape or op.x.type is op.out.type or op.mode != "nearest":
        return
    factors: dict[int, int] = {}
    starts, steps = [0] * len(shape), [1] * len(shape)
    for axis in range(len(shape)):
        if not op.samples(axis, shape):
            continue
        positions, _, outside = op.taps_along(axis, shape[axis])
        if outside.any() or not positions.size:
            return
        places = positions[:, 0]
        factor = result_shape[axis] // max(shape[axis], 1)
        step = int(places[1] - places[0]) if len(places) > 1 else 1
        if np.array_equal(places, np.repeat(np.arange(shape[axis]), factor)):
            factors[axis] = factor
        elif step > 0 and np.array_equal(places, places[0] + step * np.arange(len(places))):
            starts[axis], steps[axis] = int(places[0]), step
        else:
            return
    b, x = rewriter, op.x
    kept = [n if axis in factors else result_shape[axis] for axis, n in enumerate(shape)]
    if kept != list(shape):
        shape = kept
        taken = TensorType(tuple(shape), element_of(x))
        x = b(nn.Slice(x, starts, steps=steps, out=taken)).result
    if not factors:
        finish(b, op, x)
        return
    apart = [d for axis, n in enumerate(shape) for d in ((n, 1) if axis in factors else (n,))]
    wide = [
        d for axis, n in enumerate(shape) for d in ((n, factors[axis]) if axis in factors else (n,))
    ]
    spread = TensorType(tuple(wide), element_of(op.x))
    out = b(nn.BroadcastTo(reshape(b, x, apart), out=spread))
    finish(b, op, reshape(b, out, result_shape))


@rewrite(nn.Split)
def split_into_slices(op: nn.Split, rewriter: Rewriter) -> None:
    """split(x) -> slice(x), slice(x), .."""
    at, parts = 0, []
    for out in op.outs:
        starts = [at if d == op.axis else 0 for d in range(len(shape_of(op.x)))]
        parts.append(rewriter(nn.Slice(op.x, starts, out=out.type)))
        at += shape_of(out)[op.axis] or 0
    rewriter.replace(op, parts)


WHOLE = (divide_by_constant,)
"""Patterns that look at all users of a value, which may be outside if the op is in a kernel."""

PATTERNS = (
    *POWERS,
    decompose_depth_to_space,
    decompose_space_to_depth,
    decompose_tile,
    split_large_max_pool,
)

LAYOUT = (decompose_resize,)
"""Patterns to apply after layouts have been chosen: a resize by repetition adds a dimension, for
which there is no layout.
"""

KERNEL = (split_into_slices,)
"""Patterns for inside of kernels; `sink-views` applies this one before fusion too."""

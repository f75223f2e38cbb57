"""Convolutions of one tensor whose results are added become one convolution.

Networks that have branches for training only (RepVGG, MobileOne) are often exported with them.

conv(x, w, b) + conv(x, v, c)  ->  conv(x, w + v, b + c)
conv(x, w, b) + (x * s + t)    ->  conv(x, w + diag(s), b + t)

The results may be scaled before, as in FastViT, and another sum may follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dialects import nn
from ...dialects.nn.windows import Window
from ...dialects.strict_math import is_strict
from ...ir.attributes import DenseElements
from ...ir.core import Operation, Value
from ...ir.location import fuse_locations
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import Rewriter, apply_greedily, rewrite
from ...ir.types import TensorType
from .building import cast, element_of, reshape, scalar, shape_of, widen
from .fold_batch_norm import PATTERNS as FOLDING
from .fold_batch_norm import conv_before, is_per_channel


@dataclass(frozen=True)
class MergeConvolutions(Pass, name="merge-convolutions", anchor="func.func"):
    """Add the constant weights of convolutions of one tensor, instead of their results.

        %0 = nn.conv %x, %v {pads = [1, 1, 1, 1]}          %w = nn.pad %u {pads = [0, 0, 1, 1, ..]}
        %1 = nn.conv %x, %u                         ->     %s = nn.add %v, %w
        %2 = nn.add %0, %1                                 %2 = nn.conv %x, %s {pads = [1, 1, 1, 1]}

    One of the windows must contain the others, so that there are no more products than before. A
    multiple of x is a convolution, too. An infinite x may give NaN instead of an infinity or the
    other way round: x * 1 - x * 3 is NaN then, and x * -2 is not.
    """

    numerics = "approximate"

    def run(self, op: Operation, context: PassContext) -> None:
        """Apply the patterns; `fold-constants` then computes the new weights.

        A module with strict math keeps its convolutions.
        """
        if not is_strict(op):
            apply_greedily(op, PATTERNS, fold=False, trace=context.trace)


@rewrite(nn.Add)
def sum_of_convs(op: nn.Add, rewriter: Rewriter) -> None:
    """add(conv(x, w, b), conv(x, v, c)) -> conv(x, w + v, b + c)"""
    if (merged := _merged(rewriter, op.lhs, op.rhs)) is not None:
        rewriter.replace(op, merged)


@rewrite(nn.Add)
def sum_within_sum(op: nn.Add, rewriter: Rewriter) -> None:
    """add(add(t, conv(x, w, b)), conv(x, v, c)) -> add(conv(x, w + v, b + c), t)"""
    for inner, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        before = inner.defined_by(nn.Add)
        if before is None or not inner.has_one_use or inner.type is not op.out.type:
            continue
        for term, rest in ((before.rhs, before.lhs), (before.lhs, before.rhs)):
            if (merged := _merged(rewriter, term, other)) is not None:
                rewriter.replace(op, rewriter(nn.Add(merged, rest, out=op.out.type)))
                return


@rewrite(nn.Sub)
def difference_from_input(op: nn.Sub, rewriter: Rewriter) -> None:
    """sub(conv(x, w, b), x * s + t) -> conv(x, w - diag(s), b - t)"""
    conv = conv_before(op.lhs)
    if isinstance(conv, nn.Conv):
        merged = _with_input(rewriter, conv, op.rhs, -1.0)
        if merged is not None:
            rewriter.replace(op, merged)


PATTERNS = (sum_of_convs, sum_within_sum, difference_from_input, *FOLDING)


def _merged(b: Rewriter, one: Value, other: Value) -> Value | None:
    """The sum of two values as one convolution; None if that is not possible."""
    first, second = conv_before(one), conv_before(other)
    if isinstance(first, nn.Conv) and isinstance(second, nn.Conv):
        return _of_convs(b, first, second) or _of_convs(b, second, first)
    for conv, value in ((first, other), (second, one)):
        if isinstance(conv, nn.Conv) and (found := _with_input(b, conv, value)) is not None:
            return found
    return None


def _of_convs(b: Rewriter, large: nn.Conv, small: nn.Conv) -> Value | None:
    """The sum of two convolutions, if the window of the first contains the other's; else None."""
    if large.x is not small.x or large.groups != small.groups:
        return None
    if large.out.type is not small.out.type:
        return None
    before = _place(_window(large), _window(small))
    if before is None:
        return None
    weight = _placed(b, small.weight, before, shape_of(large.weight))
    return _with_more(b, large, weight, small.bias, small)


def _with_input(b: Rewriter, conv: nn.Conv, value: Value, sign: float = 1.0) -> Value | None:
    """A convolution of x plus `sign` times the value x * s + t; None if the value is not of that
    form.

    s and t are constants [C], either of which may be missing.
    """
    shift = scale = None
    term = value
    if (added := term.defined_by(nn.Add)) is not None and is_per_channel(added.rhs, added.out.type):
        term, shift = added.lhs, added.rhs
    if (times := term.defined_by(nn.Mul)) is not None and is_per_channel(times.rhs, times.out.type):
        term, scale = times.lhs, times.rhs
    shape, element = shape_of(conv.weight), element_of(conv.weight)
    ones = (1,) * (len(shape) - 2)
    point = Window(ones, ones, ones, (0,) * len(ones), (0,) * len(ones))
    before = _place(_window(conv), point)
    if term is not conv.x or value.type is not conv.out.type or before is None:
        return None
    channels, of_group = shape[:2]
    diagonal = np.zeros((channels, of_group, *ones), np.float32)
    diagonal[np.arange(channels), np.arange(channels) % of_group] = sign
    weight = widen(b, cast(b, b(nn.Constant(DenseElements.from_numpy(diagonal))), element))
    if scale is not None:
        weight = b(nn.Mul(weight, reshape(b, widen(b, scale), (channels, 1, *ones)))).result
    if shift is not None:
        whole = reshape(b, widen(b, shift), (channels,))
        shift = b(nn.Mul(whole, scalar(b, sign, element_of(whole)))).result
    return _with_more(b, conv, _placed(b, weight, before, shape), shift, value.defining_op)


def _window(conv: nn.Conv) -> Window:
    x = conv.x.type
    assert isinstance(x, TensorType)
    return Window.of(conv, x, shape_of(conv.weight)[2:])


def _place(large: Window, small: Window) -> list[int] | None:
    """For each dimension, at which kernel element of `large` the window of `small` begins.

    None if it is not inside. Both windows must give results of the same shape.
    """
    found = []
    for i, (size, inner) in enumerate(zip(large.kernel, small.kernel, strict=True)):
        step = large.dilations[i]
        if size is None or inner is None or large.strides[i] != small.strides[i]:
            return None
        if inner > 1 and small.dilations[i] != step:
            return None
        left = large.begin[i] - small.begin[i]
        right = (size - inner) * step - left
        # As many results, whatever the extent.
        if left < 0 or right < 0 or left % step or large.end[i] - small.end[i] != right:
            return None
        found.append(left // step)
    return found


def _placed(b: Rewriter, weight: Value, before: list[int], shape: tuple[int, ...]) -> Value:
    """The weights with zeros around, as those of a larger window."""
    own = shape_of(weight)[2:]
    after = [s - k - a for s, k, a in zip(shape[2:], own, before, strict=True)]
    if not any(before) and not any(after):
        return weight
    out = TensorType(shape, element_of(weight))
    return b(nn.Pad(weight, pads=(0, 0, *before, 0, 0, *after), out=out)).result


def _with_more(
    b: Rewriter, conv: nn.Conv, weight: Value, bias: Value | None, other: Operation | None
) -> Value:
    """The convolution with these weights and this bias [M] added to its own."""
    element = element_of(conv.weight)
    whole = cast(b, b(nn.Add(widen(b, conv.weight), widen(b, weight))), element)
    if bias is not None and conv.bias is not None:
        bias = cast(b, b(nn.Add(widen(b, conv.bias), widen(b, bias))), element)
    bias = conv.bias if bias is None else bias
    new = conv.clone()
    new.operands = [conv.x, whole, *([bias] if bias is not None else [])]
    new.loc = conv.loc if other is None else fuse_locations([conv.loc, other.loc])
    return b(new).results[0]

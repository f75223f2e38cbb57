"""Transposed convolutions as convolutions, one for each phase of the stride."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.windows import Window
from ...ir.core import Value
from ...ir.rewriting import Rewriter, rewrite
from ...ir.types import TensorType, i64
from ...targets.attribute import target_of
from .building import (
    element_of,
    extent,
    finish,
    integers,
    per_channel,
    reshape,
    reshape_to,
    scalar,
    shape_of,
)


@rewrite(nn.ConvTranspose)
def decompose_conv_transpose(op: nn.ConvTranspose, rewriter: Rewriter) -> None:
    """conv_transpose(x, w) -> one convolution for each phase of the stride, interleaved

    With stride s and k = s*q + r, the result at s*t + r is the sum of x[t - q] * w[s*q + r] over q.
    That is a convolution over q for each phase r; all phases together are one convolution with the
    phases as channels of its result. If phases have kernels of different sizes, or the borders that
    they do not share are large, each phase is a convolution of its own.
    """
    b = rewriter
    window = op.window(op.operand_types, op)
    out = _of_open_kernel(b, op, window) if None in window.kernel else _in_phases(b, op, window)
    if op.bias is not None:
        out = b(nn.Add(out, per_channel(b, op.bias, len(shape_of(op.x))))).result
    finish(b, op, out)


def _in_phases(b: Rewriter, op: nn.ConvTranspose, window: Window) -> Value:
    """The result, without bias, by convolutions of which each computes phases that
    are interleaved.
    """
    weight, kernel = _undilated(b, op.weight, window.dilations)
    strides = window.strides
    shifts = _shifts(op, window, kernel)
    if shifts is not None:
        out = _phase_by_phase(b, op.x, weight, op.groups, shifts)
        out = _interleave(b, out, strides, is_outer=True)
        after = [w - e for w, e in zip(shape_of(op.out)[2:], shape_of(out)[2:], strict=True)]
        return _padded(b, out, [0] * len(strides), after)
    taps = [-(-k // s) for k, s in zip(kernel, strides, strict=True)]
    at_once = _phases_at_once(b, op, weight, kernel, strides)
    out = _interleave(b, at_once, strides, is_outer=op.groups == 1)
    after = [
        window.reach(i) + more - window.end[i] - taps[i] * strides[i]
        for i, more in enumerate(op.extra(op, len(strides)))
    ]
    return _padded(b, out, [-p for p in window.begin], after)


def _of_open_kernel(b: Rewriter, op: nn.ConvTranspose, window: Window) -> Value:
    """The result, without bias, by a convolution of x with zeros between its elements.

    It is for kernels of unknown extents, whose number of phases is known only at run time.
    """
    spatial = len(window.strides)
    axes = range(2, 2 + spatial)
    backwards = [integers(b, [n] * spatial) for n in (-1, -(1 << 63))]
    turned = b(nn.SliceDynamic(op.weight, *backwards, integers(b, axes), backwards[0]))
    turned.results[0].type = op.weight.type
    kernel = b(nn.Slice(b(nn.ShapeOf(op.weight)), (2,), out=TensorType((spatial,), i64)))
    border = b(nn.Mul(b(nn.Sub(kernel, integers(b, [1]))), integers(b, window.dilations)))
    extra = op.extra(op, spatial)
    ends = [e - m + s - 1 for e, m, s in zip(window.end, extra, window.strides, strict=True)]
    lead = integers(b, [0, 0])
    before, after = (b(nn.Sub(border, integers(b, n))) for n in (window.begin, ends))
    x = _zeros_between(b, op.x, window.strides)
    wide = TensorType((*shape_of(x)[:2], *(None,) * spatial), element_of(x))
    pads = b(nn.Concat([lead, before, lead, after], 0))
    x = b(nn.PadDynamic(x, pads, scalar(b, 0, element_of(x)), out=wide))
    weight = _with_results_first(b, turned.result, op.groups)
    return b(nn.Conv(x, weight, dilations=window.dilations, groups=op.groups)).result


def _zeros_between(b: Rewriter, x: Value, strides: Sequence[int]) -> Value:
    """[N, C, D * stride..]: x with stride - 1 zeros after each element in each dimension."""
    if set(strides) == {1}:
        return x
    axes = range(2, 2 + len(strides))
    lead = [extent(b, x, axis) for axis in (0, 1)]
    apart = reshape_to(b, x, [*lead, *(n for axis in axes for n in (extent(b, x, axis), 1))])
    before, after = (0,) * (2 + 2 * len(strides)), [n for s in strides for n in (0, s - 1)]
    pads = (*before, 0, 0, *after)
    spread = b(nn.Pad(apart, scalar(b, 0, element_of(x)), pads=pads))
    wide = (extent(b, x, axis, times=s) for axis, s in zip(axes, strides, strict=True))
    return reshape_to(b, spread, [*lead, *wide])


def _with_results_first(b: Rewriter, weight: Value, groups: int) -> Value:
    """The weight [C, M, K..] as [groups * M, C / groups, K..], the form that a
    convolution takes.
    """
    C, M = extent(b, weight, 0, over=groups), extent(b, weight, 1)
    kernel = [extent(b, weight, axis) for axis in range(2, len(shape_of(weight)))]
    apart = reshape_to(b, weight, (groups, C, M, *kernel))
    moved = b(nn.Transpose(apart, (0, 2, 1, *range(3, 3 + len(kernel)))))
    return reshape_to(b, moved, (extent(b, weight, 1, times=groups), C, *kernel))


def _shifts(
    op: nn.ConvTranspose, window: Window, kernel: Sequence[int]
) -> list[list[_Shift]] | None:
    """For each dimension its phases, to be computed one by one; None if that does not pay."""
    extents, wanted = shape_of(op.x)[2:], shape_of(op.out)[2:]
    if None in (*extents, *wanted, *shape_of(op.weight)):
        return None
    sizes = list(zip(window.strides, kernel, window.begin, extents, wanted, strict=True))
    shifts = [[_Shift.of(at, *along) for at in range(along[0])] for along in sizes]
    apart = math.prod(sum(s.products for s in along) for along in shifts)
    together = math.prod((d + -(-k // s) - 1) * -(-k // s) * s for s, k, _, d, _ in sizes)
    most = target_of(op).machine.costs.algorithms.phases * together
    return shifts if apart < most and all(s.is_plain for along in shifts for s in along) else None


@dataclass(frozen=True)
class _Shift:
    """One phase along a dimension: a convolution of x with padding, which gives `count` results.

    It has `taps` elements of the kernel; `before` and `after` are the padding, negative for a crop.
    """

    first: int
    """The phase's first kernel element; its others follow in steps of the stride."""
    taps: int
    before: int
    after: int
    count: int

    @staticmethod
    def of(at: int, stride: int, kernel: int, begin: int, extent: int, wanted: int) -> _Shift:
        skipped, first = divmod(at + begin, stride)
        taps, count = len(range(first, kernel, stride)), -(-wanted // stride)
        return _Shift(first, taps, taps - 1 - skipped, count - extent + skipped, count)

    @property
    def products(self) -> int:
        return self.taps * self.count

    @property
    def is_plain(self) -> bool:
        """Whether it is a convolution of the whole operand, with nothing cropped."""
        return self.taps > 0 and self.before >= 0 and self.after >= 0


def _phase_by_phase(
    b: Rewriter, x: Value, weight: Value, groups: int, shifts: Sequence[Sequence[_Shift]]
) -> Value:
    """[N, phases * M, T..]: a convolution for each phase, concatenated."""
    C, M = shape_of(weight)[:2]
    strides = [len(along) for along in shifts]
    parts = []
    for phase in itertools.product(*shifts):
        taps = [s.taps for s in phase]
        last = [s.first + n * (s.taps - 1) for s, n in zip(phase, strides, strict=True)]
        kept = TensorType((C, M, *taps), element_of(weight))
        steps = (1, 1, *(-n for n in strides))
        own = b(nn.Slice(weight, (0, 0, *last), steps, out=kept)).result
        own = _with_results_first(b, own, groups)
        pads = (*(s.before for s in phase), *(s.after for s in phase))
        parts.append(b(nn.Conv(x, own, pads=pads if any(pads) else None, groups=groups)).result)
    return parts[0] if len(parts) == 1 else b(nn.Concat(parts, 1)).result


def _phases_at_once(
    b: Rewriter, op: nn.ConvTranspose, weight: Value, kernel: Sequence[int], strides
) -> Value:
    """One convolution [N, M * phases, T + Q - 1..] that computes all phases.

    Without groups it is [N, phases * M, ..], so that a block of channels belongs to one phase.
    """
    spatial = len(strides)
    taps = [-(-k // s) for k, s in zip(kernel, strides, strict=True)]
    missing = [q * s - k for q, s, k in zip(taps, strides, kernel, strict=True)]
    if any(missing):
        pads = (0, 0, *[0] * spatial, 0, 0, *missing)
        weight = b(nn.Pad(weight, scalar(b, 0, element_of(weight)), pads=pads)).result
    weight = _phases(b, weight, op.groups, taps, strides)
    # The kernel is at every place once that it overlaps the operand.
    border = [q - 1 for q in taps]
    pads = border * 2 if any(border) else None
    return b(nn.Conv(op.x, weight, pads=pads, groups=op.groups)).result


def _undilated(b: Rewriter, weight: Value, dilations) -> tuple[Value, list[int]]:
    """The weight with zeros in place of dilations, and the kernel's extents then."""
    shape = shape_of(weight)
    kernel: list[int] = list(shape[2:])
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
    """The weight [C, M, K..] as [groups * M * phases, C / groups, Q..], with each kernel reversed.

    Without groups as [phases * M, C, Q..].
    """
    C, M = (extent(b, weight, axis, over=n) for axis, n in ((0, groups), (1, 1)))
    spatial = len(taps)
    split = [d for q, s in zip(taps, strides, strict=True) for d in (q, s)]
    apart = reshape_to(b, weight, (groups, C, M, *split))
    phases = [4 + 2 * i for i in range(spatial)]
    channels = [2, *phases] if groups > 1 else [*phases, 2]
    order = [0, *channels, 1, *(3 + 2 * i for i in range(spatial))]
    moved = b(nn.Transpose(apart, order))
    results = extent(b, weight, 1, times=groups * math.prod(strides))
    merged = reshape_to(b, moved, (results, C, *taps))
    if all(q == 1 for q in taps):
        return merged
    shape = shape_of(merged)
    starts = (0, 0, *(q - 1 for q in taps))
    steps = (1, 1, *(-1 for _ in taps))
    return b(nn.Slice(merged, starts, steps, out=TensorType(shape, element_of(merged)))).result


def _interleave(b: Rewriter, phases: Value, strides, is_outer: bool = False) -> Value:
    """[N, M * phases, T..] as [N, M, T * stride..]; with `is_outer` from [N, phases * M, T..]."""
    if all(s == 1 for s in strides):
        return phases
    spatial, M = len(strides), extent(b, phases, 1, over=math.prod(strides))
    N, *extents = (extent(b, phases, axis) for axis in (0, *range(2, 2 + spatial)))
    order = (*strides, M) if is_outer else (M, *strides)
    apart = reshape_to(b, phases, (N, *order, *extents))
    m, first = (1 + spatial, 1) if is_outer else (1, 2)
    places = [0, m, *(d for i in range(spatial) for d in (2 + spatial + i, first + i))]
    moved = b(nn.Transpose(apart, places))
    wide = (extent(b, phases, 2 + i, times=s) for i, s in enumerate(strides))
    return reshape_to(b, moved, (N, M, *wide))


def _padded(b: Rewriter, x: Value, before: Sequence[int], after: Sequence[int]) -> Value:
    """x with zeros added, or elements removed if negative, around each spatial dimension."""
    if not any(before) and not any(after):
        return x
    shape = shape_of(x)
    if None in shape[2:] or any(n > 0 for n in (*before, *after)):
        pads = (0, 0, *before, 0, 0, *after)
        return b(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
    wanted = (d + p + q for d, p, q in zip(shape[2:], before, after, strict=True))
    out = TensorType((*shape[:2], *wanted), element_of(x))
    return b(nn.Slice(x, (0, 0, *(-n for n in before)), out=out)).result


PATTERNS = (decompose_conv_transpose,)

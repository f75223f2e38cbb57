"""Quantized tensors of torchao: each block of elements has a scale and a zero point.

A block of sizes `block_size` divides its tensor: [1, D] are rows, the tensor's own shape is all of
it, [1, 32] are groups of 32.
"""

from __future__ import annotations

import ml_dtypes

from ...common.vocabulary import *
from ..layer import AtenLayer, Size, promote
from ..rows import ROWS

Limit = float | None


class _Blocks:
    """A tensor [D, ..] seen as [D / B, B, ..]."""

    def __init__(self, n: AtenLayer, x: Value, block_size: Sequence[Size]) -> None:
        if len(block_size) != x.type.rank:
            raise n.error(f"blocks of {len(block_size)} dimensions in a tensor of {x.type.rank}")
        self.n, self.whole, self.counts = n, n.shape(x), []
        self.kept: list[Size] = []
        """The extents that a reduction of blocks keeps: not those of a single block."""
        split: list[Size] = []
        for extent, size in zip(self.whole, map(n.number, block_size), strict=True):
            count = _count(n, extent, size)
            self.counts.append(count)
            split += [count, size]
            if count != 1 or size == 1:
                self.kept.append(count)
        self.axes = range(1, len(split), 2)
        self.x = Term(n, n.reshape(x, split))

    def column(self, given: Value, element: Type) -> Term:
        """Parameters, one for each block, that broadcast against its elements."""
        extents: list[Size] = [e for count in self.counts for e in (count, 1)]
        return Term(self.n, self.n.cast(self.n.reshape(given, extents), element))

    def joined(self, x: Term, element: Type) -> Value:
        return self.n.reshape(x.cast(element).value, self.whole)


def _count(n: AtenLayer, extent: Size, size: Size) -> Size:
    """How many blocks there are along a dimension; -1 if known only at run time.

    A size that is known only at run time is that of the whole dimension.
    """
    if not isinstance(size, int):
        return 1
    if size == 1:
        return extent
    if not isinstance(extent, int):
        return -1
    if size < 1 or extent % size:
        raise n.error(f"blocks of {size} do not divide {extent} elements")
    return extent // size


def _limits(element: Type, low: Limit, high: Limit) -> tuple[float, float]:
    """The given limits of quantized numbers, else those of the element type."""
    if isinstance(element, FloatType):
        info = ml_dtypes.finfo(type_to_numpy(element))
        least, most = info.min, info.max
    else:
        least, most = limits_of(element)
    return float(least if low is None else low), float(most if high is None else high)


@ROWS("torchao.quantize_affine")
def quantize_blocks(
    n: AtenLayer,
    input: Value,
    block_size: Sequence[Size],
    scale: Value,
    output_dtype: Type,
    zero_point: Value | None = None,
    quant_min: Limit = None,
    quant_max: Limit = None,
) -> Value:
    """saturate(round(x / scale) + zero point)"""
    blocks = _Blocks(n, input, block_size)
    element = promote(input.type.element_type, scale.type.element_type)
    inverse = (1.0 / blocks.column(scale, scale.type.element_type)).cast(element)
    steps = (blocks.x.cast(element) * inverse).function(nn.Round)
    if zero_point is not None:
        wide = promote(element, zero_point.type.element_type)
        steps = steps.cast(wide) + blocks.column(zero_point, wide)
    low, high = _limits(output_dtype, quant_min, quant_max)
    return blocks.joined(steps.max(low).min(high), output_dtype)


@ROWS("torchao.dequantize_affine")
def dequantize_blocks(
    n: AtenLayer,
    input: Value,
    block_size: Sequence[Size],
    scale: Value,
    zero_point: Value | None = None,
    output_dtype: Type = f32,
    **given: Any,
) -> Value:
    """(x - zero point) * scale"""
    blocks = _Blocks(n, input, block_size)
    x = blocks.x.cast(output_dtype)
    if zero_point is not None:
        x = x - blocks.column(zero_point, output_dtype)
    element = promote(output_dtype, scale.type.element_type)
    return blocks.joined(x.cast(element) * blocks.column(scale, element), output_dtype)


@ROWS("torchao.choose_qparams_affine")
def choose_of_blocks(
    n: AtenLayer,
    input: Value,
    mapping_type: str,
    block_size: Sequence[Size],
    target_dtype: Type,
    quant_min: Limit = None,
    quant_max: Limit = None,
    eps: float | None = None,
    scale_dtype: Type | None = None,
    zero_point_dtype: Type | None = None,
    keepdim: bool = False,
) -> list[Value]:
    """A scale and a zero point for each block, from its range."""
    blocks, element = _Blocks(n, input, block_size), input.type.element_type
    low, high = _limits(target_dtype, quant_min, quant_max)
    least = blocks.x.least(*blocks.axes).min(0.0)
    most = blocks.x.largest(*blocks.axes).max(0.0)
    if eps is None:
        eps = float(ml_dtypes.finfo(type_to_numpy(element)).smallest_normal)
    if mapping_type == "ASYMMETRIC":
        scale = ((most - least) / (high - low)).max(eps)
        zero = (low - (least / scale).function(nn.Round)).max(low).min(high)
        zero_point_dtype = zero_point_dtype or i32
    else:
        if mapping_type == "SYMMETRIC":
            scale = most.max(-least) / ((high - low) / 2)
        elif mapping_type == "SYMMETRIC_NO_CLIPPING_ERR":
            scale = (least / low).max(most / high)
        else:
            raise n.error(f"the mapping '{mapping_type}' is not supported")
        scale = scale.max(eps)
        zero = scale.zeros() + float(int((high + low + 1) / 2))
    shape = blocks.counts if keepdim else blocks.kept
    made = ((scale, scale_dtype or element), (zero, zero_point_dtype or element))
    return [n.reshape(x.cast(type).value, shape) for x, type in made]

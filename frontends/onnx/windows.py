"""Padding of convolutions and poolings, from explicit numbers or `auto_pad`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import Dim, TensorType, i64
from .node import Node
from .shapes import part_of_vector, shape_of

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def spatial_ints(n: Node, name: str, count: int, default: int) -> tuple[int, ...]:
    """An attribute with a number for each spatial dimension, none below the default."""
    values = n.ints(name)
    if values is None:
        return (default,) * count
    if len(values) != count:
        raise n.error(f"attribute '{name}' has {len(values)} elements, expected {count}")
    if min(values) < default:
        raise n.error(f"attribute '{name}' is {list(values)}, expected no element below {default}")
    return values


@dataclass(frozen=True)
class Padded:
    """The operand of a convolution or pooling, and what its op has to pad.

    `by` is None, or how much was added to the operand already where only the run tells it: a
    1-D tensor of i64 as of nn.pad_dynamic.
    """

    x: Value
    pads: tuple[int, ...]
    by: Value | None = None


def padded(
    n: Node,
    x: Value,
    kernel: Sequence[Dim],
    strides: Sequence[int],
    dilations: Sequence[int],
    fill: float = 0,
) -> Padded:
    """The padding at all begins, then at all ends, of the spatial dimensions.

    Where `auto_pad` makes it depend on extents that are not known, the operand is padded by
    `fill` as the model runs.
    """
    count = len(kernel)
    mode = n.string("auto_pad", "NOTSET", AUTO_PADS)
    if mode == "NOTSET":
        return Padded(x, spatial_ints(n, "pads", 2 * count, 0))
    if mode == "VALID":
        return Padded(x, (0,) * 2 * count)
    if None in kernel:
        raise n.error(f"auto_pad {mode} needs a kernel of known extents")
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]  # type: ignore[operator]
    spatial = x.type.shape[2:]
    if any(d is None and s != 1 for d, s in zip(spatial, strides, strict=True)):
        by = _pads_at_run_time(n, x, reach, strides, mode)
        return Padded(pad_by_vector(n, x, by, n.scalar(fill, x)), (0,) * 2 * count, by)
    begins, ends = [], []
    for i, extent in enumerate(spatial):
        # With stride 1 the padding does not depend on the extent.
        extent = 1 if extent is None else extent
        count_out = -(-extent // strides[i])
        total = max(0, (count_out - 1) * strides[i] + reach[i] - extent)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return Padded(x, (*begins, *ends))


def _pads_at_run_time(
    n: Node, x: Value, reach: Sequence[int], strides: Sequence[int], mode: str
) -> Value:
    """The same formulas on the operand's shape, with zeros for batch and channels."""
    extents = part_of_vector(n, shape_of(n, x), 2, x.type.rank)
    by, reaches = (n.constant(np.array(v, np.int64)) for v in (strides, reach))
    one = n.constant(1, i64)
    # Strides are positive: the last window begins at the last multiple before the end.
    last = n(nn.Mul(n(nn.Div(n(nn.Sub(extents, one)), by)), by))
    total = n(nn.Max(n(nn.Sub(n(nn.Add(last, reaches)), extents)), n.constant(0, i64)))
    small = n(nn.Div(total, n.constant(2, i64)))
    large = n(nn.Sub(total, small))
    none = n.constant(np.zeros(2, np.int64))
    begin, end = (small, large) if mode == "SAME_UPPER" else (large, small)
    return n(nn.Concat([none, begin, none, end], axis=0))


def pad_by_vector(
    n: Node, x: Value, pads: Value, fill: Value | None, mode: str = "constant"
) -> Value:
    """x with elements around it, by numbers that may be known at run time only."""
    rank = x.type.rank
    found = n.extents(pads) or (None,) * 2 * rank
    shape = [
        None if d is None or b is None or e is None else max(0, d + b + e)
        for d, b, e in zip(x.type.shape, found[:rank], found[rank:], strict=True)
    ]
    out = TensorType(tuple(shape), x.type.element_type)
    return n(nn.PadDynamic(x, pads, fill, mode=mode, out=out))


def spatial_rank(n: Node, x: Value) -> int:
    """The number of spatial dimensions. Raises NncError where there is none."""
    if x.type.rank < 3:
        raise n.error(
            f"input '{n.schema.inputs[0].name}' has rank {x.type.rank}, expected at least 3"
        )
    return x.type.rank - 2

"""Reductions along axes, and operators that find extremes."""

from __future__ import annotations

from .rows import Convert
from .shapes import product
from .words import *

_OF_FLOATS = (nn.ReduceL2, nn.ReduceLogSum, nn.ReduceLogSumExp)
"""Reductions that are computed in floats and truncated if the operand has integers."""


def reduced(n: Layer, x: Value, reduce: Any, axes: Sequence[int], keep: bool = False) -> Value:
    """The reduction of x by an op, of x's element type; truth values are reduced as 0 and 1."""
    element = x.type.element_type
    wide = x
    if element is i1:
        wide = n.cast(x, IntegerType(8, "u"))
    elif isinstance(element, IntegerType) and reduce in _OF_FLOATS:
        wide = n.cast(x, f64)
    return n.cast(n(reduce(wide, axes=tuple(axes), keep_dims=keep)), element)


def reduction_row(reduce: Any, *, axes: str, keep: tuple[str, int]) -> Convert:
    """The converter of a reduction along the axes of an attribute, or all axes if it is omitted."""

    def convert(n: Any, x: Value) -> Value:
        found = normalize_axes(n, n.ints(axes, range(x.type.rank)), x.type.rank)
        return reduced(n, x, reduce, found, bool(n.int(*keep)))

    return convert


def extreme_at(
    n: Layer, x: Value, find: Any, axis: int | None, keep: bool = False, last: bool = False
) -> Value:
    """The index of the first or last extreme along an axis, or of the flattened x for None."""
    x = n.cast(x, IntegerType(8, "u")) if x.type.element_type is i1 else x
    if axis is not None:
        return n(find(x, axis=axis, keep_dims=keep, select_last_index=last))
    found = n(find(Term(n, x).flat().value, axis=0))
    return reshape(n, found, [1] * x.type.rank) if keep else found


def variance(
    n: Layer, x: Value, axes: tuple[int, ...], keep: bool = False, correction: float = 0
) -> tuple[Value, Value]:
    """The variance of floats along axes and their mean; sums are divided by count - correction."""
    mean = n(nn.ReduceMean(x, axes=axes, keep_dims=True))
    apart = Term(n, x) - Term(n, mean)
    total = (apart * apart).sum(*axes, keep=keep)
    count = product([x.type.shape[i] for i in axes])
    if count is not None:
        spread = total / float(max(count - correction, 0))
    else:
        one = Term(n, n.constant(1, i64))
        for axis in axes:
            one = one * extent(n, (x, axis))
        spread = total / (one.cast(total.element) - correction).max(0.0)
    out = n(nn.ReduceMean(x, axes=axes, keep_dims=keep)) if not keep else mean
    return spread.value, out


def ordered(n: Layer, x: Value, axis: int, descending: bool = False) -> tuple[Value, Value]:
    """The elements sorted along an axis, and their indices in x."""
    return largest(n, x, extent(n, (x, axis)).value, axis, descending)


def largest(
    n: Layer, x: Value, k: Value, axis: int, greatest: bool = True, in_order: bool = True
) -> tuple[Value, Value]:
    """The k largest, or else smallest, elements along an axis, and their indices."""
    k = as_scalar(n, as_i64(n, k))
    known = n.known(k)
    count = None if known is None else int(known)
    found = x.type.shape[axis]
    if count is not None and (count < 0 or (found is not None and count > found)):
        raise n.error(f"k is {count}, but axis {axis} has {found} elements")
    shape = tuple(count if i == axis else d for i, d in enumerate(x.type.shape))
    out = TensorType(shape, x.type.element_type)
    where = TensorType(shape, i64)
    return n(nn.TopK(x, k, axis=axis, largest=greatest, sorted=in_order, out=out, indices=where))

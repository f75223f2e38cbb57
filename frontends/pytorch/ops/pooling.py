"""Pooling by windows and to a given size."""

from __future__ import annotations

from functools import reduce
from operator import mul

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row
from .products import per_dimension
from .views import unsqueeze


def _batched(n: AtenLayer, x: Value, count: int, make: Any) -> Any:
    """Apply `make`, which needs a batch, to a batch or to a single image."""
    if x.type.rank == count + 2:
        return make(x)
    found = make(unsqueeze(n, x, 0))
    if isinstance(found, list):
        return [None if v is None else n.reshape(v, n.shape(v)[1:]) for v in found]
    return n.reshape(found, n.shape(found)[1:])


def _max_pool(count: int) -> Row:
    def row(
        n: AtenLayer,
        self: Value,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        kernel = per_dimension(kernel_size, count, 1)
        strides = per_dimension(stride, count, 0) if stride else kernel
        pads, apart = per_dimension(padding, count, 0) * 2, per_dimension(dilation, count, 1)
        windows = Windows(kernel, strides, pads, apart, ceil_mode)

        def make(x: Value) -> Any:
            if not n.wants(1):
                return max_pooled(n, x, windows, keeps_nan=True)
            values, places = max_pooled_with_indices(n, x, windows, keeps_nan=True)
            plane = reduce(mul, (extent(n, (x, i)) for i in range(2, x.type.rank)))
            return [values, (Term(n, places) % plane).value]

        return _batched(n, self, count, make)

    return row


def _avg_pool(count: int) -> Row:
    def row(
        n: AtenLayer,
        self: Value,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Value:
        kernel = per_dimension(kernel_size, count, 1)
        strides = per_dimension(stride, count, 0) if stride else kernel
        windows = Windows(kernel, strides, per_dimension(padding, count, 0) * 2, ceil=ceil_mode)
        element = self.type.element_type
        if isinstance(element, IntegerType):  # computed as floats, then truncated
            self = n.cast(self, f64)

        def make(x: Value) -> Value:
            if divisor_override is not None:
                return (Term(n, sum_pooled(n, x, windows)) / float(divisor_override)).value
            return average_pooled(n, x, windows, count_include_pad)

        return n.cast(_batched(n, self, count, make), element)

    return row


def _adaptive(count: int, greatest: bool) -> Row:
    def row(n: AtenLayer, self: Value, output_size: Any) -> Any:
        sizes = [n.number(v) for v in per_dimension(output_size, count, 1)]
        sizes = [-1 if size is None else size for size in sizes]
        if greatest and n.wants(1):
            return _batched(n, self, count, lambda x: _largest_shares(n, x, sizes))
        out = _batched(n, self, count, lambda x: adaptive_pooled(n, x, sizes, greatest))
        return [out, None] if greatest else out

    return row


def _largest_shares(n: AtenLayer, x: Value, wanted: Sequence[int]) -> list[Value]:
    """The largest element of each part of x's dimensions, and its flat index in the channel.

    The indices of each part are a row of a table, padded by repeating the last one.
    """
    own = [extent(n, (x, i)) for i in range(2, x.type.rank)]
    counts = [
        d if count == -1 else constant(n, count, i64) for d, count in zip(own, wanted, strict=True)
    ]
    table = constant(n, np.zeros((1, 1), np.int64))
    for size, count in zip(own, counts, strict=True):
        places = _places_of_shares(n, size, count)
        rows, columns = (extent(n, (table.value, i)) for i in range(2))
        first = n.reshape(table.value, [n.number(rows.value), 1, n.number(columns.value), 1])
        both = Term(n, first) * size + _with_one(n, places)
        table = Term(n, n.reshape(both.value, [n.number((rows * count).value), -1]))
    plane = n.number(reduce(mul, own).value)
    flat = n.reshape(x, [*n.shape(x)[:2], plane])
    parts = Term(n, flat).gather(table, 2)
    first = parts.argmax(3)
    width = extent(n, (table.value, 1))
    if isinstance(parts.element, FloatType):  # the last NaN is the largest
        missing = parts.function(nn.IsNan).choose(counting(n, width), -1).largest(3)
        first = (missing >= 0).choose(missing, first)
    rows = counting(n, extent(n, (table.value, 0))) * width
    found = table.flat().gather(first + rows)
    shape = [*n.shape(x)[:2], *(n.number(count.value) for count in counts)]
    return [n.reshape(v, shape) for v in (parts.largest(3).value, found.value)]


def _with_one(n: AtenLayer, places: Term) -> Term:
    """[count, steps] as [count, 1, steps]"""
    return Term(n, unsqueeze(n, places.value, 1))


def _places_of_shares(n: AtenLayer, size: Term, count: Term) -> Term:
    """The indices in each of `count` parts of an extent, as rows."""
    at = counting(n, count)
    begins, ends = at * size / count, ((at + 1) * size + count - 1) / count
    steps = counting(n, (ends - begins).largest(0))
    return (begins.spread(0, 1) + steps).min(ends.spread(0, 1) - 1)


for _count in (1, 2, 3):
    ROWS.add(
        {
            f"aten.max_pool{_count}d": _max_pool(_count),
            f"aten.max_pool{_count}d_with_indices": _max_pool(_count),
            f"aten.avg_pool{_count}d": _avg_pool(_count),
            f"aten.adaptive_avg_pool{_count}d": _adaptive(_count, False),
            f"aten._adaptive_avg_pool{_count}d": _adaptive(_count, False),
            f"aten.adaptive_max_pool{_count}d": _adaptive(_count, True),
        }
    )


@ROWS("aten.max_unpool2d", "aten.max_unpool3d")
def max_unpool(
    n: AtenLayer, self: Value, indices: Value, output_size: Any, stride: Any = 1, padding: Any = 0
) -> Value:
    """Zeros with elements put back at the indices of the maxima in each channel."""
    rank = len(output_size)
    lead = self.type.rank - rank
    whole = reduce(mul, (Term(n, n.as_value(size)) for size in output_size)).value
    flat, places = (Term(n, v).flattened(lead) for v in (self, as_i64(n, indices)))
    start = n.filled(n.scalar(0, self), [n.size(flat.value, 0), whole])
    found = n(nn.ScatterElements(start, places.value, flat.value, axis=1))
    return n.reshape(found, [*n.shape(self)[:lead], *output_size])

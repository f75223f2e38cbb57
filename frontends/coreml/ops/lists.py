"""Lists of tensors of one shape, stored as one tensor with an additional first dimension.

Lists of fixed length keep their initial length; others grow when written to.
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows


@rows("make_list")
def make_list(n: CoreMLLayer, init_length: Value | None = None) -> Value:
    given = n.attribute("elem_shape", [])
    extents = given if isinstance(given, list) else [given]
    if any(isinstance(one, str) for one in extents):
        raise n.error("'elem_shape' has symbols; a list needs elements of a known shape")
    count = Term(n, n.constant(1, i64) if init_length is None else as_i64(n, init_length))
    sides = [count.reshape(1), constant(n, np.array(extents, np.int64).reshape(-1))]
    return constant(n, 0, n.element("dtype", "fp32")).filled(joined(sides, 0)).value


def _grown(n: CoreMLLayer, ls: Value, least: Term) -> Value:
    """The list `ls`, extended to at least `least` elements if its length may grow."""
    if not n.flag("grows"):
        return ls
    more = (least - extent(n, (ls, 0))).max(0).reshape(1)
    none = constant(n, np.zeros(ls.type.rank, np.int64))
    rest = constant(n, np.zeros(ls.type.rank - 1, np.int64))
    return pad_by_vector(n, ls, joined([none, more, rest], 0).value, n.scalar(0, ls))


@rows("list_write")
def list_write(n: CoreMLLayer, ls: Value, index: Value, value: Value) -> Value:
    at = Term(n, as_scalar(n, as_i64(n, index)))
    row = Term(n, value).spread(1, 0).value
    return n(nn.ScatterNd(_grown(n, ls, at + 1), at.reshape(1, 1).value, row))


@rows("list_scatter")
def list_scatter(n: CoreMLLayer, ls: Value, indices: Value, value: Value) -> Value:
    at = Term(n, as_i64(n, indices))
    held = _grown(n, ls, at.largest(0) + 1)
    return n(nn.ScatterNd(held, at.spread(0, 1).value, value))


rows.formulas(
    {
        "list_read": lambda n, ls, index: gathered(n, ls, as_scalar(n, as_i64(n, index)), 0),
        "list_gather": lambda n, ls, indices: gathered(n, ls, as_i64(n, indices), 0),
        "list_length": lambda n, ls: extent(n, (ls, 0)).cast(i32).value,
    }
)

"""Operators that write parts of variables."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..variables import Variable
from .arrays import numbered, strided_slice_

_HOW = {
    "Update": "none",
    "Add": "add",
    "Sub": "add",
    "Mul": "mul",
    "Div": "mul",
    "Max": "max",
    "Min": "min",
}
"""The reduction by which each writes."""


@rows(*(f"ResourceScatter{how}" for how in _HOW))
def assign_rows(n: TfLayer, handle: Variable, indices: Value, updates: Value) -> Variable:
    places = Term(n, indices).spread(0, 1).value
    return _scattered(n, handle, places, updates, n.kind.removeprefix("ResourceScatter"))


@rows(*(f"ResourceScatterNd{how}" for how in ("Update", "Add", "Sub", "Max", "Min")))
def assign_parts(n: TfLayer, handle: Variable, indices: Value, updates: Value) -> Variable:
    return _scattered(n, handle, indices, updates, n.kind.removeprefix("ResourceScatterNd"))


def _scattered(n: TfLayer, handle: Variable, indices: Value, updates: Value, kind: str) -> Variable:
    """The variable after updates at indices; one update, a scalar, may be for all of them."""
    before = handle.read(n)
    shape = [*dims(indices)[:-1], *dims(before)[indices.type.shape[-1] or 1 :]]
    if updates.type.rank == 0 and shape:
        updates = broadcast(n, updates, shape)
    if kind == "Sub":
        updates = n(nn.Neg(updates))
    if kind == "Div":
        if isinstance(updates.type.element_type, IntegerType):
            raise n.error("quotients of integers are not supported")
        updates = n(nn.Reciprocal(updates))
    places = as_i64(n, tf.places_of(n, indices, before.type.rank, updates))
    handle.write(n, n(nn.ScatterNd(before, places, updates, reduction=_HOW[kind])))
    return handle


@rows("ResourceStridedSliceAssign")
def assign_slice(
    n: TfLayer, handle: Variable, begin: Value, end: Value, strides: Value, value: Value
) -> Variable:
    before = handle.read(n)
    places = strided_slice_(n, numbered(n, shape_of(n, before)), begin, end, strides)
    updates = broadcast(n, value, dims(places))
    flat = Term(n, before).flat().value
    index = Term(n, places).flat().spread(0, 1).value
    found = n(nn.ScatterNd(flat, index, Term(n, updates).flat().value))
    handle.write(n, tf.reshape_to(n, found, shape_of(n, before)))
    return handle

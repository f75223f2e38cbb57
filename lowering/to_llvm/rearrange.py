"""Vectors from the elements of other vectors: the fewest shuffles that are easy to find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import llvm
from ...ir.attributes import DenseArrayAttr, DenseElements, FloatAttr, IntegerAttr
from ...ir.core import Value
from ...ir.types import Type, VectorType, i32
from .conversion import FunctionLowering

ANY = -1
"""An element of which the value does not matter."""


def shuffle(f: FunctionLowering, a: Value, b: Value | None, mask: Sequence[int]) -> Value:
    """Elements of one or two vectors of the same type; those of the second count on."""
    type = a.type
    made = VectorType((len(mask),), type.element_type)  # type: ignore[attr-defined]
    second = f.poison(type) if b is None else b
    properties = {"mask": DenseArrayAttr(i32, tuple(mask))}
    return f.emit(llvm.ShuffleVector, [a, second], made, properties)


def splat(f: FunctionLowering, scalar: Value, size: int) -> Value:
    """A vector of `size` times the scalar; made once in a region."""
    type = VectorType((size,), scalar.type)
    op = scalar.defining_op
    if isinstance(op, llvm.Constant):
        value = op.properties["value"]
        if isinstance(value, (IntegerAttr, FloatAttr)):
            return f.constant(DenseElements.splat(value.value, type), type)
    computed = f.scopes[-1].computed
    key = ("splat", scalar, size)
    known = computed.get(key)
    if known is None:
        one = VectorType((1,), scalar.type) if size == 1 else type
        first = f.emit(llvm.InsertElement, [f.poison(one), scalar, f.integer(0)], one)
        known = first if size == 1 else shuffle(f, first, None, [0] * size)
        computed[key] = known
    return known


def rearrange(
    f: FunctionLowering, rows: Sequence[Value], wanted: Sequence[Sequence[int]]
) -> list[Value]:
    """New rows; each of their elements is named by its position in `rows`, counted through."""
    width = rows[0].type.shape[0]  # type: ignore[attr-defined]
    transposed = _transpose(f, rows, width, wanted)
    if transposed is not None:
        return transposed
    return [_new_row(f, rows, width, list(row)) for row in wanted]


def _new_row(f: FunctionLowering, rows: Sequence[Value], width: int, row: list[int]) -> Value:
    sources = list(dict.fromkeys(at // width for at in row if at != ANY))
    if not sources:
        return f.poison(VectorType((len(row),), rows[0].type.element_type))  # type: ignore[attr-defined]
    if len(sources) == 1:
        source = rows[sources[0]]
        lanes = [at if at == ANY else at % width for at in row]
        in_place = len(row) == width and all(at in (ANY, i) for i, at in enumerate(lanes))
        return source if in_place else shuffle(f, source, None, lanes)
    parts = [
        (_two_sources(f, rows, width, row, sources[i : i + 2]), set(sources[i : i + 2]))
        for i in range(0, len(sources), 2)
    ]
    while len(parts) > 1:
        merged = [
            _merge(f, width, row, parts[i], parts[i + 1]) for i in range(0, len(parts) - 1, 2)
        ]
        parts = merged + (parts[-1:] if len(parts) % 2 else [])
    return parts[0][0]


def _two_sources(
    f: FunctionLowering, rows: Sequence[Value], width: int, row: list[int], sources: list[int]
) -> Value:
    """A new row with the elements of one or two sources in their places."""
    place = {source: i * width for i, source in enumerate(sources)}
    mask = [
        place[at // width] + at % width if at != ANY and at // width in place else ANY for at in row
    ]
    second = rows[sources[1]] if len(sources) == 2 else None
    return shuffle(f, rows[sources[0]], second, mask)


def _merge(f: FunctionLowering, width: int, row: list[int], a: Any, b: Any) -> Any:
    """Of two rows with elements in their places, one with all of them."""
    (first, in_first), (second, in_second) = a, b
    mask = []
    for i, at in enumerate(row):
        source = at // width if at != ANY else None
        mask.append(i if source in in_first else len(row) + i if source in in_second else ANY)
    return shuffle(f, first, second, mask), in_first | in_second


def _transpose(
    f: FunctionLowering, rows: Sequence[Value], width: int, wanted: Sequence[Sequence[int]]
) -> list[Value] | None:
    """The transpose of a square of 2**k by 2**k in k steps of 2**k shuffles, if it is that.

    Step s exchanges bit s of the row number with bit s of the lane number, so that after all
    steps rows and lanes have changed places.
    """
    size = len(rows)
    if size < 4 or size != width or size & (size - 1) or len(wanted) != size:
        return None
    if any(list(row) != list(range(i, size * size, size)) for i, row in enumerate(wanted)):
        return None
    current = list(rows)
    step = 1
    while step < size:
        low = [lane if not lane & step else size + lane - step for lane in range(size)]
        high = [lane + step if not lane & step else size + lane for lane in range(size)]
        following = list(current)
        for i in range(size):
            if not i & step:
                a, b = current[i], current[i + step]
                following[i] = shuffle(f, a, b, low)
                following[i + step] = shuffle(f, a, b, high)
        current = following
        step *= 2
    return current


def positions(shape: Sequence[int]) -> Any:
    """The position of each element of a vector, counted through its rows, as an array."""
    import math

    import numpy as np

    return np.arange(math.prod(shape)).reshape(tuple(shape))


def as_rows(index: Any) -> list[list[int]]:
    """An array of positions as rows along its last dimension."""
    width = index.shape[-1] if index.ndim else 1
    return index.reshape(-1, width).tolist()


def rearranged(f: FunctionLowering, old: Value, index: Any) -> Any:
    """What represents the vector with these elements of `old`, named by position."""
    rows = rearrange(f, f.rows(old), as_rows(index))
    return rows if index.ndim > 1 else rows[0]


def element(f: FunctionLowering, row: Value, lane: int | Value) -> Value:
    """An element of a row."""
    at = f.integer(lane) if isinstance(lane, int) else lane
    type: Type = row.type.element_type  # type: ignore[attr-defined]
    return f.emit(llvm.ExtractElement, [row, at], type)


def from_scalars(f: FunctionLowering, scalars: Sequence[Value]) -> Value:
    """A row of scalars."""
    if len(scalars) > 1 and all(s is scalars[0] for s in scalars):
        return splat(f, scalars[0], len(scalars))
    type = VectorType((len(scalars),), scalars[0].type)
    row = f.poison(type)
    for i, scalar in enumerate(scalars):
        row = f.emit(llvm.InsertElement, [row, scalar, f.integer(i)], type)
    return row

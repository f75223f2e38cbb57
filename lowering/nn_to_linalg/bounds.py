"""Checks that indices read from memory are in range, before they are used.

A check is a vectorized loop of its own that finds the smallest and the largest index: if these are
in range, all are. It costs about as much as clamping each index would, see decision 0018, and the
loops that use the indices need no branches.

On a device, groups of threads check some indices each. The kernels that are launched next do not
wait for the outcome, so there each index is clamped as well.
"""

from __future__ import annotations

from functools import reduce

from ...dialects import arith, nn, vector
from ...dialects.vector.attributes import CombiningKind
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.types import MemRefType, VectorType, i32, i64
from .emitter import Emitter
from .extents import Size
from .reshaping import reinterpreted

LANES = 16
"""The elements of a vector; machines with narrower vectors use several for one."""

_OUTSIDE = "an index is out of range"

GROUP_ROWS = 256
"""The rows of indices that a group of a device's threads checks; a power of two."""

GROUP_THREADS = 32
"""The threads of such a group, which need no memory in common where they run in lockstep."""


def require_in_range(e: Emitter, indices: Value, extents: list[Size]) -> None:
    """Emit a check that indices are within an extent; negative ones count from the end.

    If there are several extents, each row (the last dimension) of the indices has one for each.
    """
    if not extents or _known_in_range(indices, extents):
        return
    buffer = e.buffer(indices)
    total = e.product(e.sizes(buffer))
    if e.globals.has_groups:
        _require_by_groups(e, buffer, e.floordiv(total, len(extents)), extents)
        return
    bounds = _extremes(e, reinterpreted(e, buffer, [total]), total, len(extents))
    for (least, most), extent in zip(bounds, extents, strict=True):
        # In 64 bits: an index of the target may have fewer.
        size = e.from_index(extent, i64)
        start = e.insert(arith.SubI(e.constant(0, i64), size)).result
        low = e.insert(arith.CmpI("sge", _in_64_bits(e, least), start)).result
        high = e.insert(arith.CmpI("slt", _in_64_bits(e, most), size)).result
        # Where there are no indices, 0 and -1 are the extremes, which fit any extent.
        e.require(e.insert(arith.AndI(low, high)).result, _OUTSIDE)


def within(e: Emitter, at: Value, extent: Size) -> Size:
    """A checked index that was read from memory, counted from the start if it was negative.

    On a device, which does not wait for the check, an index out of range becomes 0.
    """
    return inside(e, wrapped(e, at, extent), extent)


def inside(e: Emitter, at: Value, extent: Size) -> Size:
    """An index that was read from memory; on a device, one out of range becomes 0.

    So its kernels touch no memory that is not theirs, whatever another one has written.
    """
    return e.select(e.compare("ult", at, extent), at, 0) if e.globals.has_groups else at


def wrapped(e: Emitter, at: Value, extent: Size) -> Value:
    """An index that was read from memory, counted from the start if it was negative."""
    at = e.to_index(at)
    return e.select(e.compare("slt", at, 0), e.add(at, extent), at)


def _require_by_groups(e: Emitter, buffer: Value, rows: Size, extents: list[Size]) -> None:
    """Emit a launch in which each group of threads checks `GROUP_ROWS` rows of indices."""
    for extent in extents:
        # Without a first element, nothing can stand for the indices out of range.
        there = e.insert(arith.OrI(e.compare("ne", extent, 0), e.compare("eq", rows, 0))).result
        e.require(there, _OUTSIDE)
    matrix = reinterpreted(e, buffer, [rows, len(extents)])
    limits = [e.from_index(extent, i64) for extent in extents]

    def both(a: Value, b: Value) -> Value:
        return e.insert(arith.AndI(a, b)).result

    with e.parallel([e.ceildiv(rows, GROUP_ROWS)], GROUP_THREADS) as (group,):
        first = e.mul(group, GROUP_ROWS)
        tests: list[Value] = []
        for number, limit in enumerate(limits):
            found = _column(e, matrix, first, number)
            start = e.insert(arith.SubI(e.constant(0, i64), limit)).result
            for predicate, bound in (("sge", start), ("slt", limit)):
                every = e.insert(vector.Broadcast(bound, vector=found.type)).result
                tests.append(e.insert(arith.CmpI(predicate, found, every)).result)
        flags = e.insert(
            arith.ExtUI(reduce(both, tests), out=VectorType((GROUP_ROWS,), i32))
        ).result
        kind = CombiningKind("minsi").value
        least = e.insert(vector.MultiReduction(kind, flags, e.constant(1, i32), (0,))).results[0]
        e.require(e.insert(arith.CmpI("ne", least, e.constant(0, i32))).result, _OUTSIDE)


def _column(e: Emitter, matrix: Value, first: Size, number: int) -> Value:
    """`GROUP_ROWS` elements of a matrix's column `number`, from row `first` on, as a vector of i64.

    Beyond the last row the elements are 0.
    """
    type = matrix.type
    assert isinstance(type, MemRefType)
    rows, element = type.shape[0], type.element_type
    is_whole = rows is not None and rows % GROUP_ROWS == 0
    read = vector.TransferRead.of(
        matrix,
        [e.value(first), e.index(number)],
        e.constant(0, element),
        VectorType((GROUP_ROWS,), element),
        AffineMap(2, 0, (AffineDim(0),)),
        [is_whole],
    )
    found = e.insert(read).results[0]
    wide = VectorType((GROUP_ROWS,), i64)
    return found if element is i64 else e.insert(arith.ExtSI(found, out=wide)).result


def _in_64_bits(e: Emitter, value: Value) -> Value:
    return value if value.type is i64 else e.insert(arith.ExtSI(value, out=i64)).result


def _known_in_range(indices: Value, extents: list[Size]) -> bool:
    constant = indices.defined_by(nn.Constant)
    if constant is None or not isinstance(constant.value, DenseElements):
        return False
    if not all(isinstance(extent, int) for extent in extents):
        return False
    values = constant.value.to_numpy().reshape(-1, len(extents))
    return bool(((values >= [-n for n in extents]) & (values < extents)).all())  # type: ignore[operator]


def _extremes(e: Emitter, buffer: Value, total: Size, count: int) -> list[tuple[Value, Value]]:
    """The smallest and the largest element of each of a matrix's `count` columns.

    The buffer holds its `total` elements row by row. The smallest is at most 0 and the largest at
    least -1 in the result, so that a matrix without rows has both.
    """
    type = buffer.type.element_type
    lanes = count * max(1, LANES // count)
    rows = e.floordiv(total, lanes)
    found = [e.constant(n, type) for _ in range(count) for n in (0, -1)]
    if rows != 0:
        row = VectorType((lanes,), type)
        wide = [e.insert(vector.Broadcast(start, vector=row)).result for start in found[:2]]

        def combine(at: Value, *wide: Value) -> list[Value]:
            values = e.insert(vector.Load(buffer, [e.value(e.mul(at, lanes))], result=row)).result
            return _merged(e, values, *wide)

        wide = e.fold_loop(rows, wide, combine)
        found = [
            value for i in range(count) for value in _of_lanes(e, wide, range(i, lanes, count))
        ]
    first = e.mul(rows, lanes // count)

    def one_by_one(at: Value, *found: Value) -> list[Value]:
        return [
            value
            for i in range(count)
            for value in _merged(
                e, e.load(buffer, [e.add(e.mul(at, count), i)]), *found[2 * i : 2 * i + 2]
            )
        ]

    found = e.fold_loop(e.floordiv(total, count), found, one_by_one, lower=first)
    return list(zip(found[::2], found[1::2], strict=True))


def _of_lanes(e: Emitter, wide: list[Value], lanes: range) -> list[Value]:
    """The smallest of the first vector's `lanes`, and the largest of the second's."""
    if len(lanes) == wide[0].type.shape[0]:
        kinds = zip(("minsi", "maxsi"), wide, strict=True)
        element = wide[0].type.element_type
        return [e.insert(vector.Reduction(k, v, dest=element)).dest for k, v in kinds]
    found: list[Value] = []
    for op, value in zip((arith.MinSI, arith.MaxSI), wide, strict=True):
        least, *rest = (e.insert(vector.Extract.of(value, [i])).result for i in lanes)
        for other in rest:
            least = e.insert(op(least, other)).result
        found.append(least)
    return found


def _merged(e: Emitter, value: Value, least: Value, most: Value) -> list[Value]:
    return [
        e.insert(arith.MinSI(least, value)).result,
        e.insert(arith.MaxSI(most, value)).result,
    ]

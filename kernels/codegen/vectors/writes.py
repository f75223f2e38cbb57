"""Writing pieces of vectors to memory, by the cheapest operations for their lanes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ....dialects import memref, vector
from ....ir.core import Value
from ....ir.types import VectorType
from ..addresses.walk import Walk
from ..code import make
from .accesses import Address
from .lanes import powers_of
from .reads import Place, flat_place, lane_offsets, place, row_place
from .shuffles import interleaved


def write(code: Walk, address: Address, value: Value) -> None:
    """Write one piece by itself."""
    if not address.width:
        _write_element(code, address, value)
    elif address.lane == 1:
        write_row(code, row_place(code, address), value, address.count)
    else:
        lanes = lane_offsets(code, address)
        scatter(code, flat_place(code, address), lanes, value, address.count)


def _write_element(code: Walk, address: Address, value: Value) -> None:
    source, indices = place(code, address)
    if address.count is None:
        code.put(make(memref.Store, (value, source, *indices)))
        return
    row = code.value(vector.Broadcast.create((value,), (VectorType((1,), value.type),)))
    write_row(code, (source, indices), row, address.count)


def write_row(code: Walk, where: Place, value: Value, count: int | Value | None) -> None:
    """Write contiguous elements, all of them or the first `count`."""
    source, indices = where
    if count is None:
        code.put(make(vector.Store, (value, source, *indices)))
    elif isinstance(count, int) and not code.can_mask(value.type):
        _write_parts(code, where, value, count)
    else:
        mask = code.mask(count, value.type.shape[0])
        code.put(make(vector.MaskedStore, (source, *indices, mask, value)))


def _write_parts(code: Walk, where: Place, row: Value, count: int) -> None:
    """Write the first `count` lanes of a row, by ever smaller vectors."""
    source, (*outer, last) = where
    for at, width in powers_of(count):
        indices = (source, *outer, code.shifted(last, at))
        if width == 1:
            part = code.value(vector.Extract.of(row, [at]))
            code.put(make(memref.Store, (part, *indices)))
            continue
        part = code.value(vector.ExtractStridedSlice.of(row, [at], [width]))
        code.put(make(vector.Store, (part, *indices)))


def scatter(
    code: Walk, where: Place, lanes: Value, value: Value, count: int | Value | None
) -> None:
    """Write elements to a place plus the lanes' offsets."""
    source, indices = where
    width = value.type.shape[0]
    mask = code.mask(width if count is None else count, width)
    code.put(make(vector.Scatter, (source, *indices, lanes, mask, value)))


def write_all(code: Walk, pieces: dict[tuple, tuple[Address, Value]]) -> None:
    """Write pieces whose lanes are a few elements apart, given by the keys of their addresses.

    Pieces that fill the gaps between each other's lanes are written as whole vectors.
    """
    while pieces:
        address, value = next(iter(pieces.values()))
        group = _interleaved_with(address, pieces) or [address.key]
        found = [pieces.pop(key) for key in group]
        if len(found) > 1:
            write_interleaved(code, [a for a, _ in found], [v for _, v in found])
        else:
            write(code, address, value)


def _interleaved_with(address: Address, pieces: Collection[tuple]) -> list[tuple] | None:
    """The keys of pieces that fill the gaps between each other's lanes; None if one is missing."""
    stride = address.lane
    assert isinstance(stride, int)
    constant, *rest = address.key
    for first in range(1 - stride, 1):
        keys = [(constant + first + i, *rest) for i in range(stride)]
        if all(key in pieces for key in keys):
            return keys
    return None


def write_interleaved(code: Walk, addresses: Sequence[Address], values: Sequence[Value]) -> None:
    """Write n neighbouring pieces whose lanes are n elements apart, as whole vectors."""
    first = addresses[0]
    width = first.width
    left = len(values) * (width if first.count is None else first.count)  # type: ignore[operator]
    for number, value in enumerate(interleaved(code, values)):
        if left > 0:
            where = flat_place(code, first, number * width)
            write_row(code, where, value, left if left < width else None)
            left -= width

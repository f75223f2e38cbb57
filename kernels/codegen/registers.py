"""What of memory is in registers: loads are remembered, stores are delayed.

A value that one stage stores and the next one loads at the same place never goes through
memory. Stores reach it at the end of the block, or earlier where something else needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...dialects import memref, vector
from ...ir.attributes import BoolAttr, IntegerAttr
from ...ir.core import Value
from ...ir.types import VectorType, i32
from ..model.polynomial import Size
from ..model.stages import Access, base_buffer
from .addresses import Address, Addresses, Position
from .code import Code, make
from .shuffles import dealt, interleaved, pick, transposed

MAX_SHUFFLED_STRIDE = 8
"""Lanes this far apart are loaded as whole vectors and picked from them; further, gathered."""


SECOND_LEVEL = 2
"""The locality of `memref.prefetch` that brings a line no nearer than the second-level cache."""


@dataclass(slots=True)
class Entry:
    """A value known to be (or, if dirty, to become) the content of an address."""

    address: Address
    value: Value
    dirty: bool


@dataclass(slots=True)
class Block:
    """Neighbouring addresses: how many, and their distance."""

    count: int
    step: int


class Registers:
    """Loads and stores through the scopes' tables of known contents."""

    def __init__(self, code: Code, addresses: Addresses, prefetched: Mapping[Access, int]) -> None:
        self.code = code
        self.addresses = addresses
        self.prefetched = prefetched
        self._base: dict[Value, Value] = {}

    def base(self, buffer: Value) -> Value:
        """What the buffer is a view of: views of one buffer may overlap."""
        known = self._base.get(buffer)
        if known is None:
            known = self._base[buffer] = base_buffer(buffer)
        return known

    # -- known contents ------------------------------------------------------------------------

    def find(self, address: Address) -> Value | None:
        """The content of an address if it is known here."""
        base, scope = self.base(address.access.value), self.code.scope
        while scope is not None:
            entry = scope.entries.get(base, {}).get(address.key)
            if entry is not None:
                return entry.value
            if base in scope.written:
                return None
            scope = scope.parent
        return None

    def load(self, address: Address, block: Block | None = None) -> Value:
        """The content of an address; `block` says that neighbours are wanted as well."""
        value = self.find(address)
        if value is not None:
            return value
        base = self.base(address.access.value)
        table = self.code.scope.entries.setdefault(base, {})
        for entry in table.values():
            if entry.dirty and not disjoint(entry.address, address):
                self._write(entry)
        if is_interleaved(address.lane) and not isinstance(address.count, Value):
            for place, value in self._read_interleaved(address, block or Block(1, 1)):
                table[place.key] = Entry(place, value, False)
            return table[address.key].value
        if block is not None:
            for place, value in self._read_block(address, block):
                table[place.key] = Entry(place, value, False)
            return table[address.key].value
        value = self._read(address)
        if address.access in self.prefetched:
            self._prefetch(address, self.prefetched[address.access])
        table[address.key] = Entry(address, value, False)
        return value

    def store(self, address: Address, value: Value) -> None:
        """Set the content of an address; memory learns of it later."""
        base = self.base(address.access.value)
        table = self.code.scope.entries.setdefault(base, {})
        if address.key not in table:
            for key, entry in list(table.items()):
                if not disjoint(entry.address, address):
                    if entry.dirty:
                        self._write(entry)
                    del table[key]
        table[address.key] = Entry(address, value, True)

    def take(self, address: Address) -> Value:
        """The content of an address that is about to be overwritten."""
        value = self.load(address)
        base = self.base(address.access.value)
        self.code.scope.entries[base].pop(address.key, None)
        return value

    def flush(self, buffers: Iterable[Value] | None = None) -> None:
        """Carry out the delayed stores into these buffers, or all, of the current scope."""
        tables = self.code.scope.entries
        for base in list(tables) if buffers is None else buffers:
            for entry in tables.get(base, {}).values():
                if entry.dirty:
                    self._write(entry)

    def forget(self, buffers: Iterable[Value]) -> None:
        """Drop what is known of buffers that a loop has written."""
        for base in buffers:
            self.code.scope.entries.pop(base, None)

    # -- accesses that are not linear ----------------------------------------------------------

    def load_anywhere(self, access: Access, at: Position) -> Value:
        """The element, or a vector of elements, that an access of any form touches."""
        self.flush([self.base(access.value)])
        place, code = self._place(access, at), self.code
        view = self.addresses.view(access.value)
        if not isinstance(place.type, VectorType):
            return code.value(make(memref.Load, (view, place), (access.element_type,)))
        type = VectorType(place.type.shape, access.element_type)
        count = at.lane.count if at.lane is not None else None
        return self.gather(view, code.index(0), place, type, count)

    def store_anywhere(self, access: Access, at: Position, value: Value) -> None:
        """Set what an access of any form touches."""
        self.flush([self.base(access.value)])
        self.forget([self.base(access.value)])
        place, code = self._place(access, at), self.code
        view = self.addresses.view(access.value)
        if not isinstance(place.type, VectorType):
            code.put(make(memref.Store, (value, view, place)))
            return
        width = place.type.num_elements
        if not isinstance(value.type, VectorType):
            value = code.splat(value, width)
        count = at.lane.count if at.lane is not None else None
        mask = code.mask(width if count is None else count, width)
        code.put(make(vector.Scatter, (view, code.index(0), place, mask, value)))

    def _place(self, access: Access, at: Position) -> Value:
        indices = [self.addresses.expression(e, at) for e in access.exprs]
        return self.addresses.flatten(access.value, access.strides, indices)

    # -- memory --------------------------------------------------------------------------------

    def _read(self, address: Address) -> Value:
        code = self.code
        view = self.addresses.view(address.access.value)
        at = self.addresses.index(address)
        element = address.access.element_type
        if not address.width:
            return code.value(make(memref.Load, (view, at), (element,)))
        type = VectorType((address.width,), element)
        if address.lane == 1:
            return self.read_contiguous(view, at, type, address.count)
        lanes = self.addresses.lane_offsets(address)
        return self.gather(view, at, lanes, type, address.count)

    def _prefetch(self, address: Address, ahead: int) -> None:
        view, code = self.addresses.view(address.access.value), self.code
        at = code.as_value(code.add(self.addresses.index(address), ahead))
        locality, no, yes = IntegerAttr(SECOND_LEVEL, i32), BoolAttr(False), BoolAttr(True)
        place = (view, at)
        code.put(make(memref.Prefetch, place, isWrite=no, localityHint=locality, isDataCache=yes))

    def _read_block(self, address: Address, block: Block) -> list[tuple[Address, Value]]:
        """The vectors at `block.count` neighbouring addresses, whose lanes lie far apart.

        Each lane's neighbours are contiguous: they are loaded as rows, and transposed.
        """
        code, width = self.code, address.width
        view = self.addresses.view(address.access.value)
        type = VectorType((width,), address.access.element_type)
        lanes = address.count if isinstance(address.count, int) else width
        columns = None if block.count == width else block.count
        at = self.addresses.index(address)
        rows = []
        for lane in range(width):
            if lane < lanes:
                place = code.add(at, code.multiply(code.size(address.lane), lane))
                rows.append(self.read_contiguous(view, code.as_value(place), type, columns))
            else:
                rows.append(code.splat_number(0, type))
        columns_read = transposed(code, rows)
        return [
            (
                Address(
                    address.access, address.base, address.constant + i * block.step,
                    address.lane, width, address.count,
                ),
                columns_read[i],
            )
            for i in range(block.count)
        ]  # fmt: skip

    def read_contiguous(self, view: Value, at: Value, type: VectorType, count) -> Value:
        """Elements from `at` on, all of them or so many."""
        code = self.code
        if count is None:
            return code.value(make(vector.Load, (view, at), (type,)))
        mask = code.mask(count, type.shape[0])  # type: ignore[arg-type]
        rest = code.splat_number(0, type)
        return code.value(make(vector.MaskedLoad, (view, at, mask, rest), (type,)))

    def _read_interleaved(self, address: Address, block: Block) -> list[tuple[Address, Value]]:
        """The vectors at neighbouring addresses, picked from the whole vectors they lie in.

        Lanes are `stride` elements apart, so that as many neighbours share what is loaded. The
        last vector loaded ends with the last element wanted, so that none lies outside.
        """
        code, width, stride = self.code, address.width, address.lane
        assert isinstance(stride, int) and not isinstance(address.count, Value)
        view = self.addresses.view(address.access.value)
        type = VectorType((width,), address.access.element_type)
        lanes = width if address.count is None else address.count
        at = self.addresses.index(address)
        found = []
        for first in range(0, block.count, stride):
            together = min(stride, block.count - first)
            span = stride * (lanes - 1) + together
            starts = [*range(0, max(1, span - width), width)]
            if span > width:
                starts.append(span - width)
            vectors = [
                self.read_contiguous(
                    view, code.as_value(code.add(at, first + start)), type,
                    span if span < width else None,
                )
                for start in starts
            ]  # fmt: skip
            if span == stride * width and stride & (stride - 1) == 0:
                picked = dealt(code, vectors)
            else:
                picked = [pick(code, vectors, starts, i, stride, lanes) for i in range(together)]
            for i, value in enumerate(picked, first):
                place = Address(
                    address.access, address.base, address.constant + i * block.step,
                    stride, width, address.count,
                )  # fmt: skip
                found.append((place, value))
        return found

    def gather(self, view: Value, at: Value, lanes: Value, type: VectorType, count) -> Value:
        """Elements at `at` plus the lanes' offsets."""
        code, width = self.code, type.shape[0]
        mask = code.mask(width if count is None else count, width)  # type: ignore[arg-type]
        rest = code.splat_number(0, type)
        return code.value(make(vector.Gather, (view, at, lanes, mask, rest), (type,)))

    def _write(self, entry: Entry) -> None:
        neighbours = self._interleaved_with(entry)
        if neighbours:
            self._write_interleaved(neighbours)
            return
        entry.dirty = False
        address, value, code = entry.address, entry.value, self.code
        view = self.addresses.view(address.access.value)
        at = self.addresses.index(address)
        if not address.width:
            code.put(make(memref.Store, (value, view, at)))
            return
        width = address.width
        if address.lane != 1:
            lanes = self.addresses.lane_offsets(address)
            mask = code.mask(width if address.count is None else address.count, width)
            code.put(make(vector.Scatter, (view, at, lanes, mask, value)))
        else:
            self._write_contiguous(view, at, value, address.count)

    def _write_contiguous(self, view: Value, at: Value, value: Value, count) -> None:
        """A vector's elements from `at` on, all of them or so many."""
        if count is None:
            self.code.put(make(vector.Store, (value, view, at)))
        else:
            mask = self.code.mask(count, value.type.shape[0])  # type: ignore[attr-defined]
            self.code.put(make(vector.MaskedStore, (view, at, mask, value)))

    def _interleaved_with(self, entry: Entry) -> list[Entry]:
        """Delayed stores that together fill the gaps between each other's lanes, or none."""
        address, stride = entry.address, entry.address.lane
        if not is_interleaved(stride) or isinstance(address.count, Value):
            return []
        assert isinstance(stride, int)
        table = self.code.scope.entries[self.base(address.access.value)]
        keys = {
            shift: (*address.key[:2], address.constant + shift, *address.key[3:])
            for shift in range(1 - stride, stride)
        }
        found = {n: table[k] for n, k in keys.items() if k in table and table[k].dirty}
        for first in range(1 - stride, 1):
            if all(first + i in found for i in range(stride)):
                return [found[first + i] for i in range(stride)]
        return []

    def _write_interleaved(self, entries: list[Entry]) -> None:
        """Neighbouring vectors of lanes as far apart as there are vectors, as whole vectors."""
        code, first = self.code, entries[0].address
        width = first.width
        left = len(entries) * (width if first.count is None else first.count)  # type: ignore[operator]
        view, at = self.addresses.view(first.access.value), self.addresses.index(first)
        for value in interleaved(code, [entry.value for entry in entries]):
            if left > 0:
                self._write_contiguous(view, at, value, left if left < width else None)
                at, left = code.as_value(code.add(at, width)), left - width
        for entry in entries:
            entry.dirty = False


def is_interleaved(stride: Size) -> bool:
    """Whether lanes are so near to each other that whole vectors are loaded for them."""
    return isinstance(stride, int) and 2 <= stride <= MAX_SHUFFLED_STRIDE


def disjoint(a: Address, b: Address) -> bool:
    """Whether two addresses of views of one buffer certainly share no element."""
    if a.access.value is not b.access.value:
        return False
    if a.key == b.key:
        return False
    if a.access is b.access and a.access.is_output and a.base.key == b.base.key:
        return True  # one stage writes no element twice, but for reductions, at the same key
    if a.base.key != b.base.key:
        return False
    distance = b.constant - a.constant
    if not (isinstance(distance, int) and isinstance(a.lane, int) and isinstance(b.lane, int)):
        return False
    reach_a, reach_b = a.lane * max(a.width - 1, 0), b.lane * max(b.width - 1, 0)
    if distance > reach_a or -distance > reach_b:
        return True
    stride = a.lane
    return bool(stride and stride == b.lane and distance % stride)

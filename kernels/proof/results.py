"""Checks that the launches of a host function write all of each result, each element once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import func, gpu, memref
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import MemRefType
from .accesses import READ, WRITE, Access, Unknown
from .arrays import NotListedError
from .enumeration import Enumeration
from .forms import Forms
from .merging import merged
from .regions import Marks, Region, SetOfElements
from .sets import Sets, TooLargeError


@dataclass(frozen=True)
class Launched:
    """A launch, and the accesses of its kernel."""

    launch: gpu.LaunchFunc
    forms: Forms
    sets: Sets
    listed: Enumeration
    accesses: Sequence[Access]
    is_understood: bool
    """Whether `accesses` holds every access of the kernel."""


@dataclass(frozen=True)
class Written:
    """The findings on a buffer that launches write."""

    buffer: Value
    is_whole: bool
    is_rewritten: bool = False
    """Whether some launch writes an element several times and never reads it."""
    open: Unknown | None = None
    """The first thing that could not be proven, or None."""


def written(
    function: func.FuncOp, launched: Sequence[Launched], given_up: set[Value]
) -> Iterator[Written]:
    """The findings on each buffer that a function's launches write, in their order.

    An argument that a launch reads before any write is an operand, whose other elements keep their
    values. Other arguments and returned buffers must be written completely, and of other buffers
    all elements that are read: else raises NncError. `given_up` has the buffers whose check took
    too long in another case: they are not checked again, and new ones are added.
    """
    for buffer in dict.fromkeys(
        access.place.buffer
        for one in launched
        for access in one.accesses
        if access.kind == WRITE and _is_of_host(access.place.buffer)
    ):
        one = _Buffer(function, buffer, launched)
        try:
            found = one.too_large() if buffer in given_up else one.written()
        except TooLargeError:
            given_up.add(buffer)
            found = one.too_large()
        if found is not None:
            yield found


class _Buffer:
    """A buffer, and the launches that touch it."""

    def __init__(self, function: func.FuncOp, buffer: Value, launched: Sequence[Launched]) -> None:
        self.function, self.buffer, self.launched = function, buffer, launched
        touching = [
            (one, [a for a in one.accesses if a.place.buffer is buffer]) for one in launched
        ]
        self.touching = [(one, accesses) for one, accesses in touching if accesses]
        self.obstacle = self._obstacle()

    def written(self) -> Written | None:
        """The findings; None for an operand. Raises NncError if elements stay unwritten."""
        if self.obstacle is None:
            try:
                listed = [(one.listed, accesses) for one, accesses in self.touching]
                return self._left_of(Marks(self.buffer), listed)
            except NotListedError:
                pass
        pieces = [
            (one.forms, [found.access for found in merged(one.forms, accesses)])
            for one, accesses in self.touching
        ]
        found = self._without_alternatives(pieces)
        if found is not None:
            return found
        with self.launched[0].sets.limited():
            sets = [(one.sets, of) for (one, _), (_, of) in zip(self.touching, pieces, strict=True)]
            return self._left_of_sets(self.launched[0].sets, sets)

    def _without_alternatives(
        self, pieces: Sequence[tuple[Forms, Sequence[Access]]]
    ) -> Written | None:
        """The findings if all is proven without conditions that are alternatives; else None."""
        sets = [(Sets(forms, is_plain=True), accesses) for forms, accesses in pieces]
        try:
            with self.launched[0].sets.limited():
                found = self._left_of_sets(Sets(self.launched[0].forms, is_plain=True), sets)
        except (NncError, TooLargeError):
            return None
        is_proven = found is not None and found.is_whole and not found.is_rewritten
        return found if is_proven else None

    def _left_of_sets(
        self, sets: Sets, touching: Sequence[tuple[Sets, Sequence[Access]]]
    ) -> Written | None:
        first = self.launched[0]
        every = [access for _, accesses in touching for access in accesses]
        region = SetOfElements.whole(self.buffer, sets, first.forms, every)
        if region is None:
            reason = self._unknown("its views cannot be compared")
            return Written(self.buffer, False, open=self.obstacle or reason)
        return self._left_of(region, touching)

    def _left_of(
        self, left: Region, touching: Sequence[tuple[Any, Sequence[Access]]]
    ) -> Written | None:
        """The findings after removing the launches' writes, one after the other, from `left`."""
        rewritten = is_operand = False
        unset: Unknown | None = None
        for of, accesses in touching:
            reads = [a for a in accesses if a.kind != WRITE]
            writes = [a for a in accesses if a.kind == WRITE]
            is_operand = is_operand or any(left.meets(of, access) for access in reads)
            rewritten |= left.remove(of, writes, is_counted=not reads) and not reads
            for access in reads:
                if left.meets(of, access):
                    unset = Unknown(access.op, "it may read what no launch has written")
        if left.is_empty():
            return Written(self.buffer, True, rewritten)
        if not self._is_result():
            return Written(self.buffer, False, rewritten, unset) if unset is not None else None
        if is_operand and self.buffer.defining_op is None:
            return None
        if self.obstacle is not None:
            return Written(self.buffer, False, rewritten, self.obstacle)
        if left.is_empty_if_equal():
            equal = self._unknown("it is if unknown extents of two arguments are equal")
            return Written(self.buffer, False, rewritten, equal)
        if not left.is_certain():
            reason = self._unknown("what is left depends on products of unknown extents or on data")
            return Written(self.buffer, False, rewritten, reason)
        where = self.buffer.defining_op or self._last
        raise NncError(f"element {left.element()} of a buffer is written by no launch", where.loc)

    def too_large(self) -> Written:
        """The finding if the question takes too long."""
        return Written(self.buffer, False, open=self._unknown("the proof takes too long"))

    def _unknown(self, reason: str) -> Unknown:
        return Unknown(self._last, _ALL_WRITTEN + reason)

    @property
    def _last(self) -> Operation:
        """The last launch that accesses the buffer."""
        return self.touching[-1][0].launch

    def _obstacle(self) -> Unknown | None:
        """Why other elements may be written than the launches' accesses say; else None."""
        for one in self.launched:
            accesses = [a for a in one.accesses if a.place.buffer is self.buffer]
            is_straight = one.launch.parent is self.function.body.blocks[0]
            if accesses and not is_straight:
                return Unknown(one.launch, _ALL_WRITTEN + "it runs in a loop or branch of the host")
            if not one.is_understood and self._is_given(one.launch):
                return Unknown(
                    one.launch, _ALL_WRITTEN + "some of its operations are not understood"
                )
            for access in accesses:
                if access.kind == WRITE and not access.is_exact:
                    return Unknown(
                        access.op, _ALL_WRITTEN + "where or whether it writes depends on data"
                    )
                if access.kind != WRITE and access.kind != READ:
                    return Unknown(access.op, _ALL_WRITTEN + "it changes elements atomically")
        return self._of_host(self.buffer)

    def _is_result(self) -> bool:
        """Whether the function's caller gets the buffer."""
        if self.buffer.defining_op is None:
            return True
        last = self.function.body.blocks[0].last
        memrefs = [v for v in last.operands if isinstance(v.type, MemRefType)] if last else []
        return any(memref.base_buffer(v) is self.buffer for v in memrefs)

    def _is_given(self, launch: gpu.LaunchFunc) -> bool:
        return any(
            memref.base_buffer(v) is self.buffer
            for v in launch.kernelOperands
            if isinstance(v.type, MemRefType)
        )

    def _of_host(self, view: Value) -> Unknown | None:
        """An operation of the host that may write a buffer or a view of it; None without one."""
        for op, _ in view.uses:
            if isinstance(op, _HARMLESS) or _is_inside(op):
                continue
            if not op.has_trait(memref.ViewLike):
                return Unknown(op, _ALL_WRITTEN + "the host may write the buffer too")
            for result in op.results:
                found = self._of_host(result)
                if found is not None:
                    return found
        return None


_ALL_WRITTEN = "that the buffer is written completely: "
"""How the reasons begin for which that is not proven."""
_HARMLESS = (
    gpu.LaunchFunc, memref.Load, memref.Dim, memref.Dealloc, func.Return,
)  # fmt: skip
"""Operations of the host that do not write to the buffers they use."""


def _is_inside(op: Operation) -> bool:
    return op.parent_of(gpu.GPUFuncOp) is not None


def _is_of_host(buffer: Value) -> bool:
    """Whether a buffer is an argument of the host's function, or allocated there."""
    op = buffer.defining_op
    if op is None:
        return isinstance(buffer.owner.parent_op, func.FuncOp)  # type: ignore[attr-defined]
    return isinstance(op, memref.Alloc)

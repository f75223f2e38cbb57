"""The memory accesses of a kernel: the elements that each touches, by thread and by interval.

Intervals are counted in barriers: two accesses by threads of one group are unordered if the same
number of barriers precedes both. Barriers in a loop count in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...dialects import cf, gpu, memref, scf, vector
from ...ir.affine import AffineDim
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.traits import ReadsMemory, WritesMemory
from ...ir.types import MemRefType
from ..model.uniform import is_uniform
from .expressions import Form, added, is_condition, number, scaled
from .forms import Forms
from .lanes import Lanes
from .masks import masked
from .views import Place, place_of

VIEW_UNKNOWN = "a view of its buffer is not understood"
READ, WRITE, CHANGE = "reads", "writes", "changes"

_MEETINGS = (gpu.Barrier, gpu.Shuffle, gpu.SubgroupReduce)
"""Operations that threads of a group do together."""


@dataclass(frozen=True, eq=False)
class Access:
    """Elements of a buffer that an operation touches.

    `at` has a form for each index of the accessed memref; `limits` its extents, or None if elements
    outside are masked off; `place` is the position in the underlying buffer. `holds` has the
    conditions under which the access happens: masks, branches, loops.
    """

    op: Operation
    kind: str
    at: tuple[Form, ...]
    limits: tuple[Form, ...] | None
    place: Place
    holds: Form
    barriers: Form

    @property
    def is_exact(self) -> bool:
        """Whether its elements are known exactly, and not only a superset of them."""
        forms = (self.holds, *self.at)
        return self.place.is_exact and all(form.is_exact for form in forms)

    @property
    def has_exact_extents(self) -> bool:
        """Whether the bounds of its indices are known."""
        size = self.place.size
        bounds = (*(self.limits or ()), *([size] if size is not None else []))
        return all(form.is_exact for form in bounds)


@dataclass(frozen=True)
class Unknown:
    """An operation of which nothing can be proven, and why."""

    op: Operation
    reason: str


@dataclass
class Accesses:
    """All accesses of a kernel, in order; `unknown` has operations that are not understood.

    The kernel is launched only where `happens` holds.
    """

    forms: Forms
    happens: Form = field(default_factory=lambda: number(0))
    found: list[Access] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    _holds: Form = field(init=False)
    _barriers: Form = field(default_factory=lambda: number(0))
    _parting: list[Operation] = field(default_factory=list)
    """The enclosing branches and loops whose condition may differ between threads of a group."""

    def __post_init__(self) -> None:
        self._holds = self.happens

    def read(self, kernel: gpu.GPUFuncOp) -> None:
        """Collect the accesses of a kernel. Raises NncError where threads diverge at a barrier."""
        self._block(kernel.body.blocks[0])

    def _block(self, block: Block) -> None:
        for op in block:
            match op:
                case _ if isinstance(op, _MEETINGS):
                    self._meet(op)
                case scf.For():
                    self._loop(op, [(op.lower, op.upper, op.step, op.induction_var)])
                case scf.Parallel():
                    rank = len(op.body_block.args)
                    columns = [op.operands[i * rank : (i + 1) * rank] for i in range(3)]
                    self._loop(op, list(zip(*columns, op.body_block.args, strict=True)))
                case scf.If():
                    self._branches(op)
                case cf.Assert():
                    self._suppose(op)
                case scf.While() if not any(isinstance(one, _MEETINGS) for one in op.walk()):
                    self._turns(op)
                case _:
                    self._operation(op)

    # -- control flow --------------------------------------------------------------------------

    def _meet(self, op: Operation) -> None:
        if self._parting:
            around = self._parting[-1]
            raise NncError(
                f"'{op.name}' op stands where threads of a group may diverge: in '{around.name}', "
                "which depends on the thread",
                op.loc,
            )
        if isinstance(op, gpu.Barrier):
            self._barriers = self._barriers.saying(f"({self._barriers.text} + 1)")

    def _loop(self, op: Any, dims: Sequence[tuple[Value, Value, Value, Value]]) -> None:
        before, holds, start = self._barriers, self._holds, self._barriers
        per_iteration = _barriers_in(op.body_block)
        parts = any(not is_uniform(v) for dim in dims for v in dim[:3])
        trips = number(1)
        for lower, upper, step, counter in dims:
            low, high, by = (self.forms.of(v) for v in (lower, upper, step))
            self._check_step(op, by)
            trip = f"{high.text} - ({low.text})"
            if by.text.isdigit() and int(by.text) > 0:
                trip = f"floor(({trip} + {int(by.text) - 1})/{by.text})"
            turn = self.forms.counter(trip, "@ >= 0")
            value = turn + low + high + by
            if by.text.isdigit():
                value = value.saying(added(low, scaled(turn, int(by.text))).text)
            else:
                free = self.forms.variable(exact=False)
                value = (value + free).saying(free.text)
            value = value.given(f"{value.text} >= {low.text}", f"{value.text} < {high.text}")
            self.forms.set(counter, value)
            self._holds = self._holds + value
            if per_iteration:
                trips = self._trips(low, high, by)
                text = f"({start.text} + {per_iteration}*{turn.text})"
                self._barriers = (start + turn).saying(text)
        if per_iteration is None or (per_iteration and (len(dims) > 1 or not trips.is_exact)):
            self.unknown.append(Unknown(op, "it passes a number of barriers that is not known"))
        if parts:
            self._parting.append(op)
        for other in op.body_block.args[len(dims) :]:
            self.forms.set(other, self.forms.variable(exact=False))
        self._block(op.body_block)
        if parts:
            self._parting.pop()
        self._holds, self._barriers = holds, before
        if per_iteration:
            text = f"({before.text} + {per_iteration}*{trips.text})"
            self._barriers = (before + trips).saying(text)

    def _suppose(self, op: cf.Assert) -> None:
        """What follows runs only where a check has succeeded: else the thread ends.

        Whether it does is no question of where the accesses are, so they stay exact.
        """
        condition, holds = self.forms.of(op.arg), self._holds
        if is_condition(condition):
            checked = (holds + condition).given(condition.text)
            self._holds = replace(checked, is_exact=holds.is_exact)

    def _turns(self, op: scf.While) -> None:
        """A loop until a value says so, where threads do not meet. What it carries is unknown."""
        holds = self._holds
        self._holds = holds + self.forms.variable(exact=False)
        for region in op.regions:
            for carried in region.block.args:
                self.forms.set(carried, self.forms.variable(exact=False))
            self._block(region.block)
        self._holds = holds

    def _check_step(self, op: Operation, by: Form) -> None:
        if not by.text.lstrip("-").isdigit():
            self.unknown.append(Unknown(op, "its step is not a constant"))
        elif int(by.text) <= 0:
            raise NncError(f"'{op.name}' op runs with a step of {by.text}", op.loc)

    def _trips(self, low: Form, high: Form, by: Form) -> Form:
        """How often a loop runs."""
        if not by.text.isdigit():
            return self.forms.variable(exact=False)
        count = f"floor(({high.text} - ({low.text}) + {int(by.text) - 1})/{by.text})"
        some = f"({high.text}) > ({low.text}) and @ = {count}"
        none = f"({high.text}) <= ({low.text}) and @ = 0"
        found = self.forms.defined(f"most({count}, 0)", f"(({some}) or ({none}))")
        return found + low + high

    def _branches(self, op: scf.If) -> None:
        before, holds = self._barriers, self._holds
        condition = self.forms.of(op.condition)
        parts = not is_uniform(op.condition)
        counts = []
        if parts:
            self._parting.append(op)
        for number_, region in enumerate(op.regions):
            if not region.blocks:
                counts.append(0)
                continue
            if is_condition(condition):
                text = condition.text if number_ == 0 else f"not ({condition.text})"
                self._holds = holds + condition.given(text)
            else:
                self._holds = holds + self.forms.variable(exact=False)
            self._barriers = before
            self._block(region.blocks[0])
            counts.append(_barriers_in(region.blocks[0]))
        if parts:
            self._parting.pop()
        self._holds, self._barriers = holds, before
        if any(counts):
            self.unknown.append(Unknown(op, "there are barriers in its branches"))

    # -- operations ----------------------------------------------------------------------------

    def _operation(self, op: Operation) -> None:
        for region in op.regions:
            if any(_touches(inner) for one in region.ops for inner in one.walk()):
                self.unknown.append(Unknown(op, "its regions touch memory"))
                return
        if not _touches(op) or isinstance(op, memref.Prefetch | memref.Dealloc):
            return
        of_kind = _KINDS.get(type(op))
        if of_kind is None:
            self.unknown.append(Unknown(op, "what it touches is not understood"))
            return
        for kind, buffer, at, holds, bounded in of_kind(self.forms, op):
            if isinstance(buffer.type, MemRefType):
                self._add(op, kind, buffer, at, holds, bounded)

    def _add(
        self,
        op: Operation,
        kind: str,
        buffer: Value,
        at: Sequence[Form],
        holds: Form,
        bounded: bool,
    ) -> None:
        limits = tuple(self.forms.extent(buffer, d) for d in range(len(at)))
        found = place_of(self.forms, buffer, at, limits)
        if found is None:
            self.unknown.append(Unknown(op, VIEW_UNKNOWN))
            return
        holds = self._holds + holds
        if not bounded:
            for place, limit in zip(at, limits, strict=True):
                inside = f"{place.text} >= 0", f"{place.text} < {limit.text}"
                holds = (holds + place + limit).given(*inside)
        access = Access(
            op, kind, tuple(at), limits if bounded else None, found, holds, self._barriers
        )
        self.found.append(access)


def _touches(op: Operation) -> bool:
    return op.has_trait(ReadsMemory) or op.has_trait(WritesMemory)


def _barriers_in(block: Block) -> int | None:
    """How many barriers an execution of a block passes; None if that is not constant."""
    total = 0
    for op in block:
        if isinstance(op, gpu.Barrier):
            total += 1
        for region in op.regions:
            for inner in region.blocks:
                nested = _barriers_in(inner)
                if nested is None:
                    return None
                trips = op.trip_count() if isinstance(op, scf.For) else None
                if nested and trips is None:
                    return None
                total += nested * (trips or 0)
    return total


# -- the operations that are understood ------------------------------------------------------------

_Touched = Iterator[tuple[str, Value, Sequence[Form], Form, bool]]


def _element(kind: str, forms: Forms, op: Any) -> _Touched:
    yield kind, op.memref, [added(forms.of(i), number(0)) for i in op.indices], number(0), True


def _lanes(forms: Forms, shape: Sequence[Any]) -> list[Form]:
    return [number(0) if extent == 1 else forms.counter(str(extent)) for extent in shape]


def _row(kind: str, forms: Forms, op: Any, shape: Sequence[Any], mask: Value | None) -> _Touched:
    """The elements of a vector access along the last dimensions."""
    lanes = _lanes(forms, shape)
    at = [added(forms.of(i), number(0)) for i in op.indices]
    for d, lane in enumerate(lanes, len(at) - len(lanes)):
        at[d] = added(at[d], lane)
    yield kind, op.base, at, masked(forms, mask, lanes), True


def _transfer(kind: str, forms: Forms, op: Any) -> _Touched:
    lanes = _lanes(forms, op.vector_type.shape)
    at = [added(forms.of(i), number(0)) for i in op.indices]
    along: dict[int, Form] = {}
    for lane, e in zip(lanes, op.map.results, strict=True):
        if isinstance(e, AffineDim):
            at[e.position] = added(at[e.position], lane)
            along[e.position] = lane
    holds = masked(forms, op.mask, [along[d] for d in sorted(along)])
    yield kind, op.base, at, holds, all(op.bounds)


def _anywhere(kind: str, forms: Forms, op: Any) -> _Touched:
    """The elements of a gather or scatter: its last index is that of a vector's lane."""
    lanes = _lanes(forms, op.indices.type.shape)
    at = [added(forms.of(i), number(0)) for i in op.offsets]
    at[-1] = added(at[-1], Lanes(forms).of(op.indices, lanes))
    yield kind, op.base, at, masked(forms, op.mask, lanes), True


def _copied(forms: Forms, op: Any) -> _Touched:
    rank = op.source.type.rank
    extents = [forms.extent(op.source, d) for d in range(rank)]
    lanes = [forms.counter(extent.text) for extent in extents]
    holds = number(0)
    for lane, extent in zip(lanes, extents, strict=True):
        holds = holds + lane + extent
    yield READ, op.source, lanes, holds, True
    yield WRITE, op.target, lanes, holds, True


_KINDS: dict[type[Operation], Any] = {
    memref.Load: lambda f, op: _element(READ, f, op),
    memref.Store: lambda f, op: _element(WRITE, f, op),
    memref.AtomicRMW: lambda f, op: _element(CHANGE, f, op),
    memref.GenericAtomicRMW: lambda f, op: _element(CHANGE, f, op),
    memref.Copy: _copied,
    vector.Load: lambda f, op: _row(READ, f, op, op.result.type.shape, None),
    vector.Store: lambda f, op: _row(WRITE, f, op, op.valueToStore.type.shape, None),
    vector.MaskedLoad: lambda f, op: _row(READ, f, op, op.result.type.shape, op.mask),
    vector.MaskedStore: lambda f, op: _row(WRITE, f, op, op.valueToStore.type.shape, op.mask),
    vector.Gather: lambda f, op: _anywhere(READ, f, op),
    vector.Scatter: lambda f, op: _anywhere(WRITE, f, op),
    vector.TransferRead: lambda f, op: _transfer(READ, f, op),
    vector.TransferWrite: lambda f, op: _transfer(WRITE, f, op),
}

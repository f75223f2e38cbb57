"""--prove-kernels: proofs that launches are right, for all grids and unknown extents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...dialects import arith, cf, func, gpu
from ...ir.core import Operation, Value
from ...ir.diagnostics import Diagnostic, NncError
from ...ir.passes import Pass, PassContext, option
from ...ir.rewriting import constant_int
from ...ir.types import MemRefType
from ...targets.attribute import target_of
from ..model.origins import origins
from .accesses import VIEW_UNKNOWN, Access, Accesses, Unknown
from .around import around
from .cases import Extents, cases, cases_of, in_all
from .counting import Counting
from .enumeration import Enumeration
from .expressions import is_condition
from .forms import Forms
from .merging import Merged, merged
from .numbers import Numbers
from .parameters import Parameters
from .polynomials import Polynomial
from .results import Launched, Written, written
from .sets import Found, Sets, pairs
from .shapes import by_indices

_Asked = dict[gpu.LaunchFunc, dict[Unknown, None]]
"""For each launch what is not proven, in order."""


@dataclass(frozen=True)
class _Whole:
    """A function of the host with its launches, and what its callers tell about its arguments."""

    function: func.FuncOp
    module: Operation
    launches: Sequence[gpu.LaunchFunc]
    calls: Mapping[Value, Value]
    related: Extents


@dataclass(frozen=True)
class ProveKernels(
    Pass,
    name="prove-kernels",
    anchor="builtin.module",
    statistics={
        "proven": "Number of launches proven",
        "open": "Number of launches of which something could not be proven",
        "accesses": "Number of accesses looked at",
        "whole": "Number of buffers that launches are proven to write completely",
        "partial": "Number of buffers of which that could not be proven",
        "rewritten": "Number of buffers of which a launch writes an element twice and reads none",
        "lines": "Number of lines of global memory that the first subgroups' accesses touch",
        "lines-needed": "Number of lines that their elements would fit in",
        "turns": "Number of cycles of memory banks for their accesses to workgroup memory",
        "turns-needed": "Number of these cycles if there were no bank conflicts",
        "uncounted": "Number of accesses that are not counted, as their addresses depend on data",
    },
):
    """Prove of every launch, for all grids and unknown extents, that it has none of these faults.

    - Two groups access the same element and one writes it, or two threads of a group do between
      the same barriers.
    - A barrier stands where threads of a group may diverge.
    - An access is outside its buffer.
    - A function's result is not written completely. One that is read before it is written is an
      operand too, whose other elements keep their values. In other buffers, an element is read that
      was not written.

    `rewritten` counts launches that write an element of a result twice: a waste, not a fault.

    A fault is an error that names both threads, the element, and the schedule's lines of the loops
    around. What cannot be proven, for instance since indices are loaded from memory, is named in a
    remark: `nn-run` finds such faults on data. The IR does not change. Needs islpy:
    `pip install 'nnc[prove]'`.

    With `counts`, each access is counted by the elements that the threads of the first subgroup
    access, in the first iteration of each loop: a remark says where these lie in more lines of
    global memory than they would fill, or more often in one bank of workgroup memory than in
    others. Lines and banks are the target's; without a device, lines of 32 bytes and 32 banks.
    """

    require: bool = option(False, help="what cannot be proven is an error too")
    counts: bool = option(False, help="count lines of global memory and bank conflicts")

    def run(self, op: Operation, context: PassContext) -> None:
        inside = list(op.walk())
        every = [inner for inner in inside if isinstance(inner, func.Call)]
        for function in [inner for inner in inside if isinstance(inner, func.FuncOp)]:
            launches = [inner for inner in function.walk() if isinstance(inner, gpu.LaunchFunc)]
            if not launches:
                continue
            callers = _callers(function, every)
            calls = _given(function, callers[0]) if len(callers) == 1 else {}
            related = _related_extents(function, callers)
            whole = _Whole(function, op, launches, calls, related)
            asked, found = self._decide(whole, context)
            for questions in asked.values():
                for question in questions:
                    self._say(question, context)
                context.statistic("open" if questions else "proven")
            for one in found:
                context.statistic("whole" if one.is_whole else "partial")
                context.statistic("rewritten", one.is_rewritten)
                if one.open is not None:
                    self._say(one.open, context)

    def _decide(self, whole: _Whole, context: PassContext) -> tuple[_Asked, Iterable[Written]]:
        """(for each launch what is not proven, the findings on buffers).

        What is proven without the outcomes of the function's choices needs no proof in each case.
        """
        every = cases(whole.function, whole.calls, whole.related)
        proven = set[gpu.LaunchFunc]()
        if len(every) > 1:
            proven, found = self._without_cases(whole, context)
            if found is not None:
                return {one: {} for one in whole.launches}, found
        asked: _Asked = {one: {} for one in whole.launches}
        found, given_up = [], set[Value]()
        for number, parameters in enumerate(every):
            read = []
            for launch in whole.launches:
                counted = PassContext() if number or len(every) > 1 else context
                one, questions = self._prove(launch, whole, parameters, counted, launch in proven)
                asked[launch].update(dict.fromkeys(questions))
                read += [one] if one is not None else []
            found.append(list(written(whole.function, read, given_up)))
        for launch, questions in asked.items():
            if any(question.reason == VIEW_UNKNOWN for question in questions):
                asked[launch] = self._in_own_cases(launch, whole, questions)
        return asked, in_all(found)

    def _without_cases(
        self, whole: _Whole, context: PassContext
    ) -> tuple[set[gpu.LaunchFunc], list[Written] | None]:
        """(launches proven whatever the outcomes of choices are, the findings on all buffers).

        There are findings if all is proven. A fault counts as not proven: maybe no case has it.
        """
        proven, read = set[gpu.LaunchFunc](), []
        parameters = Parameters(related=dict(whole.related))
        for launch in whole.launches:
            try:
                one, questions = self._prove(launch, whole, parameters, context)
            except NncError:
                continue
            if one is not None and not questions:
                proven.add(launch)
                read.append(one)
        if len(read) < len(whole.launches):
            return proven, None
        try:
            found = list(written(whole.function, read, set()))
        except NncError:
            return proven, None
        is_proven = all(one.is_whole and not one.is_rewritten for one in found)
        return proven, found if is_proven else None

    def _in_own_cases(
        self, launch: gpu.LaunchFunc, whole: _Whole, questions: dict[Unknown, None]
    ) -> dict[Unknown, None]:
        """The questions that remain in the cases of all choices that a launch depends on.

        These are `questions`, those of the function's fewer cases, if there are too many cases.
        """
        found: dict[Unknown, None] = {}
        every = cases_of(launch, whole.calls, whole.related)
        for parameters in every:
            _, left = self._prove(launch, whole, parameters, PassContext())
            if any(question.reason == VIEW_UNKNOWN for question in left):
                return questions
            found.update(dict.fromkeys(left))
        return found if every else questions

    def _prove(
        self,
        launch: gpu.LaunchFunc,
        whole: _Whole,
        parameters: Parameters,
        context: PassContext,
        is_proven: bool = False,
    ) -> tuple[Launched | None, list[Unknown]]:
        """Prove all properties of a launch, unless it `is_proven` before.

        Returns its accesses, and what is not proven.
        """
        kernel = gpu.find_kernel(whole.module, launch.kernel)
        if kernel is None:
            raise launch.error(f"there is no kernel '{launch.kernel}'")
        sizes = [constant_int(size) for size in launch.block]
        if None in sizes:
            reason = "the number of threads of a group is not a constant"
            return None, [Unknown(launch, reason)]
        arguments: dict[Value, Value] = dict(zip(kernel.args, launch.kernelOperands, strict=True))
        x, y, z = (size or 0 for size in sizes)
        subgroup = gpu.subgroup_size(kernel)
        forms = Forms(arguments, (x, y, z), subgroup, calls=whole.calls, parameters=parameters)
        _suppose(forms, launch)
        happens = around(forms, launch)
        forms.number_groups(kernel, [forms.of(size) for size in launch.grid])
        accesses = Accesses(forms, happens)
        accesses.read(kernel)
        context.statistic("accesses", len(accesses.found))
        if self.counts and gpu.is_by_thread(kernel):
            together = target_of(kernel).machine.device_memory.together
            numbers = Numbers(arguments, forms.threads, forms.subgroup_size, together)
            _count(kernel, numbers, context)
        sets, listed = Sets(forms), Enumeration(forms, gpu.is_by_thread(kernel))
        found = by_indices(forms, sets, accesses.found)
        known = [access for access in found if access.place.is_known]
        unknown = [
            *accesses.unknown,
            *(Unknown(a.op, VIEW_UNKNOWN) for a in found if not a.place.is_known),
        ]
        launched = Launched(launch, forms, sets, listed, known, not unknown)
        if is_proven:
            return launched, []
        return launched, [*unknown, *_Proof(kernel, forms, sets, listed, found).run()]

    def _say(self, question: Unknown, context: PassContext) -> None:
        message = f"'{question.op.name}' op is not proven: {question.reason}"
        if self.require:
            raise NncError(message, question.op.loc)
        context.remark(message, question.op.loc)


def _callers(function: func.FuncOp, calls: Sequence[func.Call]) -> list[func.Call]:
    """All calls of a function by others; empty if there may be unknown ones."""
    if function.sym_visibility != "private":
        return []
    called = [op for op in calls if op.callee == function.sym_name]
    return [] if any(op.parent_of(func.FuncOp) is function for op in called) else called


def _given(function: func.FuncOp, call: func.Call) -> dict[Value, Value]:
    """{argument of a function: operand of the call}."""
    return dict(zip(function.args, call.operands, strict=True))


_Told = tuple[str, Polynomial | None]
"""An extent as text, and as a polynomial if it is one."""


def _related_extents(
    function: func.FuncOp, callers: Sequence[func.Call]
) -> dict[tuple[Value, int], tuple[tuple[Value, int], int]]:
    """Maps unknown extents of arguments to (an earlier one, by how much they are larger).

    The difference is the same number in all calls, mostly 0.
    """
    forms = Forms({}, (1, 1, 1), 1)
    before: dict[tuple[Value, int], list[_Told]] = {}
    related = {}
    for argument in function.args if callers else ():
        shape = argument.type.shape if isinstance(argument.type, MemRefType) else ()
        for dim in (d for d, extent in enumerate(shape) if extent is None):
            extents = [forms.extent(call.operands[argument.index], dim) for call in callers]
            told = [(extent.text, forms.polynomial(extent)) for extent in extents]
            for place, others in before.items():
                more = {_difference(*pair) for pair in zip(told, others, strict=True)}
                if len(more) == 1 and (larger := more.pop()) is not None:
                    related[argument, dim] = place, larger
                    break
            else:
                before[argument, dim] = told
    return related


def _difference(one: _Told, other: _Told) -> int | None:
    """The difference of two extents; None if it is not constant."""
    if one[0] == other[0]:
        return 0
    first, second = one[1], other[1]
    return None if first is None or second is None else (first - second).constant


def _suppose(forms: Forms, launch: gpu.LaunchFunc) -> None:
    """Suppose the conditions that the host has checked before a launch."""
    function = launch.parent_of(func.FuncOp)
    assert function is not None
    for op in function.body.blocks[0]:
        if any(inner is launch for inner in op.walk()):
            return
        if isinstance(op, cf.Assert):
            _suppose_natural(forms, op.arg)
            form = forms.fixed(forms.of(op.arg))
            if form is not None and is_condition(form) and not form.wanted:
                forms.parameters.suppose(f"({form.text})")


def _suppose_natural(forms: Forms, checked: Value) -> None:
    """Suppose that a number checked not to be negative is not."""
    op = checked.defining_op
    if isinstance(op, arith.CmpI) and op.predicate == "sge" and constant_int(op.rhs) == 0:
        form = forms.of(op.lhs)
        polynomial = forms.parameters.polynomial(form)
        if polynomial is not None and not form.wanted:
            forms.parameters.suppose_natural(polynomial)


def _count(kernel: gpu.GPUFuncOp, numbers: Numbers, context: PassContext) -> None:
    """Remark which accesses of a kernel touch more lines, or take more bank cycles, than needed."""
    memory = target_of(kernel).machine.device_memory
    counting = Counting(numbers, memory)
    for count in counting.block(kernel.body.blocks[0]):
        what = "lines" if count.is_global else "turns"
        context.statistic(what, count.taken)
        context.statistic(f"{what}-needed", count.least)
        if count.taken > count.least:
            unit = f"lines of {memory.line_bytes} bytes" if count.is_global else "bank cycles"
            verb = "touches" if count.is_global else "takes"
            message = (
                f"'{count.op.name}' op {verb} {count.taken} {unit} where {count.least} suffice"
            )
            context.remark(message, count.op.loc)
    context.statistic("uncounted", len(counting.unknown))


def _scheduled(*ops: Operation) -> list[Diagnostic]:
    """Notes with the scheduling operations that made the loops around operations."""
    found = dict.fromkeys(origin for op in ops for origin in origins(op))
    return [
        Diagnostic("note", f"'{name}' here shaped a loop around it", loc) for name, loc in found
    ]


_BY_VALUES = "where it reads or writes depends on data"
_IF_EQUAL = "it is inside its buffer only if unknown extents of two arguments are equal"
_BY_PRODUCTS = "whether it is right depends on products of unknown extents or on data"


class _Proof:
    """The proof about the accesses of a kernel, with what remains unknown."""

    def __init__(
        self,
        kernel: gpu.GPUFuncOp,
        forms: Forms,
        sets: Sets,
        listed: Enumeration,
        accesses: Sequence[Access],
    ) -> None:
        self.kernel, self.forms, self.accesses = kernel, forms, accesses
        self.sets, self.listed = sets, listed
        self.plain = Sets(forms, is_plain=True)
        self.by_thread = gpu.is_by_thread(kernel)

    def run(self) -> Iterator[Unknown]:
        """Yield what cannot be proven. Raises NncError at a proven fault."""
        left = [access for access in self.accesses if not self.listed.is_inside(access)]
        for one in merged(self.forms, left):
            if not self._is_inside(one.access):
                for access in one.members:
                    yield from self._inside(access)
        outside = set(left)
        buffers: dict[Value, list[Access]] = {}
        for access in self.accesses:
            if access.place.is_known and self._is_shared(access.place.buffer):
                buffers.setdefault(access.place.buffer, []).append(access)
        for buffer, accesses in buffers.items():
            is_of_group = self._is_of_group(buffer)
            is_listed = outside.isdisjoint(accesses)
            if is_listed and self.listed.are_apart(accesses, is_of_group):
                continue
            pieces = merged(self.forms, accesses)
            if not is_of_group:
                yield from self._all_apart(pieces, within=False)
            if self.by_thread:
                yield from self._all_apart(pieces, within=True)

    def _all_apart(self, accesses: list[Merged], within: bool) -> Iterator[Unknown]:
        every = [one.access for one in accesses]
        if any(sets.are_apart(every, within) for sets in (self.plain, self.sets)):
            return
        for one, other in pairs(accesses):
            first, second = one.access, other.access
            by_indices = None not in (first.place.indices, second.place.indices)
            if not by_indices and None in (first.place.flat, second.place.flat):
                yield from (
                    Unknown(a.op, "its view and another's cannot be compared")
                    for a in other.members
                )
            elif self.sets.clash(first, second, within) is not None:
                yield from self._clashes(one, other, within)

    def _clashes(self, one: Merged, other: Merged, within: bool) -> Iterator[Unknown]:
        """The clashes of accesses merged into two, which clash as far as is known."""
        if not (one.access.is_exact and other.access.is_exact):
            inexact = other if one.access.is_exact else one
            yield from (Unknown(access.op, _BY_VALUES) for access in inexact.members)
            return
        for first in one.members:
            for second in other.members:
                yield from self._apart(first, second, within)

    def _is_inside(self, access: Access) -> bool:
        return self.sets.outside(access) is None and self.sets.is_as_wanted(access)

    def _inside(self, access: Access) -> Iterator[Unknown]:
        found = self.sets.outside(access)
        if found is not None:
            if not access.has_exact_extents:
                yield Unknown(access.op, "the size of its buffer depends on data")
                return
            if access.is_exact and self.sets.is_inside_if_equal(access):
                yield Unknown(access.op, _IF_EQUAL)
                return
            if access.is_exact and found.may:
                yield Unknown(access.op, _BY_PRODUCTS)
                return
            if not access.is_exact:
                found = self.sets.outside_exactly(access)
            if found is not None and not found.may:
                raise NncError(
                    f"'{access.op.name}' op {access.kind} element {list(found.element)} in "
                    f"{self._who(found, 0)}, outside of its buffer",
                    access.op.loc,
                    _scheduled(access.op),
                )
            yield Unknown(access.op, _BY_VALUES)
        elif not self.sets.is_as_wanted(access):
            yield Unknown(access.op, "an index of it may be negative, or divided by 0")

    def _apart(self, one: Access, other: Access, within: bool) -> Iterator[Unknown]:
        found = self.sets.clash(one, other, within)
        if found is None:
            return
        if found.may:
            yield Unknown(other.op, _BY_PRODUCTS)
            return
        between = "between the same barriers" if within else "in one launch"
        message = (
            f"'{other.op.name}' op {other.kind} element {list(found.element)} in "
            f"{self._who(found, 1)}, which {self._who(found, 0)} {one.kind} {between}"
        )
        note = Diagnostic("note", "the other access is here", one.op.loc)
        raise NncError(message, other.op.loc, [note, *_scheduled(one.op, other.op)])

    def _who(self, found: Found, i: int) -> str:
        group = f"group {found.groups[i]}"
        return f"thread {found.threads[i]} of {group}" if self.by_thread else group

    def _is_of_group(self, base: Value) -> bool:
        return any(base is buffer for buffer in self.kernel.workgroup_buffers)

    def _is_shared(self, base: Value) -> bool:
        """Whether several threads, or groups, share the buffer."""
        if any(base is buffer for buffer in self.kernel.private_buffers):
            return False
        op = base.defining_op
        return op is None or op.parent_of(gpu.GPUFuncOp) is None

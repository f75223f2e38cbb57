"""--prove-kernels: what every launch of a kernel does right, for all grids and open extents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dialects import gpu
from ...ir.core import Operation, Value
from ...ir.diagnostics import Diagnostic, NncError
from ...ir.passes import Pass, PassContext, option
from ...ir.rewriting import constant_int
from .accesses import Access, Accesses, Unknown
from .forms import Forms
from .sets import Found, Sets, pairs


@dataclass(frozen=True)
class ProveKernels(
    Pass,
    name="prove-kernels",
    anchor="builtin.module",
    statistics={
        "proven": "Number of launches proven",
        "open": "Number of launches of which something could not be proven",
        "accesses": "Number of accesses looked at",
    },
):
    """Prove of every launch, for all grids and open extents, what could go wrong without a word.

    - No two groups touch an element of which one writes, nor two threads of a group between the
      same barriers.
    - No barrier stands where threads of a group may part.
    - Every access is inside its buffer.

    What is wrong is an error that names both threads and the element. What cannot be proven, since
    places are values, say, is named in a remark: `nn-run` finds it on data. Nothing changes. Needs
    islpy: `pip install 'nnc[prove]'`.
    """

    require: bool = option(False, help="what cannot be proven is an error too")

    def run(self, op: Operation, context: PassContext) -> None:
        for launch in [inner for inner in op.walk() if isinstance(inner, gpu.LaunchFunc)]:
            open_questions = list(prove(launch, op, context))
            for question in open_questions:
                message = f"'{question.op.name}' op is not proven: {question.reason}"
                if self.require:
                    raise NncError(message, question.op.loc)
                context.remark(message, question.op.loc)
            context.statistic("open" if open_questions else "proven")


def prove(launch: gpu.LaunchFunc, module: Operation, context: PassContext) -> Iterator[Unknown]:
    """What of a launch cannot be proven. Raises NncError at what is wrong."""
    kernel = gpu.find_kernel(module, launch.kernel)
    if kernel is None:
        raise launch.error(f"there is no kernel '{launch.kernel}'")
    sizes = [constant_int(size) for size in launch.block]
    if None in sizes:
        yield Unknown(launch, "the number of threads of a group is not a constant")
        return
    arguments: dict[Value, Value] = dict(zip(kernel.args, launch.kernelOperands, strict=True))
    forms = Forms(arguments, tuple(sizes), gpu.subgroup_size(kernel))  # type: ignore[arg-type]
    forms.grid = tuple(forms.of(size) for size in launch.grid)
    accesses = Accesses(forms)
    accesses.read(kernel)
    context.statistic("accesses", len(accesses.found))
    yield from accesses.unknown
    yield from _Proof(kernel, forms, accesses.found).run()


class _Proof:
    """What holds for the accesses of a kernel, and what of it cannot be told."""

    def __init__(self, kernel: gpu.GPUFuncOp, forms: Forms, accesses: list[Access]) -> None:
        self.kernel, self.accesses = kernel, accesses
        self.sets = Sets(forms)
        self.by_thread = gpu.is_by_thread(kernel)

    def run(self) -> Iterator[Unknown]:
        """What cannot be told. Raises NncError at what is wrong."""
        for access in self.accesses:
            yield from self._inside(access)
        buffers: dict[Value, list[Access]] = {}
        for access in self.accesses:
            if self._is_shared(access.place.buffer):
                buffers.setdefault(access.place.buffer, []).append(access)
        for buffer, accesses in buffers.items():
            if not self._is_of_group(buffer):
                yield from self._all_apart(accesses, within=False)
            if self.by_thread:
                yield from self._all_apart(accesses, within=True)

    def _all_apart(self, accesses: list[Access], within: bool) -> Iterator[Unknown]:
        if self.sets.are_apart(accesses, within):
            return
        for one, other in pairs(accesses):
            by_indices = None not in (one.place.indices, other.place.indices)
            if by_indices or None not in (one.place.flat, other.place.flat):
                yield from self._apart(one, other, within)
            else:
                yield Unknown(other.op, "its view and another's cannot be compared")

    def _inside(self, access: Access) -> Iterator[Unknown]:
        found = self.sets.outside(access)
        if found is not None:
            if access.is_exact:
                raise NncError(
                    f"'{access.op.name}' op {access.kind} element {list(found.element)} in "
                    f"{self._who(found, 0)}, outside of its buffer",
                    access.op.loc,
                )
            yield Unknown(access.op, "where it reads or writes is a value")
        elif not self.sets.is_as_wanted(access):
            yield Unknown(access.op, "an index of it may be negative")

    def _apart(self, one: Access, other: Access, within: bool) -> Iterator[Unknown]:
        found = self.sets.clash(one, other, within)
        if found is None:
            return
        if not (one.is_exact and other.is_exact):
            inexact = other if one.is_exact else one
            yield Unknown(inexact.op, "where it reads or writes is a value")
            return
        between = "between the same barriers" if within else "in one launch"
        message = (
            f"'{other.op.name}' op {other.kind} element {list(found.element)} in "
            f"{self._who(found, 1)}, which {self._who(found, 0)} {one.kind} {between}"
        )
        note = Diagnostic("note", "the other access is here", one.op.loc)
        raise NncError(message, other.op.loc, [note])

    def _who(self, found: Found, i: int) -> str:
        group = f"group {found.groups[i]}"
        return f"thread {found.threads[i]} of {group}" if self.by_thread else group

    def _is_of_group(self, base: Value) -> bool:
        return any(base is buffer for buffer in self.kernel.workgroup_buffers)

    def _is_shared(self, base: Value) -> bool:
        """Whether several threads, or groups, have the same buffer."""
        if any(base is buffer for buffer in self.kernel.private_buffers):
            return False
        op = base.defining_op
        return op is None or op.parent_of(gpu.GPUFuncOp) is None

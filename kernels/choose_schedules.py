"""Choose schedules: for every kernel, a `schedule.for` from an analytical machine model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..dialects import func, linalg, schedule
from ..dialects.marks import CYCLES, KERNEL, ON_HOST, REPEATED
from ..ir.attributes import I64Attr
from ..ir.core import Operation
from ..ir.decisions import Alternative, Decision, Terms
from ..ir.passes import Pass, PassContext, option
from ..targets.attribute import target_of
from .kernel_costs import kernel_cost
from .model.reuse import Reuse, reuse_distances
from .on_host import copy_at_once, keep_on_host
from .policy import policy_of
from .tuned import TunedFolder, TunedSource

if TYPE_CHECKING:
    from ..targets.base import Target
    from ..targets.machine import Machine
    from .policy.candidates import Candidate


@dataclass(frozen=True)
class ChooseSchedules(
    Pass,
    name="choose-schedules",
    anchor="builtin.module",
    statistics={
        "schedules": "Number of schedules chosen",
        "tuned": "Number of schedules taken from a folder",
    },
):
    """Put a schedule beside every function of linalg operations that has none yet.

    The target's policy chooses register tiles, loop orders, fusion inside kernels and parallel
    loops by a cost model of the machine; the schedule dialect describes them. Of several candidates
    the best legal one is taken. With `tuned`, a kernel gets the schedule that `nnc tune` has found
    for it, if there is one and it is legal.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    print_candidates: bool = option(
        False, help="report the expected cycles of each kernel's candidate schedules"
    )

    tuned: str = option("", help="a folder of schedules that `nnc tune` has written")
    tuned_anywhere: bool = option(
        False, help="also take schedules of `tuned` that were found on other machines"
    )

    def run(self, op: Operation, context: PassContext) -> None:
        source = None
        if self.tuned:
            source = TunedSource(TunedFolder(Path(self.tuned), self.tuned_anywhere))
        target = target_of(op, self.target)
        existing, reuse = schedule.schedules(op), reuse_distances(op)
        for function in list(op.regions[0].ops):
            if not isinstance(function, func.FuncOp) or not function.regions[0].blocks:
                continue
            if function.sym_name in existing:
                continue
            copy_at_once(function, target)
            if has_stages(function) or KERNEL in function.attributes:
                keep_on_host(function, target)
            if not has_stages(function):
                continue
            block, own = function.regions[0].blocks[0], target_of(function)
            if source is not None and (one := source.find(function, block, own)):
                _put_beside(function, one)
                context.statistic("tuned")
            else:
                distances = reuse.get(function.sym_name, ())
                _put_beside(function, self._chosen(function, target, distances, context))
                context.statistic("schedules")
        for line in source.summary() if source is not None else ():
            context.report(line)

    def _chosen(
        self, function: func.FuncOp, target: Target, distances: Reuse, context: PassContext
    ) -> Operation:
        """The schedule that the policy chooses for a kernel of a program for `target`."""
        own = target_of(function)
        machine, every = own.machine, self.print_candidates or context.decisions.every
        found, chosen = choose(function, own.policy, machine, every, distances)
        if hasattr(policy_of(own.policy), "margin"):
            again = partial(_decided, function, own.policy, distances)
            context.decide(decision(function, own.policy, machine, found, chosen, again))
            if target.caller is not target:
                context.decide(place(function, target, chosen.terms, every))
        if self.print_candidates:
            show(found, chosen, function, context)
        if machine.program is not machine:
            function.attributes[CYCLES] = I64Attr(round(getattr(chosen, "cycles", 0)))
        return chosen.schedule


def _put_beside(function: func.FuncOp, schedule: Operation) -> None:
    """Insert a kernel's schedule after it."""
    schedule.loc = function.loc
    assert function.parent is not None
    function.parent.insert_after(schedule, function)


def place(function: func.FuncOp, device: Target, terms: Terms | None, every: bool) -> Decision:
    """Decide where a kernel of a device's program runs: on the host only if the device cannot.

    `terms` are its expected cycles on the device. With `every`, the alternative of the host is
    estimated too: the kernel, and copies of its arguments there and back.
    """
    host, written = device.caller, function.attributes.get(ON_HOST)
    fault, on_host, unit = getattr(written, "value", ""), terms, device.machine
    if every and not fault:
        on_host = choose(function, host.policy, host.machine, False)[1].terms
        moved, bandwidth = kernel_cost(function, 1).bytes, getattr(unit, "copy_bandwidth", 0.0)
        if on_host is not None:
            on_host = on_host.scaled(unit.gigahertz / host.machine.gigahertz)
            if moved and bandwidth:
                on_host = on_host.plus("copies", moved / bandwidth * unit.gigahertz)
    return Decision(
        "place",
        (
            Alternative(device.name, None if fault else terms, fault=fault),
            Alternative(host.name, on_host if every or fault else None),
        ),
        host.name if fault else device.name,
        function.loc,
        function.sym_name,
        because=fault or "what a device can do stays there",
    )


def has_stages(function: func.FuncOp) -> bool:
    """Whether a function is a kernel with loops to schedule."""
    return any(isinstance(stage, linalg.StructuredOp) for stage in function.regions[0].blocks[0])


def choose(
    function: func.FuncOp, policy: str, machine: Machine, every: bool, reuse: Reuse = ()
) -> tuple[Sequence[Candidate], Candidate]:
    """The candidate schedules of a policy, given by name, for a kernel; and the one chosen.

    `reuse` are the reuse distances of its arguments, for policies that read them.
    """
    own, machine = policy_of(policy), _as_it_finds(function, machine)
    block = function.regions[0].blocks[0]
    distances = (reuse,) if getattr(own, "READS_REUSE", False) else ()
    found = own.candidates(function.sym_name, block, machine, every, *distances)
    return found, own.best(found, machine)


def _as_it_finds(function: func.FuncOp, machine: Machine) -> Machine:
    """The machine; for a kernel that only loops call, sharing work costs what awake threads cost.

    Its threads have not gone to sleep since the last iteration, so less work is worth sharing.
    """
    threads = machine.costs.threads
    if REPEATED not in function.attributes:
        return machine
    least = min(threads.least_microseconds, threads.awake_microseconds)
    awake = replace(threads, least_microseconds=least)
    return replace(machine, costs=replace(machine.costs, threads=awake))


def decision(
    function: func.FuncOp,
    policy: str,
    machine: Machine,
    found: Sequence[Candidate],
    chosen: Candidate,
    again: Callable[[Machine], Decision],
) -> Decision:
    """A record of which schedule a policy chose for a kernel, and of the alternatives.

    `again` makes the same decision for another machine.
    """
    return Decision(
        "schedule",
        tuple(_alternative(one) for one in found),
        chosen.policy,
        function.loc,
        function.sym_name,
        policy_of(policy).margin(machine),
        again=again,
    )


def _decided(function: func.FuncOp, policy: str, reuse: Reuse, machine: Machine) -> Decision:
    """The decision for another machine, without regard to the kernel's present schedule."""
    again = partial(_decided, function, policy, reuse)
    return decision(
        function, policy, machine, *choose(function, policy, machine, True, reuse), again
    )


def _alternative(one: Candidate) -> Alternative:
    tiles = "; ".join(dict.fromkeys(map(str, one.tiles)))
    return Alternative(one.policy, one.terms, tiles, one.fault, one.cores)


def show(
    found: Sequence[Candidate], chosen: Candidate, function: func.FuncOp, context: PassContext
) -> None:
    """Remark the expected cycles of a kernel's candidates, and the one that is chosen."""
    for one in found:
        taken = " (chosen)" if one is chosen else ""
        context.remark(f"schedule of @{function.sym_name}, {one}{taken}", function.loc)

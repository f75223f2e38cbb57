"""The explanation of a model: all contents of `nnc why`, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ...dialects import func
from ...dialects.marks import DEVICE, ON_HOST
from ...ir.attributes import DictAttr
from ...ir.core import Operation
from ...ir.decisions import Decision, Decisions
from ...ir.diagnostics import NncError
from ...ir.location import node_names, node_of
from ...kernels.kernel_costs import kernel_cost
from ...kernels.model.executions import Execution, kernel_calls, run_time, times_of
from ...targets.attribute import attach, target_of
from ...targets.base import Target
from ...targets.machine import Machine
from ...targets.roofline import Roofline
from ..compile import run_stages
from ..hosting import cut_parts, host_steps, is_hosted
from .changes import Change, changes_of
from .summary import reason

if TYPE_CHECKING:
    from ...kernels.tuned import TunedFolder

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Option:
    """An alternative. Units: microseconds of one call; None if no cost model covers it."""

    name: str
    microseconds: float | None
    terms: Mapping[str, float]
    bound: str
    detail: str
    why_not: str


@dataclass(frozen=True)
class Choice:
    """A decision for a kernel or its nodes; options are sorted by their expected time.

    `changes` is None if not requested, or if times did not decide.
    """

    kind: str
    nodes: tuple[str, ...]
    taken: str
    because: str
    options: tuple[Option, ...]
    changes: tuple[Change, ...] | None

    @property
    def chosen(self) -> Option:
        return next(one for one in self.options if one.name == self.taken)


@dataclass(frozen=True)
class Bound:
    """The lower bound of a call's time, by its operations and the bytes of its arguments.

    `by` says which of the two decides. Units: microseconds.
    """

    microseconds: float
    by: str


@dataclass(frozen=True)
class KernelReason:
    """The explanation of a kernel. Units: microseconds of one call; None if unknown.

    `calls` is the number of calls in a run, or the largest possible one if a branch or the end of a
    loop depends on values; with `is_assumed`, the iterations of a loop around a call are a guess.
    `beside` of the calls are in loops that run side by side, where each runs on one thread.
    """

    kernel: str
    nodes: tuple[str, ...]
    calls: int
    is_assumed: bool
    beside: int
    target: str
    on_host: str
    cores: int
    microseconds: float | None
    bound: str
    terms: Mapping[str, float]
    roofline: Bound | None
    choices: tuple[Choice, ...]

    @property
    def total(self) -> float:
        """The microseconds of all calls."""
        alone = self.calls - self.beside
        return alone * self.of_a_call(False) + self.beside * self.of_a_call(True)

    def of_a_call(self, is_beside: bool) -> float:
        """The microseconds of a call on all cores or, if it `is_beside` others, on one thread; 0 if
        unknown.
        """
        return (self.microseconds or 0.0) * (self.cores if is_beside else 1)


@dataclass(frozen=True)
class Explanation:
    """The explanation of a model. `copied` are bytes per run, `launches` are on a device."""

    model: str
    target: str
    kernels: tuple[KernelReason, ...]
    choices: tuple[Choice, ...]
    """The choices for the model as a whole."""
    host_steps: tuple[str, ...]
    launches: int | None
    copied: int
    copying: float
    """The time of copying, in microseconds."""
    microseconds: float
    """The time of a run; of loops that run side by side, only the longest one counts."""

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.kernels)

    def as_json(self) -> dict[str, Any]:
        """The explanation as JSON data. Units: microseconds, bytes."""
        return {**asdict(self), "calls": self.calls}


def explain(
    name: str,
    module: Operation,
    *,
    target: str | None = None,
    node: str | None = None,
    changes: bool = False,
    progress: Progress = lambda message: None,
) -> Explanation:
    """Explain a module of the graph, which is consumed: all its kernels, or those of one node,
    named as in the model, or one kernel by its name. With `changes`, also what would change each
    choice.

    Raises NncError, which suggests similar names if there is no such node.
    """
    known = {n for op in module.walk() for n in node_names(op.loc)}
    steps = named_host_steps(module)
    chosen = attach(module, target_of(module, target))
    parts = cut_parts(module) if is_hosted(module) else [module]
    walks = [Walk(chosen, node, changes) for _ in parts]
    for part, walk in zip(parts, walks, strict=True):
        walk.run(part, progress)
    kernels = [kernel for walk in walks for kernel in walk.kernels]
    if node is not None and not kernels:
        _refuse(node, known, {n for walk in walks for n in walk.names})
    return explanation(name, chosen, walks, steps)


def explanation(
    name: str, target: Target, walks: Sequence[Walk], host_steps: tuple[str, ...]
) -> Explanation:
    """The explanation that the walks of a model's modules give."""
    launches = [walk.number("launches") for walk in walks] if target.caller is not target else None
    copied = sum(walk.number("copied") for walk in walks)
    bandwidth = getattr(target.machine, "copy_bandwidth", None)
    copying = copied / bandwidth / 1000 if bandwidth else 0.0
    return Explanation(
        name,
        target.name,
        tuple(kernel for walk in walks for kernel in walk.kernels),
        tuple(choice for walk in walks for choice in walk.choices),
        host_steps,
        None if launches is None else sum(launches),
        copied,
        copying,
        sum(walk.microseconds for walk in walks) + copying,
    )


def named_host_steps(module: Operation) -> tuple[str, ...]:
    """The model's nodes that the host computes."""
    hosted = [op for op in host_steps(module) if not isinstance(op, func.Return)]
    return tuple(dict.fromkeys(node_of(op.loc) or f"'{op.name}'" for op in hosted))


def _refuse(node: str, known: set[str], compiled: set[str]) -> None:
    """Raise NncError for a node that has no kernel."""
    if any(_is_named(node, one) for one in known):
        raise NncError(f"no kernel came from node '{node}': it was folded, or only moves data")
    words = {word for one in known | compiled for word in (one, one.rpartition(" (")[0]) if word}
    near = get_close_matches(node, sorted(words), n=5, cutoff=0.4)
    listed = ", ".join(f"'{one}'" for one in near)
    raise NncError(
        f"no node or kernel is called '{node}'" + (f"; near names are {listed}" if near else "")
    )


def _is_named(wanted: str, name: str) -> bool:
    """Whether a node, such as `conv_1 (Conv)`, has the name that the user gave."""
    return wanted in (name, name.rpartition(" (")[0])


class Walk:
    """One module on its way through the stages, with the decisions made there."""

    def __init__(self, target: Target, node: str | None, changes: bool) -> None:
        self.target, self.node, self.changes = target, node, changes
        self.decisions = Decisions(every=True)
        self.kernels: list[KernelReason] = []
        self.choices: list[Choice] = []
        """The choices for the whole module."""
        self.names: set[str] = set()
        """The names of all kernels, and of the nodes that they came from."""
        self.note: DictAttr | None = None
        self.microseconds = 0.0
        """The time of all its kernels in a run."""

    def run(
        self,
        module: Operation,
        progress: Progress,
        after_stage: Callable[[str, Operation], None] | None = None,
        tuned: TunedFolder | None = None,
    ) -> None:
        """Run the stages up to the schedules; for a device, or with `after_stage`, to the end, as a
        device's copies are known only there.
        """

        def look(stage: str, at: Operation) -> None:
            if stage == "schedule":
                self.kernels = self._explained(at)
            if after_stage is not None:
                after_stage(stage, at)

        is_device = self.target.caller is not self.target
        run_stages(
            module,
            last=None if is_device or after_stage is not None else "schedule",
            progress=progress,
            after_stage=look,
            decisions=self.decisions,
            tuned=tuned,
        )
        found = module.attributes.get(DEVICE)
        self.note = found if isinstance(found, DictAttr) else None

    def number(self, name: str) -> int:
        """A number recorded in a device's module; 0 if it is missing."""
        return getattr(self.note.get(name), "value", 0) if self.note is not None else 0

    def _explained(self, module: Operation) -> list[KernelReason]:
        functions = func.functions_by_name(module)
        calls = kernel_calls(module)
        nodes = {
            name: tuple(dict.fromkeys(n for one in own for n in node_names(one.op.loc)))
            for name, own in calls.items()
        }
        whole = [d for d in self.decisions.made if d.kind == "batch"]
        self.choices = [self._choice(d, self.target.machine) for d in whole]
        self.names = {*calls, *(n for names in nodes.values() for n in names)}
        found = {
            name: self._kernel(functions[name], nodes[name], own)
            for name, own in calls.items()
            if self.node is None or any(_is_named(self.node, one) for one in (name, *nodes[name]))
        }
        self.microseconds = run_time(
            module,
            lambda name, beside: found[name].of_a_call(beside) if name in found else 0.0,
            self.target.caller.machine.cores,
        )
        return list(found.values())

    def _kernel(
        self, kernel: func.FuncOp, nodes: tuple[str, ...], calls: Sequence[Execution]
    ) -> KernelReason:
        target = target_of(kernel)
        machine, name = target.machine, kernel.sym_name
        own = [d for d in self.decisions.made if d.subject == name]
        graph = [
            d for d in self.decisions.made
            if not d.subject and d.kind != "batch" and set(node_names(d.location)) & set(nodes)
        ]  # fmt: skip
        choices = [self._choice(d, machine) for d in (*graph, *own)]
        schedules = [i for i, d in enumerate(own) if d.kind == "schedule"]
        chosen = own[schedules[-1]].chosen if schedules else None
        shown = choices[len(graph) + schedules[-1]].chosen if schedules else None
        cores = chosen.cores if chosen is not None else 1
        host = kernel.attributes.get(ON_HOST)
        return KernelReason(
            name,
            nodes,
            times_of(calls),
            any(one.is_assumed for one in calls),
            times_of(one for one in calls if one.is_beside),
            target.name,
            getattr(host, "value", ""),
            cores,
            shown.microseconds if shown is not None else None,
            shown.bound if shown is not None else "",
            shown.terms if shown is not None else {},
            roofline(kernel, machine, cores),
            tuple(choices),
        )

    def _choice(self, decision: Decision, machine: Machine) -> Choice:
        unit = machine.cycles_per_microsecond
        options = []
        for one in decision.alternatives:
            terms = one.terms if one.terms is not None and not one.fault else None
            options.append(
                Option(
                    one.name,
                    None if terms is None else terms.cycles / unit,
                    {n: c / unit for n, c in terms.by_resource.items() if c} if terms else {},
                    terms.bound if terms else "",
                    one.detail,
                    "" if one.name == decision.taken else reason(one, decision),
                )
            )
        asked = self.changes and decision.again is not None
        found = tuple(changes_of(decision, machine)) if asked else None
        nodes, kind = node_names(decision.location), decision.kind
        return Choice(kind, nodes, decision.taken, decision.because, tuple(options), found)


def roofline(kernel: func.FuncOp, machine: Machine, cores: int) -> Bound | None:
    """The lower bound of a kernel's time on so many cores; None if extents are unknown."""
    cost = kernel_cost(kernel)
    if cost.operations is None or cost.bytes is None:
        return None
    plain = cost.operations - cost.in_words
    arithmetic = (plain / machine.multiply_adds + cost.in_words / machine.word_multiply_adds) / 2
    moved = cost.bytes / Roofline(machine).bandwidth(cost.bytes)
    unit = cores * machine.cycles_per_microsecond
    return Bound(max(arithmetic, moved) / unit, "operations" if arithmetic > moved else "bytes")


def slowest(kernels: Sequence[KernelReason]) -> list[KernelReason]:
    """Kernels sorted by the time of all their calls, the longest first."""
    return sorted(kernels, key=lambda one: -one.total)

"""One compilation of a model, recorded: its graph, stages, kernels, code, and decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..dialects import func
from ..dialects.marks import KERNEL
from ..driver.explaining.explain import Explanation, Walk, explanation, named_host_steps
from ..driver.hosting import cut_parts, is_hosted
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..kernels.kernel_costs import Cost, kernel_cost
from ..kernels.tuned import TunedFolder
from ..memory.device_note import calls_of_kernels
from ..targets.attribute import attach, target_of
from ..targets.base import Listing, Target
from .buffers import Argument, arguments_of
from .calls import KernelCall, calls_in_order
from .graph import Graph, graph_of
from .tracing import StageText, Trace, without_marks

Progress = Callable[[str], None]

_CALL = re.compile(r"\bcall @([\w$.-]+)\(")


@dataclass(frozen=True)
class Kernel:
    """A kernel: its cost, and its arguments; None if one is no buffer, or its size is unknown."""

    cost: Cost
    arguments: tuple[Argument, ...] | None


@dataclass
class Part:
    """A unit of compilation: a whole model, or one of several parts around host steps."""

    stages: list[StageText]
    kernels: dict[str, Kernel] = field(default_factory=dict)
    calls: list[KernelCall] = field(default_factory=list)
    """The kernel calls in the order of a run."""
    listing: Listing | None = None
    module: Operation | None = None
    """The module after the last stage."""


@dataclass
class Compilation:
    """A model compiled for a target."""

    model: str
    target: Target
    graph: Graph
    parts: list[Part]
    explanation: Explanation


def compile_traced(
    name: str,
    module: Operation,
    *,
    target: str | None = None,
    tuned: TunedFolder | None = None,
    progress: Progress = lambda message: None,
) -> Compilation:
    """Compile a module of any stage, which is consumed, and record all stages.

    Raises NncError.
    """
    chosen = attach(module, target_of(module, target))
    steps = named_host_steps(module)
    whole = Trace(module)
    graph = graph_of(module, whole.line_of)
    try:
        traces = [whole]
        modules = [module]
        if is_hosted(module):
            modules = cut_parts(module)
            traces = list(map(Trace, modules))
        parts, walks = [], []
        for trace, one in zip(traces, modules, strict=True):
            part, walk = _part(trace, one, chosen, tuned, progress)
            parts.append(part)
            walks.append(walk)
    except NncError as error:
        raise without_marks(error) from None
    return Compilation(name, chosen, graph, parts, explanation(name, chosen, walks, steps))


def _part(
    trace: Trace,
    module: Operation,
    target: Target,
    tuned: TunedFolder | None,
    progress: Progress,
) -> tuple[Part, Walk]:
    """Compile one module, recording it after each stage."""
    part, walk = Part(trace.stages), Walk(target, None, changes=False)

    def look(stage: str, at: Operation) -> None:
        if stage == "schedule":
            part.kernels = {op.sym_name: Kernel(kernel_cost(op), None) for op in kernels_in(at)}
        if part.kernels and kernels_in(at):
            _note_arguments(part.kernels, at)
            part.calls = calls_in_order(at)
        trace.add(stage, at)

    walk.run(module, progress, look, tuned)
    progress("code as text")
    part.listing, part.module = target.listing(module, trace.line_of), module
    return part, walk


def kernels_in(module: Operation) -> list[func.FuncOp]:
    """The kernels of a module, in the stages where they are functions on buffers."""
    return [
        op for op in module.body_block if isinstance(op, func.FuncOp) and KERNEL in op.attributes
    ]


def _note_arguments(kernels: dict[str, Kernel], module: Operation) -> None:
    """Record the kernels' arguments after a stage: later stages may add scratch memory."""
    calls: dict[str, func.Call] = {}
    for call in calls_of_kernels(module):
        calls.setdefault(call.callee, call)
    for op in kernels_in(module):
        if (old := kernels.get(op.sym_name)) is not None:
            found = arguments_of(op, calls.get(op.sym_name))
            kernels[op.sym_name] = replace(old, arguments=found)


def nodes_by_calls(graph: Graph, stages: Sequence[StageText]) -> dict[str, list[int]]:
    """The nodes of each kernel, found by the lines of the first stage from which its calls came;
    for models whose nodes have no names.
    """
    node_of = {line: number for number, node in enumerate(graph.nodes) for line in node.lines}
    found: dict[str, dict[int, None]] = {}
    for at, stage in enumerate(stages):
        for number, text in enumerate(stage.lines):
            if called := _CALL.search(text):
                lines = first_lines(stages, at, number)
                nodes = (node_of[line] for line in sorted(lines) if line in node_of)
                found.setdefault(called[1], {}).update(dict.fromkeys(nodes))
        if found:
            break
    return {name: list(nodes) for name, nodes in found.items()}


def first_lines(stages: Sequence[StageText], stage: int, line: int) -> set[int]:
    """The lines of the first stage from which a line of another stage came."""
    lines = {line}
    for at in range(stage, 0, -1):
        lines = {parent for one in lines for parent in stages[at].parents[one]}
    return lines

"""The data of a page: numbers and names in one table, long texts in chunks.

The scripts in `assets/` read the keys used here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..driver.explaining.explain import KernelReason
from ..driver.explaining.words import WORDS
from ..lowering.pipelines import stages_of
from ..targets.base import Listing
from ..targets.machine import Machine
from .calls import KernelCall
from .compilation import Compilation, Kernel, Part, nodes_by_calls
from .graph import Graph
from .scopes import scopes_in
from .tracing import IMPORT, StageText
from .trials import Probes, Trial

_LABEL = re.compile(r'"?([^"\s:]+)"?:')


class Content:
    """The table, and the chunks that it refers to by number."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.models: list[dict[str, Any]] = []
        self.compilations: list[dict[str, Any]] = []
        self.probes: dict[str, Any] | None = None
        self.notes: list[str] = []

    def table(self, title: str) -> bytes:
        """The table as JSON."""
        found = {
            "title": title,
            "version": __version__,
            "words": WORDS,
            "models": self.models,
            "compilations": self.compilations,
            "probes": self.probes,
            "notes": self.notes,
        }
        return _json(found)

    def add_model(self, name: str, graph: Graph) -> int:
        """Add a model; returns its number."""
        scopes = scopes_in(graph)
        nodes = [
            [node.name, node.kind, _counted(node.ops), node.types, node.lines]
            for node in graph.nodes
        ]
        scope_rows = [scope.as_json() for scope in scopes]
        self.models.append({"name": name, "nodes": nodes, "scopes": scope_rows})
        return len(self.models) - 1

    def add_probes(self, probes: Probes) -> None:
        arithmetic, reading = map(self._chunk, (probes.arithmetic, probes.reading))
        self.probes = {**probes.as_json(), "arithmetic": arithmetic, "reading": reading}

    def add(
        self, model: int, made: Compilation, trials: Sequence[Trial | None], asked: str
    ) -> None:
        """Add a compilation, with the modules that time the kernels of its parts.

        `asked` is the name of its target on a command line.
        """
        numbers = {node.key: i for i, node in enumerate(made.graph.nodes) if node.key}
        found = made.explanation

        def nodes_of(kernel: KernelReason) -> list[int]:
            named = [numbers[name] for name in kernel.nodes if name in numbers]
            return named or called.get(kernel.kernel, [])

        called = nodes_by_calls(made.graph, made.parts[0].stages) if len(made.parts) == 1 else {}
        homes = {name: i for i, part in enumerate(made.parts) for name in part.kernels}
        self.compilations.append(
            {
                "model": model,
                "target": made.target.name,
                "asked": asked,
                "summary": made.target.summary,
                "machine": _machine(made.target.machine),
                "stages": [[IMPORT, "the model as it was read"]]
                + [[one.name, one.summary] for one in stages_of(made.target)],
                "parts": [
                    self._part(part, trial) for part, trial in zip(made.parts, trials, strict=True)
                ],
                "kernels": [
                    _kernel(one, homes[one.kernel], made.parts, nodes_of(one), trials)
                    for one in found.kernels
                ],
                "microseconds": found.microseconds,
                "calls": found.calls,
                "launches": found.launches,
                "copied": found.copied,
                "host": list(found.host_steps),
            }
        )

    def _part(self, part: Part, trial: Trial | None) -> dict[str, Any]:
        stages = [_stage(one) for one in part.stages]
        code = None if part.listing is None else _listing(part.listing, part.stages[-1])
        text = self._chunk(_json({"stages": stages, "code": code}))
        if trial is None:
            return {"text": text, "trial": None, "device": None, "calls": []}
        device = trial.made.device
        return {
            "text": text,
            "calls": [_call_row(one) for one in part.calls],
            "trial": self._chunk(trial.made.code),
            "device": None if device is None else self._chunk(_json(device)),
        }

    def _chunk(self, data: bytes) -> int:
        self.chunks.append(data)
        return len(self.chunks) - 1


def _json(value: Any) -> bytes:
    """Compact JSON. Raises ValueError for infinities and NaN."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def _counted(ops: Iterable[str]) -> list[list[Any]]:
    """The kinds of operations of a node, with the count of each."""
    found: dict[str, int] = {}
    for op in ops:
        found[op] = found.get(op, 0) + 1
    return [[name, count] for name, count in found.items()]


def _machine(machine: Machine) -> dict[str, Any]:
    """The roofline of one core: `gflops` 10^9 operations a second, and for each level of memory its
    bytes (None for main memory) and 10^9 bytes a second.
    """
    hertz = machine.gigahertz
    levels = [(one.bytes, one.bandwidth) for one in (machine.private_memory, machine.shared_memory)]
    return {
        "cores": machine.cores,
        "gigahertz": hertz,
        "gflops": 2 * machine.multiply_adds * hertz,
        "levels": [
            *([size, hertz * width] for size, width in levels),
            [None, hertz * machine.memory_bandwidth],
        ],
    }


def _kernel(
    one: KernelReason,
    part: int,
    parts: Sequence[Part],
    nodes: list[int],
    trials: Sequence[Trial | None],
) -> dict[str, Any]:
    known: Kernel = parts[part].kernels[one.kernel]
    trial = trials[part]
    found = asdict(one) | {
        "part": part,
        "nodes": nodes,
        "operations": known.cost.operations,
        "bytes": known.cost.bytes,
        "arguments": None if known.arguments is None else [list(_row(a)) for a in known.arguments],
        "pool": None if trial is None else trial.pools.get(one.kernel),
    }
    found["choices"] = [
        {key: value for key, value in choice.items() if key != "changes"}
        for choice in found["choices"]
    ]
    return found


def _call_row(call: KernelCall) -> list[Any]:
    return [call.kernel, *(number for at in call.places for number in (at.block, at.offset))]


def _row(argument: Any) -> Iterable[Any]:
    return argument.type, argument.bytes, argument.fill, int(argument.is_weight)


def _stage(stage: StageText) -> dict[str, Any]:
    return {
        "name": stage.name,
        "text": "\n".join(stage.lines),
        "parents": [
            rows[0] if len(rows) == 1 else list(rows) if rows else -1 for rows in stage.parents
        ],
        "functions": {name: list(lines) for name, lines in stage.functions.items()},
    }


def _listing(listing: Listing, last: StageText) -> dict[str, Any]:
    """The code, with the range of lines of each function of the last stage."""
    starts = [
        (i, name)
        for i, line in enumerate(listing.lines)
        if (name := _defined(line, last.functions))
    ]
    ends = [*(i for i, _ in starts), len(listing.lines)][1:]
    return {
        "name": listing.suffix,
        "text": "\n".join(listing.lines),
        "parents": [-1 if one is None else one for one in listing.origins],
        "functions": {name: [start, end] for (start, name), end in zip(starts, ends, strict=True)},
    }


def _defined(line: str, names: Iterable[str]) -> str:
    """The function that begins on a line of code (a label or a C definition), or ""."""
    if not line or line[0].isspace():
        return ""
    label = _LABEL.match(line)
    if label:
        name = label[1]
        return name if name in names else name[1:] if name[1:] in names else ""
    if line.rstrip().endswith(";"):
        return ""
    words = re.findall(r"(\w+)\(", line)
    return next((word for word in words if word in names), "")

"""The check of a model: all contents of `nnc check`, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...frontends.common.front_end import Examination, OperatorUse
from ...frontends.common.source import Source
from ...frontends.formats import examine_model, find_format
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.location import node_of
from ...targets.base import Target
from ..compile import load_module
from ..hosting import cut_parts, entry_of, host_steps, is_hosted
from .dimensions import (
    NamedTensor,
    OpenDimension,
    has_open,
    input_dims,
    input_names,
    inputs_of,
    open_dimensions,
    outputs_of,
)
from .work import Work, work_of, work_on

ASSUMED = 128
"""The assumed extent of unknown dimensions; the first one of an input counts as 1."""

IR_TEXT = "IR text"
"""The name among formats of a file in IR text."""


@dataclass(frozen=True)
class Check:
    """What a model needs and what it would cost.

    `format` is the name of its file format. `inputs` and `outputs` are empty if something is not
    supported. `producer` is the tool that wrote it, if known, `notes` what else the model says of
    itself. `warnings` say where other runtimes are known to compute something else. `host_steps`
    are the nodes that only a host in Python computes, so that no library is possible. `assumed` are
    the shapes of open inputs that the figures are for. `seconds` has a time for each target, by
    name. Without figures, `work` is None and `seconds` is empty.
    """

    model: str
    format: str
    producer: str
    notes: Mapping[str, str]
    inputs: tuple[NamedTensor, ...]
    outputs: tuple[NamedTensor, ...]
    operators: tuple[OperatorUse, ...]
    faults: tuple[str, ...]
    unexamined: int
    warnings: tuple[str, ...]
    host_steps: tuple[str, ...]
    open_dimensions: tuple[OpenDimension, ...]
    assumed: dict[str, tuple[int, ...]]
    work: Work | None
    threads: int
    seconds: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """The check as JSON data. Units: bytes, seconds."""
        work = self.work
        return {
            "model": self.model,
            "format": self.format,
            "producer": self.producer,
            "notes": dict(self.notes),
            "inputs": [asdict(one) for one in self.inputs],
            "outputs": [asdict(one) for one in self.outputs],
            "operators": [asdict(one) for one in self.operators],
            "unsupported": list(self.faults),
            "unexamined": self.unexamined,
            "warnings": list(self.warnings),
            "host_steps": list(self.host_steps),
            "open_dimensions": [asdict(one) for one in self.open_dimensions],
            "assumed_shapes": self.assumed,
            "operations": work and work.operations,
            "kernels": work and len(work.kernels),
            "loops": work and work.loops,
            "weights_bytes": work and work.weights,
            "activations_bytes": work and work.activations,
            "arena_bytes": work and work.arena,
            "threads": self.threads,
            "seconds": self.seconds,
        }


def check(
    model: str,
    targets: Sequence[Target],
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    signature: str | None = None,
    threads: int = 1,
) -> Check:
    """Check a model's file or IR text of the graph. Raises NncError for an invalid model."""
    choices: dict[str, Any] = {
        "shapes": dict(shapes or {}),
        "constants": dict(constants or {}),
        "signature": signature,
    }
    found = _examine(model, choices)
    dimensions: list[OpenDimension] = []
    inputs: list[NamedTensor] = []
    outputs: list[NamedTensor] = []
    work, assumed, steps, seconds = None, {}, (), {}
    if found.module is not None:
        places = (node_of(op.loc) or f"'{op.name}'" for op in host_steps(found.module))
        steps = tuple(dict.fromkeys(places))
        dimensions = open_dimensions(found.module)
        if (entry := entry_of(found.module)) is not None:
            inputs, outputs = inputs_of(entry), outputs_of(entry)
        assumed, module = _closed(model, found.module, choices)
        if module is not None:
            seconds = {t.name: _on(t, module).seconds(t.machine, threads) for t in targets}
            work = _sum(module, lambda part: work_of(part, ASSUMED))
    return Check(
        model,
        _format_of(model),
        found.producer,
        found.notes,
        tuple(inputs),
        tuple(outputs),
        found.operators,
        found.faults,
        found.unexamined,
        found.warnings,
        steps,
        tuple(dimensions),
        assumed,
        work,
        threads,
        seconds,
    )


def _format_of(model: str) -> str:
    return IR_TEXT if Path(model).suffix == ".mlir" else find_format(Source(model)).name


def _on(target: Target, module: Operation) -> Work:
    """The work of a module on a target; the module is not changed."""
    return _sum(module.clone(), lambda part: work_on(target, part, ASSUMED))


def _sum(module: Operation, work: Callable[[Operation], Work]) -> Work:
    """The sum of `work` over all compiled parts of a module."""
    parts = cut_parts(module) if is_hosted(module) else [module]
    return Work.sum(map(work, parts))


def _examine(model: str, choices: dict[str, Any]) -> Examination:
    if Path(model).suffix != ".mlir":
        if not Path(model).exists():
            raise NncError(f"cannot read '{model}': no such file")
        return examine_model(model, **choices)
    module = load_module(model, **choices)
    names = Counter(op.name for op in module.walk() if op.results)
    uses = []
    for name, count in names.most_common():
        dialect, _, word = name.partition(".")
        uses.append(OperatorUse(dialect, word, count, 0))
    return Examination(tuple(uses), (), 0, module)


def _closed(
    model: str, module: Operation, choices: dict[str, Any]
) -> tuple[dict[str, tuple[int, ...]], Operation | None]:
    """Assumed shapes for open inputs, and the module with these; None if they do not fit it."""
    shapes = _assumed(module)
    if not shapes or Path(model).suffix == ".mlir":
        return {}, module
    fixed = examine_model(model, **{**choices, "shapes": {**choices["shapes"], **shapes}})
    return shapes, fixed.module


def _assumed(module: Operation) -> dict[str, tuple[int, ...]]:
    """Assumed shapes for open inputs; dimensions of one name have one extent."""
    entry = entry_of(module)
    if entry is None:
        return {}
    by_name: dict[str, int] = {}
    shapes = {}
    for name, argument, dims in zip(
        input_names(entry), entry.body.block.args, input_dims(entry), strict=True
    ):
        if has_open(argument):
            shape = []
            for axis, (extent, known) in enumerate(zip(argument.type.shape, dims, strict=True)):
                guess = 1 if axis == 0 and argument.type.rank > 1 else ASSUMED
                if known:
                    guess = by_name.setdefault(known, guess)
                shape.append(guess if extent is None else extent)
            shapes[name] = tuple(shape)
    return shapes

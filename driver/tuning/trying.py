"""Tries a schedule written by a person: whether it is legal and correct, and its time.

It runs as an experiment of `nnc tune` does: only its kernels are compiled, and run in the model in
turns with the default's.
"""

from __future__ import annotations

import pickle
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...dialects import func, schedule
from ...ir.core import Block, Operation
from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc
from ...ir.syntax.parser import parse_module
from ...kernels.choose_schedules import choose
from ...kernels.tuned import TunedSchedule, check_schedule, fingerprint, schedule_digest
from ...targets.attribute import attach, machine_name, target_of
from ...targets.base import Target
from ..cache import ModelCache
from ..compile import run_stages
from .checking import WRONG
from .default import scheduled_kernels
from .experiments import ExperimentError, OverError
from .ratio import Ratio
from .tune import Inputs, Prepared, Say
from .worker import Answer

VERSION = 1
"""The version of the JSON form of an attempt."""

Reference = Callable[[Mapping[str, Any]], tuple[Mapping[str, Any] | None, str]]
"""A function from inputs to the expected outputs (or None), and where these come from (or why there
are none)."""


@dataclass(frozen=True)
class Beside:
    """Median times of a run's calls by default and as edited, in microseconds, and their ratio.

    The ratio is the median over pairs run in turns, and so more precise than that of the two
    medians.
    """

    default: float
    edited: float
    ratio: Ratio
    pairs: int

    @staticmethod
    def of(pairs: Sequence[tuple[float, float]]) -> Beside | None:
        """The times from pairs of nanoseconds; None if there are none."""
        if not pairs:
            return None
        default, edited = (statistics.median(side) / 1e3 for side in zip(*pairs, strict=True))
        return Beside(default, edited, Ratio.of(pairs), len(pairs))

    def as_json(self) -> dict[str, Any]:
        """The times as JSON. Units: microseconds; ratios are relative to the default's time."""
        return {
            "default_us": self.default,
            "edited_us": self.edited,
            "ratio": self.ratio.median,
            "ratio_low": self.ratio.low,
            "ratio_high": self.ratio.high,
            "pairs": self.pairs,
        }


@dataclass(frozen=True)
class Fault:
    """Why a schedule is illegal or incorrect, and the position in its text: 0 if unknown."""

    message: str
    line: int = 0
    column: int = 0

    @staticmethod
    def of(error: NncError, file: str) -> Fault:
        """The fault for an error in a schedule that was read from this file."""
        match error.location:
            case FileLineColLoc(name, line, column) if name == file:
                return Fault(error.message, line, column)
        return Fault(error.message)


@dataclass(frozen=True)
class Attempt:
    """The result of trying a schedule.

    `right` is None if the schedule could not be run. `errors` are those of the model's outputs with
    the default and with the tried schedule, relative to the largest value; `reference` says what
    they are compared with, or why there are none. `calls` is the number of calls of the kernels per
    run, 0 if unknown.
    """

    kernel: str
    target: str
    threads: int
    edited: str
    default: str
    is_default: bool
    legal: bool
    right: bool | None
    fault: Fault | None
    reference: str = ""
    errors: tuple[float, float] | None = None
    calls: int = 0
    time: Beside | None = None
    whole: Beside | None = None

    def as_json(self) -> dict[str, Any]:
        """The result as JSON data."""
        names = ("default", "edited")
        errors = [e if isfinite(e) else None for e in self.errors or ()]
        return {
            "version": VERSION,
            "kernel": self.kernel,
            "target": self.target,
            "threads": self.threads,
            "schedule": self.edited,
            "default": self.default,
            "is_default": self.is_default,
            "legal": self.legal,
            "right": self.right,
            "fault": self.fault and asdict(self.fault),
            "reference": self.reference,
            "errors": dict(zip(names, errors, strict=True)) if errors else None,
            "calls": self.calls,
            "time": self.time and self.time.as_json(),
            "whole": self.whole and self.whole.as_json(),
        }


@dataclass(frozen=True)
class Editable:
    """A kernel whose schedule may be edited: its function, and its default schedule."""

    function: func.FuncOp
    default: schedule.For


def editable_kernels(module: Operation, target: str | None) -> dict[str, Editable]:
    """The kernels of a module, which is consumed, that get schedules for a target, by name.

    Raises NncError.
    """
    attach(module, target_of(module, target))
    run_stages(module, last="bufferize")
    written = schedule.schedules(module)
    found = {}
    for name, function in scheduled_kernels(module).items():
        own = target_of(function)
        default = written.get(name)
        if default is None:
            default = choose(function, own.policy, own.machine, every=False)[1].schedule
        found[name] = Editable(function, default)
    return found


def parsed_schedule(text: str, name: str) -> schedule.For:
    """The schedule in a text, inside of a module or alone; errors give the text this name.

    Raises NncError with the location.
    """
    module = parse_module(text, name)
    module.verify()
    found = [op for op in module.body_block if isinstance(op, schedule.For)]
    if len(found) != 1 or len(list(module.body_block)) != 1:
        message = f"one 'schedule.for' is expected, found {len(found)}"
        raise NncError(message, FileLineColLoc(name, 1, 1))
    return found[0]


def chosen_kernel(kernels: Mapping[str, Editable], name: str) -> Editable:
    """The kernel of this name. Raises NncError that lists some existing names."""
    if name in kernels:
        return kernels[name]
    listed = ", ".join(list(kernels)[:20]) or "none"
    more = f" and {len(kernels) - 20} more" if len(kernels) > 20 else ""
    raise NncError(f"no kernel '{name}' has a schedule; there are: {listed}{more}")


def check_edited(one: schedule.For, kernel: Editable, name: str) -> None:
    """Raise NncError at the faulty line if a schedule is not legal for a kernel."""
    if one.kernel != name:
        raise one.error(f"is for '@{one.kernel}', not for '@{name}'")
    block = kernel.function.body.blocks[0]
    try:
        check_schedule(_start(one), block)
    except NncError as error:
        steps = list(one.regions[0].block)
        if error.location in [op.loc for op in (one, *steps)]:
            raise
        # A fault of the loops as a whole: it is that of the first step from which on there is one.
        for count, op in enumerate(steps, 1):
            if _fault(_start(one, count), block) == error.message:
                raise NncError(error.message, op.loc) from None
        raise NncError(error.message, one.loc) from None


def try_schedule(
    module: Operation,
    make_inputs: Inputs,
    kernel: str,
    text: str,
    file: str,
    *,
    seconds: float,
    threads: int = 1,
    target: str | None = None,
    reference: Reference | None = None,
    say: Say = lambda message: None,
    kept: ModelCache | None = None,
) -> Attempt:
    """Check and measure a schedule, the text of a file, for a kernel of a module.

    The default's program comes from `kept`, where the first attempt stores it. The module is
    consumed. Faults of the schedule are in the result. Raises NncError if the model does not
    compile or has no such kernel.
    """
    chosen = attach(module, target_of(module, target))
    say("the schedules by default")
    known = chosen_kernel(editable_kernels(module.clone(), None), kernel)
    about: dict[str, Any] = {
        "kernel": kernel,
        "target": chosen.name,
        "threads": threads,
        "edited": text,
        "default": f"{known.default}\n",
    }
    try:
        one = parsed_schedule(text, file)
        check_edited(one, known, kernel)
    except NncError as error:
        fault = Fault.of(error, file)
        return Attempt(**about, is_default=False, legal=False, right=None, fault=fault)
    about |= {"is_default": schedule_digest(one) == schedule_digest(known.default), "legal": True}
    if why := _cannot_run(chosen):
        return Attempt(**about, right=None, fault=Fault(why))
    with TemporaryDirectory(prefix="nnc-try-") as folder:
        made = Prepared(module, make_inputs, Path(folder), threads, None, say, kept=kept)
        told = _store_reference(made, reference, say)
        key = fingerprint(known.function)
        say("the edited schedule beside the default's, in turns")
        tuned = TunedSchedule(key, one, machine=machine_name(chosen), told="edited")
        with closing(made.local_crew()) as crew:
            try:
                answer = crew.run({key: tuned}, seconds)
            except (ExperimentError, OverError) as error:
                answer = Answer(faults={key: str(error)})
    return Attempt(**about, reference=told, **_judged(made, key, answer))


def _cannot_run(target: Target) -> str:
    why = target.not_timed()
    return f"code for '{target.name}' cannot be run and measured here: {why}" if why else ""


def _store_reference(made: Prepared, reference: Reference | None, say: Say) -> str:
    """Compute and store the reference outputs; returns what they are, or why there are none."""
    if reference is None:
        return "not asked for"
    say("the reference")
    outputs, told = reference(made.inputs)
    if outputs is not None:
        made.request.reference.write_bytes(pickle.dumps(dict(outputs)))
    return told


def _judged(made: Prepared, key: str, answer: Answer) -> dict[str, Any]:
    """The fields of the result for the kernels of a fingerprint."""
    names = [name for name, one in made.keys.items() if one == key]
    fault = answer.faults.get(key)
    errors = answer.errors
    if fault is not None:
        right = False if fault.startswith(WRONG) else None
        return {"right": right, "fault": Fault(fault), "calls": made.calls_of(names)}
    measured = [answer.kernels[name] for name in names if name in answer.kernels]
    turns = zip(*measured, strict=True)
    sides = [[sum(side) for side in zip(*turn, strict=True)] for turn in turns]
    pairs = [(default, edited) for default, edited in sides]
    return {
        "right": True,
        "fault": None,
        "errors": errors,
        "calls": made.calls_of(names),
        "time": Beside.of(pairs),
        "whole": Beside.of(answer.whole),
    }


def _fault(one: schedule.For, block: Block) -> str:
    """Why a schedule is not legal; empty if it is."""
    try:
        check_schedule(one, block)
    except NncError as error:
        return error.message
    return ""


def _start(one: schedule.For, count: int | None = None) -> schedule.For:
    """A copy of a schedule, or of its first `count` steps."""
    made = one.clone()
    assert isinstance(made, schedule.For)
    if count is not None:
        for op in reversed(list(made.regions[0].block)[count:]):
            op.erase()
    return made

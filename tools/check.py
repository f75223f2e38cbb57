"""`nnc check`: a model's needs and its expected cost, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..driver.checking.check import Check, check
from ..targets.base import HOST, asked

if TYPE_CHECKING:
    from .session import Session


def check_model(args: argparse.Namespace, session: Session) -> int:
    """Print the check; returns 1 if something is not supported."""
    names = (args.target or HOST).split(",")
    targets = [asked(name) for name in names]
    found = check(session.model, targets, threads=args.threads, **session.choices)
    if args.json:
        session.say(json.dumps(found.as_json(), indent=2))
    else:
        for line in text(found):
            session.say(line)
    return 1 if found.faults else 0


def text(found: Check) -> Iterator[str]:
    """The check as lines for people."""
    yield from _operators(found)
    yield from _faults(found)
    if found.warnings:
        yield ""
        yield f"other runtimes compute something else ({len(found.warnings)}):"
        yield from (f"  {one}" for one in found.warnings)
    if found.host_steps:
        yield ""
        count = len(found.host_steps)
        yield f"computed by a host in Python, so no library can have them ({count}):"
        yield from (f"  {one}" for one in found.host_steps)
    if found.open_dimensions:
        yield ""
        yield "known at run time only:"
        yield from _columns(
            [(f"  {one.place}", one.type, one.because) for one in found.open_dimensions]
        )
    yield from _figures(found)


def _operators(found: Check) -> Iterator[str]:
    count = sum(one.count for one in found.operators)
    yield f"{found.model}: {count} nodes of {len(found.operators)} operators"
    if found.producer:
        yield f"  written by: {found.producer}"
    for key, text in found.notes.items():
        yield f"  {key}: {_shortened(text)}"
    rows = []
    for one in found.operators:
        name = f"{one.domain}.{one.name}" if one.domain else one.name
        missing = f"{one.unsupported} not supported" if one.unsupported else ""
        rows.append((f"  {one.count:6}", name, missing))
    yield from _columns(rows)


def _shortened(text: str) -> str:
    """The first line of a text, shortened to 80 columns."""
    line = text.split("\n", 1)[0]
    return line if line == text and len(line) <= 80 else line[:77] + "..."


def _faults(found: Check) -> Iterator[str]:
    if not found.faults:
        return
    yield ""
    yield f"not supported ({len(found.faults)}):"
    for fault in found.faults:
        yield f"  {fault}"
    if found.unexamined:
        yield f"  nodes not looked at, as they depend on these: {found.unexamined}"


def _figures(found: Check) -> Iterator[str]:
    work = found.work
    shapes = " ".join(f"{name}={','.join(map(str, s))}" for name, s in found.assumed.items())
    if work is None:
        if shapes:
            yield ""
            yield f"no figures: {shapes} do not fit the model; --shape gives others"
        return
    yield ""
    if shapes:
        yield f"counted for {shapes} (--shape gives others)"
    if work.loops:
        yield f"counted for one iteration of each loop, of which there are {work.loops}"
    yield from _columns(
        [
            ("operations", _large(work.operations, "FLOP"), f"in {len(work.kernels)} kernels"),
            ("weights", _large(work.weights, "B"), ""),
            ("activations", _large(work.activations, "B"), "read and written by kernels"),
            (
                "memory",
                _large(work.weights + work.arena, "B"),
                f"weights, and {_large(work.arena, 'B')} for intermediate results",
            ),
        ]
    )
    yield ""
    yield f"expected time of a run, {found.threads} thread(s), from the targets' descriptions:"
    yield from _columns(
        [(f"  {name}", _time(seconds), "") for name, seconds in found.seconds.items()]
    )


def _columns(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(2)] if rows else []
    for first, second, third in rows:
        yield f"{first:{widths[0]}}  {second:{widths[1]}}  {third}".rstrip()


def _time(seconds: float) -> str:
    return "less than 1 us" if seconds < 1e-6 else f"{1e3 * seconds:.3g} ms"


def _large(number: float, unit: str) -> str:
    """A number with a unit and a prefix: `4.09 GFLOP`."""
    for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= factor:
            return f"{number / factor:.3g} {prefix}{unit}"
    return f"{number} {unit}"

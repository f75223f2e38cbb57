"""`nnc package`: measures a model on each engine, and packages the fastest."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..artifacts.options import check_prefix, prefix_of
from ..delivery.engines.table import chosen_engines, engines_for
from ..delivery.engines.turns import Effort
from ..delivery.inputs import gathered
from ..delivery.library import check_bindings
from ..delivery.package import measured, package
from ..delivery.page import milliseconds, size
from ..delivery.request import STEPS, Request
from ..delivery.writing import check_output, new_package
from ..driver.compile import load_module
from ..frontends.common.source import Source
from ..frontends.formats import find_format
from ..ir.diagnostics import NncError
from ..targets.base import HOST, asked
from .array_files import read_arrays
from .inputs import random_array

if TYPE_CHECKING:
    from .session import Session


def package_model(args: argparse.Namespace, session: Session) -> int:
    """Write the package, or print the measurements."""
    if args.only_measure == bool(args.output):
        raise NncError("nnc: package takes one of -o PACKAGE and --only-measure")
    if args.json and not args.only_measure:
        raise NncError("nnc: --json needs --only-measure")
    output = session.streams.path(args.output) if args.output else None
    if output is not None:
        check_output(output)
    request = _request(args, session)
    check_bindings(request, asked(request.target or HOST))
    given = read_arrays(session.streams.path(args.inputs)) if args.inputs else {}
    say = _Progress(request, args.progress_json, session)
    module = load_module(
        session.model,
        fast_math=session.fast_math,
        progress=lambda text: say("read", 0.0, text),
        **session.choices,
    )
    inputs = gathered(module, given, random_array, args.seed)
    if output is None:
        report = measured(request, module, inputs, say)
    else:
        with new_package(output) as content:
            report = package(request, module, inputs, content, say)
    session.end_progress()
    for line in [json.dumps(report, indent=1)] if args.json else told(report):
        session.say(line)
    if output is not None:
        session.say(f"{output}")
    return 0


def _request(args: argparse.Namespace, session: Session) -> Request:
    """The request, from the command line. Raises NncError."""
    _check_numbers(args)
    path = Path(session.model)
    prefix = args.prefix or prefix_of(args.model)
    check_prefix(prefix)
    tuned = session.tuned(args)
    name = args.model if args.model.startswith("onnx:") else path.name
    return Request(
        path,
        name,
        _format(path),
        chosen_engines(args.engines),
        target=args.target,
        precision=args.precision,
        threads=tuple(dict.fromkeys(args.threads)),
        tune_seconds=args.tune,
        tuned=tuned.path if tuned is not None else None,
        effort=Effort(args.seconds_each, limit=args.limit),
        tolerance=args.tolerance,
        fast_math=session.fast_math,
        choices=session.choices,
        ops=tuple(str(session.streams.path(file)) for file in args.ops),
        arguments=tuple(_arguments(args)),
        bindings=args.bindings,
        prefix=prefix,
        seed=args.seed,
        has_inputs=bool(args.inputs),
    )


def _check_numbers(args: argparse.Namespace) -> None:
    """Raise NncError for numbers that are out of range."""
    for threads in args.threads:
        if threads < 1:
            raise NncError(f"nnc: --threads is at least 1, not {threads}")
    if not args.tune >= 0:
        raise NncError(f"nnc: --tune is at least 0, not {args.tune:g}")
    for name in ("seconds_each", "limit", "tolerance"):
        value = getattr(args, name)
        if value is not None and not value > 0:
            raise NncError(f"nnc: --{name.replace('_', '-')} is above 0, not {value:g}")


def _format(path: Path) -> str:
    """nnc's name of a model's format; IR text is "MLIR"."""
    if not path.exists():
        raise NncError(f"cannot read '{path}': no such file")
    return find_format(Source(path)).name if path.suffix != ".mlir" else "MLIR"


def _arguments(args: argparse.Namespace) -> Iterator[str]:
    """The command-line arguments that describe the model's inputs."""
    for name in ("shape", "constant", "ops"):
        for value in getattr(args, name):
            yield from (f"--{name}", value)
    if args.signature is not None:
        yield from ("--signature", args.signature)


class _Progress:
    """Reports steps: a line of JSON for each on standard error, or text for people."""

    def __init__(self, request: Request, as_json: bool, session: Session) -> None:
        self._json, self._session = as_json, session
        count = len(request.threads) * len(engines_for(request.format, request.engines))
        seconds = request.effort.seconds or 0.0
        self._weights = dict.fromkeys(STEPS, 2.0) | {
            "compile": 8.0,
            "tune": request.tune_seconds,
            "measure": count * (seconds + 3.0),
        }
        """The estimated seconds of each step."""
        self._tune_started: float | None = None
        self._done = 0.0

    def __call__(self, step: str, part: float, text: str) -> None:
        if step == "tune":
            now = time.monotonic()
            self._tune_started = self._tune_started or now
            part = (now - self._tune_started) / max(self._weights["tune"], 1e-9)
        before = sum(self._weights[name] for name in STEPS[: STEPS.index(step)])
        done = (before + min(1.0, part) * self._weights[step]) / sum(self._weights.values())
        self._done = max(self._done, done)
        if not self._json:
            self._session.progress(f"{step}: {text}")
        elif not self._session.quiet:
            line = json.dumps({"step": step, "done": round(self._done, 3), "text": text})
            print(line, file=self._session.streams.stderr, flush=True)


def told(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines that `nnc package` prints of its report: engines, notes, the recommendation."""
    if report["engines"]:
        columns = ("median", "spread", "load", "peak", "size", "error")
        yield f"{'':20}{'threads':>8}" + "".join(f"{name:>12}" for name in columns)
    for row in report["engines"]:
        head = f"{row['title']:20}{row['threads']:8}"
        if row["failed"]:
            yield f"{head}  {row['failed']}"
            continue
        error = "?" if row["error_max_rel"] is None else f"{row['error_max_rel']:.1e}"
        cells = (
            *(_cell(row[key], milliseconds) for key in ("median_ms", "spread_ms", "load_ms")),
            *(_cell(row[key], size) for key in ("peak_bytes", "size_bytes")),
            error,
        )
        yield head + "".join(f"{cell:>12}" for cell in cells)
    for note in report["notes"]:
        yield f"note: {note}"
    yield report["recommendation"]["text"]


def _cell(value: float | None, form: Any) -> str:
    return "?" if value is None else form(value)

"""Runs a case and reports a finding, if there is one."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from .cases import REFERENCE, Case

PLACE = re.compile(r":\d+:\d+: |in\.mlir|<pass pipeline>|nn-opt: |error: canonicalize: ")
"""Matches the start of a message about a text."""

SECONDS = 10
"""The seconds of processor time after which a case counts as a hang."""


class HangError(BaseException):
    """The case used all its time; `except Exception` must not catch it."""


@dataclass(frozen=True)
class Finding:
    """A fault. `key` is equal for findings that very likely have the same cause."""

    key: str
    report: str


@dataclass(frozen=True)
class Outcome:
    """The exit code and output of a tool."""

    code: int
    stdout: str
    stderr: str


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raises HangError inside the block once it has used that much processor time."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def call(case: Case, scratch: Path) -> Outcome:
    """Run the tool in this process; exceptions that it does not turn into messages are raised."""
    from nnc.tools.command import Streams

    tool = import_module(f"nnc.tools.{case.tool.replace('-', '_')}")
    (scratch / f"in{case.suffix}").write_bytes(case.data)
    arguments = [a.replace("%s", f"in{case.suffix}") for a in case.arguments]
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), scratch)
    os.environ["NNC_DEBUG"] = "1"
    with time_limit(SECONDS):
        code = tool.main(arguments, streams)
    return Outcome(code, streams.stdout.getvalue(), streams.stderr.getvalue())


def check(case: Case, scratch: Path) -> Finding | None:
    """Run a case; returns its finding, or None."""
    try:
        if case.tool == REFERENCE:
            return _against_reference(case)
        outcome = call(case, scratch)
        return _complaint(case, outcome) or _check_again(case, outcome, scratch)
    except HangError as error:
        return _raised("hang", error)
    except (Exception, SystemExit) as error:
        return _raised(type(error).__name__, error)


def _against_reference(case: Case) -> Finding | None:
    """Check that a valid model compiles, and that its results equal those of ONNX's reference."""
    from .reference import single_outputs, split_inputs

    model, given = split_inputs(case.data)
    compiled = "compiled" in case.arguments
    with time_limit(SECONDS):
        found = _different(model, given, compiled)
        if found is None or len(model.graph.output) == 1:
            return found
        # ONNX Runtime may be able to say more of the parts.
        for one, inputs in single_outputs(model, given):
            if (smaller := _different(one, inputs, compiled)) is not None:
                return smaller
        return found if "Loop" not in found.key else None


def _different(model: Any, given: Any, compiled: bool) -> Finding | None:
    from nnc.ir.diagnostics import NncError

    from .graphs import RejectedNodeError
    from .reference import culprit, differences, with_defaults

    try:
        different = differences(model, given, compiled)
    except RejectedNodeError:
        return None
    except NncError as error:
        text = _text(with_defaults(model, given).SerializeToString())
        return Finding(f"rejects: {_general(error.message)}", f"{error}\n\n{text}")
    if not different:
        return None
    smaller = culprit(model, given, compiled) or with_defaults(model, given)
    operators = sorted({node.op_type for node in smaller.graph.node})
    text = _text(smaller.SerializeToString())
    return Finding(f"computes otherwise: {' '.join(operators)}", f"{different}\n\n{text}")


def _text(data: bytes) -> str:
    import onnx.printer

    return onnx.printer.to_text(onnx.ModelProto.FromString(data))


def _raised(kind: str, error: BaseException) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        f
        for f in frames
        if "nnc" in f.filename or "/ir/" in f.filename or "/site-" not in f.filename
    ]
    own = [
        f for f in own if "/fuzz/" not in f.filename and "/lib/python" not in f.filename
    ] or frames
    if kind in ("hang", "RecursionError", "MemoryError"):  # where it struck is chance
        places = sorted({f"{Path(f.filename).stem}.{f.name}" for f in own[-3:]})
        key = f"{kind} {' '.join(places)}"
    else:
        last = own[-1]
        key = f"{kind} {last.filename.rpartition('main/')[2]}:{last.name}:{last.line}"
    return Finding(key, "".join(traceback.format_exception(error))[-6000:])


def _complaint(case: Case, outcome: Outcome) -> Finding | None:
    said = outcome.stderr
    if outcome.code not in (0, 1):
        return Finding(f"exit code {outcome.code}", said)
    for words in ("this is a defect of nnc", "nested too deeply\n", "out of memory", "Traceback"):
        if words in said and not re.search(r":\d+:\d+: error: .* nested too deeply", said):
            line = next(line for line in said.splitlines() if "error" in line)
            return Finding(f"says: {_general(line)}", said)
    if outcome.code == 1 and not said.strip():
        return Finding("fails without a message", said)
    if outcome.code == 1 and case.round_trip and b"loc" not in case.data and not PLACE.search(said):
        return Finding(f"no place: {_general(said.splitlines()[0])}", said)
    return None


def _general(line: str) -> str:
    """A message without the parts that differ between cases with the same cause."""
    line = re.sub(r"^\S*?:\d+:\d+: ", "", line)
    return re.sub(r"'[^']*'|\d+|<.*>", "_", line)[:100]


def _check_again(case: Case, outcome: Outcome, scratch: Path) -> Finding | None:
    if outcome.code or not case.round_trip:
        return None
    if case.differential and (found := _against_upstream(case, outcome)):
        return found
    kept = tuple(a for a in case.arguments if not a.startswith("--pass-pipeline"))
    again = Case(case.tool, kept, outcome.stdout.encode("utf-8", "surrogateescape"))
    second = call(again, scratch)
    if second.code:
        line = second.stderr.splitlines()[0] if second.stderr else ""
        return Finding(f"own text rejected: {_general(line)}", f"{second.stderr}\n{outcome.stdout}")
    if second.stdout != outcome.stdout:
        old, new = _first_difference(outcome.stdout, second.stdout)
        return Finding(f"prints otherwise: {_general(old.strip())}", f"- {old}\n+ {new}")
    return None


def _first_difference(old: str, new: str) -> tuple[str, str]:
    pairs = zip(old.split("\n"), new.split("\n"), strict=False)
    return next(((a, b) for a, b in pairs if a != b), ("(length)", "(length)"))


OURS = re.compile(r'(?<![\w."!#@%])"?((?!builtin|nn|schedule|test|t)[a-z_]+)\.[a-z_]')


def _against_upstream(case: Case, outcome: Outcome) -> Finding | None:
    """Check that output is the same as mlir-opt's, where that accepts the text too."""
    tool = os.environ.get("MLIR_OPT") or shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    if tool is None:
        raise RuntimeError("mode `upstream` needs mlir-opt 22")
    arguments = [a for a in case.arguments if a != "%s"]
    try:
        done = subprocess.run(
            [tool, *arguments], input=case.data, capture_output=True, check=False, timeout=20
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        line = done.stderr.decode(errors="replace").split("\n")[0]
        # A crash of theirs says nothing.
        if done.returncode < 0 or "error" not in line:
            return None
        return Finding(f"upstream rejects: {_general(line)}", line + "\n" + outcome.stdout)
    theirs = done.stdout.decode("utf-8", "surrogateescape")
    if theirs.rstrip("\n") == outcome.stdout.rstrip("\n"):
        return None
    want, got = _first_difference(theirs, outcome.stdout)
    return Finding(
        f"upstream prints otherwise: {_general(want.strip())}", f"want {want}\ngot  {got}"
    )

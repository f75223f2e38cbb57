"""The command line: export, check each file in a process of its own, print a table."""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .check import Finding, check
from .chosen import FORTY, asked_for

FORKED = multiprocessing.get_context("fork")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.exports",
        description="Export many architectures, compile them, compare with ONNX Runtime.",
    )
    parser.add_argument("names", nargs="*", default=["*"], help="rows or files, may have a '*'")
    parser.add_argument("--forty", action="store_true", help="the files of forty.py")
    parser.add_argument("--to", type=Path, default=Path("exports"), help="the folder of files")
    parser.add_argument("--export", action="store_true", help="only write the files")
    parser.add_argument("--check", action="store_true", help="only check the files that are there")
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--seconds", type=float, default=0.0, help="of timing at each size")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one file")
    options = parser.parse_args()
    options.names = FORTY if options.forty else options.names
    options.to.mkdir(parents=True, exist_ok=True)
    if not options.check:
        write(options.to, options.names, options.again)
    if not options.export:
        found = list(check_all(options))
        print(summary(found))
        sys.exit(not all(one.agrees for one in found))


def write(folder: Path, names: Sequence[str], again: bool) -> None:
    """Export the rows that are asked for."""
    from . import language, several, vision  # noqa: F401 - they are the table
    from .export import export_row
    from .others import OTHERS, export_other
    from .rows import ROWS

    for name in (*ROWS.rows, *OTHERS):
        if not any(fnmatch(name, pattern.split(".")[0]) for pattern in names):
            continue
        try:
            if name in OTHERS:
                export_other(name, OTHERS[name], folder, again)
                continue
            for file, text in export_row(ROWS.rows[name], folder, again, names).items():
                print(f"{file}: not exported: {_short(text)}", flush=True)
        except Exception as error:  # a library that is not there, a network that is not so
            print(f"{name}: not made: {type(error).__name__}: {_short(error)}", flush=True)


def check_all(options: argparse.Namespace) -> Iterator[Finding]:
    """Each file in its process, one line each."""
    print(f"{'file':55} {'error':>8} {'compile s':>9}  times as fast as ONNX Runtime")
    for path in sorted(options.to.glob("*.onnx")):
        name = path.name.removesuffix(".onnx")
        if not asked_for(name, options.names):
            continue
        found = check_apart(path, options.to / f"{name.split('.')[0]}.npz", options)
        print(line(found), flush=True)
        yield found


def check_apart(model: Path, values: Path, options: argparse.Namespace) -> Finding:
    """What `check.py` says in a process of its own, which may crash or take too long."""
    name = model.name.removesuffix(".onnx")
    ours, theirs = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=send, args=(theirs, model, values, options.seconds))
    process.start()
    theirs.close()
    try:
        if ours.poll(options.limit):
            return ours.recv()
        return Finding(name, failure=f"took more than {options.limit:.0f} s")
    except EOFError:
        process.join()
        return Finding(name, failure=f"ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()


def send(pipe: Connection, *arguments: Any) -> None:
    """In the new process: what the check finds; what it raises is a finding too."""
    try:
        found = check(*arguments)
    except Exception as error:  # nnc must not, so this is one of its faults
        found = Finding(arguments[0].stem, failure=f"{type(error).__name__}: {error}")
    pipe.send(found)


def line(found: Finding) -> str:
    """One file's line of the table."""
    if found.failure:
        return f"{found.name:55} FAILS: {_short(found.failure)}"
    mark = "" if found.agrees else "  DISAGREES"
    mark += "" if found.oracle == "onnxruntime" else "  (against the framework)"
    ratios = " ".join(f"{ratio:.2f}" for ratio in found.ratios)
    return f"{found.name:55} {found.error:8.1e} {found.compile_seconds:9.1f}  {ratios}{mark}"


def summary(found: list[Finding]) -> str:
    """How many agree, and the least and mean ratio of times."""
    agree = sum(one.agrees for one in found)
    ratios = [ratio for one in found for ratio in one.ratios if one.agrees]
    text = f"{agree} of {len(found)} agree"
    if ratios:
        text += f"; times: mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}"
    return text


def _short(text: object) -> str:
    return " ".join(str(text).split())[:200]


if __name__ == "__main__":
    main()

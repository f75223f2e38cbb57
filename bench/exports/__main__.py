"""The command line: export, check each file in a process of its own, print a table."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from .apart import findings, warm_up
from .check import Finding
from .chosen import FORTY, asked_for
from .results import Results, shortened

STRIDE = 12
"""Every twelfth row is run first, then the rows after these, and so on: neighbouring rows are
alike.
"""


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.exports",
        description="Export many architectures, compile them, compare with ONNX Runtime.",
    )
    parser.add_argument("names", nargs="*", default=["*"], help="rows or files, may have a '*'")
    parser.add_argument("--forty", action="store_true", help="the files of chosen.py")
    parser.add_argument("--to", type=Path, default=Path("exports"), help="the folder of files")
    parser.add_argument("--export", action="store_true", help="only write the files")
    parser.add_argument("--check", action="store_true", help="only check the files that are there")
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--drop", action="store_true", help="delete each file that was checked")
    parser.add_argument("--results", type=Path, help="lines of JSON; files in them are done")
    parser.add_argument("--seconds", type=float, default=0.0, help="of timing at each size")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one file")
    options = parser.parse_args()
    options.names = FORTY if options.forty else options.names
    options.to.mkdir(parents=True, exist_ok=True)
    found = list(run(options))
    print(summary(found))
    sys.exit(any(one.is_wrong for one in found))


def run(options: argparse.Namespace) -> Iterator[Finding]:
    """Run all requested files without a stored result; prints a line for each and stores its
    result.
    """
    results = Results(options.results)
    there = (path.name.removesuffix(".onnx") for path in sorted(options.to.glob("*.onnx")))
    files = list(there) if options.check else every_file()
    files = [file for file in files if asked_for(file, options.names)]
    if not options.again:
        files = [file for file in files if file not in results.rows]
    warm_up(exporters=not options.check)
    print(f"{'file':55} {'error':>8} {'compile s':>9}  times as fast as ONNX Runtime")
    for _, row in groupby(files, lambda file: file.split(".")[0]):
        for found in findings(row, options):
            print(line(found), flush=True)
            results.put(found)
            yield found


def every_file() -> list[str]:
    """The names of all files of the table, those of different rows first."""
    from . import table  # noqa: F401 - which fills ROWS
    from .export import files_of
    from .others import OTHERS
    from .rows import ROWS

    rows = [files_of(name) for name in ROWS.rows]
    rows += [(f"{name}.convert.dynamic",) for name in OTHERS]
    return [file for at in range(STRIDE) for row in rows[at::STRIDE] for file in row]


def line(found: Finding) -> str:
    """One file's line of the table."""
    if found.unwritten:
        return f"{found.name:55} not written: {shortened(found.unwritten)}"
    if found.failure:
        mark = "FAILS" if found.is_wrong else "neither runs it"
        return f"{found.name:55} {mark}: {shortened(found.failure)}"
    mark = "" if found.agrees else "  DISAGREES"
    mark += "" if found.oracle == "onnxruntime" else "  (against the framework)"
    ratios = " ".join(f"{ratio:.2f}" for ratio in found.ratios)
    return f"{found.name:55} {found.error:8.1e} {found.compile_seconds:9.1f}  {ratios}{mark}"


def summary(found: list[Finding]) -> str:
    """A line with the number of files that agree, and the least and mean ratio of times."""
    written = [one for one in found if not one.unwritten]
    agree = sum(one.agrees for one in written)
    ratios = [ratio for one in written for ratio in one.ratios if one.agrees]
    text = f"{agree} of {len(written)} agree, {len(found) - len(written)} could not be exported"
    if ratios:
        text += f"; times: mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}"
    return text


if __name__ == "__main__":
    main()

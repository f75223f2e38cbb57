"""Compares the times that nnc expects of kernels with measured ones: how accurate its cost model
is.

    python -m bench.predicted resnet18.onnx bert_base.onnx -o predicted.svg
    python -m bench.predicted models/*.onnx --threads 2 --csv predicted.csv

A model is compiled with a clock around each kernel, and runs a number of times; the fastest run of
each kernel counts, as disturbances only make it slower. Beside it is the time by which its schedule
was chosen (`nnc why`). Prints a row for each model, and one for all of them: kernels, the rank
correlation of expected and measured times, the median of their relative errors, the part of the
kernels with an error of 15 % or less, and the geometric mean of expected over measured times, which
shows errors in the clock and the attained bandwidth. `-o` draws all kernels.

Calls of one kernel are one point, with the mean of their times. Kernels of less than
`--least` microseconds are left out, as reading the clock takes part of them.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean, median

from nnc.driver.compile import load_module
from nnc.driver.explaining.explain import explain
from nnc.driver.profiling.collect import profile_model
from nnc.driver.tuning.kept import random_inputs
from nnc.ir.diagnostics import NncError
from nnc.targets.attribute import attach, target_of

from .command import model_file, run
from .ranking import rank_correlation

NEAR = 0.15
"""The relative error up to which an expectation counts as accurate."""


@dataclass(frozen=True)
class Point:
    """A kernel of a model. Units: microseconds of one call."""

    model: str
    kernel: str
    calls: float
    bound: str
    expected: float
    measured: float

    @property
    def error(self) -> float:
        """The error relative to the measured time."""
        return abs(self.expected / self.measured - 1)


def points_of(path: Path, target: str | None, threads: int, runs: int) -> list[Point]:
    """The expected and measured times of a model's kernels. Raises NncError."""
    module = load_module(path)
    chosen = target_of(module, target)
    attach(module, replace(chosen, machine=replace(chosen.machine, cores=threads)))
    expected = {one.kernel: one for one in explain(path.stem, module.clone()).kernels}
    profile = profile_model(path.stem, module, random_inputs, threads=threads, runs=runs)
    took: dict[str, list[float]] = {}
    calls: dict[str, float] = {}
    units = [*zip(*(one.kernels for one in profile.runs), strict=True)]
    for i, kernel in enumerate(profile.kernels):
        inner = kernel.inner_calls
        least = min(units[i]) if inner is None else kernel.time.low
        took.setdefault(kernel.kernel, []).append(least / 1e3)
        calls[kernel.kernel] = calls.get(kernel.kernel, 0.0) + (inner or 1)
    found = []
    for name, times in took.items():
        reason = expected.get(name)
        if reason is not None and reason.microseconds and sum(times):
            one = (reason.microseconds, sum(times) / calls[name])
            found.append(Point(path.stem, name, calls[name], reason.bound, *one))
    return found


@dataclass(frozen=True)
class Agreement:
    """The agreement of the expected and the measured times of some kernels."""

    points: Sequence[Point]

    @property
    def ranks(self) -> float:
        """The rank correlation; NaN for fewer than three kernels."""
        return rank_correlation(
            [p.expected for p in self.points], [p.measured for p in self.points]
        )

    @property
    def error(self) -> float:
        """The median of the relative errors."""
        return median(p.error for p in self.points)

    @property
    def near(self) -> float:
        """The part of the kernels whose error is at most `NEAR`."""
        return sum(p.error <= NEAR for p in self.points) / len(self.points)

    @property
    def factor(self) -> float:
        """The geometric mean of expected over measured times."""
        return geometric_mean(p.expected / p.measured for p in self.points)

    def row(self, name: str) -> str:
        """The row of the table."""
        return (
            f"| {name} | {len(self.points)} | {self.ranks:.3f} | {self.error:.1%} | "
            f"{self.near:.0%} | {self.factor:.2f} |"
        )


HEAD = """\
| model | kernels | ranks | median error | within 15 % | expected / measured |
|---|---|---|---|---|---|"""


def picture(points: Sequence[Point], path: Path) -> None:
    """Draw the expected and measured times of all kernels, a colour for each bound. Raises
    NncError.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise NncError("-o needs matplotlib: pip install 'nnc[bench]'") from None
    figure, axes = plt.subplots(figsize=(7, 7))
    for bound in sorted({p.bound for p in points}):
        own = [p for p in points if p.bound == bound]
        measured, expected = [p.measured for p in own], [p.expected for p in own]
        axes.scatter(measured, expected, s=12, alpha=0.6, label=f"{bound} ({len(own)})")
    every = [t for p in points for t in (p.expected, p.measured)]
    ends = [min(every), max(every)]
    axes.plot(ends, ends, color="black", linewidth=1)
    low, high = [e * (1 - NEAR) for e in ends], [e * (1 + NEAR) for e in ends]
    axes.fill_between(ends, low, high, color="black", alpha=0.12, label="within 15 %")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_aspect("equal")
    axes.set_xlabel("measured, us of a call")
    axes.set_ylabel("expected, us of a call")
    every = Agreement(points)
    axes.set_title(
        f"{len(points)} kernels: rank correlation {every.ranks:.2f}, median error {every.error:.0%}"
    )
    axes.legend(title="bound by")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def write_rows(points: Sequence[Point], path: Path) -> None:
    """Write a CSV row for each kernel."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["model", "kernel", "calls", "bound", "expected us", "measured us"])
        for p in points:
            numbers = (f"{p.calls:g}", p.bound, f"{p.expected:.2f}", f"{p.measured:.2f}")
            rows.writerow([p.model, p.kernel, *numbers])


def main() -> None:
    """Print the table; write the picture and the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, help="the picture: .svg, .png or .pdf")
    parser.add_argument("--csv", type=Path, help="where a row for each kernel goes")
    parser.add_argument("--runs", type=int, default=20, help="of each model; default: 20")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    parser.add_argument("--target", help="default: host, with what `nnc calibrate` has measured")
    parser.add_argument("--least", type=float, default=10.0, help="us of a kernel; default: 10")
    given = parser.parse_args()
    if given.runs < 1 or given.threads < 1:
        raise NncError("--runs and --threads are at least 1")
    for path in given.models:
        model_file(path)
    found: list[Point] = []
    print(HEAD, flush=True)
    for path in given.models:
        try:
            points = points_of(path, given.target, given.threads, given.runs)
        except NncError as error:
            print(f"{path.stem}: {error}", file=sys.stderr)
            continue
        points = [p for p in points if p.measured >= given.least]
        if points:
            print(Agreement(points).row(path.stem), flush=True)
        found += points
        # After each model, so that what was measured is there when it takes too long.
        if found and given.csv:
            write_rows(found, given.csv)
        if found and given.output:
            picture(found, given.output)
    if not found:
        raise NncError("no kernel was measured")
    print(Agreement(found).row("all"))


if __name__ == "__main__":
    run(main)

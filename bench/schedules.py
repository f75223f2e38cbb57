"""Compares the default schedules of models' kernels with others that nnc could have chosen.

    python -m bench.schedules resnet18.onnx bert.onnx --schedules 200

A model is compiled again and again, each time with another schedule for each of its kernels, and
runs in turns with the model with default schedules; a clock around each kernel separates them. So
caches are as in the model, and drift of the machine affects both. The fastest runs of each kernel
count. The first schedules differ from the default in one decision, later ones in several random
ones. `--csv FILE` writes a row with expected and measured times for each.

"default" and "of 16" are the speeds of the default, and of the best of the first 16 measured,
relative to the best schedule. The best of many is also the luckiest, so the best ones are measured
again, and only these second times count: `--once` leaves that out, and both are below 1 by noise
alone. "ranks" is the rank correlation of expected and measured times.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from statistics import geometric_mean

import numpy as np
from nnc.dialects import func, linalg
from nnc.dialects.marks import ENTRY
from nnc.dialects.schedule import For
from nnc.driver.compile import load_module, run_stages
from nnc.driver.program import compile_module
from nnc.driver.tuning.worker import kernel_times, unit_names
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.numpy_types import number_kind, type_to_numpy
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.types import TensorType
from nnc.kernels.policy.variants import Variant, Variants
from nnc.kernels.tuned import fingerprint, kernel_functions
from nnc.lowering.pipelines import pipeline
from nnc.runtime.executable import Executable
from nnc.targets.processor import processor_of

from .command import model_file, run
from .ranking import rank_correlation

_SECONDS = 1.0
"""The time that a model and the default run in turns, at least five runs each. Units: seconds."""
_FIRST = 16
_SEED = 1


@dataclass
class Kernel:
    """Kernels of a model that differ only in their names, and their measurements.

    `times` are nanoseconds of a run, of all calls together; the default comes first. `again` has
    the second measurements by the index of the schedule, relative to the default.
    """

    label: str
    names: list[str]
    schedules: Iterator[Variant]
    variants: list[Variant] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    again: dict[int, float] = field(default_factory=dict)

    def best(self, count: int | None = None) -> int:
        """The index of the fastest of the first `count` schedules, or of all, by first times."""
        times = self.times[:count]
        return times.index(min(times))

    def part(self, count: int) -> float:
        """The speed of the best of the first `count` schedules, relative to the best of all."""
        first = [took / self.times[0] for took in self.times]
        own, best = (self.again.get(i, first[i]) for i in (self.best(count), self.best()))
        return min(1.0, best / own)

    @property
    def ranks(self) -> float:
        """The rank correlation of expected and measured times; NaN for fewer than three."""
        return rank_correlation([v.cycles for v in self.variants], self.times)


class Model:
    """A model with clocks around its kernels, which can get other schedules."""

    def __init__(self, path: Path, target: str, threads: int, schedules: int) -> None:
        self.threads = threads
        module = run_stages(load_module(path), target=target, last="bufferize")
        self._apply(module, "instrument-kernels")
        self.module = module
        self.names = unit_names(module)
        scheduled = module.clone()
        self._apply(scheduled, "mark-in-place")
        self._scheduled = scheduled
        self.kernels = self._kernels(path.stem, scheduled, schedules)
        self.default = self.compiled({})
        inputs = map(_numbers, self.default.input_types)
        self.inputs = dict(zip(self.default.input_names, inputs, strict=True))

    @staticmethod
    def _apply(module: Operation, name: str) -> None:
        passes = pipeline(f"builtin.module({name})")
        PassManager(passes, PassContext(), (), False).run(module)

    def _kernels(self, model: str, module: Operation, schedules: int) -> list[Kernel]:
        found: dict[str, Kernel] = {}
        for function in kernel_functions(module):
            stages = any(isinstance(op, linalg.StructuredOp) for op in function.body.blocks[0])
            if not stages or ENTRY in function.attributes:
                continue
            name, key = function.sym_name, fingerprint(function)
            if key in found:
                found[key].names.append(name)
            else:
                made = variants_of(function, schedules, self.threads)
                found[key] = Kernel(f"{model}:{name}", [name], made)
        return list(found.values())

    def compiled(self, schedules: Mapping[str, Variant]) -> Executable:
        """The model with these schedules by the names of kernels; others have the default."""
        module = self.module.clone()
        for name, variant in schedules.items():
            schedule = variant.schedule.clone()
            assert isinstance(schedule, For)
            schedule.kernel = name
            module.body_block.append(schedule)
        return compile_module(run_stages(module), threads=self.threads)

    def measure(self) -> bool:
        """Measure the next schedule of each kernel; returns False if there was none."""
        chosen = {k.label: v for k in self.kernels if (v := next(k.schedules, None)) is not None}
        if not chosen:
            return False
        for kernel, default, own in self._compared(chosen):
            if not kernel.times:
                kernel.times.append(default)
            # Relative to the default of the same runs, so that drift in between is none.
            kernel.variants.append(chosen[kernel.label])
            if chosen[kernel.label].told:
                kernel.times.append(kernel.times[0] * own / default)
        return True

    def measure_again(self) -> None:
        """Measure the best schedules of each kernel once more: of all, and of the first ones."""
        for count in (None, _FIRST):
            best = {k.label: k.best(count) for k in self.kernels if k.times}
            chosen = {
                k.label: k.variants[best[k.label]]
                for k in self.kernels
                if best.get(k.label) and best[k.label] not in k.again
            }
            for kernel, default, own in self._compared(chosen) if chosen else ():
                kernel.again[best[kernel.label]] = own / default

    def _compared(self, chosen: Mapping[str, Variant]) -> Iterator[tuple[Kernel, float, float]]:
        """The chosen kernels with the times of their defaults and of these schedules."""
        by_name = {n: chosen[k.label] for k in self.kernels if k.label in chosen for n in k.names}
        sides = (self.default, self.compiled(by_name))
        best: list[dict[str, float]] = [{}, {}]
        started, rounds = time.perf_counter(), 0
        while rounds < 5 or time.perf_counter() - started < _SECONDS:
            rounds += 1
            for side, fastest in zip(sides, best, strict=True):
                side.run(self.inputs)  # after the other one's run, the caches have its data
                for name, took in kernel_times(side.run(self.inputs), self.names).items():
                    fastest[name] = min(took, fastest.get(name, took))
        for kernel in self.kernels:
            if kernel.label not in chosen:
                continue
            default, own = (sum(side.get(n, 0.0) for n in kernel.names) for side in best)
            if default:
                yield kernel, default, own


def variants_of(function: func.FuncOp, count: int, threads: int) -> Iterator[Variant]:
    """The default schedule, those with one other decision, then random ones; `count` in all."""
    block = function.body.blocks[0]
    left = () if threads > 1 else ("parallel",)
    made = Variants(function.sym_name, block, processor_of(function), left)
    yield made.default
    more, random = count - 1, Random(_SEED)
    for one in islice(made.ranked(), more):
        more -= 1
        yield one
    near = [made.default]
    while more > 0 and (one := made.mutation([random.choice(near)], random, tries=40)):
        more -= 1
        near.append(one)
        yield one


def _numbers(type: TensorType) -> np.ndarray:
    dtype = type_to_numpy(type.element_type)
    random = np.random.default_rng(_SEED)
    shape = [int(extent) for extent in type.shape]
    if number_kind(dtype) in "biu":
        return random.integers(0, 2, shape).astype(dtype)
    return random.normal(size=shape).astype(dtype)


def write_rows(path: Path, found: Sequence[Kernel]) -> None:
    """Write a CSV row for each schedule: its decisions, and the expected and measured times."""
    resources = sorted({r for m in found for v in m.variants for r in v.terms.by_resource})
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["kernel", "told", "tiles", "ns", "cycles", *resources])
        for one in found:
            for variant, took in zip(one.variants, one.times, strict=True):
                terms = [f"{variant.terms.by_resource.get(r, 0.0):.0f}" for r in resources]
                numbers = [f"{took:.0f}", f"{variant.cycles:.0f}", *terms]
                rows.writerow([one.label, variant, " | ".join(variant.tiles), *numbers])


def main() -> None:
    """Print a row for each kernel, and the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--schedules", type=int, default=200, help="of a kernel; default: 200")
    parser.add_argument("--kernels", type=int, default=60, help="at most; the longest come first")
    parser.add_argument("--target", default="host")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--once", action="store_true", help="do not measure the best ones again")
    parser.add_argument("--csv", type=Path, help="where a row for each schedule goes")
    given = parser.parse_args()
    if given.schedules < 2:
        raise NncError(f"--schedules is at least 2, not {given.schedules}")
    found: list[Kernel] = []
    for path in given.models:
        model = Model(model_file(path), given.target, given.threads, given.schedules)
        while model.measure():
            if given.csv:
                write_rows(given.csv, [k for k in (*found, *model.kernels) if k.times])
        if not given.once:
            model.measure_again()
        found += [kernel for kernel in model.kernels if kernel.times]
    found.sort(key=lambda kernel: -kernel.times[0])
    found = found[: given.kernels]
    print("| kernel | us | schedules | default | of 16 | ranks |")
    print("|---|---|---|---|---|---|")
    for one in found:
        print(
            f"| {one.label} | {one.times[0] / 1e3:.1f} | {len(one.times)} | "
            f"{one.part(1):.3f} | {one.part(_FIRST):.3f} | {one.ranks:.2f} |"
        )
    for name, count in (("default", 1), (f"of {_FIRST}", _FIRST)):
        plain = geometric_mean([one.part(count) for one in found])
        shares = [one.times[0] for one in found]
        best = sum(share * one.part(count) for share, one in zip(shares, found, strict=True))
        print(f"{name}: {plain:.3f} in the mean, {best / sum(shares):.3f} weighed by time")


if __name__ == "__main__":
    run(main)

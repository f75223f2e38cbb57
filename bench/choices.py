"""Whether nnc's choices on graphs are the fastest: times every alternative beside what nnc chose.

    python -m bench.choices resnet18.onnx bert_base.onnx
    python -m bench.choices model.onnx --types f32 int8 --threads 1 --seconds 3 --factor 3
    python -m bench.choices model.onnx --types f32 --tuned tuned/

For each model, in f32, f16, bf16 and int8, and on one and two threads, each alternative that a pass
has for a decision (layout, algorithm, fusion, batch, precision, integers) is compiled and run in
turns with what nnc chose: blocks of runs, the fastest of each counting, compared in pairs. All
operations of a model that are alike change together. Prints a row for each alternative: the part of
the model's time that it saves, the 95 % confidence interval, and what the cost model expected. Ends
with those that beat nnc's choice by more than 2 % beyond that interval, and with code 1 if there
are any.

With `--tuned`, what nnc chose is what `nnc tune` stored in that folder, and alternatives override
it one decision at a time. Weights of f16 and bf16 are rounded, those of int8 quantized for each
channel, with random inputs for the ranges. Alternatives that are expected to take more than
`--factor` times as long are left out.
"""

import argparse
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nnc.driver.compile import load_module, run_stages
from nnc.driver.program import make_program
from nnc.driver.tuning.graph import LEAST_SHARE, Candidate, candidates
from nnc.driver.tuning.graph_worker import fastest
from nnc.driver.tuning.kept import random_inputs
from nnc.driver.tuning.ratio import Ratio
from nnc.ir.core import Operation
from nnc.ir.decisions import Decisions
from nnc.ir.diagnostics import NncError
from nnc.kernels.tuned import TunedFolder
from nnc.runtime.model import Model
from nnc.targets.attribute import attach, detailed, target_of

from .command import model_file, run
from .element_types import TYPES, as_type

WORSE = 0.02
"""An alternative is reported if it saves more than this part of the model's time."""


@dataclass(frozen=True)
class Row:
    """The measurement of an alternative; `fault` says why there is none."""

    model: str
    type: str
    threads: int
    candidate: Candidate
    ratio: Ratio | None
    fault: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether the alternative is faster than nnc's choice by more than `WORSE`, beyond the
        interval.
        """
        return self.ratio is not None and self.ratio.high < 1 - WORSE

    def __str__(self) -> str:
        choice = self.candidate.choice
        found = self.fault if self.ratio is None else str(self.ratio)
        operation = choice.operation.partition(" ")[0]
        cells = (
            *(self.model, self.type, str(self.threads), found, f"{self.candidate.gain:+.1%}"),
            *(choice.kind, choice.default, choice.taken, f"{self.candidate.count} {operation}"),
        )
        return f"| {' | '.join(cells)} |"


HEAD = "| model | type | threads | saved | expected | kind | nnc's choice | instead | operations |"


class Beside:
    """A model as nnc compiles it, with inputs, to compare alternatives with."""

    def __init__(self, module: Operation, threads: int, tuned: TunedFolder | None) -> None:
        self._module, self._threads, self._tuned = module, threads, tuned
        self._target = target_of(module)
        self._default = self._compiled(Decisions())
        self._inputs = random_inputs(self._default)

    def _compiled(self, decisions: Decisions) -> Model:
        module = run_stages(self._module.clone(), decisions=decisions, tuned=self._tuned)
        return self._target.running(make_program(module), self._threads, None)

    def ratio(self, candidate: Candidate, seconds: float) -> Ratio:
        """The ratio of the time with an alternative to nnc's own.

        It counts where only some of the alike operations can have it, as a neighbour's choice may
        rule it out. Raises NncError where none can.
        """
        choice = candidate.choice
        decisions = Decisions(told={choice.key: choice.taken})
        other, pairs = self._compiled(decisions), []
        if not decisions.followed:
            raise NncError("; ".join(decisions.notes) or "no operation has this choice any more")
        started = time.perf_counter()
        while len(pairs) < 7 or time.perf_counter() - started < seconds:
            pairs.append((fastest(self._default, self._inputs), fastest(other, self._inputs)))
        return Ratio.of(pairs)


def measured(
    path: Path,
    type: str,
    threads: Sequence[int],
    seconds: float,
    factor: float,
    tuned: TunedFolder | None = None,
) -> Iterator[Row]:
    """A row for each alternative of a model. Raises NncError where it cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        module = load_module(str(as_type(path, type, Path(folder))))
    machine = detailed(attach(module, target_of(module)))
    decisions = Decisions()
    run_stages(module.clone(), last="schedule", decisions=decisions, tuned=tuned)
    found = candidates(decisions.made, machine, precision=True, factor=factor)
    for count in threads:
        beside = Beside(module, count, tuned)
        for one in found:
            try:
                yield Row(path.stem, type, count, one, beside.ratio(one, seconds))
            except NncError as error:
                yield Row(path.stem, type, count, one, None, str(error))


def main() -> None:
    """Measure the models of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0, help="runs of an alternative")
    parser.add_argument("--factor", type=float, default=2.0)
    parser.add_argument("--results", type=Path, help="a file that rows are appended to, pickled")
    parser.add_argument("--tuned", type=Path, help="the folder that 'nnc tune' wrote")
    args = parser.parse_args()
    tuned = TunedFolder(args.tuned) if args.tuned is not None else None
    print(f"{HEAD}\n{'|---' * HEAD.count(' | ')}|---|", flush=True)
    missed: list[Row] = []
    for model in map(model_file, args.models):
        for type in args.types:
            for row in measured(model, type, args.threads, args.seconds, args.factor, tuned):
                print(row, flush=True)
                missed += [row] if row.is_missed else []
                if args.results is not None:
                    with args.results.open("ab") as file:
                        pickle.dump(row, file)
    print(f"\n{len(missed)} alternatives beat nnc's choice by more than {WORSE:.0%}")
    for row in missed:
        print(row)
    print(f"operations that take less than {LEAST_SHARE:.0%} of the time were left out")
    sys.exit(bool(missed))


if __name__ == "__main__":
    run(main)

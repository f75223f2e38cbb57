"""The options of `--check-numerics`, and their command-line flags."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass
from typing import Any

from ..ir.diagnostics import NncError

FLAG = "--check-numerics"


@dataclass(frozen=True)
class NumericsOptions:
    """How passes are checked; the defaults take seconds on a small model."""

    seed: int = 0
    """The seed of the random inputs."""
    samples: int = 4
    """The number of inputs for each function: ordinary, special, wide and extreme values in turn.
    """
    tolerance: float | None = None
    """The allowed error of a pass that rounds, relative to the largest value; None: by element
    type."""
    exact: bool = False
    """Whether every pass must keep the results bit by bit."""
    max_steps: int = 20_000
    """The limit on interpreted operations of a run; beyond it machine code is executed."""
    seconds: float = 60.0
    """The time limit of machine code."""
    reproducer: str | None = None
    """The file for the module before the faulty pass."""

    def text(self) -> str:
        """The options as text for the flag, without the reproducer."""
        given = [
            f"{f.name.replace('_', '-')}={getattr(self, f.name)}"
            for f in dataclasses.fields(self)
            if f.name != "reproducer" and getattr(self, f.name) != f.default
        ]
        return FLAG + ("=" + ",".join(given) if given else "")


def parse_options(text: str) -> NumericsOptions:
    """The options of `seed=3,samples=5,tolerance=1e-3`. Raises NncError."""
    kinds = {
        "seed": int,
        "samples": int,
        "tolerance": float,
        "exact": _boolean,
        "max-steps": int,
        "seconds": float,
        "reproducer": str,
    }
    values: dict[str, object] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key not in kinds:
            raise NncError(f"{FLAG} has no option '{key}'; it has: {', '.join(kinds)}")
        try:
            values[key.replace("-", "_")] = kinds[key](value if equals else "true")
        except ValueError:
            raise NncError(f"{FLAG}: '{value}' is not a value of '{key}'") from None
    options = NumericsOptions(**values)  # type: ignore[arg-type]
    if options.samples < 1 or options.max_steps < 1 or options.seed < 0:
        raise NncError(f"{FLAG}: samples and max-steps are at least 1, seed at least 0")
    return options


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text in ("true", "1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `--check-numerics` for commands that read their line with argparse."""
    parser.add_argument(
        FLAG,
        action="store_const",
        const="",
        help="run the functions before and after each pass on random inputs, and stop at the "
        "first pass that changes what they compute",
    )
    parser.add_argument(
        "--check-numerics-seed", type=int, metavar="N", help="seed of the inputs (default: 0)"
    )
    parser.add_argument(
        "--check-numerics-reproducer",
        metavar="FILE",
        help="where the module before the faulty pass is written",
    )


def options_of(args: Any) -> NumericsOptions | None:
    """The options given on a command line; None where nothing is to be checked."""
    if args.check_numerics is None:
        if args.check_numerics_seed is not None or args.check_numerics_reproducer is not None:
            raise NncError(f"--check-numerics-seed and -reproducer need {FLAG}")
        return None
    options = parse_options(args.check_numerics)
    if args.check_numerics_seed is not None:
        if args.check_numerics_seed < 0:
            raise NncError(f"{FLAG}-seed is at least 0, not {args.check_numerics_seed}")
        options = dataclasses.replace(options, seed=args.check_numerics_seed)
    if args.check_numerics_reproducer is not None:
        options = dataclasses.replace(options, reproducer=args.check_numerics_reproducer)
    return options

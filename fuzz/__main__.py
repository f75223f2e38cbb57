"""`python -m fuzz`: see the README of this folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .modes import DEFAULT, modes
from .worker import Run, reproduce


def main() -> int:
    """Run the fuzzer, or repeat one case; the exit code is 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", allow_abbrev=False)
    parser.add_argument("--mode", action="append", choices=sorted(modes(())), help="default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="of processor time")
    parser.add_argument("--seeds", action="append", default=[], metavar="DIR", help="more texts")
    parser.add_argument("-o", "--output", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--case", type=int, help="run this case of the one --mode again")
    args = parser.parse_args()
    chosen, folders = tuple(args.mode or DEFAULT), tuple(args.seeds)
    if args.case is not None:
        return reproduce(chosen[0], args.seed, args.case, folders)
    return 1 if Run(chosen, args.seed, args.seconds, folders, args.output).go() else 0


if __name__ == "__main__":
    sys.exit(main())

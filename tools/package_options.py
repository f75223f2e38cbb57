"""The options of `nnc package`."""

from __future__ import annotations

import argparse

from ..artifacts.bindings import LANGUAGES
from ..artifacts.options import chosen_languages
from ..delivery.engines.table import ENGINES
from ..delivery.precision import AS_IT_IS, PRECISIONS
from .shared_options import seed_argument


def add_package(sub: argparse.ArgumentParser) -> None:
    """Add all options but `--tuned`, which other commands have, too."""
    add = sub.add_argument
    add(
        "-o",
        "--output",
        metavar="PACKAGE",
        help="the package to write: an archive if the name ends in .zip, else a folder",
    )
    add(
        "--only-measure",
        action="store_true",
        help="write no package, print the measurements; commands in a package's README use this",
    )
    add("--json", action="store_true", help="with --only-measure: print the report as JSON")
    add(
        "--engines",
        default="all",
        metavar="NAME,..",
        help=f"the engines to measure, as far as they are installed: "
        f"{', '.join(one.name for one in ENGINES)} (default: all that read the model's format)",
    )
    add(
        "--precision",
        default=AS_IT_IS,
        choices=tuple(PRECISIONS),
        help="f32 leaves the model as it is; the others convert an ONNX model of f32 to these "
        "numbers, int8 by the inputs' ranges (default: f32)",
    )
    _add_measuring(sub)
    add(
        "--bindings",
        metavar="LANGUAGE,..",
        type=chosen_languages,
        help=f"the languages of the bindings: {', '.join(LANGUAGES)} or all (default: c,python if "
        "the target has them)",
    )
    add("--prefix", help="the start of the names in C (default: the model's file name)")
    add(
        "--progress-json",
        action="store_true",
        help="report progress as lines of JSON on standard error: step, done (0 to 1), text",
    )


def _add_measuring(sub: argparse.ArgumentParser) -> None:
    """Add the options on how engines are measured, and on the accuracy of outputs."""
    add = sub.add_argument
    add(
        "--threads",
        type=int,
        nargs="+",
        default=[1],
        help="measure with these numbers of threads (default: 1)",
    )
    add(
        "--tune",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="search faster schedules for so long, for the largest number of threads (default: 0)",
    )
    add(
        "--seconds-each",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="how long each engine runs with each number of threads (default: 5)",
    )
    add(
        "--limit",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="the longest that an engine may take to load the model, or for a turn (default: 300)",
    )
    add(
        "--inputs",
        metavar="FILE.npz",
        help="inputs to measure on, by name; the others are random",
    )
    add(
        "--seed",
        type=seed_argument,
        default=0,
        help="the seed of random inputs and of --tune (default: 0)",
    )
    add(
        "--tolerance",
        type=float,
        metavar="PART",
        help="the allowed difference of outputs from the original's, relative to the largest value "
        f"(default: {', '.join(f'{name} {one.tolerance:g}' for name, one in PRECISIONS.items())})",
    )

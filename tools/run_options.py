"""The command line of nn-run."""

from __future__ import annotations

import argparse

from .command import OPS_HELP
from .parser import Parser
from .shared_options import outputs_file

DESCRIPTION = """\
Run a function of an IR file at any level on given arguments.

  nn-run f.mlir --entry main --args 'a.npy,f32[4x4]:random,i64:3'
  nn-opt --lower-to-loops f.mlir | nn-run --entry main --args f32[8]:arange --compile

An argument is an array file (a.npy, a.npz:name), TYPE[SHAPE]:VALUE or VALUE, where a value is
random, zeros, ones, arange, a number, or [1,2,3]. Results and the buffers that the function may
write are printed. Functions of the llvm dialect are compiled, others interpreted.
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = Parser(
        prog="nn-run",
        description=DESCRIPTION,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", nargs="?", default="-", help="IR text, `-` for standard input (default)")
    add("--version", action="store_true", help="show the version")
    add(
        "--completion",
        choices=("bash", "zsh", "fish"),
        help="print a script that completes nn-run's command line in this shell",
    )
    add("--entry", metavar="NAME", help="the function (default: main, or the only public one)")
    add("--args", default="", metavar="ARG,..", help="its arguments, see above")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--interpret", action="store_true", help="run in the interpreter, on NumPy values"
    )
    how.add_argument(
        "--compile", action="store_true", help="lower the function to machine code, and run that"
    )
    add("--seed", type=int, default=0, help="the seed of random arguments (default: 0)")
    add(
        "--print",
        choices=("full", "summary", "none"),
        default="full",
        help="how values are printed (default: full)",
    )
    add(
        "--trace",
        action="store_true",
        help="print the results of every operation (interpreted only)",
    )
    add(
        "--max-steps", type=int, metavar="N", help="stop the interpreter after this many operations"
    )
    add(
        "--output",
        "-o",
        metavar="FILE",
        type=outputs_file,
        help="write the values: .npz or .json, or .npy of a single one",
    )
    add(
        "--compare",
        metavar="FILE",
        help="compare the values with this .npz or .npy; exit code 1 if they differ",
    )
    add(
        "--rtol",
        type=float,
        default=0.0,
        help="the relative difference that --compare allows (default: 0)",
    )
    add(
        "--atol",
        type=float,
        default=0.0,
        help="the absolute difference that --compare allows (default: 0)",
    )
    add(
        "--resource-dir", metavar="DIR", help="where weights files lie (default: the file's folder)"
    )
    add("--ops", action="append", default=[], metavar="FILE.py", help=OPS_HELP)
    add("--allow-unregistered-dialect", action="store_true", help="accept unknown operations")
    return parser

"""nn-run: runs one function of an IR file, interpreted or compiled, and prints the results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..ir.collection import collect_rarely
from ..ir.diagnostics import NncError
from .command import OPS_HELP, Streams, leave, load_operators, read_text, run_command
from .parser import Parser

if TYPE_CHECKING:
    from ..ir.core import Operation

DESCRIPTION = """\
Run a function of an IR file at any level on given arguments.

  nn-run f.mlir --entry main --args 'a.npy,f32[4x4]:random,i64:3'
  nn-opt --lower-to-loops f.mlir | nn-run --entry main --args f32[8]:arange --compile

An argument is an array file (a.npy, a.npz:name), TYPE[SHAPE]:VALUE or VALUE, where a value is
random, zeros, ones, arange, a number, or [1,2,3]. Results and the buffers that the function may
write are printed. Functions of the llvm dialect are compiled, others interpreted.
"""


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nn-run; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nn-run", _main, arguments, streams or Streams.standard())


def cli() -> None:
    """Entry point of the installed script."""
    collect_rarely()
    leave(main())


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
    how.add_argument("--interpret", action="store_true", help="run on NumPy values")
    how.add_argument("--compile", action="store_true", help="lower what is left, run machine code")
    add("--seed", type=int, default=0, help="of random arguments (default: 0)")
    add(
        "--print",
        choices=("full", "summary", "none"),
        default="full",
        help="how values are printed (default: full)",
    )
    add("--trace", action="store_true", help="print what every operation gave (interpreted only)")
    add("--max-steps", type=int, metavar="N", help="stop the interpreter after so many operations")
    add("--output", "-o", metavar="FILE", help="write the values: .npz, or .npy of a single one")
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


def _main(argv: Sequence[str], streams: Streams) -> int:
    parser = build_parser()
    if "-h" in argv or "--help" in argv:
        streams.stdout.write(parser.format_help())
        return 0
    args = parser.parse_args(argv)
    if args.version:
        print(f"nn-run {__version__}", file=streams.stdout)
        return 0
    if args.completion:
        from .completion import completion_script

        streams.stdout.write(completion_script("nn-run", args.completion))
        return 0
    if args.seed < 0 or (args.max_steps is not None and args.max_steps < 1):
        raise NncError("nn-run: --seed is at least 0, --max-steps at least 1")
    load_operators(args.ops, streams)
    module = _read(args, streams)
    from .run_function import find_function, run_function

    function = find_function(module, args.entry)
    values = run_function(module, function, args, streams)
    return _finish(values, args, streams)


def _read(args: argparse.Namespace, streams: Streams) -> Operation:
    from ..ir.syntax.parser import parse_module

    source = read_text(args.file, streams)
    folder = streams.path(args.resource_dir or ("." if args.file == "-" else args.file))
    if not args.resource_dir and args.file != "-":
        folder = folder.parent
    module = parse_module(
        source.text,
        source.name,
        allow_unregistered=args.allow_unregistered_dialect,
        resources=folder,
    )
    module.verify()
    return module


def _finish(values: dict[str, Any], args: argparse.Namespace, streams: Streams) -> int:
    """Print, write and compare the values; returns the exit code."""
    from .array_files import read_arrays
    from .inputs import save_outputs
    from .run_printing import compare_values, key_of, print_values, storable

    streams.stdout.write(print_values(values, args.print))
    streams.stdout.flush()
    if args.output:
        arrays = {key_of(name): storable(value) for name, value in values.items()}
        save_outputs(streams.path(args.output), arrays)
    if not args.compare:
        return 0
    expected = read_arrays(streams.path(args.compare))
    complaints = compare_values(values, expected, args.rtol, args.atol)
    for complaint in complaints:
        print(f"nn-run: {complaint}", file=streams.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    cli()

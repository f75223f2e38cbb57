"""nn-run: runs one function of an IR file, interpreted or compiled, and prints the results."""

from __future__ import annotations

if __name__ == "__main__":  # before the imports, which Ctrl-C may interrupt
    from .start import nn_run

    nn_run()

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..ir.diagnostics import NncError
from .command import Streams, load_operators, read_text, run_command
from .run_options import build_parser

if TYPE_CHECKING:
    from ..ir.core import Operation


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nn-run; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nn-run", _main, arguments, streams or Streams.standard())


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
    """Write, print and compare the values; returns the exit code."""
    from .array_files import read_arrays
    from .inputs import save_outputs
    from .run_printing import compare_values, key_of, print_values, storable

    if args.output is not None:  # before the text, which nobody may read (`| head`)
        arrays = {key_of(name): storable(value) for name, value in values.items()}
        save_outputs(streams.path(args.output), arrays)
    streams.stdout.write(print_values(values, args.print))
    streams.stdout.flush()
    if not args.compare:
        return 0
    expected = read_arrays(streams.path(args.compare))
    complaints = compare_values(values, expected, args.rtol, args.atol)
    for complaint in complaints:
        print(f"nn-run: {complaint}", file=streams.stderr)
    return 1 if complaints else 0

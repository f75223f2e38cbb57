"""nn-opt: IR text in, passes, IR text out."""

from __future__ import annotations

if __name__ == "__main__":  # before the imports, which Ctrl-C may interrupt
    from .start import nn_opt

    nn_opt()

import sys
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

from .. import __version__
from ..ir.location import UNKNOWN, FileLineColLoc
from .command import Streams, file_place, load_operators, read_text, run_command, with_source

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..ir.diagnostics import Diagnostic, SourceFile
    from .opt_run import Run


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nn-opt; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nn-opt", _main, arguments, streams or Streams.standard())


def _main(argv: Sequence[str], streams: Streams) -> int:
    from .opt_options import parse_command_line, pipeline_of

    arguments = parse_command_line(argv)
    args = arguments.options
    load_operators(args.ops, streams)
    said = _information(args)
    if said is not None:
        streams.stdout.write(said)
        return 0
    pipeline = pipeline_of(arguments)
    from .opt_run import Run, dump_pipeline

    if args.dump_pass_pipeline and not args.run_reproducer:
        dump_pipeline(pipeline, streams)
    source = read_text(args.file, streams)
    run = Run(args, pipeline, streams)
    try:
        return _process(source, run)
    finally:
        run.finish()


def _information(args: SimpleNamespace) -> str | None:
    """The text that an option such as `--help` prints instead of a run; None for a run."""
    if args.version:
        return f"nn-opt {__version__}\n"
    if args.help:
        from .opt_options import full_help

        return full_help()
    if args.list_passes:
        from .opt_options import pass_list

        return pass_list()
    if args.show_dialects:
        from ..dialects import MODULES

        return f"Available Dialects: {','.join(sorted(set(MODULES)))}\n"
    if args.completion:
        from .completion import completion_script

        return completion_script("nn-opt", args.completion)
    return None


def _process(source: SourceFile, run: Run) -> int:
    """Process the parts of the source and write the results; returns the exit code."""
    args, streams = run.args, run.streams
    parts = [source]
    if args.split_input_file:
        from .splitting import split

        parts, missed = split(source, args.split_input_file)
        _say(missed, source, streams)
    modules: list[Operation | None] = []
    failed = False
    for part in parts:
        seen: list[Diagnostic] = []
        module = run.process(part, seen)
        modules.append(module)
        if args.verify_diagnostics:
            from .expected_diagnostics import check_expected

            complaints = check_expected(part, seen, args.verify_diagnostics == "only-expected")
            failed |= bool(complaints)
            seen = complaints
        else:
            failed |= module is None
        _say(seen, source, streams)
    # A file is written only if all is well; a stream shows what there is.
    is_shown = args.output in (None, "-") and (len(modules) > 1 or modules[0] is not None)
    if is_shown or not failed:
        run.write(modules)
    return 1 if failed else 0


def _say(diagnostics: list[Diagnostic], source: SourceFile, streams: Streams) -> None:
    for diagnostic in diagnostics:
        if diagnostic.location == UNKNOWN:
            diagnostic = replace(diagnostic, location=FileLineColLoc(source.name, 0, 0))
        shown = with_source(diagnostic, [source])
        place = file_place(shown.location)
        if place is not None and place.file == source.name and place.line > 0:
            # A part of the file begins with spaces where the file has the mark.
            shown = replace(shown, source=source.line(place.line))
        print(shown, file=streams.stderr)

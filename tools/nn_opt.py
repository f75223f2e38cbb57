"""nn-opt: IR text in, passes, IR text out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.diagnostics import Diagnostic, NncError, SourceFile
from .command import Streams, read_text, run_command, with_source

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..ir.passes import Instrumentation, PassManager, Pipeline

USAGE = "nn-opt [options] [passes] [file]"
DESCRIPTION = """\
Read MLIR text, run passes in the order of their flags, print MLIR text.

  nn-opt --fuse --lower-to-loops in.mlir
  nn-opt --pass-pipeline='builtin.module(func.func(canonicalize,cse))' in.mlir -o out.mlir

A pass takes its options as --pass='name=value name=value'.
"""
SPLIT_MARK = "// -----"


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nn-opt; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nn-opt", _main, arguments, streams or Streams.standard())


def cli() -> None:
    """Entry point of the installed script."""
    sys.exit(main())


def _main(argv: Sequence[str], streams: Streams) -> int:
    steps, rest = _take_passes(argv)
    parser = _argument_parser()
    try:
        args = parser.parse_args(rest)
    except argparse.ArgumentError as error:
        raise NncError(f"nn-opt: {error}") from None
    if args.help:
        streams.stdout.write(_help(parser))
        return 0
    if args.version:
        from .. import __version__

        print(f"nn-opt {__version__}", file=streams.stdout)
        return 0
    if args.pass_pipeline and steps:
        raise NncError("nn-opt: give either --pass-pipeline or flags of passes, not both")
    pipeline = _pipeline(args.pass_pipeline, steps)
    if args.dump_pass_pipeline:
        print(f"Pass Manager with pipeline:\n{pipeline.text()}", file=streams.stderr)
    source = read_text(args.file, streams)
    chunks = _split(source) if args.split_input_file else [source]
    outputs: list[Operation] = []
    complaints: list[str] = []
    failed = False
    for chunk in chunks:
        seen: list[Diagnostic] = []
        module = _process(chunk, pipeline, args, streams, seen)
        if args.verify_diagnostics:
            from .expected_diagnostics import check_expected

            complaints += check_expected(chunk, seen)
            continue
        for diagnostic in seen:
            print(with_source(diagnostic, [source]), file=streams.stderr)
        if module is None:
            failed = True
        else:
            outputs.append(module)
    for complaint in complaints:
        print(complaint, file=streams.stderr)
    if not failed and not complaints and not args.verify_diagnostics:
        _write(outputs, args, streams)
    return 1 if failed or complaints else 0


def _process(
    chunk: SourceFile,
    pipeline: Pipeline,
    args: argparse.Namespace,
    streams: Streams,
    seen: list[Diagnostic],
) -> Operation | None:
    """Parse, verify and transform one module; None after an error, which is in `seen`."""
    from ..ir.passes import PassContext, PassManager
    from ..ir.syntax.parser import parse_module

    context = PassContext()
    if args.trace_rewrites:
        context.trace = lambda name, op: print(f"{name}: {op.name}", file=streams.stderr)
    manager = PassManager(pipeline, context, _instrumentations(args, streams), args.verify_each)
    folder = streams.path(args.resource_dir or ("." if args.file == "-" else args.file))
    if not args.resource_dir and args.file != "-":
        folder = folder.parent
    try:
        module = parse_module(
            chunk.text,
            chunk.name,
            allow_unregistered=args.allow_unregistered_dialect,
            resources=folder,
        )
        module.verify()
        manager.run(module)
    except NncError as error:
        seen += [*context.diagnostics, error.diagnostic]
        return None
    finally:
        _report(manager, args, streams)
    seen += context.diagnostics
    return module


def _instrumentations(args: argparse.Namespace, streams: Streams) -> list[Instrumentation]:
    from .ir_printing import PrintIR

    printing = PrintIR.from_arguments(args, streams.stderr)
    return [printing] if printing is not None else []


def _report(manager: PassManager, args: argparse.Namespace, streams: Streams) -> None:
    if args.mlir_timing:
        total = sum(manager.seconds.values()) or 1e-9
        print("===- Pass execution timing report -===", file=streams.stderr)
        for name, seconds in manager.seconds.items():
            share = 100 * seconds / total
            print(f"  {seconds:8.4f} s ({share:5.1f} %)  {name}", file=streams.stderr)
        print(f"  {total:8.4f} s (100.0 %)  total", file=streams.stderr)
    if args.mlir_pass_statistics:
        print("===- Pass statistics report -===", file=streams.stderr)
        for name, counters in manager.context.statistics.items():
            print(name, file=streams.stderr)
            for what, count in counters.items():
                print(f"  (S) {count} {what}", file=streams.stderr)


def _split(source: SourceFile) -> list[SourceFile]:
    """The parts between `// -----` lines, padded so that line numbers stay those of the file."""
    chunks: list[SourceFile] = []
    lines = source.text.split("\n")
    start = 0
    for i in range(len(lines) + 1):
        if i == len(lines) or lines[i].startswith(SPLIT_MARK):
            text = "\n" * start + "\n".join(lines[start:i])
            chunks.append(SourceFile(source.name, text))
            start = i + 1
            # the mark's own line is replaced by an empty one
    return chunks


def _write(modules: list[Operation], args: argparse.Namespace, streams: Streams) -> None:
    from ..ir.syntax.printer import print_op
    from ..ir.weights_file import module_text, write_module

    def text_of(module: Operation) -> str:
        return print_op(
            module, generic=args.mlir_print_op_generic, debuginfo=args.mlir_print_debuginfo
        )

    if args.output not in (None, "-"):
        if len(modules) == 1:
            write_module(modules[0], streams.path(args.output), print=text_of)
            return
        from .command import write_whole

        joined = f"{SPLIT_MARK}\n".join(module_text(m, print=text_of) for m in modules)
        write_whole(streams.path(args.output), joined)
        return
    streams.stdout.write(f"\n{SPLIT_MARK}\n".join(module_text(m, print=text_of) for m in modules))
    streams.stdout.flush()


# -- the command line --------------------------------------------------------------------------


def _take_passes(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Pass and pipeline flags in order as pipeline text, and the other arguments."""
    from ..lowering.catalog import PASS_MODULES
    from ..lowering.pipelines import named_pipelines

    pipelines = named_pipelines()
    steps: list[str] = []
    rest: list[str] = []
    for argument in argv:
        name, equals, options = argument.lstrip("-").partition("=")
        if argument.startswith("-") and (name in PASS_MODULES or name in pipelines):
            if equals and name in pipelines:
                raise NncError(f"nn-opt: pipeline '--{name}' takes no options")
            steps.append(f"{name}{{{options}}}" if equals else name)
        else:
            rest.append(argument)
    return steps, rest


def _pipeline(text: str | None, steps: list[str]) -> Pipeline:
    from ..ir.passes import Pipeline
    from ..lowering.pipelines import pipeline

    if text is not None:
        return pipeline(text)
    if not steps:
        return Pipeline((), None)
    return pipeline(f"builtin.module({','.join(steps)})")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise NncError(f"nn-opt: {message}; nn-opt --help lists the options and passes")


def _argument_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="nn-opt",
        usage=USAGE,
        description=DESCRIPTION,
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", nargs="?", default="-", help="input file, `-` for standard input (default)")
    add("-o", dest="output", metavar="FILE", help="output file, written whole or not at all")
    add("-h", "--help", action="store_true", help="show this text and every pass")
    add("--version", action="store_true", help="show the version")
    add("--pass-pipeline", metavar="TEXT", help="passes as builtin.module(..) text")
    add("--dump-pass-pipeline", action="store_true", help="print the pipeline that is run")
    add("--split-input-file", action="store_true", help=f"treat parts between `{SPLIT_MARK}` alone")
    add("--verify-diagnostics", action="store_true", help="check // expected-error {{..}} comments")
    add(
        "--verify-each",
        default=True,
        type=_boolean,
        metavar="BOOL",
        help="verify after each pass (default: true)",
    )
    add("--allow-unregistered-dialect", action="store_true", help="accept unknown operations")
    add("--mlir-print-op-generic", action="store_true", help="print the generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    add("--mlir-print-ir-before-all", action="store_true", help="print the IR before each pass")
    add("--mlir-print-ir-after-all", action="store_true", help="print the IR after each pass")
    add("--mlir-print-ir-before", metavar="PASS,..", default="", help=".. before these passes")
    add("--mlir-print-ir-after", metavar="PASS,..", default="", help=".. after these passes")
    add("--mlir-print-ir-after-change", action="store_true", help=".. only where it changed")
    add("--mlir-print-ir-after-failure", action="store_true", help=".. when a pass fails")
    add("--mlir-timing", action="store_true", help="print the time that each pass took")
    add("--mlir-pass-statistics", action="store_true", help="print what passes counted")
    add("--trace-rewrites", action="store_true", help="print each rule that fires")
    add(
        "--resource-dir", metavar="DIR", help="where weights files lie (default: the file's folder)"
    )
    return parser


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"true or false, not '{text}'")
    return text.lower() in ("true", "1")


def _help(parser: argparse.ArgumentParser) -> str:
    import textwrap

    from ..lowering.catalog import all_passes
    from ..lowering.pipelines import named_pipelines

    lines = [parser.format_help(), "pipelines:"]
    for name, (summary, passes) in named_pipelines().items():
        lines.append(f"  --{name}")
        lines.append(f"      {summary}")
        lines += textwrap.wrap(
            ", ".join(passes), 88, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
    lines.append("\npasses:")
    for one in all_passes():
        lines.append(f"  --{one.name}" + (f"  (on {one.anchor})" if one.anchor else ""))
        lines.append(textwrap.indent(textwrap.dedent(one.__doc__ or "").strip(), "      "))
        for f in one.options():
            name = f.name.replace("_", "-")
            lines.append(f"        {name}=.. (default {f.default}): {f.metadata['help']}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    cli()

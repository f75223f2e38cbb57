"""nnc: the user's command line: import, compile, run, bench, profile, stages, cache,
targets.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..driver.artifact_options import (
    FORMS,
    PLACES,
    ArtifactOptions,
    check_bindings,
    check_output,
    chosen_languages,
    prefix_of,
)
from ..driver.bindings import LANGUAGES
from ..ir.diagnostics import NncError
from ..ir.location import FileLineColLoc
from ..ir.timing import untimed
from ..numerics.options import add_arguments as add_numerics
from ..numerics.options import options_of
from ..targets.base import all_targets, find_host
from ..targets.base import target as find_target
from .command import Streams, run_command

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..numerics.checking import CheckNumerics
    from ..runtime.model import Model
    from ..targets.base import Target

DESCRIPTION = "Compile neural networks: ONNX in, native code out, readable IR in between."


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nnc; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nnc", _main, arguments, streams or Streams.standard())


def cli() -> None:
    """Entry point of the installed script."""
    sys.exit(main())


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise NncError(f"{self.prog}: {message}; {self.prog} --help explains")


def argument_parser() -> argparse.ArgumentParser:
    """The command line of nnc."""
    parser = _Parser(prog="nnc", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="show the version")
    parser.add_argument(
        "--completion",
        choices=("bash", "zsh", "fish"),
        help="print a script that completes nnc's command line in this shell",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help, allow_abbrev=False)
        sub.add_argument(
            "model",
            help="an .onnx file, IR of any stage in an .mlir file, or onnx:NAME, a model that "
            "ships in the onnx package (onnx: alone lists them)",
        )
        sub.add_argument(
            "--shape",
            action="append",
            default=[],
            metavar="NAME=1,3,224,224",
            help="fix the shape of an input",
        )
        if name != "import":
            sub.add_argument(
                "--target",
                "--machine",
                metavar="NAME",
                type=target_argument if name != "compile" else targets_argument,
                help="what to compile for, see `nnc targets` (default: what the IR says, else "
                "this machine); --machine is its older name"
                + (
                    ". Several levels, as in x86-64-v2,x86-64-v3: a library that has code for "
                    "each and chooses when it is loaded"
                    if name == "compile"
                    else ""
                ),
            )
        sub.add_argument(
            "--fast-math",
            choices=("on", "off"),
            default="on",
            help="off: floating-point operations as the model states them, in their order",
        )
        sub.add_argument("-q", "--quiet", action="store_true", help="no progress messages")
        return sub

    sub = command("import", "Write a model as IR, its weights in a safetensors file beside it.")
    sub.add_argument("-o", "--output", required=True, metavar="FILE.mlir")
    sub = command(
        "compile",
        "Compile a model; the suffix says to what: .mlir .ll .s, or with a C header .o .so .dll "
        ".dylib .a, with a JavaScript module .wasm.",
    )
    sub.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="a folder with --bindings"
    )
    sub.add_argument(
        "--weights",
        action="append",
        default=[],
        choices=(*PLACES, *FORMS),
        help="where a library has its weights (default: inside, above 1 GiB beside), and in which "
        "form: as the model has them, made ready when it is loaded, or packed, ready and larger "
        "(default: original as far as that takes less than 50 ms); may be given for both",
    )
    sub.add_argument(
        "--prefix",
        help="the start of the names in C (default: nnc; with --bindings the model's file name)",
    )
    sub.add_argument(
        "--bindings",
        default=(),
        metavar="LANGUAGE,..",
        type=bindings_argument,
        help="write a folder with a library and what it takes to call it from "
        f"{', '.join(LANGUAGES)} or all: sources, build files, an example",
    )
    sub.add_argument("--static", action="store_true", help="a static library, .a")
    sub.add_argument(
        "--mlir-timing",
        action="store_true",
        help="print how long reading, each pass, LLVM and linking took",
    )
    sub.add_argument(
        "--mlir-timing-display",
        choices=("list", "tree"),
        default="tree",
        help="the times as a tree of stages, or as a list sorted by time",
    )
    add_numerics(sub)
    sub = command("run", "Compile a model and run it once.")
    _add_inputs(sub)
    sub.add_argument("--output", metavar="FILE", help="write outputs: .npy (one), .npz or .json")
    sub.add_argument(
        "--expect", metavar="FILE", help="compare the output with this .npy, .npz or .json"
    )
    sub.add_argument("--tolerance", type=float, default=1e-4, help="relative, for --expect")
    sub = command("bench", "Time a model, beside ONNX Runtime where it is installed.")
    _add_inputs(sub)
    sub.add_argument("--runs", type=int, default=20, help="timed runs of each (default: 20)")
    sub = command("profile", "Time each kernel of a model: a table, a page, a trace.")
    _add_inputs(sub)
    sub.add_argument("--runs", type=int, default=20, help="timed runs (default: 20)")
    sub.add_argument("--all", action="store_true", help="all kernels, not just the slowest 20")
    sub.add_argument("--html", metavar="FILE", help="write a page: roofline, time line, table")
    sub.add_argument("--trace", metavar="FILE", help="write a trace for Perfetto or Chrome")
    help = "Show or empty the cache of compiled models."
    sub = commands.add_parser("cache", help=help, description=help, allow_abbrev=False)
    sub.add_argument("--clear", action="store_true", help="remove all compiled models")
    help = "List the targets: names, what they are, whether code for them runs here."
    commands.add_parser("targets", help=help, description=help, allow_abbrev=False)
    sub = command("stages", "Write the IR after every stage, one file each.")
    sub.add_argument("-o", "--output", required=True, metavar="FOLDER")
    return parser


def target_argument(text: str) -> str:
    """The name of a target, checked. Raises NncError."""
    find_target(text)
    return text


def bindings_argument(text: str) -> tuple[str, ...]:
    """The languages that bindings are made for. Raises NncError."""
    return chosen_languages(text)


def targets_argument(text: str) -> str:
    """The names of targets between commas, checked. Raises NncError."""
    for name in text.split(","):
        find_target(name)
    return text


def _add_inputs(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE.npy",
        help="an input, in order or by name; .npz for a sequence, .json for values of any kind",
    )
    sub.add_argument("--random", action="store_true", help="random values for the other inputs")
    sub.add_argument("--seed", type=int, default=0, help="of --random (default: 0)")
    sub.add_argument("--threads", type=int, default=1, help="worker threads (default: 1)")
    sub.add_argument(
        "--no-cache", dest="cache", action="store_false", help="compile anew, and keep nothing"
    )


def _main(argv: Sequence[str], streams: Streams) -> int:
    parser = argument_parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as done:  # --help
        return int(done.code or 0)
    if args.version:
        print(f"nnc {__version__}", file=streams.stdout)
        return 0
    if args.completion:
        from .completion import completion_script

        streams.stdout.write(completion_script("nnc", args.completion))
        return 0
    if args.command is None:
        parser.print_help(streams.stdout)
        return 1
    if getattr(args, "threads", 1) < 1:
        raise NncError(f"nnc: --threads is at least 1, not {args.threads}")
    if args.command == "cache":
        return _cache(args, streams)
    if args.command == "targets":
        return _targets(streams)
    return _COMMANDS[args.command](args, _Session(args, streams))


class _Session:
    """What the commands share: the streams, progress with elapsed time, shapes."""

    def __init__(self, args: argparse.Namespace, streams: Streams) -> None:
        self.streams = streams
        self.started = time.perf_counter()
        self.quiet = args.quiet
        self.shapes = _shapes(args.shape)
        self.fast_math = args.fast_math == "on"
        packaged = args.model.startswith("onnx:")
        self.model = str(packaged_model(args.model) if packaged else streams.path(args.model))

    def progress(self, message: str) -> None:
        if not self.quiet:
            elapsed = time.perf_counter() - self.started
            print(f"[{elapsed:6.1f} s] {message}", file=self.streams.stderr, flush=True)

    def load(self) -> Operation:
        """The model as a module."""
        from ..driver.compile import load_module

        return load_module(
            self.model, shapes=self.shapes, fast_math=self.fast_math, progress=self.progress
        )

    def run(self, executable: Model, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name; an error of the run names the model."""
        try:
            return executable.run(inputs)
        except NncError as error:
            raise NncError(error.message, FileLineColLoc(self.model, 0, 0)) from None

    def say(self, text: str) -> None:
        print(text, file=self.streams.stdout)


def packaged_model(name: str) -> Path:
    """The path of `onnx:light_resnet50` and the like. Raises NncError that lists what there is."""
    from importlib.util import find_spec

    spec = find_spec("onnx")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "backend" / "test" / "data" / "light"
    found = {path.stem: path for path in sorted(folder.glob("*.onnx"))}
    wanted = name.partition(":")[2]
    if wanted not in found:
        listed = ", ".join(f"onnx:{stem}" for stem in found) or "none in this version"
        raise NncError(f"no model '{name}'; the onnx package has: {listed}")
    return found[wanted]


def _shapes(options: Sequence[str]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for option in options:
        name, equals, dims = option.rpartition("=")
        try:
            shape = tuple(int(d) for d in dims.replace("x", ",").split(",") if d.strip())
        except ValueError:
            shape = (-1,)
        if not equals or any(d < 0 for d in shape):
            raise NncError(f"nnc: --shape takes NAME=1,3,224,224, not '{option}'")
        shapes[name] = shape
    return shapes


def _one_of(given: Sequence[str], names: Sequence[str]) -> str | None:
    """The one of the names that is given, if any. Raises NncError for several."""
    found = sorted({name for name in given if name in names})
    if len(found) > 1:
        raise NncError(f"nnc: --weights cannot be both {' and '.join(found)}")
    return found[0] if found else None


def _import(args: argparse.Namespace, session: _Session) -> int:
    from ..ir.weights_file import write_module

    module = session.load()
    write_module(module, session.streams.path(args.output))
    return 0


def _compile(args: argparse.Namespace, session: _Session) -> int:
    from ..driver.artifacts import check_linker, write_artifact, write_binary
    from ..driver.compile import run_stages
    from ..driver.levels import check_levels, make_levels
    from ..targets.attribute import target_of
    from .opt_report import Timing

    output = session.streams.path(args.output)
    place, form = (_one_of(args.weights, names) for names in (PLACES, FORMS))
    prefix = args.prefix
    if prefix is None:
        prefix = prefix_of(args.model) if args.bindings else "nnc"
    options = ArtifactOptions(place, form, prefix, args.static, args.bindings)
    check_output(output, options)
    file = options.file_in(output)
    several = args.target.split(",") if args.target and "," in args.target else []
    levels = check_levels(several, file) if several else []
    check = _numerics(args, session)
    timing = Timing() if args.mlir_timing else None
    timed = timing.scope if timing is not None else untimed
    with timed("Import"):
        module = session.load()
    if args.target and not levels:
        target_of(module, args.target)
    for target in levels or [target_of(module)]:
        check_bindings(target, options)
    if not levels:
        check_linker(module, file)

    def stages(module: Operation) -> None:
        run_stages(
            module,
            progress=session.progress,
            prepare_milliseconds=options.prepare_milliseconds(file),
            instrumentations=[one for one in (check, timing) if one is not None],
            timed=timed,
        )

    try:
        if levels:
            program = make_levels(module, levels, stages, options, timed)
            written = write_binary(program, file, options, timed)
        else:
            stages(module)
            written = write_artifact(module, output, options, timed, session.progress)
    finally:
        if check is not None:
            check.print_notes(session.streams.stderr)
    for path in written:
        if path.parent == file.parent:
            session.progress(f"wrote {path.name} ({path.stat().st_size:,} bytes)")
    for language in options.bindings:
        session.progress(f"wrote {language}/, which its README.md says how to build")
    if timing is not None:
        report = timing.report(args.mlir_timing_display)
        print(report, end="", file=session.streams.stderr)
    return 0


def _numerics(args: argparse.Namespace, session: _Session) -> CheckNumerics | None:
    """What `--check-numerics` asks for."""
    options = options_of(args)
    if options is None:
        return None
    from ..numerics.checking import CheckNumerics

    name = options.reproducer or f"{Path(args.model).stem}.numerics.mlir"
    return CheckNumerics.writing(options, session.streams.path(name), name)


def _run(args: argparse.Namespace, session: _Session) -> int:
    from ..driver.compile import compile_model
    from .inputs import describe, gather_inputs, read_expected, save_outputs

    executable = compile_model(
        session.model,
        shapes=session.shapes,
        threads=args.threads,
        target=args.target,
        fast_math=session.fast_math,
        cache=args.cache,
        progress=session.progress,
    )
    inputs = gather_inputs(executable, args, session.streams)
    started = time.perf_counter()
    outputs = session.run(executable, inputs)
    session.progress(f"ran in {1e3 * (time.perf_counter() - started):.2f} ms")
    for name, array in outputs.items():
        session.say(describe(name, array))
    if args.output:
        save_outputs(session.streams.path(args.output), outputs)
    if args.expect:
        from .inputs import compare

        expected = read_expected(session.streams.path(args.expect), executable)
        complaints = compare(outputs, expected, args.tolerance)
        for line in complaints:
            print(line, file=session.streams.stderr)
        return 1 if complaints else 0
    return 0


def _bench(args: argparse.Namespace, session: _Session) -> int:
    from .bench import bench_model

    if args.runs < 1:
        raise NncError(f"nnc: --runs is at least 1, not {args.runs}")
    args.random = True
    for line in bench_model(session.model, args, session):
        session.say(line)
    return 0


def _profile(args: argparse.Namespace, session: _Session) -> int:
    from ..driver.profiling.collect import profile_model
    from ..driver.profiling.page import html_page
    from ..driver.profiling.report import chrome_trace, table
    from ..ir.files import write_whole
    from .inputs import gather_inputs

    if args.runs < 1:
        raise NncError(f"nnc: --runs is at least 1, not {args.runs}")
    args.random = True
    profile = profile_model(
        Path(session.model).name,
        session.load(),
        lambda executable: gather_inputs(executable, args, session.streams),
        threads=args.threads,
        target=args.target,
        runs=args.runs,
        progress=session.progress,
    )
    for line in table(profile, None if args.all else 20):
        session.say(line)
    if args.html:
        write_whole(session.streams.path(args.html), html_page(profile))
    if args.trace:
        write_whole(session.streams.path(args.trace), chrome_trace(profile))
    return 0


def _stages(args: argparse.Namespace, session: _Session) -> int:
    from ..driver.compile import write_stages

    folder: Path = session.streams.path(args.output)
    for path in write_stages(
        session.model,
        folder,
        shapes=session.shapes,
        target=args.target,
        fast_math=session.fast_math,
        progress=session.progress,
    ):
        session.say(f"{path}")
    return 0


def _cache(args: argparse.Namespace, streams: Streams) -> int:
    from ..driver.cache import ModelCache

    cache = ModelCache()
    if args.clear:
        freed = cache.clear()
        print(f"removed {freed / 1e6:,.1f} MB from {cache.folder}", file=streams.stdout)
        return 0
    entries = cache.entries()
    used = sum(entry.bytes for entry in entries)
    print(f"folder:  {cache.folder}", file=streams.stdout)
    print(f"models:  {len(entries)}", file=streams.stdout)
    print(f"size:    {used / 1e6:,.1f} MB of at most {cache.limit / 1e6:,.0f}", file=streams.stdout)
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        print(f"  {when}  {entry.bytes / 1e6:10,.1f} MB  {entry.path.name}", file=streams.stdout)
    return 0


def _targets(streams: Streams) -> int:
    from ..targets.attribute import detailed

    here = find_host()
    if here is not None:
        print(f"host: {detailed(here)}", file=streams.stdout)
    found = (one for row in all_targets() for one in (row, *row.variants))
    rows = [(", ".join((one.name, *one.aliases)), one) for one in found]
    width = max(len(names) for names, _ in rows)
    for names, one in rows:
        print(f"{names:{width}}  {_runs(one):13}  {one.summary}", file=streams.stdout)
    return 0


def _runs(one: Target) -> str:
    """Where a target's code runs."""
    if one.obstacle() is None:
        return "runs here"
    emulated = one.emulator is not None and one.emulator.missing() is None
    return "emulated" if emulated else "compiles only"


_COMMANDS = {
    "import": _import,
    "compile": _compile,
    "run": _run,
    "bench": _bench,
    "profile": _profile,
    "stages": _stages,
}


if __name__ == "__main__":
    cli()

"""The command line of nnc: its commands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache

from ..artifacts.bindings import LANGUAGES
from ..artifacts.options import FORMS, PLACES, chosen_languages
from ..numerics.options import add_arguments as add_numerics
from .command import OPS_HELP
from .package_options import add_package
from .parser import Parser
from .remote_options import add_remote
from .serve_options import add_serve
from .shared_options import (
    add_fallback,
    add_inputs,
    add_tuned,
    outputs_file,
    target_argument,
    targets_argument,
)
from .tuning_options import add_calibrate, add_fleet, add_try, add_tune, add_worker

DESCRIPTION = (
    "Compile neural networks: models of any framework in, native code out, readable IR in between."
)


@cache
def argument_parser() -> argparse.ArgumentParser:
    """The parser of nnc's command line."""
    parser = Parser(prog="nnc", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="show the version")
    parser.add_argument(
        "--completion",
        choices=("bash", "zsh", "fish"),
        help="print a script that completes nnc's command line in this shell",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (help, add_options) in COMMANDS.items():
        sub = commands.add_parser(name, help=help, description=help, allow_abbrev=False)
        if name not in WITHOUT_MODEL:
            _add_model(sub, name)
        add_options(sub)
    return parser


def _add_model(sub: argparse.ArgumentParser, command: str) -> None:
    """Add the options of commands that read a model."""
    sub.add_argument(
        "model",
        nargs="?" if command in MAYBE_WITHOUT_MODEL else None,
        help="a model's file or folder in any format that nnc reads, IR of any stage in an "
        ".mlir file, or onnx:NAME, a model that ships in the onnx package (onnx: alone lists "
        "them)",
    )
    sub.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1,3,224,224",
        help="fix the shape of an input",
    )
    sub.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="compile an input in as a constant, so that nobody gives it: a number, true, false, "
        "a list as 1,2 or [[1,2]], or a .npy file",
    )
    sub.add_argument(
        "--signature",
        metavar="NAME",
        help="which function of a model that has several, as a SavedModel or a .tflite file",
    )
    sub.add_argument("--ops", action="append", default=[], metavar="FILE.py", help=OPS_HELP)
    if command != "import":
        sub.add_argument(
            "--target",
            "--machine",
            metavar="NAME",
            type=targets_argument if command in SEVERAL_TARGETS else target_argument,
            help="what to compile for, see `nnc targets` (default: what the IR says, else "
            "this machine); --machine is its older name" + SEVERAL_TARGETS.get(command, ""),
        )
    sub.add_argument(
        "--fast-math",
        choices=("on", "off"),
        default="on",
        help="off: floating-point operations as the model states them, in their order, each "
        "rounded to its element type",
    )
    sub.add_argument("-q", "--quiet", action="store_true", help="no progress messages")


def _add_import(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="FILE.mlir")


def _add_compile(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="what to write, by its suffix; a folder with --bindings",
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
        "--memory",
        type=int,
        metavar="BYTES",
        help="refuse a model of which a run needs a larger arena",
    )
    sub.add_argument(
        "--prefix",
        help="the start of the names in C (default: nnc; with --bindings the model's file name)",
    )
    sub.add_argument(
        "--bindings",
        default=(),
        metavar="LANGUAGE,..",
        type=chosen_languages,
        help="write a folder with a library and what it takes to call it from "
        f"{', '.join(LANGUAGES)} or all: sources, build files, an example",
    )
    sub.add_argument("--static", action="store_true", help="a static library, .a")
    add_fallback(sub)
    add_tuned(sub)
    sub.add_argument(
        "--prove",
        action="store_true",
        help="prove of a device's kernels that they have no race, no access outside of a buffer, "
        "and write all of their results; what cannot be proven is listed (needs nnc[prove])",
    )
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


def _add_run(sub: argparse.ArgumentParser) -> None:
    add_inputs(sub)
    add_fallback(sub)
    add_tuned(sub)
    sub.add_argument(
        "--output",
        metavar="FILE",
        type=outputs_file,
        help="write outputs: .npy (one), .npz or .json",
    )
    sub.add_argument(
        "--expect", metavar="FILE", help="compare the output with this .npy, .npz or .json"
    )
    sub.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        help="the largest relative difference that --expect allows (default: 1e-4)",
    )


def _add_bench(sub: argparse.ArgumentParser) -> None:
    add_inputs(sub)
    add_fallback(sub)
    add_tuned(sub)
    sub.add_argument("--runs", type=int, default=20, help="timed runs of each (default: 20)")


def _add_profile(sub: argparse.ArgumentParser) -> None:
    add_inputs(sub)
    sub.add_argument("--runs", type=int, default=20, help="timed runs (default: 20)")
    sub.add_argument("--all", action="store_true", help="all kernels, not just the slowest 20")
    sub.add_argument("--html", metavar="FILE", help="write a page: roofline, time line, table")
    sub.add_argument("--trace", metavar="FILE", help="write a trace for Perfetto or Chrome")


def _add_cache(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--clear", action="store_true", help="remove all compiled models")


def _add_stages(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="FOLDER")


def _add_check(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--threads", type=int, default=1, help="of which the times are estimated (default: 1)"
    )
    sub.add_argument("--json", action="store_true", help="all of it as JSON")


def _add_why(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "node",
        nargs="?",
        metavar="NODE",
        help="only the kernels of this node, by the model's name, or the kernel of this name",
    )
    sub.add_argument(
        "--all", action="store_true", help="all that is known of each kernel; takes minutes"
    )
    sub.add_argument("--json", action="store_true", help="all of it as JSON")


def _add_explore(sub: argparse.ArgumentParser) -> None:
    add = sub.add_argument
    add("other", nargs="?", metavar="OTHER", help="another model, to be shown beside it")
    add("-o", "--output", required=True, metavar="PAGE.html")
    add(
        "--no-measure",
        dest="measure",
        action="store_false",
        help="a page without the kernels' WebAssembly and WGSL, which times nothing",
    )
    add(
        "--no-gpu",
        dest="gpu",
        action="store_false",
        help="a page without the kernels' WGSL, which times them on no GPU: half as large",
    )
    add_tuned(sub)


def _add_compare(sub: argparse.ArgumentParser) -> None:
    add_inputs(sub)
    add = sub.add_argument
    add(
        "--rtol",
        type=float,
        default=1e-4,
        help="the difference allowed, relative to the largest value (default: 1e-4)",
    )
    add(
        "--atol",
        type=float,
        default=1e-5,
        help="the difference allowed beside that (default: 1e-5)",
    )
    add(
        "--against",
        metavar="MODEL",
        help="nnc on another model of the same inputs in place of ONNX Runtime, such as one of low "
        "precision; values of the same name are compared",
    )
    add(
        "--against-target",
        metavar="NAME",
        type=target_argument,
        help="nnc for this target in place of ONNX Runtime; in an emulator where it needs one",
    )
    add(
        "--against-fast-math",
        choices=("on", "off"),
        help="nnc with or without --fast-math in place of ONNX Runtime",
    )
    add(
        "--pass-pipeline",
        metavar="TEXT",
        help="the passes from the graph to the llvm dialect (default: those of `nnc compile`), "
        "as nn-opt takes them",
    )
    add(
        "--against-pass-pipeline",
        metavar="TEXT",
        help="nnc by these passes in place of ONNX Runtime",
    )
    add("--outputs-only", action="store_true", help="do not look for the node")


def _add_package(sub: argparse.ArgumentParser) -> None:
    add_package(sub)
    add_tuned(sub)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "import": ("Write a model as IR, its weights in a safetensors file beside it.", _add_import),
    "compile": (
        "Compile a model; the suffix of the output says to what: .mlir .ll .s, or with a C header "
        ".o .so .dll .dylib .a .c, with a JavaScript module .wasm; .mjs for WebGPU, .cpp for HLS.",
        _add_compile,
    ),
    "run": ("Compile a model and run it once.", _add_run),
    "bench": (
        "Time a model where its code runs (WebAssembly: in Node), beside ONNX Runtime where that "
        "is installed.",
        _add_bench,
    ),
    "profile": ("Time each kernel of a model: a table, a page, a trace.", _add_profile),
    "calibrate": (
        "Measure this machine's numbers (clock, arithmetic, caches, memory, threads, functions) "
        "and keep them: code for `host` is then scheduled by them. Exit code 1 if nothing "
        "can be kept.",
        add_calibrate,
    ),
    "tune": (
        "Find faster schedules for a model's kernels by measuring them in the model; written as "
        "text, for --tuned.",
        add_tune,
    ),
    "try": (
        "Try a kernel's schedule that was edited by hand: is it legal, does it compute what the "
        "default does, what does it take beside the default in the model. Exit code 1 if it is not "
        "legal or not right.",
        add_try,
    ),
    "worker": (
        "Carry out experiments for `nnc tune --scheduler` on this machine, until Ctrl-C.",
        add_worker,
    ),
    "fleet": (
        "Make the key of a fleet of workers, or be its scheduler.",
        add_fleet,
    ),
    "remote": (
        "Use a server of `nnc serve`: send models, order packages, take them.",
        add_remote,
    ),
    "serve": (
        "Serve a page and a REST interface to which models are brought to be measured and "
        "packaged, until Ctrl-C; add users to it.",
        add_serve,
    ),
    "cache": ("Show or empty the cache of compiled models.", _add_cache),
    "targets": (
        "List the targets: names, what they are, whether code for them runs here.",
        lambda sub: None,
    ),
    "stages": ("Write the IR after every stage, one file each.", _add_stages),
    "check": (
        "Say what a model needs and what it would get, without compiling it: operators, what is "
        "not supported, open dimensions, operations, memory, time. Exit code 1 if "
        "something is missing.",
        _add_check,
    ),
    "why": (
        "Say why a model is compiled as it is: for each kernel what could be taken, how long each "
        "should take, what bounds the chosen one, and what would change the choice.",
        _add_why,
    ),
    "explore": (
        "Write a page to look inside a model: its graph, each kernel's schedule, loops, "
        "instructions and reasons, every stage side by side; it times kernels where it is opened.",
        _add_explore,
    ),
    "compare": (
        "Compare a model's outputs with ONNX Runtime's or with another compilation; where they "
        "differ, find the first node at which. Exit code 1 if they differ.",
        _add_compare,
    ),
    "package": (
        "Measure a model on nnc and on other engines, in turns, and write a package: the library "
        "with bindings, schedules, a report with a recommendation, and the command that repeats "
        "each figure.",
        _add_package,
    ),
}
"""Each command's help, and its options beyond the model's."""

WITHOUT_MODEL = ("cache", "calibrate", "fleet", "remote", "serve", "targets", "worker")
MAYBE_WITHOUT_MODEL = ("tune",)

SEVERAL_TARGETS = {
    "compile": ". Several levels, as in x86-64-v2,x86-64-v3: a library that has code for "
    "each and chooses when it is loaded",
    "check": ". Several, as in x86-64-v3,cortex-a76: a time for each",
    "explore": ". Two, as in x86-64-v3,cortex-a76: both compilations side by side",
}
"""The commands that take several targets, with the text of their help."""

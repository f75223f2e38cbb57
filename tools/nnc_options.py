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
    parser.epilog = (
        "`nnc COMMAND --help` describes a command. Example: nnc run onnx:light_resnet50 --random"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (help, example, add_options) in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=help,
            description=help,
            epilog=f"Example: {example}",
            allow_abbrev=False,
        )
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
        help="make an input a constant, which runs no longer take: a number, true, false, a list "
        "such as 1,2 or [[1,2]], or a .npy file",
    )
    sub.add_argument(
        "--signature",
        metavar="NAME",
        help="the function to take of a model that has several (SavedModel, .tflite, CoreML)",
    )
    sub.add_argument("--ops", action="append", default=[], metavar="FILE.py", help=OPS_HELP)
    if command != "import":
        sub.add_argument(
            "--target",
            "--machine",
            metavar="NAME",
            type=targets_argument if command in SEVERAL_TARGETS else target_argument,
            help="what to compile for, a name that `nnc targets` lists (default: what the IR "
            "says, else this machine); --machine is the option's older name"
            + SEVERAL_TARGETS.get(command, ""),
        )
    sub.add_argument(
        "--fast-math",
        choices=("on", "off"),
        default="on",
        help="off: compute the model's floating-point operations exactly as stated, in their "
        "order, each rounded to its element type (default: on)",
    )
    sub.add_argument("-q", "--quiet", action="store_true", help="no progress messages")


def _add_import(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "-o", "--output", required=True, metavar="FILE.mlir", help="the file to write the IR to"
    )


def _add_compile(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="the file to write, whose suffix says what; with --bindings, a folder",
    )
    sub.add_argument(
        "--weights",
        action="append",
        default=[],
        choices=(*PLACES, *FORMS),
        help="where a library stores its weights (default: inside, above 1 GiB beside) and in "
        "which form: original, rearranged when the library is loaded, or packed, as the code reads "
        "them, which is larger (default: original, as far as rearranging takes less than 50 ms); "
        "may be given twice, for place and form",
    )
    sub.add_argument(
        "--memory",
        type=int,
        metavar="BYTES",
        help="refuse a model whose runs need more working memory (arena) than this",
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
        help="write a folder with a library and what is needed to call it from these languages "
        f"({', '.join(LANGUAGES)} or all): sources, build files, an example",
    )
    sub.add_argument("--static", action="store_true", help="write a static library, .a")
    add_fallback(sub)
    add_tuned(sub)
    sub.add_argument(
        "--prove",
        action="store_true",
        help="prove that a device's kernels have no races, access nothing outside of their buffers "
        "and write all of their results; list what cannot be proven (needs nnc[prove])",
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
        help="print these times as a tree of stages, or as a list sorted by time (default: tree)",
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
        help="write the outputs to a .npz or .json file, or a single one to a .npy file",
    )
    sub.add_argument(
        "--expect",
        metavar="FILE",
        help="compare the outputs with this .npy, .npz or .json file; exit code 1 if they differ",
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
    sub.add_argument("--runs", type=int, default=20, help="how many runs to time (default: 20)")


def _add_profile(sub: argparse.ArgumentParser) -> None:
    add_inputs(sub)
    sub.add_argument("--runs", type=int, default=20, help="how many runs to time (default: 20)")
    sub.add_argument("--all", action="store_true", help="list all kernels, not just the slowest 20")
    sub.add_argument("--html", metavar="FILE", help="write a page: roofline, time line, table")
    sub.add_argument("--trace", metavar="FILE", help="write a trace for Perfetto or Chrome")


def _add_cache(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--clear", action="store_true", help="remove all compiled models")


def _add_stages(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "-o", "--output", required=True, metavar="FOLDER", help="the folder to write the files to"
    )


def _add_check(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--threads", type=int, default=1, help="estimate the times for so many threads (default: 1)"
    )
    sub.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_why(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "node",
        nargs="?",
        metavar="NODE",
        help="explain only the kernels of this node of the model, or the kernel of this name",
    )
    sub.add_argument(
        "--all", action="store_true", help="explain every kernel in full, which takes minutes"
    )
    sub.add_argument("--json", action="store_true", help="print the explanation as JSON")


def _add_explore(sub: argparse.ArgumentParser) -> None:
    add = sub.add_argument
    add("other", nargs="?", metavar="OTHER", help="another model to show beside the first one")
    add("-o", "--output", required=True, metavar="PAGE.html", help="the file to write the page to")
    add(
        "--no-measure",
        dest="measure",
        action="store_false",
        help="leave out the kernels' code (WebAssembly and WGSL): the page then times nothing",
    )
    add(
        "--no-gpu",
        dest="gpu",
        action="store_false",
        help="leave out the kernels' WGSL: the page is half as large, and uses no GPU",
    )
    add_tuned(sub)


def _add_compare(sub: argparse.ArgumentParser) -> None:
    add_inputs(sub)
    add = sub.add_argument
    add(
        "--rtol",
        type=float,
        default=1e-4,
        help="the allowed difference relative to the largest value (default: 1e-4)",
    )
    add(
        "--atol",
        type=float,
        default=1e-5,
        help="the allowed difference in addition to that (default: 1e-5)",
    )
    add(
        "--against",
        metavar="MODEL",
        help="compare with nnc on another model of the same inputs, such as one of low precision, "
        "instead of ONNX Runtime; values of the same name are compared",
    )
    add(
        "--against-target",
        metavar="NAME",
        type=target_argument,
        help="compare with nnc for this target (in an emulator if it needs one) instead of ONNX "
        "Runtime",
    )
    add(
        "--against-fast-math",
        choices=("on", "off"),
        help="compare with nnc with this --fast-math instead of ONNX Runtime",
    )
    add(
        "--pass-pipeline",
        metavar="TEXT",
        help="the passes from the graph to the llvm dialect, as nn-opt takes them (default: those "
        "of `nnc compile`)",
    )
    add(
        "--against-pass-pipeline",
        metavar="TEXT",
        help="compare with nnc with these passes instead of ONNX Runtime",
    )
    add(
        "--outputs-only",
        action="store_true",
        help="compare the outputs only; do not search for the node",
    )


def _add_package(sub: argparse.ArgumentParser) -> None:
    add_package(sub)
    add_tuned(sub)


COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "run": (
        "Compile a model, run it once, and print its outputs.",
        "nnc run model.onnx --input x.npy --output y.npy",
        _add_run,
    ),
    "bench": (
        "Measure a model's latency, beside ONNX Runtime's if that is installed. WebAssembly runs "
        "in Node.",
        "nnc bench model.onnx --threads 2",
        _add_bench,
    ),
    "profile": (
        "Measure the time of each kernel of a model: a table, a page, a trace.",
        "nnc profile model.onnx --html profile.html",
        _add_profile,
    ),
    "check": (
        "Report what a model needs, without compiling it: operators, unsupported nodes, dynamic "
        "dimensions, operations, memory, expected time. Exit code 1 if a node is not supported.",
        "nnc check model.onnx --target host,cortex-a76",
        _add_check,
    ),
    "compile": (
        "Compile a model. The suffix of the output says to what: .so .dll .dylib .a .o .c with a C "
        "header, .wasm with a JavaScript module, .mjs for WebGPU, .cpp for HLS, .mlir .ll .s as "
        "text.",
        "nnc compile model.onnx -o model.so",
        _add_compile,
    ),
    "compare": (
        "Compare a model's outputs with ONNX Runtime's or with another compilation's; if they "
        "differ, find the first node that does. Exit code 1 if they differ.",
        "nnc compare model.onnx --random --shape x=1,3,224,224",
        _add_compare,
    ),
    "explore": (
        "Write a page to look inside a model: its graph, each kernel's schedule, loops, "
        "instructions and reasons, every stage side by side; the page times kernels where it is "
        "opened.",
        "nnc explore model.onnx -o page.html",
        _add_explore,
    ),
    "why": (
        "Explain how a model is compiled: for each kernel the alternatives, their expected times, "
        "what limits the chosen one, and what would change the choice.",
        "nnc why model.onnx conv_1",
        _add_why,
    ),
    "stages": (
        "Write the IR after every stage of a compilation, one file each.",
        "nnc stages model.onnx -o stages/",
        _add_stages,
    ),
    "import": (
        "Write a model's graph as IR, with its weights in a safetensors file beside it.",
        "nnc import model.onnx -o model.mlir",
        _add_import,
    ),
    "tune": (
        "Search faster schedules for a model's kernels by measuring them in the model, and write "
        "them as text, for --tuned.",
        "nnc tune model.onnx -o tuned/ --seconds 60",
        add_tune,
    ),
    "try": (
        "Try a kernel's schedule that was edited by hand: whether it is legal, whether it computes "
        "the same as the default, and its time beside the default's. Exit code 1 if it is illegal "
        "or wrong.",
        "nnc try model.onnx --schedule edited.mlir",
        add_try,
    ),
    "calibrate": (
        "Measure this machine (clock, arithmetic, caches, memory, threads, functions) and keep the "
        "numbers, by which code for `host` is then scheduled. Exit code 1 if no number can be "
        "kept.",
        "nnc calibrate",
        add_calibrate,
    ),
    "package": (
        "Measure a model with nnc and with other engines, in turns, and write a package: the "
        "library with bindings, schedules, a report with a recommendation, and the commands that "
        "repeat the measurements.",
        "nnc package model.onnx -o package.zip",
        _add_package,
    ),
    "targets": (
        "List the targets: names, where their code runs, and a description.",
        "nnc targets",
        lambda sub: None,
    ),
    "cache": (
        "List the cached compiled models, or remove them.",
        "nnc cache --clear",
        _add_cache,
    ),
    "worker": (
        "Run experiments for `nnc tune --scheduler` on this machine, until Ctrl-C.",
        "nnc worker --scheduler tls://HOST:8786 --certificates fleet/",
        add_worker,
    ),
    "fleet": (
        "Make the key of a fleet of workers, or run its scheduler.",
        "nnc fleet init fleet/",
        add_fleet,
    ),
    "serve": (
        "Serve web pages and a REST interface that measure and package models, until Ctrl-C; or "
        "manage the service's users.",
        "nnc serve --port 8080",
        add_serve,
    ),
    "remote": (
        "Use a server of `nnc serve`: upload models, order packages, download them.",
        "nnc remote package model.onnx -o package.zip",
        add_remote,
    ),
}
"""Each command's help, an example, and its options beyond the model's."""

WITHOUT_MODEL = ("cache", "calibrate", "fleet", "remote", "serve", "targets", "worker")
MAYBE_WITHOUT_MODEL = ("tune",)

SEVERAL_TARGETS = {
    "compile": ". Several levels of a processor, such as x86-64-v2,x86-64-v3, make a library with "
    "code for each, which chooses when it is loaded",
    "check": ". Several, such as x86-64-v3,cortex-a76, give a time for each",
    "explore": ". Two, such as x86-64-v3,cortex-a76, show both compilations side by side",
}
"""The commands that take several targets, with the text of their help."""

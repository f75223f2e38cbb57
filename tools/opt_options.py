"""The command line of nn-opt: its options, its help, and the pipeline that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError
from .command import OPS_HELP
from .flags import Arguments, Flag, FlagGroup, help_text, parse_arguments

if TYPE_CHECKING:
    from ..ir.passes import Pipeline

SPLIT_MARK = "// -----"

INTRODUCTION = """\
nn-opt [options] [passes] [file]

Read MLIR text, run passes in the order of their flags, print MLIR text.

  nn-opt --fuse --lower-to-loops in.mlir
  nn-opt --pass-pipeline='builtin.module(func.func(canonicalize,cse))' in.mlir -o out.mlir

The input file is `-` (standard input) if none is named. A pass takes its options as
--pass='name=value name=value'. Options are upstream mlir-opt's where it has them.
"""

GROUPS: tuple[FlagGroup, ...] = (
    FlagGroup(
        "input and output",
        (
            Flag("output", "write to this file, whole or not at all", "file", "FILE", short="o"),
            Flag("allow-unregistered-dialect", "accept operations of unknown dialects"),
            Flag("ops", OPS_HELP, "files", "FILE.py"),
            Flag("no-implicit-module", "the file must be one operation; put no module around it"),
            Flag(
                "split-input-file",
                f"process each part between marks ({SPLIT_MARK}) on its own",
                "text",
                "MARK",
                bare=SPLIT_MARK,
            ),
            Flag(
                "output-split-marker",
                "the text between the results of the parts",
                "text",
                "MARK",
                default=SPLIT_MARK,
            ),
            Flag(
                "resource-dir",
                "the folder of weights files (default: the input file's folder)",
                "folder",
                "DIR",
            ),
        ),
    ),
    FlagGroup(
        "passes",
        (
            Flag(
                "pass-pipeline",
                "the passes to run, such as builtin.module(func.func(a,b{x=1}),c)",
                "text",
                "TEXT",
            ),
            Flag(
                "target",
                "the target to compile for, a name that `nnc targets` lists, which is noted in the "
                "module (default: the one noted there, else this machine)",
                "target",
                "NAME",
            ),
            Flag("machine", "the older name of --target", "target", "NAME"),
            Flag("dump-pass-pipeline", "print the pipeline that is run, with all options"),
            Flag("list-passes", "print every pass with its options, and stop"),
            Flag("show-dialects", "print the names of the dialects, and stop"),
            Flag(
                "verify-each",
                "verify after each pass (default: 1)",
                metavar="BOOL",
                default=True,
            ),
            Flag("run-reproducer", "run the pipeline that is stored in the file"),
            Flag(
                "mlir-pass-pipeline-crash-reproducer",
                "if a pass fails, write the module and the pipeline to this file",
                "file",
                "FILE",
            ),
            Flag(
                "mlir-pass-pipeline-local-reproducer",
                "with the option above: the module before the failing pass, and only that pass",
            ),
            Flag(
                "mlir-generate-reproducer",
                "write the module and the pipeline to this file, whether a pass fails or not",
                "file",
                "FILE",
            ),
            Flag("mlir-disable-threading", "no effect, as passes use one thread; upstream has it"),
        ),
    ),
    FlagGroup(
        "printing the IR around passes (on standard error)",
        (
            Flag("mlir-print-ir-before", "before these passes", "names", "PASS,.."),
            Flag("mlir-print-ir-after", "after these passes", "names", "PASS,.."),
            Flag("mlir-print-ir-before-all", "before each pass"),
            Flag("mlir-print-ir-after-all", "after each pass"),
            Flag("mlir-print-ir-after-change", "after each pass that changed something"),
            Flag("mlir-print-ir-after-failure", "only after a pass that fails"),
            Flag("mlir-print-ir-module-scope", "the whole module, also around passes on functions"),
            Flag("mlir-print-ir-tree-dir", "into files below this folder", "folder", "DIR"),
        ),
    ),
    FlagGroup(
        "how the IR is printed",
        (
            Flag("mlir-print-op-generic", "in the generic form"),
            Flag("mlir-print-debuginfo", "with locations"),
            Flag(
                "mlir-pretty-debuginfo", "with locations written for people (cannot be read back)"
            ),
            Flag("mlir-print-local-scope", "without aliases: everything where it is used"),
            Flag("mlir-print-skip-regions", "without regions"),
            Flag("mlir-print-value-users", "with a comment that names the users of each value"),
            Flag("mlir-print-unique-ssa-ids", "with value names that differ across regions too"),
            Flag("mlir-use-nameloc-as-prefix", "with value names from named locations"),
            Flag(
                "mlir-print-assume-verified",
                "no effect, as printing does not verify; upstream has it",
            ),
            Flag(
                "mlir-elide-elementsattrs-if-larger",
                "leave out dense elements above this number",
                "int",
                "N",
            ),
            Flag(
                "mlir-elide-resource-strings-if-larger",
                "leave out resources whose text is longer",
                "int",
                "N",
            ),
            Flag(
                "mlir-print-elementsattrs-with-hex-if-larger",
                "dense elements above this number in hexadecimal (default: 100; -1: never)",
                "int",
                "N",
            ),
        ),
    ),
    FlagGroup(
        "looking at passes",
        (
            Flag("mlir-timing", "print how long parsing, each pass, verifying and printing took"),
            Flag(
                "mlir-timing-display",
                "as a list by time, or as the tree of pipelines",
                "text",
                choices=("list", "tree"),
                default="tree",
            ),
            Flag("mlir-pass-statistics", "print the passes' counters"),
            Flag(
                "mlir-pass-statistics-display",
                "as a list by pass, or by place in the pipeline",
                "text",
                choices=("list", "pipeline"),
                default="pipeline",
            ),
            Flag(
                "trace-rewrites",
                "print each rewrite: the rule, the place, the old and the new operations",
                "file",
                "FILE",
                bare="-",
            ),
            Flag(
                "check-numerics",
                "run the functions before and after each pass on random inputs, and stop at the "
                "first pass that changes what they compute; options: seed, samples, tolerance, "
                "exact, max-steps, seconds, reproducer",
                "text",
                "KEY=VALUE,..",
                bare="",
            ),
            Flag("check-numerics-seed", "the seed of these inputs (default: 0)", "int", "N"),
            Flag(
                "check-numerics-reproducer",
                "the file for the module before the faulty pass (default: beside the input)",
                "file",
                "FILE",
            ),
        ),
    ),
    FlagGroup(
        "tests",
        (
            Flag("verify-roundtrip", "print the input in both forms, read that back, compare"),
            Flag(
                "verify-diagnostics",
                "compare the diagnostics with // expected-error {{..}} comments",
                "text",
                bare="all",
                choices=("all", "only-expected"),
            ),
        ),
    ),
    FlagGroup(
        "other",
        (
            Flag("help", "show this text, every pipeline and every pass", short="h"),
            Flag("version", "show the version"),
            Flag(
                "completion",
                "print a script that completes nn-opt's command line in this shell",
                "text",
                choices=("bash", "zsh", "fish"),
            ),
        ),
    ),
)


def parse_command_line(argv: Sequence[str]) -> Arguments:
    """The options of nn-opt, its file, and its passes in order. Raises NncError."""
    found = parse_arguments("nn-opt", GROUPS, argv, _is_step, step_names)
    if len(found.positional) > 1:
        listed = ", ".join(found.positional)
        raise NncError(f"nn-opt: one input file, not {len(found.positional)}: {listed}")
    found.options.file = found.positional[0] if found.positional else "-"
    if found.options.pass_pipeline is not None and found.steps:
        raise NncError("nn-opt: '-pass-pipeline' option can't be used with individual pass options")
    named = [*found.options.mlir_print_ir_before, *found.options.mlir_print_ir_after]
    if named:
        from ..lowering.catalog import PASS_MODULES

        for name in named:
            if name not in PASS_MODULES:
                raise NncError(f"nn-opt: --mlir-print-ir-..: no pass is named '{name}'")
    return found


def _is_step(name: str) -> bool:
    from ..lowering.catalog import PASS_MODULES
    from ..lowering.pipelines import passes_of

    return name in PASS_MODULES or passes_of(name) is not None


def step_names() -> list[str]:
    """The names of all passes and pipelines."""
    from ..lowering.catalog import PASS_MODULES
    from ..lowering.pipelines import named_pipelines

    return [*PASS_MODULES, *named_pipelines()]


def pipeline_of(arguments: Arguments) -> Pipeline:
    """The pipeline that a command line asks for. Raises NncError."""
    from ..ir.passes import Pipeline

    text = arguments.options.pass_pipeline
    target = arguments.options.target or arguments.options.machine
    if text is not None:
        return read_pipeline(text, target)
    if not arguments.steps:
        return Pipeline((), None)
    steps = [name if given is None else f"{name}{{{given}}}" for name, given in arguments.steps]
    anchor = "any" if arguments.options.no_implicit_module else "builtin.module"
    return read_pipeline(f"{anchor}({','.join(steps)})", target)


def read_pipeline(text: str, target: str | None = None) -> Pipeline:
    """A pipeline in its anchor; `--lower-all` in it stands for the stages of a target.

    Raises NncError that points into the text.
    """
    from functools import partial

    from ..ir.pipeline_text import parse_pipeline
    from ..lowering.pipelines import DEFAULT, lookup

    chosen = partial(lookup, target=target or DEFAULT)
    return parse_pipeline(text, chosen, wrapped=True, known=step_names)


def full_help() -> str:
    """What `--help` prints: the options by group, the pipelines, the passes."""
    import textwrap

    from ..lowering.pipelines import named_pipelines

    lines = [INTRODUCTION, help_text(GROUPS).lstrip("\n"), "pipelines:"]
    for name, (summary, passes) in named_pipelines().items():
        lines.append(f"  --{name}")
        lines.append(f"      {summary}")
        indent = " " * 8
        joined = ", ".join(passes)
        lines += textwrap.wrap(joined, 96, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines) + "\n\n" + pass_list()


def pass_list() -> str:
    """What `--list-passes` prints: every pass with its documentation and options."""
    import textwrap

    from ..ir.passes import option_text
    from ..lowering.catalog import all_passes

    lines = ["Passes:"]
    for one in all_passes():
        lines.append(f"  --{one.name}" + (f"  (on {one.anchor})" if one.anchor else ""))
        lines.append(textwrap.indent(textwrap.dedent(one.__doc__ or "").strip(), " " * 6))
        for f in one.options():
            name, choices = f.name.replace("_", "-"), "|".join(f.metadata["choices"])
            default = option_text(f.default)
            lines.append(
                f"        {name}={choices or '..'} (default {default}): {f.metadata['help']}"
            )
    return "\n".join(lines) + "\n"

"""The pages `docs/passes.md` and `docs/nn-opt.md`, made from what passes and nn-opt declare.

Each pass has an example in `docs/pass_examples/NAME.mlir`, whose first line is the command
that is run on the rest: `// nn-opt --canonicalize`.
"""

from __future__ import annotations

import inspect
import io
import shlex
from pathlib import Path
from typing import Any

from dialect_pages import HEAD, cell, table

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE / "pass_examples"


def passes_page() -> str:
    """The text of docs/passes.md."""
    from nnc.lowering.catalog import all_passes
    from nnc.lowering.pipelines import named_pipelines

    passes = all_passes()
    summaries = [
        f"| [`{one.name}`](#{one.name}) | {one.anchor or 'any operation'} | {cell(one.summary())} |"
        for one in passes
    ]
    pipelines = [
        f"| `--{name}` | {cell(summary)} | {cell(', '.join(f'`{p}`' for p in steps))} |"
        for name, (summary, steps) in named_pipelines().items()
    ]
    parts = [
        f"{HEAD}# The passes",
        "`nn-opt --NAME` runs a pass, `nn-opt --NAME='option=value option=value'` with options; "
        "`--pass-pipeline` says where passes run. A pass that is anchored on `func.func` runs on "
        "each function of a module.",
        table(("pass", "runs on", ""), summaries),
        "## Pipelines",
        "Each is a flag of `nn-opt` and a name in `--pass-pipeline`.",
        table(("pipeline", "", "passes"), pipelines),
        *(_pass(one) for one in passes),
    ]
    return "\n\n".join(parts) + "\n"


def _pass(one: Any) -> str:
    parts = [f"## `{one.name}`", inspect.cleandoc(one.__doc__ or "")]
    options = [_option(f) for f in one.options()]
    if options:
        parts.append(table(("option", "default", ""), options))
    if one.statistics:
        rows = [f"| `{name}` | {cell(text)} |" for name, text in one.statistics.items()]
        parts.append(table(("statistic", ""), rows))
    command, before, after = run_example(one.name)
    parts.append(f"```mlir\n{before}\n```")
    parts.append(f"`{command}` makes of it")
    parts.append(f"```mlir\n{after}\n```")
    return "\n\n".join(parts)


def _option(field: Any) -> str:
    from nnc.ir.passes import option_text

    choices = field.metadata["choices"]
    text = field.metadata["help"]
    if choices:
        text += f" (one of {', '.join(f'`{c}`' for c in choices)})"
    default = option_text(field.default)
    return f"| `{field.name.replace('_', '-')}` | `{default}` | {cell(text)} |"


def run_example(name: str) -> tuple[str, str, str]:
    """The command of a pass's example, its input and what it prints."""
    from nnc.tools import nn_opt
    from nnc.tools.command import Streams

    path = EXAMPLES / f"{name}.mlir"
    if not path.exists():
        raise SystemExit(
            f"pass '{name}' has no example: write docs/pass_examples/{name}.mlir, whose first "
            f"line is the command, such as `// nn-opt --{name}`"
        )
    first, _, source = path.read_text().partition("\n")
    command = first.removeprefix("//").strip()
    arguments = shlex.split(command)[1:]
    streams = Streams(io.StringIO(source), io.StringIO(), io.StringIO(), HERE)
    code = nn_opt.main([*arguments, "-"], streams)
    if code or streams.stderr.getvalue():
        raise SystemExit(f"{path}: {command}\n{streams.stderr.getvalue()}")
    return command, source.rstrip(), streams.stdout.getvalue().rstrip()


def nn_opt_page() -> str:
    """The text of docs/nn-opt.md: every option of the tool."""
    from nnc.tools.opt_options import GROUPS

    parts = [
        f"{HEAD}# nn-opt",
        "`nn-opt [options] [passes] [file]` reads MLIR text from a file or standard input, runs "
        "passes in the order of their flags, and prints MLIR text. Options are upstream "
        "`mlir-opt`'s where it has them. [The passes](passes.md) · "
        "[the dialects](dialects/README.md)",
    ]
    for group in GROUPS:
        rows = [f"| `{cell(flag.usage())}` | {cell(flag.help)} |" for flag in group.flags]
        title = group.title[0].upper() + group.title[1:]
        parts.append(f"## {title}\n\n{table(('option', ''), rows)}")
    return "\n\n".join(parts) + "\n"

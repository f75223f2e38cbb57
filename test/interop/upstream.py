"""Running the real mlir-opt over parts of a text, and nnc over the same."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op

SPLIT = "// -----\n"

FORMS = {
    "custom": ({}, ()),
    "generic": ({"generic": True}, ("--mlir-print-op-generic",)),
    "locations": ({"debuginfo": True}, ("--mlir-print-debuginfo",)),
    "generic with locations": (
        {"generic": True, "debuginfo": True},
        ("--mlir-print-op-generic", "--mlir-print-debuginfo"),
    ),
}
"""For each form how nnc and how mlir-opt are told to print it."""


def parts_of(text: str) -> list[str]:
    """The parts that lines `// -----` divide a text into."""
    return text.split(SPLIT)


def ours(text: str, form: str) -> str:
    """What nnc prints of a text, without newlines at the end."""
    module = parse_module(text, "<stdin>", allow_unregistered=True)
    module.verify()
    return print_op(module, **FORMS[form][0]).rstrip("\n")


def theirs(mlir_opt: str, text: str, form: str) -> str:
    """What mlir-opt prints of a text, without newlines at the end. Fails where it rejects it."""
    code, out, errors = run(mlir_opt, text, form)
    assert code == 0, f"{errors}\nin\n{text}"
    return out.rstrip("\n")


def run(mlir_opt: str, text: str, form: str = "custom", *options: str) -> tuple[int, str, str]:
    """The exit code, the output and the errors of mlir-opt for a text."""
    command = [mlir_opt, "--allow-unregistered-dialect", *FORMS[form][1], *options]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, errors="surrogateescape", check=False
    )
    return done.returncode, done.stdout, done.stderr


def all_theirs(mlir_opt: str, parts: Sequence[str], form: str) -> list[str]:
    """What mlir-opt prints of each part, in one run; for forms without locations."""
    code, out, errors = run(
        mlir_opt, f"\n{SPLIT}".join(parts), form, "--split-input-file", "--mlir-disable-threading"
    )
    assert code == 0, errors
    return [text.rstrip("\n") for text in out.split(SPLIT)]

"""Command lines of nn-opt: its flags in any order, with valid and invalid values."""

from __future__ import annotations

import io
import random
import re
from functools import cache
from pathlib import Path

from .cases import Case
from .pipelines import broken_pipeline, passes, pipelines, random_step

TEXTS = (
    "module {}",
    "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n",
    "func.func @f() { return }\n// -----\nfunc.func @g() { return %x }\n// -----\n",
    "func.func @f() { return %x } // expected-error {{undeclared}}\n",
    "func.func @f() { return %x }\n// expected-error-re@-1 {{un{{.*}}}} {{(}}\n",
    "",
)
VALUES = (
    "",
    "true",
    "false",
    "0",
    "-1",
    "x",
    "cse",
    "a,b",
    "é",
    "-",
    "/",
    ".",
    "1" * 30,
    "{",
    "%s",
)
UNSAFE = ("-o", "--output", "--mlir-print-ir-tree-dir", "--mlir-pass-pipeline-crash-reproducer")
"""Flags that name a file to write; they are given a file in the scratch folder."""


@cache
def flags() -> tuple[str, ...]:
    """The flags that `nn-opt --help` lists."""
    from nnc.tools import nn_opt
    from nnc.tools.command import Streams

    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), Path.cwd())
    nn_opt.main(["--help"], streams)
    return tuple(sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z-]+", streams.stdout.getvalue()))))


def command_case(choice: random.Random) -> Case:
    """A small text and a random command line."""
    arguments: list[str] = ["%s"] if choice.random() < 0.9 else []
    for _ in range(choice.choice((0, 1, 2, 3, 5))):
        arguments.insert(choice.randrange(len(arguments) + 1), _flag(choice))
    if choice.random() < 0.5:
        arguments.append(f"--pass-pipeline={broken_pipeline(choice)}")
    return Case("nn-opt", tuple(arguments), choice.choice(TEXTS).encode())


def _flag(choice: random.Random) -> str:
    roll = choice.random()
    if roll < 0.15:
        name, brace, options = random_step(choice).partition("{")
        return f"--{name}={options.rstrip('}')}" if brace else f"--{name}"
    if roll < 0.25:
        return f"--{choice.choice(pipelines())}"
    if roll < 0.3:
        return f"--{choice.choice(passes()).name}={choice.choice(VALUES)}"
    name = choice.choice(flags())
    if name in UNSAFE:
        return f"{name}=out" if name != "-o" else "-oout"
    if roll < 0.35:
        name = name[:-1]
    return name if choice.random() < 0.5 else f"{name}={choice.choice(VALUES)}"

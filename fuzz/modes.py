"""The modes by name; each makes cases of one kind."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from . import seeds
from .cases import Case, Maker, text_case
from .command_lines import command_case
from .grammar_text import grammar_text
from .models import graph_case, model_case
from .mutate import mutated
from .op_text import op_text
from .pipelines import random_pipeline
from .typed_ops import typed_case


def modes(folders: tuple[str, ...]) -> Mapping[str, Maker]:
    """All modes; `folders` have more seeds."""

    def mutate(choice: random.Random) -> Case:
        first, second = seeds.pick(choice, folders), seeds.pick(choice, folders)
        return text_case(choice, mutated(choice, first, second))

    def pipeline(choice: random.Random) -> Case:
        text = seeds.pick_valid(choice, folders)
        if choice.random() < 0.3:
            text = choice.choice(seeds.stages())
        passes = random_pipeline(choice, choice.randint(1, 6))
        arguments = ("%s", "--allow-unregistered-dialect", f"--pass-pipeline={passes}")
        return Case("nn-opt", arguments, text.encode("utf-8", "surrogateescape"), round_trip=True)

    def differential(choice: random.Random) -> Case:
        makers = (mutate, mutate, lambda c: text_case(c, op_text(c)))
        made = choice.choice(makers)(choice)
        arguments = ["%s", "--allow-unregistered-dialect"]
        if choice.random() < 0.5:
            arguments.append("--mlir-print-op-generic")
        return replace(made, arguments=tuple(arguments), differential=True)

    return {
        "grammar": lambda choice: text_case(choice, grammar_text(choice)),
        "ops": lambda choice: text_case(choice, op_text(choice)),
        "typed": typed_case,
        "mutate": mutate,
        "pipeline": pipeline,
        "onnx": model_case,
        "graphs": graph_case,
        "flags": command_case,
        "upstream": differential,
    }


DEFAULT = ("grammar", "ops", "typed", "mutate", "pipeline", "onnx", "graphs", "flags")
"""The modes that run if none is named; `upstream` needs mlir-opt."""

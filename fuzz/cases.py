"""A case: a tool's command line and the file that it reads."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

REFERENCE = "reference"
"""Used as a tool's name: the model is run by nnc and by ONNX's reference."""


@dataclass(frozen=True)
class Case:
    """A call of `nn-opt` or `nnc`; `%s` among the arguments stands for the file.

    With `round_trip`, accepted output must be read again and printed the same.
    """

    tool: str
    arguments: tuple[str, ...]
    data: bytes
    suffix: str = ".mlir"
    round_trip: bool = False
    differential: bool = False
    origin: str = field(default="", compare=False)

    def with_data(self, data: bytes) -> Case:
        """The same call with other input."""
        return replace(self, data=data)


Maker = Callable[[random.Random], Case]
"""A mode of the fuzzer: a function that makes a case from random choices."""


def random_for(mode: str, seed: int, number: int) -> random.Random:
    """The random generator of case `number` of a run, the same on every machine."""
    return random.Random(f"{mode}:{seed}:{number}")


def text_case(choice: random.Random, text: str | bytes, origin: str = "") -> Case:
    """A case that reads IR text and prints it, sometimes after a few passes."""
    from .pipelines import random_pipeline

    arguments = ["%s"]
    if choice.random() < 0.8:
        arguments.append("--allow-unregistered-dialect")
    if choice.random() < 0.4:
        arguments.append("--mlir-print-op-generic")
    if choice.random() < 0.1:
        arguments.append("--mlir-print-debuginfo")
    if choice.random() < 0.5:
        arguments.append(f"--pass-pipeline={random_pipeline(choice, choice.randint(1, 3))}")
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return Case("nn-opt", tuple(arguments), data, round_trip=True, origin=origin)

"""The C text of a model: its functions, and the entry that checks what it is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...dialects.marks import INPUTS
from ...ir.core import Operation
from ..source.entry import TENSOR, entry_lines
from ..source.module import numbers_text, print_module
from .language import C

_HERE = Path(__file__).parent
WEIGHTS_HERE = "/* -- weights -- */"
"""The line of the text after which weights may be inserted."""


def c_text(module: Operation, prefix: str = "nnc", pointer_bits: int = 64) -> str:
    """The C text of a module after the `text` stage, with the model's entry if the module has one.

    Raises NncError.
    """
    language = replace(C, pointer_bits=pointer_bits, needed={})
    text = print_module(module, language)
    prelude = (_HERE / "prelude.h").read_text() + numbers_text()
    heap = (_HERE / "heap.h").read_text() if text.uses_heap else ""
    vectors = (_HERE / "vectors.h").read_text() if text.types else ""
    parts = [
        "/* Made by nnc: portable C99. Where the processor has multiply-adds, compile without\n"
        "   -ffast-math and with -ffp-contract=off, as -std=c99 has it, for the same numbers. */\n",
        "#include <stddef.h>\n#include <stdint.h>\n",
        TENSOR,
        prelude,
        WEIGHTS_HERE,
        heap,
        vectors,
        text.types,
        text.constants,
        text.functions,
        "\n".join(entry_lines(module, text, prefix)) if INPUTS in module.attributes else "",
    ]
    return "\n".join(part for part in parts if part)

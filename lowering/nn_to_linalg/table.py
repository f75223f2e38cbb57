"""The table of functions that lower nn ops, by op class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects.nn.base import NnOp
from ...ir.diagnostics import DeclarationError
from .emitter import Emitter

Lowering = Callable[[Emitter, Any], None]

LOWERINGS: dict[type[NnOp], Lowering] = {}
"""An op without an entry has a comprehension of its operands, or cannot be lowered."""


def lowers(*classes: type[NnOp]) -> Callable[[Lowering], Lowering]:
    """A decorator: the function lowers ops of these classes."""

    def register(function: Lowering) -> Lowering:
        for cls in classes:
            of_its_own = cls.comprehend.__func__ is not NnOp.comprehend.__func__
            if not cls.has_own_lowering and (of_its_own or isinstance(cls.body, str)):
                raise DeclarationError(f"'{cls.name}' has a comprehension; say has_own_lowering")
            LOWERINGS[cls] = function
        return function

    return register

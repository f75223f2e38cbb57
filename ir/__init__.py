"""The SSA core: what every level of nnc is made of.

Importing this package loads neither NumPy nor Lark; both come in when first needed.
"""

from __future__ import annotations

from typing import Any

from . import services


def _print_op(op: Any) -> str:
    from .syntax.printer import print_op

    return print_op(op)


def _attribute_text(attribute: Any) -> str:
    from .syntax.attribute_printer import attribute_text

    return attribute_text(attribute)


def _verify(op: Any) -> None:
    from .verifier import verify

    verify(op)


def _compile_format(text: str, definition: Any) -> Any:
    from .syntax.format import compile_format

    return compile_format(text, definition)


def _type_to_numpy(type: Any) -> Any:
    from .numpy_types import type_to_numpy

    return type_to_numpy(type)


def _numpy_to_type(dtype: Any) -> Any:
    from .numpy_types import numpy_to_type

    return numpy_to_type(dtype)


services.print_op = _print_op
services.attribute_text = _attribute_text
services.verify = _verify
services.compile_format = _compile_format
services.type_to_numpy = _type_to_numpy
services.numpy_to_type = _numpy_to_type

"""Converters of operators that equal one op of `nn`, up to the names of their attributes.

rows.add(direct("Neg Abs LessOrEqual=LessEqual"))
rows.add({"LRN": as_it_is(nn.Lrn, bias="k")})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from ...dialects import nn
from ...ir.declare import BOOL
from ...ir.fields import Operand, OptionalOperand
from .rows import Convert


def named(text: str) -> dict[str, Any]:
    """A table from operator names to ops, from a text such as `Neg less_equal
    LessOrEqual=LessEqual`.

    Where no `=` follows, the op has the operator's name in camel case.
    """
    pairs = [word.partition("=") for word in text.split()]
    return {name: getattr(nn, op or _camel_case(name)) for name, _, op in pairs}


def _camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def direct(text: str, *inputs: str) -> dict[str, Convert]:
    """A converter for each operator in a text such as `named` reads; `inputs` as in `as_it_is`."""
    return {name: as_it_is(op, *inputs) for name, op in named(text).items()}


def as_it_is(op: Any, *inputs: str, **names: str) -> Convert:
    """The converter of an operator that equals an op, with the same operands in the same order.

    `inputs` and `names` are the format's names of operands and attributes, where they differ from
    the op's. An attribute that a node leaves out has the op's default.
    """
    attributes = op.definition.attributes

    def convert(n: Any, *operands: Any) -> Any:
        given = {key: n.value(names.get(key, key)) for key in attributes}
        given = {key: value for key, value in given.items() if value is not None}
        flags = {key: bool(given[key]) for key in given if attributes[key].kind is BOOL}
        return n(op(*operands, **given | flags))

    parameters = operands_of(op)
    pairs = zip(inputs or [p.name for p in parameters], parameters, strict=True)
    return with_signature(convert, [p.replace(name=name) for name, p in pairs])


def operands_of(op: Any) -> list[Parameter]:
    """A parameter for each operand of an op that takes a fixed number of them."""
    return [
        Parameter(
            one.name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=None if isinstance(one, OptionalOperand) else Parameter.empty,
        )
        for one in op.definition.operands
        if isinstance(one, Operand | OptionalOperand)
    ]


def with_signature(convert: Any, inputs: Sequence[Parameter]) -> Callable[..., Any]:
    """Give a converter a signature that lists these inputs; returns the converter.

    The importer checks the inputs of nodes against that signature.
    """
    layer = Parameter("n", Parameter.POSITIONAL_OR_KEYWORD)
    convert.__signature__ = Signature([layer, *inputs])
    return convert

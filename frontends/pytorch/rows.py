"""The table of ATen's operators: converters get their arguments by the schema's names."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable
from functools import cache
from inspect import Parameter, signature
from typing import Any, Literal

from ...ir.core import Value
from ..common.complexes import by_parts, has_pairs
from ..common.rows import Convert, Rows
from .arguments import BY_PARTS, BY_PARTS_OF_FIRST, with_refs
from .ignored import IGNORED, unread

Batched = Literal[
    "elements", "along", "named", "first", "all", "last", "joined", "gathered", "flattened",
    "permuted", "turned", "shape", "products", "index", "fresh",
]  # fmt: skip
"""How an operator's arguments change if the dimensions that `torch.vmap` hides are put in front.

elements     operands are aligned, as they broadcast
along        as elements, and arguments that are dimensions count from the first visible one
first, all   as along; without such an argument, the first visible dimension is meant, or all
named        as along; without such an argument, vmap is not supported
last         nothing changes: the operator works on the last dimensions of its first operand
joined       as first, and operands without a batch are repeated for it
gathered     as along, and operands without a batch are repeated for it

The other ways belong to one operator each.
"""


class AtenRows(Rows):
    """A row is a function of the layer and the schema's arguments:

        @ROWS("aten.relu.default")
        def relu(n: AtenLayer, self: Value) -> Value:
            return n(nn.Relu(self))

    A name without an overload covers all overloads without a row of their own, and those of the
    operator's copying form.
    """

    def __init__(self, package: str) -> None:
        super().__init__(package)
        self._batched: dict[str, Batched] = {}

    def __call__(self, *kinds: str, batched: Batched | None = None) -> Callable[[Convert], Convert]:
        """Register a function that imports these operators."""
        if batched is not None:
            self.take_batches(batched, kinds)
        return super().__call__(*kinds)

    def take_batches(self, how: Batched, kinds: Iterable[str]) -> None:
        """Set how operators work on whole batches."""
        self._batched |= dict.fromkeys(kinds, how)

    def batching(self, kind: str) -> Batched | None:
        """How an operator works on whole batches; None if unknown."""
        self._load()
        return self._batched.get(kind if kind in self._table else kind.rpartition(".")[0])

    def find(self, kind: str) -> Convert | None:
        """The converter of an operator, or None."""
        name = kind.rpartition(".")[0]
        found = super().find(kind) or super().find(name) or _own(kind)
        found = found or super().find(name.removesuffix("_copy"))
        if found is None and name.startswith("aten."):
            found = super().find(name.removesuffix("_copy").replace("aten.", COMPLEX))
        return None if found is None else _called_by_names(found)


def _own(kind: str) -> Convert | None:
    """The converter of an operator that the user declared."""
    from .own import find_own

    return find_own(kind)


@cache
def _called_by_names(function: Convert) -> Convert:
    parameters = list(signature(function).parameters.values())[1:]
    names = {p.name for p in parameters}
    needed = [p.name for p in parameters if p.default is Parameter.empty and p.kind is not _REST]
    open_ = any(p.kind is _REST for p in parameters)

    def convert(n: Any, *inputs: Any) -> Any:
        values = dict(zip(n.node.inputs, inputs, strict=True))
        given, left = {}, {}
        for name, value in n.attributes.items():
            name = name.replace(".", "_") + ("_" if name in _WORDS else "")
            taken = given if name in names or open_ else left
            taken[name] = with_refs(value, lambda ref: values[ref.name])
        for name, value in IGNORED.refused(n.kind, (left | unread(function, given)).items()):
            what = "a tensor" if isinstance(value, Value) else reprlib.repr(value)
            raise n.error(f"argument '{name}' is {what}, which is not supported")
        for name in needed:
            if name not in given:
                raise n.error(f"argument '{name}' is missing")
        try:
            if has_pairs(inputs) or _has_complex(given):
                return _of_pairs(n, function, given)(n, **given)
            return function(n, **given)
        except _MISFITS as error:
            raise n.error(f"an argument does not fit: {error}") from error

    return convert


def _has_complex(given: dict[str, Any]) -> bool:
    """Whether a complex number is combined with real tensors."""
    values = given.values()
    return any(isinstance(v, complex) for v in values) and any(isinstance(v, Value) for v in values)


def _of_pairs(n: Any, function: Convert, given: dict[str, Any]) -> Convert:
    """The converter for complex operands: a row of its own, or the same on both parts."""
    name = n.kind.split(".")[1].removesuffix("_copy")
    own = Rows.find(ROWS, COMPLEX + name)
    first, *others = given.values()
    by_first = name in BY_PARTS_OF_FIRST and not has_pairs(others) and has_pairs(first)
    if own is None and name not in BY_PARTS and not by_first:
        raise n.error("complex numbers are not supported here")
    return own or by_parts(function)


COMPLEX = "complex."
"""Stands for `aten.` in the names of rows for complex numbers."""

_MISFITS = (AttributeError, TypeError, ValueError, LookupError, ArithmeticError)
"""Python's errors that a converter may raise on arguments of the wrong kinds in a damaged program.
"""

_REST = Parameter.VAR_KEYWORD
_WORDS = ("from", "lambda", "n")

ROWS = AtenRows(__package__ or "")

Row = Callable[..., Any]


def table(make: Callable[[Any], Row], batched: Batched | None = None, **rows: Any) -> None:
    """Register the rows that one function makes, by operator: `table(unary, neg=nn.Neg)`."""
    kinds = {f"aten.{name}": make(given) for name, given in rows.items()}
    if batched is not None:
        ROWS.take_batches(batched, kinds)
    ROWS.add(kinds)

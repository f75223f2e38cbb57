"""What a converter sees of a layer of Keras: configuration, arguments of the call, weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dialects.nn.host_types import string
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, Type, bf16, f16, f32, f64, i1
from ..common.graph import Node
from ..common.importer import NodeLayer
from ..common.rows import Rows

ROWS = Rows(__package__ or "")
REQUIRED = object()
MISFITS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)

TYPES: Mapping[str, Type] = {
    "bool": i1, "string": string, "float16": f16, "bfloat16": bf16, "float32": f32, "float64": f64,
    **{f"int{w}": IntegerType(w) for w in (8, 16, 32, 64)},
    **{f"uint{w}": IntegerType(w, "u") for w in (8, 16, 32, 64)},
}  # fmt: skip


def element_type(name: Any) -> Type | None:
    """The element type of a name or a policy."""
    return TYPES.get(str(name or "float32").removeprefix("mixed_"))


@dataclass(frozen=True)
class Slot:
    """In the arguments of a call: an input of the node."""

    index: int


@dataclass(frozen=True)
class Call:
    """A call of a layer. Inputs of the node are first the tensors of the arguments, then masks
    and weights, which stand here as the slots of their inputs.
    """

    config: Mapping[str, Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    masks: Sequence[Slot | None] = ()
    """Of the tensors of the first argument."""
    weights: Sequence[Slot] = ()
    inner: Mapping[str, Call] = field(default_factory=dict)
    """The layers that a wrapper has."""


class KerasLayer(NodeLayer):
    """A layer whose converter reads `args`, `option(..)` and `weights`."""

    attributes: Call

    def __init__(self, importer: Any, node: Node) -> None:
        super().__init__(importer, node)
        self._inputs: Sequence[Any] = ()
        self.config = self.attributes.config

    def given(self, inputs: Sequence[Any]) -> KerasLayer:
        """This layer with the values of its inputs, floats as the type that weights have."""
        self._inputs = inputs
        if self.config.get("dtype") is not None and not self.kind.startswith(("ops.", "tf.")):
            self._inputs = [self._cast(x) for x in inputs]
        return self

    def _cast(self, x: Any) -> Any:
        is_float = isinstance(x, Value) and isinstance(x.type.element_type, FloatType)
        return self.cast(x, self.element) if is_float else x

    def option(self, name: str, default: Any = REQUIRED) -> Any:
        """A field of the configuration. Raises NncError where a needed one is missing."""
        if name in self.config:
            return self.config[name]
        if default is REQUIRED:
            raise self.error(f"the configuration has no '{name}'")
        return default

    def integer(self, name: str, default: Any = REQUIRED) -> int:
        """A field that is an integer."""
        found = self.option(name, default)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self.error(f"'{name}' is {found!r}, expected an integer")
        return found

    def number(self, name: str, default: Any = REQUIRED) -> float:
        """A field that is a number."""
        found = self.option(name, default)
        if not isinstance(found, int | float):
            raise self.error(f"'{name}' is {found!r}, expected a number")
        return float(found)

    def integers(self, name: str, count: int, default: Any = REQUIRED) -> tuple[int, ...]:
        """A field that is a list of so many integers, or one for all."""
        found = self.option(name, default)
        listed = [found] * count if isinstance(found, int) else found
        if not (
            isinstance(listed, list | tuple)
            and len(listed) == count
            and all(isinstance(i, int) for i in listed)
        ):
            raise self.error(f"'{name}' is {found!r}, expected {count} integers")
        return tuple(listed)

    def choice(self, name: str, *choices: str, default: Any = REQUIRED) -> str:
        """A field that is one of some texts."""
        found = self.option(name, default)
        if found not in choices:
            raise self.error(f"'{name}' is {found!r}, expected one of {', '.join(choices)}")
        return found

    @property
    def element(self) -> Type:
        """The element type of the weights, which the layer computes in here."""
        policy = self.config.get("dtype")
        if isinstance(policy, dict):
            policy = policy.get("config") or {}
            policy = policy.get("name") or policy.get("source_name")
        mixed = str(policy).startswith("mixed_")
        return f32 if mixed else element_type(policy) or f32

    @property
    def quantization(self) -> str | None:
        """What the weights are quantized as: int8, .."""
        policy = self.config.get("dtype")
        inner = policy.get("config") if isinstance(policy, dict) else None
        return inner.get("mode") if isinstance(inner, dict) else None

    def value(self, argument: Any) -> Any:
        """An argument with the values of its tensors."""
        match argument:
            case Slot():
                return self._inputs[argument.index]
            case list() | tuple():
                return [self.value(item) for item in argument]
            case dict():
                return {key: self.value(item) for key, item in argument.items()}
        return argument

    @property
    def args(self) -> list[Any]:
        """What the layer is called with."""
        return self.value(list(self.attributes.args))

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument of the call by position or name, else the field of the configuration."""
        if position < len(self.attributes.args):
            return self.value(self.attributes.args[position])
        if name in self.attributes.kwargs:
            return self.value(self.attributes.kwargs[name])
        return self.config.get(name, default)

    def keyword(self, name: str, default: Any = None) -> Any:
        """An argument of the call by name."""
        return self.value(self.attributes.kwargs.get(name, default))

    @property
    def masks(self) -> list[Value | None]:
        """The masks of the tensors of the first argument."""
        return [None if slot is None else self.value(slot) for slot in self.attributes.masks]

    @property
    def mask(self) -> Value | None:
        """The mask of the first tensor, or the one that the call is given."""
        given = self.keyword("mask")
        if isinstance(given, Value):
            return given
        return next(iter(self.masks), None)

    def weights(self, *counts: int) -> list[Value]:
        """The weights. Raises NncError where there are not as many as expected."""
        found = [self.value(slot) for slot in self.attributes.weights]
        if counts and len(found) not in counts:
            expected = " or ".join(map(str, counts))
            raise self.error(f"it has {len(found)} weights, expected {expected}")
        return found

    def tensor(self, position: int = 0) -> Value:
        """An argument that must be a tensor."""
        found = self.args[position] if position < len(self.attributes.args) else None
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if not isinstance(found, Value):
            raise self.error("it is not called with a tensor")
        return found

    def tensors(self) -> list[Value]:
        """The tensors that the layer is called with, a list or several arguments."""
        found: list[Value] = []
        for item in self.args:
            found += item if isinstance(item, list) else [item]
        if not found or not all(isinstance(item, Value) for item in found):
            raise self.error("it is not called with tensors")
        return found


Convert = Callable[[KerasLayer], Any]


def layer(*kinds: str) -> Callable[[Convert], Convert]:
    """Register the function that imports layers of these classes.

    Arguments, masks and weights come by the layer, as they do not go by position.
    """

    def register(function: Convert) -> Convert:
        ROWS.add({kind: called(function) for kind in kinds})
        return function

    return register


def called(function: Convert) -> Callable[..., Any]:
    """The converter as the importer calls it: with all inputs of the node.

    A configuration may have anything in any place: what does not fit is an error of the layer.
    """

    def convert(n: KerasLayer, *inputs: Any) -> Any:
        try:
            return function(n.given(inputs))
        except MISFITS as fault:
            text = f"{type(fault).__name__}: {fault}"
            raise n.error(f"the configuration or the call does not fit: {text}") from fault

    return convert

"""The text that represents values of a function, and operations by a language's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects import arith
from ...ir.attributes import DenseElements, DenseResource
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, Type, VectorType, lane_type
from .language import Language
from .memory import grouped


def lanes_of(type: Type) -> int:
    """How many elements a vector has; 1 for scalars, which vectors of one element are."""
    return type.num_elements if isinstance(type, VectorType) else 1


def is_half(type: Type) -> bool:
    """Whether the elements are 16-bit floats, which are computed in f32."""
    return isinstance(lane_type(type), FloatType) and lane_type(type).kind in ("f16", "bf16")


def elements_of(op: arith.Constant) -> list[Any]:
    """The elements of a vector constant."""
    value = op.properties["value"]
    if isinstance(value, DenseResource):
        value = DenseElements.from_numpy(value.to_numpy(), op.results[0].type)
    if not isinstance(value, DenseElements):
        raise NncError(f"{value} is not a vector constant")
    found = value.values()
    return list(found) * (lanes_of(op.results[0].type) if value.is_splat else 1)


class Printing:
    """The state of a function's printing that expressions need."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.values: dict[Value, Any] = {}
        """Each value as text, as a known index, or as a Buffer."""
        self.widths: dict[Value, int] = {}
        """The lane widths in bits of boolean vectors."""
        self.wild: set[Value] = set()
        """Indices that come from data, whose sums may wrap around."""

    # -- operands ----------------------------------------------------------------------------

    def text_of(self, value: Value) -> str:
        """A value's text as an operand."""
        if self.is_mask(value.type):
            return self.mask(value, self.widths.get(value, 32))
        return grouped(self.values[value])

    def mixed(self, entries: Sequence[Any]) -> list[Any]:
        """A mixed list of numbers and values as numbers and text."""
        return [v if isinstance(v, int) else self.values[v] for v in entries]

    def is_mask(self, type: Type) -> bool:
        """Whether a type is a vector of truth values, printed as integers: -1 for true."""
        return lanes_of(type) > 1 and lane_type(type) is IntegerType(1)

    def mask(self, value: Value, bits: int) -> str:
        """A mask with lanes of `bits` bits."""
        count = lanes_of(value.type)
        constant = value.defined_by(arith.Constant)
        wanted = self.language.vector(f"i{bits}", count)
        if constant is not None:
            lanes = ", ".join("-1" if n else "0" for n in elements_of(constant))
            return f"({self.language.templates['lanes'].format(lanes, T=wanted)})"
        text = grouped(self.values[value])
        if self.widths.get(value, 32) == bits:
            return text
        return self.language.templates["convert"].format(text, T=wanted)

    def call(self, helper: str, type: Type, *arguments: str, index: str = "") -> str:
        """The call of a function on vectors of a type."""
        name = self.language.helper(helper, self.short(type), lanes_of(type), index)
        texts = (a if "{" in a else stripped(a) for a in arguments)
        return f"{name}({', '.join(texts)})"

    def short(self, type: Type) -> str:
        """The short name of the element type; `u8` for truth values."""
        return self.language.stored(lane_type(type)).replace("i", "u")

    def lane_bits(self, type: Type) -> int:
        """The bits of an element in memory."""
        return int(self.short(type)[1:])

    def cast(self, text: str, kind: str) -> str:
        """An operand cast to a named type; a vector's bits are kept."""
        name = "cast" if kind in self.language.scalars.values() else "recast"
        return self.language.templates[name].format(text, T=kind)

    def lane(self, text: str, i: int | str) -> str:
        """An element of a vector, by its index or by text that computes that."""
        name = "lane" if isinstance(i, int) else "any_lane"
        return self.language.templates[name].format(text, i)

    def chosen(self, test: str, yes: str, no: str) -> str:
        """A selection between two operands."""
        return self.language.templates["choose"].format(test, yes, no)

    def lanes(self, type: Type, texts: Sequence[str]) -> str:
        """A vector of the given scalars; the scalar itself for a single one."""
        if len(texts) == 1:
            return texts[0]
        return self.language.templates["lanes"].format(", ".join(texts), T=self.vector_type(type))

    def vector_type(self, type: Type, letter: str = "") -> str:
        """A vector type's name; with `letter` `i` or `u`, that of integers of the same width."""
        short = self.short(type)
        return self.language.vector(letter + short[1:] if letter else short, lanes_of(type))

    # -- the table ---------------------------------------------------------------------------

    def from_table(self, op: Operation) -> str:
        """The text of an operation by the language's table. Raises NncError if that lacks it."""
        type, args = op.results[0].type, [self.text_of(v) for v in op._operands]
        source = op._operands[0].type if op._operands else type
        if self.is_mask(type) and not self.is_mask(source):
            self.widths[op.results[0]] = self.lane_bits(source)
        return self.computed(
            op.name, args, source, type, any(v in self.wild for v in op._operands), op
        )

    def computed(
        self,
        name: str,
        args: Sequence[str],
        source: Type,
        type: Type,
        wild: bool = False,
        op: Any = None,
    ) -> str:
        """The text of the operation `name` on operands of type `source`."""
        if is_half(type) and is_half(source):
            wide = [self.widened(a, source) for a in args]
            single = with_element(type, "f32")
            return self.narrowed(self.computed(name, wide, single, single), type)
        element, count = lane_type(source), lanes_of(source)
        kinds = [""]
        if element is IntegerType(1):
            kinds = [":v", ""] if count > 1 else [":b"]
            if count > 1 and op is not None:
                bits = self.logic_bits(op)
                args = [self.mask(v, bits) for v in op._operands]
                self.widths[op.results[0]] = bits
        elif count > 1:
            kinds = [":v", ""]
        elif isinstance(element, IndexType):
            kinds = [":wild", ":x", ""] if wild else [":x", ""]
            if wild and op is not None:
                self.wild.add(op.results[0])
        elif isinstance(element, IntegerType) and self.language.bits(element) < 32:
            kinds = [":small", ""]
        template = next((t for k in kinds if (t := self.language.templates.get(name + k))), None)
        if template is None:
            raise NncError(f"has no form in {self.language.name} on {source}")
        if template.startswith("@"):
            return self.call(template[1:].format(E=self.short(type)), source, *args)
        bits = self.language.bits(element)
        signed, unsigned = (
            self.vector_type(source, letter)
            if count > 1
            else self.language.scalars.get(f"{letter}{bits}", "")
            for letter in "iu"
        )
        return template.format(
            *args,
            T=self.language.type(type),
            S=self.language.type(source),
            I=signed,
            U=unsigned,
            K=self.vector_type(type, "i") if lanes_of(type) > 1 and not self.is_mask(type) else "",
            w=bits,
            W=self.language.bits(lane_type(type)),
            F=self.language.ending(bits),
        )

    def logic_bits(self, op: Operation) -> int:
        """The lane width in which masks are combined."""
        known = [self.widths[v] for v in op._operands if v in self.widths]
        return known[0] if known else 32

    # -- floats of 16 bits -------------------------------------------------------------------

    def widened(self, text: str, type: Type) -> str:
        """A 16-bit float converted to f32."""
        kind = lane_type(type).kind
        return self._half(f"f32_of_{kind}", text, type)

    def narrowed(self, text: str, type: Type) -> str:
        """An f32 rounded to a 16-bit float."""
        return self._half(f"{lane_type(type).kind}_of_f32", text, type)

    def _half(self, function: str, text: str, type: Type) -> str:
        if lanes_of(type) == 1:
            return f"{function}({stripped(text)})"
        self.vector_type(with_element(type, "f32"))
        return self.call(function, type, text)


def with_element(type: Type, kind: str) -> Type:
    """The type with float elements of a kind."""
    element = FloatType(kind)
    return VectorType(type.shape, element) if isinstance(type, VectorType) else element


def of_integers(type: Type, bits: int) -> VectorType:
    """The vector type with integer elements of `bits` bits."""
    return VectorType(type.shape, IntegerType(bits))  # type: ignore[attr-defined]


def stripped(text: str) -> str:
    """Text without parentheses around all of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]


OPERATIONS: dict[str, Callable[[Printing, Any], Any]] = {}


def prints(*names: str) -> Callable[[Any], Any]:
    """Register the function that gives an operation's expression, or a number for an index."""

    def register(function: Any) -> Any:
        for name in names:
            OPERATIONS[name] = function
        return function

    return register

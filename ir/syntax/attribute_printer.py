"""The text of attributes, types and locations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import attributes as a
from .. import location as l
from .. import types as t
from ..lazy import np
from ..parameters import ParametrizedAttr
from .number_text import float_text, number_text

HEX_THRESHOLD = 100
"""Dense attributes with more elements than this are written as hexadecimal strings."""

_BARE = re.compile(r"[A-Za-z_][\w$.]*\Z", re.ASCII)
_SYMBOL = _BARE
_PLAIN = re.compile(r"[ !#-\[\]-~]*\Z")


def quote(text: str) -> str:
    """A string literal; bytes that are not printable ASCII are written in hexadecimal."""
    if _PLAIN.match(text):
        return f'"{text}"'
    out = ['"']
    for byte in text.encode("utf-8", "surrogateescape"):
        if byte == 0x5C:
            out.append("\\\\")
        elif 0x20 <= byte < 0x7F and byte != 0x22:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:02X}")
    out.append('"')
    return "".join(out)


def key_text(name: str) -> str:
    """The name of an attribute in a dictionary."""
    return name if _BARE.match(name) else quote(name)


def symbol_text(name: str) -> str:
    """A reference to a symbol, quoted where it has to be."""
    return f"@{name}" if _SYMBOL.match(name) else f"@{quote(name)}"


class TypeTexts(dict):
    """Maps types to their texts; each text is made at the first look-up."""

    __slots__ = ("_printer",)

    def __init__(self, printer: AttributePrinter) -> None:
        self._printer = printer

    def __missing__(self, type: Any) -> str:
        printer = self._printer
        text = self[type] = printer.type_alias(type) or printer.spelled_type(type)
        return text


class AttributePrinter:
    """Writes attributes, types and locations, with the aliases given.

    `aliases` maps an attribute to the `#alias` that stands for it; `distinct` numbers the
    distinct attributes in the order in which they are written.
    """

    hex_threshold = HEX_THRESHOLD

    def __init__(
        self, aliases: dict[Any, str] | None = None, distinct: dict[Any, int] | None = None
    ) -> None:
        self.aliases = aliases if aliases is not None else {}
        self.distinct = distinct if distinct is not None else {}
        self.types = TypeTexts(self)
        self._functions: dict[tuple[Any, ...], str] = {}
        self._texts: dict[Any, str] = {}

    # -- attributes ------------------------------------------------------------------------

    def attribute(self, attribute: Any, implied: bool = False) -> str:
        """The text; `implied` leaves out the type of an i64 or f64, as in arrays."""
        if self.aliases and attribute.__class__ in ALIASED and attribute in self.aliases:
            return self.aliases[attribute]
        return self.spelled(attribute, implied)

    def spelled(self, attribute: Any, implied: bool = False) -> str:
        """The text without the attribute's own alias."""
        writer = _WRITERS.get(attribute.__class__)
        if writer is not None:
            return writer(self, attribute, implied)
        if isinstance(attribute, t.Type):
            return self.type(attribute)
        return f"#{attribute.name}{self.parameters(attribute)}"

    def parameters(self, attribute: Any) -> str:
        """The text after the name of a dialect's type or attribute: `<..>` or nothing."""
        if attribute.__class__ is ParametrizedAttr:
            return attribute.write_parameters(self)
        write = getattr(attribute, "parameters_text", None)
        return write() if write is not None else ""

    def bare_attribute(self, attribute: Any) -> str:
        """The text without the type: `5`, `1.0`, `[1, 2]`."""
        match attribute:
            case a.IntegerAttr() | a.FloatAttr():
                return number_text(attribute.value, attribute.type)
            case a.DenseArrayAttr():
                inner = attribute.element_type
                return "[" + ", ".join([number_text(v, inner) for v in attribute.values]) + "]"
        return self.attribute(attribute)

    def entries(self, entries: Iterable[tuple[str, Any]]) -> str:
        """`a = 1 : i32, unit_name`"""
        parts = []
        for name, value in entries:
            key = name if _BARE.match(name) else quote(name)
            if value.__class__ is a.UnitAttr:
                parts.append(key)
            else:
                parts.append(f"{key} = {self.attribute(value)}")
        return ", ".join(parts)

    def dictionary(self, entries: Mapping[str, Any]) -> str:
        """The entries, sorted; the texts of small dictionaries are cached."""
        key = tuple(entries.items())
        for _, value in key:
            if value.__class__ in _LARGE:
                return self.entries(sorted(key))
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = self.entries(sorted(key))
        return text

    def _integer(self, attribute: Any, implied: bool) -> str:
        type = attribute.type
        if type is t.i1:
            return "true" if attribute.value else "false"
        if implied and type is t.i64:
            return str(attribute.value)
        return f"{attribute.value} : {self.type(type)}"

    def _float(self, attribute: Any, implied: bool) -> str:
        text = float_text(attribute.value, attribute.type)
        # Hexadecimal without a type would read back as an integer.
        if implied and attribute.type is t.f64 and not text.startswith("0x"):
            return text
        return f"{text} : {attribute.type.kind}"

    def _string(self, attribute: Any, implied: bool) -> str:
        text = quote(attribute.value)
        return text if attribute.type is None else f"{text} : {self.type(attribute.type)}"

    def _array(self, attribute: Any, implied: bool) -> str:
        return "[" + ", ".join([self.attribute(e, True) for e in attribute.elements]) + "]"

    def _dict(self, attribute: Any, implied: bool) -> str:
        return "{" + self.entries(attribute.entries) + "}"

    def _symbol(self, attribute: Any, implied: bool) -> str:
        return "::".join([symbol_text(s) for s in (attribute.root, *attribute.nested)])

    def _dense_array(self, attribute: Any, implied: bool) -> str:
        inner = attribute.element_type
        if not attribute.values:
            return f"array<{inner}>"
        return f"array<{inner}: {', '.join([number_text(v, inner) for v in attribute.values])}>"

    def _strided(self, attribute: Any, implied: bool) -> str:
        strides = ", ".join(["?" if s is None else str(s) for s in attribute.strides])
        match attribute.offset:
            case 0:
                return f"strided<[{strides}]>"
            case None:
                return f"strided<[{strides}], offset: ?>"
        return f"strided<[{strides}], offset: {attribute.offset}>"

    def _opaque_text(self, attribute: Any) -> str:
        if not attribute.parts:
            return attribute.text
        first, *rest = attribute.text.split("\0")
        pieces = zip(map(self.attribute, attribute.parts), rest, strict=True)
        return first + "".join([part + text for part, text in pieces])

    def _opaque(self, attribute: Any, implied: bool) -> str:
        text = f"#{attribute.dialect}{self._opaque_text(attribute)}"
        if attribute.type is not None and attribute.type is not t.none:
            return f"{text} : {self.type(attribute.type)}"
        return text

    def _distinct(self, attribute: Any, implied: bool) -> str:
        inner = attribute.value
        number = self.distinct.setdefault(attribute, len(self.distinct))
        text = "" if isinstance(inner, a.UnitAttr) else self.attribute(inner)
        return f"distinct[{number}]<{text}>"

    def _location_attribute(self, attribute: Any, implied: bool) -> str:
        return self.location(attribute.location)

    # -- elements ----------------------------------------------------------------------------

    def _dense(self, attribute: Any, implied: bool) -> str:
        return f"dense<{self.elements(attribute)}> : {self.type(attribute.type)}"

    def _sparse(self, attribute: Any, implied: bool) -> str:
        parts = [self.elements(attribute.indices, False), self.elements(attribute.values)]
        inner = ", ".join(parts) if attribute.indices.type.num_elements else ""
        return f"sparse<{inner}> : {self.type(attribute.type)}"

    def elements(self, attribute: Any, allow_hex: bool = True) -> str:
        """The text between the angle brackets of `dense<..>`."""
        type = attribute.type
        inner = type.element_type
        if attribute.strings is not None:
            if len(attribute.strings) == 1:
                return quote(attribute.strings[0])
            if not attribute.strings:
                return ""
            return _nested([quote(s) for s in attribute.strings], type.shape)
        count = type.num_elements
        if allow_hex and not attribute.is_splat and count > self.hex_threshold and count:
            return f'"0x{self._hex(attribute)}"'
        if inner.__class__ is t.IntegerType and inner.width == 1:
            inner = t.i1  # si1 and ui1 too are written as true and false
        if attribute.is_splat or not count:  # as upstream, an empty attribute keeps its value
            width = inner.byte_width
            values = attribute.data[:width]
            return number_text(type.element_type.from_bytes(values), inner) if values else ""
        texts = [number_text(v, inner) for v in attribute.values()]
        return _nested(texts, type.shape)

    @staticmethod
    def _hex(attribute: Any) -> str:
        if attribute.type.element_type is t.i1:
            bits = np.frombuffer(attribute.data, np.uint8)
            return np.packbits(bits, bitorder="little").tobytes().hex().upper()
        return attribute.data.hex().upper()

    def note_resource(self, attribute: Any) -> None:
        """Called for every resource that is written; a subclass may collect them."""

    def _resource(self, attribute: Any, implied: bool) -> str:
        self.note_resource(attribute)
        return f"dense_resource<{key_text(attribute.key)}> : {self.type(attribute.type)}"

    # -- types ---------------------------------------------------------------------------------

    def type(self, type: Any) -> str:
        """The text of a type, which is cached."""
        return self.types[type]

    def type_alias(self, type: Any) -> str | None:
        """The `!alias` that stands for a type, if one does."""
        return self.aliases.get(type) if self.aliases else None

    def spelled_type(self, type: Any) -> str:
        """The text of a type written out, without its own alias."""
        writer = _WRITERS.get(type.__class__)
        if writer is not None:
            return writer(self, type, False)
        return f"!{type.name}{self.parameters(type)}"

    def function_type(self, inputs: Iterable[Any], results: Iterable[Any]) -> str:
        """`(a, b) -> c`, with parentheses around the results unless there is exactly one."""
        key = (*inputs, None, *results)
        text = self._functions.get(key)
        if text is None:
            text = self._functions[key] = self._spelled_function([*inputs], [*results])
        return text

    def _spelled_function(self, inputs: list[Any], results: list[Any]) -> str:
        types = self.types
        left = ", ".join([types[x] for x in inputs])
        if len(results) == 1 and results[0].__class__ is not t.FunctionType:
            return f"({left}) -> {types[results[0]]}"
        return f"({left}) -> ({', '.join([types[x] for x in results])})"

    def _function(self, type: Any, implied: bool) -> str:
        return self.function_type(type.inputs, type.results)

    def _tuple(self, type: Any, implied: bool) -> str:
        return "tuple<" + ", ".join([self.type(x) for x in type.types]) + ">"

    def _vector(self, type: Any, implied: bool) -> str:
        scalable = type.scalable or (False,) * len(type.shape)
        dims = "".join(
            [f"[{d}]x" if s else f"{d}x" for d, s in zip(type.shape, scalable, strict=True)]
        )
        return f"vector<{dims}{self.type(type.element_type)}>"

    def _tensor(self, type: Any, implied: bool) -> str:
        extra = "" if type.encoding is None else f", {self.attribute(type.encoding)}"
        return f"tensor<{_dims(type.shape)}{self.type(type.element_type)}{extra}>"

    def _memref(self, type: Any, implied: bool) -> str:
        extra = "" if type.layout is None else f", {self.attribute(type.layout)}"
        if type.memory_space is not None:
            extra += f", {self.attribute(type.memory_space, True)}"
        return f"memref<{_dims(type.shape)}{self.type(type.element_type)}{extra}>"

    def _unranked_memref(self, type: Any, implied: bool) -> str:
        extra = ""
        if type.memory_space is not None:
            extra = f", {self.attribute(type.memory_space, True)}"
        return f"memref<*x{self.type(type.element_type)}{extra}>"

    # -- locations -------------------------------------------------------------------------------

    def location(self, location: Any) -> str:
        """`loc(..)`, or the alias that stands for it."""
        if location in self.aliases:
            return self.aliases[location]
        return f"loc({self.inner_location(location)})"

    def inner_location(self, location: Any, spelled: bool = False) -> str:
        """A location within `loc(..)`: its alias, or written out if it has none or if `spelled`."""
        if location in self.aliases and not spelled:
            return self.aliases[location]
        match location:
            case l.FileLineColLoc(file, line, column):
                return f"{quote(file)}:{line}:{column}"
            case l.FileLineColRange(file, line, column, end_line, end_column):
                end = f"{end_line}:" if end_line != line else ":"
                return f"{quote(file)}:{line}:{column} to {end}{end_column}"
            case l.NameLoc(name, l.UnknownLoc()):
                return quote(name)
            case l.NameLoc(name, child):
                return f"{quote(name)}({self.inner_location(child)})"
            case l.CallSiteLoc(callee, caller):
                return f"callsite({self.inner_location(callee)} at {self.inner_location(caller)})"
            case l.FusedLoc(locations, metadata):
                meta = "" if metadata is None else f"<{self.attribute(metadata)}>"
                inner = ", ".join([self.inner_location(x) for x in locations])
                return f"fused{meta}[{inner}]"
        return "unknown"


def _dims(shape: tuple[int | None, ...]) -> str:
    return "".join(["?x" if d is None else f"{d}x" for d in shape])


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """The texts of a tensor's elements, in row-major order, as nested lists of its shape."""
    for extent in reversed(shape[1:]):
        texts = ["[" + ", ".join(texts[i : i + extent]) + "]" for i in range(0, len(texts), extent)]
    return "[" + ", ".join(texts) + "]" if shape else texts[0]


def _word(text: str) -> Callable[[Any, Any, bool], str]:
    return lambda printer, x, implied: text


_WRITERS: dict[type, Callable[[Any, Any, bool], str]] = {
    a.UnitAttr: _word("unit"),
    a.IntegerAttr: AttributePrinter._integer,
    a.FloatAttr: AttributePrinter._float,
    a.StringAttr: AttributePrinter._string,
    a.ArrayAttr: AttributePrinter._array,
    a.DictAttr: AttributePrinter._dict,
    a.SymbolRefAttr: AttributePrinter._symbol,
    a.AffineMapAttr: lambda printer, x, implied: f"affine_map<{x.map}>",
    a.IntegerSetAttr: lambda printer, x, implied: f"affine_set<{x.set}>",
    a.DenseArrayAttr: AttributePrinter._dense_array,
    a.StridedLayoutAttr: AttributePrinter._strided,
    a.OpaqueAttr: AttributePrinter._opaque,
    a.DistinctAttr: AttributePrinter._distinct,
    a.LocationAttr: AttributePrinter._location_attribute,
    a.DenseElements: AttributePrinter._dense,
    a.SparseElements: AttributePrinter._sparse,
    a.DenseResource: AttributePrinter._resource,
    t.NoneType: _word("none"),
    t.IndexType: _word("index"),
    t.IntegerType: lambda printer, x, implied: f"{x.signedness}i{x.width}",
    t.FloatType: lambda printer, x, implied: x.kind,
    t.ComplexType: lambda printer, x, implied: f"complex<{printer.type(x.element_type)}>",
    t.FunctionType: AttributePrinter._function,
    t.TupleType: AttributePrinter._tuple,
    t.OpaqueType: lambda printer, x, implied: f"!{x.dialect}{printer._opaque_text(x)}",
    t.VectorType: AttributePrinter._vector,
    t.TensorType: AttributePrinter._tensor,
    t.UnrankedTensorType: lambda printer, x, implied: f"tensor<*x{printer.type(x.element_type)}>",
    t.MemRefType: AttributePrinter._memref,
    t.UnrankedMemRefType: AttributePrinter._unranked_memref,
}

_LARGE = (a.DenseElements, a.DenseResource, a.DistinctAttr)
"""Attributes whose text is not cached: comparing them is slow, or writing numbers them."""

ALIASED = frozenset(
    (
        *(a.AffineMapAttr, a.IntegerSetAttr, a.DistinctAttr, a.LocationAttr),
        *(ParametrizedAttr, a.OpaqueAttr, t.TupleType),
    )
)
"""The classes of attributes and types that can have aliases."""


def attribute_text(attribute: Any) -> str:
    """The text of an attribute or type by itself, without aliases."""
    return AttributePrinter().attribute(attribute)

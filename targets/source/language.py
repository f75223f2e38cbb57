"""The properties of a language of structured text: types, operations, literals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, MemRefType, Type, VectorType, lane_type


@dataclass(frozen=True)
class Language:
    """A table of templates. In a template `{0}`, `{1}`, .. are the operands, `{T}` is the result's
    type, and `{S}` the operands' type; `{w}` is the bits of an element of `{S}`, `{I}` the type of
    signed integers of as many bits, `{F}` the suffix of functions on floats of as many bits.
    """

    name: str
    scalars: Mapping[str, str]
    """The spelling of types, by `f32`, `u8`, `i8`, `bool`, `index`."""
    templates: Mapping[str, str]
    """Templates by an operation's name, followed by `:v` for vectors, `:x` for indices, `:b` for
    booleans."""
    functions: Callable[[str, dict[str, Any]], str]
    """The text of a vector function, from its name and the spellings of a type."""
    constants: Mapping[str, str]
    """The spelling of infinities, NaN, bit patterns, wide integers and vector types."""
    reserved: frozenset[str]
    pointer_bits: int = 64
    needed: dict[str, str] = field(default_factory=dict)
    """The vector types and functions that a program uses: name -> definition."""

    spaces: Mapping[Any, str] = field(default_factory=dict)
    """The qualifier of pointers to each memory space."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The kernel parameter for each built-in id that a text uses, by name."""
    most_parameters: int = 0
    """The most buffers that a kernel may take; 0 for no limit."""
    ends_in_f: bool = True
    """Whether names of functions on f32 end in `f`."""

    # -- names -------------------------------------------------------------------------------

    def identifier(self, name: str) -> str:
        """Any text as a valid identifier of the language."""
        found = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
        if found in self.reserved or re.fullmatch(r"[fiu]\d+x\d+", found):
            return f"{found}_"
        return found if found[0].isalpha() else f"v{found}"

    # -- types -------------------------------------------------------------------------------

    def bits(self, type: Type) -> int:
        """The width of a scalar in registers: 8 to 64, 1 for truth values."""
        match type:
            case IndexType():
                return self.pointer_bits
            case IntegerType(1):
                return 1
            case IntegerType(width) if width <= 64:
                return max(8, 1 << (width - 1).bit_length())
            case FloatType() if type.byte_width < 8 or "f64" in self.scalars:
                return 8 * type.byte_width
        raise NncError(f"type {type} has no form in {self.name}")

    def ending(self, bits: int) -> str:
        """The suffix of functions on floats of so many bits."""
        return "f" if bits == 32 and self.ends_in_f else ""

    def space(self, type: MemRefType) -> str:
        """The address space that precedes the type of a buffer's elements."""
        return self.spaces.get(type.memory_space, "")

    def element(self, type: Type) -> str:
        """The short name of a scalar: `f32`, or `u8` etc. for integers and other floats' bits."""
        if isinstance(type, FloatType) and type.kind in ("f32", "f64"):
            return type.kind
        return f"u{self.bits(type)}"

    def type(self, type: Type, mask: int = 32) -> str:
        """The name of a scalar or vector type; masks have lanes of `mask` bits."""
        if isinstance(type, VectorType) and type.num_elements != 1:
            element = type.element_type
            short = f"i{mask}" if self.bits(element) == 1 else self.element(element)
            return self.vector(short, type.num_elements or 0)
        scalar = lane_type(type)
        if isinstance(scalar, IndexType):
            return self.scalars["index"]
        return self.scalars["bool" if self.bits(scalar) == 1 else self.element(scalar)]

    def stored(self, type: Type) -> str:
        """The short name of an element in memory: an index takes 8 bytes, a truth value one."""
        if isinstance(type, IndexType):
            return "u64"
        return "u8" if self.bits(type) == 1 else self.element(type)

    def vector(self, element: str, count: int) -> str:
        """The name of a vector type, which is declared on first use."""
        name = f"{element}x{count}"
        if name not in self.needed:
            width = int(element[1:]) // 8
            size = width << (count - 1).bit_length()
            self.needed[name] = self.constants["type"].format(
                T=name, E=self.scalars[element], bytes=size, n=size // width, count=count
            )
        return name

    def helper(self, name: str, element: str, count: int, index: str = "") -> str:
        """The name of a function on vectors, which is defined on first use."""
        T, bits = self.vector(element, count), int(element[1:])
        full = f"{name}_{T}{'_' if index else ''}{index}"
        if full not in self.needed:
            words = {
                "T": T,
                "E": self.scalars[element],
                "w": bits,
                "I": self.vector(f"i{bits}", count),
                "U": self.vector(f"u{bits}", count),
                "W": self.vector("f32", count),
                "R": self.vector(name.partition("_from")[0], count) if "_from" in name else "",
                "V": self.vector("u32", count),
                "F": self.ending(bits),
                "X": self.vector(index, count) if index else "",
                "n": count,
                "used": bits // 8 * count,
                "full": full,
            }
            text = self.functions(name, words)
            for other in re.findall(rf"\b(\w+)_{T}\(", text):
                if other != name:
                    self.helper(other, element, count)
            self.needed[full] = text
        return full

    # -- literals ----------------------------------------------------------------------------

    def literal(self, value: float | int, type: Type) -> str:
        """A scalar constant."""
        if isinstance(type, FloatType):
            return self._float(value, type)
        value = int(value)
        if isinstance(type, IndexType):
            least = -(1 << (self.pointer_bits - 1))
            return str(value) if value > least else f"({value + 1} - 1)"
        if self.bits(type) == 1:
            return str(value & 1)
        value &= (1 << type.width) - 1  # type: ignore[attr-defined]
        return f"{value}u" if value < 1 << 32 else self.constants["wide"].format(value)

    def _float(self, value: float, type: FloatType) -> str:
        bits = int.from_bytes(type.to_bytes(value), "little")
        if type.kind not in ("f32", "f64"):
            return f"0x{bits:04x}u"
        size = type.byte_width
        end, magnitude = ("f" if size == 4 else ""), bits & ~(1 << (8 * size - 1))
        sign = "-" if bits != magnitude else ""
        infinite = 0x7F800000 if size == 4 else 0x7FF << 52
        if magnitude < infinite:
            import numpy as np

            text = repr(float(value)) if size == 8 else str(np.float32(abs(value)))
            text = text.lstrip("-")
            return f"{sign}{text if '.' in text or 'e' in text else text + '.0'}{end}"
        if magnitude == infinite:
            return sign + self.constants["infinity"]
        if bits == infinite | infinite >> 1 & ~infinite | 1 << (22 if size == 4 else 51):
            return self.constants["nan"]
        return self.constants["bits"].format(f"0x{bits:x}{'u' if size == 4 else 'ull'}", w=8 * size)

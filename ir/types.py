"""Builtin types, immutable and interned, with upstream MLIR's names and text."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, ClassVar

from .affine import AffineMap, strided_form
from .attributes import AffineMapAttr, Attribute, IntegerAttr, StridedLayoutAttr, attribute_class
from .float_bits import PRECISION, FloatBits, decode_wide, encode_wide
from .small_floats import FLOAT_KINDS, decode, encode

DYNAMIC = None
"""The extent of a dimension known only at run time, `?` in text. It is None, so that arithmetic on
it fails loudly."""

Dim = int | None


class Type(Attribute):
    """Base of all types."""

    is_type: ClassVar[bool] = True


class ScalarType(Type):
    """A type of elements: it has a size in bytes and a byte form."""

    byte_width: ClassVar[int]

    def to_bytes(self, value: Any) -> bytes:
        raise NotImplementedError

    def from_bytes(self, data: bytes) -> Any:
        raise NotImplementedError


@attribute_class
class NoneType(Type):
    """`none`"""

    def __str__(self) -> str:
        return "none"


@attribute_class
class IndexType(ScalarType):
    """`index`: as wide as a pointer in code, 64 bits in memory and in constant folding."""

    def __str__(self) -> str:
        return "index"

    byte_width: ClassVar[int] = 8

    def to_bytes(self, value: int) -> bytes:
        return (value & (1 << 64) - 1).to_bytes(8, "little")

    def from_bytes(self, data: bytes) -> int:
        return int.from_bytes(data, "little", signed=True)


@attribute_class
class IntegerType(ScalarType):
    """`i32`, `si8`, `ui16`; signedness is "", "s" or "u"."""

    width: int
    signedness: str = ""

    def __str__(self) -> str:
        return f"{self.signedness}i{self.width}"

    @property
    def byte_width(self) -> int:
        return max(1, (self.width + 7) // 8)

    @property
    def is_signless(self) -> bool:
        return not self.signedness

    def wrap(self, value: int) -> int:
        """The value modulo 2**width, in the signed range unless unsigned; i1 is 0 or 1."""
        if not self.width:
            return 0
        value &= (1 << self.width) - 1
        if self.signedness == "u" or (self.width <= 1 and not self.signedness):
            return value
        return value - (1 << self.width) if value >> (self.width - 1) else value

    def to_bytes(self, value: int) -> bytes:
        return (
            (int(value) & ((1 << self.width) - 1)).to_bytes(self.byte_width, "little")
            if self.signedness == "u" or self.width == 1
            else self.wrap(int(value)).to_bytes(self.byte_width, "little", signed=True)
        )

    def from_bytes(self, data: bytes) -> int:
        return self.wrap(int.from_bytes(data, "little"))


@attribute_class
class FloatType(ScalarType):
    """`f32`, `bf16`, `f8E4M3FN`, ..; `kind` is the name in text."""

    kind: str

    def __str__(self) -> str:
        return self.kind

    @property
    def width(self) -> int:
        return FLOAT_KINDS[self.kind][0]

    @property
    def byte_width(self) -> int:
        return (self.width + 7) // 8

    def round(self, value: float) -> float:
        """The nearest value of this type (ties to even), as a Python float."""
        if value.__class__ is FloatBits:
            return value if value.kind == self.kind else self.round(float(value))  # type: ignore[attr-defined]
        if self.width >= 64:
            return value
        return self.from_bytes(self.to_bytes(value))

    def to_bytes(self, value: float) -> bytes:
        if value.__class__ is FloatBits and value.kind == self.kind:  # type: ignore[attr-defined]
            return value.bits.to_bytes(self.byte_width, "little")  # type: ignore[attr-defined]
        match self.kind:
            case "f32":
                try:
                    return struct.pack("<f", value)
                except OverflowError:
                    return struct.pack("<f", math.copysign(math.inf, value))
            case "f64":
                return struct.pack("<d", value)
            case "f80" | "f128":
                return encode_wide(value, self.kind).to_bytes(self.byte_width, "little")
            case "f16":
                try:
                    return struct.pack("<e", value)
                except OverflowError:
                    return struct.pack("<e", math.copysign(math.inf, value))
        return encode(value, self).to_bytes(self.byte_width, "little")

    def from_bytes(self, data: bytes) -> float:
        """The value of bytes: a FloatBits where it is a NaN with a payload."""
        if self.kind == "f64":
            return struct.unpack("<d", data)[0]
        if self.kind in PRECISION:
            return decode_wide(int.from_bytes(data, "little"), self.kind)
        if self.kind == "f32":
            value = struct.unpack("<f", data)[0]
        elif self.kind == "f16":
            value = struct.unpack("<e", data)[0]
        else:
            value = decode(int.from_bytes(data, "little"), self)
        if value != value and self.to_bytes(value) != data:
            return FloatBits(value, int.from_bytes(data, "little"), self.kind)
        return value


@attribute_class
class ComplexType(ScalarType):
    """`complex<f32>`"""

    element_type: ScalarType

    @property
    def byte_width(self) -> int:
        return 2 * self.element_type.byte_width

    def to_bytes(self, value: Any) -> bytes:
        real, imaginary = (value.real, value.imag) if isinstance(value, complex) else value
        return self.element_type.to_bytes(real) + self.element_type.to_bytes(imaginary)

    def from_bytes(self, data: bytes) -> tuple[Any, Any]:
        half = len(data) // 2
        return self.element_type.from_bytes(data[:half]), self.element_type.from_bytes(data[half:])


@attribute_class
class FunctionType(Type):
    """`(i32) -> (f32, f32)`"""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        object.__setattr__(self, "results", tuple(self.results))


@attribute_class
class TupleType(Type):
    """`tuple<i32, f32>`"""

    types: tuple[Type, ...]


@attribute_class
class OpaqueType(Type):
    """`!dialect<text>` or `!dialect.text` of a dialect that is not loaded; see `OpaqueAttr`."""

    dialect: str
    text: str
    parts: tuple[Attribute, ...] = ()


class ShapedType(Type):
    """Vectors, tensors and memrefs."""

    # What a checker cannot know, ops' constraints and their verifiers say: which kind of type
    # the elements have, and which dimensions (each a Dim) are static.
    element_type: Any
    shape: tuple[Any, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def has_static_shape(self) -> bool:
        return None not in self.shape

    @property
    def num_elements(self) -> int:
        """The number of elements. Raises TypeError if a dimension is dynamic."""
        return math.prod(self.shape)

    @property
    def num_bytes(self) -> int:
        return self.num_elements * self.element_type.byte_width


MOST_BYTES = 2**63 - 64
"""The most bytes of a tensor: sizes and offsets are signed 64-bit numbers, even when rounded up to
a cache line."""


MOST_DIMENSIONS = 64
"""The most dimensions of NumPy's arrays, which hold constants."""


def is_told_by_count(shape: Sequence[Dim]) -> bool:
    """Whether all extents follow from the number of elements: at most one is unknown, and then no
    other is 0.
    """
    return None not in shape or (shape.count(None) == 1 and 0 not in shape)


@cache
def size_fault(type: Any, most: int = MOST_BYTES) -> str | None:
    """The message that a type exceeds `most` bytes or NumPy's 64 dimensions, or None.

    A dimension of extent 0 or unknown extent counts as 1: strides multiply the others anyway.
    """
    if not isinstance(type, TensorType | MemRefType):
        return None
    if len(type.shape) > MOST_DIMENSIONS:
        return f"it has {len(type.shape)} dimensions, of which there may be {MOST_DIMENSIONS}"
    width = getattr(type.element_type, "byte_width", 1)
    if math.prod(d for d in type.shape if d) * width <= most:
        return None
    return f"'{type}' is too large: more than {most} bytes"


def _shape(shape: Iterable[Dim]) -> tuple[Dim, ...]:
    return tuple(None if d is None else int(d) for d in shape)


@attribute_class
class VectorType(ShapedType):
    """`vector<4x[8]xf32>`; `scalable` flags the dimensions in brackets."""

    shape: tuple[Any, ...]
    element_type: Any
    scalable: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _shape(self.shape))
        if not any(self.scalable):
            object.__setattr__(self, "scalable", ())


@attribute_class
class TensorType(ShapedType):
    """`tensor<1x?xf32, encoding>`"""

    shape: tuple[Any, ...]
    element_type: Any
    encoding: Attribute | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _shape(self.shape))


@attribute_class
class UnrankedTensorType(Type):
    """`tensor<*xf32>`"""

    element_type: Type


@attribute_class
class MemRefType(ShapedType):
    """`memref<4x?xf32, strided<[?, 1]>, 1>`: layout is None for row-major, contiguous.

    A layout with the strides of row-major order is kept, as upstream does: it is another type, but
    `is_row_major` holds for both.
    """

    shape: tuple[Any, ...]
    element_type: Any
    layout: Attribute | None = None
    memory_space: Attribute | None = None

    def __post_init__(self) -> None:

        object.__setattr__(self, "shape", _shape(self.shape))
        if isinstance(self.layout, AffineMapAttr) and self.layout.map.is_identity():
            object.__setattr__(self, "layout", None)
        if _is_default(self.memory_space):
            object.__setattr__(self, "memory_space", None)

    @property
    def is_row_major(self) -> bool:
        """Whether the type says that the elements are contiguous, the last dimension fastest."""
        if self.layout is None:
            return True
        # Unknown strides need not be the contiguous ones.
        known = self._contiguous()
        return None not in known[0] and self.strides_and_offset() == known

    def with_layout(self, layout: Attribute | None) -> MemRefType:
        """The type with another layout."""
        return MemRefType(self.shape, self.element_type, layout, self.memory_space)

    def _contiguous(self) -> tuple[tuple[Dim, ...], int]:
        known = row_major_strides(self.shape, lambda a, b: None if None in (a, b) else a * b)
        return tuple(known), 0

    def strides_and_offset(self) -> tuple[tuple[Dim, ...], Dim] | None:
        """The strides and the offset in elements; None for a layout that is not strided."""
        if self.layout is None:
            return self._contiguous()
        if isinstance(self.layout, StridedLayoutAttr):
            return self.layout.strides, self.layout.offset
        mapping: AffineMap = self.layout.map  # type: ignore[attr-defined]
        if len(mapping.results) != 1:
            return None
        found = strided_form(mapping.results[0], mapping.dim_count)
        return (tuple(found[0]), found[1]) if found else None

    @property
    def layout_symbol_count(self) -> int:
        """How many strides and offsets of the layout are known only at run time."""
        if isinstance(self.layout, StridedLayoutAttr):
            return [*self.layout.strides, self.layout.offset].count(None)
        return getattr(getattr(self.layout, "map", None), "symbol_count", 0)


@attribute_class
class UnrankedMemRefType(Type):
    """`memref<*xf32, 1>`"""

    element_type: Type
    memory_space: Attribute | None = None

    def __post_init__(self) -> None:
        if _is_default(self.memory_space):
            object.__setattr__(self, "memory_space", None)


def row_major_strides(
    extents: Sequence[Any], times: Callable[[Any, Any], Any] = operator.mul
) -> list[Any]:
    """The strides of contiguous elements of a shape, the last dimension fastest.

    `times` multiplies a stride by an extent; both may be numbers, or values of code that is being
    made. Units: elements.
    """
    strides: list[Any] = [1] * len(extents)
    for dim in reversed(range(len(extents) - 1)):
        strides[dim] = times(strides[dim + 1], extents[dim + 1])
    return strides


def _is_default(space: Attribute | None) -> bool:
    """Whether a memory space is the default, 0."""
    return isinstance(space, IntegerAttr) and not space.value


index = IndexType()
none = NoneType()
i1, i8, i16, i32, i64 = (IntegerType(w) for w in (1, 8, 16, 32, 64))
f16, bf16, f32, f64 = (FloatType(k) for k in ("f16", "bf16", "f32", "f64"))


def element_type(type: Type) -> Any:
    """The element type of a shaped type, or the scalar type itself."""
    return getattr(type, "element_type", type) if not isinstance(type, ComplexType) else type


def lane_type(type: Type) -> Any:
    """The element type of a vector; any other type itself."""
    return type.element_type if isinstance(type, VectorType) else type


def with_shape_of(shaped: Type, element: Type) -> Type:
    """The element type in the shape of another type: `(vector<4xf32>, i1) -> vector<4xi1>`."""
    match shaped:
        case VectorType(shape, _, scalable):
            return VectorType(shape, element, scalable)
        case TensorType(shape, _, encoding):
            return TensorType(shape, element, encoding)
        case UnrankedTensorType():
            return UnrankedTensorType(element)
        case MemRefType(shape, _, layout, space):
            return MemRefType(shape, element, layout, space)
    return element

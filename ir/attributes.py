"""Attributes: immutable compile-time values, and their upstream text.

Types are attributes too (`types.py`). Equal attributes are one object ("interned"), so
they compare by identity; the exceptions are the large ones, `DenseElements` and
`DenseResource`, which compare by content.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from . import services
from .affine import AffineMap, IntegerSet
from .diagnostics import NncError
from .dialect import registry
from .float_bits import FloatBits
from .lazy import np

if TYPE_CHECKING:
    from .types import ShapedType, Type

T = TypeVar("T")


class Interned(type):
    """Metaclass: calls with equal fields give the same object."""

    _pool: dict[Any, Any]
    _given: dict[Any, Any] | None
    interned: bool

    def __call__(cls, *args: Any, **kwargs: Any):
        known = None if kwargs else cls._given
        if known is not None:
            try:
                found = known.get(args)
            except TypeError:  # a list, say, which the class makes a tuple
                known = None
            else:
                if found is not None:
                    return found
        candidate = super().__call__(*args, **kwargs)
        if not cls.interned:
            return candidate
        made = cls._pool.setdefault(candidate._key(), candidate)
        if known is not None:
            known[args] = made
        return made

    def __init__(cls: Any, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._pool = {}
        # By the arguments as given, where equal arguments always make equal attributes.
        plain = cls.interned and cls._key.__qualname__ == "Attribute._key"
        cls._given = {} if plain else None
        if namespace.get("name"):
            registry.register_attribute(cls)


class Attribute(metaclass=Interned):
    """Base of all attributes. Subclasses are frozen dataclasses with `eq=False`.

    `str(attribute)` is its MLIR text. A dialect's own attribute or type sets `name`, for
    example `name = "linalg.iterator_type"`.
    """

    name: ClassVar[str] = ""
    interned: ClassVar[bool] = True
    is_type: ClassVar[bool] = False

    _names: ClassVar[tuple[str, ...]]
    """The names of the fields."""

    def __bool__(self) -> bool:
        """True: the attribute is there, be it an empty array. Ask for its value or its length."""
        return True

    def _key(self) -> Any:
        return tuple([getattr(self, name) for name in self._names])

    def __str__(self) -> str:
        return services.attribute_text(self)


@dataclass_transform(frozen_default=True, eq_default=False)
def attribute_class(cls: type[T]) -> type[T]:
    """Decorator of attribute classes: a frozen, slotted, identity-compared dataclass."""
    made = dataclass(frozen=True, eq=False)(cls)
    made._names = tuple(f.name for f in fields(made))  # type: ignore[attr-defined, arg-type]
    return made


@attribute_class
class UnitAttr(Attribute):
    """`unit`: present or not."""


@attribute_class
class IntegerAttr(Attribute):
    """`5 : i32`. The value of a signless type is kept in its signed range; i1 as 0 or 1."""

    value: int
    type: Type

    def __post_init__(self) -> None:
        wrap = getattr(self.type, "wrap", None)
        value = int(self.value)
        object.__setattr__(self, "value", value if wrap is None else wrap(value))

    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        return self.value


def BoolAttr(value: bool) -> IntegerAttr:  # noqa: N802 - reads as a class of attributes
    """`true` or `false`: an i1 integer, as upstream."""
    from .types import i1

    return IntegerAttr(int(value), i1)


def I64Attr(value: int) -> IntegerAttr:  # noqa: N802
    """`4 : i64`"""
    from .types import i64

    return IntegerAttr(value, i64)


def IndexAttr(value: int) -> IntegerAttr:  # noqa: N802
    """`4 : index`"""
    from .types import index

    return IntegerAttr(value, index)


@attribute_class
class FloatAttr(Attribute):
    """`1.0 : f32`. The value is rounded to the type; NaN payloads of wide types are kept."""

    value: float
    type: Any  # a FloatType

    def __post_init__(self) -> None:
        value = self.value
        exact = value if value.__class__ is FloatBits else float(value)
        object.__setattr__(self, "value", self.type.round(exact))

    def _key(self) -> Any:
        return struct.pack("<d", self.value), getattr(self.value, "bits", None), self.type

    def __float__(self) -> float:
        return self.value


@attribute_class
class StringAttr(Attribute):
    """`"text"`, with a type only in rare upstream uses (`"x" : !t`)."""

    value: str
    type: Type | None = None


@attribute_class
class ArrayAttr(Attribute):
    """`[1 : i32, "a"]`"""

    elements: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "elements", tuple(self.elements))

    def __iter__(self):
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __getitem__(self, i: int) -> Attribute:
        return self.elements[i]


@attribute_class
class DictAttr(Attribute):
    """`{a = 1 : i32}`, sorted by name."""

    entries: tuple[tuple[str, Attribute], ...]

    def __post_init__(self) -> None:
        entries = self.entries
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        object.__setattr__(self, "entries", tuple(sorted(pairs, key=lambda pair: pair[0])))

    def get(self, name: str) -> Attribute | None:
        return dict(self.entries).get(name)

    def items(self) -> tuple[tuple[str, Attribute], ...]:
        return self.entries


@attribute_class
class SymbolRefAttr(Attribute):
    """`@root::@nested`"""

    root: str
    nested: tuple[str, ...] = ()


@attribute_class
class AffineMapAttr(Attribute):
    """`affine_map<(d0) -> (d0)>`"""

    map: AffineMap


@attribute_class
class IntegerSetAttr(Attribute):
    """`affine_set<(d0) : (d0 >= 0)>`"""

    set: IntegerSet


@attribute_class
class DenseArrayAttr(Attribute):
    """`array<i64: 1, 2>`; i1 elements are kept as bools."""

    element_type: Type
    values: tuple[int | float | bool, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))

    def _key(self) -> Any:
        return self.element_type, tuple(map(repr, self.values))

    def __iter__(self):
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: int):
        return self.values[i]


def I64Array(values: Iterable[int]) -> DenseArrayAttr:  # noqa: N802
    """`array<i64: ..>`: what nn ops use for strides, axes, permutations."""
    from .types import i64

    return DenseArrayAttr(i64, tuple(int(v) for v in values))


@attribute_class
class StridedLayoutAttr(Attribute):
    """`strided<[4, 1], offset: ?>`; None is a dynamic stride or offset."""

    strides: tuple[int | None, ...]
    offset: int | None = 0


@attribute_class
class OpaqueAttr(Attribute):
    """`#dialect<text>` or `#dialect.text` of a dialect that is not loaded.

    In `text` a zero character stands for each alias; `parts` has what the aliases mean, in order.
    """

    dialect: str
    text: str
    type: Type | None = None
    parts: tuple[Attribute, ...] = ()


@attribute_class
class DistinctAttr(Attribute):
    """`distinct[0]<attribute>`: equal only to uses of the same number in the same text."""

    id: int
    value: Attribute


@attribute_class
class LocationAttr(Attribute):
    """A location as an attribute value, `loc("a":1:2)`."""

    location: Any


@attribute_class
class EnumAttr(Attribute):
    """Base of a dialect's enumerations: `#linalg.iterator_type<parallel>`.

    A subclass sets `name` and `cases`; `value` is one of the cases. With `flags`, it is any
    set of them, joined by commas in the order of `cases`.
    """

    value: str
    cases: ClassVar[tuple[str, ...]] = ()
    flags: ClassVar[bool] = False

    def __post_init__(self) -> None:

        wanted = [v.strip() for v in self.value.split(",")] if self.flags else [self.value]
        for value in wanted:
            if value not in self.cases:
                expected = ", ".join(self.cases)
                raise NncError(f"'{value}' is not a {self.name}; expected one of: {expected}")
        if self.flags:
            ordered = ",".join(case for case in self.cases if case in wanted)
            object.__setattr__(self, "value", ordered)

    def parameters_text(self) -> str:
        return f"<{self.value}>"


class ByContent(Attribute):
    """An attribute too large to keep for ever: not interned, compared by content."""

    interned: ClassVar[bool] = False

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._key())


@attribute_class
class DenseElements(ByContent):
    """`dense<[1.0, 2.0]> : tensor<2xf32>`, kept as little-endian bytes in row-major order.

    A splat holds one element. i1 takes a byte an element, other widths are rounded up to
    whole bytes; complex numbers are two elements. `strings` holds the elements of a string
    tensor instead.
    """

    type: ShapedType
    data: bytes
    strings: tuple[str, ...] | None = None

    def _key(self) -> Any:
        return self.type, self.data, self.strings

    @staticmethod
    def splat(value: Any, type: ShapedType) -> DenseElements:
        return DenseElements(type, type.element_type.to_bytes(value))

    @staticmethod
    def from_list(values: Sequence[Any], type: ShapedType) -> DenseElements:
        """From a flat row-major list; equal elements become a splat."""
        parts = [type.element_type.to_bytes(v) for v in values]
        if parts and parts.count(parts[0]) == len(parts):
            return DenseElements(type, parts[0])
        return DenseElements(type, b"".join(parts))

    @staticmethod
    def from_numpy(array: np.ndarray, type: ShapedType | None = None) -> DenseElements:
        from .types import TensorType

        type = type or TensorType(array.shape, services.numpy_to_type(array.dtype))
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.dtype == object:
            return DenseElements(type, b"", tuple(flat))
        if flat.size > 1:
            raw = flat.view(np.uint8).reshape(flat.size, -1)
            if (raw == raw[0]).all():
                return DenseElements(type, raw[0].tobytes())
        return DenseElements(type, flat.tobytes())

    @property
    def is_splat(self) -> bool:
        if self.strings is not None:
            return len(self.strings) == 1
        return len(self.data) == self.type.element_type.byte_width and self.type.num_elements != 0

    def to_numpy(self) -> np.ndarray:
        """A read-only array of the type's shape (a splat is broadcast, without a copy)."""
        dtype = services.type_to_numpy(self.type.element_type)
        if self.strings is not None:
            flat = np.array(self.strings, object)
            flat.flags.writeable = False
        elif dtype.itemsize == self.type.element_type.byte_width:
            flat = np.frombuffer(self.data, dtype)
        else:
            flat = np.array(self.values(), dtype)
            flat.flags.writeable = False
        if self.is_splat:
            return np.broadcast_to(flat[:1].reshape(()), self.type.shape)
        if self.type.num_elements == 0:  # JAX writes a splat of none with its element
            flat = flat[:0]
        return flat.reshape(self.type.shape)

    def values(self) -> list[Any]:
        """The elements in row-major order as Python numbers; one element for a splat."""
        width = self.type.element_type.byte_width
        decode = self.type.element_type.from_bytes
        return [decode(self.data[i : i + width]) for i in range(0, len(self.data), width)]


@attribute_class
class SparseElements(ByContent):
    """`sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>`: elements that are not zero.

    `indices` has a row of i64 for each of the `values`.
    """

    type: ShapedType
    indices: DenseElements
    values: DenseElements

    def _key(self) -> Any:
        return self.type, self.indices, self.values

    def to_numpy(self) -> np.ndarray:
        """An array of the type's shape, zero but for the values."""
        values = self.values.to_numpy()
        array = np.zeros(self.type.shape, values.dtype)
        for index, value in zip(self.indices.to_numpy(), values, strict=True):
            array[tuple(np.atleast_1d(index))] = value
        return array


@attribute_class
class DenseResource(ByContent):
    """`dense_resource<key> : tensor<..>`: elements that live outside the text.

    The blob is looked up when it is first needed, so that a file whose weights are not at
    hand can still be read, rewritten and printed.
    """

    key: str
    type: ShapedType
    blob: Any  # a Blob of `resources`

    def _key(self) -> Any:
        return self.key, self.type, id(self.blob)

    def to_numpy(self) -> np.ndarray:
        """The elements, read-only. Raises NncError where the blob is missing or too short."""
        return self.blob.array(self.type)

"""Types of values that only a host handles: strings, sequences, optionals and maps.

In Python, a tensor of strings (`tensor<3x!nn.string>`) is a NumPy array of objects, a sequence is a
list, an optional is None or the value, and a map is a dictionary.
"""

from __future__ import annotations

from typing import ClassVar

from ...ir.numpy_types import hold_as_objects
from ...ir.types import none
from ..vocabulary import *


class HostType(Type):
    """Base of the types whose values kernels cannot hold in memory."""


@attribute_class
class StringType(HostType):
    """`!nn.string`, an element type of tensors: text of any length."""

    name: ClassVar[str] = "nn.string"

    def parameters_text(self) -> str:
        """Nothing follows the type's name."""
        return ""


@attribute_class
class SequenceType(HostType):
    """`!nn.sequence<tensor<?x3xf32>>`: a list of values of one type.

    `!nn.sequence<none>` is the type of a list that is known to be empty.
    """

    element: Type
    name: ClassVar[str] = "nn.sequence"
    grammar: ClassVar[str] = '"<" TYPE ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> SequenceType:
        """The instance for the parse tree of `<tensor<?x3xf32>>`."""
        return cls(child[0])

    def parameters_text(self) -> str:
        """The text after the type's name."""
        return f"<{self.element}>"


@attribute_class
class OptionalType(HostType):
    """`!nn.optional<tensor<4xf32>>`: a value of the type, or nothing.

    `!nn.optional<none>` is the type of an optional that is known to be empty.
    """

    element: Type
    name: ClassVar[str] = "nn.optional"
    grammar: ClassVar[str] = '"<" TYPE ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> OptionalType:
        """The instance for the parse tree of `<tensor<4xf32>>`."""
        return cls(child[0])

    def parameters_text(self) -> str:
        """The text after the type's name."""
        return f"<{self.element}>"


@attribute_class
class MapType(HostType):
    """`!nn.map<i64, f32>`: a dictionary with keys of the first type (i64 or string)."""

    key: Type
    value: Type
    name: ClassVar[str] = "nn.map"
    grammar: ClassVar[str] = '"<" TYPE "," TYPE ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> MapType:
        """The instance for the parse tree of `<i64, f32>`."""
        return cls(child[0], child[1])

    def parameters_text(self) -> str:
        """The text after the type's name."""
        return f"<{self.key}, {self.value}>"


string = StringType()
hold_as_objects(string)


def is_strings(type: Type) -> bool:
    """Whether a type is a tensor of strings."""
    return isinstance(type, TensorType) and type.element_type is string


def is_host_type(type: Type) -> bool:
    """Whether only a host handles values of the type, to which tensors of unknown rank belong."""
    return isinstance(type, HostType | UnrankedTensorType) or is_strings(type)


AnyValue = AnyRankedTensor | Constraint("value of a host", is_host_type)
AnySequence = Constraint("sequence", lambda t: isinstance(t, SequenceType))
AnyMap = Constraint("map", lambda t: isinstance(t, MapType))
Strings = Constraint("tensor of strings", is_strings)


def join(a: Type, b: Type) -> Type:
    """The most precise type to which values of both types belong; extents that differ become `?`.

    Raises NncError where there is none.
    """
    if a is b or b is none:
        return a
    if a is none:
        return b
    match a, b:
        case (SequenceType(), SequenceType()) | (OptionalType(), OptionalType()):
            return type(a)(join(a.element, b.element))
        case OptionalType(), _:
            return OptionalType(join(a.element, b))
        case _, OptionalType():
            return OptionalType(join(a, b.element))
        case MapType(key, value), MapType(key2, value2) if key is key2:
            return MapType(key, join(value, value2))
    both = (TensorType, UnrankedTensorType)
    if not isinstance(a, both) or not isinstance(b, both) or a.element_type is not b.element_type:
        raise NncError(f"is '{a}' or '{b}' by what is known at run time only")
    if isinstance(a, TensorType) and isinstance(b, TensorType) and a.rank == b.rank:
        shape = (x if x == y else None for x, y in zip(a.shape, b.shape, strict=True))
        return TensorType(tuple(shape), a.element_type)
    return UnrankedTensorType(a.element_type)


def fits(found: Type, wanted: Type) -> bool:
    """Whether a value of type `found` can be used where `wanted` is expected; `?` is any extent."""
    if found is wanted or found is none:
        return True
    match found, wanted:
        case (SequenceType(), SequenceType()) | (OptionalType(), OptionalType()):
            return fits(found.element, wanted.element)
        case _, OptionalType():
            return fits(found, wanted.element)
        case MapType(key, value), MapType(key2, value2):
            return key is key2 and fits(value, value2)
        case TensorType() | UnrankedTensorType(), UnrankedTensorType():
            return found.element_type is wanted.element_type
        case TensorType(), TensorType():
            return (
                found.element_type is wanted.element_type
                and found.rank == wanted.rank
                and all(
                    x is None or y is None or x == y
                    for x, y in zip(found.shape, wanted.shape, strict=True)
                )
            )
    return False


def held(value: Any, type: Type) -> Any:
    """Convert a caller's value to the form in which a host holds values of the type.

    That is a list, None, a dictionary, or an array of the type's element type. Raises NncError
    where the value is not of the type, with the text that belongs after "expected X, got ".
    """
    from ...ir.numpy_types import type_to_numpy

    match type:
        case OptionalType():
            return None if value is None else held(value, type.element)
        case SequenceType():
            if not isinstance(value, list | tuple):
                raise NncError(_found(value))
            return [held(one, type.element) for one in value]
        case MapType():
            if not isinstance(value, dict):
                raise NncError(_found(value))
            return value
        case TensorType() | UnrankedTensorType():
            dtype = type_to_numpy(type.element_type)
            array = _strings(value) if type.element_type is string else np.asarray(value)
            shape = getattr(type, "shape", array.shape)
            same = array.ndim == len(shape) and all(
                want is None or want == have for want, have in zip(shape, array.shape, strict=True)
            )
            if value is None or array.dtype.newbyteorder("=") != dtype or not same:
                raise NncError(_found(value if value is None else array))
            return np.ascontiguousarray(array, dtype) if array.ndim else array.astype(dtype)
    return value


def _strings(value: Any) -> Any:
    """Convert an array of text or bytes to one of str objects; other arrays stay as they are."""
    array = np.asarray(value)
    if array.dtype.kind not in "USO" and array.size:
        return array
    texts = np.empty(array.shape, object)
    for i, one in enumerate(array.reshape(-1)):
        text = one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one
        if not isinstance(text, str):
            raise NncError(f"a {type(text).__name__} among strings")
        texts.reshape(-1)[i] = str(text)
    return texts


def _found(value: Any) -> str:
    if isinstance(value, np.ndarray):
        kind = "strings" if value.dtype == object else value.dtype
        return f"{kind} {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"

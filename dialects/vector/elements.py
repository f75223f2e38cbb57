"""Single elements and rows of vectors: putting them in and taking them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attributes import Attribute, DenseElements, FloatAttr, IntegerAttr
from ...ir.constraints import AnyType, AnyVector, Index, Same
from ...ir.core import Operation, Value
from ...ir.declare import (
    INT_ARRAY,
    Op,
    Operand,
    Operands,
    Result,
    Results,
    attribute,
    operand,
    operands,
    result,
    results,
)
from ...ir.diagnostics import NncError
from ...ir.lazy import np
from ...ir.numpy_types import type_to_numpy
from ...ir.rewriting import constant_value
from ...ir.traits import Pure
from ...ir.types import FloatType, Type, VectorType, element_type
from ..index_lists import Mixed, check_list, mix, split
from .dimensions import dimensions, vector_or_element


def splat_constant(value: Value) -> Any:
    """The splat constant that a value is, or None."""
    constant = constant_value(value)
    return constant if isinstance(constant, DenseElements) and constant.is_splat else None


class Broadcast(Op, name="vector.broadcast", traits=(Pure,)):
    """A scalar or vector repeated along leading dimensions and those of size 1."""

    source: Operand = operand(AnyType)
    vector: Result = result(AnyVector)

    format = "$source attr-dict `:` type($source) `to` type($vector)"
    example = "%v = vector.broadcast %x : f32 to vector<16xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.vector.type
        if element_type(source) is not target.element_type:
            raise self.error(
                "failed to verify that source operand and result have same element type"
            )
        if not isinstance(source, VectorType):
            return
        if source.rank > target.rank:
            raise self.error("source rank higher than destination rank")
        for a, b in zip(reversed(source.shape), reversed(target.shape), strict=False):
            if a not in (1, b):
                raise self.error(f"dimension mismatch ({a} vs. {b})")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """To the own type -> the source; a constant -> a splat."""
        if self.source.type is self.vector.type:
            return [self.source]
        constant = constant_value(self.source)
        if isinstance(constant, FloatAttr | IntegerAttr):
            return [DenseElements.splat(constant.value, self.vector.type)]
        if isinstance(constant, DenseElements) and constant.is_splat:
            return [DenseElements(self.vector.type, constant.data)]
        return None

    def evaluate(self, source: Any) -> Any:
        type = self.vector.type
        return np.broadcast_to(
            np.asarray(source, type_to_numpy(type.element_type)), type.shape
        ).copy()


class Extract(Op, name="vector.extract", traits=(Pure,)):
    """The scalar or subvector at a position of the leading dimensions."""

    source: Operand = operand(AnyVector)
    dynamic_position: Operands = operands(Index)
    static_position = attribute(INT_ARRAY)
    result: Result = result(AnyType)

    format = (
        "$source `` custom<DynamicIndexList>($dynamic_position, $static_position) "
        "attr-dict `:` type($result) `from` type($source)"
    )
    example = "%x = vector.extract %v[1, %i] : f32 from vector<4x8xf32>"

    @staticmethod
    def of(source: Value, position: Sequence[Mixed]) -> Extract:
        values, static = split(position)
        return Extract(source, values, static, result=_sub_type(source.type, len(static)))

    @property
    def position(self) -> list[Mixed]:
        return mix(self.static_position, self.dynamic_position)

    def verify_op(self) -> None:
        _check_position(self, self.source.type, self.static_position, self.dynamic_position)
        expected = _sub_type(self.source.type, len(self.static_position))
        if self.result.type is not expected and self.result.type is not _one(expected):
            raise self.error(
                f"inferred type(s) '{expected}' are incompatible with return type(s) of "
                f"operation '{self.result.type}'"
            )

    def fold(self) -> Sequence[Value | Attribute] | None:
        """From a broadcast scalar, from_elements or a splat: the element itself."""
        if not self.static_position:
            return [self.source] if self.result.type is self.source.type else None
        if isinstance(self.result.type, VectorType):
            return None
        match self.source.defining_op:
            case Broadcast(source=inner) if inner.type is self.result.type:
                return [inner]
            case FromElements(elements=parts) if not self.dynamic_position:
                at = 0
                for extent, i in zip(self.source.type.shape, self.static_position, strict=True):
                    at = at * extent + i
                return [parts[at]]
        constant = splat_constant(self.source)
        return [_scalar(constant)] if constant is not None else None

    def evaluate(self, source: Any, *position: Any) -> Any:
        at = tuple(int(i) for i in mix(self.static_position, position))
        _check_at(self, source, at)
        found = source[at]
        return found.copy() if getattr(found, "ndim", 0) else found


def _scalar(constant: DenseElements) -> Attribute:

    element = constant.type.element_type
    kind = FloatAttr if isinstance(element, FloatType) else IntegerAttr
    return kind(constant.values()[0], element)


def _sub_type(vector: Type, depth: int) -> Type:
    return vector_or_element(dimensions(vector)[depth:], vector.element_type)  # type: ignore[attr-defined]


def _one(type: Type) -> Type | None:
    return VectorType((1,), type) if not isinstance(type, VectorType) else None


def _check_position(op: Operation, vector: Any, static: Sequence[int], dynamic: Any) -> None:
    check_list(op, static, dynamic, "position")
    if len(static) > vector.rank:
        raise op.error("expected position attribute of rank no greater than vector rank")
    words = "dest vector dimension" if isinstance(op, Insert) else "vector dimension or poison (-1)"
    for d, (i, extent) in enumerate(zip(static, vector.shape, strict=False)):
        # -1 stands for a position that gives poison.
        if i >= extent or (i < -1 and i != -(2**63)):
            raise op.error(
                f"expected position attribute #{d + 1} to be a non-negative integer smaller than "
                f"the corresponding {words}"
            )


def _check_at(op: Operation, array: Any, at: tuple[int, ...]) -> None:
    for i, extent in zip(at, array.shape, strict=False):
        if not 0 <= i < extent:
            raise NncError(f"'{op.name}': position {i} is out of bounds for {extent}", op.loc)


class Insert(Op, name="vector.insert", traits=(Pure,)):
    """A vector with the scalar or subvector at a position replaced."""

    valueToStore: Operand = operand(AnyType)  # noqa: N815
    dest: Operand = operand(AnyVector)
    dynamic_position: Operands = operands(Index)
    static_position = attribute(INT_ARRAY)
    result: Result = result(Same("dest"))

    format = (
        "$valueToStore `,` $dest custom<DynamicIndexList>($dynamic_position, $static_position) "
        "attr-dict `:` type($valueToStore) `into` type($dest)"
    )
    example = "%w = vector.insert %x, %v [1, %i] : f32 into vector<4x8xf32>"

    @staticmethod
    def of(value: Value, dest: Value, position: Sequence[Mixed]) -> Insert:
        values, static = split(position)
        return Insert(value, dest, values, static)

    def verify_op(self) -> None:
        _check_position(self, self.dest.type, self.static_position, self.dynamic_position)
        stored, depth = self.valueToStore.type, len(self.static_position)
        rank = stored.rank if isinstance(stored, VectorType) else 0
        if rank + depth != self.dest.type.rank and stored is not _one(self.dest.type.element_type):
            raise self.error(
                "expected position attribute rank + source rank to match dest vector rank"
                if isinstance(stored, VectorType)
                else "expected position attribute rank to match the dest vector rank"
            )
        expected = _sub_type(self.dest.type, depth)
        if stored is not expected and stored is not _one(expected):
            raise self.error(f"expected a value of type '{expected}', found '{stored}'")

    def evaluate(self, value: Any, dest: Any, *position: Any) -> Any:
        at = tuple(int(i) for i in mix(self.static_position, position))
        _check_at(self, dest, at)
        result = dest.copy()
        result[at] = value
        return result


class FromElements(Op, name="vector.from_elements", traits=(Pure,)):
    """A vector of scalars in row-major order."""

    elements: Operands = operands(AnyType)
    dest: Result = result(AnyVector)

    format = "$elements attr-dict `:` custom<ElementsType>(type($elements), type($dest))"
    example = "%v = vector.from_elements %a, %b, %c, %d : vector<2x2xf32>"

    def verify_op(self) -> None:
        if len(self.elements) != self.dest.type.num_elements:
            raise self.error(
                f"number of operands ({len(self.elements)}) and number of elements in "
                f"'{self.dest.type}' do not match"
            )
        if any(value.type is not self.dest.type.element_type for value in self.elements):
            raise self.error(
                "failed to verify that shaped type 'dest' matches 'elements' element count and "
                "types"
            )

    def evaluate(self, *elements: Any) -> Any:
        type = self.dest.type
        return np.array(elements, type_to_numpy(type.element_type)).reshape(type.shape)


class ToElements(Op, name="vector.to_elements", traits=(Pure,)):
    """The scalars of a vector in row-major order."""

    source: Operand = operand(AnyVector)
    elements: Results = results(AnyType)

    format = "$source attr-dict `:` type($source)"
    example = "%a, %b = vector.to_elements %v : vector<2xf32>"

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The element type, once per element."""
        (source,) = operand_types
        return [source.element_type] * source.num_elements

    def verify_op(self) -> None:
        type = self.source.type
        if self.result_types != [type.element_type] * type.num_elements:
            raise self.error(
                "failed to verify that shaped type 'source' matches 'elements' element count and "
                "types"
            )

    def evaluate(self, source: Any) -> Any:
        return tuple(source.reshape(-1))

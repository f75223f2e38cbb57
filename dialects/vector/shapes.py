"""Vectors rearranged into vectors of another shape, order or element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attribute_kinds import AttrKind
from ...ir.attributes import ArrayAttr, Attribute, DenseElements, I64Attr, IntegerAttr
from ...ir.constraints import AnyVector, AnyVectorOfNonZeroRank, Derived, Same
from ...ir.core import Value
from ...ir.declare import (
    INT_ARRAY,
    Op,
    Operand,
    Result,
    attribute,
    operand,
    result,
)
from ...ir.lazy import np
from ...ir.numpy_types import type_to_numpy
from ...ir.traits import MovesElements, Pure
from ...ir.types import Type, VectorType, i64
from .dimensions import dimensions, vector_of, with_last
from .elements import splat_constant

INTEGERS = AttrKind[tuple](
    "64-bit integer array attribute",
    lambda a: (
        isinstance(a, ArrayAttr)
        and all(isinstance(e, IntegerAttr) and e.type is i64 for e in a.elements)
    ),
    lambda a: a.elements,
    lambda elements: ArrayAttr(tuple(elements)),
)


def _slice_type(source: Any, sizes: Sequence[int]) -> VectorType:
    dims = dimensions(source)
    first = [(size, scalable) for size, (_, scalable) in zip(sizes, dims, strict=False)]
    return vector_of([*first, *dims[len(sizes) :]], source.element_type)


def _integers(attribute_: Any) -> list[int]:
    return [int(a) for a in attribute_]


class ExtractStridedSlice(Op, name="vector.extract_strided_slice", traits=(Pure,)):
    """A part of a vector: `sizes` elements from `offsets` on, along the leading dimensions.

    Dimensions for which no offset is given are taken whole.
    """

    source: Operand = operand(AnyVectorOfNonZeroRank)
    offsets = attribute(INTEGERS)
    sizes = attribute(INTEGERS)
    strides = attribute(INTEGERS)
    result: Result = result(AnyVector)

    format = "$source attr-dict `:` type($source) `to` type($result)"
    example = (
        "%s = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} "
        ": vector<4x8xf32> to vector<2x4xf32>"
    )

    @staticmethod
    def of(source: Value, offsets: Sequence[int], sizes: Sequence[int]) -> ExtractStridedSlice:
        """A slice whose strides are all 1."""
        type = source.type
        lists = [[I64Attr(i) for i in part] for part in (offsets, sizes, [1] * len(sizes))]
        return ExtractStridedSlice(source, *lists, result=_slice_type(type, sizes))

    def verify_op(self) -> None:
        type = self.source.type
        offsets, sizes = _integers(self.offsets), _integers(self.sizes)
        if not len(offsets) == len(sizes) == len(self.strides):
            raise self.error("expected offsets, sizes and strides attributes of same size")
        if len(offsets) > type.rank:
            raise self.error("expected offsets attribute of rank no greater than vector rank")
        if any(s != 1 for s in _integers(self.strides)):
            raise self.error("expected strides to be confined to [1, 2)")
        for d, (start, size, (extent, scalable)) in enumerate(
            zip(offsets, sizes, dimensions(type), strict=False)
        ):
            if start < 0 or size < 1 or start + size > extent:
                raise self.error(
                    f"expected sum(offsets, sizes) dimension {d} to be confined to "
                    f"[1, {extent + 1})"
                )
            if scalable and (start, size) != (0, extent):
                raise self.error(f"expected size at idx={d} to match the corresponding base size "
                                 f"from the input vector ({size} vs {extent})")  # fmt: skip
        expected = _slice_type(type, sizes)
        if self.result.type is not expected:
            raise self.error(f"expected result type to be '{expected}'")

    def evaluate(self, source: Any) -> Any:
        pairs = zip(_integers(self.offsets), _integers(self.sizes), strict=True)
        return source[tuple(slice(a, a + n) for a, n in pairs)].copy()


class InsertStridedSlice(Op, name="vector.insert_strided_slice", traits=(Pure,)):
    """A vector with a part replaced by a smaller vector of no greater rank."""

    valueToStore: Operand = operand(AnyVectorOfNonZeroRank)  # noqa: N815
    dest: Operand = operand(AnyVectorOfNonZeroRank)
    offsets = attribute(INTEGERS)
    strides = attribute(INTEGERS)
    result: Result = result(Same("dest"))

    format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"
    example = (
        "%w = vector.insert_strided_slice %x, %v {offsets = [0, 2], strides = [1]} : "
        "vector<4xf32> into vector<4x8xf32>"
    )

    @staticmethod
    def of(value: Value, dest: Value, offsets: Sequence[int]) -> InsertStridedSlice:
        """An insertion whose strides are all 1."""
        steps = [I64Attr(1)] * value.type.rank
        return InsertStridedSlice(value, dest, [I64Attr(i) for i in offsets], steps)

    def verify_op(self) -> None:
        small, large = self.valueToStore.type, self.dest.type
        offsets = _integers(self.offsets)
        if len(offsets) != large.rank:
            raise self.error("expected offsets of same size as destination vector rank")
        if len(self.strides) != small.rank:
            raise self.error("expected strides of same size as source vector rank")
        if any(s != 1 for s in _integers(self.strides)):
            raise self.error("expected strides to be confined to [1, 2)")
        shape = (1,) * (large.rank - small.rank) + small.shape
        for d, (start, size, extent) in enumerate(zip(offsets, shape, large.shape, strict=True)):
            if start < 0 or start + size > extent:
                raise self.error(
                    f"expected sum(offsets, source vector shape) dimension {d} to be confined to "
                    f"[1, {extent + 1})"
                )

    def evaluate(self, value: Any, dest: Any) -> Any:
        shape = (1,) * (dest.ndim - value.ndim) + value.shape
        result = dest.copy()
        at = tuple(slice(a, a + n) for a, n in zip(_integers(self.offsets), shape, strict=True))
        result[at] = value.reshape(shape)
        return result


class Shuffle(Op, name="vector.shuffle", traits=(Pure,)):
    """The rows of two vectors picked in any order: `mask` has the number of each row.

    Rows are numbered through both vectors, so with 4 rows each, 5 is row 1 of the second. -1 stands
    for a row that may be anything.
    """

    v1: Operand = operand(AnyVector)
    v2: Operand = operand(AnyVector)
    mask = attribute(INT_ARRAY)
    vector: Result = result(AnyVector)

    format = "$v1 `,` $v2 $mask attr-dict `:` type($v1) `,` type($v2)"
    example = "%w = vector.shuffle %a, %b [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>"

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """One row per entry of the mask."""
        first = operand_types[0]
        rows = len(properties["mask"].values)
        return [vector_of([(rows, False), *dimensions(first)[1:]], first.element_type)]

    def verify_op(self) -> None:
        v1, v2 = self.v1.type, self.v2.type
        if v1.rank != v2.rank:
            raise self.error("rank mismatch")
        if v1.shape[1:] != v2.shape[1:]:
            raise self.error("dimension mismatch")
        if not self.mask:
            raise self.error("invalid mask length")
        total = (v1.shape[0] if v1.rank else 1) + (v2.shape[0] if v2.rank else 1)
        for i, at in enumerate(self.mask):
            if not -1 <= at < total:
                raise self.error(f"mask index #{i + 1} out of range")

    def evaluate(self, v1: Any, v2: Any) -> Any:
        rows = np.concatenate([np.atleast_1d(v1), np.atleast_1d(v2)])
        return rows[[max(i, 0) for i in self.mask]]


class ShapeCast(Op, name="vector.shape_cast", traits=(Pure, MovesElements)):
    """The same elements in another shape, row-major."""

    source: Operand = operand(AnyVector)
    result: Result = result(AnyVector)

    format = "$source attr-dict `:` type($source) `to` type($result)"
    example = "%w = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        if source.element_type is not target.element_type:
            raise self.error("source/result vectors must have same element type")
        if sum(source.scalable) != sum(target.scalable):
            raise self.error(
                f"has different number of scalable dims at source ({sum(source.scalable)}) and "
                f"result ({sum(target.scalable)})"
            )
        if source.num_elements != target.num_elements:
            raise self.error(
                f"has different number of elements at source ({source.num_elements}) and result "
                f"({target.num_elements})"
            )

    def fold(self) -> Sequence[Value | Attribute] | None:
        """To the own type -> the source; twice -> once."""
        if self.source.type is self.result.type:
            return [self.source]
        inner = self.source.defined_by(ShapeCast)
        if inner and inner.source.type is self.result.type:
            return [inner.source]
        constant = splat_constant(self.source)
        return [DenseElements(self.result.type, constant.data)] if constant is not None else None

    def evaluate(self, source: Any) -> Any:
        return source.reshape(self.result.type.shape).copy()


class Transpose(Op, name="vector.transpose", traits=(Pure, MovesElements)):
    """The dimensions in another order."""

    vector: Operand = operand(AnyVector)
    permutation = attribute(INT_ARRAY)
    result: Result = result(AnyVector)

    format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"
    example = "%w = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>"

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The sizes in the new order."""
        (source,) = operand_types
        order = properties["permutation"].values
        dims = dimensions(source)
        return [vector_of([dims[i] for i in order], source.element_type)]

    def verify_op(self) -> None:
        source = self.vector.type
        order = self.permutation
        if len(order) != source.rank:
            raise self.error(f"transposition length mismatch: {len(order)}")
        for i, d in enumerate(order):
            if not 0 <= d < source.rank:
                raise self.error(f"position index out of range: {d}")
            if d in order[:i]:
                raise self.error(f"duplicate position index: {d}")
            if dimensions(self.result.type)[i] != dimensions(source)[d]:
                raise self.error(f"dimension size mismatch at: {d}")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """The identity -> the source."""
        identity = list(self.permutation) == list(range(len(self.permutation)))
        return [self.vector] if identity else None

    def evaluate(self, vector: Any) -> Any:
        return vector.transpose(self.permutation).copy()


def _twice(type: Any) -> Type:
    return with_last(type, 2 * (type.shape or (1,))[-1])


class Interleave(Op, name="vector.interleave", traits=(Pure,)):
    """Elements of two vectors in turn along the last dimension."""

    lhs: Operand = operand(AnyVector)
    rhs: Operand = operand(Same("lhs"))
    result: Result = result(
        Derived(
            "lhs",
            _twice,
            "twice as long as lhs",
        )
    )

    format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
    example = "%w = vector.interleave %a, %b : vector<4xf32> -> vector<8xf32>"

    def evaluate(self, lhs: Any, rhs: Any) -> Any:
        return np.stack([lhs, rhs], axis=-1).reshape(*lhs.shape[:-1], -1)


def _half(type: Type) -> Type | None:
    if not type.shape:  # type: ignore[attr-defined]
        return None
    return with_last(type, type.shape[-1] // 2)  # type: ignore[attr-defined]


class Deinterleave(Op, name="vector.deinterleave", traits=(Pure,)):
    """The even and the odd elements along the last dimension."""

    source: Operand = operand(AnyVector)
    res1: Result = result(Derived("source", _half, "half as long as source"))
    res2: Result = result(Derived("source", _half, "half as long as source"))

    format = "$source attr-dict `:` type($source) `->` type($res1)"
    example = "%a, %b = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>"

    def result_names(self) -> list[str | None]:
        """Upstream's names for the halves."""
        return ["res1", "res2"]

    def evaluate(self, source: Any) -> Any:
        return source[..., 0::2].copy(), source[..., 1::2].copy()


class Bitcast(Op, name="vector.bitcast", traits=(Pure,)):
    """The same bits as elements of another width or kind, along the last dimension."""

    source: Operand = operand(AnyVector)
    result: Result = result(AnyVector)

    format = "$source attr-dict `:` type($source) `to` type($result)"
    example = "%w = vector.bitcast %v : vector<4xf32> to vector<4xi32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        if source.rank != target.rank or source.shape[:-1] != target.shape[:-1]:
            raise self.error("dimension size mismatch")
        if source.num_bytes != target.num_bytes:
            raise self.error("source/result bitwidth of the minor 1-D vectors must be equal")

    def evaluate(self, source: Any) -> Any:
        return source.copy().view(type_to_numpy(self.result.type.element_type))

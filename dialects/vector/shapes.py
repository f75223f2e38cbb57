"""Vectors made of, taken from and rearranged into other vectors; masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.attributes import Attribute, DenseElements
from ...ir.constraints import AnyType, AnyVector, Constraint, Derived, Index, Same
from ...ir.core import Operation, Value
from ...ir.declare import (
    ARRAY,
    INT_ARRAY,
    Op,
    Operand,
    Operands,
    OptionalOperand,
    RegionField,
    Result,
    Results,
    attribute,
    instance,
    operand,
    operands,
    optional_operand,
    region,
    result,
    results,
)
from ...ir.diagnostics import NncError
from ...ir.numpy_types import type_to_numpy
from ...ir.traits import Pure, RecursiveEffects, SingleBlock, Terminator, WritesMemory
from ...ir.types import IndexType, Type, VectorType, element_type
from ..index_lists import Mixed, check_list, mix, split
from .attributes import PrintPunctuation
from .memory import MaskVector

IndexVectorResult = Constraint(
    "vector of index values of ranks 1",
    lambda t: isinstance(t, VectorType) and isinstance(t.element_type, IndexType) and t.rank == 1,
)


def _splat(value: Value) -> Any:
    """The splat constant that a value is, or None."""
    from ...ir.rewriting import constant_value

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
        from ...ir.attributes import FloatAttr, IntegerAttr
        from ...ir.rewriting import constant_value

        if self.source.type is self.vector.type:
            return [self.source]
        constant = constant_value(self.source)
        if isinstance(constant, FloatAttr | IntegerAttr):
            return [DenseElements.splat(constant.value, self.vector.type)]
        if isinstance(constant, DenseElements) and constant.is_splat:
            return [DenseElements(self.vector.type, constant.data)]
        return None

    def evaluate(self, source: Any) -> Any:
        import numpy as np

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
        constant = _splat(self.source)
        return [_scalar(constant)] if constant is not None else None

    def evaluate(self, source: Any, *position: Any) -> Any:
        at = tuple(int(i) for i in mix(self.static_position, position))
        _check_at(self, source, at)
        found = source[at]
        return found.copy() if getattr(found, "ndim", 0) else found


def _scalar(constant: DenseElements) -> Attribute:
    from ...ir.attributes import FloatAttr, IntegerAttr
    from ...ir.types import FloatType

    element = constant.type.element_type
    kind = FloatAttr if isinstance(element, FloatType) else IntegerAttr
    return kind(constant.values()[0], element)


def _sub_type(vector: Type, depth: int) -> Type:
    shape = vector.shape[depth:]  # type: ignore[attr-defined]
    return VectorType(shape, vector.element_type) if shape else vector.element_type  # type: ignore[attr-defined]


def _one(type: Type) -> Type | None:
    return VectorType((1,), type) if not isinstance(type, VectorType) else None


def _check_position(op: Operation, vector: Any, static: Sequence[int], dynamic: Any) -> None:
    check_list(op, static, dynamic, "position")
    if len(static) > vector.rank:
        raise op.error("expected position attribute of rank no greater than vector rank")
    inserts = isinstance(op, Insert)
    words = "dest vector dimension" if inserts else "vector dimension or poison (-1)"
    for d, (i, extent) in enumerate(zip(static, vector.shape, strict=False)):
        if i >= extent or (i < 0 and i != -(2**63)):
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


def _integers(attribute_: Any) -> list[int]:
    return [int(a) for a in attribute_]


class ExtractStridedSlice(Op, name="vector.extract_strided_slice", traits=(Pure,)):
    """The part of a vector from offsets on, of sizes along the leading dimensions."""

    source: Operand = operand(AnyVector)
    offsets = attribute(ARRAY)
    sizes = attribute(ARRAY)
    strides = attribute(ARRAY)
    result: Result = result(AnyVector)

    format = "$source attr-dict `:` type($source) `to` type($result)"
    example = (
        "%s = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} "
        ": vector<4x8xf32> to vector<2x4xf32>"
    )

    @staticmethod
    def of(source: Value, offsets: Sequence[int], sizes: Sequence[int]) -> ExtractStridedSlice:
        """With strides of 1."""
        from ...ir.attributes import I64Attr

        type = source.type
        shape = (*sizes, *type.shape[len(sizes) :])  # type: ignore[attr-defined]
        lists = [[I64Attr(i) for i in part] for part in (offsets, sizes, [1] * len(sizes))]
        return ExtractStridedSlice(source, *lists, result=VectorType(shape, type.element_type))  # type: ignore[attr-defined]

    def verify_op(self) -> None:
        type = self.source.type
        offsets, sizes = _integers(self.offsets), _integers(self.sizes)
        if not len(offsets) == len(sizes) == len(self.strides):
            raise self.error("expected offsets, sizes and strides attributes of same size")
        if len(offsets) > type.rank:
            raise self.error("expected offsets attribute of rank no greater than vector rank")
        if any(s != 1 for s in _integers(self.strides)):
            raise self.error("expected strides to be confined to [1, 2)")
        for d, (start, size, extent) in enumerate(zip(offsets, sizes, type.shape, strict=False)):
            if start < 0 or size < 1 or start + size > extent:
                raise self.error(
                    f"expected sum(offsets, sizes) dimension {d} to be confined to "
                    f"[1, {extent + 1})"
                )
        expected = VectorType((*sizes, *type.shape[len(sizes) :]), type.element_type)
        if self.result.type is not expected:
            raise self.error(f"expected result type to be '{expected}'")

    def evaluate(self, source: Any) -> Any:
        pairs = zip(_integers(self.offsets), _integers(self.sizes), strict=True)
        return source[tuple(slice(a, a + n) for a, n in pairs)].copy()


class InsertStridedSlice(Op, name="vector.insert_strided_slice", traits=(Pure,)):
    """A vector with a part replaced by a smaller vector of no greater rank."""

    valueToStore: Operand = operand(AnyVector)  # noqa: N815
    dest: Operand = operand(AnyVector)
    offsets = attribute(ARRAY)
    strides = attribute(ARRAY)
    result: Result = result(Same("dest"))

    format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"
    example = (
        "%w = vector.insert_strided_slice %x, %v {offsets = [0, 2], strides = [1]} : "
        "vector<4xf32> into vector<4x8xf32>"
    )

    @staticmethod
    def of(value: Value, dest: Value, offsets: Sequence[int]) -> InsertStridedSlice:
        """With strides of 1."""
        from ...ir.attributes import I64Attr

        steps = [I64Attr(1)] * value.type.rank  # type: ignore[attr-defined]
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
    """Rows of two vectors in any order; the second's count on from the first's; -1 is any."""

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
        return [VectorType((rows, *first.shape[1:]), first.element_type)]

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
        import numpy as np

        rows = np.concatenate([np.atleast_1d(v1), np.atleast_1d(v2)])
        return rows[[max(i, 0) for i in self.mask]]


class ShapeCast(Op, name="vector.shape_cast", traits=(Pure,)):
    """The same elements in another shape, row-major."""

    source: Operand = operand(AnyVector)
    result: Result = result(AnyVector)

    format = "$source attr-dict `:` type($source) `to` type($result)"
    example = "%w = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        if source.element_type is not target.element_type:
            raise self.error("source/result vectors must have same element type")
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
        constant = _splat(self.source)
        return [DenseElements(self.result.type, constant.data)] if constant is not None else None

    def evaluate(self, source: Any) -> Any:
        return source.reshape(self.result.type.shape).copy()


class Transpose(Op, name="vector.transpose", traits=(Pure,)):
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
        return [VectorType(tuple(source.shape[i] for i in order), source.element_type)]

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
            if self.result.type.shape[i] != source.shape[d]:
                raise self.error(f"dimension size mismatch at: {d}")

    def fold(self) -> Sequence[Value | Attribute] | None:
        """The identity -> the source."""
        identity = list(self.permutation) == list(range(len(self.permutation)))
        return [self.vector] if identity else None

    def evaluate(self, vector: Any) -> Any:
        return vector.transpose(self.permutation).copy()


class Interleave(Op, name="vector.interleave", traits=(Pure,)):
    """Elements of two vectors in turn along the last dimension."""

    lhs: Operand = operand(AnyVector)
    rhs: Operand = operand(Same("lhs"))
    result: Result = result(
        Derived(
            "lhs",
            lambda t: VectorType((*t.shape[:-1], 2 * t.shape[-1]), t.element_type),  # type: ignore[attr-defined]
            "twice as long as lhs",
        )
    )

    format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
    example = "%w = vector.interleave %a, %b : vector<4xf32> -> vector<8xf32>"

    def evaluate(self, lhs: Any, rhs: Any) -> Any:
        import numpy as np

        return np.stack([lhs, rhs], axis=-1).reshape(*lhs.shape[:-1], -1)


def _half(type: Type) -> Type:
    return VectorType((*type.shape[:-1], type.shape[-1] // 2), type.element_type)  # type: ignore[attr-defined]


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

    def evaluate(self, *elements: Any) -> Any:
        import numpy as np

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

    def evaluate(self, source: Any) -> Any:
        return tuple(source.reshape(-1))


class Step(Op, name="vector.step", traits=(Pure,)):
    """0, 1, 2, .. as a vector."""

    result: Result = result(IndexVectorResult)

    format = "attr-dict `:` type($result)"
    example = "%v = vector.step : vector<4xindex>"

    def evaluate(self) -> Any:
        import numpy as np

        return np.arange(self.result.type.shape[0], dtype=np.int64)


class CreateMask(Op, name="vector.create_mask", traits=(Pure,)):
    """True where every coordinate is below its bound."""

    sizes: Operands = operands(Index)
    result: Result = result(MaskVector)

    format = "$sizes attr-dict `:` type($result)"
    example = "%m = vector.create_mask %n, %k : vector<4x8xi1>"

    def verify_op(self) -> None:
        if len(self.sizes) != self.result.type.rank:
            raise self.error("must specify an operand for each result vector dimension")

    def evaluate(self, *sizes: Any) -> Any:
        import numpy as np

        shape = self.result.type.shape
        mask = np.ones(shape, np.bool_)
        for grid, bound in zip(np.indices(shape, sparse=True), sizes, strict=True):
            mask &= grid < int(bound)
        return mask


class ConstantMask(Op, name="vector.constant_mask", traits=(Pure,)):
    """True where every coordinate is below its constant bound."""

    mask_dim_sizes = attribute(INT_ARRAY)
    result: Result = result(MaskVector)

    format = "$mask_dim_sizes attr-dict `:` type($result)"
    example = "%m = vector.constant_mask [3, 4] : vector<4x8xi1>"

    def verify_op(self) -> None:
        shape = self.result.type.shape
        if len(self.mask_dim_sizes) != len(shape):
            raise self.error("must specify array attr of size equal vector result rank")
        if any(not 0 <= n <= extent for n, extent in zip(self.mask_dim_sizes, shape, strict=True)):
            raise self.error("array attr of size out of bounds of vector result dimension size")

    def evaluate(self) -> Any:
        import numpy as np

        mask = np.zeros(self.result.type.shape, np.bool_)
        mask[tuple(slice(0, n) for n in self.mask_dim_sizes)] = True
        return mask


class Yield(Op, name="vector.yield", traits=(Pure, Terminator)):
    """The results of the operation in a vector.mask."""

    values: Operands = operands(AnyType)

    format = "attr-dict ($values^ `:` type($values))?"
    example = (
        "%s = vector.mask %m { vector.yield %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>"
    )


class Mask(Op, name="vector.mask", traits=(RecursiveEffects, SingleBlock)):
    """One operation under a mask; masked-off lanes come from `passthru`."""

    mask: Operand = operand(MaskVector)
    passthru: OptionalOperand = optional_operand(AnyType)
    maskRegion: RegionField = region()  # noqa: N815
    outputs: Results = results(AnyType)

    format = (
        "$mask (`,` $passthru^)? custom<MaskedRegion>($maskRegion, ref($passthru)) attr-dict "
        "`:` type($mask) (`->` type($outputs)^)?"
    )
    example = (
        "%s = vector.mask %m { vector.reduction <add>, %v : vector<4xf32> into f32 } : "
        "vector<4xi1> -> f32"
    )

    @property
    def masked(self) -> Operation | None:
        """The operation under the mask."""
        first = self.maskRegion.block.first
        return None if isinstance(first, Yield) else first

    def verify_op(self) -> None:
        ops = self.maskRegion.block.ops
        if len(ops) > 2:
            raise self.error("expects only one operation to mask")
        if not ops or not isinstance(ops[-1], Yield):
            raise self.error("expects a terminator within the mask region")
        if len(self.outputs) != len(ops[-1].operands):
            raise self.error("expects number of results to match mask region yielded values")
        for out, value in zip(self.outputs, ops[-1].operands, strict=True):
            if out.type is not value.type:
                raise self.error("expects result type to match yielded type")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        from .masking import run_masked

        return run_masked(self, operands, frame)


class Print(Op, name="vector.print", traits=(WritesMemory,)):
    """Write a value to the standard output of the program, for debugging."""

    source: OptionalOperand = optional_operand(AnyType)
    punctuation = attribute(instance(PrintPunctuation), default="newline")

    format = "($source^ `:` type($source))? custom<Punctuation>($punctuation) attr-dict"
    example = "vector.print %v : vector<4xf32>"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        marks = {"no_punctuation": "", "newline": "\n", "comma": ", ", "open": "( ", "close": " )"}
        frame.write((_shown(operands[0]) if operands else "") + marks[self.punctuation])
        return []


def _shown(value: Any) -> str:
    if getattr(value, "ndim", 0):
        return "( " + ", ".join(_shown(part) for part in value) + " )"
    return f"{value:g}" if value.dtype.kind == "f" else str(int(value))


class Vscale(Op, name="vector.vscale", traits=(Pure,)):
    """How many times longer scalable vectors are than their type says; 1 while interpreting."""

    res: Result = result(Index)

    result_name = "vscale"
    format = "attr-dict"
    example = "%n = vector.vscale"

    def evaluate(self) -> Any:
        import numpy as np

        return np.int64(1)

"""Views under another type or with dimensions in another order, and the parts of a view."""

from __future__ import annotations

from ...ir.types import UnrankedMemRefType
from ...ir.undefined import note_where
from ..sized import CastOp
from ..vocabulary import *
from .aliasing import ViewLike
from .layouts import (
    compatible,
    element_strides,
    same_layout,
    strided,
)
from .views import ReinterpretCast


class Cast(CastOp, name="memref.cast", traits=(Pure, ViewLike)):
    """The same view under a type with more or fewer known sizes, strides and offset."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    dest: Result = result(AnyRankedOrUnrankedMemRef)

    example = "%c = memref.cast %m : memref<8x8xf32> to memref<?x8xf32>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.dest.type
        if not castable(source, target):
            raise self.error(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )

    def evaluate(self, source: Any) -> Any:
        target = self.dest.type
        if isinstance(target, MemRefType) and not (
            source.ndim == target.rank and all(map(compatible, source.shape, target.shape))
        ):
            raise NncError(f"'memref.cast': {source.shape} is not of type {target}", self.loc)
        return source


def castable(source: Type, target: Type) -> bool:
    """Whether `memref.cast` can convert one type to the other."""
    if source.element_type is not target.element_type:  # type: ignore[attr-defined]
        return False
    if source.memory_space is not target.memory_space:  # type: ignore[attr-defined]
        return False
    if isinstance(source, UnrankedMemRefType) or isinstance(target, UnrankedMemRefType):
        return not (
            isinstance(source, UnrankedMemRefType) and isinstance(target, UnrankedMemRefType)
        )
    if source.rank != target.rank:  # type: ignore[attr-defined]
        return False
    if not all(map(compatible, source.shape, target.shape)):  # type: ignore[attr-defined]
        return False
    a, b = source.strides_and_offset(), target.strides_and_offset()  # type: ignore[attr-defined]
    if a is None or b is None:
        return source.layout is target.layout  # type: ignore[attr-defined]
    return compatible(a[1], b[1]) and all(map(compatible, a[0], b[0]))


class MemorySpaceCast(Op, name="memref.memory_space_cast", traits=(Pure, ViewLike)):
    """The same buffer under a type with another memory space."""

    source: Operand = operand(AnyRankedOrUnrankedMemRef)
    dest: Result = result(AnyRankedOrUnrankedMemRef)

    result_name = "memspacecast"
    format = "$source attr-dict `:` type($source) `to` type($dest)"
    example = "%c = memref.memory_space_cast %m : memref<8x8xf32> to memref<8x8xf32, 1>"

    def verify_op(self) -> None:
        source, target = self.source.type, self.dest.type
        same = getattr(source, "shape", None) == getattr(target, "shape", None)
        if not same or source.element_type is not target.element_type:
            raise self.error(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )

    def evaluate(self, source: Any) -> Any:
        return source


class Transpose(Op, name="memref.transpose", traits=(Pure, ViewLike)):
    """A view with the dimensions in another order; only the strides change."""

    # "in" is the source's name upstream, a keyword here.
    source: Operand = operand(AnyMemRef)
    permutation = attribute(instance(AffineMapAttr))
    result: Result = result(AnyMemRef)

    result_name = "transpose"
    format = (
        "$source custom<AffineMapBody>($permutation) attr-dict `:` type($source) `to` type($result)"
    )
    example = (
        "%t = memref.transpose %m (d0, d1) -> (d1, d0) : "
        "memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>"
    )

    @property
    def order(self) -> list[int]:
        """The source's dimension for each of the result's dimensions."""
        return [e.position for e in self.permutation.map.results]  # type: ignore[union-attr]

    def verify_op(self) -> None:
        source, target = self.source.type, self.result.type
        mapping = self.permutation.map
        if not mapping.is_projected_permutation() or len(mapping.results) != mapping.dim_count:
            raise self.error("expected a permutation map")
        if mapping.dim_count != source.rank:
            raise self.error("expected a permutation map of same rank as the input")
        found = source.strides_and_offset()
        if found is None:
            raise self.error(f"source type '{source}' has no strided layout")
        expected = strided(
            source,
            [source.shape[i] for i in self.order],
            [found[0][i] for i in self.order],
            found[1],
        )
        if expected.shape != target.shape or not same_layout(expected, target):
            raise self.error(
                f"result type '{target}' is not equivalent to the canonical transposed input "
                f"type '{expected}'"
            )

    def evaluate(self, source: Any) -> Any:
        return source.transpose(self.order)


class ExtractStridedMetadata(Op, name="memref.extract_strided_metadata", traits=(Pure, ViewLike)):
    """The parts of a view: the buffer it belongs to, its offset, sizes and strides."""

    source: Operand = operand(AnyMemRef)
    base_buffer: Result = result(AnyMemRef)
    offset: Result = result(Index)
    extents: Results = results(Index, doc="all sizes, then all strides")

    format = "$source `:` type($source) `->` type(results) attr-dict"
    example = (
        "%base, %offset, %sizes, %strides = memref.extract_strided_metadata %m : "
        "memref<8xf32> -> memref<f32>, index, index, index"
    )

    def result_names(self) -> list[str | None]:
        """Upstream's names for the parts."""
        rank = self.source.type.rank  # type: ignore[attr-defined]
        sizes, strides = (["sizes"], ["strides"]) if rank else ([], [])
        rest = [None] * (rank - 1)
        return ["base_buffer", "offset", *sizes, *rest, *strides, *rest]

    @property
    def sizes(self) -> tuple[Value, ...]:
        return self.extents[: self.source.type.rank]

    @property
    def strides(self) -> tuple[Value, ...]:
        return self.extents[self.source.type.rank :]

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """A memref of one element, the offset, sizes and strides."""
        (source,) = operand_types
        base = MemRefType((), source.element_type, None, source.memory_space)
        return [base, index, *([index] * (2 * source.rank))]

    def verify_op(self) -> None:
        inferred = self.infer_result_types([self.source.type], {})
        if inferred != self.result_types:
            wanted = ", ".join(f"'{t}'" for t in inferred)
            found = ", ".join(f"'{t}'" for t in self.result_types)
            raise self.error(
                f"inferred type(s) {wanted} are incompatible with return type(s) of operation "
                f"{found}"
            )

    def evaluate(self, source: Any) -> Any:
        """The start is the view's own where the type does not say the offset."""
        found = self.source.type.strides_and_offset()
        offset = (found[1] or 0) if found else 0
        base = np.lib.stride_tricks.as_strided(source, (), ())
        if offset:
            at = ReinterpretCast.of(self.source, 0, [], [])
            base = at.evaluate(source)
            at.drop_all_references()
        sizes = [np.int64(n) for n in source.shape]
        strides = [np.int64(n) for n in element_strides(source)]
        return (base, np.int64(offset), *sizes, *strides)


class ExtractAlignedPointerAsIndex(
    Op, name="memref.extract_aligned_pointer_as_index", traits=(Pure,)
):
    """The address of the buffer as a number."""

    source: Operand = operand(AnyType)
    aligned_pointer: Result = result(Index)

    result_name = "intptr"
    format = "$source `:` type($source) `->` type(results) attr-dict"
    example = "%p = memref.extract_aligned_pointer_as_index %m : memref<8xf32> -> index"

    def evaluate(self, source: Any) -> Any:
        note_where(lambda: True, f"'{self.name}' op: another address in each run")
        return np.int64(source.__array_interface__["data"][0])


def begins_alike(op: ReinterpretCast) -> bool:
    """Whether the op keeps the source's offset, so that both views have the same first element."""
    made = op.offsets[0].defined_by(ExtractStridedMetadata) if op.offsets else None
    return made is not None and made.offset is op.offsets[0] and made.source is op.source

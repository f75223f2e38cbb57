"""Conversions: between scalable and fixed vectors, and of a memref's elements to whole vectors."""

from __future__ import annotations

from ..vocabulary import *

Row = Constraint(
    "vector of any type values of ranks 1", lambda t: isinstance(t, VectorType) and t.rank == 1
)
ScalableRow = Constraint(
    "scalable vector of any type values of ranks 1",
    lambda t: isinstance(t, VectorType) and t.rank == 1 and any(t.scalable),
)


def _verify_part(op: Operation, whole: Any, part: Any, position: int, words: str) -> None:
    if whole.element_type is not part.element_type:
        raise op.error(f"failed to verify that all of {{{words}}} have same element type")
    if position % part.shape[0]:
        what = "source" if op.name.endswith("insert") else "result"
        raise op.error(f"failed to verify that position is a multiple of the {what} length.")


class ScalableInsert(Op, name="vector.scalable.insert", traits=(Pure,)):
    """`dest` with its lanes from `pos` on replaced by those of `valueToStore`."""

    valueToStore: Operand = operand(Row)  # noqa: N815
    dest: Operand = operand(ScalableRow)
    pos = attribute(I64)
    result: Result = result(Same("dest"))

    format = (
        "$valueToStore `,` $dest `[` $pos `]` attr-dict `:` type($valueToStore) `into` type($dest)"
    )
    example = "%w = vector.scalable.insert %x, %v[8] : vector<4xf32> into vector<[16]xf32>"

    def verify_op(self) -> None:
        part = self.valueToStore.type
        _verify_part(self, self.dest.type, part, self.pos, "valueToStore, dest")

    def evaluate(self, value: Any, dest: Any) -> Any:
        result = dest.copy()
        result[self.pos : self.pos + len(value)] = value
        return result


class ScalableExtract(Op, name="vector.scalable.extract", traits=(Pure,)):
    """The lanes of a scalable vector from `pos` on, as many as the result has."""

    source: Operand = operand(ScalableRow)
    pos = attribute(I64)
    result: Result = result(Row)

    format = "$source `[` $pos `]` attr-dict `:` type($result) `from` type($source)"
    example = "%x = vector.scalable.extract %v[8] : vector<4xf32> from vector<[16]xf32>"

    def verify_op(self) -> None:
        _verify_part(self, self.source.type, self.result.type, self.pos, "source, result")

    def evaluate(self, source: Any) -> Any:
        return source[self.pos : self.pos + self.result.type.shape[0]].copy()


class TypeCast(Op, name="vector.type_cast", traits=(Pure,)):
    """The same memory as a memref whose elements are whole vectors.

    A `memref<4x8xf32>` becomes a `memref<vector<4x8xf32>>` with a single element.
    """

    memref: Operand = operand(AnyMemRef)
    result: Result = result(AnyMemRef)

    format = "$memref attr-dict `:` type($memref) `to` type($result)"
    example = "%w = vector.type_cast %m : memref<4x8xf32> to memref<vector<4x8xf32>>"

    def verify_op(self) -> None:
        source, target = self.memref.type, self.result.type
        if source.layout is not None:
            raise self.error("expects operand to be a memref with identity layout")
        if target.layout is not None:
            raise self.error("expects result to be a memref with identity layout")
        if source.memory_space is not target.memory_space:
            raise self.error("expects result in same memory space")
        small = _scalars(source)
        if small != _scalars(target):
            raise self.error(
                f"expects concatenated result and operand shapes to be equal: {target}"
            )


def _scalars(type: Any) -> tuple[Any, ...]:
    """The sizes of a memref and of its vector elements in one tuple, and the scalar type at its
    end.
    """
    element = type.element_type
    if isinstance(element, VectorType):
        return (*type.shape, *element.shape, element.element_type)
    return (*type.shape, element)

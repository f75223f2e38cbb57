"""Base classes of ops that the tensor and memref dialects both have: dim, rank and cast."""

from __future__ import annotations

from .vocabulary import *


class DimOp(Op):
    """Base of the ops that give the size of dimension `index` of `source`."""

    result: Result = result(Index)

    result_name = "dim"
    format = "attr-dict $source `,` $index `:` type($source)"

    def fold(self) -> Sequence[Value | Attribute] | None:
        """The size, if the type or the definition of `source` tells it."""
        from ..ir.rewriting import constant_int

        source, index = self.operands
        position, shape = constant_int(index), getattr(source.type, "shape", None)
        if position is None or shape is None or not 0 <= position < len(shape):
            return None
        size = shape[position]
        if size is not None:
            return [IndexAttr(size)]
        size = self.told_by(source.defining_op, position)
        return None if size is None else [size]

    def told_by(self, op: Operation | None, position: int) -> Value | None:
        """The operand of `op`, which made the source, that gives this dimension's size; or None."""
        raise NotImplementedError

    def evaluate(self, source: Any, index: Any) -> Any:
        if not 0 <= index < source.ndim:
            raise NncError(f"'{self.name}': no dimension {index} in rank {source.ndim}", self.loc)
        return np.int64(source.shape[int(index)])


class RankOp(Op):
    """Base of the ops that give the number of dimensions of their operand."""

    result: Result = result(Index)

    def fold(self) -> Sequence[Value | Attribute] | None:
        type = self.operands[0].type
        return [IndexAttr(type.rank)] if hasattr(type, "rank") else None

    def evaluate(self, x: Any) -> Any:
        return np.int64(x.ndim)


class CastOp(Op):
    """Base of the ops that give `source` another type, `dest`, of which more or less is known."""

    result_name = "cast"
    format = "$source attr-dict `:` type($source) `to` type($dest)"

    def fold(self) -> Sequence[Value | Attribute] | None:
        """cast to the same type -> x; cast(cast(x)) back to the type of x -> x."""
        source, type = self.operands[0], self.result_types[0]
        if source.type is type:
            return [source]
        inner = source.defined_by(self.__class__)
        return [inner.operands[0]] if inner and inner.operands[0].type is type else None

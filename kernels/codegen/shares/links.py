"""How the layouts of an operation's operands and results depend on each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....dialects import arith, math, memref, scf, vector
from ....ir.affine import AffineDim
from ....ir.core import Operation, Value
from ....ir.traits import ConstantLike, is_pure
from ....ir.types import VectorType
from .layouts import Along, Layout


def is_vector(value: Value) -> bool:
    """Whether a value is a vector, which is divided among threads."""
    return isinstance(value.type, VectorType) and value.type.rank > 0


def is_elementwise(op: Operation) -> bool:
    """Whether an operation computes each element of its results from the elements at its index.

    Threads also compute elements beyond the edge of a vector, where operands have any value and
    nobody reads the result. Integer powers are safe there; integer divisions are only if the
    divisor cannot be 0, and `obstacle` rejects the others.
    """
    dialect = op.name.partition(".")[0]
    if dialect not in ("arith", "math", "packed") and not isinstance(op, vector.Fma):
        return False
    if op.regions or not (is_pure(op) or isinstance(op, math.IPowI | arith.IntDivision)):
        return False
    shapes = {v.type.shape for v in (*op.operands, *op.results) if isinstance(v.type, VectorType)}
    return len(shapes) == 1 and isinstance(op.results[0].type, VectorType) and bool(op.operands)


def together(op: Operation) -> Iterator[list[Value]]:
    """The sets of an operation's values that must have the same layout."""
    match op:
        case scf.For():
            for i, result in enumerate(op.results):
                if is_vector(result):
                    yield [result, op.inits[i], op.iter_args[i], op.yielded[i]]
        case scf.If():
            for i, result in enumerate(op.results):
                if is_vector(result):
                    ends = [region.blocks[0].last for region in op.regions]
                    yield [result, *(end.operands[i] for end in ends if end is not None)]
        case vector.Contract() | vector.MultiReduction():
            if is_vector(op.results[0]):
                yield [op.results[0], op.acc]
        case _ if isinstance(op, vector.Gather | vector.Scatter) or is_elementwise(op):
            yield [v for v in (*op.operands, *op.results) if is_vector(v)]


@dataclass(frozen=True)
class Link:
    """How the layout of an operand or a result (`number`) of an operation follows from another's.

    Dimension i of `value` is distributed as dimension `dims[i]` of `like`; where that is None, each
    thread has all of it.
    """

    value: Value
    number: int
    like: Value
    dims: tuple[int | None, ...]
    is_result: bool = False

    def layout(self, of: Layout) -> Layout:
        """The layout that the operand has to have, from that of `like`."""
        shape = self.value.type.shape  # type: ignore[attr-defined]
        return Layout(
            tuple(
                of.dims[d] if d is not None else Along(extent)
                for d, extent in zip(self.dims, shape, strict=True)
            )
        )


def links(op: Operation) -> Iterator[Link]:
    """For each operand or result whose layout follows from another value of `op`: how it does."""
    match op:
        case vector.Broadcast() if is_vector(op.source):
            source, result = op.source.type.shape, op.vector.type.shape
            first = len(result) - len(source)
            dims = tuple(
                first + d if n == result[first + d] else None for d, n in enumerate(source)
            )
            yield Link(op.source, 0, op.vector, dims)
        case vector.Transpose():
            order = list(op.permutation)
            yield Link(
                op.vector, 0, op.results[0], tuple(order.index(d) for d in range(len(order)))
            )
        case vector.ShapeCast():
            shape = list(op.result.type.shape)
            long = iter(d for d, extent in enumerate(shape) if extent > 1)
            dims = tuple(next(long) if extent > 1 else None for extent in op.source.type.shape)
            yield Link(op.source, 0, op.results[0], dims)
        case vector.Contract():
            yield from _of_product(op)
        case vector.MultiReduction() if is_vector(op.results[0]):
            kept = [d for d in range(op.source.type.rank) if d not in op.reduction_dims]
            yield Link(op.results[0], 0, op.source, tuple(kept), is_result=True)
        case vector.TransferRead() | vector.TransferWrite():
            held = op.results[0] if isinstance(op, vector.TransferRead) else op.valueToStore
            if op.mask is not None:
                along = [
                    (e.position, lane)
                    for lane, e in enumerate(op.map.results)
                    if isinstance(e, AffineDim)
                ]
                lanes = tuple(lane for _, lane in sorted(along))
                yield Link(op.mask, list(op.operands).index(op.mask), held, lanes)


def _of_product(op: vector.Contract) -> Iterator[Link]:
    lhs, rhs, acc = ([e.position for e in m.map.results] for m in op.indexing_maps)
    for number, (value, iterators) in enumerate(((op.lhs, lhs), (op.rhs, rhs))):
        dims = tuple(acc.index(i) if i in acc else None for i in iterators)
        yield Link(value, number, op.results[0], dims)


_DEALT = (
    vector.Broadcast, vector.Transpose, vector.ShapeCast, vector.Contract, vector.MultiReduction,
    vector.TransferRead, vector.TransferWrite, vector.Gather, vector.Scatter, vector.CreateMask,
    vector.ConstantMask, vector.Step, scf.For, scf.If, scf.Yield,
)  # fmt: skip


def obstacle(op: Operation) -> str | None:
    """Why an operation cannot be distributed over threads; None where it can."""
    if isinstance(op, scf.Parallel):
        return f"a '{op.name}' op within a group"
    if isinstance(op, memref.Alloca) and op.operands:
        return "a buffer of the group whose size is not known"
    vectors = [v for v in (*op.operands, *op.results) if is_vector(v)]
    if vectors and isinstance(op, arith.IntDivision) and not op.is_speculatable():
        return "a division whose divisor may be 0 beyond the edge of the vector"
    if not vectors or is_elementwise(op) or op.has_trait(ConstantLike):
        return None
    if not isinstance(op, _DEALT):
        return f"a '{op.name}' op on vectors"
    if isinstance(op, vector.ShapeCast) and len(vectors) == 1:
        return "a vector without dimensions"
    if isinstance(op, vector.Contract) and not is_vector(op.results[0]):
        return "a product whose result is a number"
    return None

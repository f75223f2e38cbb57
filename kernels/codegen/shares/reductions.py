"""Reductions of shares: within a thread, by shuffles in a subgroup, by a buffer in a group."""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects import arith, gpu, memref, vector
from ....dialects.vector.attributes import CombiningKind
from ....ir.builder import Builder
from ....ir.core import Value
from ....ir.types import MemRefType, VectorType, i32
from ..combining import combiner_op, identity
from .layouts import layouts_of
from .links import is_vector
from .masks import within
from .shares import Shares


def reduction(shares: Shares, op: vector.MultiReduction, at: Builder) -> None:
    """Reduce a share, then combine those of the threads along the reduced dimensions."""
    source, layout = shares.of(op.source), shares.layout(op.source)
    shape, dims = op.source.type.shape, list(op.reduction_dims)
    element, kind = op.source.type.element_type, op.kind
    if not layout.along(dims).covers([shape[d] for d in dims]):
        mask = within(shares, layout, shape, None, at)
        neutral = at.insert(arith.Constant.of(identity(kind, element), source.type)).result
        source = at.insert(arith.Select(mask, source, neutral)).result  # type: ignore[arg-type]
    (type,) = shares.result_types(op)
    start = at.insert(arith.Constant.of(identity(kind, element), type)).result
    total = at.insert(
        vector.MultiReduction(CombiningKind(kind).value, source, start, tuple(dims), loc=op.loc)
    ).results[0]
    total = _over_threads(shares, total, sum(layout.dims[d].bits for d in dims), kind, at)
    combine = combiner_op(kind, element)
    done = at.insert(combine(total, shares.of(op.acc))).results[0]  # type: ignore[call-arg]
    if is_vector(op.results[0]):
        shares.layouts[op.results[0]] = layouts_of(op)[0]  # type: ignore[assignment]
    shares.set(op.results[0], done)


def _over_threads(shares: Shares, value: Value, bits: int, kind: str, at: Builder) -> Value:
    """Combine the values of all threads that differ in these bits; each gets the result."""
    near = bits & (shares.subgroup - 1)
    if near:
        value = _over_subgroup(shares, value, near, kind, at)
    far = bits & ~near
    return _over_group(shares, value, far, kind, at) if far else value


def _over_subgroup(shares: Shares, value: Value, bits: int, kind: str, at: Builder) -> Value:
    type = value.type
    element = getattr(type, "element_type", type)
    is_flat = not isinstance(type, VectorType) or type.rank == 1
    flat = value
    if not is_flat:
        row = VectorType((type.num_elements,), element)  # type: ignore[attr-defined]
        flat = at.insert(vector.ShapeCast(value, result=row)).results[0]
    combine = combiner_op(kind, element)
    width = at.insert(arith.Constant.of(shares.subgroup, i32)).result
    bit = 1
    while bit <= bits:
        if bits & bit:
            by = at.insert(arith.Constant.of(bit, i32)).result
            other = at.insert(gpu.Shuffle(flat, by, width, "xor")).results[0]
            flat = at.insert(combine(flat, other)).results[0]  # type: ignore[call-arg]
        bit *= 2
    return flat if is_flat else at.insert(vector.ShapeCast(flat, result=type)).results[0]


def _over_group(shares: Shares, value: Value, bits: int, kind: str, at: Builder) -> Value:
    """As `_over_threads`, through a buffer in which each thread has a row."""
    type = value.type
    element = getattr(type, "element_type", type)
    shape = type.shape if isinstance(type, VectorType) else ()
    buffer_type = MemRefType((shares.threads, *shape), element)
    buffer = shares.buffer(buffer_type)
    zeros = [shares.number(0)] * len(shape)
    padding = at.insert(arith.Constant.of(0, element)).result

    def read(row: Value) -> Value:
        if not shape:
            return at.insert(memref.Load(buffer, [row])).results[0]
        new = vector.TransferRead.of(buffer, [row, *zeros], padding, type)  # type: ignore[arg-type]
        return at.insert(new).results[0]

    if shape:
        at.insert(vector.TransferWrite.of(value, buffer, [shares.thread, *zeros]))
    else:
        at.insert(memref.Store(value, buffer, [shares.thread]))
    first = shares.without(bits)
    combine = combiner_op(kind, element)
    total: Value | None = None
    for number in subsets(bits):
        row = first
        if number:
            row = at.insert(arith.AddI(first, shares.number(number))).result
        other = read(row)
        total = other if total is None else at.insert(combine(total, other)).results[0]  # type: ignore[call-arg]
    assert total is not None
    return total


def subsets(bits: int) -> Iterator[int]:
    """All numbers whose set bits are among `bits`, in ascending order."""
    number = 0
    while True:
        yield number
        number = (number - bits) & bits
        if not number:
            return

"""Tensor comprehensions as structured ops: a fill and one `linalg.generic`.

    out[b, m, n] += lhs[b, m, k] * rhs[b, k, n]

becomes a `linalg.fill` of the combiner's neutral element, and a generic op that has the
comprehension's maps and, as its region, the scalar expression. An operand of extent 1 that is
broadcast has the constant 0 in its map. If an extent may turn out to be 1 at run time, the operand
is read through a view whose stride in that dimension is 0 in this case.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, math, memref, nn
from ...dialects.marks import IMPLIED
from ...dialects.strict_math import is_strict
from ...ir.affine import AffineBinary, AffineConstant, AffineDim, AffineExpr, AffineMap
from ...ir.comprehension import Access, Comprehension, Extent
from ...ir.core import Operation, Value
from ...ir.types import FloatType, MemRefType, Type, bf16, element_type, f16
from ...passes.nn.building import FLUSHES, OVER_NAN
from .emitter import Emitter
from .extents import Size
from .reading import through_movements
from .scalars import Scalars, apply, compute_type, is_float, larger_number, narrow
from .storage import storage_type


def extent_size(e: Emitter, extent: Extent, inputs: Sequence[Value]) -> Size:
    """The extent of a dimension, found from the operands' buffers."""
    sources = [e.size(inputs[operand], axis) for operand, axis in extent.sources]
    if extent.broadcast:
        found = sources[-1]
        for size in reversed(sources[:-1]):
            if size is found:
                continue
            found = e.select(e.compare("eq", size, 1), found, size)
        return found
    return affine_size(e, extent.expr, sources)


def affine_size(e: Emitter, expr: AffineExpr, dims: Sequence[Size]) -> Size:
    """The value of an affine expression of extents."""
    match expr:
        case AffineConstant(value):
            return value
        case AffineDim(position):
            return dims[position]
        case AffineBinary(kind, lhs, rhs):
            a, b = affine_size(e, lhs, dims), affine_size(e, rhs, dims)
            match kind:
                case "+":
                    return e.add(a, b)
                case "*":
                    return e.mul(a, b)
                case "floordiv":
                    return e.floordiv(a, b)
                case "ceildiv":
                    return e.ceildiv(a, b)
            return e.sub(a, e.mul(e.floordiv(a, b), b))
    raise TypeError(expr)


def dimension_sizes(
    e: Emitter, form: Comprehension, inputs: Sequence[Value], out: Value | None = None
) -> list[Size]:
    """The extents of the iteration space, from the buffer `out` if it is given,
    else the operands.
    """
    axes = {d.position: axis for axis, d in enumerate(form.out.results)}  # type: ignore[attr-defined]

    def size(number: int) -> Size:
        dim = form.dims[number]
        if dim.size is not None:
            return dim.size
        if out is not None and number in axes:
            return e.size(out, axes[number])
        return extent_size(e, dim.extent, inputs)

    return [size(number) for number in range(len(form.dims))]


def _require_fit(
    e: Emitter, form: Comprehension, inputs: Sequence[Value], sizes: Sequence[Size]
) -> None:
    """Emit checks that the operands agree on extents that are known only at run time."""
    for access in form.accesses:
        buffer = inputs[access.operand]
        if not isinstance(buffer.type, MemRefType):
            continue
        for axis, expr in enumerate(access.map.results):
            if not isinstance(expr, AffineDim) or buffer.type.shape[axis] is not None:
                continue
            size, wanted = e.size(buffer, axis), sizes[expr.position]
            repeats = axis in access.broadcasts
            extent = form.dims[expr.position].extent
            if extent.sources[:1] == ((access.operand, axis),):
                continue  # it is the extent, or 1
            if extent.given:
                fits = e.compare("sge", size, wanted)
                e.require(fits, f"an operand has fewer than {wanted} elements along axis {axis}")
            else:
                text = f"extent {axis} of an operand does not fit the others'"
                e.require_equal(size, wanted, text, or_one=repeats)


def result_sizes(e: Emitter, form: Comprehension, inputs: Sequence[Value]) -> list[Size]:
    """The extents of the result; emits checks that the operands fit each other."""
    sizes = dimension_sizes(e, form, inputs)
    _require_fit(e, form, inputs, sizes)
    return [sizes[d.position] for d in form.out.results]  # type: ignore[attr-defined]


def lower(e: Emitter, op) -> None:
    """Lower an op that has a comprehension over exactly its operands."""
    form, operands = through_movements(op.comprehension(), op.operands)
    inputs = [e.operand(v) for v in operands]
    result = op.results[0]
    out = e.destination(result, result_sizes(e, form, inputs))
    over_nan = op.ignores_nan or OVER_NAN in op.attributes
    before = e.block.last
    write(e, form, inputs, out, result.type.element_type, over_nan)
    if FLUSHES in op.attributes and e.block.last is not None:
        for inner in e.block.last.walk():
            if isinstance(inner, math.Exp):
                inner.fastmath = "afn"
    if _is_rounded_by_type(op):
        _contract_casts(e.block.first if before is None else before.next)


def _is_rounded_by_type(op: Operation) -> bool:
    """Whether an op's results of 16 bits may stay unrounded within a kernel.

    Most ops round only because their type has 16 bits, so casts there and back again may be left
    out. An `nn.cast` that the model has must round, and so must numbers that are compared. With
    strict math, everything is rounded.
    """
    element = element_type(op.results[0].type)
    if is_strict(op) or not isinstance(element, FloatType):
        return False
    return not isinstance(op, nn.Cast) or IMPLIED in op.attributes


_STEPS = (math.Ceil, math.Floor, math.RoundEven, arith.RemF)
"""Functions that jump: both x of x - floor(x) must be the same, rounded or not."""


def _contract_casts(first: Operation | None) -> None:
    """Allow kernels to leave out the casts to 16 bits and back, from operation `first` on."""
    inner: list[Operation] = []
    while first is not None:
        inner += first.walk()
        first = first.next
    if any(isinstance(op, _STEPS) for op in inner):
        return
    for op in inner:
        if isinstance(op, arith.ExtF | arith.TruncF):
            narrow = op.input if isinstance(op, arith.ExtF) else op.out
            if narrow.type in (f16, bf16):
                op.fastmath = "contract"


def write(
    e: Emitter,
    form: Comprehension,
    inputs: Sequence[Value],
    out: Value,
    element: Type,
    over_nan: bool = False,
) -> None:
    """Write a comprehension's result to the buffer `out`, whose nn element type is `element`.

    An input is a buffer, or a scalar that all elements of the operand are. With `over_nan`, a
    maximum passes over NaN.
    """
    sizes = dimension_sizes(e, form, inputs, out)
    reads, maps = [], []
    for access in form.accesses:
        if isinstance(inputs[access.operand].type, MemRefType):
            reads.append(_broadcast(e, access, inputs[access.operand], sizes))
            maps.append(access.map)
    window = _window(form, maps, sizes)
    extra = [e.window([sizes[d] for d in window])] if window else []  # type: ignore[misc]
    if window:
        rank = len(form.dims)
        maps.append(AffineMap(rank, 0, tuple(AffineDim(d) for d in window)))

    def element_values(elements: Sequence[Value]) -> list[Value]:
        left = iter(elements)
        return [
            next(left) if isinstance(inputs[a.operand].type, MemRefType) else inputs[a.operand]
            for a in form.accesses
        ]

    if not form.combiner:

        def assign(e: Emitter, *elements: Value) -> Value:
            return Scalars(e, element_values(elements)).element(form.value, element)

        e.generic([*reads, *extra], [out], [*maps, form.out], form.iterators, assign)
        return

    kept = storage_type(compute_type(form.value.type))
    total = out
    if element_type(out.type) is not kept:
        total = e.alloc([sizes[d.position] for d in form.out.results], kept)  # type: ignore[attr-defined]
    e.fill(e.constant(form.identity, kept), total)

    def combine(e: Emitter, *elements: Value) -> Value:
        value = Scalars(e, element_values(elements)).write(form.value)
        if over_nan and form.combiner == "max" and is_float(form.value.type):
            return larger_number(e, value, elements[-1])
        return apply(e, form.combiner, form.value.type, [elements[-1], value])

    e.generic([*reads, *extra], [total], [*maps, form.out], form.iterators, combine)
    if total is not out:
        e.elementwise([total], out, lambda e, x, _: narrow(e, x, element))


def _broadcast(e: Emitter, access: Access, buffer: Value, sizes: Sequence[Size]) -> Value:
    """The operand, or a view that repeats it along axes whose extent turns out to be 1."""
    extents = e.sizes(buffer)
    results = access.map.results
    unsure = [a for a in access.broadcasts if extents[a] is not sizes[results[a].position]]  # type: ignore[attr-defined]
    if not unsure:
        return buffer
    if not buffer.type.is_row_major:
        whole = e.alloc(extents, element_type(buffer.type))
        e.copy(buffer, whole)
        buffer = whole
    strides = e.strides(extents)
    for axis in unsure:
        is_one = e.compare("eq", extents[axis], 1)
        strides[axis] = e.select(is_one, 0, strides[axis])
        extents[axis] = sizes[results[axis].position]  # type: ignore[attr-defined]
    return e.insert(memref.ReinterpretCast.of(buffer, 0, extents, strides)).result


def _window(form: Comprehension, maps: Sequence[AffineMap], sizes: Sequence[Size]) -> list[int]:
    """The dimensions that no map uses on their own, such as k in x[p + k], so no buffer tells their
    extent.
    """
    bare = {
        expr.position
        for map_ in (*maps, form.out)
        for expr in map_.results
        if isinstance(expr, AffineDim)
    }
    return [d for d in range(len(form.dims)) if d not in bare]

"""Lowering of reshapes: the same memory in another shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...dialects import arith, memref, nn, packed
from ...dialects.nn.views import copied_axes
from ...ir.core import Value
from ...ir.types import MemRefType, bf16, i1
from .emitter import Emitter, buffer_type
from .extents import Size
from .table import lowers


def matching_groups(a: Sequence[int], b: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Pairs of runs of dimensions of two shapes with equal products, as short as possible.

    [6, 4] and [2, 3, 4] give ([0], [0, 1]) and ([1], [2]). No extent is 0. Dimensions of extent 1
    that are left over belong to the last run.
    """
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        left, right = [i], [j]
        x, y = a[i], b[j]
        i, j = i + 1, j + 1
        while x != y:
            if x < y:
                x *= a[i]
                left.append(i)
                i += 1
            else:
                y *= b[j]
                right.append(j)
                j += 1
        found.append((left, right))
    if found:
        found[-1][0].extend(range(i, len(a)))
        found[-1][1].extend(range(j, len(b)))
    return found


def reshaped(e: Emitter, buffer: Value, shape: Sequence[int]) -> Value:
    """A view of a contiguous buffer of static shape in another static shape."""
    before = buffer.type.shape
    if tuple(before) == tuple(shape):
        return buffer
    if 0 in shape or 0 in before:
        return reinterpreted(e, buffer, list(shape))
    groups = matching_groups(before, shape)
    if not groups:  # one of the two has rank 0
        if not shape:
            return e.insert(memref.CollapseShape.of(buffer, [])).result
        if not before:
            return e.insert(memref.ExpandShape.of(buffer, [], list(shape))).result
    joined = [math.prod(before[i] for i in left) for left, _ in groups]
    if len(joined) != len(before):
        buffer = e.insert(memref.CollapseShape.of(buffer, [left for left, _ in groups])).result
    if len(joined) != len(shape):
        groups_out = [right for _, right in groups]
        buffer = e.insert(memref.ExpandShape.of(buffer, groups_out, list(shape))).result
    return buffer


def reinterpreted(e: Emitter, buffer: Value, sizes: Sequence[Size]) -> Value:
    """A view of a contiguous buffer in a shape that is known only at run time."""
    made = memref.ReinterpretCast.of(buffer, 0, sizes, e.strides(sizes))
    found = e.insert(made).result
    # The strides are those of a contiguous buffer, so the type need not name them.
    found.type = MemRefType(found.type.shape, found.type.element_type)
    return found


def reshape_sizes(e: Emitter, buffer: Value, shape: Sequence[int | None]) -> list[Size]:
    """The extents of the result of an `nn.reshape` of the buffer to a type of this shape."""
    copied = copied_axes(buffer.type.shape, shape)
    extents = e.sizes(buffer)
    unknown = [axis for axis, d in enumerate(shape) if d is None]
    rest = math.prod(d for axis, d in enumerate(shape) if d is not None and axis not in copied)
    total = e.product([d for axis, d in enumerate(extents) if axis not in copied.values()])
    left = e.floordiv(total, max(rest, 1)) if unknown else 1
    text = f"its operand does not have a multiple of {rest} elements"
    e.require_equal(
        e.mul(left, rest), total, text if unknown else text.replace("a multiple of ", "")
    )
    return [
        extents[copied[axis]] if axis in copied else left if d is None else d
        for axis, d in enumerate(shape)
    ]


@lowers(nn.Reshape)
def lower_reshape(e: Emitter, op: nn.Reshape) -> None:
    """A view of the operand."""
    buffer = e.buffer(op.x)
    shape = buffer_type(op.out.type).shape
    if e.shared.get(op.out) is op.x:
        e.buffers[op.out] = e.placed[op.out]
        return
    if None in shape or None in buffer.type.shape:
        view = reinterpreted(e, buffer, reshape_sizes(e, buffer, shape))
    else:
        view = reshaped(e, buffer, shape)
    e.bind(op.out, view)


@lowers(nn.Words)
def lower_words(e: Emitter, op: nn.Words) -> None:
    """A view of the same memory."""
    buffer = e.buffer(op.x)
    if buffer.type.element_type is bf16:
        e.bind(op.out, e.insert(packed.HalfWords(buffer)).result)
        return
    shape = buffer_type(op.out.type).shape
    total = e.product(e.sizes(buffer))
    flat = reinterpreted(e, buffer, [total])
    sizes = [e.size(buffer, axis) for axis, d in enumerate(shape) if d is None]
    type = buffer_type(op.out.type)
    view = memref.View(flat, e.index(0), [e.value(size) for size in sizes], result=type)
    e.bind(op.out, e.insert(view).result)


@lowers(nn.Assume)
def lower_assume(e: Emitter, op: nn.Assume) -> None:
    """Emit the check; the result is the operand."""
    holds = e.flags.get(op.condition)
    e.require(e.load(e.buffer(op.condition)) if holds is None else holds, op.message)
    if e.shared.get(op.out) is op.x:
        e.buffers[op.out] = e.placed[op.out]
    else:
        e.bind(op.out, e.buffer(op.x))


@lowers(nn.ReshapeDynamic)
def lower_reshape_dynamic(e: Emitter, op: nn.ReshapeDynamic) -> None:
    """Make a view whose extents are read from memory; -1 is computed from the
    number of elements.
    """
    buffer, shape = e.buffer(op.x), e.buffer(op.shape)
    type = buffer_type(op.out.type)
    given = [
        d if d is not None else e.load_extent(shape, [axis], least=-1)
        for axis, d in enumerate(type.shape)
    ]
    rest = _left_over(e, e.product(e.sizes(buffer)), given)
    sizes = [
        size if isinstance(size, int) else e.select(e.compare("eq", size, -1), rest, size)
        for size in given
    ]
    e.bind(op.out, reinterpreted(e, buffer, sizes))


def _left_over(e: Emitter, total: Size, given: Sequence[Size]) -> Size:
    """The extent that -1 stands for; emits a check that the shape `given` has `total` elements.

    It divides by one extent after the other, since their product could overflow.
    """
    left: Size = total
    holes: Size = 0
    exact, empty = e.constant(1, i1), e.constant(0, i1)
    for size in given:
        divisor = e.max(size, 1)
        before = e.value(left)
        left = e.insert(arith.DivUI(before, e.value(divisor))).result
        whole = e.compare("eq", e.mul(left, divisor), before)
        exact = e.insert(arith.AndI(exact, whole)).result
        empty = e.insert(arith.OrI(empty, e.compare("eq", size, 0))).result
        holes = e.add(holes, e.select(e.compare("eq", size, -1), 1, 0))
    one_hole, no_hole = e.compare("eq", holes, 1), e.compare("eq", holes, 0)
    used_up = e.insert(arith.OrI(one_hole, e.compare("eq", left, 1))).result
    full = e.insert(arith.AndI(exact, used_up)).result
    none = e.insert(arith.AndI(no_hole, e.compare("eq", total, 0))).result
    few = e.compare("sle", holes, 1)
    fits = e.insert(arith.AndI(few, e.insert(arith.Select(empty, none, full)).result)).result
    e.require(fits, "the shape does not hold as many elements as its operand has")
    return left

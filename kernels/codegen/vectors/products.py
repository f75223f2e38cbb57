"""Products and reductions of n-dimensional vectors, piece by piece.

The loops over pieces are, from the outermost: the reduction, the copies (all dimensions but the
lanes), the lanes. So in each step of the reduction, the vectors of the operand that has the lanes
are loaded once, and each element of the other operand is used with all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from ....dialects import arith, vector
from ....dialects.arith.attributes import FastMathAttr
from ....ir.attributes import Attribute
from ....ir.core import Operation, Value
from ....ir.rewriting import constant_number
from ....ir.types import FloatType, VectorType
from ..code import make
from ..combining import combiner_op, identity
from .expansion import Copies, Expansion
from .lanes import ONE, Part, lanes_of, parts_of
from .pieces import Piece, as_vector, is_vector

FLAGS = "fastmath"
"""The attribute of a `vector.multi_reduction` with the fast-math flags of its combiner."""


def contract(e: Expansion, op: vector.Contract) -> None:
    """All pieces of a contraction."""
    maps = [tuple(x.position for x in map.results) for map in op.maps]  # type: ignore[attr-defined]
    if not maps[2]:
        _inner_product(e, op, maps)
        return
    sizes = op.extents()
    reduced = [i for i, kind in enumerate(op.iterators) if kind == "reduction"]
    lanes, outer = maps[2][-1], maps[2][:-1]
    parts = e.widths.parts(op.result)
    copies = list(product(*(range(sizes[i]) for i in outer)))
    at = [0] * len(sizes)
    totals: dict[tuple[Copies, Part], Piece] = {}
    for step in product(*(range(sizes[i]) for i in reduced)):
        for i, n in zip(reduced, step, strict=True):
            at[i] = n
        for copy in copies:
            for i, n in zip(outer, copy, strict=True):
                at[i] = n
            for part in parts:
                a, b = (
                    _converted(e, _factor(e, value, map, at, lanes, part), part, op)
                    for value, map in ((op.lhs, maps[0]), (op.rhs, maps[1]))
                )
                key = copy, part
                total = totals[key] if key in totals else e.piece(op.acc, copy, part)
                totals[key] = _accumulate(e, op, a, b, total, part)
    for (copy, part), total in totals.items():
        e.set(op.result, copy, part, total)
    e.replaced.add(op.result)


def _factor(
    e: Expansion, value: Value, map: Sequence[int], at: Sequence[int], lanes: int, part: Part
) -> Piece:
    """The piece of a contraction's operand at a point: a scalar where it has no lanes."""
    index = tuple(at[i] for i in map)
    if lanes not in map:
        return e.element(value, index)
    if map[-1] == lanes:
        return e.piece(value, index[:-1], part)
    d = list(map).index(lanes)
    places = [(*index[:d], part.offset + i, *index[d + 1 :]) for i in range(part.lanes)]
    return e.from_elements([e.element(value, place) for place in places], part.width)


def _converted(e: Expansion, piece: Piece, part: Part, op: Any) -> Piece:
    """A factor in the element type of the sum."""
    assert isinstance(piece, Value)
    wanted = getattr(op.result.type, "element_type", op.result.type)
    own = getattr(piece.type, "element_type", piece.type)
    if own is wanted:
        return piece
    cast = arith.ExtF if isinstance(wanted, FloatType) else arith.ExtSI
    type = VectorType((part.width,), wanted) if is_vector(piece) else wanted
    return e.code.value(make(cast, (piece,), (type,)))


def _accumulate(e: Expansion, op: Any, a: Piece, b: Piece, total: Piece, part: Part) -> Piece:
    if op.kind == "add":
        return e.multiply_add(a, b, total, part, op)
    kind = getattr(op.result.type, "element_type", op.result.type)
    multiply = arith.MulF if isinstance(kind, FloatType) else arith.MulI
    term = e.compute(multiply, [a, b], part, (kind,), op)[0]
    return e.compute(combiner_op(op.kind, kind), [total, term], part, (kind,), op)[0]


def _inner_product(e: Expansion, op: vector.Contract, maps: list[tuple[int, ...]]) -> None:
    """A contraction to a scalar: products along the lanes, reduced at the end."""
    sizes = op.extents()
    lanes = maps[0][-1] if maps[0] and maps[0][-1] == maps[1][-1] else None
    kind, type = op.kind, op.result.type
    outer = [i for i in range(len(sizes)) if i != lanes]
    parts = (ONE,) if lanes is None else parts_of(sizes[lanes], e.widths.width(op.lhs))
    found: list[Value] = []
    for part in parts:
        total: Piece = e.code.number(identity(kind, type), type)
        at = [0] * len(sizes)
        for step in product(*(range(sizes[i]) for i in outer)):
            for i, n in zip(outer, step, strict=True):
                at[i] = n
            a, b = (
                _converted(e, _inner_factor(e, value, map, at, lanes, part), part, op)
                for value, map in ((op.lhs, maps[0]), (op.rhs, maps[1]))
            )
            total = _accumulate(e, op, a, b, total, part)
        found.append(_across(e, kind, [(total, part)], {}))
    acc = op.acc
    for value in found:
        acc = e.code.value(make(combiner_op(kind, type), (acc, value), (type,)))
    op.result.replace_all_uses_with(acc)


def _inner_factor(
    e: Expansion,
    value: Value,
    map: Sequence[int],
    at: Sequence[int],
    lanes: int | None,
    part: Part,
) -> Piece:
    index = tuple(at[i] for i in map)
    return e.element(value, index) if lanes is None else e.piece(value, index[:-1], part)


def outer_product(e: Expansion, op: vector.OuterProduct) -> None:
    """All pieces of an outer product."""
    type = op.result.type.element_type
    scalar = not isinstance(op.rhs.type, VectorType)
    for copies, part in e.places(op.result):
        if scalar:
            a: Piece = e.piece(op.lhs, copies, part)
            b: Piece = op.rhs
        else:
            a, b = e.element(op.lhs, copies), e.piece(op.rhs, (), part)
        if op.acc is None:
            multiply = arith.MulF if isinstance(type, FloatType) else arith.MulI
            total = e.compute(multiply, [a, b], part, (type,), op)[0]
        else:
            total = _accumulate(e, op, a, b, e.piece(op.acc, copies, part), part)
        e.set(op.result, copies, part, total)
    e.replaced.add(op.result)


# -- reductions ----------------------------------------------------------------------------------


def multi_reduction(e: Expansion, op: vector.MultiReduction) -> None:
    """All pieces of a reduction, copies combined two by two before lanes are."""
    source, kind = op.source, op.kind
    rank = source.type.rank
    reduced = set(op.reduction_dims)
    flags = {"fastmath": op.attributes[FLAGS]} if FLAGS in op.attributes else {}
    kept = [d for d in range(rank) if d not in reduced]
    if rank - 1 in reduced:
        _reduce_lanes(e, op, kept, flags)
        return
    for copies, part in e.places(op.dest):
        values = [
            _known(e, e.piece(source, at, part), part)
            for at in _fibre(source, kept, copies, reduced)
        ]
        total = _combined(e, kind, values, part, flags)
        e.set(op.dest, copies, part, _with_start(e, op, copies, part, total, flags))
    e.replaced.add(op.dest)


def _known(e: Expansion, piece: Piece, part: Part) -> Value:
    """A piece as a value, a scalar where it is one."""
    return piece if isinstance(piece, Value) else as_vector(e.code, piece, part.width)


def _fibre(source: Value, kept: list[int], at: Copies, reduced: set[int]) -> list[Copies]:
    """The copies of the source that are reduced to one copy of the result."""
    shape = source.type.shape
    known = dict(zip(kept, at, strict=False))
    ranges = [range(shape[d]) if d in reduced else (known[d],) for d in range(len(shape) - 1)]
    return list(product(*ranges))


def _reduce_lanes(
    e: Expansion, op: vector.MultiReduction, kept: list[int], flags: dict[str, Attribute]
) -> None:
    source, kind, reduced = op.source, op.kind, set(op.reduction_dims)
    is_scalar = not isinstance(op.dest.type, VectorType)
    shape = tuple(source.type.shape[d] for d in kept)
    elements: dict[Copies, Value] = {}
    for at in product(*map(range, shape)):
        pieces = []
        for copies in _fibre(source, kept, at, reduced):
            for part in e.widths.parts(source):
                pieces.append((e.piece(source, copies, part), part))
        total = _across(e, kind, pieces, flags)
        start = op.acc if is_scalar else e.element(op.acc, at)
        if not _is_identity(start, kind):
            combine = combiner_op(kind, total.type)
            total = e.code.value(make(combine, (start, total), (total.type,), **flags))
        elements[at] = total
    if is_scalar:
        op.dest.replace_all_uses_with(elements[()])
        return
    e.replaced.add(op.dest)
    _set_elements(e, op.dest, elements)


def _set_elements(e: Expansion, value: Value, elements: dict[Copies, Value]) -> None:
    """Make the pieces of a vector from its elements."""
    for copies, part in e.places(value):
        at = [(*copies, part.offset + i) for i in range(part.lanes)] if value.type.shape else [()]
        e.set(value, copies, part, e.from_elements([elements[i] for i in at], part.width))


def _with_start(
    e: Expansion, op: Any, copies: Copies, part: Part, total: Value, flags: dict[str, Attribute]
) -> Value:
    start = _known(e, e.piece(op.acc, copies, part), part)
    if _is_identity(start, op.kind):
        return total
    return _combined(e, op.kind, [start, total], part, flags)


def _is_identity(value: Value, kind: str) -> bool:
    """Whether a value is the identity of a kind of reduction."""
    type = getattr(value.type, "element_type", value.type)
    number = constant_number(value)
    return number is not None and number == identity(kind, type)


def _combined(
    e: Expansion,
    kind: str,
    values: list[Value],
    part: Part,
    flags: dict[str, Attribute],
) -> Value:
    """All pieces combined two by two."""
    first = values[0]
    type = getattr(first.type, "element_type", first.type)
    cls = combiner_op(kind, type)
    while len(values) > 1:
        pairs = list(zip(values[::2], values[1::2], strict=False))
        rest = values[-1:] if len(values) % 2 else []
        values = [_pair(e, cls, a, b, part, flags) for a, b in pairs] + rest
    return values[0]


def _pair(
    e: Expansion,
    cls: type[Operation],
    a: Value,
    b: Value,
    part: Part,
    flags: dict[str, Attribute],
) -> Value:
    if is_vector(a) or is_vector(b):
        a, b = as_vector(e.code, a, part.width), as_vector(e.code, b, part.width)
    return e.code.value(make(cls, (a, b), (a.type,), **flags))


def _across(
    e: Expansion, kind: str, pieces: list[tuple[Piece, Part]], flags: dict[str, Attribute]
) -> Value:
    """One scalar from all lanes of all pieces; those of one width are combined first."""
    by_width: dict[int, list[Value]] = {}
    for piece, part in pieces:
        by_width.setdefault(part.width, []).append(_active(e, kind, piece, part))
    found = []
    for width, values in by_width.items():
        total = _combined(e, kind, values, Part(0, width), flags)
        found.append(_reduced(e, kind, total, flags) if width > 1 else total)
    return _combined(e, kind, found, ONE, flags)


def _active(e: Expansion, kind: str, piece: Piece, part: Part) -> Value:
    """A piece as a vector whose unused lanes hold the identity of the reduction."""
    if part.width == 1:
        return e.scalar(piece)
    row = as_vector(e.code, piece, part.width)
    if part.count is None:
        return row
    neutral = e.code.splat_number(identity(kind, row.type.element_type), row.type)
    mask = e.code.mask(part.count, part.width)
    return e.code.value(make(arith.Select, (mask, row, neutral), (row.type,)))


def _reduced(e: Expansion, kind: str, row: Value, flags: dict[str, Attribute]) -> Value:
    """The lanes of a vector combined, in any order."""
    made = vector.Reduction(kind, row)
    if isinstance(row.type.element_type, FloatType):
        given = FastMathAttr("reassoc") if kind in ("add", "mul") else flags.get("fastmath")
        if given is not None:
            made.properties["fastmath"] = given
    return e.code.value(made)


def scan(e: Expansion, op: vector.Scan) -> None:
    """Expand a `vector.scan` into steps that each add one item to the running total.

    Along the last dimension an item is one element, along another one it is a whole piece.
    """
    dim, shape, last = op.reduction_dim, op.source.type.shape, op.accumulated_value
    e.replaced.update(op.results)
    if dim < len(shape) - 1:
        for copies, part in e.places(last):
            where = [(*copies[:dim], i, *copies[dim:]) for i in range(shape[dim])]
            start, *items = (
                _known(e, e.piece(value, at, part), part)
                for value, at in ((op.initial_value, copies), *((op.source, at) for at in where))
            )
            steps = _running(e, op, start, items, part)
            for at, step in zip(where, steps, strict=True):
                e.set(op.dest, at, part, step)
            e.set(last, copies, part, steps[-1])
        return
    found: dict[Copies, Value] = {}
    ends: dict[Copies, Value] = {}
    for at in product(*map(range, shape[:-1])):
        items = [e.element(op.source, (*at, i)) for i in range(shape[-1])]
        steps = _running(e, op, e.element(op.initial_value, at), items, ONE)
        found.update(((*at, i), step) for i, step in enumerate(steps))
        ends[at] = steps[-1]
    _set_elements(e, op.dest, found)
    _set_elements(e, last, ends)


def _running(
    e: Expansion, op: vector.Scan, total: Value, items: list[Value], part: Part
) -> list[Value]:
    """The running total at each item: with it if the scan is inclusive, else before it."""
    steps = []
    for i, item in enumerate(items):
        steps.append(total)
        is_first = op.inclusive and i == 0
        total = item if is_first else _combined(e, op.kind, [total, item], part, {})
    return [*steps[1:], total] if op.inclusive else steps


def reduction(e: Expansion, op: vector.Reduction) -> None:
    """The elements of a one-dimensional vector combined, with the flags that it has."""
    source, kind = op.vector, op.kind
    given = op.properties.get("fastmath")
    is_float = isinstance(op.dest.type, FloatType)
    flags: dict[str, Attribute] = {"fastmath": given} if is_float and given is not None else {}
    width = e.widths.width(source)
    if lanes_of(source.type) == width > 1:  # one piece: the operation stays as it is
        row = e.vector(source, (), e.widths.parts(source)[0])
        made = vector.Reduction.create(
            (row, *op._operands[1:]), (op.dest.type,), None, op.properties, loc=op.loc
        )
        op.dest.replace_all_uses_with(e.code.value(made))
        return
    if is_float and kind in ("add", "mul") and "reassoc" not in str(given):
        _reduce_in_order(e, op)
        return
    pieces = [(e.piece(source, copies, part), part) for copies, part in e.places(source)]
    total = _across(e, kind, pieces, flags)
    if op.acc is not None:
        cls = combiner_op(kind, total.type)
        total = e.code.value(make(cls, (op.acc, total), (total.type,), **flags))
    op.dest.replace_all_uses_with(total)


def _reduce_in_order(e: Expansion, op: vector.Reduction) -> None:
    """A sum or product of floats whose order counts: one piece after the other."""
    total = op.acc
    for copies, part in e.places(op.vector):
        piece = _active(e, op.kind, e.piece(op.vector, copies, part), part)
        if part.width == 1:
            cls = combiner_op(op.kind, piece.type)
            total = (
                piece if total is None else e.code.value(make(cls, (total, piece), (piece.type,)))
            )
            continue
        operands = (piece,) if total is None else (piece, total)
        total = e.code.value(
            vector.Reduction.create(operands, (op.dest.type,), None, op.properties, loc=op.loc)
        )
    assert total is not None
    op.dest.replace_all_uses_with(total)

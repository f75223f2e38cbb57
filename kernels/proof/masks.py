"""The conditions under which lanes are active under a mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

from ...dialects import arith, vector
from ...ir.core import Operation, Value
from ...ir.rewriting import constant_int
from .expressions import Form, added, is_number, number, parts_of, scaled, without
from .forms import Forms


def masked(forms: Forms, mask: Value | None, lanes: Sequence[Form]) -> Form:
    """The condition that a lane is active under a mask, whose dimensions are `lanes`."""
    if mask is None:
        return number(0)
    op = mask.defining_op
    form = number(0)
    if isinstance(op, arith.AndI):
        one, other = (masked(forms, operand, lanes) for operand in op.operands)
        return one + other
    if isinstance(op, arith.XOrI) and constant_int(op.rhs):
        return _left_out(forms, op.lhs.defining_op, lanes)
    if isinstance(op, vector.InsertStridedSlice):
        return _in_pieces(forms, op, lanes) or forms.variable(exact=False)
    if not isinstance(op, vector.CreateMask | vector.ConstantMask):
        return forms.variable(exact=False)
    for lane, bound in zip(lanes, _bounds_of(forms, op), strict=True):
        form = form + below(forms, lane, bound)
    return form


def _left_out(forms: Forms, op: Operation | None, lanes: Sequence[Form]) -> Form:
    """The condition that a lane is inactive: it is beyond at least one bound of the mask."""
    if not isinstance(op, vector.CreateMask | vector.ConstantMask):
        return forms.variable(exact=False)
    form, inside = number(0), list[str]()
    for lane, bound in zip(lanes, _bounds_of(forms, op), strict=True):
        form = form + lane + bound
        inside.append(f"{lane.text} < {bound.text}")
    return form.given(f"not ({' and '.join(inside)})")


def _bounds_of(forms: Forms, op: vector.CreateMask | vector.ConstantMask) -> list[Form]:
    if isinstance(op, vector.CreateMask):
        return [forms.of(size) for size in op.sizes]
    return [number(size) for size in op.mask_dim_sizes]


_Pieces = dict[tuple[int, ...], list[Form]]
"""The bounds of the masks that a mask consists of, by the offset of each in it."""


def _in_pieces(forms: Forms, op: vector.InsertStridedSlice, lanes: Sequence[Form]) -> Form | None:
    """The condition that a lane is active under a mask of pieces; None if that is not understood.

    In each dimension there is one piece, or one for each lane, with bounds that change evenly:
    those of 4 lanes are n - t, n - t - 256, n - t - 512, n - t - 768.
    """
    found = _pieces(forms, op)
    if found is None:
        return None
    sizes, pieces = found
    shape = op.result.type.shape
    moving = [d for d, (size, extent) in enumerate(zip(sizes, shape, strict=True)) if size < extent]
    places = product(*(range(n if d in moving else 1) for d, n in enumerate(shape)))
    if any(sizes[d] != 1 for d in moving) or set(pieces) != set(places):
        return None
    first = pieces[(0,) * len(shape)]
    form = sum(lanes, number(0))
    for e, bound in enumerate(first):
        steps = {}
        for d in moving:
            next_ = pieces[tuple(int(d == other) for other in range(len(shape)))][e]
            steps[d] = _difference(next_, bound)
        for offset, bounds in pieces.items():
            more = _difference(bounds[e], bound)
            if more is None or more != sum((steps[d] or 0) * offset[d] for d in moving):
                return None
        for d in moving:
            bound = added(bound, scaled(lanes[d], steps[d] or 0))
        form = form + below(forms, number(0) if e in moving else lanes[e], bound)
    return form


def _pieces(forms: Forms, op: vector.InsertStridedSlice) -> tuple[tuple[int, ...], _Pieces] | None:
    """(extents of each piece, the pieces) of a mask that has no other active lanes; else None."""
    found: _Pieces = {}
    sizes, rest = tuple(op.valueToStore.type.shape), op.result
    while isinstance(made := rest.defining_op, vector.InsertStridedSlice):
        piece = made.valueToStore.defining_op
        offset = tuple(at.value for at in made.offsets)
        if not isinstance(piece, vector.CreateMask | vector.ConstantMask):
            return None
        if tuple(piece.result.type.shape) != sizes or len(sizes) != len(offset) or offset in found:
            return None
        found[offset] = _bounds_of(forms, piece)
        rest = made.dest
    return (sizes, found) if constant_int(rest) == 0 else None


def _difference(one: Form, other: Form) -> int | None:
    """The difference of two forms; None if it is not constant."""
    terms = Counter[str]()
    for factor, term in (*parts_of(one.text), *parts_of(other.text, -1)):
        terms[term] += factor
    constant = terms.pop("1", 0)
    return None if any(terms.values()) else constant


def below(forms: Forms, form: Form, bound: Form) -> Form:
    """The condition that a form >= 0 is below a bound, written without `or` if possible.

    v < min(a, b) - t is v + t < a and v + t < b.
    """
    plain = (form + bound).given(f"{form.text} < {bound.text}")
    found = without(bound.text, forms.extremes)
    if found is None:
        return plain
    name, text = found
    relation, a, b = forms.extremes[name]
    rest = bound.about(text)
    if not set(bound.wanted) <= {*rest.wanted, *a.wanted, *b.wanted}:
        return plain
    moved = added(form, rest) if text != "0" else form
    if text != "0" and not forms.parameters.are_counts(moved.text, forms.ends):
        return plain
    if relation == "<=":
        return form + below(forms, below(forms, moved, a), b)
    for one, other in ((a, b), (b, a)):
        if is_number(one) and int(one.text) <= 0:
            return form + below(forms, moved, other)
    return plain

"""The position in a buffer of an element of a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from ...dialects import memref
from ...dialects.index_lists import mix
from ...ir.core import Value
from ...ir.traits import AllocatesMemory
from ...ir.types import MemRefType
from .expressions import Form, added, is_condition, number, parts_of, scaled
from .forms import Forms
from .polynomials import Polynomial

Shape = tuple[int, ...]
"""How many consecutive dimensions of a buffer form each index: (1, 1, 2) joins h and w of n x 16 x
h x w."""


@dataclass(frozen=True)
class Place:
    """An element of a buffer: by its indices, by its linear index `flat`, or by both.

    `size` is the number of the buffer's elements, given if the view might exceed it; then the view
    begins at `offset` and has `strides`. `terms` sum up to the linear index, each a number times a
    distance; the last terms are the view's indices, which are below `limits`. Indices refer to a
    `shape` of the buffer; None is its own shape.
    """

    buffer: Value
    indices: tuple[Form, ...] | None
    flat: Form | None
    size: Form | None = None
    offset: Form | None = None
    strides: tuple[int, ...] = ()
    terms: tuple[tuple[Form, Polynomial], ...] = ()
    limits: tuple[Form, ...] = ()
    shape: Shape | None = None
    is_row: bool = False
    """Whether the view is all elements of the buffer in a row."""

    @property
    def is_known(self) -> bool:
        """Whether the element is known."""
        return self.indices is not None or self.flat is not None

    @property
    def is_exact(self) -> bool:
        """Whether all parts of its position are known."""
        return all(form.is_exact for form in (*(self.indices or ()), self.flat or number(0)))


@dataclass(frozen=True)
class _Window:
    """A view by its start, a sum of products, and its strides."""

    buffer: Value
    start: tuple[tuple[Form, Polynomial], ...]
    strides: tuple[Polynomial, ...]
    is_cast: bool = False


def place_of(
    forms: Forms, view: Value, at: Sequence[Form], limits: tuple[Form, ...]
) -> Place | None:
    """The place of an element of a memref; None if its view is not understood."""
    found = _by_indices(forms, view, tuple(at))
    window = _window(forms, view)
    if window is None:
        return None if found is None else Place(*found, None)
    buffer, indices = found if found is not None else (window.buffer, None)
    along = [_not_repeated(forms, i, by) for i, by in zip(at, window.strides, strict=True)]
    terms = (*window.start, *along)
    offset, flat = _sum(window.start), _sum(terms)
    strides = tuple(stride.constant or 0 for _, stride in along)
    if _is_row(forms, window, limits) and any(name in forms.products for name in at[0].variables):
        return Place(buffer, indices, flat, terms=_taken_apart(forms, at[0]), is_row=True)
    if flat is None or offset is None or not window.is_cast:
        return Place(buffer, indices, flat, terms=terms, limits=limits)
    size = size_of(forms, buffer)
    if size is None:  # Whether it is inside of the buffer is known by indices only.
        return Place(buffer, indices, None, terms=terms, limits=limits)
    return Place(buffer, indices, flat, size, offset, strides, terms, limits)


def _not_repeated(forms: Forms, at: Form, by: Polynomial) -> tuple[Form, Polynomial]:
    """An index along a dimension with a distance, without factors of the distance that are 0 or 1.

    Along a dimension that is repeated where n is 1, the distance is 0 where n is 1, else d. An
    index i times that is a number times d, which is 0 where n is 1, else i.
    """
    for name, where in forms.parameters.switches.items():
        left = by.divided_by_name(name)
        if left is not None:
            at, by = forms.chosen(where, number(0), at), left
    return at, by


def _is_row(forms: Forms, window: _Window, limits: Sequence[Form]) -> bool:
    """Whether a view is all elements of its buffer in a row."""
    if [stride.constant for stride in window.strides] != [1]:
        return False
    if any(form.text != "0" for form, _ in window.start):
        return False
    type = window.buffer.type
    if not isinstance(type, MemRefType) or not type.is_row_major:
        return False
    count = _count(forms, window.buffer)
    return count is not None and forms.polynomial(limits[0]) == count


def _count(forms: Forms, buffer: Value) -> Polynomial | None:
    """The product of a buffer's extents; None if one is no polynomial in parameters."""
    count = Polynomial.number(1)
    for dim in range(buffer.type.rank):  # type: ignore[attr-defined]
        extent = forms.polynomial(forms.extent(buffer, dim))
        if extent is None:
            return None
        count = count * extent
    return count


def _taken_apart(forms: Forms, index: Form) -> tuple[tuple[Form, Polynomial], ...]:
    """An index as a sum of terms, each a number times a polynomial in parameters.

    What is constant during a launch is such a polynomial if it has products: (h - 1)*w rows.
    """
    rest, terms, left = number(0), list[tuple[Form, Polynomial]](), [(index, Polynomial.number(1))]
    constant, plain = Polynomial({}), list[Form]()
    while left:
        form, by = left.pop()
        for times, name in parts_of(form.text):
            if name in forms.products:
                factor, distance = forms.products[name]
                left.append((factor, by * distance * times))
            elif by.constant is not None:
                form = scaled(Form(name), times * by.constant)
                fixed = forms.parameters.polynomial(form) if name != "1" else None
                if fixed is not None:
                    constant, plain = constant + fixed, [*plain, form]
                else:
                    rest = added(rest, form)
            else:
                terms.append((index.saying(name), by * times))
    if any(len(names) > 1 for names in constant.terms):
        terms.append((number(1), constant))
    else:
        rest = reduce(added, plain, rest)
    return *terms, (index.saying(rest.text), Polynomial.number(1))


def _sum(terms: Sequence[tuple[Form, Polynomial]]) -> Form | None:
    """The sum of number * distance; None if a distance is not constant."""
    total = number(0)
    for form, distance in terms:
        if distance.constant is None:
            return None
        total = added(total, scaled(form, distance.constant))
    return total


def _outer(forms: Forms, buffer: Value) -> Value:
    while buffer in forms.arguments:
        buffer = forms.arguments[buffer]
    return buffer


def _is_whole(buffer: Value) -> bool:
    """Whether a buffer is not a view of another."""
    op = buffer.defining_op
    return op is None or op.has_trait(AllocatesMemory) or isinstance(op, memref.GetGlobal)


def _by_indices(
    forms: Forms, view: Value, at: tuple[Form, ...]
) -> tuple[Value, tuple[Form, ...]] | None:
    """(buffer, indices) through subviews that keep the buffer's dimensions; else None."""
    while not _is_whole(view := _outer(forms, view)):
        match view.defining_op:
            case memref.SubView() as op:
                kept = op.kept
                steps = mix(op.static_strides, op.strides)
                if kept is None or not all(isinstance(step, int) for step in steps):
                    return None
                place = dict(zip(kept, at, strict=True))
                found = []
                for d, (offset, step) in enumerate(zip(_offsets(forms, op), steps, strict=True)):
                    inner = place.get(d, number(0))
                    found.append(added(offset, scaled(inner, step)))  # type: ignore[arg-type]
                view, at = op.source, tuple(found)
            case memref.Cast() | memref.MemorySpaceCast() as op:
                view = op.operands[0]
            case _:
                return None
    return view, at


def _offsets(forms: Forms, op: memref.SubView | memref.ReinterpretCast) -> list[Form]:
    mixed = mix(op.static_offsets, op.offsets)
    return [number(o) if isinstance(o, int) else forms.of(o) for o in mixed]


def _window(forms: Forms, view: Value) -> _Window | None:
    """The offset and strides of a view; None unless they are constant during a launch."""
    view = _outer(forms, view)
    if _is_whole(view):
        strides = _by_type(forms, view)
        return None if strides is None else _Window(view, (), strides)
    op = view.defining_op
    assert op is not None
    source = _window(forms, op.operands[0]) if op.operands else None
    match op:
        case memref.ReinterpretCast():
            buffer = _outer(forms, memref.base_buffer(op.source))
            buffer = _outer(forms, memref.base_buffer(buffer))
            strides, start = _distances(forms, op), _start(forms, op)
            if strides is None or start is None:
                return None
            return _Window(buffer, start, strides, is_cast=True)
        case memref.SubView() if source is not None:
            kept, steps = op.kept, _distances(forms, op)
            if kept is None or steps is None:
                return None
            offsets = zip(_offsets(forms, op), source.strides, strict=True)
            strides = tuple(source.strides[d] * steps[d] for d in kept)
            return _Window(source.buffer, (*source.start, *offsets), strides, source.is_cast)
        case memref.Cast() | memref.MemorySpaceCast():
            return source
        case memref.ExpandShape() | memref.CollapseShape() if source is not None:
            strides = _by_type(forms, view)
            if strides is None or source.strides != _by_type(forms, op.operands[0]):
                return None
            return _Window(source.buffer, source.start, strides, source.is_cast)
    return None


def _start(forms: Forms, op: memref.ReinterpretCast) -> tuple[tuple[Form, Polynomial], ...] | None:
    """The start of a view: its offset, or where another view starts whose offset it has."""
    offset = mix(op.static_offsets, op.offsets)[0]
    if isinstance(offset, Value):
        other = offset.defined_by(memref.ExtractStridedMetadata)
        if other is not None and offset is other.offset:
            window = _window(forms, other.source)
            return None if window is None else window.start
    return ((_offsets(forms, op)[0], Polynomial.number(1)),)


def _distances(
    forms: Forms, op: memref.SubView | memref.ReinterpretCast
) -> tuple[Polynomial, ...] | None:
    """The strides that a view names; None if they change during a launch."""
    found = [_distance(forms, step) for step in mix(op.static_strides, op.strides)]
    return None if None in found else tuple(found)  # type: ignore[arg-type]


def _distance(forms: Forms, step: int | Value) -> Polynomial | None:
    if isinstance(step, int):
        return Polynomial.number(step)
    other = step.defined_by(memref.ExtractStridedMetadata)
    if other is not None and step in other.strides:
        window = _window(forms, other.source)
        return None if window is None else window.strides[other.strides.index(step)]
    form = forms.of(step)
    return _switched(forms, form) or forms.polynomial(form)


def _switched(forms: Forms, form: Form) -> Polynomial | None:
    """The polynomial of a number that is 0 where a condition on parameters holds, or where it does
    not, else another polynomial; None for other numbers.
    """
    condition, *of = forms.choices.get(form.text) or (None,)
    where = forms.fixed(condition) if condition is not None else None
    if where is None or not is_condition(where) or where.wanted or number(0) not in of:
        return None
    if of[0] == number(0):
        other = forms.polynomial(of[1])
    else:
        where, other = where.saying(f"not ({where.text})"), forms.polynomial(of[0])
    return None if other is None else other * forms.parameters.switch(where)


def _by_type(forms: Forms, buffer: Value) -> tuple[Polynomial, ...] | None:
    """The strides from a memref's type and extents; None if the type leaves some unknown."""
    type = buffer.type
    if not isinstance(type, MemRefType):
        return None
    if not type.is_row_major:
        known = strides_of(type)
        return None if known is None else tuple(map(Polynomial.number, known))
    strides = [Polynomial.number(1)]
    for d in range(type.rank - 1, 0, -1):
        extent = forms.polynomial(forms.extent(buffer, d))
        if extent is None:
            return None
        strides.insert(0, strides[0] * extent)
    return tuple(strides) if type.rank else ()


def strides_of(type: MemRefType) -> tuple[int, ...] | None:
    """The strides of a memref type; None unless strides and extents are constant."""
    strides, _ = type.strides_and_offset() or ((None,), None)
    if None in strides or not type.has_static_shape or min(strides, default=0) < 0:  # type: ignore[type-var]
        return None
    return strides  # type: ignore[return-value]


def span_of(type: MemRefType) -> int | None:
    """The number of elements from the first to the last, for constant extents and strides.

    It includes gaps between rows, which are not elements of the memref.
    """
    strides = strides_of(type)
    if strides is None:
        return None
    shape: list[int] = list(type.shape)  # type: ignore[arg-type]
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))


def size_of(forms: Forms, buffer: Value) -> Form | None:
    """The number of elements that a buffer spans; None if that is not constant during a launch.

    Gaps between rows count.
    """
    type = buffer.type
    assert isinstance(type, MemRefType)
    if not type.is_row_major:
        span = span_of(type)
        return None if span is None else number(span)
    if not type.rank:
        return number(1)
    if None in type.shape[1:]:
        count = _count(forms, buffer)
        return None if count is None else forms.parameters.form(count)
    first = forms.extent(buffer, 0)
    return first.saying(f"{prod(type.shape[1:])}*({first.text})")

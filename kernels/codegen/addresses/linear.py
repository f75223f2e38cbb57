"""Index values as polynomials in the values they are computed from; views as windows on buffers.

Two index values with equal forms are equal, whatever operations made them; two accesses through
different views of a buffer touch the same element if their forms from the buffer's start are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from ....dialects import affine, arith, memref
from ....dialects.index_lists import mix
from ....dialects.memref.layouts import collapse, expand
from ....ir.core import Operation, Value
from ....ir.polynomial import Poly, Size, Symbol
from ....ir.rewriting import constant_int
from ....ir.types import IndexType, MemRefType, row_major_strides
from ...model.extents import Extent

MAX_TERMS = 16
"""A sum with more terms becomes a symbol of its own, so that products of sums stay small."""


@dataclass(frozen=True, eq=False)
class Index(Symbol):
    """An index value as a symbol, where its defining operation is not linear arithmetic."""

    value: Value


@dataclass(frozen=True, slots=True)
class View:
    """A memref as a window on a buffer: where it starts, from the buffer's first element.

    Units: elements.
    """

    root: Value
    offset: Size
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


class Forms:
    """The forms of index values and of memrefs, each found once."""

    def __init__(self) -> None:
        self._forms: dict[Value, Size] = {}
        self._views: dict[Value, View | None] = {}
        self._extents: dict[tuple[Value, int, str], Poly] = {}
        self._bases: dict[Poly, Poly] = {}

    # -- index values ------------------------------------------------------------------------

    def of(self, value: Value) -> Size:
        """The form of an index value; a value that is not understood is a symbol of its own."""
        known = self._forms.get(value)
        if known is None:
            op = value.defining_op
            handler = _INDEX_OPS.get(type(op)) if op is not None else None
            known = handler(self, op) if handler is not None else None
            if known is None or (isinstance(known, Poly) and len(known.terms) > MAX_TERMS):
                known = Poly.symbol(Index(value))
            self._forms[value] = known
        return known

    def mixed(self, entry: int | Value) -> Size:
        """The form of an entry of a mixed list."""
        return entry if isinstance(entry, int) else self.of(entry)

    def extent(self, buffer: Value, dim: int, kind: str = "extent") -> Poly:
        """An extent, stride or offset of a buffer that is known only at run time, as a symbol."""
        key = (buffer, dim, kind)
        if key not in self._extents:
            self._extents[key] = Poly.symbol(Extent(buffer, dim, kind))
        return self._extents[key]

    def flat(self, view: View, indices: Sequence[Value]) -> tuple[Size, int]:
        """An element's distance from the buffer's first one: a linear form plus a constant.

        Units: elements.
        """
        total = dict(_terms(view.offset))
        for index, stride in zip(indices, view.strides, strict=True):
            form = self.of(index)
            if not isinstance(stride, int):
                form, stride = form * stride, 1
            for product, factor in _terms(form).items():
                total[product] = total.get(product, 0) + factor * stride
        constant = total.pop((), 0)
        rest = {product: factor for product, factor in total.items() if factor}
        if not rest:
            return 0, constant
        base = Poly(rest)
        return self._bases.setdefault(base, base), constant

    # -- memrefs -----------------------------------------------------------------------------

    def view(self, buffer: Value) -> View | None:
        """The window on a buffer that a memref is; None if strides cannot express it."""
        if buffer not in self._views:
            op = buffer.defining_op
            handler = _VIEW_OPS.get(type(op)) if op is not None else None
            source = self.view(op._operands[0]) if handler is not None else None  # type: ignore[union-attr]
            if handler is None:
                self._views[buffer] = self._root(buffer)
            else:
                self._views[buffer] = None if source is None else handler(self, op, source)
        return self._views[buffer]

    def _root(self, buffer: Value) -> View | None:
        type = buffer.type
        if not isinstance(type, MemRefType) or (found := type.strides_and_offset()) is None:
            return None
        sizes = self._root_sizes(buffer)
        if type.layout is None:
            strides = row_major_strides(sizes)
        else:
            strides = [
                self.extent(buffer, i, "stride") if s is None else s for i, s in enumerate(found[0])
            ]
        return View(buffer, 0, tuple(sizes), tuple(strides))

    def _root_sizes(self, buffer: Value) -> list[Size]:
        shape = buffer.type.shape
        if None not in shape:
            return list(shape)
        made = buffer.defining_op
        if isinstance(made, memref.Alloc | memref.Alloca):
            given = iter(made.dynamicSizes)
            return [self.of(next(given)) if d is None else d for d in shape]
        return [self.extent(buffer, i) if d is None else d for i, d in enumerate(shape)]


def _terms(size: Size) -> dict:
    return size.terms if isinstance(size, Poly) else {(): size}


# -- operations on index values --------------------------------------------------------------------


def _constant(forms: Forms, op: Operation) -> Size | None:
    return constant_int(op.results[0])


def _add(forms: Forms, op: Operation) -> Size | None:
    a, b = op._operands
    return forms.of(a) + forms.of(b) if _is_index(op) else None


def _subtract(forms: Forms, op: Operation) -> Size | None:
    a, b = op._operands
    return forms.of(a) - forms.of(b) if _is_index(op) else None


def _multiply(forms: Forms, op: Operation) -> Size | None:
    a, b = op._operands
    return forms.of(a) * forms.of(b) if _is_index(op) else None


def _dim(forms: Forms, op: Operation) -> Size | None:
    number = constant_int(op._operands[1])
    if number is None or not isinstance(op._operands[0].type, MemRefType):
        return None
    view = forms.view(op._operands[0])
    return view.sizes[number] if view is not None and 0 <= number < len(view.sizes) else None


def _apply(forms: Forms, op: Operation) -> Size | None:
    map = op.map.map  # type: ignore[attr-defined]
    linear = map.results[0].linear(map.dim_count) if not map.symbol_count else None
    if linear is None:
        return None
    total: Size = linear[1]
    for value, factor in zip(op._operands, linear[0], strict=True):
        total = total + forms.of(value) * factor
    return total


def _is_index(op: Operation) -> bool:
    return isinstance(op.results[0].type, IndexType)


_INDEX_OPS: dict[type[Operation], Callable[[Forms, Any], Size | None]] = {
    arith.Constant: _constant,
    arith.AddI: _add,
    arith.SubI: _subtract,
    arith.MulI: _multiply,
    memref.Dim: _dim,
    affine.Apply: _apply,
}


# -- views -----------------------------------------------------------------------------------------


def _cast(forms: Forms, op: memref.Cast, source: View) -> View | None:
    return source if isinstance(op.dest.type, MemRefType) else None


def _subview(forms: Forms, op: memref.SubView, source: View) -> View | None:
    offset = source.offset
    strides: list[Size] = []
    for start, step, stride in zip(op.mixed_offsets, op.mixed_strides, source.strides, strict=True):
        offset = offset + forms.mixed(start) * stride
        strides.append(forms.mixed(step) * stride)
    sizes = [forms.mixed(size) for size in op.mixed_sizes]
    kept = op.kept
    if kept is None:
        return None
    return View(source.root, offset, tuple(sizes[i] for i in kept), tuple(strides[i] for i in kept))


def _collapse(forms: Forms, op: memref.CollapseShape, source: View) -> View | None:
    sizes, strides = collapse(op.groups, source.sizes, source.strides, mul)
    return View(source.root, source.offset, tuple(sizes), tuple(strides))


def _expand(forms: Forms, op: memref.ExpandShape, source: View) -> View | None:
    sizes = [forms.mixed(n) for n in mix(op.static_output_shape, op.output_shape)]
    strides = expand(op.groups, sizes, source.strides, mul)
    return View(source.root, source.offset, tuple(sizes), tuple(strides))


def _reinterpret(forms: Forms, op: memref.ReinterpretCast, source: View) -> View | None:
    """The window of a reinterpret_cast, whose offset counts from the start of the allocation."""
    found = source.root.type.strides_and_offset()
    own: Size = forms.extent(source.root, 0, "offset") if found[1] is None else found[1]
    offset = source.offset if memref.begins_alike(op) else forms.mixed(op.mixed_offsets[0]) - own
    sizes, strides = (list(map(forms.mixed, part)) for part in (op.mixed_sizes, op.mixed_strides))
    return View(source.root, offset, tuple(sizes), tuple(strides))


def _transpose(forms: Forms, op: memref.Transpose, source: View) -> View | None:
    order = op.order
    return View(
        source.root,
        source.offset,
        tuple(source.sizes[i] for i in order),
        tuple(source.strides[i] for i in order),
    )


_VIEW_OPS: dict[type[Operation], Callable[[Forms, Any, View], View | None]] = {
    memref.Cast: _cast,
    memref.SubView: _subview,
    memref.CollapseShape: _collapse,
    memref.ExpandShape: _expand,
    memref.ReinterpretCast: _reinterpret,
    memref.Transpose: _transpose,
}

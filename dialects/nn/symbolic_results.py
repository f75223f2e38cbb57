"""The extents of each op's results, from the extents and elements of its operands."""

from __future__ import annotations

from math import prod
from typing import Protocol

from ...ir.affine import AffineBinary
from ...ir.polynomial import Poly, Size, is_natural, quotient
from ...ir.types import Dim
from .. import nn
from ..vocabulary import *
from .known_values import KnownValues
from .normalization import NormalizationOp
from .pooling import PoolingOp
from .reductions import ArgOp, ReductionOp, RunningOp
from .resize import scaled
from .views import copied_axes
from .windows import Window

Part = tuple["Size | None", ...]
"""A shape in which None is an extent that could not be found; it will become a new symbol."""


class Extents(Protocol):
    """What the rules ask about other values and sizes; `SymbolicShapes` answers."""

    known: KnownValues

    def of(self, value: ValueLike) -> tuple[Size, ...]: ...
    def elements(self, value: ValueLike) -> list[Size | None] | None: ...
    def joined(self, sizes: Iterable[Size]) -> Size | None: ...
    def part(self, size: Size, number: int) -> Size: ...
    def symbol(self, key: Any, name: str, least: tuple[Size, int] | None = None) -> Poly: ...


Rule = Callable[[Extents, Any], Part | None]

ALL = 1 << 31
"""A slice's end of this or more means "to the end" in exported models."""

_RULES: dict[type, Rule] = {}


def part_of(shapes: Extents, op: Operation) -> Part | None:
    """The extents of an op's result, as far as they follow from its operands; None if none does."""
    for kind in type(op).__mro__:
        if kind in _RULES:
            return _RULES[kind](shapes, op)
    if isinstance(op, nn.NnOp) and not op.has_own_lowering:
        return None if "pads" in op.definition.attributes else _comprehended(shapes, op)
    return None


def _of(*kinds: type) -> Callable[[Rule], Rule]:
    """Make a function the rule for ops of these classes and those derived from them."""

    def enter(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(kinds, rule))
        return rule

    return enter


# -- comprehensions ---------------------------------------------------------------------------


def _comprehended(shapes: Extents, op: nn.NnOp) -> Part | None:
    """The extents of the result by the op's comprehension."""
    form = op.comprehension()
    if form is None:
        return None
    own = [shapes.of(v) for v in op.operands]

    def size(position: int) -> Size | None:
        dim = form.dims[position]
        if dim.size is not None:
            return dim.size
        sources = [own[operand][axis] for operand, axis in dim.extent.sources]
        if dim.extent.broadcast:
            return shapes.joined(sources)
        return _affine(shapes, dim.extent.expr, sources)

    return tuple(size(d.position) for d in form.out.results)  # type: ignore[attr-defined]


def _affine(shapes: Extents, expr: AffineExpr, dims: Sequence[Size]) -> Size | None:
    """The value of an affine expression of extents; a quotient that is rounded becomes a new
    symbol.
    """
    match expr:
        case AffineConstant(value):
            return value
        case AffineDim(position):
            return dims[position]
        case AffineBinary("floordiv", lhs, AffineConstant(number)):
            size = _affine(shapes, lhs, dims)
            return None if size is None else shapes.part(size, number)
        case AffineBinary("+" | "*" as kind, lhs, rhs):
            a, b = _affine(shapes, lhs, dims), _affine(shapes, rhs, dims)
            if a is None or b is None:
                return None
            return a + b if kind == "+" else a * b
    return None


# -- views, and shapes from values ------------------------------------------------------------


@_of(nn.Reshape)
def _reshape(shapes: Extents, op: nn.Reshape) -> Part:
    return reshaped(shapes, op.x, op.out.type.shape)


def reshaped(shapes: Extents, x: ValueLike, shape: Sequence[Dim]) -> Part:
    """The extents of x after an `nn.reshape` to a type of this shape."""
    own, before = shapes.of(x), as_value(x).type.shape
    copied = copied_axes(before, shape)
    wanted = [own[copied[axis]] if axis in copied else d for axis, d in enumerate(shape)]
    if None not in wanted:
        return tuple(wanted)
    rest = prod((d for axis, d in enumerate(shape) if d and axis not in copied), start=1)
    total = prod((d for axis, d in enumerate(own) if axis not in copied.values()), start=1)
    left = quotient(total, rest) if rest else None
    return tuple(left if d is None else d for d in wanted)


@_of(nn.ReshapeDynamic)
def _reshape_dynamic(shapes: Extents, op: nn.ReshapeDynamic) -> Part | None:
    """The wanted shape, with what is left of the elements in place of -1."""
    wanted = shapes.elements(op.shape)
    if wanted is None or -1 not in wanted:
        return None if wanted is None else tuple(wanted)
    rest = [d for d in wanted if d != -1]
    left = None
    if None not in rest:
        whole = prod(shapes.of(op.x), start=1)
        left = quotient(whole, prod(rest, start=1))  # type: ignore[type-var]
    return tuple(left if d == -1 else d for d in wanted)


@_of(nn.FillDynamic)
def _fill_dynamic(shapes: Extents, op: nn.FillDynamic) -> Part:
    return tuple(shapes.elements(op.shape) or ())


@_of(nn.BroadcastDynamic)
def _broadcast_dynamic(shapes: Extents, op: nn.BroadcastDynamic) -> Part | None:
    wanted, own = shapes.elements(op.shape), shapes.of(op.x)
    if wanted is None or len(wanted) < len(own):
        return None
    pairs = zip(wanted, (1,) * (len(wanted) - len(own)) + own, strict=True)
    return tuple(None if size is None else shapes.joined((size, d)) for size, d in pairs)


@_of(nn.BroadcastTo)
def _broadcast_to(shapes: Extents, op: nn.BroadcastTo) -> Part:
    return (1,) * (op.out.type.rank - op.x.type.rank) + shapes.of(op.x)


@_of(nn.Range)
def _range(shapes: Extents, op: nn.Range) -> Part | None:
    parts = [shapes.elements(v) for v in op.operands]
    if None in parts:
        return None
    ((start,), (limit,), (delta,)) = parts  # type: ignore[misc]
    if delta != 1 or start is None or limit is None:
        return None
    count = limit - start
    return (count,) if is_natural(count) else None


# -- movement and indexing --------------------------------------------------------------------


@_of(nn.Slice)
def _slice(shapes: Extents, op: nn.Slice) -> Part:
    steps = op.steps or (1,) * op.x.type.rank
    pairs = zip(shapes.of(op.x), op.starts, steps, strict=True)
    return tuple(d if (start, step) == (0, 1) else None for d, start, step in pairs)


@_of(nn.SliceDynamic)
def _slice_dynamic(shapes: Extents, op: nn.SliceDynamic) -> Part | None:
    """`[:]` keeps the extent, and `[:n]` gives the smaller of n and the extent."""
    axes, found = shapes.known.all(op.axes), list[Size | None](shapes.of(op.x))
    parts = [shapes.elements(v) for v in (op.starts, op.ends, op.steps)]
    if axes is None or None in parts:
        return None
    for axis, start, end, step in zip(axes, *parts, strict=True):  # type: ignore[arg-type]
        axis %= len(found)
        extent, found[axis] = found[axis], None
        if extent is None or (start, step) != (0, 1) or end is None:
            continue
        if end == extent or (isinstance(end, int) and end >= ALL - 1):
            found[axis] = extent
        elif isinstance(extent, int) and isinstance(end, Poly) and end.is_natural:
            found[axis] = shapes.symbol(("least", end, extent), "", (end, extent))
    return tuple(found)


@_of(nn.Concat)
def _concat(shapes: Extents, op: nn.Concat) -> Part:
    own = [shapes.of(v) for v in op.inputs]
    found = list(own[0])
    found[op.axis] = sum((shape[op.axis] for shape in own), start=0)
    return tuple(found)


@_of(nn.Split)
def _split(shapes: Extents, op: nn.Split) -> Part:
    own = shapes.of(op.x)
    return (*own[: op.axis], None, *own[op.axis + 1 :])


@_of(nn.Gather)
def _gather(shapes: Extents, op: nn.Gather) -> Part:
    data = shapes.of(op.data)
    return (*data[: op.axis], *shapes.of(op.indices), *data[op.axis + 1 :])


@_of(nn.GatherElements)
def _gather_elements(shapes: Extents, op: nn.GatherElements) -> Part:
    return shapes.of(op.indices)


@_of(nn.TopK)
def _top_k(shapes: Extents, op: nn.TopK) -> Part:
    """The operand's extents, with k along the axis."""
    shape, k = shapes.of(op.x), shapes.elements(op.k)
    count = None if k is None or k[0] is None or not is_natural(k[0]) else k[0]
    return tuple(count if axis == op.axis else size for axis, size in enumerate(shape))


@_of(nn.Pad)
def _pad(shapes: Extents, op: nn.Pad) -> Part:
    rank = op.x.type.rank
    ends = zip(shapes.of(op.x), op.pads[:rank], op.pads[rank:], strict=True)
    return tuple(d + (a + b) if a + b >= 0 else None for d, a, b in ends)


# -- windows and images -----------------------------------------------------------------------


@_of(nn.Conv)
def _conv(shapes: Extents, op: nn.Conv) -> Part | None:
    if None in op.weight.type.shape:
        return None
    window = op.window(op.operand_types, op)
    return (shapes.of(op.x)[0], op.weight.type.shape[0], *_slid(shapes, window, op.x))


@_of(PoolingOp)
def _pooling(shapes: Extents, op: PoolingOp) -> Part | None:
    if not op.is_resolved:
        return None
    window = op.window(op.operand_types, op)
    return (*shapes.of(op.x)[:2], *_slid(shapes, window, op.x))


def _slid(shapes: Extents, window: Window, x: ValueLike) -> Part:
    """The number of windows along each spatial dimension of x."""
    found = []
    for i, extent in enumerate(shapes.of(x)[2:]):
        room = extent + (window.begin[i] + window.end[i] - window.reach(i))
        found.append(shapes.part(room, window.strides[i]) + 1)
    return tuple(found)


@_of(nn.Resize)
def _resize(shapes: Extents, op: nn.Resize) -> Part | None:
    if op.scales is None:
        return None
    return tuple(_scaled(d, s) for d, s in zip(shapes.of(op.x), op.scales, strict=True))


def _scaled(extent: Size, scale: float) -> Size | None:
    """An extent times a scale, rounded down."""
    if scale == int(scale):
        return extent * int(scale)
    return scaled(extent, scale) if isinstance(extent, int) else None


@_of(nn.ResizeDynamic)
def _resize_dynamic(shapes: Extents, op: nn.ResizeDynamic) -> Part:
    sizes = shapes.elements(op.sizes) or [None] * len(op.axes)
    resampled = dict(zip(op.axes, sizes, strict=True))
    return tuple(resampled.get(axis, d) for axis, d in enumerate(shapes.of(op.x)))


@_of(nn.WinogradInput)
def _winograd_input(shapes: Extents, op: nn.WinogradInput) -> Part:
    images, blocks, *extents, block = shapes.of(op.x)
    tiles = (shapes.part(d - (3 - op.stride), op.stride * op.tile) for d in extents)
    return (op.points**2, blocks, images, *tiles, block)


@_of(nn.WinogradOutput)
def _winograd_output(shapes: Extents, op: nn.WinogradOutput) -> Part:
    _, blocks, images, *extents, block = shapes.of(op.x)
    extents = [d * op.tile for d in extents]
    if op.image is not None:
        pairs = zip(shapes.of(op.image)[2:4], op.more or (0, 0), strict=True)
        extents = [shapes.part(d + m, op.stride) for d, m in pairs]
    return (images, blocks, *extents, block)


# -- along axes -------------------------------------------------------------------------------


@_of(ReductionOp, ArgOp)
def _reduction(shapes: Extents, op: ReductionOp | ArgOp) -> Part:
    axes = op.axes if isinstance(op, ReductionOp) else (op.axis,)
    own = enumerate(shapes.of(op.x))
    if op.keep_dims:
        return tuple(1 if axis in axes else d for axis, d in own)
    return tuple(d for axis, d in own if axis not in axes)


@_of(NormalizationOp, RunningOp, nn.Trilu, nn.ScatterElements)
def _same(shapes: Extents, op: Operation) -> Part:
    return shapes.of(op.operands[0])

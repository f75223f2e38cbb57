"""Extents that only the run tells, as polynomials of symbols: those that are equal say so.

The names of an entry's dimensions, or those of a kernel's operands, are the symbols to start
from; each op says which extents of its results are made of which. Small tensors of integers
are followed element by element, so that a reshape by computed extents has known symbols, too:

    %x: tensor<?x?x768xf32>                                         [b, s, 768]
    %n = concat(gather(shape_of %x, 0), -1, 12, 64)                 its elements: b, -1, 12, 64
    %y = nn.reshape_dynamic %x, %n -> tensor<?x?x12x64xf32>         [b, s, 12, 64]

Two equal polynomials are equal extents in every run that gets to where they are used: names are
checked when a function begins, and what an op demands of its operands is checked by the op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ...ir.affine import AffineBinary, AffineConstant, AffineDim, AffineExpr
from ...ir.attributes import ArrayAttr, StringAttr
from ...ir.comprehension import Comprehension
from ...ir.core import Block, BlockArgument, Operation, OpResult, Value
from ...ir.declare import ValueLike, as_value
from ...ir.lazy import np
from ...ir.polynomial import Poly, Size, Symbol, is_natural, quotient
from ...ir.types import Dim, TensorType
from .. import nn
from .known_values import MOVES, SPREADS, KnownValues, is_short
from .normalization import NormalizationOp
from .pooling import PoolingOp
from .reductions import ArgOp, ReductionOp, RunningOp
from .resize import scaled
from .views import copied_axes
from .windows import Window

Shape = tuple[Size, ...]
Part = tuple["Size | None", ...]
"""A shape of which some extents may be new."""

ALL = 1 << 31
"""What exporters give as the end of a slice that has none."""


@dataclass(frozen=True, eq=False)
class NamedExtent(Symbol):
    """An extent that only the run tells; with `least`, the smaller of a size and a number."""

    name: str
    least: tuple[Size, int] | None = None

    def __repr__(self) -> str:
        return self.name


class SymbolicShapes:
    """The extents of values, found when asked for and remembered.

    `names` are those of the unknown dimensions of some block's arguments.
    """

    def __init__(self, block: Block | None = None, names: Sequence[Sequence[str]] = ()) -> None:
        self._shapes: dict[Value, Shape] = {}
        self._elements: dict[Value, np.ndarray | None] = {}
        self._known = KnownValues()
        self._symbols: dict[Any, NamedExtent] = {}
        self._types: dict[str, TensorType] = {}
        """Of the first argument with a dimension of each name."""
        if block is None:
            return
        for value, own in zip(block.args, names, strict=False):
            if isinstance(value.type, TensorType) and len(own) == value.type.rank:
                self._shapes[value] = tuple(
                    self._named(value, axis, name) if d is None else d
                    for axis, (d, name) in enumerate(zip(value.type.shape, own, strict=True))
                )
        for op in block:  # in order, so that none is found by a deep recursion
            for result in op.results:
                if isinstance(result.type, TensorType):
                    self.of(result)
                    self.elements(result)

    def _named(self, value: Value, axis: int, name: str) -> Size:
        if not name:
            return self.symbol((value, axis), "")
        self._types.setdefault(name, value.type)  # type: ignore[arg-type]
        return prod((self.symbol(one, one) for one in name.split("*")), start=1)

    def symbol(self, key: Any, name: str, least: tuple[Size, int] | None = None) -> Poly:
        """The symbol of a key; the same one each time."""
        if key not in self._symbols:
            self._symbols[key] = NamedExtent(name or f"d{len(self._symbols)}", least)
        return Poly.symbol(self._symbols[key])

    def sources(self, arguments: Iterable[BlockArgument]) -> dict[Any, tuple[BlockArgument, int]]:
        """For each symbol that is an extent of an argument, the first such, and the dimension."""
        found: dict[Any, tuple[BlockArgument, int]] = {}
        for value in arguments:
            if isinstance(value.type, TensorType):
                for axis, size in enumerate(self.of(value)):
                    if isinstance(size, Poly) and (symbol := _single(size)) is not None:
                        found.setdefault(symbol, (value, axis))
        return found

    # -- what is asked -------------------------------------------------------------------------

    def of(self, value: ValueLike) -> Shape:
        """The extents of a tensor."""
        value = as_value(value)
        found = self._shapes.get(value)
        if found is None:
            shape: Any = value.type.shape  # type: ignore[attr-defined]
            part: Part | None = None
            if None in shape and isinstance(value, OpResult):
                part = self._result(value.owner)
            if part is None or len(part) != len(shape):
                part = (None,) * len(shape)
            found = self._shapes[value] = tuple(
                d if d is not None else self.symbol((value, axis), "") if p is None else p
                for axis, (d, p) in enumerate(zip(shape, part, strict=True))
            )
        return found

    def remember(self, value: Value, shape: Shape) -> None:
        """Note the extents of a value that was made for them."""
        self._shapes[value] = shape

    def elements(self, value: ValueLike) -> list[Size | None] | None:
        """The elements of a small tensor of integers; None for one of which nothing is known."""
        found = self._array(as_value(value))
        return None if found is None else list(found.reshape(-1))

    def joined(self, sizes: Iterable[Size]) -> Size | None:
        """What extents become that are broadcast together; None if that is not known."""
        left = {size for size in sizes if size != 1}
        numbers = [size for size in left if isinstance(size, int)]
        if numbers or not left:
            return numbers[0] if numbers else 1
        # The smaller of n and 512 fits n only where it is n.
        left -= {size for size in left if (low := _least(size)) and low[1] > 1 and low[0] in left}
        return left.pop() if len(left) == 1 else None

    def estimate(self, size: Size, given: Callable[[TensorType], int], otherwise: int) -> int:
        """A size where each unknown extent of an argument is what is `given` for its type;
        `otherwise` where the size does not depend on these alone.
        """
        if isinstance(size, int):
            return size
        keys = {symbol: key for key, symbol in self._symbols.items()}

        def value(size: Size) -> int | None:
            if isinstance(size, int):
                return size
            factors = {symbol: extent(symbol) for symbol in size.symbols}
            if None in factors.values():
                return None
            return sum(
                factor * prod(factors[symbol] for symbol in product)  # type: ignore[misc]
                for product, factor in size.terms.items()
            )

        def extent(symbol: Any) -> int | None:
            match keys.get(symbol):
                case str() as name if name in self._types:
                    return given(self._types[name])
                case (BlockArgument() as argument, _):
                    return given(argument.type)  # type: ignore[arg-type]
                case ("part", of, number):
                    whole = value(of)
                    return None if whole is None else whole // number
                case ("least", end, number):
                    whole = value(end)
                    return None if whole is None else min(whole, number)
            return None

        found = value(size)
        return otherwise if found is None else max(found, 1)

    # -- shapes of results ---------------------------------------------------------------------

    def _result(self, op: Operation) -> Part | None:
        """As far as it is known what a result's extents are made of."""
        match op:
            case nn.Reshape():
                return self.reshaped(op.x, op.out.type.shape)
            case nn.ReshapeDynamic():
                return self._filled(self.elements(op.shape), self.of(op.x))
            case nn.FillDynamic():
                return tuple(self.elements(op.shape) or ())
            case nn.BroadcastDynamic():
                return self._broadcast(self.elements(op.shape), self.of(op.x))
            case nn.BroadcastTo():
                wide = (1,) * (op.out.type.rank - op.x.type.rank)
                return (*wide, *self.of(op.x))
            case nn.Slice():
                steps = op.steps or (1,) * op.x.type.rank
                pairs = zip(self.of(op.x), op.starts, steps, strict=True)
                return tuple(d if (start, step) == (0, 1) else None for d, start, step in pairs)
            case nn.SliceDynamic():
                return self._sliced(op)
            case nn.Concat():
                shapes = [self.of(v) for v in op.inputs]
                first = list(shapes[0])
                first[op.axis] = sum((shape[op.axis] for shape in shapes), start=0)
                return tuple(first)
            case nn.Gather():
                data = self.of(op.data)
                return (*data[: op.axis], *self.of(op.indices), *data[op.axis + 1 :])
            case nn.Split():
                own = self.of(op.x)
                return (*own[: op.axis], None, *own[op.axis + 1 :])
            case nn.GatherElements():
                return self.of(op.indices)
            case nn.Range():
                return self._range(op)
            case nn.Conv() if None not in op.weight.type.shape:
                window = op.window(op.operand_types, op)
                return (self.of(op.x)[0], op.weight.type.shape[0], *self._slid(window, op.x))
            case PoolingOp() if op.is_resolved:
                window = op.window(op.operand_types, op)
                return (*self.of(op.x)[:2], *self._slid(window, op.x))
            case nn.Resize() if op.scales is not None:
                pairs = zip(self.of(op.x), op.scales, strict=True)
                return tuple(self._scaled(d, scale) for d, scale in pairs)
            case nn.ResizeDynamic():
                sizes = self.elements(op.sizes) or [None] * len(op.axes)
                resampled = dict(zip(op.axes, sizes, strict=True))
                return tuple(resampled.get(axis, d) for axis, d in enumerate(self.of(op.x)))
            case nn.WinogradInput():
                images, blocks, *extents, block = self.of(op.x)
                step = op.stride * op.tile
                tiles = (self._part(d - (3 - op.stride), step) for d in extents)
                return (op.points**2, blocks, images, *tiles, block)
            case nn.WinogradOutput():
                _, blocks, images, *extents, block = self.of(op.x)
                extents = [d * op.tile for d in extents]
                if op.image is not None:
                    more = op.more or (0, 0)
                    own = self.of(op.image)[2:4]
                    pairs = zip(own, more, strict=True)
                    extents = [self._part(d + m, op.stride) for d, m in pairs]
                return (images, blocks, *extents, block)
            case nn.Pad():
                rank = op.x.type.rank
                ends = zip(self.of(op.x), op.pads[:rank], op.pads[rank:], strict=True)
                return tuple(d + (a + b) if a + b >= 0 else None for d, a, b in ends)
            case ReductionOp() | ArgOp():
                axes = op.axes if isinstance(op, ReductionOp) else (op.axis,)
                own = enumerate(self.of(op.x))
                if op.keep_dims:
                    return tuple(1 if axis in axes else d for axis, d in own)
                return tuple(d for axis, d in own if axis not in axes)
            case NormalizationOp() | RunningOp() | nn.Trilu() | nn.ScatterElements():
                return self.of(op.operands[0])
            case nn.NnOp() if not op.has_own_lowering and "pads" not in op.definition.attributes:
                form = op.comprehension()
                return None if form is None else self._comprehended(op, form)
        return None

    def _comprehended(self, op: nn.NnOp, form: Comprehension) -> Part:
        shapes = [self.of(v) for v in op.operands]

        def size(position: int) -> Size | None:
            dim = form.dims[position]
            if dim.size is not None:
                return dim.size
            sources = [shapes[operand][axis] for operand, axis in dim.extent.sources]
            if dim.extent.broadcast:
                return self.joined(sources)
            return self._affine(dim.extent.expr, sources)

        return tuple(size(d.position) for d in form.out.results)  # type: ignore[attr-defined]

    def _affine(self, expr: AffineExpr, dims: Sequence[Size]) -> Size | None:
        """An affine expression of extents; what is rounded is a symbol of its own."""
        match expr:
            case AffineConstant(value):
                return value
            case AffineDim(position):
                return dims[position]
            case AffineBinary(kind, lhs, AffineConstant(number)) if kind == "floordiv":
                size = self._affine(lhs, dims)
                return None if size is None else self._part(size, number)
            case AffineBinary(kind, lhs, rhs) if kind in ("+", "*"):
                a, b = self._affine(lhs, dims), self._affine(rhs, dims)
                if a is None or b is None:
                    return None
                return a + b if kind == "+" else a * b
        return None

    def _part(self, size: Size, number: int) -> Size:
        """A size divided and rounded down; whole parts of its constant term stand outside."""
        if isinstance(size, int):
            return size // number
        found = quotient(size, number)
        if found is not None:
            return found
        whole = size.terms.get((), 0) // number
        return self.symbol(("part", size - whole * number, number), "") + whole

    def _slid(self, window: Window, x: ValueLike) -> Part:
        """How many places a window has along each spatial dimension of an operand."""
        found = []
        for i, extent in enumerate(self.of(x)[2:]):
            room = extent + (window.begin[i] + window.end[i] - window.reach(i))
            found.append(self._part(room, window.strides[i]) + 1)
        return tuple(found)

    def _scaled(self, extent: Size, scale: float) -> Size | None:
        """An extent times a scale, rounded down."""
        if scale == int(scale):
            return extent * int(scale)
        return scaled(extent, scale) if isinstance(extent, int) else None

    def reshaped(self, x: ValueLike, shape: Sequence[Dim]) -> Part | None:
        """What `nn.reshape` of a value to a type of this shape gives."""
        own, before = self.of(x), as_value(x).type.shape  # type: ignore[attr-defined]
        copied = copied_axes(before, shape)
        wanted = [own[copied[axis]] if axis in copied else d for axis, d in enumerate(shape)]
        if None not in wanted:
            return tuple(wanted)
        rest = prod((d for axis, d in enumerate(shape) if d and axis not in copied), start=1)
        total = prod((d for axis, d in enumerate(own) if axis not in copied.values()), start=1)
        left = quotient(total, rest) if rest else None
        return tuple(left if d is None else d for d in wanted)

    def _filled(self, wanted: Sequence[Size | None] | None, of: Shape) -> Part | None:
        """A wanted shape with what is left of all elements in place of -1."""
        if wanted is None:
            return None
        if -1 not in wanted:
            return tuple(wanted)
        rest = [d for d in wanted if d != -1]
        left = None
        if None not in rest:
            left = quotient(prod(of, start=1), prod(rest, start=1))  # type: ignore[type-var]
        return tuple(left if d == -1 else d for d in wanted)

    def _broadcast(self, wanted: Sequence[Size | None] | None, of: Shape) -> Part | None:
        if wanted is None or len(wanted) < len(of):
            return None
        padded = (1,) * (len(wanted) - len(of)) + of
        return tuple(
            None if size is None else self.joined((size, own))
            for size, own in zip(wanted, padded, strict=True)
        )

    def _sliced(self, op: nn.SliceDynamic) -> Part | None:
        """Whole dimensions stay; the first n elements of a number are the smaller of both."""
        axes, shape = self._known.all(op.axes), list(self.of(op.x))
        parts = [self.elements(v) for v in (op.starts, op.ends, op.steps)]
        if axes is None or None in parts:
            return None
        found: list[Size | None] = list(shape)
        for axis, start, end, step in zip(axes, *parts, strict=True):  # type: ignore[arg-type]
            axis %= len(shape)
            extent = found[axis]
            found[axis] = None
            if extent is None or (start, step) != (0, 1) or end is None:
                continue
            if end == extent or (isinstance(end, int) and end >= ALL - 1):
                found[axis] = extent
            elif isinstance(extent, int) and isinstance(end, Poly) and end.is_natural:
                found[axis] = self.symbol(("least", end, extent), "", (end, extent))
        return tuple(found)

    def _range(self, op: nn.Range) -> Part | None:
        parts = [self.elements(v) for v in op.operands]
        if None in parts:
            return None
        ((start,), (limit,), (delta,)) = parts  # type: ignore[misc]
        if delta != 1 or start is None or limit is None:
            return None
        count = limit - start
        return (count,) if is_natural(count) else None

    # -- elements of small tensors ---------------------------------------------------------------

    def _array(self, value: Value) -> np.ndarray | None:
        """The elements as an array of sizes, None for those of which nothing is known."""
        if value not in self._elements:
            self._elements[value] = None
            if isinstance(value, OpResult) and is_short(value.type):
                self._elements[value] = self._computed(value)
        return self._elements[value]

    def _computed(self, value: OpResult) -> np.ndarray | None:
        op, shape = value.owner, value.type.shape  # type: ignore[attr-defined]
        numbers = self._known.array(value)
        if numbers is not None:
            return _objects([int(n) for n in numbers.reshape(-1)], shape)
        match op:
            case nn.ShapeOf():
                return _objects(self.of(op.x), shape)
            case nn.Cast():
                return self._array(op.x)
            case nn.Add() | nn.Sub() | nn.Mul() | nn.Div() | nn.Min() | nn.Equal() | nn.Where():
                operands = [self._array(v) for v in op.operands]
                if any(array is None for array in operands):
                    return None
                rows = zip(*(a.flat for a in np.broadcast_arrays(*operands)), strict=True)  # type: ignore[arg-type]
                return _objects([_element(op, *row) for row in rows], shape)
            case nn.ReduceProd():
                array = self._array(op.x)
                if array is None or None in array or np.ndim(array) > len(op.axes):
                    return None
                return _objects([prod(array.reshape(-1), start=1)], shape)
        if isinstance(op, nn.Concat):
            return self._moved(op, range(len(op.inputs)), value)
        if type(op) in MOVES:
            return self._moved(op, MOVES[type(op)], value)
        if type(op) in SPREADS:
            array = self._array(op.operands[SPREADS[type(op)]])
            if array is None:
                return None
            same = array.size == prod(shape)
            return array.reshape(shape) if same else np.broadcast_to(array, shape)
        return None

    def _moved(self, op: Any, moved: Iterable[int], value: OpResult) -> np.ndarray | None:
        """What an op that only moves elements does with their numbers, it does with them."""
        held: list[Size | None] = []
        arrays = []
        for i, operand in enumerate(op.operands):
            if i not in moved:
                array = self._known.array(operand)
                if array is None:
                    return None
                arrays.append(array)
                continue
            if not is_short(operand.type):
                return None
            elements = self._array(operand)
            size = prod(operand.type.shape)
            arrays.append(np.arange(len(held), len(held) + size).reshape(operand.type.shape))
            held += [None] * size if elements is None else list(elements.reshape(-1))
        try:
            found = op.evaluate(*arrays)
        except (ValueError, IndexError):
            return None  # the op's run says what is wrong
        one = found[value.index] if isinstance(found, tuple) else found
        one = np.asarray(one)
        return _objects([held[int(n)] for n in one.reshape(-1)], one.shape)


def _objects(elements: Sequence[Any], shape: Sequence[int]) -> np.ndarray:
    found = np.empty(len(elements), object)
    for i, element in enumerate(elements):
        found[i] = element
    return found.reshape(tuple(shape))


def _element(op: Operation, *operands: Any) -> Size | None:
    """An element of a result; None where it is not known."""
    if isinstance(op, nn.Where):
        condition, yes, no = operands
        if yes is not None and yes == no:
            return yes
        return None if condition is None else yes if condition else no
    if None in operands:
        return None
    a, b = operands
    match op:
        case nn.Add():
            return a + b
        case nn.Sub():
            return a - b
        case nn.Mul():
            return a * b
        case nn.Div():
            return quotient(a, b)
        case nn.Equal():
            return int(a == b) if a == b or not is_natural(a) or not is_natural(b) else None
        case nn.Min() if a == b:
            return a
    return None


def _least(size: Size) -> tuple[Size, int] | None:
    """What a size is the smaller of, if it is a symbol for that."""
    symbol = _single(size) if isinstance(size, Poly) else None
    return symbol.least if isinstance(symbol, NamedExtent) else None


# -- names ------------------------------------------------------------------------------------


def names_of(attribute: Any) -> list[list[str]]:
    """The names in an attribute `nn.input_dims`; none where it is missing."""
    if not isinstance(attribute, ArrayAttr):
        return []
    return [
        [name.value if isinstance(name, StringAttr) else "" for name in one]
        if isinstance(one, ArrayAttr)
        else []
        for one in attribute
    ]


def named(shapes: Sequence[Shape]) -> ArrayAttr | None:
    """`nn.input_dims` of values of these shapes, with names of its own; None if nothing is unknown.

    A product of symbols that others stand for alone is named as that product.
    """
    symbols: dict[Any, str] = {}
    whole: dict[Size, str] = {}

    def name(size: Size) -> str:
        if isinstance(size, int):
            return ""
        if size not in whole:
            ((product, factor),) = size.terms.items() if size.is_product else (((), 0),)
            if factor == 1 and all(symbol in symbols for symbol in product):
                whole[size] = "*".join(sorted(symbols[symbol] for symbol in product))
            else:
                whole[size] = f"d{len(whole)}"
        return whole[size]

    for shape in shapes:  # single symbols first: products are made of them
        for size in shape:
            if isinstance(size, Poly) and _single(size) is not None:
                symbols.setdefault(_single(size), "")
    for i, symbol in enumerate(symbols):
        symbols[symbol] = f"d{i}"
        whole[Poly.symbol(symbol)] = f"d{i}"
    found = [[name(size) for size in shape] for shape in shapes]
    if not any(map(any, found)):
        return None
    return ArrayAttr(tuple(ArrayAttr(tuple(map(StringAttr, one))) for one in found))


def _single(size: Poly) -> Any:
    ((product, factor),) = size.terms.items() if size.is_product else (((), 0),)
    return product[0] if factor == 1 and len(product) == 1 else None

"""Operators that change or read a tensor's shape, but keep its elements' order."""

from __future__ import annotations

from ....dialects.marks import BY_SHAPES
from ...common.reshaping import zeros_replaced
from ...common.runtime_axes import assumed, axes_mask, number_of, with_ones, without
from ...common.shapes import product
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter


@converter("Reshape")
def reshape_by_attribute(n: Node, x: Value) -> Value:
    return reshape_(n, x, n.constant(np.array(n.ints("shape") or (), np.int64)))


@converter("Reshape", since=5)
def reshape_(n: Node, x: Value, shape: Value) -> Value:
    shape = of_length(n, shape, n.declared_rank(0))
    target = n.extents(shape)
    if target is None:
        raise n.error("the number of dimensions of the result must be known")
    if target and n.builder.is_unknown(shape):
        return _reshape_at_run_time(n, x, shape, target)
    literal_zero = bool(n.int("allowzero"))
    if -1 in target and None in target and not literal_zero:
        shape = zeros_replaced(n, x, shape, len(target))
    extents: list[Extent | None] = []
    for i, extent in enumerate(target):
        if extent == 0 and not literal_zero:
            if i >= x.type.rank:
                raise n.error(f"dimension {i} of the shape is 0, but the input has no such")
            extents.append((x, i))
        else:
            extents.append(extent)
    if list(target).count(-1) > 1:
        raise n.error(f"shape {list(target)} has more than one -1")
    return reshape_by(n, x, shape, extents)


def _reshape_at_run_time(n: Node, x: Value, shape: Value, target: tuple) -> Value:
    """Reshape by a vector of which only the length is known; zeros in it copy extents."""
    shape = as_i64(n, shape)
    if not n.int("allowzero"):
        shape = zeros_replaced(n, x, shape, len(target))
    if len(target) == 1:  # all elements in a row, whatever the shape is
        count = Term(n, shape_of(n, x)).product(0, keep=True)
        given = Term(n, shape)
        fits = given.equals(-1) | given.equals(count)
        x = assumed(n, x, fits, "the shape does not hold as many elements as its operand has")
    out = TensorType((None,) * len(target), x.type.element_type)
    return n(nn.ReshapeDynamic(x, shape, out=out))


@converter("Flatten")
def flatten_(n: Node, x: Value) -> Value:
    axis, rank = n.int("axis"), x.type.rank
    axis = axis if axis == rank else normalize_axis(n, axis, rank)
    return flatten(n, x, axis)


@converter("Squeeze")
def squeeze(n: Node, x: Value, axes_operand: Value | None = None) -> Value:
    rank = x.type.rank
    axes = n.ints("axes") if "axes" in n.schema.attributes else None
    if axes_operand is not None:
        if n.known(axes_operand) is None:
            left = n.declared_rank(0)
            axes_operand = of_length(n, axes_operand, None if left is None else rank - left)
            count = number_of(n, axes_operand, "axes")
            mask = axes_mask(n, axes_operand, rank)
            ones = ~Term(n, mask) | Term(n, shape_of(n, x)).equals(1)
            x = assumed(n, x, ones, "an axis to remove has not exactly one element")
            return without(n, x, mask, count)
        axes = n.known_ints(axes_operand, "axes")
    if axes is None:
        if None in x.type.shape:
            return _squeeze_ones(n, x)
        axes = tuple(i for i, d in enumerate(x.type.shape) if d == 1)
    axes = normalize_axes(n, axes, rank)
    for axis in axes:
        if x.type.shape[axis] not in (1, None):
            raise n.error(f"axis {axis} has {x.type.shape[axis]} elements, expected 1")
    return squeezed(n, x, *axes)


def _squeeze_ones(n: Node, x: Value) -> Value:
    """x without its dimensions of extent 1, whose number follows from the declared rank.

    If no rank is declared, an unknown extent counts as other than 1, and the program fails if it is
    1: a model in this process then compiles itself for the given shapes.
    """
    kept, shape = n.declared_rank(0), x.type.shape
    if kept is None:
        late = [i for i, d in enumerate(shape) if d is None]
        extents = gathered(n, shape_of(n, x), n.constant(np.array(late, np.int64)))
        ones = n.cast(n(nn.Equal(extents, n.constant(1, i64))), i64)
        none = n(nn.Equal(reduced(n, ones, nn.ReduceSum, (0,)), n.constant(0, i64)))
        text = f"an unknown extent is 1, so that the result has another rank{BY_SHAPES}"
        x = n(nn.Assume(x, none, text))
        return reshape(n, x, [(x, i) for i, d in enumerate(shape) if d != 1])
    if not 0 <= kept <= x.type.rank:
        raise n.error(f"the result is declared to have rank {kept}, the input has {x.type.rank}")
    ones = [i for i, d in enumerate(x.type.shape) if d == 1]
    if len(ones) == x.type.rank - kept:
        return squeezed(n, x, *ones)
    mask = n(nn.Equal(shape_of(n, x), n.constant(1, i64)))
    return without(n, x, mask, x.type.rank - kept)


@converter("Unsqueeze")
def unsqueeze(n: Node, x: Value, axes_operand: Value | None = None) -> Value:
    axes = n.ints("axes") if "axes" in n.schema.attributes else None
    if axes_operand is not None:
        if n.known(axes_operand) is None:
            whole = n.declared_rank(0)
            count = None if whole is None else whole - x.type.rank
            axes_operand = of_length(n, axes_operand, count)
            return with_ones(n, x, axes_operand, number_of(n, axes_operand, "axes"))
        axes = n.known_ints(axes_operand, "axes")
    new = normalize_axes(n, axes or (), x.type.rank + len(axes or ()))
    return unsqueezed(n, x, *sorted(new))


@converter("Shape")
def shape(n: Node, x: Value) -> Value:
    rank = x.type.rank
    begin, end, _ = slice(n.int("start"), n.int("end", rank)).indices(rank)
    end = max(begin, end)
    known = x.type.shape[begin:end]
    if None not in known:
        return n.constant(np.array(known, np.int64))
    return part_of_vector(n, shape_of(n, x), begin, end)


@converter("Size")
def size(n: Node, x: Value) -> Value:
    count = product(x.type.shape)
    if count is not None:
        return n.constant(count, i64)
    return reduced(n, shape_of(n, x), nn.ReduceProd, (0,))


@converter("Expand")
def expand(n: Node, x: Value, shape: Value) -> Value:
    rank, own = n.declared_rank(0), x.type.rank
    if rank is not None and shape.type.shape == (None,):
        shape = of_length(n, shape, rank) if rank > own else _led_by_ones(n, as_i64(n, shape), own)
    wanted = n.extents(shape)
    if wanted is None:
        raise n.error("the number of dimensions of the result must be known")
    shape = as_i64(n, shape)
    if (
        n.builder.is_unknown(shape)
        and not {1, None}.intersection(x.type.shape)
        and own >= len(wanted) > 0
    ):
        # The result equals x for every valid shape, so only this check reads the shape.
        given, tail = Term(n, shape), n.constant(np.array(x.type.shape[own - len(wanted) :]))
        fits = given.equals(1) | given.equals(Term(n, tail))
        return assumed(n, x, fits, "its operand does not fit the shape")
    return expand_by(n, x, shape, wanted)


def _led_by_ones(n: Node, shape: Value, rank: int) -> Value:
    """A shape vector padded with ones in front to `rank` dimensions."""
    ones = n.constant(np.ones(rank, np.int64))
    places = n(nn.Add(n.constant(np.arange(rank)), gathered(n, shape_of(n, shape), n.constant(0))))
    return gathered(n, n(nn.Concat([ones, shape], axis=0)), places)

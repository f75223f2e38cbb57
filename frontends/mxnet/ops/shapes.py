"""Reshapes, slices, concatenations and new tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, f32, i64
from ...common.shapes import Extent, broadcast, flatten, reshape, shape_of, shape_vector
from ...common.terms import Term, constant, counting, extent, joined
from ..layer import MxnetLayer, rows

Factors = list[Extent]
"""An extent of a result as a product."""


# -- reshaping ---------------------------------------------------------------------------------


@rows("Reshape", "reshape")
def reshape_by_codes(n: MxnetLayer, x: Value) -> Value:
    """0 keeps a dimension, -1 takes what is left, -2 keeps all others, -3 joins, -4 splits two."""
    codes = list(n.ints("shape")) or list(n.ints("target_shape"))
    if n.flag("reverse"):
        return _reversed(n, x, codes, _legacy_factors)
    return _in_shape(n, x, _legacy_factors(n, x, codes, range(x.type.rank)))


@rows("_npx_reshape")
def reshape_by_numpy_codes(n: MxnetLayer, x: Value) -> Value:
    """-1 takes what is left, -2 keeps a dimension, -4 all others; -3 drops, -5 joins, -6 splits."""
    codes = list(n.ints("newshape"))
    if n.flag("reverse"):
        return _reversed(n, x, codes, _numpy_factors)
    return _in_shape(n, x, _numpy_factors(n, x, codes, range(x.type.rank)))


@rows("_np_reshape", "_npi_reshape")
def reshape_plainly(n: MxnetLayer, x: Value) -> Value:
    if n.attributes.get("order", "C") != "C":
        raise n.error("only the order C is supported")
    return _in_shape(n, x, [None if e == -1 else [e] for e in n.ints("newshape")])


def _reversed(n: MxnetLayer, x: Value, codes: list[int], factors) -> Value:
    """The codes are read from the end."""
    order = range(x.type.rank - 1, -1, -1)
    i = 0
    turned = codes[::-1]
    split = -4 if factors is _legacy_factors else -6
    while i < len(turned):  # a split and its two extents stay together
        if i + 2 < len(turned) and turned[i + 2] == split:
            turned[i : i + 3] = [split, turned[i], turned[i + 1]]
            i += 2
        i += 1
    return _in_shape(n, x, factors(n, x, turned, order)[::-1])


def _legacy_factors(
    n: MxnetLayer, x: Value, codes: list[int], dims: Sequence[int]
) -> list[Factors | None]:
    found: list[Factors | None] = []
    work, at = list(codes), 0
    left = list(dims)

    def take() -> Extent:
        if not left:
            raise n.error(f"shape {codes} has more dimensions than '{x.type}'")
        return (x, left.pop(0))

    while at < len(work):
        code = work[at]
        at += 1
        if code == 0:
            found.append([take()])
        elif code == -2:
            found.extend([(x, i)] for i in left)
            left.clear()
        elif code == -3:
            found.append([take(), take()])
        elif code == -4:
            found += _split(n, take(), work[at : at + 2])
            at += 2
        elif code == -1 or code > 0:
            if left:
                left.pop(0)
            found.append(None if code == -1 else [code])
        else:
            raise n.error(f"shape {codes} has the unknown code {code}")
    return found


def _numpy_factors(
    n: MxnetLayer, x: Value, codes: list[int], dims: Sequence[int]
) -> list[Factors | None]:
    # The same but for their numbers, and -3, which drops a dimension of one element.
    table = {-2: 0, -4: -2, -5: -3, -6: -4}
    if -3 in codes:
        raise n.error("the code -3 is not supported")
    return _legacy_factors(n, x, [table.get(code, code) for code in codes], dims)


def _split(n: MxnetLayer, whole: Extent, parts: Sequence[int]) -> list[Factors]:
    assert not isinstance(whole, int)
    total = n.extent(*whole)
    if len(parts) != 2 or 0 in parts or parts[0] == parts[1] == -1:
        raise n.error(f"a dimension cannot be split into {list(parts)}")
    first, second = (
        total // -other if one == -1 else one
        for one, other in ((parts[0], -parts[1]), (parts[1], -parts[0]))
    )
    return [[first], [second]]


def _in_shape(n: MxnetLayer, x: Value, factors: Sequence[Factors | None]) -> Value:
    """x in a shape; None takes what is left."""
    left: list[int] = list(range(x.type.rank))
    extents: list[Extent | None] = []
    for own in factors:
        for one in own or ():
            if not isinstance(one, int) and one[1] in left:
                left.remove(one[1])
        numbers = None if own is None else [_number(one) for one in own]
        if numbers is not None and None not in numbers:
            extents.append(math.prod(numbers))  # type: ignore[arg-type]
        else:
            extents.append(own[0] if own is not None and len(own) == 1 else None)
    if extents.count(None) == 1:
        numbers = [_number(e) for e in extents if e is not None]
        whole = list(x.type.shape)
        if None not in whole and None not in numbers:
            rest = math.prod(numbers)  # type: ignore[arg-type]
            missing: Extent = math.prod(whole) // rest if rest else 0  # type: ignore[arg-type]
            extents[extents.index(None)] = missing
    if None not in extents:
        return reshape(n, x, extents)  # type: ignore[arg-type]
    out = TensorType(tuple(None if e is None else _number(e) for e in extents), x.type.element_type)
    if out.shape.count(None) == 1:
        return n(nn.Reshape(x, out=out))
    parts = []
    for own, one in zip(factors, extents, strict=True):
        if one is not None:
            parts.append(n.term(shape_vector(n, [one])))
        elif own is None:
            parts.append(constant(n, np.array([-1], np.int64)))
        else:
            product = extent(n, own[0])
            for more in own[1:]:
                product = product * extent(n, more)
            parts.append(product.spread(1, 0))
    return n(nn.ReshapeDynamic(x, joined(parts, 0).value, out=out))


def _number(one: Extent) -> int | None:
    return one if isinstance(one, int) else one[0].type.shape[one[1]]


@rows("Flatten", "flatten", "_npx_batch_flatten")
def flatten_(n: MxnetLayer, x: Value) -> Value:
    return flatten(n, x, 1)


@rows("expand_dims", "_npi_expand_dims")
def expand_dims(n: MxnetLayer, x: Value) -> Value:
    own: list[Extent] = [(x, i) for i in range(x.type.rank)]
    own.insert(n.axis("axis", None, x.type.rank + 1), 1)
    return reshape(n, x, own)


@rows("squeeze", "_np_squeeze")
def squeeze(n: MxnetLayer, x: Value) -> Value:
    rank = x.type.rank
    axes = {axis % rank for axis in n.ints("axis")}
    if n.get("axis") is None:
        axes = {i for i, d in enumerate(x.type.shape) if d == 1}
    return reshape(
        n, x, [(x, i) for i in range(rank) if i not in axes] or ([1] if n.kind == "squeeze" else [])
    )


@rows("reshape_like", "_npx_reshape_like")
def reshape_like(n: MxnetLayer, x: Value, like: Value) -> Value:
    if n.get("lhs_begin") is None and n.get("rhs_begin") is None:
        return reshape(n, x, [(like, i) for i in range(like.type.rank)])
    bounds = []
    for side, value in (("lhs", x), ("rhs", like)):
        begin, end = n.int(f"{side}_begin", 0), n.int(f"{side}_end", value.type.rank)
        bounds += [begin % (value.type.rank + 1), end % (value.type.rank + 1)]
    own: list[Extent] = [(x, i) for i in range(x.type.rank)]
    return reshape(
        n, x, [*own[: bounds[0]], *((like, i) for i in range(*bounds[2:])), *own[bounds[1] :]]
    )


@rows("transpose", "_np_transpose")
def transpose(n: MxnetLayer, x: Value) -> Value:
    axes = n.ints("axes") or tuple(reversed(range(x.type.rank)))
    return n.transposed(x, *(axis % x.type.rank for axis in axes))


@rows("SwapAxis", "swapaxes", "_npi_swapaxes")
def swap_axes(n: MxnetLayer, x: Value) -> Value:
    order = list(range(x.type.rank))
    a, b = n.axis("dim1", 0, len(order)), n.axis("dim2", 0, len(order))
    order[a], order[b] = order[b], order[a]
    return n.transposed(x, *order)


@rows("_np_moveaxis")
def move_axis(n: MxnetLayer, x: Value) -> Value:
    rank = x.type.rank
    source, target = ([a % rank for a in n.ints(k)] for k in ("source", "destination"))
    order = [i for i in range(rank) if i not in source]
    for at, axis in sorted(zip(target, source, strict=True)):
        order.insert(at, axis)
    return n.transposed(x, *order)


@rows("depth_to_space", "space_to_depth")
def blocks(n: MxnetLayer, x: Value) -> Value:
    op = nn.DepthToSpace if n.kind == "depth_to_space" else nn.SpaceToDepth
    return n(op(x, block=n.int("block_size")))


# -- slices ------------------------------------------------------------------------------------


def sliced(
    n: MxnetLayer, x: Value, axis: int, begin: int | None, end: int | None, step: int = 1
) -> Value:
    """x[.., begin:end:step, ..]"""
    found = x.type.shape[axis]
    if begin is None and end is None and step == 1:
        return x
    if found is not None:
        places = range(found)[slice(begin, end, step)]
        starts, steps = [0] * x.type.rank, [1] * x.type.rank
        starts[axis], steps[axis] = (places.start if places else 0), step
        shape = tuple(len(places) if i == axis else d for i, d in enumerate(x.type.shape))
        out = TensorType(shape, x.type.element_type)
        return n(nn.Slice(x, starts=tuple(starts), steps=tuple(steps), out=out))
    far = np.iinfo(np.int64)
    if begin is None:
        begin = 0 if step > 0 else far.max
    if end is None:
        end = far.max if step > 0 else far.min
    vectors = (n.constant(np.array([v], np.int64)) for v in (begin, end, axis, step))
    shape = tuple(None if i == axis else d for i, d in enumerate(x.type.shape))
    return n(nn.SliceDynamic(x, *vectors, out=TensorType(shape, x.type.element_type)))


@rows("slice", "_npi_slice", "_npx_slice", "crop", "_sparse_slice")
def slice_(n: MxnetLayer, x: Value) -> Value:
    begins, ends = n.optional_ints("begin"), n.optional_ints("end")
    steps = n.optional_ints("step") or (1,) * len(begins)
    for axis, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=False)):
        x = sliced(n, x, axis, begin, end, step or 1)
    return x


@rows("slice_axis")
def slice_axis(n: MxnetLayer, x: Value) -> Value:
    axis = n.axis("axis", None, x.type.rank)
    return sliced(n, x, axis, n.int("begin", 0), n.get("end"))


@rows("slice_like")
def slice_like(n: MxnetLayer, x: Value, like: Value) -> Value:
    axes = [axis % x.type.rank for axis in n.ints("axes")] or range(like.type.rank)
    for axis in axes:
        x = sliced(n, x, axis, 0, n.extent(like, axis))
    return x


@rows("Crop")
def crop(n: MxnetLayer, x: Value, like: Value | None = None) -> Value:
    wanted = n.ints("h_w", (0, 0), 2) if like is None else like.type.shape[2:]
    offset = n.ints("offset", (0, 0), 2)
    for i in range(2):
        begin, size = offset[i], wanted[i]
        if size is None:
            raise n.error(f"the extents of '{x.type}' must be known at import")
        if n.flag("center_crop"):
            begin = (n.extent(x, 2 + i) - size) // 2
        x = sliced(n, x, 2 + i, begin, begin + size)
    return x


@rows("SliceChannel", "split")
def split_evenly(n: MxnetLayer, x: Value) -> list[Value]:
    axis, count = n.axis("axis", 1, x.type.rank), n.int("num_outputs")
    whole = n.extent(x, axis)
    if count < 1 or whole % count:
        raise n.error(f"{whole} elements do not split into {count} parts")
    return _parts(n, x, axis, [whole // count] * count)


@rows("_split_v2", "_npi_split", "_npi_hsplit", "_npi_dsplit")
def split_at(n: MxnetLayer, x: Value) -> list[Value]:
    default = {"_npi_hsplit": 1 if x.type.rank > 1 else 0, "_npi_dsplit": 2}.get(n.kind, 0)
    axis = n.axis("axis", default, x.type.rank)
    whole, count = n.extent(x, axis), n.int("sections", 0)
    if count > 0:
        if whole % count:
            raise n.error(f"{whole} elements do not split into {count} parts")
        return _parts(n, x, axis, [whole // count] * count)
    bounds = [min(v, whole) for v in n.ints("indices", (0,))] + [whole]
    bounds = bounds if bounds[0] == 0 else [0, *bounds]
    return _parts(n, x, axis, [b - a for a, b in pairwise(bounds)])


def _parts(n: MxnetLayer, x: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
    ends = np.cumsum(sizes).tolist()
    parts = [n.part(x, axis, end - size, end) for end, size in zip(ends, sizes, strict=True)]
    if n.flag("squeeze_axis"):
        kept = [i for i in range(x.type.rank) if i != axis]
        parts = [reshape(n, part, [(part, i) for i in kept]) for part in parts]
    return parts


@rows("reverse", "flip", "_npi_flip")
def reverse(n: MxnetLayer, x: Value) -> Value:
    axes = n.ints("axis") if n.get("axis") is not None else range(x.type.rank)
    for axis in axes:
        x = sliced(n, x, axis % x.type.rank, None, None, -1)
    return x


@rows("_np_roll")
def roll(n: MxnetLayer, x: Value) -> Value:
    shifts, axes = n.ints("shift"), n.ints("axis")
    if not axes:
        raise n.error("a roll without an axis is not supported")
    for shift, axis in zip(shifts * (len(axes) // len(shifts)), axes, strict=True):
        axis %= x.type.rank
        at = -shift % n.extent(x, axis)
        parts = [sliced(n, x, axis, at, None), sliced(n, x, axis, 0, at)]
        x = n(nn.Concat(parts, axis=axis)) if at else x
    return x


# -- joins -------------------------------------------------------------------------------------


@rows("Concat", "concat", "_npi_concatenate", "_rnn_param_concat", "_npi_rnn_param_concat",
      "_sparse_concat")  # fmt: skip
def concat(n: MxnetLayer, *inputs: Value) -> Value:
    if n.get("axis", 0) is None:
        inputs = tuple(n.term(x).flat().value for x in inputs)
    name, default = ("axis", 0) if n.kind == "_npi_concatenate" else ("dim", 1)
    axis = n.axis(name, default, inputs[0].type.rank)
    return inputs[0] if len(inputs) == 1 else n(nn.Concat(list(inputs), axis=axis))


@rows("stack", "_npi_stack")
def stack(n: MxnetLayer, *inputs: Value) -> Value:
    rank = inputs[0].type.rank
    axis = n.axis("axis", 0, rank + 1)
    parts = []
    for x in inputs:
        own: list[Extent] = [(x, i) for i in range(rank)]
        own.insert(axis, 1)
        parts.append(reshape(n, x, own))
    return n(nn.Concat(parts, axis=axis))


@rows("tile", "_npi_tile")
def tile(n: MxnetLayer, x: Value) -> Value:
    repeats = n.ints("reps")
    lead = len(repeats) - x.type.rank
    own: list[Extent] = [(x, i) for i in range(x.type.rank)]
    x = reshape(n, x, [*[1] * lead, *own]) if lead > 0 else x
    repeats = (1,) * -lead + repeats
    return n(nn.Tile(x, repeats=repeats)) if set(repeats) != {1} else x


@rows("repeat", "_np_repeat")
def repeat(n: MxnetLayer, x: Value) -> Value:
    count = n.int("repeats")
    if n.get("axis") is None:
        x = n.term(x).flat().value
    axis = n.axis("axis", 0, x.type.rank)
    own: list[Extent] = [(x, i) for i in range(x.type.rank)]
    wide = broadcast(n, reshape(n, x, [*own[: axis + 1], 1, *own[axis + 1 :]]),
                     [*own[: axis + 1], count, *own[axis + 1 :]])  # fmt: skip
    return _in_shape(
        n, wide, [[e] if i != axis else [(wide, axis), count] for i, e in enumerate(own)]
    )


@rows("Pad", "pad", "_npi_pad")
def pad(n: MxnetLayer, x: Value) -> Value:
    kinds = {"constant": "constant", "edge": "edge", "reflect": "reflect"}
    mode = kinds[n.text("mode", "constant", *kinds)]
    width = n.get("pad_width", ())
    pairs = np.array(width, np.int64).reshape(-1, 2)
    if len(pairs) != x.type.rank:
        raise n.error(f"attribute 'pad_width' is {width}, expected {2 * x.type.rank} integers")
    pads = tuple(pairs.T.reshape(-1).tolist())
    fill = n.float("constant_values" if n.kind == "_npi_pad" else "constant_value", 0.0)
    return n(nn.Pad(x, n.scalar(fill, x) if mode == "constant" else None, pads=pads, mode=mode))


# -- broadcasts --------------------------------------------------------------------------------


@rows("broadcast_to", "_npi_broadcast_to")
def broadcast_to(n: MxnetLayer, x: Value) -> Value:
    """0 keeps an extent; deep numpy's -2 does."""
    shape = n.ints("shape")
    lead = len(shape) - x.type.rank
    return broadcast(n, x, [d if d > 0 else (x, i - lead) for i, d in enumerate(shape)])


@rows("broadcast_axis", "broadcast_axes")
def broadcast_axis(n: MxnetLayer, x: Value) -> Value:
    sizes = dict(zip((a % x.type.rank for a in n.ints("axis")), n.ints("size"), strict=True))
    return broadcast(n, x, [sizes.get(i, (x, i)) for i in range(x.type.rank)])


@rows("broadcast_like")
def broadcast_like(n: MxnetLayer, x: Value, like: Value) -> Value:
    pairs = {i: i for i in range(like.type.rank)}
    if n.get("lhs_axes") is not None:
        own, others = n.ints("lhs_axes"), n.ints("rhs_axes")
        pairs = {a % x.type.rank: b % like.type.rank for a, b in zip(own, others, strict=True)}
        return broadcast(
            n, x, [(like, pairs[i]) if i in pairs else (x, i) for i in range(x.type.rank)]
        )
    return broadcast(n, x, [(like, i) for i in pairs])


# -- new tensors -------------------------------------------------------------------------------


@rows("_zeros", "_ones", "_full", "_npi_zeros", "_npi_ones", "_npi_full", "_zeros_without_dtype")
def filled(n: MxnetLayer) -> Value:
    value = 1.0 if "ones" in n.kind else n.float("value", n.get("fill_value", 0.0))
    shape = n.ints("shape")
    if min(shape, default=1) < 0:
        raise n.error(f"attribute 'shape' is {shape}")
    return n.zeros(shape, n.element("dtype", f32), value)


@rows("_arange", "_npi_arange", "_contrib_arange", "_linspace", "_npi_linspace")
def numbers(n: MxnetLayer) -> Value:
    start, stop = n.float("start", 0.0), n.get("stop")
    if "linspace" in n.kind:
        found = np.linspace(start, n.float("stop"), n.int("num"), n.flag("endpoint", True))
    else:
        bounds = (0.0, start) if stop is None else (start, n.float("stop"))
        found = np.repeat(np.arange(*bounds, n.float("step", 1.0)), n.int("repeat", 1))
    return n.constant(found, n.element("dtype", f32))


@rows("_eye", "_npi_eye", "_npi_identity")
def eye(n: MxnetLayer) -> Value:
    shape = n.ints("shape")
    size = (n.int("N", shape[0] if shape else None), n.int("M", 0))
    return n.constant(np.eye(size[0], size[1] or size[0], n.int("k", 0)), n.element("dtype", f32))


@rows("_contrib_arange_like", "_npx_arange_like")
def arange_like(n: MxnetLayer, x: Value) -> Value:
    """Numbers as many as x, or a dimension of it, has."""
    start, step = n.float("start", 0.0), n.float("step", 1.0)
    if n.int("repeat", 1) != 1:
        raise n.error("attribute 'repeat' is not supported")
    whole = n.get("axis") is None
    own = [(x, i) for i in range(x.type.rank)]
    count = extent(n, own[0] if whole else own[n.axis("axis", 0, len(own))])
    for one in own[1:] if whole else ():
        count = count * extent(n, one)
    found = counting(n, count).cast(x.type.element_type) * step + start
    return reshape(n, found.value, own) if whole else found.value


@rows("shape_array", "_npx_shape_array")
def shape_array(n: MxnetLayer, x: Value) -> Value:
    return shape_of(n, x)


@rows("size_array")
def size_array(n: MxnetLayer, x: Value) -> Value:
    return n(nn.ReduceProd(shape_of(n, x), axes=(0,), keep_dims=True))


@rows("diag", "_np_diag")
def diagonal(n: MxnetLayer, x: Value) -> Value:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    if n.int("k", 0) or x.type.rank > 2:
        raise n.error(f"a diagonal of '{x.type}' other than the main one of a matrix")
    term: Term = n.term(x)
    if term.rank == 2:
        size = min(n.extent(x, 0), n.extent(x, 1))
        places = np.arange(size, dtype=np.int64)
        return n(nn.GatherNd(x, n.constant(np.stack([places, places], 1))))
    size = n.extent(x, 0)
    return (n.term(n.constant(np.eye(size), term.element)) * term.spread(1, 0)).value


@rows("_contrib_index_array")
def index_array(n: MxnetLayer, x: Value) -> Value:
    shape = tuple(n.extent(x, i) for i in range(x.type.rank))
    axes = [a % len(shape) for a in n.ints("axes")] or range(len(shape))
    found = np.stack(np.meshgrid(*(np.arange(d) for d in shape), indexing="ij"), -1)
    return n.constant(found[..., list(axes)], i64)

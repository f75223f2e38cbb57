"""Blobs in other shapes, put together and taken apart."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import CaffeLayer, rows


@rows("Concat")
def concat(n: CaffeLayer, *inputs: Value) -> Value:
    p = n.p("concat")
    axis = p.concat_dim if p.has("concat_dim") else p.axis
    axis = normalize_axis(n, axis, inputs[0].type.rank)
    return concatenated(n, inputs, axis)


@rows("Slice")
def slice_(n: CaffeLayer, x: Value) -> tuple:
    p, count = n.p("slice"), len(n.node.outputs)
    axis = normalize_axis(n, p.slice_dim if p.has("slice_dim") else p.axis, x.type.rank)
    extent = n.extent(x, axis)
    points = list(p.slice_point) or [extent * i // count for i in range(1, count)]
    sizes = [e - b for b, e in zip([0, *points], [*points, extent], strict=True)]
    if len(sizes) != count or min(sizes) < 1 or (not p.slice_point and extent % count):
        raise n.error(f"{extent} elements do not split at {points} for {count} tops")
    return tuple(split_into(n, x, axis, sizes))


@rows("Crop")
def crop(n: CaffeLayer, x: Value, like: Value) -> Value:
    p = n.p("crop")
    axis = normalize_axis(n, p.axis, x.type.rank)
    offsets = list(p.offset) or [0]
    offsets = offsets * (x.type.rank - axis) if len(offsets) == 1 else offsets
    shape = (*x.type.shape[:axis], *like.type.shape[axis:])
    if len(offsets) != x.type.rank - axis or None in like.type.shape[axis:]:
        raise n.error(f"offsets {offsets} of a blob like {shape_text(like)}")
    return portion(n, x, (*(0,) * axis, *offsets), shape)


@rows("Reshape")
def reshape_(n: CaffeLayer, x: Value) -> Value:
    p, rank = n.p("reshape"), x.type.rank
    begin = p.axis if p.axis >= 0 else rank + 1 + p.axis
    end = rank if p.num_axes == -1 else begin + p.num_axes
    if not 0 <= begin <= end <= rank:
        raise n.error(f"{p.num_axes} axes from {p.axis} on of a blob {shape_text(x)}")
    wanted = list(p.part("shape").dim)
    extents = [(x, begin + i) if d == 0 else d for i, d in enumerate(wanted)]
    if wanted.count(-1) > 1 or any(d == 0 and begin + i >= rank for i, d in enumerate(wanted)):
        raise n.error(f"shape {wanted} of a blob {shape_text(x)}")
    extents = [*((x, i) for i in range(begin)), *extents, *((x, i) for i in range(end, rank))]
    known = [x.type.shape[e[1]] if isinstance(e, tuple) else e for e in extents]
    if -1 in known:
        at = known.index(-1)
        rest = [d for i, d in enumerate(known) if i != at]
        if None not in rest and None not in x.type.shape:
            total, others = math.prod(x.type.shape), math.prod(rest)
            if not others or total % others:
                raise n.error(f"{total} elements of {shape_text(x)} have no shape {wanted}")
            extents[at] = total // others
        else:
            shape = tuple(None if i == at else d for i, d in enumerate(known))
            if shape.count(None) > 1 and shape[0] is None and begin > 0:
                shape = (None, *shape[1:])
            return n(nn.Reshape(x, out=TensorType(shape, x.type.element_type)))
    return reshape(n, x, extents)


@rows("Flatten")
def flatten(n: CaffeLayer, x: Value) -> Value:
    p, rank = n.p("flatten"), x.type.rank
    begin = normalize_axis(n, p.axis, rank)
    end = normalize_axis(n, p.end_axis, rank) + 1
    if end <= begin:
        raise n.error(f"axes from {p.axis} to {p.end_axis}")
    single = [(i, i + 1) for i in range(rank)]
    return merge(n, x, [*single[:begin], (begin, end), *single[end:]])


@rows("Permute")
def permute(n: CaffeLayer, x: Value) -> Value:
    order = list(n.p("permute").order)
    order += [i for i in range(x.type.rank) if i not in order]
    if sorted(order) != list(range(x.type.rank)):
        raise n.error(f"order {order} of a blob {shape_text(x)}")
    return n(nn.Transpose(x, permutation=tuple(order)))


@rows("Tile")
def tile(n: CaffeLayer, x: Value) -> Value:
    p = n.p("tile")
    axis = normalize_axis(n, p.axis, x.type.rank)
    return n(nn.Tile(x, repeats=tuple(p.tiles if i == axis else 1 for i in range(x.type.rank))))


@rows("BatchReindex")
def reindexed(n: CaffeLayer, x: Value, order: Value) -> Value:
    return gathered(n, x, n.cast(order, i64))


@rows("Filter")
def filtered(n: CaffeLayer, *inputs: Value) -> list[Value]:
    """The items whose selector in the last bottom is not 0."""
    *given, selector = inputs
    flags = Term(n, selector).flat()
    places = flags.made(nn.NonZero((~flags.equals(0.0)).value)).flat()
    return [gathered(n, x, places.value) for x in given]


@rows("ShuffleChannel")
def shuffle(n: CaffeLayer, x: Value) -> Value:
    return channels_shuffled(n, x, n.p("shuffle_channel").group)

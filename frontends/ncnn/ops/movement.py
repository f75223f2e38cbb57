"""Layers that move elements: reshaping, slicing, permuting, resampling."""

from __future__ import annotations

import re

from ...common.vocabulary import *
from ..layer import NcnnLayer, by_axes, cut, part, rows
from .convolution import SAME

rows.formulas(
    {
        "Input": lambda n, x: reshape(n, x, [1, *dims(x)]),
        "Output": lambda n, x: reshape(n, x, dims(x)[1:]),
        "Noop DeepCopy Packing Cast": lambda n, *inputs: inputs,
        "MemoryData": lambda n: n.stored("data", n.array_of("data")[None]),
        "Flatten": lambda n, x: flatten(n, x, 1),
        "CumulativeSum": lambda n, x: n(nn.Cumsum(x, axis=n.axis(x, n.int(0)))),
    }
)


@rows("Split")
def split(n: NcnnLayer, x: Value) -> list[Value]:
    return [x] * len(n.node.outputs)


@rows("Concat")
def concat(n: NcnnLayer, *inputs: Value) -> Value:
    if not inputs:
        raise n.error("no inputs")
    return n(nn.Concat(list(inputs), axis=n.axis(inputs[0], n.int(0))))


@rows("Slice")
def slices(n: NcnnLayer, x: Value) -> list[Value]:
    axis, count = n.axis(x, n.int(1)), len(n.node.outputs)
    sizes, ends, found, at = n.ints(0), n.ints(2), [], 0
    extent = x.type.shape[axis]
    if extent is None or (len(sizes) != count and len(ends) < count - 1):
        raise n.error(f"{len(sizes)} sizes for {count} parts of an axis of {extent or '?'}")
    for i in range(count):
        if ends:
            end = extent if i == count - 1 else ends[i] + (extent if ends[i] < 0 else 0)
            size = end - at
        else:
            size = (extent - at) // (count - i) if sizes[i] == -233 else sizes[i]
        if not 0 < size <= extent - at:
            raise n.error(f"part {i} has {size} of the {extent - at} elements that are left")
        found.append(part(n, x, axis, at, size))
        at += size
    return found


# -- shapes ----------------------------------------------------------------------------------------


@rows("Reshape")
def reshaped(n: NcnnLayer, x: Value, *others: Value) -> Value:
    batches = n.int(12, 233), n.int(13, 233)
    if n.int(3) or (batches != (233, 233) and not n.text(6)):
        raise n.error("reshaping in another order, or of a batch, is not supported")
    if n.text(6):
        shape = evaluated(n, n.text(6), [x, *others])[::-1]
        at = batches[1]  # the extent there is the batch's, which is 1 here
        if at != 233 and (not 0 <= at < len(shape) or shape.pop(at) != 1):
            raise n.error(f"reshaping to a batch at {at}, expected one of extent 1")
    else:
        w, h, d, c = n.int(0, -233), n.int(1, -233), n.int(11, -233), n.int(2, -233)
        shape = [v for v in (c, d, h, w) if v != -233]
    rank = x.type.rank - 1
    # 0 copies the extent of the same name; a vector has a width only, a matrix no channels.
    places = {1: "w", 2: "hw", 3: "chw", 4: "cdhw"}
    extents: list[Extent] = [1]
    for name, v in zip(places.get(len(shape), ""), shape, strict=False):
        own = places.get(rank, "").find(name)
        if v == 0:
            extents.append((x, 1 + own) if own >= 0 else 1)
        else:
            extents.append(v)
    if not shape or extents.count(-1) > 1:
        raise n.error(f"no shape: {shape}")
    return reshape_by(n, x, shape_of(n, x), extents)


@rows("Squeeze")
def squeeze(n: NcnnLayer, x: Value) -> Value:
    rank = x.type.rank - 1
    if axes := n.ints(3):
        chosen = set(by_axes(n, x, axes))
    else:
        names = {1: "w", 2: "hw", 3: "chw", 4: "cdhw"}.get(rank, "")
        flags = {"w": n.int(0), "h": n.int(1), "d": n.int(11), "c": n.int(2)}
        chosen = {1 + i for i, name in enumerate(names) if flags[name]}
    kept = [i for i in range(1, rank + 1) if i not in chosen or x.type.shape[i] != 1]
    return reshape(n, x, [1, *((x, i) for i in kept or [rank])])


@rows("ExpandDims")
def expand_dims(n: NcnnLayer, x: Value) -> Value:
    rank = x.type.rank - 1 + len(n.ints(3))
    own = iter(range(1, x.type.rank))
    ones = {axis % rank for axis in n.ints(3)}
    if len(ones) != len(n.ints(3)):
        raise n.error(f"axes {n.ints(3)} name an axis twice")
    return reshape(n, x, [1, *(1 if i in ones else (x, next(own)) for i in range(rank))])


# The orders that a number stands for, each as the names from the innermost dimension on.
_OF_FOUR = """
WHDC HWDC WDHC DWHC HDWC DHWC WHCD HWCD WCHD CWHD HCWD CHWD
WDCH DWCH WCDH CWDH DCWH CDWH HDCW DHCW HCDW CHDW DCHW CDHW
"""
_ORDERS: dict[int, Sequence[str]] = {
    1: ["W"],
    2: ["WH", "HW"],
    3: ["WHC", "HWC", "WCH", "CWH", "HCW", "CHW"],
    4: _OF_FOUR.split(),
}


@rows("Permute")
def permute(n: NcnnLayer, x: Value) -> Value:
    orders = _ORDERS.get(x.type.rank - 1, [])
    if not 0 <= n.int(0) < len(orders):
        raise n.error(f"order {n.int(0)} of a blob of {x.type.rank - 1} dimensions")
    own, wanted = orders[0][::-1], orders[n.int(0)][::-1]
    permutation = (0, *(1 + own.index(name) for name in wanted))
    return n(nn.Transpose(x, permutation=permutation))


@rows("Tile")
def tile(n: NcnnLayer, x: Value) -> Value:
    repeats = n.ints(2)
    if not repeats:
        axis = n.axis(x, n.int(0))
        return n(
            nn.Tile(x, repeats=tuple(n.int(1, 1) if i == axis else 1 for i in range(x.type.rank)))
        )
    if x.type.rank == 4 and len(repeats) == 4:  # a depth of 1 stands behind the channels
        x = reshape(n, x, [1, (x, 1), 1, (x, 2), (x, 3)])
    x = n.with_rank(x, len(repeats) + 1)
    return n(nn.Tile(x, repeats=(*[1] * (x.type.rank - len(repeats)), *repeats)))


@rows("Flip")
def flip(n: NcnnLayer, x: Value) -> Value:
    return reversed_axes(n, x, by_axes(n, x, n.ints(0)))


# -- parts and surroundings ------------------------------------------------------------------------

_NAMES = {1: "w", 2: "hw", 3: "chw", 4: "cdhw"}
_OFFSETS = {"w": 0, "h": 1, "d": 13, "c": 2}
_EXTENTS = {"w": 3, "h": 4, "d": 14, "c": 5}
_BEHIND = {"w": 6, "h": 7, "d": 15, "c": 8}


@rows("Crop")
def crop(n: NcnnLayer, x: Value, like: Value | None = None) -> Value:
    rank = x.type.rank - 1
    starts, ends, axes = n.ints(9), n.ints(10), n.ints(11)
    if n.text(19):
        inputs = [x] if like is None else [x, like]
        starts, ends = (evaluated(n, n.text(i), inputs) for i in (19, 20))
        axes = evaluated(n, n.text(21), inputs) if n.text(21) else axes
    if starts and ends:
        for axis, start, end in zip(axes or range(rank), starts, ends, strict=False):
            begin = 0 if start == -233 else start
            # Ends up to 0 count from behind, so 0 is the end of the axis.
            x = cut(n, x, n.axis(x, axis), begin, None if end in (-233, 0) else end)
        return x
    for i, name in enumerate(_NAMES.get(rank, ""), 1):
        begin = n.int(_OFFSETS[name])
        if like is not None:
            if name == "c" and like.type.rank != x.type.rank:
                if begin:
                    raise n.error(f"all channels, from {begin} on")
                continue
            place = _NAMES.get(like.type.rank - 1, "").find(name)
            wanted = like.type.shape[1 + place] if place >= 0 else 1
            if wanted is None:
                end = extent(n, (like, 1 + place)) + begin  # which the run tells
                x = slice_axis(n, x, i, begin, end.value)
                continue
            own = x.type.shape[i]
            if own is not None and not 0 <= begin <= own - wanted:
                raise n.error(f"{wanted} elements from {begin} on, of an axis of {own}")
            x = cut(n, x, i, begin, begin + wanted)
            continue
        behind, most = n.int(_BEHIND[name]), n.int(_EXTENTS[name])
        if name == "c" and x.type.shape[1] is None:
            raise n.error("it needs inputs of a known number of channels")
        end = -behind if behind else None
        if most != -233:
            limit, own = begin + most, x.type.shape[i]
            end = limit if own is None else min(limit, own - behind)
        x = cut(n, x, i, begin, end)
    return x


@rows("CopyTo")
def copy_to(n: NcnnLayer, x: Value, source: Value) -> Value:
    """x with another blob written into it at an offset."""
    rank = x.type.rank - 1
    if None in x.type.shape or None in source.type.shape or source.type.rank != rank + 1:
        raise n.error("it needs inputs of known extents, as many of them")
    given = {name: n.int(number) for name, number in _OFFSETS.items()}
    offsets = [0, *(given[name] for name in _NAMES[rank])]
    if starts := n.ints(9):
        offsets = [0] * (rank + 1)
        for axis, start in zip(by_axes(n, x, n.ints(11) or range(rank)), starts, strict=False):
            start = 0 if start == -233 else start
            offsets[axis] = start if start >= 0 else n.extent(x, axis) + start
    for own, count, begin in zip(x.type.shape, source.type.shape, offsets, strict=True):
        if own is None or count is None or not 0 <= begin <= own - count:
            raise n.error(f"{count} elements from {begin} on, of an axis of {own}")
    grid = np.indices(source.type.shape).reshape(len(offsets), -1).T + np.array(offsets)
    indices = n.constant(grid.reshape(*source.type.shape, len(offsets)).astype(np.int64))
    return n(nn.ScatterNd(x, indices, source))


@rows("Padding")
def padding(n: NcnnLayer, x: Value) -> Value:
    rank = x.type.rank
    begins, ends = [0] * rank, [0] * rank
    for i, (begin, end) in enumerate([(2, 3), (0, 1), (7, 8)]):
        sides = n.int(begin), n.int(end)
        if i < rank - 1:  # ncnn ignores those of axes that a blob does not have
            begins[rank - 1 - i], ends[rank - 1 - i] = sides
    if n.int(2) in SAME:
        raise n.error("padding by the size of a kernel is not supported")
    modes = ("constant", "edge", "reflect")
    if not 0 <= n.int(4) < len(modes):
        raise n.error(f"padding of type {n.int(4)}")
    mode, pads = modes[n.int(4)], (*begins, *ends)
    if mode == "constant" and n.has_weight("fill"):
        # Around x minus the fill of each channel, zeros.
        fill = n.per_channel("fill", x)
        return n(nn.Add(padded_by(n, n(nn.Sub(x, fill)), pads), fill))
    if mode == "reflect":
        for extent, *sides in zip(x.type.shape, begins, ends, strict=True):
            if extent is not None and max(sides) >= extent:
                raise n.error(f"reflections {sides} of {extent} elements")
    return padded_by(n, x, pads, n.float(5), mode)


# -- channels and positions ------------------------------------------------------------------------


@rows("PixelShuffle")
def pixel_shuffle(n: NcnnLayer, x: Value) -> Value:
    return n(nn.DepthToSpace(x, block=n.int(0, 1), mode="DCR" if n.int(1) else "CRD"))


@rows("Reorg")
def reorg(n: NcnnLayer, x: Value) -> Value:
    """Space to depth: mode 0 puts the input channel first, mode 1 the position in the block."""
    stride = n.int(0, 1)
    shape: Any = x.type.shape[1:] if x.type.rank == 4 else (None,) * 3
    c, h, w = shape
    if None in (c, h, w) or stride < 1 or h % stride or w % stride:
        raise n.error(
            f"the blob is '{x.type}'; height and width must be known "
            f"multiples of the stride {stride}"
        )
    split = reshape(n, x, [1, c, h // stride, stride, w // stride, stride])
    order = (0, 3, 5, 1, 2, 4) if n.int(1) else (0, 1, 3, 5, 2, 4)
    moved = n(nn.Transpose(split, permutation=order))
    return reshape(n, moved, [1, c * stride * stride, h // stride, w // stride])


@rows("ShuffleChannel")
def shuffle_channel(n: NcnnLayer, x: Value) -> Value:
    groups, channels = n.int(0, 1), x.type.shape[1]
    if n.int(1) and channels is not None and groups > 0:
        groups = channels // groups
    return channels_shuffled(n, x, groups)


@rows("Embed")
def embed(n: NcnnLayer, x: Value) -> Value:
    weight = n.array_of("weight")
    if weight.dtype == np.int8:
        weight = weight / n.array_of("weight_scale")[0]
    index = n(nn.Clip(n.cast(x, i64), n.constant(0, i64), n.constant(n.int(1) - 1, i64)))
    found = gathered(n, n.stored("weight", weight), index)
    return n(nn.Add(found, n.weight("bias"))) if n.has_weight("bias") else found


@rows("Diag")
def diag(n: NcnnLayer, x: Value) -> Value:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix."""
    if x.type.rank > 3:
        raise n.error("it needs a vector or matrix")
    if x.type.rank == 2:
        return on_diagonal(n, x, n.int(0))
    return diagonal(n, x, n.int(0), 1, 2)


# -- shapes by expressions -------------------------------------------------------------------------

_TOKEN = re.compile(r"\d+[whdcn]|[-+]?\d+\.?\d*(?:e[-+]?\d+)?|[a-z]+\d*|//|[-+*/(),]")
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "+": (2, lambda a, b: a + b),
    "-": (2, lambda a, b: a - b),
    "*": (2, lambda a, b: a * b),
    "/": (2, lambda a, b: a / b),
    "//": (2, lambda a, b: a // b),
    "max": (2, max),
    "min": (2, min),
    "abs": (1, abs),
    "neg": (1, lambda a: -a),
    "square": (1, lambda a: a * a),
    "sqrt": (1, math.sqrt),
    "floor": (1, math.floor),
    "ceil": (1, math.ceil),
    "round": (1, round),
    "trunc": (1, math.trunc),
    "pow": (2, pow),
    "remainder": (2, lambda a, b: a % b),
    "fmod": (2, math.fmod),
}


def evaluated(n: NcnnLayer, text: str, inputs: Sequence[Value]) -> list[int]:
    """The values of expressions in text such as `0w,*(1h,2)`; 0w is the width of the first blob."""
    tokens = [t for t in _TOKEN.findall(text) if t not in "(),"]
    at, found = 0, []

    def one(depth: int) -> Any:
        nonlocal at
        if at >= len(tokens) or depth > 50:
            raise n.error(f"no expression: {text!r}")
        token = tokens[at]
        at += 1
        if token in _FUNCTIONS:
            count, function = _FUNCTIONS[token]
            return function(*(one(depth + 1) for _ in range(count)))
        if token[-1] in "whdcn" and token[:-1].isdigit():
            return _extent_of(n, token, inputs)
        return np.float32(token) if "." in token else float(token)  # 1.3 of 10 is 13

    try:
        while at < len(tokens):
            found.append(int(one(0)))
    except (ValueError, ArithmeticError):
        raise n.error(f"no expression: {text!r}") from None
    return found


def _extent_of(n: NcnnLayer, token: str, inputs: Sequence[Value]) -> int:
    blob, name = int(token[:-1]), token[-1]
    if blob >= len(inputs):
        raise n.error(f"there is no blob {blob}")
    place = _NAMES.get(inputs[blob].type.rank - 1, "").find(name)
    return 1 if place < 0 else n.extent(inputs[blob], 1 + place)

"""Joined, repeated and padded tensors, and differences of neighbours."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

from ...common import arrays
from ...common.runtime_axes import assumed
from ...common.vocabulary import *
from ..layer import AtenLayer, Size
from ..rows import ROWS
from .views import LAST, broadcast_tensors, unsqueeze


@ROWS("aten.cat", "aten.concat", "aten.concatenate", batched="joined")
def cat(n: AtenLayer, tensors: list[Value], dim: int = 0) -> Value:
    parts = [x for x in tensors if x.type.shape != (0,)] or tensors[:1]
    parts = n.promoted(*parts)
    return concat(n, parts, n.axis(dim, parts[0].type.rank))


@ROWS("aten.cartesian_prod")
def cartesian_prod(n: AtenLayer, tensors: list[Value]) -> Value:
    """All combinations of the tensors' elements, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    count = len(tensors)
    apart = [Term(n, x).spread(i, count - 1 - i).value for i, x in enumerate(tensors)]
    wide = [Term(n, x).flat().value for x in broadcast_tensors(n, apart)]
    return stack(n, wide, 1)


@ROWS("aten.combinations")
def combinations_(n: AtenLayer, self: Value, r: int = 2, with_replacement: bool = False) -> Value:
    """All choices of r elements, as rows."""
    choose = combinations_with_replacement if with_replacement else combinations
    places = [*choose(range(n.int(n.size(self, 0))), r)]
    return Term(n, self).gather(constant(n, np.reshape(places, (-1, r)), i64)).value


@ROWS("aten.block_diag")
def block_diag(n: AtenLayer, tensors: list[Value]) -> Value:
    """Matrices placed along a diagonal, with zeros around."""
    parts = [Term(n, x).spread(2 - x.type.rank, 0).value for x in n.promoted(*tensors)]
    rows = []
    for i, x in enumerate(parts):
        zeros = [n.filled(n.scalar(0, x), [n.size(x, 0), n.size(y, 1)]) for y in parts]
        rows.append(concat(n, [*zeros[:i], x, *zeros[i + 1 :]], 1))
    return concat(n, rows, 0)


@ROWS("aten.cross", "aten.linalg_cross")
def cross(n: AtenLayer, self: Value, other: Value, dim: Any = None) -> Value:
    """The cross products of vectors of three elements."""
    lhs, rhs = broadcast_tensors(n, n.promoted(self, other))
    default = lhs.type.shape.index(3) if "linalg" not in n.kind and 3 in lhs.type.shape else -1
    axis = n.axis(default if dim is None else dim, lhs.type.rank)
    return arrays.cross(Term(n, lhs), Term(n, rhs), axis).value


@ROWS("aten._stack", "aten.stack", batched="joined")
def stack(n: AtenLayer, tensors: list[Value], dim: int = 0) -> Value:
    parts = n.promoted(*tensors)
    return stacked(n, parts, n.axis(dim, parts[0].type.rank + 1))


_STACKS = {
    "hstack": arrays.hstack,
    "vstack": arrays.vstack,
    "row_stack": arrays.vstack,
    "dstack": arrays.dstack,
    "column_stack": arrays.column_stack,
}


@ROWS(*(f"aten.{name}" for name in _STACKS))
def side_by_side(n: AtenLayer, tensors: list[Value]) -> Value:
    return _STACKS[n.kind.split(".")[1]](n, n.promoted(*tensors))


@ROWS("aten.repeat", "aten.tile")
def repeat(n: AtenLayer, self: Value, repeats: Any = None, dims: Any = None) -> Value:
    return arrays.tile(n, self, n.vector(repeats if repeats is not None else dims))


@ROWS("aten.repeat_interleave")
def repeat_interleave(
    n: AtenLayer,
    self: Any = None,
    repeats: Any = None,
    dim: int | None = None,
    output_size: Any = None,
) -> Value:
    """Each element, or slice, repeated by a number or a tensor of counts; or their indices."""
    total = None if output_size is None else Term(n, n.as_value(output_size, i64))
    if self is None:
        return arrays.repeated_places(n, repeats, total)
    if dim is None:
        self, dim = Term(n, self).flat().value, 0
    axis = n.axis(dim, self.type.rank)
    if isinstance(repeats, Value) and repeats.type.rank and repeats.type.shape != (1,):
        return arrays.repeat_each(n, self, repeats, axis, total)
    count = n.number(repeats)
    if not isinstance(count, Value):
        return arrays.repeat(n, self, count, axis)
    once = Term(n, n.as_value(count, i64)).reshape()
    self = assumed(n, self, once.spread(0, 1) >= 0, "repeats are negative")
    places = counting(n, extent(n, (self, axis)) * once) / once.max(1)
    return gathered(n, self, places.value, axis)


@ROWS("aten.pad", "aten.constant_pad_nd", batched="last")
def pad(n: AtenLayer, self: Value, pad: list[Any], mode: str = "constant", value=None) -> Value:
    """x padded by pairs, those of the last dimension first; negative ones cut."""
    rank = self.type.rank
    pads = [0] * (2 * rank)
    for i in range(len(pad) // 2):
        pads[rank - 1 - i], pads[2 * rank - 1 - i] = map(n.number, pad[2 * i : 2 * i + 2])
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    fill = n.as_value(value or 0, self.type.element_type) if mode == "constant" else None
    if any(isinstance(size, Value) for size in pads):
        return pad_by_vector(n, self, n.vector(pads), fill, names[mode])
    pads = [int(size) for size in pads]
    cut = [min(size, 0) for size in pads]
    wide = [max(size, 0) for size in pads]
    if mode in ("constant", "circular"):
        return padded_by(n, _without(n, self, cut), wide, fill, names[mode])
    return _without(n, padded_by(n, self, wide, fill, names[mode]), cut)


def _without(n: AtenLayer, x: Value, cut: list[int]) -> Value:
    """x with elements cut from both sides, where the pads are negative."""
    rank = x.type.rank
    for i in range(rank):
        if cut[i] or cut[rank + i]:
            x = slice_axis(n, x, i, -cut[i], cut[rank + i] or LAST)
    return x


@ROWS("aten.pad_sequence")
def pad_sequence(
    n: AtenLayer,
    sequences: list[Value],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Value:
    """Sequences padded to the longest one, as rows."""
    longest = max(n.int(n.size(one, 0)) for one in sequences)
    rows = []
    for one in sequences:
        missing = longest - n.int(n.size(one, 0))
        pads = [0] * (2 * one.type.rank)
        pads[one.type.rank if padding_side == "right" else 0] = missing
        whole = padded_by(n, one, pads, n.as_value(padding_value, one.type.element_type))
        rows.append(unsqueeze(n, whole, 0 if batch_first else 1))
    return concat(n, rows, 0 if batch_first else 1)


def _padding(mode: str) -> Any:
    return lambda n, self, padding: pad(n, self, padding, mode)


ROWS.add(
    {
        f"aten.{name}_pad{rank}d": _padding(mode)
        for name, mode in (("reflection", "reflect"), ("replication", "replicate"))
        for rank in (1, 2, 3)
    }
)


@ROWS("aten.tril", "aten.triu", batched="last")
def trilu(n: AtenLayer, self: Value, diagonal: int = 0) -> Value:
    upper = "triu" in n.kind
    return n(nn.Trilu(self, n.as_value(diagonal, i64), upper=upper))


@ROWS("aten.pixel_shuffle")
def pixel_shuffle(n: AtenLayer, self: Value, upscale_factor: int) -> Value:
    """[.., C * r * r, H, W] -> [.., C, H * r, W * r]"""
    r = n.int(upscale_factor)
    if self.type.rank == 4:
        return n(nn.DepthToSpace(self, block=r, mode="CRD"))
    *lead, c, h, w = n.shape(self)
    channels, place = _over(n, c, r * r), len(lead)
    apart = n.reshape(self, [*lead, channels, r, r, h, w])
    order = [*range(place), *(place + i for i in (0, 3, 1, 4, 2))]
    return n.reshape(
        transposed(n, apart, order), [*lead, channels, _times(n, h, r), _times(n, w, r)]
    )


def _times(n: AtenLayer, size: Size, count: int) -> Size:
    return size * count if isinstance(size, int) else (Term(n, size) * count).value


def _over(n: AtenLayer, size: Size, count: int) -> Size:
    return size // count if isinstance(size, int) else (Term(n, size) / count).value


@ROWS("aten.pixel_unshuffle")
def pixel_unshuffle(n: AtenLayer, self: Value, downscale_factor: int) -> Value:
    """[.., C, H * r, W * r] -> [.., C * r * r, H, W]"""
    r = n.int(downscale_factor)
    *lead, c, height, width = n.shape(self)
    h, w, place = _over(n, height, r), _over(n, width, r), len(lead)
    apart = n.reshape(self, [*lead, c, h, r, w, r])
    moved = transposed(n, apart, [*range(place), *(place + i for i in (0, 2, 4, 1, 3))])
    return n.reshape(moved, [*lead, _times(n, c, r * r), h, w])


@ROWS("aten.channel_shuffle", "aten.native_channel_shuffle")
def channel_shuffle(n: AtenLayer, self: Value, groups: int) -> Value:
    return channels_shuffled(n, self, groups)


@ROWS("aten.diff")
def diff(
    n: AtenLayer,
    self: Value,
    n_: int = 1,
    dim: int = -1,
    prepend: Value | None = None,
    append: Value | None = None,
) -> Value:
    """The difference of neighbouring elements, taken `n_` times."""
    axis = n.axis(dim, self.type.rank)
    x = cat(n, [v for v in (prepend, self, append) if v is not None], axis)
    return arrays.diff(n, x, axis, n_)

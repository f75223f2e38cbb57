"""Layers that move elements: shapes, orders, padding, cropping, repetition."""

from __future__ import annotations

from ...common.shapes import product
from ...common.vocabulary import *
from ..layer import KerasLayer, layer


def merged_batch(n: KerasLayer, x: Value) -> Value:
    """[B, T, ..] as [B * T, ..]"""
    return merge(n, x, ((0, 2), *((i, i + 1) for i in range(2, x.type.rank))))


def split_batch(n: KerasLayer, y: Value, x: Value) -> Value:
    """[B * T, ..] as [B, T, ..], where B and T are the first extents of x."""
    return reshape(n, y, [(x, 0), (x, 1), *((y, i) for i in range(1, y.type.rank))])


def is_channels_first(n: KerasLayer) -> bool:
    """Whether channels come right after the batch, not last."""
    formats = ("channels_last", "channels_first", None)
    found = n.option("data_format", None)
    if found not in formats:
        raise n.error(f"'data_format' is {found!r}, expected channels_last or channels_first")
    return found == "channels_first"


@layer("Reshape")
def reshape_layer(n: KerasLayer) -> Value:
    x = n.tensor()
    target = n.option("target_shape")
    wanted = [-1 if d is None else d for d in target]
    if not all(isinstance(d, int) for d in wanted) or wanted.count(-1) > 1:
        raise n.error(f"'target_shape' is {target!r}, expected integers")
    have, want = product(x.type.shape[1:]), product([d for d in wanted if d != -1])
    fits = have == want or (-1 in wanted and bool(want) and have is not None and not have % want)
    if have is not None and not fits:
        raise n.error(f"{have} elements do not fit shape {list(target)}")
    return reshape_by(n, x, shape_of(n, x), [(x, 0), *wanted])


@layer("Flatten")
def flatten_(n: KerasLayer) -> Value:
    x = n.tensor()
    rank = x.type.rank
    if rank > 2 and is_channels_first(n):
        x = n(nn.Transpose(x, permutation=(0, *range(2, rank), 1)))
    return merge(n, x, ((0, 1), (1, rank))) if rank > 1 else reshape(n, x, [(x, 0), 1])


@layer("Permute")
def permute(n: KerasLayer) -> Value:
    x = n.tensor()
    dims = n.integers("dims", x.type.rank - 1)
    return n(nn.Transpose(x, permutation=(0, *dims)))


@layer("RepeatVector")
def repeat_vector(n: KerasLayer) -> Value:
    x, count = n.tensor(), n.integer("n")
    row = reshape(n, x, [(x, 0), 1, (x, 1)])
    return broadcast(n, row, [(x, 0), count, (x, 1)])


def _pairs(n: KerasLayer, name: str, count: int) -> list[tuple[int, int]]:
    """The amounts before and after each dimension, given as one number, one or two for each."""
    given = n.option(name)
    listed = [given] * count if isinstance(given, int) else list(given)
    if count == 1 and len(listed) == 2 and all(isinstance(v, int) for v in listed):
        listed = [listed]
    pairs = [(v, v) if isinstance(v, int) else tuple(v) for v in listed]
    if len(pairs) != count or not all(len(pair) == 2 for pair in pairs):
        raise n.error(f"'{name}' is {given!r}, expected two numbers for each of {count} dimensions")
    return pairs  # type: ignore[return-value]


@layer("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(n: KerasLayer) -> Value:
    x = n.tensor()
    first = 2 if is_channels_first(n) else 1
    pads = np.zeros((2, x.type.rank), np.int64)
    for i, pair in enumerate(_pairs(n, "padding", x.type.rank - 2)):
        pads[:, first + i] = pair
    return padded_by(n, x, pads.reshape(-1).tolist())


@layer("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(n: KerasLayer) -> Value:
    x = n.tensor()
    first = 2 if is_channels_first(n) else 1
    for i, (begin, end) in enumerate(_pairs(n, "cropping", x.type.rank - 2)):
        x = slice_axis(n, x, first + i, begin, -end if end else FAR)
    return x

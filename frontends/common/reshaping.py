"""Reshapes and broadcasts to shapes that are partly computed at run time."""

from __future__ import annotations

from ...ir.types import is_told_by_count
from .shapes import product
from .words import *


def reshape_by(n: Layer, x: Value, vector: Value, extents: list) -> Value:
    """x in a shape whose extents are numbers, (x, axis) for one of x, -1 for the rest, or None for
    the element of `vector` at this index.
    """
    shape: list[Dim] = [resolve(e) for e in extents]
    if -1 in shape:
        shape[shape.index(-1)] = _what_is_left(n, x, extents, shape)
    out = TensorType(tuple(shape), x.type.element_type)
    total = product(shape), product(x.type.shape)
    if None not in total and total[0] != total[1]:
        raise n.error(f"{total[1]} elements do not fit shape {shape}")
    if None not in shape and out is x.type:
        return x
    if is_told_by_count(shape):
        return n(nn.Reshape(x, out=out))
    parts = []
    for i, extent in enumerate(extents):
        if isinstance(extent, tuple):
            parts.append(part_of_vector(n, shape_of(n, x), extent[1], extent[1] + 1))
        elif extent is None:
            parts.append(part_of_vector(n, as_i64(n, vector), i, i + 1))
        else:
            parts.append(n.constant(np.array([extent], np.int64)))
    return n(nn.ReshapeDynamic(x, n(nn.Concat(parts, axis=0)), out=out))


def zeros_replaced(n: Layer, x: Value, shape: Value, rank: int) -> Value:
    """A vector of `rank` extents, with those of x in place of zeros."""
    shape, own = as_i64(n, shape), shape_of(n, x)
    count = min(rank, x.type.rank)
    parts = [part_of_vector(n, own, 0, count)] if count else []
    if rank > count:
        parts.append(n.constant(np.zeros(rank - count, np.int64)))
    is_zero = n(nn.Equal(shape, n.constant(0, i64)))
    return n(nn.Where(is_zero, concatenated(n, parts), shape))


def _what_is_left(n: Layer, x: Value, extents: list, shape: list[Dim]) -> Dim:
    """The extent that -1 stands for: the input's elements over the other extents.

    Unknown dimensions that are copied from the input cancel out.
    """
    copied = {e[1] for e in extents if isinstance(e, tuple)}
    rest = [d for i, d in enumerate(x.type.shape) if d is not None or i not in copied]
    others = [
        d
        for e, d in zip(extents, shape, strict=True)
        if d != -1 and not (isinstance(e, tuple) and d is None)
    ]
    above, below = product(rest), product(others)
    if above is None or below is None:
        return None
    if below == 0:
        if above == 0:
            return 0
        raise n.error(f"{above} elements do not fit shape {shape}")
    if above % below:
        raise n.error(f"{above} elements do not divide by {below}, for shape {shape}")
    return above // below


def expand_by(n: Layer, x: Value, vector: Value, wanted: tuple[Dim, ...]) -> Value:
    """x broadcast against the shape `vector` as by NumPy; `wanted` is what is known of it."""
    rank = max(len(wanted), x.type.rank)
    wanted = (1,) * (rank - len(wanted)) + wanted
    own = (1,) * (rank - x.type.rank) + x.type.shape
    shape: list[Dim] = []
    for i, (w, d) in enumerate(zip(wanted, own, strict=True)):
        if w is not None and d is not None and w != d and 1 not in (w, d):
            raise n.error(f"dimension {i}: {d} elements do not broadcast to {w}")
        if w == 1 or w is None:
            shape.append(d if w == 1 or d != 1 else None)
        else:
            shape.append(w)
    # The run decides between an unknown w and an extent that is unknown or 1, and whether an
    # unknown extent is 1 or equal to a known w.
    late = any(
        d in (1, None) if w is None else d is None and w != 1
        for w, d in zip(wanted, own, strict=True)
    )
    if late:
        vector_rank = vector.type.shape[0]
        if vector_rank < rank:
            ones = n.constant(np.ones(rank - vector_rank, np.int64))
            vector = n(nn.Concat([ones, vector], axis=0))
        out = TensorType(tuple(shape), x.type.element_type)
        return n(nn.BroadcastDynamic(x, vector, out=out))
    lead = rank - x.type.rank
    return broadcast(n, x, [(x, i - lead) if d is None else d for i, d in enumerate(shape)])

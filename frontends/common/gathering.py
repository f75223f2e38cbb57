"""Gathering along an axis, with leading dimensions that data and indices share."""

from __future__ import annotations

from ...dialects import nn
from ...ir.core import Value
from .layer import Layer
from .movement import transposed
from .terms import Term


def gathered(n: Layer, data: Value, indices: Value, axis: int, batch_dims: int = 0) -> Value:
    """data [B.., M.., K, R..], indices [B.., I..] -> [B.., M.., I.., R..]"""
    known, extent = n.known(indices), data.type.shape[axis]
    if known is not None and extent is not None and known.size:  # noqa: SIM102
        if known.min() < -extent or known.max() >= extent:
            raise n.error(f"an index is out of range for axis {axis} of {extent} elements")
    if not batch_dims:
        return n(nn.Gather(data, indices, axis=axis))
    rank = data.type.rank
    if not batch_dims <= axis < rank or batch_dims > indices.type.rank:
        raise n.error(f"{batch_dims} dimensions of a batch before axis {axis}")
    order = (*range(batch_dims), axis, *(i for i in range(batch_dims, rank) if i != axis))
    rows = transposed(n, data, order)
    found = n(nn.GatherNd(rows, Term(n, indices).spread(0, 1).value, batch_dims=batch_dims))
    inner = indices.type.rank - batch_dims
    middle = axis - batch_dims
    places = list(range(found.type.rank))
    head, index = places[:batch_dims], places[batch_dims : batch_dims + inner]
    between = places[batch_dims + inner : batch_dims + inner + middle]
    return transposed(n, found, (*head, *between, *index, *places[batch_dims + inner + middle :]))

"""What reads and writes by positions, sorts and suppresses."""

from __future__ import annotations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i32, i64
from ...common.shapes import as_i64, as_scalar, normalize_axis, shape_of, shape_text
from ...common.terms import Term, constant, counting, extent, joined
from ..layer import CoreMLLayer
from ..rows import ROWS

_MODES = {"update": "none", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@ROWS("gather")
def gather(n: CoreMLLayer, x: Value, indices: Value) -> Value:
    axis, batch = normalize_axis(n, n.int("axis", 0), x.type.rank), n.int("batch_dims", 0)
    if not batch:
        return n(nn.Gather(x, indices, axis=axis))
    if not 0 < batch <= min(axis, indices.type.rank):
        raise n.error(f"'batch_dims' is {batch} for axis {axis} of {shape_text(x)}")
    order = (*range(batch), axis, *(i for i in range(batch, x.type.rank) if i != axis))
    moved = n(nn.Transpose(x, permutation=order))
    index = Term(n, indices).reshape(*((indices, i) for i in range(indices.type.rank)), 1)
    found = n(nn.GatherNd(moved, as_i64(n, index.value), batch_dims=batch))
    inner, count = indices.type.rank - batch, axis - batch
    back = (
        *range(batch),
        *range(batch + inner, batch + inner + count),
        *range(batch, batch + inner),
        *range(batch + inner + count, found.type.rank),
    )
    return n(nn.Transpose(found, permutation=back))


@ROWS("gather_along_axis")
def gather_along_axis(n: CoreMLLayer, x: Value, indices: Value) -> Value:
    return n(nn.GatherElements(x, indices, axis=normalize_axis(n, n.int("axis", 0), x.type.rank)))


@ROWS("gather_nd")
def gather_nd(n: CoreMLLayer, x: Value, indices: Value) -> Value:
    return n(nn.GatherNd(x, as_i64(n, indices), batch_dims=n.int("batch_dims", 0)))


def _mode(n: CoreMLLayer, updates: Value, default: str) -> tuple[str, Value]:
    """How updates combine with what is there; a difference is a sum, a quotient a product."""
    mode = n.text("mode", default, "sub", "div", *_MODES)
    if mode == "sub":
        return "add", n(nn.Neg(updates))
    if mode == "div":
        return "mul", n(nn.Reciprocal(updates))
    return _MODES[mode], updates


@ROWS("scatter")
def scatter(n: CoreMLLayer, data: Value, indices: Value, updates: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 0), data.type.rank)
    mode, updates = _mode(n, updates, "add")
    rest = [i for i in range(data.type.rank) if i != axis]
    inner = indices.type.rank
    front = range(axis, axis + inner)
    behind = [i for i in range(updates.type.rank) if i not in front]
    index = Term(n, as_i64(n, indices)).reshape(*((indices, i) for i in range(inner)), 1)
    made = n(
        nn.ScatterNd(
            n(nn.Transpose(data, permutation=(axis, *rest))),
            index.value,
            n(nn.Transpose(updates, permutation=(*front, *behind))),
            reduction=mode,
        )
    )
    return n(nn.Transpose(made, permutation=tuple(np.argsort([axis, *rest]).tolist())))


@ROWS("scatter_along_axis")
def scatter_along_axis(n: CoreMLLayer, data: Value, indices: Value, updates: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 0), data.type.rank)
    mode, updates = _mode(n, updates, "add")
    return n(nn.ScatterElements(data, indices, updates, axis=axis, reduction=mode))


@ROWS("scatter_nd")
def scatter_nd(n: CoreMLLayer, data: Value, indices: Value, updates: Value) -> Value:
    mode, updates = _mode(n, updates, "add")
    return n(nn.ScatterNd(data, as_i64(n, indices), updates, reduction=mode))


@ROWS("one_hot")
def one_hot(n: CoreMLLayer, indices: Value, one_hot_vector_size: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", -1), indices.type.rank + 1)
    pair = [n.attribute("off_value", np.int32(0)), n.attribute("on_value", np.int32(1))]
    values = n.constant(np.array([np.asarray(one).reshape(()) for one in pair]))
    depth = as_scalar(n, as_i64(n, one_hot_vector_size))
    known = n.known(depth)
    shape = list(indices.type.shape)
    shape.insert(axis, None if known is None else int(known))
    out = TensorType(tuple(shape), values.type.element_type)
    return n(nn.OneHot(as_i64(n, indices), depth, values, axis=axis, out=out))


@ROWS("non_zero")
def non_zero(n: CoreMLLayer, x: Value) -> Value:
    return n.cast(n(nn.Transpose(n(nn.NonZero(x)), permutation=(1, 0))), i32)


@ROWS("fill")
def fill(n: CoreMLLayer, shape: Value, value: Value | None = None) -> Value:
    value = n.constant(np.float32(0)) if value is None else as_scalar(n, value)
    return Term(n, value).filled(Term(n, as_i64(n, shape))).value


@ROWS("fill_like")
def fill_like(n: CoreMLLayer, ref_tensor: Value, value: Value) -> Value:
    return Term(n, as_scalar(n, value)).filled(Term(n, shape_of(n, ref_tensor))).value


@ROWS("range_1d")
def range_1d(n: CoreMLLayer, end: Value, start: Value, step: Value) -> Value:
    bounds = [as_scalar(n, v) for v in (start, end, step)]
    known = [n.known(v) for v in bounds]
    if all(v is not None for v in known):
        first, last, by = known
        return n.constant(np.arange(first, last, by, known[0].dtype))
    out = TensorType((None,), bounds[0].type.element_type)
    return n(nn.Range(*bounds, out=out))


@ROWS("argsort")
def argsort(n: CoreMLLayer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    count = extent(n, (x, axis)).value
    out = TensorType(x.type.shape, x.type.element_type)
    order = n(
        nn.TopK(
            x,
            count,
            axis=axis,
            largest=not n.flag("ascending"),
            out=out,
            indices=TensorType(x.type.shape, i64),
        )
    )[1]
    return n.cast(order, i32)


@ROWS("topk")
def top_k(n: CoreMLLayer, x: Value, k: Value) -> list[Value]:
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    count = as_scalar(n, as_i64(n, k))
    known = n.known(count)
    if known is not None and int(known) == -1:
        count = extent(n, (x, axis)).value
        known = n.known(count)
    shape = tuple(
        (None if known is None else int(known)) if i == axis else d
        for i, d in enumerate(x.type.shape)
    )
    values, order = n(
        nn.TopK(
            x,
            count,
            axis=axis,
            largest=not n.flag("ascending"),
            out=TensorType(shape, x.type.element_type),
            indices=TensorType(shape, i64),
        )
    )
    element = n.element("output_indices_dtype") if n.has("output_indices_dtype") else i32
    return [values, n.cast(order, element)]


@ROWS("non_maximum_suppression")
def suppression(
    n: CoreMLLayer,
    boxes: Value,
    scores: Value,
    iou_threshold: Value,
    max_boxes: Value,
    score_threshold: Value | None = None,
) -> list[Value]:
    """Boxes as centers and sizes [B, N, 4] with scores [B, N, C], the best first.

    Gives [B, M, 4], [B, M, C], their places [B, M] and their numbers [B]; what is left is filled
    with zeros and -1.
    """
    most = n.known_int(max_boxes, "'max_boxes'")
    best = Term(n, scores).largest(2)
    count = best.shape[1]
    if count is None or n.flag("per_class_suppression"):
        raise n.error("boxes must be known in number, and classes compete")
    types = {"out": TensorType(best.shape, best.element), "indices": TensorType(best.shape, i64)}
    ranked, order = (
        Term(n, v) for v in n(nn.TopK(best.value, n.constant(count, i64), axis=1, **types))
    )
    index = order.reshape((order.value, 0), count, 1)
    chosen, chances = (
        Term(n, n(nn.GatherNd(v, index.value, batch_dims=1))) for v in (boxes, scores)
    )
    center, half = chosen.part(2, 0, 2), chosen.part(2, 2, 4) * 0.5
    corners = joined([center - half, center + half], 2)
    eligible = (
        ranked.equals(ranked)
        if score_threshold is None
        else ranked > Term(n, as_scalar(n, score_threshold))
    )
    limit = as_scalar(n, iou_threshold)
    kept = Term(n, n(nn.Suppress(corners.value, eligible.value, n.constant(most, i64), limit)))
    rank = counting(n, constant(n, count, i64)) + kept.choose(constant(n, 0, i64), count)
    types = {"out": TensorType(rank.shape, i64), "indices": TensorType(rank.shape, i64)}
    places = Term(
        n, n(nn.TopK(rank.value, n.constant(count, i64), axis=1, largest=False, **types))[1]
    )
    picked = places.part(1, 0, min(most, count))
    there = Term(n, n(nn.GatherElements(kept.value, picked.value, axis=1)))
    at = picked.reshape((picked.value, 0), picked.shape[1], 1)
    wide = there.reshape((there.value, 0), there.shape[1], 1)

    def filled(value: Term, rest: int) -> Value:
        missing = most - value.shape[1]
        pads = [0] * 2 * value.rank
        pads[value.rank + 1] = missing
        if not missing:
            return value.value
        return n(nn.Pad(value.value, n.scalar(rest, value.value), pads=tuple(pads)))

    found = [
        wide.choose(Term(n, n(nn.GatherNd(v.value, at.value, batch_dims=1))), 0.0)
        for v in (chosen, chances)
    ]
    own = Term(n, n(nn.GatherElements(order.value, picked.value, axis=1)))
    own = there.choose(own, constant(n, -1, i64)).cast(i32)
    numbers = there.cast(i32).sum(1)
    return [filled(found[0], 0), filled(found[1], 0), filled(own, -1), numbers.value]

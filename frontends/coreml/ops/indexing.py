"""Operations that gather and scatter, sort and suppress."""

from __future__ import annotations

from ...common.detections import best_first, corners, not_suppressed
from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows

_MODES = {"update": "none", "add": "add", "mul": "mul", "max": "max", "min": "min"}


def _axis(n: CoreMLLayer, x: Value, default: int = 0) -> int:
    return normalize_axis(n, n.int("axis", default), x.type.rank)


@rows("gather")
def gather(n: CoreMLLayer, x: Value, indices: Value) -> Value:
    return gathered(n, x, as_i64(n, indices), _axis(n, x), n.int("batch_dims", 0))


@rows("gather_along_axis")
def gather_along_axis(n: CoreMLLayer, x: Value, indices: Value) -> Value:
    return gathered_elements(n, x, indices, _axis(n, x))


@rows("slice_along")
def slice_along(n: CoreMLLayer, x: Value, begin: Value) -> Value:
    """`size` elements along an axis, from position `begin` on. In networks only."""
    places = Term(n, as_scalar(n, as_i64(n, begin))) + constant(n, np.arange(n.int("size")))
    return Term(n, x).gather(places, _axis(n, x)).value


@rows("gather_nd")
def gather_nd(n: CoreMLLayer, x: Value, indices: Value) -> Value:
    return gathered_nd(n, x, indices, n.int("batch_dims", 0))


def _mode(n: CoreMLLayer, updates: Value) -> tuple[str, Value]:
    """The scatter reduction, and its updates: subtraction becomes a sum of negatives, and so on."""
    mode = n.text("mode", "add", "sub", "div", *_MODES)
    if mode == "sub":
        return "add", n(nn.Neg(updates))
    if mode == "div":
        return "mul", n(nn.Reciprocal(updates))
    return _MODES[mode], updates


@rows("scatter")
def scatter(n: CoreMLLayer, data: Value, indices: Value, updates: Value) -> Value:
    axis = _axis(n, data)
    mode, updates = _mode(n, updates)
    order = (axis, *(i for i in range(data.type.rank) if i != axis))
    front = range(axis, axis + indices.type.rank)
    behind = [i for i in range(updates.type.rank) if i not in front]
    index = Term(n, as_i64(n, indices)).spread(0, 1).value
    rows = transposed(n, updates, (*front, *behind))
    made = n(nn.ScatterNd(transposed(n, data, order), index, rows, reduction=mode))
    return transposed(n, made, np.argsort(order).tolist())


@rows("scatter_along_axis")
def scatter_along_axis(n: CoreMLLayer, data: Value, indices: Value, updates: Value) -> Value:
    mode, updates = _mode(n, updates)
    index = as_i64(n, indices)  # networks have no integers
    return n(nn.ScatterElements(data, index, updates, axis=_axis(n, data), reduction=mode))


@rows("scatter_nd")
def scatter_nd(n: CoreMLLayer, data: Value, indices: Value, updates: Value) -> Value:
    mode, updates = _mode(n, updates)
    return n(nn.ScatterNd(data, as_i64(n, indices), updates, reduction=mode))


@rows("one_hot")
def one_hot_(n: CoreMLLayer, indices: Value, one_hot_vector_size: Value) -> Value:
    pair = [n.attribute("off_value", np.int32(0)), n.attribute("on_value", np.int32(1))]
    values = n.constant(np.array([np.asarray(one).reshape(()) for one in pair]))
    return one_hot(n, indices, one_hot_vector_size, values, n.int("axis", -1))


rows.formulas(
    {
        "non_zero": lambda n, x: n.cast(transposed(n, n(nn.NonZero(x)), (1, 0)), i32),
        "range_1d": lambda n, end, start, step: ranged(n, start, end, step),
        "argsort": lambda n, x: _top(n, x, None)[1],
    }
)


@rows("fill")
def fill(n: CoreMLLayer, shape: Value, value: Value | None = None) -> Value:
    value = n.constant(np.float32(0)) if value is None else as_scalar(n, value)
    return Term(n, value).filled(Term(n, as_i64(n, shape))).value


@rows("fill_like")
def fill_like(n: CoreMLLayer, ref_tensor: Value, value: Value) -> Value:
    return Term(n, as_scalar(n, value)).filled(Term(n, shape_of(n, ref_tensor))).value


def _top(n: CoreMLLayer, x: Value, count: Value | None) -> list[Value]:
    """The first `count` of the sorted elements, or all, and their positions."""
    axis = _axis(n, x, -1)
    descending = not n.flag("ascending")
    if count is None:
        values, order = ordered(n, x, axis, descending)
    else:
        values, order = largest(n, x, count, axis, descending)
    name = "output_indices_dtype"
    return [values, n.cast(order, n.element(name) if n.has(name) else i32)]


@rows("topk")
def top_k(n: CoreMLLayer, x: Value, k: Value) -> list[Value]:
    known = n.known(k)
    return _top(n, x, None if known is not None and known.item() == -1 else k)


@rows("non_maximum_suppression")
def suppression(n: CoreMLLayer, boxes: Value, scores: Value) -> list[Value]:
    """Non-maximum suppression of boxes [B, N, 4] (centers and sizes) with scores [B, N, C].

    Returns boxes [B, M, 4] and scores [B, M, C], the best first, their indices [B, M] and their
    counts [B]. Unused places hold zeros, and -1 as indices.
    """
    most, count = n.int("max_boxes"), boxes.type.shape[1]
    if count is None or n.flag("per_class_suppression"):
        raise n.error("boxes must be known in number, and classes compete")
    best, order = best_first(Term(n, scores).largest(2))

    def taken(values: Term, index: Term) -> Term:
        return values.gather_nd(index.spread(0, 1), 1)

    chosen, chances = (taken(Term(n, v), order) for v in (boxes, scores))
    shown = best > n.float("score_threshold", -np.inf)
    kept = not_suppressed(corners(chosen), shown, n.float("iou_threshold"), most)
    rank = counting(n, constant(n, count, i64)) + kept.choose(constant(n, 0, i64), count)
    picked = best_first(-rank, most)[1]
    there = kept.gather_elements(picked, 1)

    def filled(value: Term, rest: int) -> Value:
        pads = [0] * 2 * value.rank
        pads[value.rank + 1] = max(most - count, 0)
        return padded_by(n, value.value, pads, rest)

    found = [there.spread(0, 1).choose(taken(v, picked), 0.0) for v in (chosen, chances)]
    own = order.gather_elements(picked, 1)
    own = there.choose(own, constant(n, -1, i64)).cast(i32)
    numbers = there.cast(i32).sum(1)
    return [*(filled(one, 0) for one in found), filled(own, -1), numbers.value]

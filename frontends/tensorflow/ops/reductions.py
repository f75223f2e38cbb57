"""Reductions, extremes, and sorting."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.unique import unique_rows
from ...common.vocabulary import *
from ..layer import TfLayer, rows

rows.add({name: lambda n, x, axes, *, op=op: tf.reduction(n, x, axes, op, n.flag("keep_dims"))
    for name, op in {
    "Sum": nn.ReduceSum, "Max": nn.ReduceMax, "Min": nn.ReduceMin,
    "Prod": nn.ReduceProd, "All": nn.ReduceMin, "Any": nn.ReduceMax,
}.items()})  # fmt: skip

rows.add({name: lambda n, x, axis, *, op=op: tf.arg_extreme(
    n, x, axis, op, _element(n, "output_type", i64))
    for name, op in {"ArgMax": nn.Argmax, "ArgMin": nn.Argmin}.items()})  # fmt: skip

rows.add({name: lambda n, x, axis, *, op=op: tf.running(
    n, x, axis, op, n.flag("exclusive"), n.flag("reverse"))
    for name, op in {"Cumsum": nn.Cumsum, "Cumprod": nn.Cumprod}.items()})  # fmt: skip

rows.add({
    "TopKV2": lambda n, x, k: tf.top_k(n, x, k, _element(n, "index_type", i32)),
    "TopK": lambda n, x: tf.top_k(n, x, n.constant(n.int("k"), i64)),
    "Where": tf.where,
    "Mean": lambda n, x, axes: tf.mean(n, x, axes, n.flag("keep_dims")),
})  # fmt: skip


@rows("EuclideanNorm")
def norm(n: TfLayer, x: Value, axes: Value) -> Value:
    if isinstance(x.type.element_type, IntegerType):
        return _integer_norm(n, x, axes).value
    return tf.reduction(n, x, axes, nn.ReduceL2, n.flag("keep_dims"))


def _integer_norm(n: TfLayer, x: Value, axes: Value) -> Term:
    """The Euclidean norm of integers, rounded down; squares and sums wrap around.

    For a negative sum it is what x86-64 converts NaN to: the least integer of 32 or 64 bits, of
    which smaller types keep the lowest bits.
    """
    element = x.type.element_type
    assert isinstance(element, IntegerType)
    squares = n(nn.Mul(x, x))
    total = Term(n, tf.reduction(n, squares, axes, nn.ReduceSum, n.flag("keep_dims")))
    root = total.cast(f64).function(nn.Sqrt)
    if element.signedness == "u":
        return root.cast(element)
    odd = int(limits_of(element)[0]) if element.width >= 32 else 0
    return (total < 0).choose(odd, (total < 0).choose(0.0, root).cast(element))


def _element(n: TfLayer, name: str, default: Type) -> Type:
    return n.element(name) if n.has(name) else default


@rows("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2")
def unique(n: TfLayer, x: Value, axis: Value | None = None) -> list[Value]:
    """The distinct slices along an axis in order of occurrence.

    They are the elements of a vector, of which 0 and -0 are different for f16 and bf16.
    """
    axes = () if axis is None else n.known_ints(axis, "axis")
    if len(axes) > 1 or not (axes or x.type.rank == 1):
        raise n.error(f"the different elements of a tensor of rank {x.type.rank}, expected 1")
    place = normalize_axis(n, axes[0], x.type.rank) if axes else 0
    first = transposed(n, x, [place, *(i for i in range(x.type.rank) if i != place)])
    keys = [merge(n, first, [(0, 1), (1, x.type.rank)])]
    if isinstance(x.type.element_type, FloatType) and x.type.element_type.width == 16:
        keys.append(n.cast(is_negative(Term(n, keys[0])).value, x.type.element_type))
    columns = [Term(n, v) for v in keys]
    found = unique_rows(n, joined(columns, 1).value, in_order=False, equal_nan=False)
    element = _element(n, "out_idx", i32)
    numbers = [n.cast(v, element) for v in (found.inverse, found.counts)]
    return [gathered(n, x, found.first, place), *numbers]

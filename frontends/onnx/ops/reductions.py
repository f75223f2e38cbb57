"""Reductions over axes, scans, and operators that find extremes."""

from __future__ import annotations

from ...common.runtime_axes import all_where_none, along, axes_mask, number_of, without
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter

_REDUCTIONS = named(
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
    "ReduceLogSumExp ReduceSumSquare"
)


@converter(*_REDUCTIONS)
def reduction(n: Node, x: Value, axes_operand: Value | None = None) -> Value:
    """A reduction. Its axes are an attribute before opset 18 (ReduceSum: 13), an input since."""
    rank = x.type.rank
    given = n.ints("axes") if "axes" in n.schema.attributes else None
    if axes_operand is not None:
        if n.known(axes_operand) is None:
            return _reduction_along(n, x, axes_operand)
        given = n.known_ints(axes_operand, "axes")
    nothing = n.int("noop_with_empty_axes")
    if not given:
        axes = () if nothing else tuple(range(rank))
    else:
        axes = normalize_axes(n, given, rank)
    return _reduced(n, x, tuple(sorted(axes)), bool(n.int("keepdims", 1)))


def _reduced(n: Node, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
    """The node's reduction; truth values are reduced as numbers."""
    return reduced(n, x, _REDUCTIONS[n.op_type], axes, keep_dims)


def _reduction_along(n: Node, x: Value, axes: Value) -> Value:
    """The node's reduction along axes that are known only at run time."""
    left = None if n.int("keepdims", 1) else n.declared_rank(0)
    if left is not None and left:
        axes = of_length(n, axes, x.type.rank - left)
    mask = axes_mask(n, axes, x.type.rank)
    if not n.int("noop_with_empty_axes"):
        mask = all_where_none(n, axes, mask)
    if not n.int("keepdims", 1):  # the result's rank follows from the number of axes
        count = Term(n, mask).cast(i64).sum(0).equals(number_of(n, axes, "axes"))
        none = Term(n, n.constant(number_of(n, axes, "axes") == 0))
        mask = n(nn.Assume(mask, (count | none).value, "axes name an axis twice"))
    kept = along(n, x, mask, lambda matrix: _reduced(n, matrix, (1,), False))
    return kept if n.int("keepdims", 1) else without(n, kept, mask, number_of(n, axes, "axes"))


@converter("ArgMax", "ArgMin")
def arg_extreme(n: Node, x: Value) -> Value:
    find = nn.Argmax if n.op_type == "ArgMax" else nn.Argmin
    axis, keep = normalize_axis(n, n.int("axis"), x.type.rank), bool(n.int("keepdims", 1))
    return extreme_at(n, x, find, axis, keep, bool(n.int("select_last_index")))


@converter("CumSum", "CumProd")
def running(n: Node, x: Value, axis: Value) -> Value:
    op = nn.Cumsum if n.op_type == "CumSum" else nn.Cumprod
    exclusive, reverse = bool(n.int("exclusive")), bool(n.int("reverse"))

    def along_axis(x: Value, axis: int) -> Value:
        return n(op(x, axis=axis, exclusive=exclusive, reverse=reverse))

    if n.known(axis) is not None:
        return along_axis(x, normalize_axis(n, n.known_int(axis, "axis"), x.type.rank))
    if x.type.rank == 1:
        return along_axis(x, 0)
    return along(n, x, axes_mask(n, axis, x.type.rank), lambda matrix: along_axis(matrix, 1))


@converter("TopK")
def top_k_by_attribute(n: Node, x: Value) -> list:
    return top_k(n, x, n.constant(n.int("k"), i64))


@converter("TopK", since=10)
def top_k(n: Node, x: Value, k: Value) -> list:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    is_sorted = bool(n.int("sorted", 1))
    return list(largest(n, x, k, axis, bool(n.int("largest", 1)), is_sorted))

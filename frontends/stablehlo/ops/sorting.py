"""Sorting by a comparator: the keys that it compares, one after the other, each by `nn.top_k`."""

from __future__ import annotations

from dataclasses import dataclass

from ....ir.core import Block
from ...common.complexes import Pair
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .pointwise import total_order


@dataclass(frozen=True)
class Key:
    """A compared operand, its direction, and whether its floats are in total order.

    `exact`: the comparator takes the elements as they are, so that 0 is more than -0.
    """

    operand: int
    descending: bool
    total: bool
    exact: bool


@rows("stablehlo.sort")
def sort(n: HloLayer, *inputs: Any) -> list[Any]:
    block = n.op.comparator.blocks[0]
    keys = _keys(n, n.last(0).operands[0], block)
    rank = n.out().rank
    axis = (-1 if n.op.dimension is None else n.op.dimension) % rank
    order: Value | None = None
    for key in reversed(keys):  # the last key first, as each sort keeps the order of equal ones
        value = _comparable(n, inputs[key.operand], key)
        if order is not None:
            value = gathered_elements(n, value, order, axis)
        found = _order(n, value, axis, key.descending)
        order = found if order is None else gathered_elements(n, order, found, axis)
    return [_moved(n, value, order, axis) for value in inputs]


def _moved(n: HloLayer, value: Any, order: Any, axis: int) -> Any:
    if isinstance(value, Pair):
        return Pair(*(gathered_elements(n, v, order, axis) for v in (value.real, value.imag)))
    return gathered_elements(n, value, order, axis)


def _comparable(n: HloLayer, x: Any, key: Key) -> Value:
    """The key as numbers that are ordered as intended."""
    if isinstance(x, Pair):
        raise n.error("complex numbers cannot be sorted")
    element = x.type.element_type
    if element is i1:
        return n.cast(x, IntegerType(32))
    if isinstance(element, FloatType) and key.total:
        term = Term(n, x)
        if key.exact:
            return total_order(term).value
        plain = term.equals(0.0).choose(0.0, term)
        return total_order(term.equals(term).choose(plain, float("nan"))).value
    return x


def _order(n: HloLayer, x: Value, axis: int, descending: bool) -> Value:
    """The indices that sort the elements of an axis."""
    count = extent(n, (x, axis)).value
    return largest(n, x, count, axis, greatest=descending)[1]


def _keys(n: HloLayer, value: Any, block: Block) -> list[Key]:
    """The keys of a comparator: `a < b`, or `a < b or (a == b and the keys that follow)`."""
    op = getattr(value, "owner", None)
    match getattr(op, "name", ""):
        case "stablehlo.compare":
            return [_key(n, op, block)]
        case "stablehlo.or":
            first, rest = op.operands  # type: ignore[union-attr]
            both = getattr(rest, "owner", None)
            if getattr(both, "name", "") == "stablehlo.and":
                equal, following = both.operands  # type: ignore[union-attr]
                key = _keys(n, first, block)
                is_equal = getattr(equal.owner, "comparison_direction", "") == "EQ"
                if is_equal and _key(n, equal.owner, block).operand == key[0].operand:
                    return [*key, *_keys(n, following, block)]
    raise n.error("the comparator is none of keys that are compared one after the other")


def _key(n: HloLayer, op: Any, block: Block) -> Key:
    sides = [_arguments(value, block) for value in op.operands]
    if any(len(side) != 1 for side in sides):
        raise n.error("the comparator compares other things than the elements of an operand")
    (first,), (second,) = sides
    if first // 2 != second // 2 or first == second:
        raise n.error("the comparator compares elements of different operands")
    descending = op.comparison_direction in ("GT", "GE")
    if first % 2:
        descending = not descending
    total = op.compare_type == "TOTALORDER"
    return Key(first // 2, descending, total, all(value in block.args for value in op.operands))


def _arguments(value: Any, block: Block) -> set[int]:
    """The arguments of a block that a value depends on."""
    found, pending, seen = set(), [value], set()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in block.args:
            found.add(block.args.index(one))
        elif (op := getattr(one, "owner", None)) is not None and hasattr(op, "operands"):
            pending += op.operands
    return found


@rows("chlo.top_k")
def top_k(n: HloLayer, x: Value) -> list[Value]:
    """The greatest elements of rows, in the total order of floats: 0 is more than -0."""
    floats = isinstance(x.type.element_type, FloatType)
    keys = total_order(Term(n, x)).value if floats else x
    axis = x.type.rank - 1
    _, places = largest(n, keys, n.constant(n.op.k, i64), axis)
    return [gathered_elements(n, x, places, axis), n.cast(places, n.out(1).element_type)]


def _best(n: HloLayer, x: Value, k: int, axis: int, greatest: bool = True) -> list[Value]:
    """The first k elements of an axis in order, and their indices."""
    values, places = largest(n, x, n.constant(k, i64), axis, greatest)
    return [values, n.cast(places, n.out(1).element_type)]


@rows("custom_call @mhlo.topk", "custom_call @ApproxTopK")
def approximate_top_k(n: HloLayer, x: Value, *others: Value) -> list[Value]:
    """The greatest elements of a dimension, exactly; or the smallest."""
    config = dict(n.op.attributes["mhlo.backend_config"].items())
    axis, k = config["reduction_dim"].value, config["top_k"].value
    calls = n.op.attributes["called_computations"].elements
    return _best(n, x, k, axis, "_gt_" in calls[0].root)

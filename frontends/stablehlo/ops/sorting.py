"""Sorting by a comparator: the keys that it compares, one after the other, each by `nn.top_k`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....ir.core import Block
from ...common.complexes import Pair
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .pointwise import total_order


@dataclass(frozen=True)
class Key:
    """A number that the comparator computes of each of two elements, and compares.

    `name` is its value in the region for one of them, `formula` how it is computed; `total` says
    whether floats are compared in total order.
    """

    name: str
    formula: Any
    descending: bool
    total: bool


@rows("stablehlo.sort")
def sort(n: HloLayer, *inputs: Any) -> list[Any]:
    keys = _keys(n, n.last(0).operands[0])
    rank = n.out().rank
    axis = (-1 if n.op.dimension is None else n.op.dimension) % rank
    order: Value | None = None
    for key in reversed(keys):  # the last key first, as each sort keeps the order of equal ones
        value = _comparable(n, inputs, key)
        if order is not None:
            value = gathered_elements(n, value, order, axis)
        found = _order(n, value, axis, key.descending)
        order = found if order is None else gathered_elements(n, order, found, axis)
    return [_moved(n, value, order, axis) for value in inputs]


def _moved(n: HloLayer, value: Any, order: Any, axis: int) -> Any:
    if isinstance(value, Pair):
        return Pair(*(gathered_elements(n, v, order, axis) for v in (value.real, value.imag)))
    return gathered_elements(n, value, order, axis)


def _comparable(n: HloLayer, inputs: Sequence[Any], key: Key) -> Value:
    """The key of each element, as a number whose order is the comparator's."""
    region = replace(n.region_graph(0), outputs=[("0", key.name)])
    (x,) = n.builder.call(region, [x for one in inputs for x in (one, one)], n)
    if isinstance(x, Pair):
        raise n.error("complex numbers have no order")
    element = x.type.element_type
    if element is i1:
        return n.cast(x, IntegerType(32))
    if isinstance(element, FloatType) and key.total:
        return total_order(Term(n, x)).value
    return x


def _order(n: HloLayer, x: Value, axis: int, descending: bool) -> Value:
    """The indices that sort the elements of an axis."""
    count = extent(n, (x, axis)).value
    return largest(n, x, count, axis, greatest=descending)[1]


def _keys(n: HloLayer, value: Any) -> list[Key]:
    """The keys of a comparator: `a < b`, or `a < b or (a == b and the keys that follow)`."""
    match _operation(value):
        case "stablehlo.compare", _:
            return [_key(n, value.owner)]
        case "stablehlo.or", (first, rest):
            name, operands = _operation(rest)
            if name == "stablehlo.and":
                return _in_turn(n, first, *operands)
        case "stablehlo.select", (equal, rest, first):
            return _in_turn(n, first, equal, rest)
    raise n.error("the comparator is none of keys that are compared one after the other")


def _operation(value: Any) -> tuple[str, Sequence[Any]]:
    """The name and the operands of the operation that computes a value; "" if there is none."""
    op = getattr(value, "owner", None)
    return getattr(op, "name", ""), getattr(op, "operands", ())


def _in_turn(n: HloLayer, first: Any, equal: Any, following: Any) -> list[Key]:
    """The keys of `first`, and then those of `following`, which decides where these are equal."""
    keys = _keys(n, first)
    is_equal = getattr(getattr(equal, "owner", None), "comparison_direction", "") == "EQ"
    if not is_equal or [key.formula for key in keys] != [_key(n, equal.owner).formula]:
        raise n.error("the comparator is none of keys that are compared one after the other")
    return [*keys, *_keys(n, following)]


def _key(n: HloLayer, op: Any) -> Key:
    block = n.op.comparator.blocks[0]
    (first, one), (second, other) = (_formula(value, block) for value in op.operands)
    if one != other or {*first} != {not side for side in second} or len(first) != 1:
        raise n.error("the comparator compares other things than one formula of two elements")
    descending = op.comparison_direction in ("GT", "GE")
    if True in first:
        descending = not descending
    return Key(n.region_node(0, op).inputs[0], one, descending, op.compare_type == "TOTALORDER")


def _formula(value: Any, block: Block) -> tuple[set[bool], Any]:
    """(which of the two elements a value is computed from, True for the second; its formula)."""
    if value in block.args:
        at = block.args.index(value)
        return {bool(at % 2)}, at // 2
    op = getattr(value, "owner", None)
    if op is None or op not in list(block.ops):
        return set(), id(value)
    parts = [_formula(operand, block) for operand in op.operands]
    sides = {side for part, _ in parts for side in part}
    return sides, (op.name, str(op.attributes), op.results.index(value), *(f for _, f in parts))


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

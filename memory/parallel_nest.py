"""Parallel loops of several dimensions: trip counts, and the iteration that has a given number."""

from __future__ import annotations

from collections.abc import Sequence

from ..dialects import arith, scf
from ..ir.builder import Builder
from ..ir.core import Block, IRMapping, Value
from ..ir.rewriting import constant_int


class ParallelNest:
    """The bounds of a parallel loop, and values computed from them."""

    def __init__(self, loop: scf.Parallel) -> None:
        self.loop = loop
        self.rank = rank = len(loop.body_block.args)
        operands = loop.operands
        self.bounds = list(
            zip(
                operands[:rank],
                operands[rank : 2 * rank],
                operands[2 * rank : 3 * rank],
                strict=True,
            )
        )

    def lengths(
        self, builder: Builder, mapping: IRMapping, first: int = 0, end: int | None = None
    ) -> list[Value]:
        """The trip counts of the dimensions from `first` up to, but without, `end`."""
        lengths: list[Value] = []
        for lower, upper, step in self.bounds[first:end]:
            numbers = [constant_int(v) for v in (lower, upper, step)]
            if None not in numbers:
                low, high, by = numbers
                count = max(0, -((low - high) // by)) if by > 0 else 0  # type: ignore[operator]
                lengths.append(builder.insert(arith.Constant.index(count)).result)
                continue
            low, high, by = (_value(builder, v, mapping) for v in (lower, upper, step))
            span = builder.insert(arith.SubI(high, low)).result
            zero = builder.insert(arith.Constant.index(0)).result
            span = builder.insert(arith.MaxSI(span, zero)).result
            lengths.append(builder.insert(arith.CeilDivUI(span, by)).result)
        return lengths

    def total(self, builder: Builder) -> Value:
        """The total number of iterations."""
        return product(builder, self.lengths(builder, IRMapping()))

    def counters(
        self, builder: Builder, numbers: Sequence[Value], mapping: IRMapping
    ) -> list[Value]:
        """The values of the induction variables in an iteration: lower + number * step.

        `numbers` has the number of the iteration along each dimension, from 0.
        """
        found: list[Value] = []
        for number, (lower, _, step) in zip(numbers, self.bounds, strict=True):
            if constant_int(step) != 1:
                by = _value(builder, step, mapping)
                number = builder.insert(arith.MulI(number, by)).result
            if constant_int(lower) != 0:
                low = _value(builder, lower, mapping)
                number = builder.insert(arith.AddI(number, low)).result
            found.append(number)
        return found


def product(builder: Builder, factors: Sequence[Value]) -> Value:
    """The product of one or more indices."""
    result, *others = factors
    for factor in others:
        result = builder.insert(arith.MulI(result, factor)).result
    return result


def unflattened(builder: Builder, at: Value, lengths: Sequence[Value]) -> list[Value]:
    """The number along each dimension of iteration `at`, counted in row-major order.

    `lengths` are the trip counts of all dimensions but the first.
    """
    places: list[Value] = []
    for length in reversed(lengths):
        places.append(builder.insert(arith.RemUI(at, length)).result)
        at = builder.insert(arith.DivUI(at, length)).result
    return [at, *reversed(places)]


def _value(builder: Builder, value: Value, mapping: IRMapping) -> Value:
    """What represents a value of the loop in the new function: an argument or a new constant."""
    number = constant_int(value)
    if number is not None and mapping.values.get(value) is None:
        mapping[value] = builder.insert(arith.Constant.index(number)).result
    return mapping[value]


def move_body(source: Block, target: Block, places: Sequence[Value], mapping: IRMapping) -> None:
    """Move a loop's body; its arguments become `places`, other values what `mapping` says."""
    for arg, place in zip(source.args, places, strict=True):
        mapping[arg] = place
        if place.name_hint is None:
            place.name_hint = arg.name_hint
    known = mapping.values
    for op in list(source):
        if isinstance(op, scf.Reduce):
            continue
        op.detach()
        target.append(op)
        for inner in op.walk():
            for i, value in enumerate(inner.operands):
                if value in known:
                    inner.set_operand(i, known[value])

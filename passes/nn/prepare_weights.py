"""--prepare-weights: weights that are larger than their sources are computed when a model is
loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.func import FuncOp, Return
from ...dialects.marks import MAKER, WEIGHT
from ...dialects.nn.traits import Fusion
from ...ir.attributes import DenseElements, DenseResource, DictAttr, I64Attr, StringAttr
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext, option
from ...ir.resources import ComputedBlob
from ...ir.symbols import symbol_name
from ...targets.attribute import target_of
from ...targets.machine import Machine
from .constants import Computation

WORTH = 0.75
"""A weight is computed when a model is loaded if its source, and the intermediate results, have at
most this part of its bytes; otherwise it is stored.
"""
FUSED = (Fusion.ELEMENTWISE, Fusion.VIEW)
"""Ops whose results need no memory of their own, because they are fused with the next op."""


@dataclass(frozen=True)
class _Source:
    """A constant from which a weight can be computed, and the computations that lead
    to the weight.
    """

    constant: DenseResource
    steps: tuple[Computation, ...]


@dataclass(frozen=True)
class PrepareWeights(
    Pass,
    name="prepare-weights",
    anchor="builtin.module",
    statistics={
        "weights": "Number of weights that are computed when a model is loaded",
        "bytes-saved": "Bytes of these that need not be stored",
    },
):
    """Give each constant that is larger than its source a function that computes it.

        %u = nn.constant dense_resource<folded_1> : tensor<36x4x4x16x16xf32>
          ->  func.func @prepare_0() -> (tensor<36x4x4x16x16xf32> {nn.weight = "folded_1"})
                  attributes {nn.prepare = 0} {
                %w = nn.constant dense_resource<w> : tensor<4x4x3x3x16x16xf32>
                %u = nn.winograd_weight %w
                return %u

    The constant itself stays. `plan-memory` gives it a place in a buffer that these functions fill,
    the largest first. If all of it would take longer than `milliseconds`, only those that save the
    most bytes are computed.
    """

    milliseconds: int = option(50, help="the most time that computing them may take", least=0)

    def run(self, op: Operation, context: PassContext) -> None:
        """Choose a source for each weight, then add the functions."""
        found = _within(1e-3 * self.milliseconds, _sources(op), target_of(op).machine)
        names = {symbol_name(inner) for inner in op.regions[0].ops}
        order = sorted(found, key=lambda weight: -weight.type.num_bytes)
        for number, weight in enumerate(order):
            source = found[weight]
            name = f"prepare_{number}"
            while name in names:
                name += "_"
            op.regions[0].block.append(_function(name, number, weight, source))
            context.statistic("weights")
            context.statistic("bytes-saved", _saved(weight, source))


def _saved(weight: DenseResource, source: _Source) -> int:
    return weight.type.num_bytes - source.constant.type.num_bytes


def _within(
    limit: float, found: dict[DenseResource, _Source], machine: Machine
) -> dict[DenseResource, _Source]:
    """The sources that save the most bytes and together take at most `limit` seconds."""
    chosen: dict[DenseResource, _Source] = {}
    left = limit
    for weight, source in sorted(found.items(), key=lambda item: -_saved(*item)):
        needed = seconds(weight, source, machine)
        if needed <= left:
            left -= needed
            chosen[weight] = source
    return chosen


def seconds(weight: DenseResource, source: _Source, machine: Machine) -> float:
    """The expected seconds to compute a weight; most of it is the first access to new memory."""
    made, read = weight.type.num_bytes, source.constant.type.num_bytes
    cycles = made / machine.fresh_bandwidth + read / machine.memory_bandwidth
    return 1e-9 * cycles / machine.gigahertz


def _sources(module: Operation) -> dict[DenseResource, _Source]:
    """The smallest source of each weight that can be computed from a smaller constant."""
    weights: dict[str, DenseResource] = {}
    for op in module.walk():
        if isinstance(op, nn.Constant) and isinstance(op.value, DenseResource):
            weights.setdefault(op.value.key, op.value)
    stored = {key for key, weight in weights.items() if _computation(weight) is None}
    found: dict[DenseResource, _Source] = {}
    for weight in weights.values():
        options = list(_ways(weight))
        if not options:
            continue

        def cost(source: _Source) -> int:
            return 0 if source.constant.key in stored else source.constant.type.num_bytes

        best = min(options, key=cost)
        if cost(best) <= WORTH * weight.type.num_bytes:
            found[weight] = best
    return found


def _ways(weight: DenseResource) -> Iterator[_Source]:
    """The constants from which a weight can be computed, the one with the fewest steps first."""
    steps: tuple[Computation, ...] = ()
    at = weight
    while (computation := _computation(at)) is not None:
        stored = [v for v in computation.operands if isinstance(v, DenseResource)]
        if len(stored) != 1:
            return
        at, steps = stored[0], (computation, *steps)
        if _between(steps) > WORTH * weight.type.num_bytes:
            return
        yield _Source(at, steps)


def _between(steps: tuple[Computation, ...]) -> int:
    """The bytes of the largest intermediate tensor."""
    moves = [step.op for step in steps if step.op.fusion not in FUSED]
    return max((op.result_types[0].num_bytes for op in moves[:-1]), default=0)


def _computation(value: DenseElements | DenseResource) -> Computation | None:
    """The computation of a constant; None if it is stored."""
    if not isinstance(value, DenseResource):
        return None
    blob = value.blob.source()
    known = isinstance(blob, ComputedBlob) and isinstance(blob.compute, Computation)
    return blob.compute if known else None  # type: ignore[return-value]


def _function(name: str, number: int, weight: DenseResource, source: _Source) -> FuncOp:
    """The function that makes a weight."""
    function = FuncOp.of(name, [], [weight.type], attributes={MAKER: I64Attr(number)})
    function.res_attrs = [DictAttr(((WEIGHT, StringAttr(weight.key)),))]
    b = Builder.at_end(function.body.blocks[0])
    value: Value = b.insert(nn.Constant(source.constant)).result
    for step in source.steps:
        operands = [
            value if isinstance(given, DenseResource) else b.insert(nn.Constant(given)).result
            for given in step.operands
        ]
        op = step.op
        made = type(op).create(operands, op.result_types, op.attributes, op.properties)
        value = b.insert(made).results[0]
    b.insert(Return([value]))
    return function

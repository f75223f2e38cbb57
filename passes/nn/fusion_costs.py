"""The expected times of ops in one kernel and in several."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...dialects import nn
from ...dialects.nn.traits import Fusion
from ...ir.core import Operation, Value
from ...ir.decisions import Alternative, Decision, Terms, described
from ...ir.location import fuse_locations
from .work import Work

TOGETHER, APART = "together", "apart"
CHAINED = "in one kernel"


@dataclass(frozen=True)
class Told:
    """What users (or `nnc tune`) ask for in place of the rules for grouping ops into kernels.

    An op in `alone` gets a kernel without the ops that would be grouped around it. `chains` says
    of a product, or of an algorithm's last step, whether it shares a kernel with the steps before
    it.
    """

    alone: frozenset[nn.NnOp] = frozenset()
    chains: Mapping[nn.NnOp, bool] = field(default_factory=dict)


def fusion_decision(work: Work, anchor: nn.NnOp, group: Sequence[nn.NnOp]) -> Decision:
    """Decide whether a kernel also computes the ops around its anchor.

    The alternative is a kernel of the anchor and another one of the other ops, which pass values
    through memory.
    """
    others = [op for op in group if op is not anchor]
    found = {
        TOGETHER: _kernel(work, group),
        APART: _kernel(work, [anchor]) + _kernel(work, others),
    }
    names = " ".join(op.name.removeprefix("nn.") for op in others)
    return _decision(work, "fusion", anchor, group, found, TOGETHER, f"with {names}")


def chain_decision(
    work: Work, last: nn.NnOp, steps: Collection[Operation], by_rule: bool
) -> Decision:
    """Decide whether several steps, of attention or an algorithm, share a kernel.

    It does all steps on some rows or tiles, then on the next ones; each such block reads all
    weights.
    """
    group = [*(op for op in steps if isinstance(op, nn.NnOp)), last]
    apart = Terms.sum(_kernel(work, [op]) for op in group)
    weights = sum(_weights(work, op) for op in group)
    inner = {v for op in group if op is not last for v in op.results}
    between = sum(map(work.bytes, inner))
    block = work.machine.costs.loops.transform_l2s * work.machine.private_memory.bytes
    again = (math.ceil(between / block) - 1) * weights if last.algorithm else 0.0
    together = _kernel(work, group)
    if again > 0:
        name, bandwidth = work.home(weights)
        together = together.plus(name, again / bandwidth)
    found = {CHAINED: together, APART: apart}
    taken = CHAINED if by_rule else APART
    return _decision(work, "chain", last, group, found, taken, f"{len(group)} steps")


def _decision(
    work: Work,
    kind: str,
    anchor: nn.NnOp,
    group: Sequence[Operation],
    found: dict[str, Terms],
    taken: str,
    detail: str,
) -> Decision:
    first = next(iter(found))
    return Decision(
        kind,
        work.shared(
            Alternative(name, terms, detail if name == first else "")
            for name, terms in found.items()
        ),
        taken,
        fuse_locations([op.loc for op in group]),
        because="what is handed on stays in registers and caches",
        operation=f"{described(anchor)} {detail}",
    )


def _kernel(work: Work, group: Sequence[nn.NnOp]) -> Terms:
    """The cost of a kernel of these ops; values that pass between them are not moved through
    memory.
    """
    inside = {v for op in group for v in op.results}
    read: dict[Value, None] = {}
    weights = 0.0
    for op in group:
        weights += _weights(work, op)
        for i, value in enumerate(op.operands):
            if value not in inside and i != _weight_operand(op):
                read[value] = None
    written = [v for v in inside if any(user not in group for user in v.users)]
    operations = sum(map(work.operations, group))
    return work.kernel(operations, map(work.bytes, (*read, *written)), weights)


def _weight_operand(op: nn.NnOp) -> int | None:
    """The index of the operand that is a constant weight; None if there is none."""
    at = op.weight_operand if op.fusion is Fusion.PRODUCT else None
    if at is None or at >= len(op.operands):
        return None
    return at if op.operands[at].defined_by(nn.Constant) is not None else None


def _weights(work: Work, op: nn.NnOp) -> float:
    """Bytes of an operation's constant weight."""
    at = _weight_operand(op)
    return work.bytes(op.operands[at]) if at is not None else 0.0

"""Tensors that are joined and then made narrower are made narrower first: fewer bytes are moved.

    cast(round(concat(x, y) * s))    ->    concat(cast(round(x * s)), cast(round(y * s)))

The conversion to 8-bit integers can then be fused with what computes each part.
"""

from __future__ import annotations

from ...dialects import nn
from ...dialects.nn.elementwise import ElementwiseOp
from ...ir.core import Operation, Value
from ...ir.rewriting import Rewriter, rewrite
from ...ir.types import TensorType
from .building import element_of, on_operands, shape_of


@rewrite(nn.Cast)
def narrow_before_concat(op: nn.Cast, rewriter: Rewriter) -> None:
    """cast(f(concat(x, y))) -> concat(cast(f(x)), cast(f(y))), if the cast is to a narrower type"""
    steps: list[tuple[Operation, Value]] = [(op, op.x)]
    value = op.x
    while value.has_one_use and isinstance(made := value.defining_op, ElementwiseOp):
        moving = [v for v in made.operands if not _is_one_number(v)]
        if len(moving) != 1 or shape_of(moving[0]) != shape_of(value):
            return
        value = moving[0]
        steps.append((made, value))
    joined = value.defined_by(nn.Concat)
    if joined is None or not value.has_one_use or _bytes(op.out) >= _bytes(value):
        return
    parts = list[Value]()
    for part in joined.inputs:
        for step, moved in reversed(steps):
            operands = [part if v is moved else v for v in step.operands]
            kind = TensorType(shape_of(part), element_of(step.results[0]))
            copy = on_operands(step, operands, kind)
            part = rewriter.insert(copy).results[0]
        parts.append(part)
    rewriter.replace(op, nn.Concat(parts, joined.axis, out=op.out.type, loc=joined.loc))


def _is_one_number(value: Value) -> bool:
    return all(d == 1 for d in shape_of(value))


def _bytes(value: Value) -> int:
    return getattr(element_of(value), "byte_width", 8)


PATTERNS = (narrow_before_concat,)

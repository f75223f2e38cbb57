"""Values of which the last bit counts: those that reach a function with steps.

An integer is the rounded quotient of a number and a scale. A quantizer's largest number lies on
a tie by construction (`x / (max(x) / 127.5)`), and `floor(n / 41)` is at a step for each multiple
of 41, so that a quotient off by its last bit is an integer off by one.
"""

from __future__ import annotations

from ...dialects import nn
from ...dialects.nn.traits import Fusion
from ...ir.core import Operation, Value
from ...ir.types import TensorType, bf16, f16, f32, f64

_STEPS = (nn.Ceil, nn.Floor, nn.Mod, nn.Round, nn.Sign)

_EXACT = (
    *(nn.Add, nn.Sub, nn.Mul, nn.Div, nn.Reciprocal, nn.Sqrt),
    *(nn.Abs, nn.Clip, nn.Max, nn.Min, nn.Neg, nn.Relu, nn.Where, nn.Cast),
    *(nn.Concat, nn.Gather, nn.ReduceMax, nn.ReduceMin, nn.SliceDynamic, nn.Split),
)
"""Ops that every implementation rounds alike; behind others no bit can be counted on."""

_MOVES = (Fusion.VIEW, Fusion.MOVEMENT, Fusion.PADDING)


def reaches_step(value: Value) -> bool:
    """Whether exact operations lead from a value to a step.

    That is a rounding to an integer or to a float of 8 bits, a remainder, or a comparison.
    """
    left, seen = [value], {value}
    while left:
        for user in left.pop().users:
            if isinstance(user, _STEPS) or _is_coded(user):
                return True
            if isinstance(user, _EXACT) or getattr(user, "fusion", None) in _MOVES:
                left += (out for out in user.results if out not in seen)
                seen.update(user.results)
    return False


def _is_coded(op: Operation) -> bool:
    """Whether an op makes something else of numbers than floats to compute with."""
    elements = [r.type.element_type for r in op.results if isinstance(r.type, TensorType)]
    wide = (f16, bf16, f32, f64)
    return not isinstance(op, nn.ShapeOf) and any(element not in wide for element in elements)

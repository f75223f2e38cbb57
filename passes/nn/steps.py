"""Values whose last bit matters, because they reach a function with steps, such as rounding.

An integer is a number divided by a scale and rounded. The largest number of a quantizer lies on a
tie by construction (`x / (max(x) / 127.5)`), and `floor(n / 41)` has a step at each multiple of 41.
A quotient that is wrong in its last bit there gives an integer that is wrong by one.
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
"""Ops that every implementation rounds in the same way; after other ops no bit can be relied on."""

_MOVES = (Fusion.VIEW, Fusion.MOVEMENT, Fusion.PADDING)


def reaches_step(value: Value) -> bool:
    """Whether a value reaches a step through exact operations only.

    A step is a rounding to an integer or to a float of 8 bits, a remainder, or a comparison.
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
    """Whether an op's results are something else than floats that are computed with."""
    elements = [r.type.element_type for r in op.results if isinstance(r.type, TensorType)]
    wide = (f16, bf16, f32, f64)
    return not isinstance(op, nn.ShapeOf) and any(element not in wide for element in elements)

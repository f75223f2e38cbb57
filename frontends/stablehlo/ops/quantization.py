"""Numbers and the integers that stand for them."""

from __future__ import annotations

from ....dialects.quant import UniformType
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .pointwise import cast


@rows("quantize")
def quantize(n: HloLayer, x: Value) -> Value:
    """Real numbers as integers of the type that the node has: x / scale, rounded to even."""
    kind: UniformType = n.op
    scale, zero = _parameters(n, x, kind)
    steps = (Term(n, x).cast(f32) / scale).function(nn.Round) + zero
    low, high = kind.limits
    whole = steps.max(float(low)).min(float(high)).value
    # The ends of more bits than f32 has may lie between two of its numbers.
    return cast(n, whole, kind.storage) if kind.storage.width > 16 else n.cast(whole, kind.storage)


@rows("dequantize")
def dequantize(n: HloLayer, x: Value) -> Value:
    """The real numbers that integers stand for: (x - zero point) * scale."""
    kind: UniformType = n.op
    scale, zero = _parameters(n, x, kind)
    return ((Term(n, x).cast(f32) - zero) * scale).cast(kind.expressed).value


rows.formulas(
    {  # the integers are made and read by nodes beside them
        "stablehlo.uniform_quantize stablehlo.uniform_dequantize": lambda n, x: n.cast(
            x, n.out().element_type
        ),
    }
)


def _parameters(n: HloLayer, x: Value, kind: UniformType) -> tuple[Term, Term]:
    """The scales and the zero points in f32, shaped to fit x."""
    shape = [1] * x.type.rank
    if kind.axis is None:
        shape = []
    elif kind.axis >= x.type.rank or x.type.shape[kind.axis] not in (None, len(kind.scales)):
        raise n.error(f"the scales of '{kind}' do not fit '{x.type}'")
    else:
        shape[kind.axis] = len(kind.scales)
    scales, zeros = (
        n.constant(np.array(numbers, np.float32).reshape(shape))
        for numbers in (kind.scales, kind.zero_points)
    )
    return Term(n, scales), Term(n, zeros)

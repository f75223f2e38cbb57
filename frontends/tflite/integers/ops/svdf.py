"""SVDF of 8 bits, whose weights over time and whose state have 16."""

from __future__ import annotations

from ....common.fixed_point import Multiplier
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import centred, of_input, of_output, stored
from .functions import limited_16

_RELU = 1
"""The number of the only activation that the kernels take; beyond the limits, they apply none."""


@INTEGERS("SVDF")
def svdf(
    n: TfliteLayer,
    x: Value,
    features: Value,
    times: Value,
    bias: Value | None = None,
    state: Value | None = None,
) -> list[Value]:
    """A filter of the input, scaled to the state's 16 bits, then one over time of what the state
    remembers.

    Source: LiteRT, tflite/kernels/internal/reference/svdf.h, EvalIntegerSVDF.
    """
    rank, (filters, memory) = n.options.rank, times.type.shape
    if state is None or not rank or not filters or not memory or filters % rank:
        raise n.error(f"weights of shape {shape_text(times)} of rank {rank}")
    if n.options.activation != _RELU or state.type.element_type is not i16:
        return NotImplemented
    data, feature, time, kept = (of_input(n, i).scale for i in (0, 1, 2, 4))
    first = Multiplier.of(np.float64(data * feature / kept))
    second = Multiplier.of(np.float64(kept * time / of_output(n).scale))
    batch = (x, 0)
    new = centred(n, 0, x) @ Term(n, features).cast(i32).transpose(1, 0)
    new = limited_16(first(new)).cast(i16).reshape(batch, filters, 1)
    old = Term(n, state).reshape(batch, filters, memory).part(2, 1, memory)
    line = joined([old, new], 2)
    sums = (line.cast(i32) * Term(n, times).cast(i32)).sum(2)
    total = sums.reshape(batch, filters // rank, rank).sum(2)
    total = total if bias is None else total + Term(n, bias).cast(i32)
    remembered = reshape(n, line.value, [(state, i) for i in range(state.type.rank)])
    return [stored(n, second(total)), remembered]

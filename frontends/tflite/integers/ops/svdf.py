"""SVDF of 8 bits, whose weights over time and whose state have 16."""

from __future__ import annotations

from ....common.fixed_point import Multiplier
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ...ops.recurrent import over_time
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
    """A filter over features, whose results are appended to the state in 16 bits, then a filter
    over time, on the state.
    Source: LiteRT, tflite/kernels/internal/reference/svdf.h, EvalIntegerSVDF.
    """
    if state is None or state.type.element_type is not i16 or n.options.activation != _RELU:
        return NotImplemented
    data, feature, time, kept = (of_input(n, i).scale for i in (0, 1, 2, 4))
    first = Multiplier.of(np.float64(data * feature / kept))
    second = Multiplier.of(np.float64(kept * time / of_output(n).scale))
    new = centred(n, 0, x) @ Term(n, features).cast(i32).transpose(1, 0)
    new = limited_16(first(new)).cast(i16)
    total, left = over_time(n, x, new, Term(n, times).cast(i32), state)
    total = total if bias is None else total + Term(n, bias).cast(i32)
    return [stored(n, second(total)), *left]

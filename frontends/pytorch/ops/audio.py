"""Effects of torchaudio that compute each sample from those before."""

from __future__ import annotations

from ...common.loops import Iteration, while_loop
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS


@ROWS("nnc.recursive_filter")
def recursive_filter(n: AtenLayer, samples: Value, factors: Value, padded: Value) -> Value:
    """The results of a recursive filter, after the K - 1 initial values in `padded`.

    Shapes: samples [B, C, T], factors [C, K], padded [B, C, K - 1 + T] -> [B, C, K - 1 + T]. The
    last factor is multiplied by the value of `padded` at the result's own position, usually 0.
    """
    rows, before = (Term(n, v).transpose(2, 0, 1) for v in (samples, padded))
    order = factors.type.shape[1]
    if order is None:
        raise n.error("the number of factors is open")
    weights = [Term(n, factors).column(i) for i in range(order)]
    first = [before.gather(constant(n, i, i64)) for i in range(order - 1)]

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        at = Term(n, number)
        last = [*(Term(n, v) for v in values), before.gather(at + (order - 1))]
        found = rows.gather(at)
        for result, weight in zip(last, weights, strict=True):
            found = found - result * weight
        return Iteration([*values[1:], found.value][: order - 1], [found.value])

    states, count = [v.value for v in first], extent(n, (rows.value, 0)).value
    _, (found,) = while_loop(n, step, states, count)
    whole = concat(n, [*(v.spread(1, 0).value for v in first), found], 0)
    return transposed(n, whole, [1, 2, 0])


@ROWS("nnc.overdrive")
def overdrive(
    n: AtenLayer, samples: Value, driven: Value, last_in: Value, last_out: Value
) -> list[Value]:
    """The last input, the last output, and the samples mixed with the driven ones high-passed.

    Shapes: samples and driven [N, T], last_in and last_out [N] -> [N], [N], [N, T].
    """
    dry, rows = (Term(n, v).transpose(1, 0) for v in (samples, driven))

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        before, out = (Term(n, v) for v in values)
        now = rows.gather(Term(n, number))
        out = now - before + out * 0.995
        mixed = dry.gather(Term(n, number)) * 0.5 + out * 0.75
        return Iteration([now.value, out.value], [mixed.value])

    count = extent(n, (rows.value, 0)).value
    states, (found,) = while_loop(n, step, [last_in, last_out], count)
    return [*states, transposed(n, found, [1, 0])]

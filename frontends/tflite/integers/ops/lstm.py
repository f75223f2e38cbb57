"""LSTMs over sequences, in 8-bit integers; cells and gates have 16 bits.

The products of inputs, for all steps at once, and those of states are each scaled to 12 fraction
bits and saturated to 16 bits; gates have 15 fraction bits. The cell's scale is a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....common.fixed_functions import sigmoid, tanh
from ....common.fixed_point import Multiplier, divided_by_power
from ....common.loops import Iteration, while_loop
from ....common.vocabulary import *
from ...layer import TfliteLayer, scales_of
from ...ops.recurrent import by_time
from ..rows import INTEGERS
from ..steps import Quantization, centred, quantization
from .elementwise import power_of
from .functions import limited_16

GATE_BITS = 3
"""The integer bits of the fixed-point operands of sigmoid and tanh."""
TANH = 4
"""The number of the only activation of these kernels, tanh."""
_STATE, _CELL = 18, 19


@dataclass(frozen=True)
class _Scales:
    """The quantization of the operands by their numbers, and of the hidden state."""

    of: dict[int, Quantization]
    hidden: Quantization
    cell: int
    """The base-2 logarithm of the cell's scale."""

    def gates(self, numbers: Sequence[int], data: np.float32, cells: int) -> Multiplier:
        """The multipliers from sums of products by each gate's weights to the function's input."""
        gate = np.float32(2.0**-12)
        reals = [np.float64(self.of[i].scale * data / gate) for i in numbers]
        return Multiplier.of(np.repeat(reals, cells))


def _scales(n: TfliteLayer) -> _Scales:
    tensors = n.attributes.inputs
    of = {i: quantization(n, t) for i, t in enumerate(tensors) if scales_of(t) is not None}
    hidden = quantization(n, n.attributes.intermediates[4])
    return _Scales(of, hidden, power_of(of[_CELL].scale))


@INTEGERS("UNIDIRECTIONAL_SEQUENCE_LSTM")
def sequence_lstm(n: TfliteLayer, *operands: Value | None) -> Value:
    """An LSTM; NotImplemented if it has coupled gates, peepholes or normalized sums, or if its cell
    has a scale that LiteRT's kernels do not compute.
    """
    plain = all(x is not None for x in operands[1:9]) and not any(
        x is not None for x in (*operands[9:12], *operands[20:24])
    )
    o = n.options
    if not plain or len(n.attributes.intermediates) < 5 or o.diagonal or o.activation != TANH:
        return NotImplemented
    scales = _scales(n)
    if not 0 <= 15 + scales.cell <= 6:
        # LiteRT's kernels have no tanh of such a cell: they leave memory as it was.
        return NotImplemented
    x = operands[0]
    assert x is not None
    sequence = Term(n, by_time(n, centred(n, 0, x).value, n.options.time_major))
    weights = [Term(n, v).cast(i32) for v in operands[1:9] if v is not None]
    cells = n.extent(weights[0].value, 0)
    bias = joined([Term(n, v).cast(i32) for v in operands[12:16] if v is not None], 0)
    inputs = joined(weights[:4], 0).transpose(1, 0)
    recurrent = joined(weights[4:], 0).transpose(1, 0)
    sums = scales.gates(range(1, 5), scales.of[0].scale, cells)(sequence @ inputs + bias)
    sums = limited_16(sums).cast(i16)
    state = scales.of[_STATE]
    carry = scales.gates(range(5, 9), state.scale, cells)
    batch = extent(n, (sequence.value, 1))
    outputs = n.extent(recurrent.value, 0)

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        h, c = (Term(n, v).cast(i32) for v in states)
        product = carry((h - state.zero if state.zero else h) @ recurrent)
        here = sums.gather(Term(n, number)).cast(i32)
        total = limited_16(here + product)
        i, f, g, o = (total.part(1, k * cells, (k + 1) * cells) for k in range(4))
        i, f, o = (sigmoid(v, GATE_BITS, 16) for v in (i, f, o))
        kept = divided_by_power(f * c, 15)
        new = divided_by_power(i * tanh(g, GATE_BITS, 16), 30 + scales.cell)
        c = _clipped(limited_16(_as_16(kept) + _as_16(new)), n.options.cell_clip, scales.of[_CELL])
        shown = o * tanh(c, 15 + scales.cell, 16)
        h = _output(n, operands, scales, shown)
        return Iteration([h.value, c.cast(i16).value], [h.value])

    element = state.element
    first = [n.constant(value, kind) for value, kind in ((state.zero, element), (0, i16))]
    shapes = (joined([batch.reshape(1), constant(n, [size], i64)], 0) for size in (outputs, cells))
    starts = [Term(n, v).filled(shape).value for v, shape in zip(first, shapes, strict=True)]
    count = extent(n, (sequence.value, 0)).value
    _, (rows,) = while_loop(n, step, starts, count)
    return by_time(n, rows, n.options.time_major)


def _output(n: TfliteLayer, operands: Sequence[Value | None], s: _Scales, shown: Term) -> Term:
    """The next state, from the product of the output gate and the cell's tanh; as integers."""
    fine = 2.0**-15
    real = np.float32(np.float64(fine) / np.float64(s.hidden.scale) * fine)
    steps = Multiplier.of(np.float64(real))(shown)
    state = s.of[_STATE]
    weight, clip = operands[16], n.options.projection_clip
    if weight is None:
        return _limited_8(steps + s.hidden.zero).cast(state.element)
    # The kernel adds the zero point negated, and then takes it off the products as it is.
    hidden = _limited_8(steps - s.hidden.zero)
    matrix = Term(n, weight).cast(i32).transpose(1, 0)
    total = (hidden + s.hidden.zero) @ matrix
    bias = operands[17] if len(operands) > 17 else None
    total = total if bias is None else total + Term(n, bias).cast(i32)
    scale = np.float64(s.of[16].scale * s.hidden.scale / state.scale)
    found = _limited_8(Multiplier.of(scale)(total) + state.zero)
    most = int(min(max(clip / float(state.scale), -128.0), 127.0)) if clip > 0 else 0
    found = found.max(-most).min(most) if most > 0 else found
    return found.cast(state.element)


def _clipped(x: Term, clip: float, about: Quantization) -> Term:
    most = int(min(max(np.float32(clip) / about.scale, -32768.0), 32767.0)) if clip > 0 else 0
    return x.max(-most).min(most) if most > 0 else x


def _as_16(x: Term) -> Term:
    return x.cast(i16).cast(i32)


def _limited_8(x: Term) -> Term:
    return x.max(-128).min(127)

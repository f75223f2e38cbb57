"""Recurrent layers over [time, batch, ..], with a flag per step: whether it continues a sequence.

Source: BVLC/caffe, src/caffe/layers/lstm_layer.cpp and rnn_layer.cpp
"""

from __future__ import annotations

from functools import partial

from ...common.recurrent import Cells, Masked
from ...common.vocabulary import *
from ..layer import CaffeLayer, rows


def _matrix(n: CaffeLayer, x: Value, begin: int) -> Value:
    """x with the dimensions from `begin` on merged."""
    return merge(n, x, [*((i, i + 1) for i in range(begin)), (begin, x.type.rank)])


def _continuing(n: CaffeLayer, flags: Value) -> tuple[Value, Masked]:
    """The flags of the first step [batch, 1]; and a function that zeroes the states before a step
    that begins a sequence.
    """
    column = Term(n, flags).reshape((flags, 0), (flags, 1), 1)
    first = column.column(0, axis=0)
    after = joined([column, first.spread(1, 0) * 0.0 + 1.0], 0)

    def masked(old: list[Value], new: list[Value], t: Value) -> tuple[list[Value], Value]:
        flag = after.gather(Term(n, t) + 1)
        return [(Term(n, state) * flag).value for state in new], new[0]

    return first.value, masked


def _layer(states: int, gates: int, cells: Cells) -> Callable:
    """A converter of layers with so many states and gates.

    With `expose_hidden`, the states are further bottoms and tops.
    """

    def convert(n: CaffeLayer, x: Value, flags: Value, *more: Value) -> list[Value]:
        p = n.p("recurrent")
        hidden, given = p.num_output, list(more)
        if x.type.rank < 2 or flags.type.rank != 2 or hidden < 1:
            raise n.error(f"bottoms {shape_text(x)} and {shape_text(flags)}, {hidden} outputs")
        before = [given.pop(-states + i) for i in range(states)] if p.expose_hidden else []
        static = given.pop() if given else None
        x = _matrix(n, x, 2)
        bias, at = n.blob(1, gates * hidden), 2
        if static is not None:
            weight = swapped(n, n.blob(2, gates * hidden, -1), 0, 1)
            added = n(nn.Matmul(_matrix(n, static, 1), weight))
            bias, at = n(nn.Add(added, bias)), 3
        first, masked = _continuing(n, flags)
        begins = [reshape(n, v, [(v, 1), (v, 2)]) for v in before]
        direction = Direction(
            n,
            swapped(n, n.blob(0, gates * hidden, -1), 0, 1),
            swapped(n, n.blob(at, gates * hidden, hidden), 0, 1),
            [n(nn.Mul(v, first)) for v in begins] or (None, None),
            biases=bias,
        )
        (found,) = cells(n, x, [direction], masked)
        out = found.outputs
        if gates == 1:
            weight = swapped(n, n.blob(at + 1, hidden, hidden), 0, 1)
            out = n(nn.Tanh(n(nn.Add(n(nn.Matmul(out, weight)), n.blob(at + 2, hidden)))))
        return [out, *(reshape(n, v, [1, (v, 0), (v, 1)]) for v in found.states)]

    return convert


rows.add({"LSTM": _layer(2, 4, partial(lstm, order="ifog")), "RNN": _layer(1, 1, rnn)})

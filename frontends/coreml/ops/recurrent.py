"""Recurrent networks. Gates of an LSTM lie in the order i f o g, of a GRU r n z."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import nn
from ....ir.core import Value
from ...common.activations import activation
from ...common.movement import split_into
from ...common.recurrent import Activation, Direction, Outcome, gru, lstm, rnn
from ...common.shapes import reshape
from ..layer import CoreMLLayer
from ..rows import ROWS

_NAMES = {"hard_sigmoid": "hardsigmoid", "sigmoid_hard": "hardsigmoid", "linear": "affine"}


def _function(n: CoreMLLayer, name: str, default: str) -> Activation:
    given = n.text(name, default)
    return lambda x: activation(n, _NAMES.get(given, given), x)


def _turned(n: CoreMLLayer, weight: Value) -> Value:
    return n(nn.Transpose(weight, permutation=(1, 0)))


def _outputs(n: CoreMLLayer, outcomes: Sequence[Outcome], last: Sequence[Value]) -> Value:
    """All steps' outputs, or those of the last step of each direction."""
    if not n.flag("output_sequence"):
        parts = [reshape(n, h, [1, (h, 0), (h, 1)]) for h in last]
    else:
        parts = [outcome.outputs for outcome in outcomes]
    return parts[0] if len(parts) == 1 else n(nn.Concat(parts, axis=2))


@ROWS("lstm")
def lstm_(
    n: CoreMLLayer,
    x: Value,
    initial_h: Value,
    initial_c: Value,
    weight_ih: Value,
    weight_hh: Value,
    bias: Value | None = None,
    peephole: Value | None = None,
    weight_ih_back: Value | None = None,
    weight_hh_back: Value | None = None,
    bias_back: Value | None = None,
    peephole_back: Value | None = None,
) -> list[Value]:
    """x [time, batch, input]; states [batch, directions * hidden]."""
    mode = n.text("direction", "forward", "forward", "reverse", "bidirectional")
    sides = [(weight_ih, weight_hh, bias, peephole)]
    if mode == "bidirectional":
        if weight_ih_back is None or weight_hh_back is None:
            raise n.error("both directions need weights")
        sides.append((weight_ih_back, weight_hh_back, bias_back, peephole_back))
    hidden = weight_hh.type.shape[1] or 0
    functions = [
        _function(n, "recurrent_activation", "sigmoid"),
        _function(n, "cell_activation", "tanh"),
        _function(n, "activation", "tanh"),
    ]
    states = [split_into(n, v, 1, [hidden] * len(sides)) for v in (initial_h, initial_c)]
    directions = []
    for i, (ih, hh, b, p) in enumerate(sides):
        names = "ifo"
        peep = None if p is None else split_into(n, p, 0, [hidden] * 3)
        directions.append(
            Direction(
                n,
                _turned(n, ih),
                _turned(n, hh),
                [state[i] for state in states],
                functions,
                None if b is None else (b, n.scalar(0, b)),
                backward=mode == "reverse" or i == 1,
                clip=n.float("clip") if n.has("clip") else None,
                peepholes=None if peep is None else dict(zip(names, peep, strict=True)),
            )
        )
    outcomes = lstm(n, x, directions, order="ifog")
    h, c = ([outcome.states[i] for outcome in outcomes] for i in range(2))
    whole = [v[0] if len(v) == 1 else n(nn.Concat(v, axis=1)) for v in (h, c)]
    return [_outputs(n, outcomes, h), *whole]


@ROWS("gru")
def gru_(
    n: CoreMLLayer,
    x: Value,
    initial_h: Value,
    weight_ih: Value,
    weight_hh: Value,
    bias: Value | None = None,
    input_bias: Value | None = None,
) -> list[Value]:
    """Of two biases, `bias` belongs to the states where both are given."""
    width = weight_hh.type.shape[0] or 0
    zeros = n(nn.Fill(n.scalar(0, x), out=type(x.type)((width,), x.type.element_type)))
    pair = (bias or zeros, zeros) if input_bias is None else (input_bias, bias or zeros)
    direction = Direction(
        n,
        _turned(n, weight_ih),
        _turned(n, weight_hh),
        [initial_h],
        [_function(n, "recurrent_activation", "sigmoid"), _function(n, "activation", "tanh")],
        pair,
        backward=n.text("direction", "forward") == "reverse",
    )
    outcomes = gru(n, x, [direction], order="rnz", reset_late=n.flag("reset_after"))
    (h,) = outcomes[0].states
    return [_outputs(n, outcomes, [h]), h]


@ROWS("rnn")
def rnn_(
    n: CoreMLLayer,
    x: Value,
    initial_h: Value,
    weight_ih: Value,
    weight_hh: Value,
    bias: Value | None = None,
) -> list[Value]:
    direction = Direction(
        n,
        _turned(n, weight_ih),
        _turned(n, weight_hh),
        [initial_h],
        [_function(n, "activation", "tanh")],
        None if bias is None else (bias, n.scalar(0, bias)),
        backward=n.text("direction", "forward") == "reverse",
    )
    outcomes = rnn(n, x, [direction])
    (h,) = outcomes[0].states
    return [_outputs(n, outcomes, [h]), h]

"""Recurrent networks. Gates are stored in the order i f o g for an LSTM, r n z for a GRU."""

from __future__ import annotations

from ...common.recurrent import Activation
from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows
from .elementwise import named_activation


def _functions(n: CoreMLLayer, **defaults: str) -> list[Activation]:
    def function(key: str, default: str) -> Activation:
        name = n.text(key, default)
        parameters = [f"{key}_alpha", f"{key}_beta"]
        given = [n.float(one) if n.has(one) else None for one in parameters]
        return lambda x: named_activation(n, name, x, *given)

    return [function(*pair) for pair in defaults.items()]


def _gate_clip(n: CoreMLLayer) -> float | None:
    """The bound of what enters an activation, which networks have and programs lack."""
    return n.float("gate_clip") if n.has("gate_clip") else None


def _state(n: CoreMLLayer, x: Value, state: Value) -> Value:
    """A state, broadcast to all examples if they share it."""
    return broadcast(n, state, [(x, 1), (state, 1)])


def _results(n: CoreMLLayer, outcomes: Sequence[Outcome]) -> list[Value]:
    """The outputs of all steps, or of each direction's last step, followed by the final states."""
    states = list(zip(*(outcome.states for outcome in outcomes), strict=True))
    parts = [outcome.outputs for outcome in outcomes]
    if not n.flag("output_sequence"):
        parts = [reshape(n, h, [1, (h, 0), (h, 1)]) for h in states[0]]
    return [concat(n, parts, 2), *(concat(n, one, 1) for one in states)]


@rows("lstm")
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
    """x [time, batch, input]; states [batch, directions * hidden].

    `clip` limits cell states: coremltools writes TensorFlow's `cell_clip` so, and
    `cellClipThreshold` of the older networks.
    """
    mode = n.text("direction", "forward", "forward", "reverse", "bidirectional")
    sides = [(weight_ih, weight_hh, bias, peephole)]
    if mode == "bidirectional":
        if weight_ih_back is None or weight_hh_back is None:
            raise n.error("both directions need weights")
        sides.append((weight_ih_back, weight_hh_back, bias_back, peephole_back))
    hidden = weight_hh.type.shape[1] or 0
    functions = _functions(
        n, recurrent_activation="sigmoid", cell_activation="tanh", activation="tanh"
    )
    states = [
        split_into(n, _state(n, x, v), 1, [hidden] * len(sides)) for v in (initial_h, initial_c)
    ]
    directions = []
    for i, (ih, hh, b, p) in enumerate(sides):
        peep = None if p is None else split_into(n, p, 0, [hidden] * 3)
        directions.append(
            Direction(
                n,
                swapped(n, ih, 0, 1),
                swapped(n, hh, 0, 1),
                [state[i] for state in states],
                functions,
                b,
                backward=mode == "reverse" or i == 1,
                clip=_gate_clip(n),
                limits=(n.float("clip", 0), 0),
                peepholes=None if peep is None else dict(zip("ifo", peep, strict=True)),
            )
        )
    return _results(n, lstm(n, x, directions, order="ifog"))


@rows("gru")
def gru_(
    n: CoreMLLayer,
    x: Value,
    initial_h: Value,
    weight_ih: Value,
    weight_hh: Value,
    bias: Value | None = None,
    input_bias: Value | None = None,
) -> list[Value]:
    """A GRU: the outputs of all steps, or of the last one, and the final state.

    If both biases are given, `bias` is added to the products of states, `input_bias` to those of
    inputs.
    """
    both = bias is not None and input_bias is not None
    biases = (input_bias, bias) if both else bias or input_bias
    functions = _functions(n, recurrent_activation="sigmoid", activation="tanh")
    direction = _direction(n, x, initial_h, (weight_ih, weight_hh), functions, biases)
    return _results(n, gru(n, x, [direction], order="rnz", reset_late=n.flag("reset_after")))


@rows("rnn")
def rnn_(
    n: CoreMLLayer,
    x: Value,
    initial_h: Value,
    weight_ih: Value,
    weight_hh: Value,
    bias: Value | None = None,
) -> list[Value]:
    weights, functions = (weight_ih, weight_hh), _functions(n, activation="tanh")
    return _results(n, rnn(n, x, [_direction(n, x, initial_h, weights, functions, bias)]))


def _direction(
    n: CoreMLLayer,
    x: Value,
    state: Value,
    weights: tuple[Value, Value],
    functions: Sequence[Activation],
    biases: Any,
) -> Direction:
    backward = n.text("direction", "forward") == "reverse"
    ih, hh = (swapped(n, weight, 0, 1) for weight in weights)
    states = [_state(n, x, state)]
    return Direction(n, ih, hh, states, functions, biases, backward, _gate_clip(n))

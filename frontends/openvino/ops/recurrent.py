"""Recurrent networks: [batch, steps, features], states [batch, directions, features]."""

from __future__ import annotations

from functools import partial

from ...common.recurrent import needed_lengths
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_DEFAULTS = {"LSTM": "sigmoid,tanh,tanh", "GRU": "sigmoid,tanh", "RNN": "tanh"}


def _direction(
    n: OpenvinoLayer, kind: str, d: int, states: Sequence[Value], given: Sequence[Value]
) -> Direction:
    """Direction d, from the states [B, D, H] and the weights, each with a first dimension D."""
    hidden, clip = n.int("hidden_size"), n.float("clip", 0.0)
    names = n.text("activations", _DEFAULTS[kind]).split(",")
    if any(n.ints("activations_alpha")) or any(n.ints("activations_beta")):
        raise n.error("activations with parameters are not supported")
    weight, recurrent, bias = (column(n, v, 0, d) for v in given)
    biases: Any = bias
    if bias.type.shape[0] == 4 * hidden and kind == "GRU":
        # The bias of the new state's product with the state comes last.
        first, last = split_into(n, bias, 0, [3 * hidden, hidden])
        zeros = n.constant(np.zeros(2 * hidden, np.float32))
        biases = first, n(nn.Concat([zeros, last], axis=0))
    backward = n.text("direction", "forward") == "reverse" or d == 1
    return Direction(
        n,
        swapped(n, weight, 0, 1),
        swapped(n, recurrent, 0, 1),
        [column(n, state, 1, d) for state in states],
        activations=[name.strip() for name in names],
        biases=biases,
        backward=backward,
        clip=clip or None,
    )


def _cells(n: OpenvinoLayer, kind: str) -> Callable:
    if kind == "LSTM":
        return partial(lstm, order="figo")
    if kind == "GRU":
        return partial(gru, order="zrn", reset_late=n.flag("linear_before_reset"))
    return rnn


def _sequence(kind: str) -> Callable:
    def convert(n: OpenvinoLayer, x: Value, *given: Value) -> list[Value]:
        count = 2 if kind == "LSTM" else 1
        states, (lengths, *weights) = given[:count], given[count:]
        both = n.text("direction") == "bidirectional"
        directions = [_direction(n, kind, d, states, weights) for d in range(2 if both else 1)]
        steps = transposed(n, x, (1, 0, 2))
        counts = needed_lengths(n, as_i64(n, lengths), x.type.shape[1])
        outcomes = _cells(n, kind)(n, steps, directions, counts)
        whole = stacked(n, [o.outputs for o in outcomes], 2)  # [S, B, D, H]
        lasts = zip(*(o.states for o in outcomes), strict=True)
        return [transposed(n, whole, (1, 2, 0, 3)), *(stacked(n, one, 1) for one in lasts)]

    return convert


def _cell(kind: str) -> Callable:
    def convert(n: OpenvinoLayer, x: Value, *given: Value) -> list[Value]:
        count = 2 if kind == "LSTM" else 1
        states = [unsqueezed(n, v, 1) for v in given[:count]]
        weights = [unsqueezed(n, v, 0) for v in given[count:]]
        direction = _direction(n, kind, 0, states, weights)
        (outcome,) = _cells(n, kind)(n, unsqueezed(n, x, 0), [direction])
        return list(outcome.states)

    return convert


rows.add({f"{kind}Sequence": _sequence(kind) for kind in _GATES})
rows.add({f"{kind}Cell": _cell(kind) for kind in _GATES})

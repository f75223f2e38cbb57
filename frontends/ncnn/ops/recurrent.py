"""Recurrent layers: the rows of a matrix are the steps."""

from __future__ import annotations

from ...common import recurrent as family
from ...common.recurrent import Product
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows
from .integers import product

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_ACTIVATIONS = {
    "RNN": ["tanh"],
    "GRU": ["sigmoid", "tanh"],
    "LSTM": ["sigmoid", "tanh", "tanh"],
}


def _layer(run: Callable[..., Sequence[Outcome]], **choices: Any) -> Callable:
    def convert(n: NcnnLayer, x: Value, *states: Value) -> list[Value]:
        steps = n(nn.Transpose(n.with_rank(x, 3), permutation=(1, 0, 2)))
        count = 2 if n.int(2) == 2 else 1
        directions = [_direction(n, steps, d, count, states) for d in range(count)]
        outcomes = run(n, steps, directions, **choices)
        parts = [n(nn.Transpose(o.outputs, permutation=(1, 0, 2))) for o in outcomes]
        whole = parts[0] if count == 1 else n(nn.Concat(parts, axis=2))
        last = []
        for values in zip(*(o.states for o in outcomes), strict=True):
            of_each = [reshape(n, v, [1, 1, (v, 1)]) for v in values]
            last.append(of_each[0] if count == 1 else n(nn.Concat(of_each, axis=1)))
        return [whole, *last]

    return convert


def _product(n: NcnnLayer, name: str, d: int) -> Product:
    """A product with weights that are integers: each row of the other factor is made so, too."""
    scales = Term(n, n.stored(f"{name}_scales{d}", n.array_of(f"{name}_scales")[d]))
    return lambda x, weight: product(Term(n, x), (Term(n, weight), scales)).value


def _direction(
    n: NcnnLayer, steps: Value, d: int, count: int, states: Sequence[Value]
) -> Direction:
    kind, out = n.kind, n.int(0)
    hidden = n.int(3, out) if kind == "LSTM" else out
    widths = [out, hidden] if kind == "LSTM" else [out]
    bias, more = n.array_of("bias")[d], np.zeros(GATES[kind] * hidden)
    if kind == "GRU":  # the last one is added to the product that the reset gate scales
        bias, more[2 * hidden :] = bias[:3], bias[3]
    given = []
    for i, width in enumerate(widths):
        if i < len(states):
            parts = n.with_rank(states[i], 3)
            row = gathered(n, parts, n.constant(np.array(d, np.int64)), 1)
            given.append(reshape(n, row, [1, width]))
        else:
            given.append(family.zero_state(n, steps, width))
    names = _ACTIVATIONS[kind]
    return Direction(
        n,
        n.stored(f"input{d}", n.array_of("input")[d].T),
        n.stored(f"state{d}", n.array_of("state")[d].T),
        given,
        [_activation(n, name) for name in names],
        (n.stored(f"bias{d}", bias.reshape(-1)), n.stored(f"more{d}", more)),
        products=(_product(n, "input", d), _product(n, "state", d)) if n.int(8) else None,
        backward=n.int(2) == 1 or d == 1,
        shrink=n.stored(f"shrink{d}", n.array_of("projection")[d].T) if hidden != out else None,
    )


def _activation(n: NcnnLayer, name: str) -> Callable[[Value], Value]:
    return lambda x: activation(n, name, x)


rows.add(
    {
        "LSTM": _layer(family.lstm, order="ifog"),
        "GRU": _layer(family.gru, order="rzn"),
        "RNN": _layer(family.rnn),
    }
)

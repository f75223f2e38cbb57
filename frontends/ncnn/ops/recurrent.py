"""Recurrent layers; each row of a matrix is one time step."""

from __future__ import annotations

from functools import partial

from ...common.recurrent import Cells, Product
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows
from .integers import product

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _layer(cells: Cells) -> Callable:
    def convert(n: NcnnLayer, x: Value, *states: Value) -> list[Value]:
        steps = n(nn.Transpose(n.with_rank(x, 3), permutation=(1, 0, 2)))
        count = 2 if n.int(2) == 2 else 1
        outcomes = cells(n, steps, [_direction(n, d, states) for d in range(count)])
        whole = swapped(n, concat(n, [o.outputs for o in outcomes], 2), 0, 1)
        lasts = zip(*(o.states for o in outcomes), strict=True)
        return [whole, *(stacked(n, one, 1) for one in lasts)]

    return convert


def _products(n: NcnnLayer, d: int) -> tuple[Product, ...]:
    """The products of a layer with int8 weights; those of a projection stay floats."""
    if not n.int(8):
        return ()
    return _product(n, "input", d), _product(n, "state", d)


def _product(n: NcnnLayer, name: str, d: int) -> Product:
    """A product with int8 weights, for which each row of the other operand is quantized."""
    scales = Term(n, n.stored(f"{name}_scales{d}", n.array_of(f"{name}_scales")[d]))
    return lambda x, weight: product(Term(n, x), (Term(n, weight), scales)).value


def _direction(n: NcnnLayer, d: int, states: Sequence[Value]) -> Direction:
    kind, out = n.kind, n.int(0)
    hidden = n.int(3, out) if kind == "LSTM" else out
    widths = [out, hidden] if kind == "LSTM" else [out]
    bias, more = n.array_of("bias")[d], np.zeros(GATES[kind] * hidden)
    if kind == "GRU":  # the last one is added to the product that the reset gate scales
        bias, more[2 * hidden :] = bias[:3], bias[3]
    given: list[Value | None] = [None] * len(widths)
    for i, (state, width) in enumerate(zip(states, widths, strict=False)):
        row = gathered(n, n.with_rank(state, 3), n.constant(np.array(d, np.int64)), 1)
        given[i] = reshape(n, row, [1, width])
    return Direction(
        n,
        n.stored(f"input{d}", n.array_of("input")[d].T),
        n.stored(f"state{d}", n.array_of("state")[d].T),
        given,
        biases=(n.stored(f"bias{d}", bias.reshape(-1)), n.stored(f"more{d}", more)),
        products=_products(n, d),
        backward=n.int(2) == 1 or d == 1,
        shrink=n.stored(f"shrink{d}", n.array_of("projection")[d].T) if hidden != out else None,
    )


rows.add(
    {
        "LSTM": _layer(partial(lstm, order="ifog")),
        "GRU": _layer(partial(gru, order="rzn")),
        "RNN": _layer(rnn),
    }
)

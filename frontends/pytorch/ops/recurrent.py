"""LSTM, GRU and plain recurrent networks, all layers of them."""

from __future__ import annotations

from functools import partial

from ...common.recurrent import Cells, layers
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .views import unsqueeze

_CELLS: dict[str, tuple[Cells, Sequence[str]]] = {
    "lstm": (partial(lstm, order="ifgo"), ()),
    "gru": (partial(gru, order="rzn"), ()),
    "rnn_tanh": (rnn, ()),
    "rnn_relu": (rnn, ["relu"]),
}
"""(cell function, activations) by mode; () stands for the default activations."""


def _direction(
    n: AtenLayer, functions: Sequence[str], weights: Sequence[Value], has_biases: bool
) -> Direction:
    """One direction's weights of inputs and states, their biases, and an LSTM's projection."""
    biases = (weights[2], weights[3]) if has_biases else None
    project, recur, *shrink = (
        swapped(n, w, 0, 1) for w in (*weights[:2], *weights[4 if has_biases else 2 :])
    )
    return Direction(
        n, project, recur, activations=functions, biases=biases, shrink=next(iter(shrink), None)
    )


@ROWS("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
def networks(
    n: AtenLayer,
    input: Value,
    hx: Any,
    params: Sequence[Value],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[Value]:
    """All steps' outputs of the last layer, and the last states of all: [layers, batch, hidden]."""
    if train and dropout:
        raise n.error("training is not supported: call model.eval() first")
    cells, functions = _CELLS[n.kind.split(".")[1]]
    each = len(params) // (num_layers * (2 if bidirectional else 1))

    def direction(at: int) -> Direction:
        return _direction(n, functions, params[at * each : (at + 1) * each], has_biases)

    x = swapped(n, input, 0, 1) if batch_first else input
    states = hx if isinstance(hx, list) else [hx]
    x, lasts = layers(n, x, states, cells, direction, num_layers, bidirectional)
    return [swapped(n, x, 0, 1) if batch_first else x, *lasts]


@ROWS("aten.lstm_cell", "aten.gru_cell", "aten.rnn_tanh_cell", "aten.rnn_relu_cell")
def cell(
    n: AtenLayer,
    input: Value,
    hx: Any,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None = None,
    b_hh: Value | None = None,
) -> Any:
    """One step of one layer."""
    cells, functions = _CELLS[n.kind.split(".")[1].removesuffix("_cell")]
    weights = [w for w in (w_ih, w_hh, b_ih, b_hh) if w is not None]
    direction = _direction(n, functions, weights, len(weights) == 4)
    direction.states = hx if isinstance(hx, list) else [hx]
    (outcome,) = cells(n, unsqueeze(n, input, 0), [direction])
    return outcome.states

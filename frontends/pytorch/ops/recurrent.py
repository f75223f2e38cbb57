"""LSTM, GRU and plain recurrent networks, all layers of them."""

from __future__ import annotations

from ...common import recurrent
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .views import unsqueeze

Cells = Callable[[AtenLayer, Value, Sequence[Direction]], list[Outcome]]


@ROWS("aten.lstm.input")
def lstm(n: AtenLayer, input: Value, hx: list[Value], params: list[Value], **how: Any) -> list:
    def cells(n: AtenLayer, x: Value, directions: Sequence[Direction]) -> list[Outcome]:
        return recurrent.lstm(n, x, directions, order="ifgo")

    return _network(n, input, hx, params, cells, "sgg", **how)


@ROWS("aten.gru.input")
def gru(n: AtenLayer, input: Value, hx: Value, params: list[Value], **how: Any) -> list:
    def cells(n: AtenLayer, x: Value, directions: Sequence[Direction]) -> list[Outcome]:
        return recurrent.gru(n, x, directions, order="rzn")

    return _network(n, input, [hx], params, cells, "sg", **how)


@ROWS("aten.rnn_tanh.input", "aten.rnn_relu.input")
def rnn(n: AtenLayer, input: Value, hx: Value, params: list[Value], **how: Any) -> list:
    functions = "g" if "tanh" in n.kind else "r"
    return _network(n, input, [hx], params, recurrent.rnn, functions, **how)


_FUNCTIONS = {"s": nn.Sigmoid, "g": nn.Tanh, "r": nn.Relu}


def _network(
    n: AtenLayer,
    x: Value,
    states: Sequence[Value],
    params: Sequence[Value],
    cells: Cells,
    functions: str,
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
    if batch_first:
        x = swapped(n, x, 0, 1)
    count = 2 if bidirectional else 1
    each = len(params) // (num_layers * count)
    activations = [lambda v, f=_FUNCTIONS[c]: n(f(v)) for c in functions]
    lasts: list[list[Value]] = []
    for layer in range(num_layers):
        directions = []
        for d in range(count):
            at = layer * count + d
            own = list(params[at * each : (at + 1) * each])
            project, recur = (swapped(n, w, 0, 1) for w in own[:2])
            biases = (own[2], own[3]) if has_biases else None
            shrink = swapped(n, own[-1], 0, 1) if each == (5 if has_biases else 3) else None
            first = [column(n, s, 0, at) for s in states]
            directions.append(
                Direction(n, project, recur, first, activations, biases, d == 1, shrink=shrink)
            )
        outcomes = cells(n, x, directions)
        x = concat(n, [o.outputs for o in outcomes], 2)
        lasts += [o.states for o in outcomes]
    final = [concat(n, [unsqueeze(n, s, 0) for s in one], 0) for one in zip(*lasts, strict=True)]
    return [swapped(n, x, 0, 1) if batch_first else x, *final]


def _cell(cells: Cells, functions: str) -> Any:
    """One step of one layer."""

    def row(
        n: AtenLayer,
        input: Value,
        hx: Any,
        w_ih: Value,
        w_hh: Value,
        b_ih: Value | None = None,
        b_hh: Value | None = None,
    ) -> Any:
        states = list(hx) if isinstance(hx, list) else [hx]
        activations = [lambda v, f=_FUNCTIONS[c]: n(f(v)) for c in functions]
        project, recur = (swapped(n, w, 0, 1) for w in (w_ih, w_hh))
        biases = None if b_ih is None or b_hh is None else (b_ih, b_hh)
        direction = Direction(n, project, recur, states, activations, biases)
        (outcome,) = cells(n, unsqueeze(n, input, 0), [direction])
        return outcome.states

    return row


ROWS.add(
    {
        "aten.lstm_cell": _cell(lambda n, x, d: recurrent.lstm(n, x, d, order="ifgo"), "sgg"),
        "aten.gru_cell": _cell(lambda n, x, d: recurrent.gru(n, x, d, order="rzn"), "sg"),
        "aten.rnn_tanh_cell": _cell(recurrent.rnn, "g"),
        "aten.rnn_relu_cell": _cell(recurrent.rnn, "r"),
    }
)

"""Recurrent layers. A run is one step; states carry over to the next run.

Source: AlexeyAB/darknet, src: rnn_layer.c, gru_layer.c, lstm_layer.c, crnn_layer.c and
conv_lstm_layer.c
"""

from __future__ import annotations

from dataclasses import replace

from ...common.recurrent import gru_state, lstm_states
from ...common.vocabulary import *
from ..layer import DarknetLayer, of_images, rows
from .weighted import convolved, multiplied, options_of, weights_of

Product = Callable[[str, Value], Term]
"""(the name of a layer's weights, a value) -> their product. The weights are taken from the file in
the order of calls."""


def _plain(n: DarknetLayer, x: Value, state: Value, product: Product) -> Value:
    """The next state, a sum of products of the input and of the state; and its output product."""
    total = product("input.", x) + product("self.", state)
    total = total + Term(n, state) if n.int("shortcut") else total
    n.set_state("state", total.value)
    return product("output.", total.value).value


@rows("rnn")
def rnn(n: DarknetLayer, x: Value) -> Value:
    out, name = n.int("output", 1), n.text("activation", "logistic")
    hidden = n.int("hidden", out)
    own = {0: name, 1: "logistic", 2: "loggy"}.get(n.int("logistic"), name)

    def product(part: str, value: Value) -> Term:
        kind, count = own if part == "self." else name, out if part == "output." else hidden
        return Term(n, multiplied(n, value, count, kind, part))

    return _plain(n, x, n.state("state", TensorType((1, hidden), f32)), product)


@of_images("crnn")
def crnn(n: DarknetLayer, x: Value) -> Value:
    how = options_of(n, n.int("output", 1), 3, "logistic")
    hidden = n.int("hidden", how.filters)

    def product(part: str, value: Value) -> Term:
        own = replace(how, filters=how.filters if part == "output." else hidden)
        return Term(n, convolved(n, value, own, weights_of(n, value, own, part)))

    shape = (1, hidden, *x.type.shape[2:])
    if x.type.rank != 4 or None in shape:
        raise n.error("it needs images of known extents")
    return _plain(n, x, n.state("state", TensorType(shape, f32)), product)


@rows("gru")
def gru(n: DarknetLayer, x: Value) -> Value:
    count = n.int("output", 1)
    h = n.state("state", TensorType((1, count), f32))

    def product(part: str, value: Value) -> Term:
        return Term(n, multiplied(n, value, count, "linear", part))

    z, r, new = (product(f"input_{c}.", x) for c in "zrh")
    z = (z + product("state_z.", h)).function(nn.Sigmoid)
    r = (r + product("state_r.", h)).function(nn.Sigmoid)
    new = new + product("state_h.", (Term(n, h) * r).value)
    new = activation(n, "tanh" if n.int("tanh") else "sigmoid", new.value)
    return n.set_state("state", gru_state(n, z.value, new, h))


@rows("lstm")
def lstm(n: DarknetLayer, x: Value) -> Value:
    count = n.int("output", 1)
    h, c = (n.state(name, TensorType((1, count), f32)) for name in ("state", "cell"))

    def product(part: str, value: Value) -> Term:
        return Term(n, multiplied(n, value, count, "linear", part))

    gates = {g: product(f"w{g}.", h) for g in "figo"}
    gates = {g: (gates[g] + product(f"u{g}.", x)).value for g in "figo"}
    h, c = lstm_states(n, lambda gate, _: gates[gate], c)
    n.set_state("cell", c)
    return n.set_state("state", h)


@of_images("conv_lstm")
def conv_lstm(n: DarknetLayer, x: Value) -> Value:
    """A convolutional LSTM; peephole weights come first in the file."""
    how = options_of(n, n.int("output", 1), 3, "linear")
    shape = (1, how.filters, *x.type.shape[2:])
    if x.type.rank != 4 or None in shape or n.int("bottleneck"):
        raise n.error("it needs images of known extents; a bottleneck is not supported")
    h, c = (n.state(name, TensorType(shape, f32)) for name in ("state", "cell"))
    sees = {f"v{g}": c for g in "fio"} if n.int("peephole") else {}
    values = sees | {f"w{g}": h for g in "figo"} | {f"u{g}": x for g in "figo"}
    weights = {name: weights_of(n, v, how, f"{name}.") for name, v in values.items()}

    def gate(letter: str, cell: Value) -> Value:
        parts = {f"w{letter}": h, f"u{letter}": x, f"v{letter}": cell}
        taken = [(v, weights[part]) for part, v in parts.items() if part in weights]
        first, *rest = (Term(n, convolved(n, v, how, own)) for v, own in taken)
        return sum(rest, first).value

    h, c = lstm_states(n, gate, c)
    limit = float(n.int("state_constrain", 32))
    n.set_state("cell", clipped(n, c, -limit, limit) if limit else c)
    return n.set_state("state", h)

"""The fused recurrent networks: several layers, whose parameters are one vector."""

from __future__ import annotations

from ...common.recurrent import needed_lengths
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

_GATES = {"lstm": "ifgo", "gru": "rzn", "rnn_tanh": "h", "rnn_relu": "h"}
"""The order of the gates in the parameters."""


@rows("RNN", "_npx_rnn")
def fused(n: MxnetLayer, x: Value, parameters: Value, *states: Value) -> list[Value]:
    """Steps x [time, batch, input], states [layers * directions, batch, hidden]."""
    mode = n.text("mode", "", *_GATES)
    if n.get("projection_size") is not None:
        raise n.error("attribute 'projection_size' is not supported")
    kinds = 2 if mode == "lstm" else 1
    if len(states) < kinds:
        raise n.error(f"{len(states)} states, expected {kinds}")
    lengths = states[kinds] if n.flag("use_sequence_length") and len(states) > kinds else None
    lengths = lengths and needed_lengths(n, n.cast(lengths, i64), x.type.shape[0])
    layers, directions = n.size("num_layers"), 1 + n.flag("bidirectional")
    weights = _Weights(n, parameters, mode, n.extent(x, 2), directions)
    finals: list[list[Value]] = [[] for _ in range(kinds)]
    for layer in range(layers):
        found = []
        for d in range(directions):
            at = layer * directions + d
            first = [_state(n, x, s, at, weights.hidden) for s in states[:kinds]]
            found.append(weights.direction(layer, d, first))
        outcomes = _layer(n, mode, x, found, lengths)
        outputs = [outcome.outputs for outcome in outcomes]
        x = outputs[0] if len(outputs) == 1 else n(nn.Concat(outputs, axis=2))
        for outcome in outcomes:
            for final, state in zip(finals, outcome.states, strict=True):
                final.append(reshape(n, state, [1, (state, 0), (state, 1)]))
    lasts = [final[0] if len(final) == 1 else n(nn.Concat(final, axis=0)) for final in finals]
    return [x, *lasts]


def _layer(n: MxnetLayer, mode: str, x: Value, found: list[Direction], lengths) -> list[Outcome]:
    if mode == "lstm":
        return lstm(n, x, found, lengths, order=_GATES[mode])
    if mode == "gru":
        return gru(n, x, found, lengths, order=_GATES[mode])
    return rnn(n, x, found, lengths)


def _state(n: MxnetLayer, x: Value, states: Value, at: int, hidden: int) -> Value:
    """One layer's; zeros where the model leaves the batch open, as Gluon does."""
    if 0 in states.type.shape and 0 not in x.type.shape:
        return zero_state(n, x, hidden)
    part = n.part(states, 0, at, at + 1)
    return reshape(n, part, [(part, 1), hidden])


class _Weights:
    """The vector's parts: the weights of all layers and directions, then all their biases."""

    def __init__(self, n: MxnetLayer, vector: Value, mode: str, width: int, directions: int):
        self.n, self.vector, self.mode, self.directions = n, vector, mode, directions
        self.hidden = n.size("state_size")
        self.gates = len(_GATES[mode]) * self.hidden
        self.widths = [width, *[directions * self.hidden] * (n.size("num_layers") - 1)]
        weights = [self.gates * (width + self.hidden) for width in self.widths]
        self.starts = [sum(weights[:i]) * directions for i in range(len(weights) + 1)]
        total = self.starts[-1] + len(weights) * directions * 2 * self.gates
        if vector.type.shape not in ((total,), (None,)):
            raise n.error(f"the parameters are '{vector.type}', expected {total} elements")

    def direction(self, layer: int, d: int, states: list[Value]) -> Direction:
        """One direction of a layer."""
        n, width = self.n, self.widths[layer]
        at = self.starts[layer] + d * self.gates * (width + self.hidden)
        split = at + self.gates * width
        bias = self.starts[-1] + (layer * self.directions + d) * 2 * self.gates
        own, inner = nn.Tanh, nn.Sigmoid
        functions = {
            "lstm": (inner, own, own),
            "gru": (inner, own),
            "rnn_tanh": (own,),
            "rnn_relu": (nn.Relu,),
        }[self.mode]
        return Direction(
            n,
            self._matrix(at, width),
            self._matrix(split, self.hidden),
            states,
            [lambda x, op=op: n(op(x)) for op in functions],
            (self._part(bias, self.gates), self._part(bias + self.gates, self.gates)),
            backward=d == 1,
        )

    def _part(self, at: int, count: int) -> Value:
        return self.n.part(self.vector, 0, at, at + count)

    def _matrix(self, at: int, width: int) -> Value:
        matrix = reshape(self.n, self._part(at, self.gates * width), [self.gates, width])
        return self.n.transposed(matrix, 1, 0)

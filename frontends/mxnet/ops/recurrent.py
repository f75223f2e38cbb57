"""Fused recurrent networks of several layers, with all parameters in one vector."""

from __future__ import annotations

from functools import partial

from ...common.recurrent import Cells, layers, needed_lengths
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

_CELLS: dict[str, tuple[int, Cells, Sequence[str]]] = {
    "lstm": (4, partial(lstm, order="ifgo"), ()),
    "gru": (3, partial(gru, order="rzn"), ()),
    "rnn_tanh": (1, rnn, ()),
    "rnn_relu": (1, rnn, ["relu"]),
}
"""(number of gates, cell function, activations) by mode; () stands for the default activations."""


@rows("RNN", "_npx_rnn")
def fused(n: MxnetLayer, x: Value, parameters: Value, *states: Value) -> list[Value]:
    """x [time, batch, input], states [layers * directions, batch, hidden]."""
    mode = n.text("mode", "", *_CELLS)
    kinds = 2 if mode == "lstm" else 1
    if len(states) < kinds:
        raise n.error(f"{len(states)} states, expected {kinds}")
    lengths = states[kinds] if n.flag("use_sequence_length") and len(states) > kinds else None
    lengths = lengths and needed_lengths(n, n.cast(lengths, i64), x.type.shape[0])
    count, both = n.size("num_layers"), n.flag("bidirectional")
    gates, cells, functions = _CELLS[mode]
    weights = _Weights(n, parameters, gates, functions, n.extent(x, 2), 1 + both)
    # Where the model leaves the batch of states open, Gluon begins with zeros.
    is_open = 0 not in x.type.shape
    first = [None if is_open and 0 in s.type.shape else s for s in states[:kinds]]
    x, lasts = layers(n, x, first, cells, weights.direction, count, both, lengths)
    return [x, *lasts]


class _Weights:
    """The vector of parameters, by parts: the weights of all layers and directions, then biases."""

    def __init__(
        self,
        n: MxnetLayer,
        vector: Value,
        gates: int,
        functions: Sequence[str],
        width: int,
        directions: int,
    ) -> None:
        self.n, self.vector, self.functions, self.directions = n, vector, functions, directions
        self.hidden = n.size("state_size")
        self.projects = n.get("projection_size") is not None
        if self.projects and gates != 4:
            raise n.error("only an LSTM projects its outputs")
        self.output = n.size("projection_size") if self.projects else self.hidden
        self.gates = gates * self.hidden
        self.widths = [width, *[directions * self.output] * (n.size("num_layers") - 1)]
        last = self.output * self.hidden if self.projects else 0
        weights = [self.gates * (width + self.output) + last for width in self.widths]
        self.starts = [sum(weights[:i]) * directions for i in range(len(weights) + 1)]
        total = self.starts[-1] + len(weights) * directions * 2 * self.gates
        if vector.type.shape not in ((total,), (None,)):
            raise n.error(f"the parameters are '{vector.type}', expected {total} elements")

    def direction(self, number: int) -> Direction:
        """The direction with this number, counted over all layers."""
        n, (layer, d) = self.n, divmod(number, self.directions)
        width, own = self.widths[layer], self.starts[layer + 1] - self.starts[layer]
        at = self.starts[layer] + d * own // self.directions
        states = at + self.gates * width
        outputs = states + self.gates * self.output
        bias = self.starts[-1] + number * 2 * self.gates
        return Direction(
            n,
            self._matrix(at, self.gates, width),
            self._matrix(states, self.gates, self.output),
            shrink=self._matrix(outputs, self.output, self.hidden) if self.projects else None,
            activations=self.functions,
            biases=(self._part(bias, self.gates), self._part(bias + self.gates, self.gates)),
        )

    def _part(self, at: int, count: int) -> Value:
        return self.n.part(self.vector, 0, at, at + count)

    def _matrix(self, at: int, rows: int, columns: int) -> Value:
        """The transpose of a matrix that begins at this element."""
        matrix = reshape(self.n, self._part(at, rows * columns), [rows, columns])
        return self.n.transposed(matrix, 1, 0)

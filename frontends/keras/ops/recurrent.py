"""Recurrent layers: plain, gated, long short-term memory, convolutional, and cells in layers."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.loops import Iteration, mirrored, reversed_along, while_loop
from ...common.vocabulary import *
from ..functions import activated
from ..layer import KerasLayer, layer
from .convolution import PADDINGS, kernel_first
from .reshaping import is_channels_first, merged_batch

KINDS = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}
"""The gates of each kind."""


@dataclass(frozen=True)
class Cell:
    """A kind of recurrence with its configuration and weights."""

    kind: str
    config: Mapping[str, Any]
    weights: Sequence[Value]

    @property
    def states(self) -> int:
        return 2 if self.kind == "LSTM" else 1

    def run(
        self, n: KerasLayer, x: Value, states: list[Value], mask: Any, backward: bool
    ) -> Outcome:
        """All steps of [time, batch, input]."""
        names = [self.config.get("activation", "tanh")]
        if self.kind != "SimpleRNN":
            names.insert(0, self.config.get("recurrent_activation", "sigmoid"))
        if self.kind == "LSTM":
            names.append(names[1])
        functions = [lambda v, name=name: activated(n, v, name) for name in names]
        kernel, recurrent, *bias = self.weights
        late = self.kind == "GRU" and bool(self.config.get("reset_after", True))
        biases = None
        if bias:
            biases = self._biases(n, bias[0], late)
        direction = Direction(n, kernel, recurrent, states, functions, biases, backward)
        match self.kind:
            case "LSTM":
                (outcome,) = lstm(n, x, [direction], mask, order="ifgo")
            case "GRU":
                (outcome,) = gru(n, x, [direction], mask, order="zrn", reset_late=late)
            case _:
                (outcome,) = rnn(n, x, [direction], mask)
        return outcome

    def _biases(self, n: KerasLayer, bias: Value, late: bool) -> tuple[Value, Value]:
        """Of the products of inputs, and of states."""
        if late and bias.type.rank == 2:
            return column(n, bias, 0, 0), column(n, bias, 0, 1)
        return bias, n(nn.Mul(bias, n.scalar(0, bias)))


def _cell(n: KerasLayer, kind: str, config: Mapping[str, Any], weights: list[Value]) -> Cell:
    """A cell, which takes its weights off the list."""
    kind = kind.removesuffix("Cell")
    if kind not in KINDS:
        raise n.error(f"cells of class '{kind}' are not supported, expected {', '.join(KINDS)}")
    count = 3 if config.get("use_bias", True) else 2
    if len(weights) < count:
        raise n.error(f"it lacks weights: {len(weights)} are there, {count} needed")
    own = [weights.pop(0) for _ in range(count)]
    size, gates = own[1].type.shape[0], KINDS[kind]
    if own[0].type.shape[1] != gates * size or own[1].type.shape[1] != gates * size:
        raise n.error(f"the weights '{own[0].type}' and '{own[1].type}' do not fit a {kind}")
    return Cell(kind, config, own)


def _sequence(
    n: KerasLayer,
    cells: Sequence[Cell],
    x: Value,
    states: Sequence[Value] | None,
    backward: bool,
    zeros: bool,
) -> Outcome:
    """The cells one after the other on [time, batch, input]; outputs are in the order of time."""
    mask = n.mask
    chosen = None if mask is None else _masked(n, mask, zeros)
    given = list(states or ())
    lasts: list[Value] = []
    for cell in cells:
        size = cell.weights[1].type.shape[0]
        own = [given.pop(0) if given else zero_state(n, x, size) for _ in range(cell.states)]
        outcome = cell.run(n, x, own, chosen, backward)
        x, lasts = outcome.outputs, lasts + list(outcome.states)
    return Outcome(x, lasts)


def _masked(n: KerasLayer, mask: Value, zeros: bool) -> Any:
    """Where a step does not count, states stay, and the output is that before, or zeros."""
    steps = n(nn.Transpose(mask, permutation=(1, 0)))
    columns = reshape(n, n.cast(steps, i1), [(steps, 0), (steps, 1), 1])

    def chosen(state: list[Value], new: list[Value], t: Value) -> tuple[list[Value], Value]:
        counts = n(nn.Gather(columns, t))
        kept = [n(nn.Where(counts, a, b)) for a, b in zip(new, state, strict=True)]
        return kept, n(nn.Where(counts, new[0], n.scalar(0, new[0]))) if zeros else kept[0]

    return chosen


def _time_first(n: KerasLayer, x: Value) -> Value:
    return n(nn.Transpose(x, permutation=(1, 0, *range(2, x.type.rank))))


def _outputs(
    n: KerasLayer, outcome: Outcome, config: Mapping[str, Any], backward: bool, flips: bool
) -> list[Value]:
    """What the layer gives: all steps in the order of work, or the last of them, and states."""
    whole = outcome.outputs
    if not config.get("return_sequences"):
        found = column(n, whole, 0, 0 if backward else -1)
    else:
        found = _time_first(n, reversed_steps(n, whole) if backward and flips else whole)
    return [found, *(outcome.states if config.get("return_state") else ())]


def reversed_steps(n: KerasLayer, x: Value) -> Value:
    """[time, ..] from the last step to the first."""
    return reversed_along(n, x, 0)


def _given_states(n: KerasLayer) -> list[Value] | None:
    """The initial states, by name or behind the input."""
    found = n.keyword("initial_state")
    if found is None:
        more = [v for item in n.args for v in (item if isinstance(item, list) else [item])][1:]
        found = [v for v in more if isinstance(v, Value)] or None
    return [found] if isinstance(found, Value) else found


def _first(n: KerasLayer) -> Value:
    found = n.args[0]
    found = found[0] if isinstance(found, list) else found
    if not isinstance(found, Value) or found.type.rank < 3:
        raise n.error("it is not called with a sequence [batch, time, ..]")
    if n.option("time_major", False):
        raise n.error("'time_major' is not supported")
    return found


@layer("LSTM", "GRU", "SimpleRNN", "CuDNNLSTM", "CuDNNGRU")
def recurrent(n: KerasLayer) -> list[Value]:
    kind = n.kind.removeprefix("CuDNN")
    if kind != n.kind:
        raise n.error(f"weights for cuDNN are not supported; save the model with {kind}")
    return _recurrent(n, [_cell(n, kind, n.config, n.weights())])


@layer("RNN")
def rnn_layer(n: KerasLayer) -> list[Value]:
    inner, weights = n.option("cell"), n.weights()
    config = inner["config"]
    cells = config.get("cells", [inner])
    return _recurrent(n, [_cell(n, c["class_name"], c["config"], weights) for c in cells])


def _recurrent(n: KerasLayer, cells: list[Cell]) -> list[Value]:
    x = _time_first(n, _first(n))
    backward = bool(n.option("go_backwards", False))
    zeros = bool(n.option("zero_output_for_mask", False))
    outcome = _sequence(n, cells, x, _given_states(n), backward, zeros)
    return _outputs(n, outcome, n.config, backward, flips=True)


@layer("Bidirectional")
def bidirectional(n: KerasLayer) -> list[Value]:
    """A layer, and another or itself from the last step to the first."""
    x, weights, states = _time_first(n, _first(n)), n.weights(), _given_states(n)
    inner = n.option("layer")
    behind = n.option("backward_layer", None) or inner
    halves: list[list[Value]] = []
    for i, one in enumerate((inner, behind)):
        config = one["config"]
        cell = _cell(n, one["class_name"], config, weights)
        own = None if states is None else states[i * cell.states : (i + 1) * cell.states]
        outcome = _sequence(n, [cell], x, own, bool(i), zeros=True)
        halves.append(_outputs(n, outcome, config, bool(i), flips=False))
    forward, back = (half[0] for half in halves)
    lasts = [state for half in halves for state in half[1:]]
    match n.option("merge_mode", "concat"):
        case "concat":
            found = [concat(n, [forward, back], forward.type.rank - 1)]
        case "sum" | "ave" as mode:
            total = n(nn.Add(forward, back))
            found = [total if mode == "sum" else n(nn.Mul(total, n.scalar(0.5, total)))]
        case "mul":
            found = [n(nn.Mul(forward, back))]
        case None:
            found = [forward, back]
        case other:
            raise n.error(f"'merge_mode' is {other!r}")
    return found + lasts


# -- convolutions ----------------------------------------------------------------------------------


@layer("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
def conv_lstm(n: KerasLayer) -> list[Value]:
    """A long short-term memory whose products are convolutions."""
    kernel, recurrent, *bias = n.weights(3 if n.option("use_bias", True) else 2)
    x = _time_first(n, _first(n))
    if n.mask is not None:
        raise n.error("a mask is not supported")
    if not is_channels_first(n):
        x = n(nn.Transpose(x, permutation=(0, 1, x.type.rank - 1, *range(2, x.type.rank - 1))))
    count, filters = x.type.rank - 3, kernel.type.shape[-1] // 4
    own, across = kernel_first(n, recurrent), kernel_first(n, kernel)
    padding = PADDINGS[n.choice("padding", "valid", "same", default="valid")]
    strides, dilations = n.integers("strides", count, 1), n.integers("dilation_rate", count, 1)
    rest = tuple(range(2, x.type.rank))
    steps = merged_batch(n, x)
    projected = convolution(
        n,
        steps,
        across,
        bias[0] if bias else None,
        strides=strides,
        dilations=dilations,
        padding=padding,
    )
    projected = reshape(n, projected, [(x, 0), (x, 1), *((projected, i - 1) for i in rest)])
    gate, inner = n.option("recurrent_activation"), n.option("activation")
    ones = (1,) * count
    backward = bool(n.option("go_backwards", False))
    steps_count = extent(n, (x, 0)).value
    zero = broadcast(
        n, n.scalar(0, x), [(x, 1), filters, *((projected, i) for i in range(3, x.type.rank))]
    )

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        t = mirrored(n, number, steps_count) if backward else number
        h, c = states
        kept = convolution(n, h, own, strides=ones, dilations=ones, padding="SAME_UPPER")
        total = n(nn.Add(n(nn.Gather(projected, t)), kept))
        i, f, g, o = split_into(n, total, 1, [filters] * 4)
        i, f, o = (activated(n, v, gate) for v in (i, f, o))
        fresh = n(nn.Mul(i, activated(n, g, inner)))
        c = n(nn.Add(n(nn.Mul(f, c)), fresh))
        h = n(nn.Mul(o, activated(n, c, inner)))
        return Iteration([h, c], [h])

    given = _given_states(n)
    if given is not None and not is_channels_first(n):
        given = [channels_first(n, v) for v in given]
    lasts, (whole,) = while_loop(n, step, given or [zero, zero], steps_count)
    rank = whole.type.rank
    found = _time_first(n, whole) if n.option("return_sequences", False) else lasts[0]
    if not is_channels_first(n):
        lasts = [channels_last(n, v) for v in lasts]
        if n.option("return_sequences", False):
            order = (0, 1, *range(3, rank), 2)
            found = n(nn.Transpose(found, permutation=order))
        else:
            found = lasts[0]
    return [found, *(lasts if n.option("return_state", False) else ())]

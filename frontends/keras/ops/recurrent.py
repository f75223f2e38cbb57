"""Recurrent layers: plain, gated, LSTM, convolutional, and stacked cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ...common.loops import Iteration, mirrored, while_loop
from ...common.recurrent import lstm_states
from ...common.vocabulary import *
from ..container import kind_of
from ..functions import activated
from ..layer import KerasLayer, layer
from ..structures import flat
from .convolution import PADDINGS, kernel_first
from .reshaping import is_channels_first, merged_batch

KINDS = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}
"""The number of gates of each kind of layer."""


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
        self, n: KerasLayer, x: Value, states: Sequence[Value | None], mask: Any, backward: bool
    ) -> Outcome:
        """Run all steps of [time, batch, input]."""
        names = [self.config.get("activation", "tanh")]
        if self.kind != "SimpleRNN":
            names.insert(0, self.config.get("recurrent_activation", "sigmoid"))
        if self.kind == "LSTM":
            names.append(names[1])
        functions = [partial(activated, n, given=name) for name in names]
        kernel, recurrent, *bias = self.weights
        late = self.kind == "GRU" and bool(self.config.get("reset_after", True))
        biases: Any = next(iter(bias), None)
        if late and bias and bias[0].type.rank == 2:  # of the products of inputs, and of states
            biases = column(n, bias[0], 0, 0), column(n, bias[0], 0, 1)
        cells = {
            "LSTM": partial(lstm, order="ifgo"),
            "GRU": partial(gru, order="zrn", reset_late=late),
            "SimpleRNN": rnn,
        }[self.kind]
        direction = Direction(n, kernel, recurrent, states, functions, biases, backward)
        return cells(n, x, [direction], mask)[0]


def _cell(n: KerasLayer, kind: str, config: Mapping[str, Any], weights: list[Value]) -> Cell:
    """The cell of a configuration. It takes its weights from the front of the list."""
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


def _cells(n: KerasLayer, one: Mapping[str, Any], weights: list[Value]) -> list[Cell]:
    """The cells of a recurrent layer, from its configuration."""
    kind, config = kind_of(one), one["config"]
    if kind == "RNN":
        inner = config["cell"]
        listed = inner["config"].get("cells", [inner])
        return [_cell(n, kind_of(c), c["config"], weights) for c in listed]
    return [_cell(n, kind, config, weights)]


def _sequence(
    n: KerasLayer,
    cells: Sequence[Cell],
    x: Value,
    states: Sequence[Value] | None,
    config: Mapping[str, Any],
    backward: bool,
    zeros: bool,
) -> Outcome:
    """The stacked cells on [time, batch, input]; outputs are in time order.

    With `zeros`, masked steps output 0, else the output of the step before.
    """
    counts = None if n.mask is None else _steps_first(n, n.mask)
    # Unrolled, Keras makes zeros of all steps at once, by the mask as it was before it turned.
    turned = backward and bool(config.get("unroll")) and bool(config.get("return_sequences"))
    late = counts is not None and zeros and turned
    chosen = None
    if counts is not None:
        chosen = masked_steps(n, counts, zeros and not late, backward, bool(states))
    given = list(states or ())
    lasts: list[Value] = []
    for cell in cells:
        own = [given.pop(0) if given else None for _ in range(cell.states)]
        outcome = cell.run(n, x, own, chosen, backward)
        x, lasts = outcome.outputs, lasts + list(outcome.states)
    if counts is not None and late:
        x = n(nn.Where(reversed_steps(n, counts), x, n.scalar(0, x)))
    return Outcome(x, lasts)


def _steps_first(n: KerasLayer, mask: Value) -> Value:
    """A mask [batch, time] as a column for each step: [time, batch, 1]."""
    steps = _time_first(n, n.cast(mask, i1))
    return steps if steps.type.rank > 2 else reshape(n, steps, [(steps, 0), (steps, 1), 1])


def _time_first(n: KerasLayer, x: Value) -> Value:
    return n(nn.Transpose(x, permutation=(1, 0, *range(2, x.type.rank))))


def _outputs(
    n: KerasLayer, outcome: Outcome, config: Mapping[str, Any], backward: bool, flips: bool
) -> list[Value]:
    """The layer's results: all steps in processing order, or only the last, and states.

    `flips` reverses the steps.
    """
    whole = outcome.outputs
    if not config.get("return_sequences"):
        found = column(n, whole, 0, 0 if backward else -1)
    else:
        found = _time_first(n, reversed_steps(n, whole) if backward != flips else whole)
    return [found, *(outcome.states if config.get("return_state") else ())]


def reversed_steps(n: KerasLayer, x: Value) -> Value:
    """[time, ..] in reverse order."""
    return reversed_axes(n, x, [0])


def _given_states(n: KerasLayer) -> list[Value] | None:
    """The initial states, by name or as arguments after the input, for stacked cells too."""
    found = flat(n.keyword("initial_state"))
    if n.is_old and not any(isinstance(v, Value) for v in found):
        found = flat(n.args)[1:]
    return [v for v in found if isinstance(v, Value)] or None


def _first(n: KerasLayer) -> Value:
    found = n.args[0] if n.args else n.keyword("sequences")
    found = found[0] if isinstance(found, list) else found
    if not isinstance(found, Value) or found.type.rank < 3:
        raise n.error("it is not called with a sequence [batch, time, ..]")
    if n.option("time_major", False):
        raise n.error("'time_major' is not supported")
    return found


@layer("LSTM", "GRU", "SimpleRNN", "RNN", "CuDNNLSTM", "CuDNNGRU")
def recurrent(n: KerasLayer) -> list[Value]:
    kind = n.kind.removeprefix("CuDNN")
    if kind != n.kind:
        raise n.error(f"weights for cuDNN are not supported; save the model with {kind}")
    cells = _cells(n, {"class_name": kind, "config": n.config}, n.weights())
    x = _time_first(n, _first(n))
    backward = bool(n.option("go_backwards", False))
    zeros = bool(n.option("zero_output_for_mask", False))
    states = _remembered(n, x, cells)
    outcome = _sequence(n, cells, x, states, n.config, backward, zeros)
    _remember(n, n.config, outcome.states)
    return _outputs(n, outcome, n.config, backward, flips=False)


def _remembered(n: KerasLayer, x: Value, cells: Sequence[Cell]) -> list[Value] | None:
    """The states before the first step: those given, or a stateful layer's own."""
    given = _given_states(n)
    config = n.config["layer"]["config"] if n.kind == "Bidirectional" else n.config
    if not config.get("stateful"):
        return given
    sizes = [cell.weights[1].type.shape[0] for cell in cells for _ in range(cell.states)]
    own = [
        n.builder.state(f"{n.node.name}.state_{i}", TensorType((x.type.shape[1], size), n.element))
        for i, size in enumerate(sizes)
    ]
    return given or list(own)


def _remember(n: KerasLayer, config: Mapping[str, Any], states: Sequence[Value]) -> None:
    """Store the states from which a stateful layer starts the next run."""
    if config.get("stateful"):
        for i, state in enumerate(states):
            n.builder.set_state(f"{n.node.name}.state_{i}", n.cast(n.results(state), n.element))


@layer("Bidirectional")
def bidirectional(n: KerasLayer) -> list[Value]:
    """A layer and its reverse direction, whose steps are reversed."""
    inner, behind = n.option("layer"), n.option("backward_layer", None)
    forward = bool(inner["config"].get("go_backwards"))
    other = not forward if behind is None else bool(behind["config"].get("go_backwards"))
    ways = [(inner, forward), (behind or inner, other)]
    if kind_of(inner).startswith("ConvLSTM"):
        return _bidirectional_of_images(n, ways)
    x, weights = _time_first(n, _first(n)), n.weights()
    cells = [_cells(n, one, weights) for one, _ in ways]
    states = _remembered(n, x, [*cells[0], *cells[1]])
    halves: list[list[Value]] = []
    lasts: list[Value] = []
    for i, (one, backward) in enumerate(ways):
        config, half = one["config"], len(states or ()) // 2
        own = None if states is None else states[i * half : (i + 1) * half]
        zeros = bool(config.get("return_sequences"))
        outcome = _sequence(n, cells[i], x, own, config, backward, zeros)
        lasts += outcome.states
        halves.append(_outputs(n, outcome, config, backward, flips=bool(i)))
    _remember(n, inner["config"], lasts)
    found = _merged(n, *(half[0] for half in halves))
    return found + [state for half in halves for state in half[1:]]


def _bidirectional_of_images(n: KerasLayer, ways: Sequence[tuple[Any, bool]]) -> list[Value]:
    """Both directions of a convolutional recurrence: (configuration, whether it is backward)."""
    weights, given = n.weights(), _given_states(n)
    half = len(weights) // 2, len(given or ()) // 2
    halves: list[list[Value]] = []
    for i, (one, backward) in enumerate(ways):
        own, states = (
            None if all_of is None else all_of[i * count : (i + 1) * count]
            for all_of, count in zip((weights, given), half, strict=True)
        )
        if one["config"].get("stateful"):
            raise n.error("a stateful ConvLSTM is not supported")
        with n.inside(one["config"]):
            found = _conv_lstm(n, own or [], states, backward, bool(n.option("return_sequences")))
            if i and n.option("return_sequences"):
                found[0] = reversed_axes(n, found[0], [1])
        halves.append(found)
    return _merged(n, *(found[0] for found in halves)) + [v for found in halves for v in found[1:]]


def _merged(n: KerasLayer, forward: Value, back: Value) -> list[Value]:
    """The outputs of both directions merged, or as a list."""
    match n.option("merge_mode", "concat"):
        case "concat":
            return [concat(n, [forward, back], forward.type.rank - 1)]
        case "sum" | "ave" as mode:
            total = n(nn.Add(forward, back))
            return [total if mode == "sum" else n(nn.Mul(total, n.scalar(0.5, total)))]
        case "mul":
            return [n(nn.Mul(forward, back))]
        case None:
            return [forward, back]
        case other:
            raise n.error(f"'merge_mode' is {other!r}")


# -- convolutions ----------------------------------------------------------------------------------


@layer("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
def conv_lstm(n: KerasLayer) -> list[Value]:
    """A convolutional LSTM."""
    weights = n.weights(3 if n.option("use_bias", True) else 2)
    backward = bool(n.option("go_backwards", False))
    zeros = bool(n.option("zero_output_for_mask", False))
    return _conv_lstm(n, weights, _given_states(n), backward, zeros)


def _conv_lstm(
    n: KerasLayer,
    weights: Sequence[Value],
    given: list[Value] | None,
    backward: bool,
    zeros: bool,
) -> list[Value]:
    """The outputs in processing order, and the states; masked steps give 0 with `zeros`."""
    kernel, recurrent, *bias = weights
    x = _time_first(n, _first(n))
    counts = None if n.mask is None else _mask_of_images(n, n.mask, x.type.rank)
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
    names = (n.option("recurrent_activation"), *[n.option("activation")] * 2)
    functions = [partial(activated, n, given=name) for name in names]
    ones = (1,) * count
    steps_count = extent(n, (x, 0)).value
    chosen = None if counts is None else masked_steps(n, counts, zeros, backward, bool(given))
    zero = broadcast(
        n, n.scalar(0, x), [(x, 1), filters, *((projected, i) for i in range(3, x.type.rank))]
    )

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        t = mirrored(n, number, steps_count) if backward else number
        h, c = states
        kept = convolution(n, h, own, strides=ones, dilations=ones, padding="SAME_UPPER")
        total = n(nn.Add(gathered(n, projected, t), kept))
        gates = dict(zip("ifgo", split_evenly(n, total, 1, 4), strict=True))
        h, c = lstm_states(n, lambda gate, _: gates[gate], c, functions)
        if chosen is None:
            return Iteration([h, c], [h])
        kept, output = chosen(states, [h, c], t)
        return Iteration(kept, [output])

    if given is not None and not is_channels_first(n):
        given = [channels_first(n, v) for v in given]
    lasts, (whole,) = while_loop(n, step, given or [zero, zero], steps_count)
    return _images_of(n, lasts, whole, is_masked=chosen is not None)


def _images_of(n: KerasLayer, lasts: list[Value], whole: Value, is_masked: bool) -> list[Value]:
    """The results of a layer with image states, channels first: `whole` has all steps."""
    sequences = n.option("return_sequences", False)
    if sequences:
        found = _time_first(n, whole)
    else:
        found = column(n, whole, 0, -1) if is_masked else lasts[0]
    if not is_channels_first(n):
        lasts = [channels_last(n, v) for v in lasts]
        if sequences:
            order = (0, 1, *range(3, whole.type.rank), 2)
            found = n(nn.Transpose(found, permutation=order))
        else:
            found = channels_last(n, found)
    return [found, *(lasts if n.option("return_state", False) else ())]


def _mask_of_images(n: KerasLayer, mask: Value, rank: int) -> Value:
    """A mask [batch, time] or [batch, time, space ..] as [time, batch, 1, space ..]."""
    steps = _time_first(n, n.cast(mask, i1))
    count = steps.type.rank - 2
    if count not in (0, rank - 3) or (count and is_channels_first(n)):
        raise n.error(f"a mask '{mask.type}' is not supported")
    places = [(steps, i + 2) for i in range(count)] or [1] * (rank - 3)
    return reshape(n, steps, [(steps, 0), (steps, 1), 1, *places])

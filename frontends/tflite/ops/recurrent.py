"""Recurrent networks, whole sequences of them and single steps.

Operators of whole sequences start with states of zeros. Operators of single steps, and SVDF, pass
their state to the next run; see `model`.

Numerics: 8-bit LSTMs and SVDF are computed in integers, other quantized networks in f32. Floats
that are multiplied by 8-bit weights are rounded; see `hybrid`.
"""

from __future__ import annotations

from ...common.recurrent import Product, add, lstm_states
from ...common.vocabulary import *
from ..hybrid import Rounding, rounded, row_product
from ..layer import TfliteLayer, real
from ..rows import ROWS
from .convolution import ranked

Operands = Sequence[Value | None]
_FORGET_WEIGHTS = 2
"""The operand of an LSTM's forget gate weights, which are always present."""
_GATES = "ifgo"


def _needed(n: TfliteLayer, operands: Operands, i: int, what: str) -> Value:
    found = operands[i] if i < len(operands) else None
    if found is None:
        raise n.error(f"input {i}, {what}, is missing")
    return found


def _optional(operands: Operands, i: int) -> Value | None:
    return operands[i] if i < len(operands) else None


def _products(n: TfliteLayer, weights: int) -> tuple[Product, ...]:
    """The products of rounded floats with 8-bit weights, such as operand `weights`; else none."""
    if not n.is_hybrid(0, weights):
        return ()
    multiply = row_product(n, Rounding.asked(n))
    return multiply, multiply, multiply


def _real(n: TfliteLayer, operands: Operands) -> list[Any]:
    return [n.real(i, x) for i, x in enumerate(operands)]


# -- LSTM ------------------------------------------------------------------------------------------


def _lstm_direction(
    n: TfliteLayer, own: Operands, norms: Operands, backward: bool, states: Operands
) -> Direction:
    """A direction, from the weights of inputs and states, peepholes, biases, and a projection.

    An input gate without weights is 1 - the forget gate: the sigmoid of the negated sum.
    """
    coupled = own[0] is None

    def four(first: int, what: str, peepholes: bool = False) -> list[Value | None]:
        places = [first, first + 1, None, first + 2] if peepholes else range(first, first + 4)
        found = [None if i is None else _optional(own, i) for i in places]
        if coupled and found[1] is not None:
            found[0] = n(nn.Neg(found[1]))
        if not peepholes and None in found:
            raise n.error(f"{what} of a gate are missing")
        return found

    inputs, recurrent = four(0, "the weights"), four(4, "the recurrent weights")
    peep, biases = four(8, "", True), four(11, "the biases")
    norm: list[Value | None] = [_optional(norms, i) for i in range(4)]
    if coupled:
        norm[0] = norm[1]
    shrink, shrink_bias = _optional(own, 15), _optional(own, 16)
    normalize = None
    if norm[1] is not None:
        normalize = _normalization(n, dict(zip(_GATES, norm, strict=True)), biases)
    bias = n(nn.Concat(biases, axis=0))
    peepholes = {c: v for c, v in zip(_GATES, peep, strict=True) if v is not None}
    return Direction(
        n,
        swapped(n, n(nn.Concat(inputs, axis=0)), 0, 1),
        swapped(n, n(nn.Concat(recurrent, axis=0)), 0, 1),
        states,
        ["sigmoid", n.activated, n.activated],
        None if normalize else bias,
        backward=backward,
        peepholes={"i": peepholes["f"], **peepholes} if len(peepholes) == 3 else None,
        shrink=None if shrink is None else swapped(n, shrink, 0, 1),
        shrink_bias=shrink_bias,
        normalize=normalize,
        limits=(n.options.cell_clip, n.options.projection_clip),
        products=_products(n, _FORGET_WEIGHTS),
    )


def _normalization(n: TfliteLayer, scales: dict[str, Any], biases: Operands) -> Any:
    """A gate's sum with mean 0 and variance 1, times its scale, and its bias."""
    offsets = dict(zip(_GATES, biases, strict=True))

    def normalize(name: str, x: Value) -> Value:
        offset = offsets[name]
        assert offset is not None
        spread, mean = variance(n, x, (1,), keep=True)
        apart = Term(n, x) - Term(n, mean)
        whole = apart / (Term(n, spread) + 1e-8).function(nn.Sqrt)
        return (whole * Term(n, scales[name]) + Term(n, offset)).value

    return normalize


def by_time(n: TfliteLayer, x: Value, time_major: bool) -> Value:
    """[time, batch, ..] for [batch, time, ..], or back."""
    ranked(n, x, 3, "the input")
    return x if time_major else swapped(n, x, 0, 1)


def _starts_anew(n: TfliteLayer) -> None:
    """Say that the states with which a run ends are not those with which the next one starts."""
    if any(one is not None and one.is_variable for one in n.attributes.inputs):
        n.warn("each run starts with states of zeros; LiteRT keeps them until variables are reset")


@ROWS("UNIDIRECTIONAL_SEQUENCE_LSTM")
@real
def sequence_lstm(n: TfliteLayer, *operands: Value | None) -> Value:
    if n.options.diagonal:
        raise n.error("diagonal recurrent weights are not supported")
    own = _real(n, operands)
    _starts_anew(n)
    x = by_time(n, _needed(n, own, 0, "the sequence"), n.options.time_major)
    direction = _lstm_direction(n, own[1:18], own[20:24], False, (None, None))
    (found,) = lstm(n, x, [direction], order=_GATES)
    return n.quantized(0, by_time(n, found.outputs, n.options.time_major))


@ROWS("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(n: TfliteLayer, *operands: Value | None) -> list[Value]:
    own = _real(n, operands)
    if any(x is not None for x in own[39:]):
        raise n.error("auxiliary inputs are not supported")
    _starts_anew(n)
    x = by_time(n, _needed(n, own, 0, "the sequence"), n.options.time_major)
    directions = [
        _lstm_direction(n, own[first : first + 17], (), first > 1, (None, None))
        for first in (1, 18)
    ]
    return _both(n, lstm(n, x, directions, order=_GATES))


def _both(n: TfliteLayer, outcomes: Sequence[Outcome]) -> list[Value]:
    """The outputs of both directions, as one where they are to be merged."""
    found = [by_time(n, one.outputs, n.options.time_major) for one in outcomes]
    if n.options.merge_outputs:
        found = [n(nn.Concat(found, axis=2))]
    return [n.quantized(i, x) for i, x in enumerate(found)]


@ROWS("LSTM")
def lstm_step(n: TfliteLayer, *operands: Value | None) -> list[Value | None]:
    if n.options.kernel:
        return _basic_lstm(n, *_real(n, operands))
    own = _real(n, operands)
    x = _one_step(n, _needed(n, own, 0, "the input"))
    states = [_optional(own, 18), _optional(own, 19)]
    direction = _lstm_direction(n, own[1:18], own[20:24], False, states)
    (found,) = lstm(n, x, [direction], order=_GATES)
    return [n.quantized(0, _last(n, found)), *_left(n, (18, 19), found.states)]


def _basic_lstm(n: TfliteLayer, x: Value, h: Value, w: Value, b: Value, c: Value) -> list[Any]:
    """An LSTM's step with one matrix for all gates: h, c, and two intermediate results."""
    joined = n(nn.Concat([x, h], axis=1))
    total = n(nn.Add(n(nn.Matmul(joined, swapped(n, w, 0, 1))), b))
    gates = dict(zip("igfo", split_evenly(n, total, 1, 4), strict=True))
    found = [*lstm_states(n, lambda gate, _: gates[gate], c), joined, total]
    return [n.quantized(i, x) for i, x in enumerate(found)]


def _one_step(n: TfliteLayer, x: Value) -> Value:
    ranked(n, x, 2, "the input")
    return reshape(n, x, [1, (x, 0), (x, 1)])


def _last(n: TfliteLayer, found: Outcome) -> Value:
    x = found.outputs
    return reshape(n, x, [(x, 1), (x, 2)])


def _left(n: TfliteLayer, places: Sequence[int], states: Sequence[Value]) -> list[Value]:
    """The new values, for the next run, of those states whose operands are variables."""
    tensors = n.attributes.inputs
    return [
        n.as_operand(place, state)
        for place, state in zip(places, states, strict=True)
        if place < len(tensors) and tensors[place] is not None and tensors[place].is_variable  # type: ignore[union-attr]
    ]


# -- plain recurrence and SVDF ---------------------------------------------------------------------


def _rnn_direction(
    n: TfliteLayer, own: Operands, backward: bool = False, state: Value | None = None
) -> Direction:
    weight, recurrent, bias = (_needed(n, own, i, "a weight") for i in range(3))
    return Direction(
        n,
        swapped(n, weight, 0, 1),
        swapped(n, recurrent, 0, 1),
        [state],
        [n.activated],
        bias,
        backward=backward,
        products=_products(n, 1),
    )


@ROWS("RNN")
def rnn_step(n: TfliteLayer, *operands: Value | None) -> list[Value]:
    own = _real(n, operands)
    x = _one_step(n, _needed(n, own, 0, "the input"))
    (found,) = rnn(n, x, [_rnn_direction(n, own[1:4], state=_optional(own, 4))])
    return [n.quantized(0, _last(n, found)), *_left(n, (4,), found.states)]


@ROWS("UNIDIRECTIONAL_SEQUENCE_RNN")
def sequence_rnn(n: TfliteLayer, *operands: Value | None) -> Value:
    own = _real(n, operands)
    _starts_anew(n)
    x = by_time(n, _needed(n, own, 0, "the sequence"), n.options.time_major)
    (found,) = rnn(n, x, [_rnn_direction(n, own[1:4])])
    return n.quantized(0, by_time(n, found.outputs, n.options.time_major))


@ROWS("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(n: TfliteLayer, *operands: Value | None) -> list[Value]:
    own = _real(n, operands)
    if any(x is not None for x in own[9:]):
        raise n.error("auxiliary inputs are not supported")
    _starts_anew(n)
    x = by_time(n, _needed(n, own, 0, "the sequence"), n.options.time_major)
    directions = [_rnn_direction(n, own[1:4]), _rnn_direction(n, own[5:8], True)]
    return _both(n, rnn(n, x, directions))


@ROWS("SVDF")
@real
def svdf(
    n: TfliteLayer,
    x: Value,
    features: Value,
    times: Value,
    bias: Value | None = None,
    state: Value | None = None,
) -> list[Value]:
    """A filter of the input, then one over time, of the last steps that the state remembers."""
    if n.is_hybrid(0, 1):
        x = rounded(n, x, (-1,), Rounding.asked(n))
    new = Term(n, n(nn.Matmul(x, swapped(n, features, 0, 1))))
    total, left = over_time(n, x, new, Term(n, times), state)
    return [n.activated(add(n, total.value, bias)), *left]


def over_time(
    n: TfliteLayer, x: Value, new: Term, times: Term, state: Value | None
) -> tuple[Term, list[Value]]:
    """The second filter of an SVDF of x [B, ..], over time: (sums [B, units], new states).

    `new` are the first filter's results [B, filters], which replace the oldest ones in the state.
    Products have the element type of `times` [filters, steps].
    """
    rank, (filters, memory) = n.options.rank, times.shape
    if state is None or not rank or not filters or not memory or filters % rank:
        raise n.error(f"weights of shape {shape_text(times.value)} of rank {rank}")
    batch = (x, 0)
    kept = Term(n, state).reshape(batch, filters, memory).part(2, 1, memory)
    line = joined([kept, new.reshape(batch, filters, 1)], 2)
    sums = (line.cast(times.element) * times).sum(2)
    shape = [(state, i) for i in range(state.type.rank)]
    left = _left(n, (4,), [reshape(n, line.value, shape)])
    return sums.reshape(batch, filters // rank, rank).sum(2), left

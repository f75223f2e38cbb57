"""Recurrent networks.

Source: ONNX RNN-22, GRU-22, LSTM-22.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...common import recurrent
from ...common.activations import TAKES_ALPHA, TAKES_BETA
from ...common.recurrent import Activation, with_shape, zero_state
from ...common.terms import Term
from ...common.vocabulary import *
from ..node import A, Node
from ..registry import converter


@converter("RNN")
def rnn(n: Node, x: Value, w: Value, r: Value, b=None, lengths=None, h=None) -> list[Any]:
    net = Network.of(n, x, w, r, b, lengths, [h], gates=1)
    return net.joined(recurrent.rnn(n, net.x, net.directions, lengths), lengths)


@converter("GRU")
def gru(n: Node, x: Value, w: Value, r: Value, b=None, lengths=None, h=None) -> list[Any]:
    net = Network.of(n, x, w, r, b, lengths, [h], gates=3)
    late = bool(n.int("linear_before_reset"))
    outcomes = recurrent.gru(n, net.x, net.directions, lengths, reset_late=late)
    return net.joined(outcomes, lengths)


@converter("LSTM")
def lstm(
    n: Node, x: Value, w: Value, r: Value, b=None, lengths=None, h=None, c=None, p=None
) -> list[Any]:
    return lstm_with(n, None, x, w, r, b, lengths, h, c, p)


def lstm_with(
    n: Node, prepare: Callable[[int, Direction], None] | None, x: Value, w, r, b, lengths, h, c, p
) -> list[Any]:
    """An LSTM whose directions are modified by `prepare(number, direction)` before use."""
    net = Network.of(n, x, w, r, b, lengths, [h, c], gates=4)
    for number, d in enumerate(net.directions if prepare is not None else ()):
        prepare(number, d)  # type: ignore[misc]
    count = len(net.directions)
    p = _with_shape(n, "P", p, count, 3 * net.hidden)
    if p is not None:
        for d, own in zip(net.directions, _per_direction(n, p, count), strict=True):
            d.peepholes = dict(zip("iof", split_into(n, own, 0, [net.hidden] * 3), strict=True))
    coupled = bool(n.int("input_forget"))
    outcomes = recurrent.lstm(n, net.x, net.directions, lengths, coupled=coupled)
    return net.joined(outcomes, lengths)


@dataclass
class Network:
    """The common parts of the three networks: inputs [time, batch, input] and directions."""

    n: Node
    x: Value
    directions: list[Direction]
    hidden: int
    batch_first: bool

    @staticmethod
    def of(n: Node, x: Value, w, r, b, lengths, states: list, gates: int) -> Network:
        """The network of a node. Raises NncError if the shapes are unknown or do not fit."""
        batch_first = bool(n.int("layout"))
        if batch_first:
            x = n(nn.Transpose(x, permutation=(1, 0, 2)))
            states = [
                None if s is None else n(nn.Transpose(s, permutation=(1, 0, 2))) for s in states
            ]
        names = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        if n.has("direction"):  # the default in the schema of GRU-1 is misspelt
            backward = names[n.string("direction", choices=tuple(names))]
        else:
            backward = names["forward"]
        hidden = n.int("hidden_size")
        x = _with_batch_of(n, x, states)
        _steps, batch, size = _shape_of_input(n, x, "X")
        count = len(backward)
        w = _with_shape(n, "W", w, count, gates * hidden, size)
        r = _with_shape(n, "R", r, count, gates * hidden, hidden)
        b = _with_shape(n, "B", b, count, 2 * gates * hidden)
        _check_shape(n, "sequence_lens", lengths, batch)
        states = [
            _with_shape(n, name, state, count, batch, hidden)
            for name, state in zip(("initial_h", "initial_c"), states, strict=False)
        ]
        zeros = zero_state(n, x, hidden)
        given = [None if s is None else _per_direction(n, s, count) for s in states]
        net = Network(n, x, [], hidden, batch_first)
        for d in range(count):
            first = [zeros if s is None else s[d] for s in given]
            net.directions.append(_direction(n, d, backward, (w, r, b), first, gates * hidden))
        return net

    def joined(self, outcomes: list[Outcome], lengths: Value | None) -> list[Any]:
        """All outputs: every step's state, and the last states.

        Those of sequences without a step are zeros, not the given first states.
        Source: ONNX Runtime 1.32, `core/providers/cpu/rnn`; the text does not say.
        """
        n = self.n
        whole = stacked(n, [one.outputs for one in outcomes], 1)
        final = [stacked(n, s, 0) for s in zip(*(one.states for one in outcomes), strict=True)]
        known = None if lengths is None else n.known(lengths)
        if lengths is not None and (known is None or not known.all()):
            any_step = (Term(n, lengths) > 0).reshape(1, (lengths, 0), 1)
            final = [any_step.choose(Term(n, f), 0.0).value for f in final]
        if self.batch_first:
            whole = n(nn.Transpose(whole, permutation=(2, 0, 1, 3)))
            final = [n(nn.Transpose(f, permutation=(1, 0, 2))) for f in final]
        return [whole, *final]


def _per_direction(n: Node, value: Value, count: int) -> list[Value]:
    """The slices of a value whose first dimension is the directions."""
    parts = split_into(n, value, 0, [1] * count)
    return [reshape(n, p, [(p, i) for i in range(1, p.type.rank)]) for p in parts]


def _direction(n: Node, d: int, backward, weights, states: list[Value], width: int) -> Direction:
    *matrices, b = weights
    count = len(backward)
    projection, recurrent = (
        n(nn.Transpose(_per_direction(n, m, count)[d], permutation=(1, 0))) for m in matrices
    )
    biases = None
    if b is not None:
        of_input, own = split_into(n, _per_direction(n, b, count)[d], 0, [width] * 2)
        biases = of_input, own
    clip = n.float("clip") if n.has("clip") else None
    if clip is not None and not clip > 0:
        raise n.error(f"attribute 'clip' is {clip:g}, expected a positive number")
    functions = activations(n, d)
    return Direction(n, projection, recurrent, states, functions, biases, backward[d], clip)


def _check_shape(n: Node, name: str, value: Value | None, *shape: Dim) -> None:
    """Raise NncError if a shape differs from the expected one; unknown extents fit any."""
    if value is None:
        return
    found = value.type.shape
    if len(found) != len(shape) or any(
        a is not None and b is not None and a != b for a, b in zip(found, shape, strict=True)
    ):
        expected = ", ".join("?" if d is None else str(d) for d in shape)
        raise n.error(f"input '{name}' has shape {shape_text(value)}, expected [{expected}]")


def _with_shape(n: Node, name: str, value: Value | None, *shape: Dim) -> Any:
    """The value typed with its expected extents, checked as by `_check_shape`, or at run time.

    At most one of them is unknown.
    """
    _check_shape(n, name, value, *shape)
    return None if value is None else with_shape(n, value, *shape)


def _with_batch_of(n: Node, x: Value, states: Sequence[Value | None]) -> Value:
    """The input typed with the batch of its first states, checked at run time if it is unknown."""
    given = (s.type.shape[1] for s in states if s is not None and s.type.rank == 3)
    batch = next((d for d in given if d is not None), None)
    if batch is None or x.type.rank != 3 or x.type.shape[1] is not None:
        return x
    fits = n(nn.Equal(extent(n, (x, 1)).value, n.constant(batch, i64)))
    x = n(nn.Assume(x, fits, f"its initial states have a batch of {batch}, its input another"))
    return with_shape(n, x, None, batch, None)


def _shape_of_input(n: Node, x: Value, name: str) -> tuple[Dim, ...]:
    if x.type.rank != 3:
        raise n.error(f"input '{name}' is '{x.type}', expected rank 3")
    return x.type.shape


# -- activations -------------------------------------------------------------------------------

_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def activations(n: Node, direction: int) -> list[Activation]:
    """The activation functions of a direction.

    The lists of alphas and betas have an entry only for functions that take one.
    """
    defaults = _DEFAULTS[n.op_type.removeprefix("DynamicQuantize")]
    # The schema of RNN has the default for two directions.
    given = n.attribute("activations", A.STRINGS) if n.has("activations") else None
    directions = 2 if n.string("direction", "forward") == "bidirectional" else 1
    names = [v.decode("utf-8", "replace") for v in given or ()] or defaults * directions
    if len(names) != len(defaults) * directions:
        raise n.error(f"{len(names)} activations, expected {len(defaults) * directions}")
    alphas, betas = (list(n.floats(f"activation_{one}") or ()) for one in ("alpha", "beta"))
    found: list[Activation] = []
    for name in names:
        alpha = alphas.pop(0) if name.lower() in TAKES_ALPHA and alphas else None
        beta = betas.pop(0) if name.lower() in TAKES_BETA and betas else None
        found.append(lambda x, name=name, a=alpha, b=beta: activation(n, name, x, a, b))
    count = len(defaults)
    return found[direction * count : (direction + 1) * count]

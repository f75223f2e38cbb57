"""Recurrent networks: one copy of the cell for every time step and direction, or a loop.

Source: ONNX RNN-22, GRU-22, LSTM-22; formats differ in the order of their gates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from ...dialects.nn.views import is_reshape
from .activations import activation, clipped
from .loops import Iteration, mirrored, while_loop
from .movement import column, concat, reversed_axes, split_into, stacked
from .words import *

MOST_UNROLLED = 32
"""The most time steps (of all directions together) that are unrolled; more, or an unknown number,
become a loop."""

Activation = Callable[[Value], Value]
Product = Callable[[Value, Value], Value]
_LSTM = ("sigmoid", "tanh", "tanh")
Step = Callable[[list[Value], Value], list[Value]]
Cells = Callable[..., list["Outcome"]]
"""`rnn`, `gru` or `lstm`, with the order of gates that a format has."""
Masked = Callable[[list[Value], list[Value], Value], tuple[list[Value], Value]]
"""(states before step t, states after it, t) -> (states to go on with, output)."""


@dataclass
class Direction:
    """One direction of a network: its weights W, for products x W, and its options."""

    n: Layer
    projection: Value
    """The weights of the inputs: [input, gates * hidden]."""
    recurrent: Value
    """The weights of the states: [output, gates * hidden]. An output has `hidden` elements, unless
    `shrink` projects it."""
    states: Sequence[Value | None] = (None, None)
    """The states before the first step: [batch, output], and for an LSTM also [batch, hidden]. None
    stands for zeros."""
    activations: Sequence[Activation | str] = ()
    """Functions, or names of them; by default sigmoids of gates, and tanh."""
    biases: tuple[Value, Value] | Value | None = None
    """The biases of the input products and of the state products; or a single value with their sum,
    added to the input products."""
    backward: bool = False
    clip: float | None = None
    peepholes: dict[str, Value] | None = None
    """The peephole weights of an LSTM's gates i, o and f: [hidden]."""
    products: tuple[Product, ...] = ()
    """The functions that multiply inputs, states, and outputs to project by their weights, in this
    order; `nn.matmul` for those that are left out.
    """
    shrink: Value | None = None
    """The weights of the projection of an LSTM's outputs: [hidden, output]."""
    normalize: Callable[[str, Value], Value] | None = None
    """(letter of an LSTM's gate, its sum) -> what enters the gate's activation."""
    limits: tuple[float, float] = (0, 0)
    """The clipping limits of an LSTM's cell states and of its projected outputs; 0 for none."""
    shrink_bias: Value | None = None

    @property
    def bias(self) -> Value | None:
        """The sum of both biases, or None."""
        return add(self.n, *self.biases) if isinstance(self.biases, tuple) else self.biases

    def functions(self, *default: str) -> list[Activation]:
        """The activations, by default those of these names."""
        return [
            partial(activation, self.n, one) if isinstance(one, str) else one
            for one in self.activations or default
        ]

    def begun(self, x: Value, gates: int) -> list[Value]:
        """The states before the first step, for inputs [time, batch, input].

        Raises NncError if a state is left out (so zeros) and the weights' extents are not known.
        """
        found = []
        for i, state in enumerate(self.states[: 2 if gates == 4 else 1]):
            if state is None:  # of outputs, and of an LSTM's cells
                size = self.n.extent(self.recurrent, i) // (gates if i else 1)
                state = zero_state(self.n, x, size)
            found.append(state)
        return found

    def projected(self, x: Value) -> Value:
        """The product of inputs and the input weights W."""
        return self._product(0, x, self.projection)

    def carried(self, h: Value) -> Value:
        """The product of states and the recurrent weights R."""
        return self._product(1, h, self.recurrent)

    def shrunk(self, h: Value) -> Value:
        """The projection of an LSTM's outputs."""
        assert self.shrink is not None
        return add(self.n, self._product(2, h, self.shrink), self.shrink_bias)

    def _product(self, which: int, x: Value, weight: Value) -> Value:
        if which < len(self.products):
            return self.products[which](x, weight)
        return self.n(nn.Matmul(x, weight))

    def clipped(self, x: Value) -> Value:
        """x clipped before it enters an activation, if the network has a clip."""
        return x if self.clip is None else clipped(self.n, x, -self.clip, self.clip)

    def gates(self, x: Value, order: str, axis: int = 1) -> dict[str, Value]:
        """The parts of x by gate; they lie side by side along `axis`, in this order."""
        size = self.recurrent.type.shape[1] // len(order)
        return dict(zip(order, split_into(self.n, x, axis, [size] * len(order)), strict=True))


@dataclass
class Outcome:
    """What a direction gives: all steps' outputs [time, batch, output], and its last states."""

    outputs: Value
    states: list[Value]


def add(n: Layer, *terms: Value | None) -> Value:
    """The sum of the terms that are not None."""
    there = [term for term in terms if term is not None]
    total = there[0]
    for term in there[1:]:
        total = n(nn.Add(total, term))
    return total


def zero_state(n: Layer, x: Value, hidden: int) -> Value:
    """Zeros [batch, hidden] for inputs [time, batch, input]."""
    batch = x.type.shape[1]
    return broadcast(n, n.scalar(0, x), [(x, 1) if batch is None else batch, hidden])


def needed_lengths(n: Layer, lengths: Value | None, steps: Dim) -> Value | None:
    """The sequences' lengths as a column [batch, 1]; None if all are known to be full."""
    if lengths is None:
        return None
    known = n.known(lengths)
    if known is not None and steps is not None and (np.asarray(known) >= steps).all():
        return None
    return reshape(n, as_i64(n, lengths), [(lengths, 0), 1])


# -- cells -----------------------------------------------------------------------------------------


def rnn(n: Layer, x: Value, directions: Sequence[Direction], lengths=None) -> list[Outcome]:
    """Plain recurrence of inputs [time, batch, input]: the state is f(x W + h R + b)."""

    def cell(d: Direction) -> Step:
        (f,) = d.functions("tanh")

        def step(state: list[Value], projected: Value) -> list[Value]:
            recurrent = d.carried(state[0])
            return [f(d.clipped(add(n, projected, recurrent)))]

        return step

    return _run(n, x, directions, [(cell(d), d.bias) for d in directions], lengths, 1)


def gru(
    n: Layer,
    x: Value,
    directions: Sequence[Direction],
    lengths: Value | Masked | None = None,
    *,
    order: str = "zrn",
    reset_late: bool = True,
) -> list[Outcome]:
    """Gated recurrence: n' = g(x Wn + r * (h Rn)), and the state is (1 - z) n' + z h.

    `order` is the order of the gates in the weights; without `reset_late`, (r * h) Rn replaces r *
    (h Rn).
    """
    cells = [_gru_cell(n, d, order, reset_late) for d in directions]
    return _run(n, x, directions, cells, lengths, 3)


def _gru_cell(n: Layer, d: Direction, order: str, late: bool) -> tuple[Step, Value | None]:
    f, g = d.functions("sigmoid", "tanh")
    parts_of = d.gates(d.recurrent, order)
    outer_order = order.replace("n", "")
    outer = n(nn.Concat([parts_of[c] for c in outer_order], axis=1))
    own: dict[str, Value] = {}
    bias = d.bias
    if isinstance(d.biases, tuple):
        of_input, own = (d.gates(b, order, 0) for b in d.biases)
        if late:  # all but what the reset gate scales
            sums = [of_input[c] if c == "n" else add(n, of_input[c], own[c]) for c in order]
            bias = n(nn.Concat(sums, axis=0))

    def step(state: list[Value], projected: Value) -> list[Value]:
        (h,) = state
        parts = d.gates(projected, order)
        if late:
            products = d.gates(d.carried(h), order)
        else:
            halves = split_into(n, n(nn.Matmul(h, outer)), 1, [h.type.shape[1]] * 2)
            products = dict(zip(outer_order, halves, strict=True))
        z, r = (f(d.clipped(add(n, parts[c], products[c]))) for c in "zr")
        if late:
            inner = n(nn.Mul(r, add(n, products["n"], own.get("n"))))
        else:
            inner = n(nn.Matmul(n(nn.Mul(r, h)), parts_of["n"]))
        return [gru_state(n, z, g(d.clipped(add(n, parts["n"], inner))), h)]

    return step, bias


def gru_state(n: Layer, z: Value, new: Value, h: Value) -> Value:
    """(1 - z) * new + z * h: the next state, mixed by the gate z of a new one and the last one."""
    return add(n, new, n(nn.Mul(z, n(nn.Sub(h, new)))))


def lstm(
    n: Layer,
    x: Value,
    directions: Sequence[Direction],
    lengths: Value | Masked | None = None,
    *,
    order: str = "iofg",
    coupled: bool = False,
) -> list[Outcome]:
    """Long short-term memory: c' = f * c + i * g, h' = o * tanh(c').

    `order` is the order of the gates in the weights; with `coupled`, f is 1 - i.
    """
    cells = [(_lstm_cell(n, d, order, coupled), d.bias) for d in directions]
    return _run(n, x, directions, cells, lengths, 4)


def _lstm_cell(n: Layer, d: Direction, order: str, coupled: bool) -> Step:
    functions = d.functions(*_LSTM)

    def step(state: list[Value], projected: Value) -> list[Value]:
        h, c = state
        gates = d.gates(add(n, projected, d.carried(h)), order)

        def gate(name: str, cell_state: Value) -> Value:
            sum = gates[name]
            if d.peepholes is not None and name in d.peepholes:
                sum = add(n, sum, n(nn.Mul(d.peepholes[name], cell_state)))
            return d.clipped(sum if d.normalize is None else d.normalize(name, sum))

        h, c = lstm_states(n, gate, c, functions, coupled=coupled, limit=d.limits[0])
        if d.shrink is not None:
            h = _limited(n, d.shrunk(h), d.limits[1])
        return [h, c]

    return step


def lstm_states(
    n: Layer,
    gate: Callable[[str, Value], Value],
    c: Value,
    functions: Sequence[Activation] = (),
    *,
    coupled: bool = False,
    limit: float = 0,
) -> tuple[Value, Value]:
    """The output and the cell state after a step.

    `gate(letter, cell state)` gives the input of a gate's activation. `limit` is the largest
    absolute value of cell states, 0 for none.
    """
    f, g, last = functions or [partial(activation, n, name) for name in _LSTM]
    i = f(gate("i", c))
    forget = n(nn.Sub(n.scalar(1, i), i)) if coupled else f(gate("f", c))
    new = n(nn.Mul(i, g(gate("g", c))))
    c = _limited(n, add(n, n(nn.Mul(forget, c)), new), limit)
    return n(nn.Mul(f(gate("o", c)), last(c))), c


def _limited(n: Layer, x: Value, limit: float) -> Value:
    return clipped(n, x, -limit, limit) if limit else x


# -- layers ----------------------------------------------------------------------------------------


def layers(
    n: Layer,
    x: Value,
    states: Sequence[Value | None],
    cells: Cells,
    direction: Callable[[int], Direction],
    count: int,
    both: bool,
    lengths: Value | None = None,
) -> tuple[Value, list[Value]]:
    """The outputs of the last of `count` stacked networks, and the last states of all of them.

    `direction` makes a direction by its index; the directions of a network follow each other. The
    first and the last states are [directions, batch, hidden].
    """
    each, lasts = 2 if both else 1, []
    for first in range(0, count * each, each):
        directions = []
        for at in range(first, first + each):
            own = [None if s is None else column(n, s, 0, at) for s in states]
            directions.append(replace(direction(at), states=own, backward=at > first))
        outcomes = cells(n, x, directions, lengths)
        x = concat(n, [one.outputs for one in outcomes], 2)
        lasts += [one.states for one in outcomes]
    return x, [stacked(n, one, 0) for one in zip(*lasts, strict=True)]


# -- steps -----------------------------------------------------------------------------------------


def _run(
    n: Layer,
    x: Value,
    directions: Sequence[Direction],
    cells: Sequence[tuple[Step, Value | None]],
    lengths: Value | Masked | None,
    gates: int,
) -> list[Outcome]:
    count = x.type.shape[0]
    run = _loop if not count or count * len(directions) > MOST_UNROLLED else _unrolled
    own = None if callable(lengths) else needed_lengths(n, lengths, count)
    masked = lengths if callable(lengths) else partial(_masked, n, own)
    outcomes = []
    for d, (step, bias) in zip(directions, cells, strict=True):
        # One product for the inputs of all steps.
        projected = add(n, d.projected(x), bias)
        outcomes.append(run(n, d.begun(x, gates), d.backward, step, projected, masked))
    return outcomes


def _unrolled(
    n: Layer, state: list[Value], backward: bool, step: Step, projected: Value, masked: Masked
) -> Outcome:
    count = projected.type.shape[0]
    parts = split_into(n, projected, 0, [1] * count)
    sequence = list(parts)
    for t in reversed(range(count)) if backward else range(count):
        part = reshape(n, parts[t], [(parts[t], 1), (parts[t], 2)])
        state, out = masked(state, step(state, part), n.constant(t, i64))
        sequence[t] = reshape(n, out, [1, (out, 0), (out, 1)])
    whole = sequence[0] if count == 1 else n(nn.Concat(sequence, axis=0))
    return Outcome(whole, state)


def _loop(
    n: Layer, state: list[Value], backward: bool, step: Step, projected: Value, masked: Masked
) -> Outcome:
    """`_unrolled` as a loop, whose outputs of all steps are one tensor."""
    count = extent(n, (projected, 0)).value

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        t = mirrored(n, number, count) if backward else number
        kept, output = masked(states, step(states, n(nn.Gather(projected, t))), t)
        return Iteration(kept, [output])

    states, (sequence,) = while_loop(n, iteration, state, count)
    return Outcome(reversed_axes(n, sequence, [0]) if backward else sequence, states)


def _masked(
    n: Layer, lengths: Value | None, state: list[Value], new: list[Value], t: Value
) -> tuple[list[Value], Value]:
    """The states and the output after step t.

    After the end of its sequence, an example keeps its state and gives zeros.
    """
    if lengths is None:
        return new, new[0]
    inside = n(nn.Less(t, lengths))
    kept = [n(nn.Where(inside, a, b)) for a, b in zip(new, state, strict=True)]
    return kept, n(nn.Where(inside, new[0], n.scalar(0, new[0])))


def with_shape(n: Layer, value: Value, *shape: Dim) -> Value:
    """The value, with extents of `shape` in its type where those are unknown there."""
    merged = tuple(b if a is None else a for a, b in zip(value.type.shape, shape, strict=True))
    if merged == value.type.shape:
        return value
    if is_reshape(value.type.shape, merged):
        return n(nn.Reshape(value, out=TensorType(merged, value.type.element_type)))
    return reshape(n, value, [(value, i) if d is None else d for i, d in enumerate(merged)])


def masked_steps(n: Layer, counts: Value, zeros: bool, backward: bool, started: bool) -> Masked:
    """A function that handles steps that do not count; `counts` [time, batch, ..] says which do.

    Such steps keep the states. Their outputs are zeros if `zeros`, else those of the step before,
    or zeros if no step has counted yet. `started` says that the first states may be other than
    zeros.
    """
    seen = counts
    if started and not zeros:
        numbers = n(nn.Cumsum(n.cast(counts, i64), axis=0, reverse=backward))
        seen = n(nn.Greater(numbers, n.scalar(0, numbers)))

    def chosen(state: list[Value], new: list[Value], t: Value) -> tuple[list[Value], Value]:
        now = n(nn.Gather(counts, t))
        kept = [n(nn.Where(now, a, b)) for a, b in zip(new, state, strict=True)]
        if not zeros and not started:
            return kept, kept[0]
        some = now if zeros else n(nn.Gather(seen, t))
        return kept, n(nn.Where(some, kept[0], n.scalar(0, kept[0])))

    return chosen

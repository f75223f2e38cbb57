"""Recurrent networks: one copy of the cell for every time step and direction, or a loop.

Source: ONNX RNN-22, GRU-22, LSTM-22.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Dim, TensorType, i64
from ...common.loops import Iteration, extent, mirrored, reversed_along, while_loop
from ...common.shapes import as_i64, broadcast, reshape, shape_text
from ..node import A, Node
from ..registry import converter
from .movement import split_into

MOST_UNROLLED = 32
"""Time steps of all directions that are unrolled; more, or an unknown number, are a loop."""

Activation = Callable[[Value], Value]
Step = Callable[[list[Value], Value], list[Value]]


@converter("RNN")
def rnn(n: Node, x: Value, w: Value, r: Value, b=None, lengths=None, h=None) -> list[Any]:
    net = Network.of(n, x, w, r, b, lengths, [h], gates=1)

    def cell(d: Direction) -> Step:
        (f,) = d.activations

        def step(state: list[Value], projected: Value) -> list[Value]:
            recurrent = n(nn.Matmul(state[0], d.recurrent))
            return [f(d.clipped(add(n, projected, recurrent)))]

        return step

    return net.run(cell, lambda d: d.bias)


@converter("GRU")
def gru(n: Node, x: Value, w: Value, r: Value, b=None, lengths=None, h=None) -> list[Any]:
    net = Network.of(n, x, w, r, b, lengths, [h], gates=3)
    reset_late = bool(n.int("linear_before_reset"))

    def cell(d: Direction) -> Step:
        f, g = d.activations
        whole, split = d.recurrent, split_into(n, d.recurrent, 1, [net.hidden] * 3)
        outer = n(nn.Concat(split[:2], axis=1))
        own: list[Value | None] = [None] * 3
        if d.separate_biases is not None:
            own = [*split_into(n, d.separate_biases[1], 0, [net.hidden] * 3)]

        def step(state: list[Value], projected: Value) -> list[Value]:
            (h,) = state
            parts = split_into(n, projected, 1, [net.hidden] * 3)
            if reset_late:
                products = split_into(n, n(nn.Matmul(h, whole)), 1, [net.hidden] * 3)
            else:
                products = split_into(n, n(nn.Matmul(h, outer)), 1, [net.hidden] * 2)
            z = f(d.clipped(add(n, parts[0], products[0])))
            r = f(d.clipped(add(n, parts[1], products[1])))
            if reset_late:
                inner = n(nn.Mul(r, add(n, products[2], own[2])))
            else:
                inner = n(nn.Matmul(n(nn.Mul(r, h)), split[2]))
            new = g(d.clipped(add(n, parts[2], inner)))
            # (1 - z) * new + z * h
            return [add(n, new, n(nn.Mul(z, n(nn.Sub(h, new)))))]

        return step

    def bias(d: Direction) -> Value | None:
        """What is added to the inputs' products: all but what the reset gate scales."""
        if d.separate_biases is None or not reset_late:
            return d.bias
        of_input, own = (split_into(n, b, 0, [net.hidden] * 3) for b in d.separate_biases)
        outer = [add(n, *pair) for pair in zip(of_input[:2], own[:2], strict=True)]
        return n(nn.Concat([*outer, of_input[2]], axis=0))

    return net.run(cell, bias)


@converter("LSTM")
def lstm(
    n: Node, x: Value, w: Value, r: Value, b=None, lengths=None, h=None, c=None, p=None
) -> list[Any]:
    net = Network.of(n, x, w, r, b, lengths, [h, c], gates=4)
    coupled = bool(n.int("input_forget"))
    p = _with_shape(n, "P", p, len(net.directions), 3 * net.hidden)
    peepholes = None if p is None else net.per_direction(p)

    def cell(d: Direction) -> Step:
        f, g, last = d.activations
        peep: list[Value] | None = None
        if peepholes is not None:
            peep = split_into(n, peepholes[d.index], 0, [net.hidden] * 3)

        def step(state: list[Value], projected: Value) -> list[Value]:
            h, c = state
            total = add(n, projected, n(nn.Matmul(h, d.recurrent)))
            i, o, forget, new = split_into(n, total, 1, [net.hidden] * 4)

            def looking(gate: Value, at: int, cell_state: Value) -> Value:
                return gate if peep is None else add(n, gate, n(nn.Mul(peep[at], cell_state)))

            i = f(d.clipped(looking(i, 0, c)))
            if coupled:
                forget = n(nn.Sub(n.scalar(1, i), i))
            else:
                forget = f(d.clipped(looking(forget, 2, c)))
            c = add(n, n(nn.Mul(forget, c)), n(nn.Mul(i, g(d.clipped(new)))))
            o = f(d.clipped(looking(o, 1, c)))
            return [n(nn.Mul(o, last(c))), c]

        return step

    return net.run(cell, lambda d: d.bias)


def add(n: Node, *terms: Value | None) -> Value:
    """The sum of the terms that are there."""
    there = [term for term in terms if term is not None]
    total = there[0]
    for term in there[1:]:
        total = n(nn.Add(total, term))
    return total


@dataclass
class Direction:
    """One direction's weights, transposed for products from the right."""

    n: Node
    index: int
    backward: bool
    projection: Value
    recurrent: Value
    separate_biases: tuple[Value, Value] | None
    """What is added to the products of inputs, and of states."""
    activations: list[Activation]
    clip: float | None

    @property
    def bias(self) -> Value | None:
        return None if self.separate_biases is None else add(self.n, *self.separate_biases)

    def clipped(self, x: Value) -> Value:
        """What enters an activation, limited if the node asks for it."""
        if self.clip is None:
            return x
        return self.n(nn.Clip(x, self.n.scalar(-self.clip, x), self.n.scalar(self.clip, x)))


@dataclass
class Network:
    """What the three have in common: steps, directions, states and lengths."""

    n: Node
    x: Value  # [time, batch, input]
    directions: list[Direction]
    states: list[list[Value]]  # for each direction
    lengths: Value | None
    count: int  # of directions
    hidden: int
    batch_first: bool

    @staticmethod
    def of(n: Node, x: Value, w, r, b, lengths, states: list, gates: int) -> Network:
        """Raises NncError where the shapes are not known or do not fit."""
        batch_first = bool(n.int("layout"))
        if batch_first:
            x = n(nn.Transpose(x, permutation=(1, 0, 2)))
            swap = [
                None if s is None else n(nn.Transpose(s, permutation=(1, 0, 2))) for s in states
            ]
            states = swap
        names = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        backward = names[n.string("direction", "forward", tuple(names))]
        hidden = n.int("hidden_size")
        steps, batch, size = _shape_of_input(n, x, "X")
        count = len(backward)
        w = _with_shape(n, "W", w, count, gates * hidden, size)
        r = _with_shape(n, "R", r, count, gates * hidden, hidden)
        b = _with_shape(n, "B", b, count, 2 * gates * hidden)
        _check_shape(n, "sequence_lens", lengths, batch)
        states = [
            _with_shape(n, name, state, count, batch, hidden)
            for name, state in zip(("initial_h", "initial_c"), states, strict=False)
        ]
        needed = _needed_lengths(n, lengths, steps)
        net = Network(n, x, [], [], needed, count, hidden, batch_first)
        zeros = broadcast(n, n.scalar(0, x), [(x, 1) if batch is None else batch, hidden])
        given = [None if s is None else net.per_direction(s) for s in states]
        for d in range(count):
            net.states.append([zeros if s is None else s[d] for s in given])
            net.directions.append(net._direction(d, backward[d], w, r, b, gates))
        return net

    def per_direction(self, value: Value) -> list[Value]:
        """The parts of a value whose first dimension counts directions."""
        parts = split_into(self.n, value, 0, [1] * self.count)
        return [reshape(self.n, p, [(p, i) for i in range(1, p.type.rank)]) for p in parts]

    def _direction(self, d: int, backward: bool, w, r, b, gates: int) -> Direction:
        n, width = self.n, gates * self.hidden
        projection, recurrent = (
            n(nn.Transpose(self.per_direction(v)[d], permutation=(1, 0))) for v in (w, r)
        )
        biases = None
        if b is not None:
            of_input, own = split_into(n, self.per_direction(b)[d], 0, [width] * 2)
            biases = of_input, own
        clip = n.float("clip") if n.has("clip") else None
        functions = activations(n, d)
        return Direction(n, d, backward, projection, recurrent, biases, functions, clip)

    def run(
        self, cell: Callable[[Direction], Step], bias: Callable[[Direction], Value | None]
    ) -> list[Any]:
        """All outputs: every step's state, and the last states."""
        n, outputs, lasts = self.n, [], []
        steps = self.x.type.shape[0]
        is_loop = not steps or steps * len(self.directions) > MOST_UNROLLED
        run = self._loop_direction if is_loop else self._unroll_direction
        for d in self.directions:
            sequence, last = run(d, cell(d), bias(d))
            outputs.append(sequence)
            lasts.append(last)
        if is_loop:  # [time, batch, hidden] of each direction
            parts = [reshape(n, h, [(h, 0), 1, (h, 1), (h, 2)]) for h in outputs]
            whole = parts[0] if len(parts) == 1 else n(nn.Concat(parts, axis=1))
        else:
            whole = self._joined(outputs)
        final = []
        for states in zip(*lasts, strict=True):
            rows = [reshape(n, s, [1, (s, 0), (s, 1)]) for s in states]
            final.append(rows[0] if len(rows) == 1 else n(nn.Concat(rows, axis=0)))
        if self.batch_first:
            whole = n(nn.Transpose(whole, permutation=(2, 0, 1, 3)))
            final = [n(nn.Transpose(f, permutation=(1, 0, 2))) for f in final]
        return [whole, *final]

    def _unroll_direction(
        self, d: Direction, step: Step, bias: Value | None
    ) -> tuple[list[Value], list[Value]]:
        n = self.n
        count = self.x.type.shape[0]
        projected = split_into(n, self._projected(d, bias), 0, [1] * count)
        state = self.states[d.index]
        sequence: list[Value] = [state[0]] * count
        for t in reversed(range(count)) if d.backward else range(count):
            part = reshape(n, projected[t], [(projected[t], 1), (projected[t], 2)])
            new = step(state, part)
            state, sequence[t] = self._masked(state, new, n.constant(t, i64))
        return sequence, state

    def _loop_direction(
        self, d: Direction, step: Step, bias: Value | None
    ) -> tuple[Value, list[Value]]:
        """The same as a loop; the outputs of all steps are one tensor."""
        n, projected = self.n, self._projected(d, bias)
        count = extent(n, self.x, 0)

        def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
            t = mirrored(n, number, count) if d.backward else number
            new = step(states, n(nn.Gather(projected, t)))
            kept, output = self._masked(states, new, t)
            return Iteration(kept, [output])

        states, (sequence,) = while_loop(n, iteration, self.states[d.index], count)
        return reversed_along(n, sequence, 0) if d.backward else sequence, states

    def _projected(self, d: Direction, bias: Value | None) -> Value:
        """One product for the inputs of all steps."""
        return add(self.n, self.n(nn.Matmul(self.x, d.projection)), bias)

    def _masked(self, state: list[Value], new: list[Value], t: Value) -> tuple[list[Value], Value]:
        """The states and the output after step t.

        Behind the end of its sequence, an example keeps its state and gives zeros.
        """
        n = self.n
        if self.lengths is None:
            return new, new[0]
        inside = n(nn.Less(t, self.lengths))
        kept = [n(nn.Where(inside, a, b)) for a, b in zip(new, state, strict=True)]
        return kept, n(nn.Where(inside, new[0], n.scalar(0, new[0])))

    def _joined(self, outputs: list[list[Value]]) -> Value:
        """The outputs of single steps, by direction, as one tensor."""
        n, steps = self.n, []
        for at in zip(*outputs, strict=True):
            rows = [reshape(n, h, [1, 1, (h, 0), (h, 1)]) for h in at]
            steps.append(rows[0] if len(rows) == 1 else n(nn.Concat(rows, axis=1)))
        return steps[0] if len(steps) == 1 else n(nn.Concat(steps, axis=0))


def _check_shape(n: Node, name: str, value: Value | None, *shape: Dim) -> None:
    """Raises NncError where a shape cannot be the one expected; unknown extents fit any."""
    if value is None:
        return
    found = value.type.shape
    if len(found) != len(shape) or any(
        a is not None and b is not None and a != b for a, b in zip(found, shape, strict=True)
    ):
        expected = ", ".join("?" if d is None else str(d) for d in shape)
        raise n.error(f"input '{name}' has shape {shape_text(value)}, expected [{expected}]")


def _with_shape(n: Node, name: str, value: Value | None, *shape: Dim) -> Any:
    """The value with the extents that it must have, checked as `_check_shape` does or at run time.

    At most one of them is unknown.
    """
    _check_shape(n, name, value, *shape)
    if value is None or all(
        a is not None or b is None for a, b in zip(value.type.shape, shape, strict=True)
    ):
        return value
    merged = (b if a is None else a for a, b in zip(value.type.shape, shape, strict=True))
    return n(nn.Reshape(value, out=TensorType(tuple(merged), value.type.element_type)))


def _shape_of_input(n: Node, x: Value, name: str) -> tuple[Dim, ...]:
    if x.type.rank != 3:
        raise n.error(f"input '{name}' is '{x.type}', expected rank 3")
    return x.type.shape


def _needed_lengths(n: Node, lengths: Value | None, steps: Dim) -> Value | None:
    """The sequences' lengths as a column, unless all are full."""
    if lengths is None:
        return None
    known = n.known(lengths)
    if known is not None and steps is not None and (np.asarray(known) >= steps).all():
        return None
    return reshape(n, as_i64(n, lengths), [(lengths, 0), 1])


# -- activations -------------------------------------------------------------------------------

_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}

# Default alpha and beta, and the function of (node, x, alpha, beta).
_FUNCTIONS: dict[str, tuple[float, float, Callable[..., Value]]] = {
    "relu": (0, 0, lambda n, x, a, b: n(nn.Relu(x))),
    "tanh": (0, 0, lambda n, x, a, b: n(nn.Tanh(x))),
    "sigmoid": (0, 0, lambda n, x, a, b: n(nn.Sigmoid(x))),
    "softsign": (0, 0, lambda n, x, a, b: n(nn.Softsign(x))),
    "softplus": (0, 0, lambda n, x, a, b: n(nn.Softplus(x))),
    "elu": (1.0, 0, lambda n, x, a, b: n(nn.Elu(x, alpha=a))),
    "leakyrelu": (0.01, 0, lambda n, x, a, b: n(nn.LeakyRelu(x, alpha=a))),
    "thresholdedrelu": (1.0, 0, lambda n, x, a, b: n(nn.ThresholdedRelu(x, alpha=a))),
    "hardsigmoid": (0.2, 0.5, lambda n, x, a, b: n(nn.HardSigmoid(x, alpha=a, beta=b))),
    "affine": (
        1.0,
        0.0,
        lambda n, x, a, b: n(nn.Add(n(nn.Mul(x, n.scalar(a, x))), n.scalar(b, x))),
    ),
    "scaledtanh": (
        1.0,
        1.0,
        lambda n, x, a, b: n(nn.Mul(n(nn.Tanh(n(nn.Mul(x, n.scalar(b, x))))), n.scalar(a, x))),
    ),
}
_USES_ALPHA = {"elu", "leakyrelu", "thresholdedrelu", "hardsigmoid", "affine", "scaledtanh"}
_USES_BETA = {"hardsigmoid", "affine", "scaledtanh"}


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
    alphas, betas = (
        list(n.floats("activation_alpha") or ()),
        list(n.floats("activation_beta") or ()),
    )
    found: list[Activation] = []
    for name in names:
        key = name.lower()
        if key not in _FUNCTIONS:
            raise n.error(f"activation '{name}' is not known, expected {', '.join(_FUNCTIONS)}")
        alpha, beta, function = _FUNCTIONS[key]
        if key in _USES_ALPHA and alphas:
            alpha = alphas.pop(0)
        if key in _USES_BETA and betas:
            beta = betas.pop(0)
        found.append(lambda x, f=function, a=alpha, b=beta: f(n, x, a, b))
    count = len(defaults)
    return found[direction * count : (direction + 1) * count]

"""Optimizers of ai.onnx.preview.training: Momentum, Adagrad and Adam.

Inputs are the learning rate R, the number T of previous updates, then for all k tensors their
values, their gradients, and their states.
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import converter

DOMAIN = "ai.onnx.preview.training"


def _each(n: Node, values: tuple[Value, ...], fields: int, update: Callable) -> list[Value]:
    """The results of `update` for each tensor's fields, ordered like the inputs."""
    if len(values) % fields:
        raise n.error(f"{len(values)} tensors, expected a multiple of {fields}")
    count = len(values) // fields
    terms = [Term(n, value) for value in values]
    made = [update(*terms[i::count]) for i in range(count)]
    return [one[field].value for field in range(fields - 1) for one in made]


def _scalars(n: Node, rate: Value, steps: Value, like: Value) -> tuple[Term, Term]:
    """R and T in the element type of the tensors."""
    element = like.type.element_type
    return (
        Term(n, as_scalar(n, rate)).cast(element),
        Term(n, as_scalar(n, steps)).cast(element),
    )


@converter("Momentum", domain=DOMAIN)
def momentum(n: Node, rate: Value, steps: Value, *values: Value) -> list[Value]:
    step, count = _scalars(n, rate, steps, values[0])
    alpha, beta = n.float("alpha"), n.float("beta")
    nesterov = n.string("mode", choices=("standard", "nesterov")) == "nesterov"
    # The first update takes the whole gradient.
    share = (count > 0.0).choose(Term(n, n.scalar(beta, values[0])), 1.0)

    def update(x: Term, gradient: Term, velocity: Term) -> tuple[Term, Term]:
        slope = x * n.float("norm_coefficient") + gradient
        new = velocity * alpha + slope * share
        way = slope + new * alpha if nesterov else new
        return x - way * step, new

    return _each(n, values, 3, update)


@converter("Adagrad", domain=DOMAIN)
def adagrad(n: Node, rate: Value, steps: Value, *values: Value) -> list[Value]:
    step, count = _scalars(n, rate, steps, values[0])
    step = step / (count * n.float("decay_factor") + 1.0)

    def update(x: Term, gradient: Term, squares: Term) -> tuple[Term, Term]:
        slope = x * n.float("norm_coefficient") + gradient
        new = squares + slope * slope
        return x - slope * step / (new.function(nn.Sqrt) + n.float("epsilon", 1e-6)), new

    return _each(n, values, 3, update)


@converter("Adam", domain=DOMAIN)
def adam(n: Node, rate: Value, steps: Value, *values: Value) -> list[Value]:
    step, count = _scalars(n, rate, steps, values[0])
    alpha, beta = n.float("alpha", 0.9), n.float("beta", 0.999)
    # Bias correction, as the moments start at 0.
    first, second = (1.0 - Term(n, n.scalar(b, values[0])) ** count for b in (alpha, beta))
    corrected = (count > 0.0).choose(step * second.function(nn.Sqrt) / first, step)
    after = 1.0 - n.float("norm_coefficient_post")

    def update(x: Term, gradient: Term, mean: Term, square: Term) -> tuple[Term, Term, Term]:
        slope = x * n.float("norm_coefficient") + gradient
        mean = mean * alpha + slope * (1.0 - alpha)
        square = square * beta + slope * slope * (1.0 - beta)
        x = x - corrected * mean / (square.function(nn.Sqrt) + n.float("epsilon", 1e-6))
        return x * after, mean, square

    return _each(n, values, 4, update)

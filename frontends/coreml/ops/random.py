"""Random numbers: NumPy's for the operation's seed; without one, the seed follows from its name."""

from __future__ import annotations

from ...common.random import drawn_classes, normal, seed_of_name, uniform
from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows


def _seed(n: CoreMLLayer) -> int:
    given = n.int("seed", -1)
    return seed_of_name(n.node.name) if given == -1 else given


def _element(n: CoreMLLayer, *names: str) -> Type:
    """The element type of the parameters, and so of the result."""
    given = [n.attribute(name) for name in names if n.has(name)]
    return n.constant(given[0]).type.element_type if given else f32


@rows("random_uniform")
def random_uniform(n: CoreMLLayer, shape: Value) -> Value:
    low, high = n.float("low", 0), n.float("high", 1)
    found = uniform(n, Term(n, as_i64(n, shape)), _seed(n)) * (high - low) + low
    return found.cast(_element(n, "low", "high")).value


@rows("random_normal")
def random_normal(n: CoreMLLayer, shape: Value) -> Value:
    found = normal(n, Term(n, as_i64(n, shape)), _seed(n)) * n.float("stddev", 1)
    return (found + n.float("mean", 0)).cast(_element(n, "mean", "stddev")).value


@rows("random_bernoulli")
def random_bernoulli(n: CoreMLLayer, shape: Value) -> Value:
    drawn = uniform(n, Term(n, as_i64(n, shape)), _seed(n))
    return (drawn < n.float("prob", 0.5)).cast(_element(n, "prob")).value


@rows("random_categorical")
def random_categorical(n: CoreMLLayer, x: Value) -> Value:
    """Samples of the categories along the last dimension: [.., C] -> [.., size]."""
    rows, last = Term(n, x).cast(f32), x.type.rank - 1
    if n.text("mode", "logits", "logits", "probs") == "probs":
        rows = rows.function(nn.Log)
    count = n.int("size", 1)
    found = drawn_classes(rows.flattened(last), count, _seed(n)).cast(i32)
    return found.reshape(*((x, i) for i in range(last)), count).cast(x.type.element_type).value

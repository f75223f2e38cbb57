"""Random numbers as `onnx.reference` draws them for the node's seed, except for Multinomial.

A node without the attribute `seed` gets one from the name of its first output.
"""

from __future__ import annotations

from ...common.random import drawn_classes, normal, seed_of_name, uniform
from ...common.vocabulary import *
from ..node import A, Node
from ..registry import converter
from ..tensors import element_type


@converter("RandomUniform", "RandomNormal")
def of_shape(n: Node) -> Value:
    shape = constant(n, np.array(n.ints("shape") or (), np.int64))
    return _distributed(n, shape, element_type(n.int("dtype", 1)))


@converter("RandomUniformLike", "RandomNormalLike")
def like(n: Node, x: Value) -> Value:
    element = element_type(n.int("dtype")) if n.has("dtype") else x.type.element_type
    return _distributed(n, Term(n, shape_of(n, x)), element)


def _distributed(n: Node, shape: Term, element: Type) -> Value:
    if n.op_type.startswith("RandomUniform"):
        low, high = n.float("low", 0.0), n.float("high", 1.0)
        return (uniform(n, shape, seed_of(n)).cast(element) * (high - low) + low).value
    scaled = normal(n, shape, seed_of(n)).cast(element) * n.float("scale", 1.0)
    return (scaled + n.float("mean", 0.0)).value


@converter("Bernoulli")
def bernoulli(n: Node, chances: Value) -> Value:
    """1 with the probability given by each element, else 0."""
    element = element_type(n.int("dtype")) if n.has("dtype") else chances.type.element_type
    shape = Term(n, shape_of(n, chances))
    chance, drawn = Term(n, chances).cast(f64), uniform(n, shape, seed_of(n))
    # As NumPy draws binomial numbers: by the rarer outcome.
    hit = (chance > 0.5).choose(drawn <= chance, drawn > 1.0 - chance)
    return hit.cast(element).value


@converter("Multinomial")
def multinomial(n: Node, logits: Value) -> Value:
    """Classes drawn by log-probabilities: logits [B, C] -> [B, samples]"""
    drawn = drawn_classes(Term(n, logits).cast(f32), n.int("sample_size", 1), seed_of(n))
    return drawn.cast(element_type(n.int("dtype", 6))).value


@converter("Dropout", since=12)
def dropout(
    n: Node, x: Value, ratio: Value | None = None, training: Value | None = None
) -> list[Value | None]:
    """Elements zeroed at random and the others scaled, in training mode; else unchanged."""
    shape = Term(n, shape_of(n, x))
    all_true = constant(n, True)
    active = None if training is None else n.known(training)
    if training is None or (active is not None and not active.any()):
        return [x, all_true.filled(shape).value if n.wants(1) else None]
    data = Term(n, x)
    wide = f64 if data.element is f64 else f32
    rate = constant(n, 0.5, wide) if ratio is None else Term(n, ratio).cast(wide).reshape()
    kept = (uniform(n, shape, seed_of(n)) >= rate.cast(f64)) | ~Term(n, training).reshape()
    rate = Term(n, training).reshape().choose(rate, 0.0)
    scaled = kept.choose(data.cast(wide) * (1.0 / (1.0 - rate)), 0.0).cast(data.element)
    return [scaled.value, kept.value]


def seed_of(n: Node) -> int:
    """The node's seed; without the attribute, one made from its first output's name."""
    seed: float = seed_of_name(next((name for name in n.outputs if name), ""))
    if n.has("seed"):
        given = n.attributes["seed"]
        number = given.f if given.type == A.FLOAT else given.i
        seed = number if math.isfinite(number) else seed
    return int(seed)

"""Random numbers with a fixed seed for each operator, so that all runs draw the same ones."""

from __future__ import annotations

from ...common import random
from ...common.complexes import Pair, pair
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS


def _seed(n: AtenLayer) -> int:
    return random.seed_of_name(next((name for name in n.node.outputs if name), ""))


def _uniform(n: AtenLayer, size: Any) -> Term:
    return random.uniform(n, Term(n, n.vector(size)), _seed(n))


@ROWS("aten.rand", "aten.randn")
def rand(n: AtenLayer, size: Any, dtype: Type | None = None, names: Any = None) -> Value:
    shape = Term(n, n.vector(size))
    draw = random.normal if "randn" in n.kind else random.uniform
    if isinstance(dtype, ComplexType):
        seeds, scale = (_seed(n), _seed(n) + 1), math.sqrt(0.5) if "randn" in n.kind else 1.0
        parts = ((draw(n, shape, seed) * scale).cast(dtype.element_type) for seed in seeds)
        return pair(*parts)  # type: ignore[return-value]
    return draw(n, shape, _seed(n)).cast(dtype or f32).value


@ROWS("aten.rand_like", "aten.randn_like")
def rand_like(n: AtenLayer, self: Value, dtype: Type | None = None) -> Value:
    return rand(n, n.shape(self), dtype or self.type.element_type)


@ROWS("complex.rand_like", "complex.randn_like")
def complex_rand_like(n: AtenLayer, self: Pair, dtype: Type | None = None) -> Any:
    return rand(n, n.shape(self.real), dtype or ComplexType(self.type.element_type))


@ROWS("aten.randint")
def randint(n: AtenLayer, high: Any, size: Any, low: Any = 0, dtype: Type | None = None) -> Value:
    first, end = (Term(n, n.as_value(v, f64)) for v in (low, high))
    steps = (_uniform(n, size) * (end - first)).function(nn.Floor)
    return (steps + first).cast(dtype or i64).value


@ROWS("aten.randint_like")
def randint_like(
    n: AtenLayer, self: Value, high: Any, low: Any = 0, dtype: Type | None = None
) -> Value:
    return randint(n, high, n.shape(self), low, dtype or self.type.element_type)


@ROWS("aten.normal")
def normal(
    n: AtenLayer,
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    self: Value | None = None,
    dtype: Type | None = None,
) -> Value:
    """Normal numbers with a mean and a deviation; the shape comes from tensors or `size`."""
    like = next((v for v in (self, mean, std) if isinstance(v, Value)), None)
    shape: Any = n.shape(like) if size is None and like is not None else size
    element = dtype or (like.type.element_type if like is not None else f32)
    drawn = random.normal(n, Term(n, n.vector(shape)), _seed(n)).cast(element)
    center, spread = (Term(n, n.as_value(v, element)) for v in (mean, std))
    return (drawn * spread + center).value


ROWS.add({"aten.normal_functional": normal})


@ROWS("aten.uniform")
def uniform(n: AtenLayer, self: Value, from_: float = 0.0, to: float = 1.0) -> Value:
    drawn = _uniform(n, n.shape(self)) * (to - from_) + from_
    return drawn.cast(self.type.element_type).value


@ROWS("aten.bernoulli")
def bernoulli(n: AtenLayer, self: Value, p: Any = None) -> Value:
    """1 with the given probability, else 0."""
    element = self.type.element_type
    chance = n.as_value(self if p is None else p, f64)
    return (_uniform(n, n.shape(self)) < Term(n, chance)).cast(element).value


@ROWS("aten.exponential")
def exponential(n: AtenLayer, self: Value, lambd: float = 1.0) -> Value:
    drawn = (1.0 - _uniform(n, n.shape(self))).function(nn.Log) / -lambd
    return drawn.cast(self.type.element_type).value


@ROWS("aten.log_normal")
def log_normal(n: AtenLayer, self: Value, mean: float = 1.0, std: float = 2.0) -> Value:
    return n(nn.Exp(normal(n, mean, std, self=self)))


@ROWS("aten.cauchy")
def cauchy(n: AtenLayer, self: Value, median: float = 0.0, sigma: float = 1.0) -> Value:
    angle = (_uniform(n, n.shape(self)) - 0.5) * math.pi
    return (angle.function(nn.Tan) * sigma + median).cast(self.type.element_type).value


@ROWS("aten.geometric")
def geometric(n: AtenLayer, self: Value, p: float) -> Value:
    """The number of attempts until success, with probability p each."""
    left = (1.0 - _uniform(n, n.shape(self))).function(nn.Log) / math.log1p(-p)
    attempts = left.function(nn.Floor) + 1.0
    return attempts.cast(self.type.element_type).value


@ROWS("aten.randperm")
def randperm(n: AtenLayer, n_: Any, dtype: Type | None = None) -> Value:
    count = n.as_value(n.number(n_), i64)
    _, places = largest(n, _uniform(n, [count]).value, count, 0, True)
    return n.cast(places, dtype or i64)


@ROWS("aten.multinomial")
def multinomial(n: AtenLayer, self: Value, num_samples: Any, replacement: bool = False) -> Value:
    """Classes drawn by weights [.., C], with or without replacement: [.., num_samples].

    Without replacement, they are those with the greatest u**(1 / weight), u in [0, 1).
    """
    weights = Term(n, n.cast(self, f64))
    count, lead = n.number(num_samples), n.shape(self)[:-1]
    if not replacement:
        keys = _uniform(n, n.shape(self)).function(nn.Log) / weights
        return largest(n, keys.value, n.as_value(count, i64), weights.rank - 1, True)[1]
    sums = weights.made(nn.Cumsum(weights.value, axis=weights.rank - 1))
    total = weights.sum(weights.rank - 1, keep=True)
    drawn = _uniform(n, [*lead, count]) * total
    own = [(sums.value, i) for i in range(sums.rank)]
    passed = drawn.spread(0, 1) >= sums.reshape(*own[:-1], 1, own[-1])
    return passed.cast(i64).sum(weights.rank).value

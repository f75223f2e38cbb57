"""Random numbers: those that NumPy's RandomState draws for the node's seed, in each run the same.

The generator is the Mersenne twister, which makes 624 words of 32 bits from the last 624: a loop,
of as many iterations as the result has numbers. So `onnx.reference` gives the same numbers, but for
Multinomial. A node without the attribute `seed` has one from the name of its first output.

Source: Matsumoto and Nishimura, "Mersenne twister" (1998), MT19937.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import IntegerType, Type, f32, f64, i64
from ...common.loops import Iteration, while_loop
from ...common.shapes import shape_of
from ...common.terms import Term, constant, counting, joined
from ..node import A, Node
from ..registry import converter
from ..tensors import element_type

_U32 = IntegerType(32, "u")

WORDS = 624
"""The generator's state, and the words of an iteration."""
_AHEAD = 397
"""How far the word lies ahead that goes into a new one, which so depends on no other new one."""


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
        return (uniform(n, shape).cast(element) * (high - low) + low).value
    scaled = normal(n, shape).cast(element) * n.float("scale", 1.0)
    return (scaled + n.float("mean", 0.0)).value


@converter("Bernoulli")
def bernoulli(n: Node, chances: Value) -> Value:
    """1 with the chance that each element says, else 0."""
    element = element_type(n.int("dtype")) if n.has("dtype") else chances.type.element_type
    shape = Term(n, shape_of(n, chances))
    chance, drawn = Term(n, chances).cast(f64), uniform(n, shape)
    # As a binomial number is drawn: of the rarer outcome.
    hit = (chance > 0.5).choose(drawn <= chance, drawn > 1.0 - chance)
    return hit.cast(element).value


@converter("Multinomial")
def multinomial(n: Node, logits: Value) -> Value:
    """Classes drawn by their logarithmic probabilities: where the running sum passes a number.

    logits [B, C] -> [B, samples]
    """
    weights = Term(n, n(nn.Softmax(n.cast(logits, f32), axis=1)))
    sums = weights.made(nn.Cumsum(weights.value, axis=1))
    batch = Term(n, shape_of(n, logits)).part(0, 0, 1)
    samples = constant(n, np.array([n.int("sample_size", 1)], np.int64))
    drawn = uniform(n, joined([batch, samples], 0)).cast(f32)
    passed = (drawn.spread(0, 1) >= sums.reshape((sums.value, 0), 1, (sums.value, 1))).cast(i64)
    last = Term(n, shape_of(n, logits)).column(1) - 1
    return passed.sum(2).min(last).cast(element_type(n.int("dtype", 6))).value


@converter("Dropout", since=12)
def dropout(
    n: Node, x: Value, ratio: Value | None = None, training: Value | None = None
) -> list[Value | None]:
    """Elements set to 0 by chance and the others scaled, where the mode is training."""
    shape = Term(n, shape_of(n, x))
    all_true = constant(n, True)
    active = None if training is None else n.known(training)
    if training is None or (active is not None and not active.any()):
        return [x, all_true.filled(shape).value if n.wants(1) else None]
    data = Term(n, x)
    wide = f64 if data.element is f64 else f32
    rate = constant(n, 0.5, wide) if ratio is None else Term(n, ratio).cast(wide).reshape()
    kept = (uniform(n, shape) >= rate.cast(f64)) | ~Term(n, training).reshape()
    rate = Term(n, training).reshape().choose(rate, 0.0)
    scaled = kept.choose(data.cast(wide) * (1.0 / (1.0 - rate)), 0.0).cast(data.element)
    return [scaled.value, kept.value]


# -- the generator ---------------------------------------------------------------------------------


def uniform(n: Node, shape: Term) -> Term:
    """Numbers evenly in [0, 1), multiples of 2**-53 as f64."""
    count = shape.made(nn.ReduceProd(shape.value, axes=(0,)))
    blocks = (count * 2 + (WORDS - 1)) / WORDS

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after = _twisted(Term(n, states[0]))
        return Iteration([after.value], [_evenly(after).value])

    _, (rows,) = while_loop(n, iteration, [_state(n)], blocks.value)
    return Term(n, rows).flat().gather(counting(n, count)).shaped(shape)


def normal(n: Node, shape: Term) -> Term:
    """Numbers of the normal distribution as f64: Marsaglia's polar method.

    A pair of numbers within the circle gives two; a loop goes on until enough are.
    """
    count = shape.made(nn.ReduceProd(shape.value, axes=(0,)))

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after, found = _twisted(Term(n, states[0])), Term(n, states[1])
        pairs = (_evenly(after) * 2.0 - 1.0).reshape(WORDS // 4, 2)
        size = (pairs * pairs).sum(1)
        inside = (size < 1.0) & ~size.equals(0.0)
        found = found + inside.cast(i64).sum(0) * 2
        safe = inside.choose(size, 1.0)
        factor = (safe.function(nn.Log) * -2.0 / safe).function(nn.Sqrt)
        # The second of a pair is given first.
        both = (pairs * factor.spread(0, 1)).gather(constant(n, np.array([1, 0])), 1)
        going = found < count
        return Iteration([after.value, found.value], [both.value, inside.value], going.value)

    start = [_state(n), n.constant(0, i64)]
    first = (count > 0).value
    _, (values, inside) = while_loop(n, iteration, start, None, first)
    chosen = n(nn.NonZero(Term(n, inside).flat().value))
    place = counting(n, count)
    row = Term(n, chosen).column(0, 0).gather(place / 2)
    flat = Term(n, values).flat().gather(row * 2 + place % 2)
    return flat.shaped(shape)


def _twisted(state: Term) -> Term:
    """The next state: each word of the one ahead, and of bits of two neighbours."""
    step = WORDS - _AHEAD

    def mixed(high: Term, low: Term) -> Term:
        odd = (low & 1) * 0x9908B0DF
        return (((high & 0x80000000) | (low & 0x7FFFFFFF)) >> 1) ^ odd

    first = state.part(0, _AHEAD, WORDS) ^ mixed(state.part(0, 0, step), state.part(0, 1, step + 1))
    second = first ^ mixed(state.part(0, step, 2 * step), state.part(0, step + 1, 2 * step + 1))
    rest = WORDS - 1 - 2 * step
    third = second.part(0, 0, rest) ^ mixed(
        state.part(0, 2 * step, WORDS - 1), state.part(0, 2 * step + 1, WORDS)
    )
    last = second.part(0, rest, rest + 1) ^ mixed(
        state.part(0, WORDS - 1, WORDS), first.part(0, 0, 1)
    )
    return joined([first, second, third, last], 0)


def _evenly(state: Term) -> Term:
    """The state's words, tempered, as numbers in [0, 1) of two words each."""
    y = state
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    y = y ^ (y >> 18)
    pairs = y.reshape(WORDS // 2, 2)
    high, low = ((pairs.column(i) >> 5 + i).cast(f64) for i in range(2))
    return (high * 2.0**26 + low) * 2.0**-53


def _state(n: Node) -> Value:
    """The generator's state for the node's seed, as NumPy sets it."""
    name = next((name for name in n.outputs if name), "")
    seed: float = zlib.crc32(name.encode())
    if n.has("seed"):
        given = n.attributes["seed"]
        number = given.f if given.type == A.FLOAT else given.i
        seed = number if math.isfinite(number) else seed
    words = np.random.RandomState(int(seed) % 2**32).get_state(legacy=False)["state"]["key"]
    return n.constant(words.astype(np.uint32))

"""Random numbers as NumPy's RandomState draws them for a seed, the same in each run.

The generator is the Mersenne twister, which makes 624 words of 32 bits from the last 624. It runs
in a loop, with an iteration for each 624 words that the result needs.

Source: Matsumoto and Nishimura, "Mersenne twister" (1998), MT19937.
"""

from __future__ import annotations

import zlib

from .loops import Iteration, while_loop
from .words import *

WORDS = 624
"""The number of words in the generator's state, which are renewed together."""
_AHEAD = 397
"""The distance from word i to the later word that its renewal uses (MT19937's m)."""


def seed_of_name(name: str) -> int:
    """A seed for an operator that gives none: a checksum of its name."""
    return zlib.crc32(name.encode())


def uniform(n: Layer, shape: Term, seed: int) -> Term:
    """Numbers uniformly distributed in [0, 1): multiples of 2**-53, as f64."""
    count = shape.made(nn.ReduceProd(shape.value, axes=(0,)))
    blocks = (count * 2 + (WORDS - 1)) / WORDS

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after = _twisted(Term(n, states[0]))
        return Iteration([after.value], [_evenly(after).value])

    _, (rows,) = while_loop(n, iteration, [_state(n, seed)], blocks.value)
    return Term(n, rows).flat().gather(counting(n, count)).shaped(shape)


def normal(n: Layer, shape: Term, seed: int) -> Term:
    """Numbers of the normal distribution as f64, by Marsaglia's polar method.

    A pair of numbers within the unit circle gives two; a loop runs until there are enough.
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

    start = [_state(n, seed), n.constant(0, i64)]
    first = (count > 0).value
    _, (values, inside) = while_loop(n, iteration, start, None, first)
    chosen = n(nn.NonZero(Term(n, inside).flat().value))
    place = counting(n, count)
    row = Term(n, chosen).column(0, 0).gather(place / 2)
    flat = Term(n, values).flat().gather(row * 2 + place % 2)
    return flat.shaped(shape)


def drawn_classes(logits: Term, count: int, seed: int) -> Term:
    """Classes drawn with probabilities softmax(logits): where their running sum passes a number.

    logits [B, C] -> [B, count] as i64
    """
    n = logits.n
    weights = logits.made(nn.Softmax(logits.value, axis=1))
    sums = weights.made(nn.Cumsum(weights.value, axis=1))
    shape = Term(n, shape_of(n, logits.value))
    samples = constant(n, np.array([count], np.int64))
    drawn = uniform(n, joined([shape.part(0, 0, 1), samples], 0), seed).cast(f32)
    passed = (drawn.spread(0, 1) >= sums.reshape((sums.value, 0), 1, (sums.value, 1))).cast(i64)
    return passed.sum(2).min(shape.column(1) - 1)


def _twisted(state: Term) -> Term:
    """The next state: each word depends on the one `_AHEAD` after it and on two neighbours."""
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
    """The state's words, tempered, as f64 numbers in [0, 1), each made of two words."""
    y = state
    y = y ^ (y >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    y = y ^ (y >> 18)
    pairs = y.reshape(WORDS // 2, 2)
    high, low = ((pairs.column(i) >> 5 + i).cast(f64) for i in range(2))
    return (high * 2.0**26 + low) * 2.0**-53


def _state(n: Layer, seed: int) -> Value:
    """The generator's state for a seed, as NumPy sets it."""
    words = np.random.RandomState(seed % 2**32).get_state(legacy=False)["state"]["key"]
    return n.constant(words.astype(np.uint32))

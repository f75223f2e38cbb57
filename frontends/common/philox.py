"""Counter-based random numbers: Philox4x32 with ten rounds, and TensorFlow's distributions on it.

Each block of four words of 32 bits is a function of a key and of the number of the block, so that
numbers need no loop. Words are held as ui64.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); TensorFlow,
tensorflow/core/lib/random/{philox_random,random_distributions}.h.
"""

from __future__ import annotations

from dataclasses import dataclass

from .shapes import product
from .words import *

u64 = IntegerType(64, "u")
WORD = 0xFFFFFFFF
_FACTORS = 0xD2511F53, 0xCD9E8D57
_RAISES = 0x9E3779B9, 0xBB67AE85
_SCRAMBLE = 0x3EC8F720, 0x02461E29
"""The key of a fixed stream by which a seed is mixed into the key of its own stream."""

_RESERVED = 256
"""How many blocks each group of four numbers may use, where a distribution rejects some."""
_TRIED = 6
"""How many blocks are drawn for a group, 24 numbers: fewer than 4 are below 2 once in 10**24."""
_LEAST = 1e-7

_FRACTIONS: dict[Type, int] = {f32: 23, f16: 10, bf16: 7}
"""The number of a word's bits that become the fraction of a number in [0, 1), by element type."""


@dataclass(frozen=True)
class Stream:
    """A stream of blocks: the key, and the first block's number in two halves; all 0-d ui64."""

    key: Term
    low: Term
    high: Term

    @classmethod
    def of_numbers(cls, n: Layer, key: int, low: int, high: int) -> Stream:
        """The stream of a known key and a known first block."""
        given = (np.uint64(x % 2**64) for x in (key, low, high))
        return cls(*(constant(n, x, u64) for x in given))

    @classmethod
    def of_seed(cls, n: Layer, seed: Value) -> Stream:
        """The stream of a seed, a tensor of two integers, which are scrambled."""
        given = Term(n, as_i64(n, seed)).cast(u64)
        first, second = given.column(0, 0), given.column(1, 0)
        mixed = cls.of_numbers(n, _SCRAMBLE[0] | _SCRAMBLE[1] << 32, 0, 0)
        words = Stream(mixed.key, first, second).blocks(constant(n, 0, u64).reshape(1))
        a, b, c, d = (words.column(i).reshape() for i in range(4))
        return cls(a | (b << 32), constant(n, 0, u64), c | (d << 32))

    def blocks(self, numbers: Term) -> Term:
        """The words of blocks: [N] -> [N, 4]"""
        low = self.low + numbers
        high = self.high + (low < numbers).cast(u64)
        words = [low & WORD, low >> 32, high & WORD, high >> 32]
        key = [self.key & WORD, self.key >> 32]
        for _ in range(10):
            first, second = (words[2 * i] * _FACTORS[i] for i in range(2))
            words = [
                (second >> 32) ^ words[1] ^ key[0],
                second & WORD,
                (first >> 32) ^ words[3] ^ key[1],
                first & WORD,
            ]
            key = [(part + by) & WORD for part, by in zip(key, _RAISES, strict=True)]
        return joined([word.spread(0, 1) for word in words], 1)

    def words(self, count: Term, each: int = 1) -> Term:
        """The first `count` * `each` words of the stream: [count, each]"""
        n = count.n
        numbers = counting(n, (count * each + 3) / 4).cast(u64)
        flat = self.blocks(numbers).flat()
        used = flat if self._is_whole(count, each) else flat.gather(counting(n, count * each))
        return _rows(used, each)

    def _is_whole(self, count: Term, each: int) -> bool:
        known = count.n.known(count.value)
        return known is not None and int(known) * each % 4 == 0


def _rows(x: Term, width: int) -> Term:
    """All elements of x in rows of `width` elements."""
    total = product(x.shape)
    count = None if total is None else total // width
    return x.made(nn.Reshape(x.value, out=TensorType((count, width), x.element)))


def _total(shape: Term) -> Term:
    return shape.made(nn.ReduceProd(shape.value, axes=(0,)))


def _fraction(words: Term, element: Type) -> Term:
    """Numbers in [0, 1), each made of one word, or of two for f64: [N, 1 or 2] -> [N]"""
    if element is f64:
        high, low = (words.column(i) for i in range(2))
        return ((((high & 0xFFFFF) << 32) | low).cast(i64).cast(f64)) * 2.0**-52
    bits = _FRACTIONS[element]
    whole = (words.column(0) & ((1 << bits) - 1)).cast(i64).cast(f32)
    return (whole * 2.0**-bits).cast(element)


def uniform(stream: Stream, shape: Term, element: Type) -> Term:
    """Numbers uniformly distributed in [0, 1)."""
    words = stream.words(_total(shape), 2 if element is f64 else 1)
    return _fraction(words, element).shaped(shape)


def integers(
    stream: Stream, shape: Term, element: Any, low: Term | None, high: Term | None
) -> Term:
    """Integers in [low, high); without limits, any of the element type."""
    wide = element.width == 64
    words = stream.words(_total(shape), 2 if wide else 1)
    found = words.column(0) | (words.column(1) << 32) if wide else words.column(0)
    if low is not None and high is not None:
        first = low.cast(i64).cast(u64)
        extent = high.cast(i64).cast(u64) - first
        found = first + found % (extent if wide else extent & WORD)
    return found.cast(element).shaped(shape)


def normal(stream: Stream, shape: Term, element: Type) -> Term:
    """Random numbers of the standard normal distribution: mean 0, variance 1."""
    count, own = _total(shape), f64 if element is f64 else f32
    words = stream.words((count + 1) / 2, 4 if element is f64 else 2)
    found = _pairs(words, own).flat()
    known = count.n.known(count.value)
    if known is None or int(known) % 2:
        found = found.gather(counting(count.n, count))
    return found.cast(element).shaped(shape)


def _pairs(words: Term, element: Type) -> Term:
    """Pairs of normal numbers [N, 2] by Box and Muller, from words [N, 2], or [N, 4] for f64."""
    each = 2 if element is f64 else 1
    first, second = (_fraction(words.part(1, i * each, i * each + each), element) for i in range(2))
    angle = (second.cast(f64) * (2.0 * math.pi)).cast(element)
    size = (first.max(_LEAST).function(nn.Log) * -2.0).function(nn.Sqrt)
    return joined([(angle.function(op) * size).spread(0, 1) for op in (nn.Sin, nn.Cos)], 1)


def truncated_normal(stream: Stream, shape: Term, element: Type) -> Term:
    """Numbers of the standard normal distribution, resampled until their magnitude is below 2."""
    count, own, each = _total(shape), f64 if element is f64 else f32, 2 if element is f64 else 1
    n, size = count.n, 4 // each
    groups = (count + (size - 1)) / size
    tried = _TRIED * each
    starts = counting(n, groups) * (_RESERVED // each)
    blocks = (starts.spread(0, 1) + np.arange(tried)).flat().cast(u64)
    values = _pairs(_rows(stream.blocks(blocks), 2 * each), own)
    values = _rows(values, tried * size)
    inside = values.function(nn.Abs) < 2.0
    place = inside.cast(i64).made(nn.Cumsum(inside.cast(i64).value, axis=1))
    wanted = constant(n, np.arange(1, size + 1))
    chosen = place.spread(0, 1).equals(wanted) & inside.spread(0, 1)
    found = chosen.choose(values.spread(0, 1), 0.0).sum(1).flat()
    return found.gather(counting(n, count)).cast(element).shaped(shape)


def classes(stream: Stream, logits: Term, count: Term, element: Type) -> Term:
    """Classes drawn with weights whose logarithms are `logits`: [B, C] -> [B, count]"""
    n = logits.n
    apart = logits.cast(f64)
    weights = (apart - apart.largest(1, keep=True)).function(nn.Exp)
    sums = weights.made(nn.Cumsum(weights.value, axis=1))
    rows = Term(n, as_i64(n, shape_of(n, logits.value))).column(0, 0)
    drawn = _fraction(stream.words(rows * count, 2), f64)
    shape = joined([rows.reshape(1), count.reshape(1)], 0)
    drawn = drawn.shaped(shape) * sums.column(-1, 1).spread(0, 1)
    below = sums.reshape((sums.value, 0), 1, (sums.value, 1)) <= drawn.spread(0, 1)
    return below.cast(i64).sum(2).cast(element)

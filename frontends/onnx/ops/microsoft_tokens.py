"""Operators of com.microsoft on tokens, characters and their n-grams.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from ...common.formulas import width_of
from ...common.loops import Iteration, while_loop
from ...common.unique import unique_rows
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .microsoft import DOMAIN


@converter("UnfoldTensor", domain=DOMAIN)
def unfold_tensor(n: Node, x: Value) -> Value:
    """The windows of a dimension, each as a new last dimension."""
    axis = normalize_axis(n, n.int("dim", -1), x.type.rank)
    size, step = n.int("size"), n.int("step", 1)
    if size < 1 or step < 1:
        raise n.error(f"windows of {size} elements, {step} apart, are not possible")
    count = (extent(n, (x, axis)) - size) / step + 1
    at = (counting(n, count) * step).spread(0, 1) + constant(n, np.arange(size))
    found = Term(n, x).gather(at, axis)
    order = [i for i in range(found.rank) if i != axis + 1]
    return found.transpose(*order, axis + 1).value


@converter("Unique", domain=DOMAIN)
def unique(n: Node, x: Value) -> list[Value]:
    """The distinct elements of a vector in order of occurrence, indices, and counts."""
    found = unique_rows(n, reshape(n, x, [(x, 0), 1]), in_order=False)
    return [gathered(n, x, found.first), found.inverse, found.counts]


@converter("NGramHashMapping", domain=DOMAIN)
def ngram_hash_mapping(
    n: Node,
    ids: Value,
    multipliers: Value,
    sizes: Value,
    past: Value | None = None,
    offsets: Value | None = None,
    end: Value | None = None,
    segments: Value | None = None,
) -> list[Value]:
    """Hashes [B, S, (N - 1) * H] of the last 2 to N tokens at each position; the last N - 1 ids.

    A hash is the xor of products of tokens and factors, modulo the size of one of the tables.
    """
    reach, heads, tokens = n.int("max_ngram_size") - 1, n.int("n_head_per_ngram"), Term(n, ids)
    filler = constant(n, n.int("pad_id"), tokens.element)
    if end is not None:
        filler = Term(n, as_scalar(n, end))
    shape = Term(n, shape_vector(n, [(ids, 0), reach]))
    before = filler.filled(shape) if past is None else Term(n, past)
    history, steps = joined([before, tokens], 1), counting(n, extent(n, (ids, 1)))
    mixed = tokens * Term(n, multipliers).column(0)
    cut, found = constant(n, False), []
    for back in range(1, reach + 1):
        token = history.gather(steps + (reach - back), 1)
        if end is not None and n.int("reset_on_eos"):
            cut = cut | token.equals(filler)
        if segments is not None:
            cut = cut | (_begins(n, segments, steps - (back - 1)) & (steps >= back))
        mixed = mixed ^ (cut.choose(filler, token) * Term(n, multipliers).column(back))
        size = Term(n, sizes).part(0, (back - 1) * heads, back * heads)
        found.append(mixed.spread(0, 1) % size)
    hashes = joined(found, 2)
    if offsets is not None:
        hashes = hashes + Term(n, offsets)
    last = extent(n, (ids, 1)) + constant(n, np.arange(reach))
    return [hashes.value, history.gather(last, 1).value]


def _begins(n: Node, segments: Value, at: Term) -> Term:
    """Whether a segment begins at positions [S], the first position excepted: [B, S]."""
    own, before = (Term(n, segments).gather(x.max(0), 1) for x in (at, at - 1))
    return ~own.equals(before)


@converter("NGramRepeatBlock", domain=DOMAIN)
def block_repeated_ngrams(n: Node, ids: Value, scores: Value) -> Value:
    """Scores with -inf for each token that would repeat an n-gram of its sequence."""
    size = n.int("ngram_size")
    if size < 1:
        raise n.error(f"attribute 'ngram_size' is {size}, expected 1 or more")
    return without_repetitions(Term(n, ids).cast(i64), Term(n, scores), size).value


def without_repetitions(ids: Term, scores: Term, size: int, blocked: float = -math.inf) -> Term:
    """Scores [B, V], `blocked` for each token that would repeat an n-gram of sequences [B, S]."""
    n = ids.n
    length = extent(n, (ids.value, 1))
    starts = counting(n, (length - (size - 1)).max(0))
    grams = ids.gather(starts.spread(0, 1) + constant(n, np.arange(size)), 1)
    tail = ids.gather((length - (size - 1) + constant(n, np.arange(size - 1))).max(0), 1)
    own = [(tail.value, i) for i in range(2)]
    same = grams.part(2, 0, size - 1).equals(tail.reshape(own[0], 1, own[1]))
    is_met = same.cast(i32).sum(2).equals(size - 1)
    limit = is_met.choose(constant(n, blocked, scores.element), math.inf)
    last = grams.column(size - 1, 2)
    return scores.made(
        nn.ScatterElements(scores.value, last.value, limit.value, axis=1, reduction="min")
    )


@converter("BifurcationDetector", domain=DOMAIN)
def bifurcation_detector(
    n: Node, source: Value, tokens: Value, matched: Value, predicted: Value | None = None
) -> list[Value]:
    """The tokens plus the predicted ones up to the first that differs from the source; an index.

    The index is after the source's only occurrence of the tokens' last n-gram, for the shortest
    n-gram with a single occurrence; -1 if there is none.
    """
    given, known, length = Term(n, source), Term(n, tokens), extent(n, (source, 0))
    if predicted is not None:
        new, begin = Term(n, predicted), Term(n, as_scalar(n, matched))
        rest = counting(n, (length - begin).max(0))
        agrees = given.gather(rest + begin).equals(new.gather(rest)).cast(i64)
        run = agrees.made(nn.Cumprod(agrees.value, axis=0)).sum(0)
        known = joined([known, new.gather(counting(n, run + 1))], 0)
    found, going = constant(n, -1, i64), constant(n, True, i1)
    count = extent(n, (known.value, 0))
    for size in range(n.int("min_ngram_size", 1), n.int("max_ngram_size", 3) + 1):
        tail = known.gather((constant(n, np.arange(size)) + count - size).max(0))
        places = counting(n, (length - (size - 1)).max(0))
        grams = given.gather(places.spread(0, 1) + constant(n, np.arange(size)))
        hits = grams.equals(tail).cast(i64).sum(1).equals(size) & (count >= size)
        number = hits.cast(i64).sum(0)
        behind = -hits.choose(-places, -FAR).largest(0) + size
        found = going.choose((number > 0).choose(behind, -1), found)
        going = going & (number > 1) & (behind < length)
    own = [(matched, i) for i in range(matched.type.rank)]  # as the input that it is for
    return [known.value, going.choose(-1, found).reshape(*own).value]


# -- hashes ----------------------------------------------------------------------------------------

U32 = IntegerType(32, "u")


@converter("MurmurHash3", domain=DOMAIN)
def murmur_hash(n: Node, x: Value) -> Value:
    """A hash of 32 bits per element: MurmurHash3_x86_32 of its bytes. Source: Appleby (2011)."""
    seed, out = n.int("seed"), U32 if n.int("positive", 1) else i32
    if x.type.element_type is nn.string:
        return n.cast(n(nn.HashText(x, seed=seed)), out)
    given = Term(n, x)
    bits = bits_of(given) if isinstance(given.element, FloatType) else given
    words = [bits.cast(U32)]
    if width_of(bits) == 64:
        words.append((bits.cast(IntegerType(64, "u")) >> 32).cast(U32))
    total = words[0] * 0 + seed % (1 << 32)
    for word in words:
        total = total ^ _turned(word * 0xCC9E2D51, 15) * 0x1B873593
        total = _turned(total, 13) * 5 + 0xE6546B64
    total = total ^ 4 * len(words)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        total = (total ^ (total >> shift)) * factor
    return (total ^ (total >> 16)).cast(out).value


def _turned(x: Term, places: int) -> Term:
    """32-bit words rotated left."""
    return (x << places) | (x >> (32 - places))


# -- words -----------------------------------------------------------------------------------------


@converter("WordConvEmbedding", domain=DOMAIN)
def word_embedding(n: Node, words: Value, weight: Value, bias: Value, characters: Value) -> Value:
    """Vectors [.., M] of words given by characters [.., L], padded with 0.

    A convolution over the vectors [V, D] of characters, its hyperbolic tangent, and the maximum of
    each row; zeros for a word without characters. weight [M, 1, W, D]
    """
    rows, window = Term(n, words).flattened(words.type.rank - 1), n.extent(weight, 2)
    length = n.extent(words, -1)
    if length < window:
        raise n.error(f"words of {length} characters are shorter than a window of {window}")
    vectors = Term(n, characters).gather(rows.cast(i64)).transpose(0, 2, 1)
    kernel = Term(n, weight).reshape((weight, 0), window, (weight, 3)).transpose(0, 2, 1)
    made = convolution(n, vectors.value, kernel.value, bias)
    places = (rows > 0).choose(constant(n, length, i64), constant(n, np.arange(length)))
    size = places.least(1, keep=True)
    inside = constant(n, np.arange(length - window + 1)) <= (size - window).max(0)
    kept = inside.reshape((rows.value, 0), 1, length - window + 1).choose(Term(n, made), -math.inf)
    found = (size > 0).choose(kept.largest(2).function(nn.Tanh), 0.0)
    lead = [(words, i) for i in range(words.type.rank - 1)]
    return found.reshape(*lead, (weight, 0)).value


@converter("Tokenizer", domain=DOMAIN)
def tokenizer(n: Node, x: Value) -> Value:
    """The parts of each string that a pattern matches, or that are between separators."""
    separators, pattern = n.strings("separators"), n.string("tokenexp")
    if (separators is None) == (not pattern):
        raise n.error("one of 'separators' and 'tokenexp' must be given")
    if pattern == "." or separators == ("",):
        separators, pattern = None, "(?s:.)"
    return n(
        nn.Tokenize(
            x,
            pattern=pattern,
            separators=separators or (),
            least=n.int("mincharnum", 1),
            padding=n.string("pad_value"),
            marks=bool(n.int("mark")),
        )
    )


# -- paths -----------------------------------------------------------------------------------------


@converter("DynamicTimeWarping", domain=DOMAIN)
def dynamic_time_warping(n: Node, costs: Value) -> Value:
    """The cheapest path [2, P] through costs [M, N] or [1, M, N], from the first to the last
    element.

    Each step of a path advances by one row, one column, or both.
    """
    given = Term(n, costs)
    given = given.column(0, 0) if given.rank == 3 else given
    steps = _cheapest_steps(given)
    rows, columns = (extent(n, (given.value, i)) for i in range(2))

    def back(number: Value, flag: Value, states: list[Value]) -> Iteration:
        i, j = (Term(n, v) for v in states)
        step = steps.gather(i + j).gather(i)
        before = [
            i - (step < 2).cast(i64),
            j - (~step.equals(1)).cast(i64),
        ]
        going = (before[0] >= 0) & (before[1] >= 0)
        place = joined([i.reshape(1), j.reshape(1)], 0)
        return Iteration([v.value for v in before], [place.value], going.value)

    start = [(rows - 1).value, (columns - 1).value]
    going = n.constant(True, i1)
    _, (places,) = while_loop(n, back, start, (rows + columns).value, going)
    path = Term(n, reversed_axes(n, places, [0])).transpose(1, 0)
    return path.cast(i32).value


def _cheapest_steps(costs: Term) -> Term:
    """The last step of the cheapest path to each element, by diagonals [M + N - 1, M].

    0 is from the previous row and column, 1 from the row, 2 from the column; element i of a
    diagonal is that in row i.
    """
    n = costs.n
    rows, columns = (extent(n, (costs.value, i)) for i in range(2))
    row = counting(n, rows)
    first = row.equals(0)

    def shifted(x: Term) -> Term:
        """Shifted by one: element i is the former i - 1, and element 0 infinite."""
        return first.choose(math.inf, x.gather((row - 1).max(0)))

    def reached(number: Value, flag: Value, states: list[Value]) -> Iteration:
        last, before = (Term(n, v) for v in states)
        both, up, left = shifted(before), shifted(last), last
        both = (first & Term(n, number).equals(0)).choose(0.0, both)
        takes_both, takes_up = (both < up) & (both < left), (up < both) & (up < left)
        step = takes_both.choose(constant(n, 0, i64), takes_up.choose(constant(n, 1, i64), 2))
        least = takes_both.choose(both, takes_up.choose(up, left))
        column = Term(n, number) - row
        place = row * columns + column.max(0).min(columns - 1)
        inside = (column >= 0) & (column < columns)
        here = inside.choose(least + costs.flat().gather(place), math.inf)
        return Iteration([here.value, last.value], [step.value])

    none = constant(n, math.inf, costs.element).filled(rows.reshape(1)).value
    _, (steps,) = while_loop(n, reached, [none, none], (rows + columns - 1).value)
    return Term(n, steps)

"""Strings and operators on them: text, n-grams, maps and images. A host computes most of it."""

from __future__ import annotations

from functools import reduce
from operator import add

from ...common.strings import elements, ids, lookup, scalar_string, strings
from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter

ML = "ai.onnx.ml"


add_rows(direct("StringConcat RegexFullMatch=RegexMatch"))


@converter("StringSplit")
def string_split(n: Node, x: Value) -> list[Value]:
    most = n.int("maxsplit") if n.has("maxsplit") else None
    return list(n(nn.StringSplit(x, delimiter=n.string("delimiter"), most=most)))


@converter("StringNormalizer")
def string_normalizer(n: Node, x: Value) -> Value:
    case = n.string("case_change_action", "NONE", ("NONE", "LOWER", "UPPER")).lower()
    sensitive, stops = bool(n.int("is_case_sensitive")), n.strings("stopwords") or ()
    op = nn.StringNormalize(x, case=case, case_sensitive=sensitive, stop_words=stops)
    return n(op)


@converter("ImageDecoder")
def image_decoder(n: Node, x: Value) -> Value:
    names = {"RGB": "rgb", "BGR": "bgr", "Grayscale": "gray"}
    return n(nn.DecodeImage(x, pixels=names[n.string("pixel_format", "RGB", tuple(names))]))


# -- tables of strings -----------------------------------------------------------------------------


@converter("CategoryMapper", domain=ML)
def category_mapper(n: Node, x: Value) -> Value:
    words, numbers = n.strings("cats_strings") or (), n.ints("cats_int64s") or ()
    if len(words) != len(numbers) or not words:
        raise n.error(f"{len(words)} strings and {len(numbers)} integers as categories")
    texts, integers = strings(words), np.array(numbers, np.int64)
    if x.type.element_type is nn.string:
        return lookup(n, x, texts, integers, np.array(n.int("default_int64", -1)))
    return lookup(n, x, integers, texts, scalar_string(n.string("default_string", "_Unused")))


# -- maps ------------------------------------------------------------------------------------------


def _keys(n: Node, names: str, numbers: str) -> np.ndarray:
    words = n.strings(names)
    if words:
        return strings(words)
    if not n.ints(numbers):
        raise n.error(f"neither '{names}' nor '{numbers}' is given")
    return np.array(n.ints(numbers), np.int64)


@converter("ZipMap", domain=ML)
def zip_map(n: Node, x: Value) -> Value:
    return n(nn.ZipMap(x, keys=elements(_keys(n, "classlabels_strings", "classlabels_int64s"))))


@converter("DictVectorizer", domain=ML)
def dict_vectorizer(n: Node, x: Value) -> Value:
    return n(nn.VectorizeMap(x, keys=elements(_keys(n, "string_vocabulary", "int64_vocabulary"))))


@converter("CastMap", domain=ML)
def cast_map(n: Node, x: Value) -> Value:
    kinds = {"TO_FLOAT": f32, "TO_STRING": nn.string, "TO_INT64": i64}
    element = kinds[n.string("cast_to", "TO_FLOAT", tuple(kinds))]
    sparse = n.string("map_form", "DENSE", ("DENSE", "SPARSE")) == "SPARSE"
    return n(nn.CastMap(x, element=element, sparse=sparse, width=n.int("max_map", 1)))


# -- n-grams ---------------------------------------------------------------------------------------


MOST_COLUMNS = 1 << 24
"""The most elements of a row of counts; each has a place in a table."""


@converter("TfIdfVectorizer")
def tf_idf_vectorizer(n: Node, x: Value) -> Value:
    """The weighted counts of each n-gram of a pool. Strings become numbers on the host.

    x [N, C] or [C] -> found [N, C, G] for the G n-grams of a length -> counts [N, G] -> [N, K]
    """
    mode = n.string("mode", "", ("TF", "IDF", "TFIDF"))
    places = n.ints("ngram_indexes") or ()
    if not places or min(places) < 0:
        raise n.error("'ngram_indexes' must be given, and not be negative")
    if max(places) >= MOST_COLUMNS:
        raise n.error(f"'ngram_indexes' has {max(places)}, expected less than {MOST_COLUMNS}")
    grams = _grams(n, len(places))
    if (words := n.strings("pool_strings")) is not None:
        tokens = Term(n, ids(n, x, tuple(dict.fromkeys(words))))
    else:
        tokens = Term(n, x).cast(i64)
    if tokens.rank not in (1, 2):
        raise n.error(f"the input must be a vector or a matrix, but is '{x.type}'")
    rows = tokens if tokens.rank == 2 else tokens.spread(1, 0)
    weights = np.array(n.floats("weights") or [1.0] * len(places), np.float32)
    if len(weights) != len(places):
        raise n.error(f"{len(weights)} weights for {len(places)} n-grams")
    counts, order = [], []
    for first, pool in grams:
        if n.int("min_gram_length") <= pool.shape[1] <= n.int("max_gram_length") and len(pool):
            counts.append(_counts(rows, pool, n.int("max_skip_count")))
            order += range(first, first + len(pool))
    # An additional column of zeros, for places that no n-gram has.
    counts.append((rows.part(1, 0, 0).cast(f32)).sum(1, keep=True))
    found = joined(counts, 1)
    if mode == "IDF":
        found = (found > 0.0).cast(f32)
    if mode != "TF":
        found = found * constant(n, np.append(weights[order], np.float32(0)))
    found = _placed(found, [places[i] for i in order], max(places) + 1)
    return found.reshape((found.value, 1)).value if tokens.rank == 1 else found.value


def _grams(n: Node, count: int) -> list[tuple[int, np.ndarray]]:
    """The n-grams of each length as rows, and the index of the first one in the pool."""
    starts = n.ints("ngram_counts") or ()
    words, numbers = n.strings("pool_strings"), n.ints("pool_int64s")
    if (words is None) == (numbers is None):
        raise n.error("one of 'pool_strings' and 'pool_int64s' must be given")
    if words is not None:
        known = {word: i for i, word in enumerate(dict.fromkeys(words))}
        pool = np.array([known[word] for word in words], np.int64)
    else:
        pool = np.array(numbers, np.int64)
    grams, first = [], 0
    for length, (begin, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1):
        part = pool[begin:end]
        if begin < 0 or begin > end or len(part) % length:
            raise n.error(f"'ngram_counts' {list(starts)} do not fit a pool of {len(pool)}")
        grams.append((first, part.reshape(-1, length)))
        first += len(part) // length
    if first != count:
        raise n.error(f"the pool has {first} n-grams, but 'ngram_indexes' {count} elements")
    return grams


def _counts(rows: Term, pool: np.ndarray, skips: int) -> Term:
    """The count of each n-gram of a length in rows [N, C], with up to `skips` tokens between."""
    n, (_, length) = rows.n, pool.shape
    size = extent(n, (rows.value, 1))
    at = counting(n, size)
    found = []
    for step in range(1, (skips if length > 1 else 0) + 2):
        # Positions beyond the end are clamped, and excluded by `last`.
        last = (at + (length - 1) * step) < size
        hits = last.spread(0, 1)
        for j in range(length):
            token = rows.gather((at + j * step).min((size - 1).max(0)), 1)
            hits = hits & token.spread(0, 1).equals(constant(n, pool[:, j]))
        found.append(hits.cast(f32).sum(1))
    return reduce(add, found)


def _placed(counts: Term, places: list[int], width: int) -> Term:
    """The counts' columns moved to `places` among `width` columns, and added where these coincide.

    An additional last column of `counts` stands for 0.
    """
    columns: list[list[int]] = [[] for _ in range(width)]
    for i, place in enumerate(places):
        columns[place].append(i)
    parts = []
    for turn in range(max(map(len, columns), default=1)):
        order = [of[turn] if turn < len(of) else len(places) for of in columns]
        parts.append(counts.gather(constant(counts.n, np.array(order, np.int64)), 1))
    return reduce(add, parts)

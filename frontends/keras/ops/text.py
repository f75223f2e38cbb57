"""Text and numbers as vocabulary indices, and as hash buckets."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.nn.host_types import string
from ...common.strings import as_text, buckets, lookup, strings
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .core import encoded

PUNCTUATION = r"""[!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~']"""
CROSSING = 0xDECAFCAFFE
"""The initial value of the hash of a crossing."""
MIXING = 0xC6A4A7935BD1E995
"""The factor by which two hashes are combined, as in MurmurHash64."""

NOWHERE = 2**31 - 1
"""An index beyond the end of every vector."""

u64 = IntegerType(64, "u")


@dataclass(frozen=True)
class Vocabulary:
    """An ordered vocabulary; the indices of the mask and of unknown words come before words."""

    words: list[Any]
    mask: Any
    unknown: int
    masked: int
    """1 if the mask has an index, else 0."""
    told: bool
    """Whether the file's vocabulary begins with the mask and out-of-vocabulary tokens."""

    @property
    def first(self) -> int:
        """The index of the first word."""
        return self.masked + self.unknown

    @property
    def size(self) -> int:
        """The number of indices."""
        return self.first + len(self.words)


def vocabulary(n: KerasLayer, mask: Any, unknown: int, mode: str) -> Vocabulary:
    """The vocabulary in the configuration, which may list mask and unknown tokens first."""
    words = n.option("vocabulary", None)
    if not isinstance(words, list) or not words:
        raise n.error("the vocabulary is not in the file")
    masked = int(mask is not None and mode == "int")
    default = -1 if n.kind == "IntegerLookup" else "[UNK]"
    special = [mask] * masked + [n.option("oov_token", default)] * unknown
    told = bool(special) and words[: len(special)] == special
    return Vocabulary(words[len(special) * told :], mask, unknown, masked, told)


@layer("StringLookup", "IntegerLookup")
def index_lookup(n: KerasLayer) -> Value:
    """The vocabulary index of each element; with `invert`, the word of each index."""
    mode, x = n.option("output_mode", "int"), n.tensor()
    known = vocabulary(n, n.option("mask_token", None), n.integer("num_oov_indices", 1), mode)
    if n.option("invert", False):
        return _words_at(n, x, known)
    return _encoded(n, _places(n, x, known, mode), known, mode)


def _words_at(n: KerasLayer, x: Value, known: Vocabulary) -> Value:
    """The words at vocabulary indices."""
    keys = np.arange(known.first, known.size)
    words, default = known.words, n.option("oov_token")
    if known.mask is not None:
        keys, words = np.append(keys, 0), [*words, known.mask]
    text = n.kind == "StringLookup"
    values = strings(words) if text else np.array(words, np.int64)
    lacking = strings([default]).reshape(()) if text else np.array(default, np.int64)
    return lookup(n, n.cast(x, i64), keys, values, lacking)


def _places(n: KerasLayer, x: Value, known: Vocabulary, mode: str) -> Value:
    """The vocabulary index of each element; the mask has index 0, or none when encoding."""
    text = x.type.element_type is string
    found = _of_text(n, x, known) if text else _of_numbers(n, x, known)
    other = _of_unknown(n, x, known) + known.masked if known.unknown else constant(n, -1, i64)
    found = (found < 0).choose(other, found)
    if known.mask is None:
        return found.value
    mask = n.constant(strings([known.mask]).reshape(()) if text else np.array(known.mask, np.int64))
    is_mask = Term(n, n(nn.Equal(x if text else n.cast(x, i64), mask)))
    return is_mask.choose(0 if mode == "int" else NOWHERE, found).value


def _of_text(n: KerasLayer, x: Value, known: Vocabulary) -> Term:
    places = np.arange(known.first, known.size)
    return Term(n, lookup(n, x, strings(known.words), places, np.array(-1)))


def _of_numbers(n: KerasLayer, x: Value, known: Vocabulary) -> Term:
    words = constant(n, np.array(known.words, np.int64))
    same = Term(n, n.cast(x, i64)).spread(0, 1).equals(words)
    places = constant(n, np.arange(known.first + 1, known.size + 1))
    return same.choose(places, 0).largest(x.type.rank) - 1


def _of_unknown(n: KerasLayer, x: Value, known: Vocabulary) -> Term:
    """The index that each unknown word gets among those for unknown words."""
    if known.unknown == 1:
        return constant(n, 0, i64)
    if x.type.element_type is not string and n.option("oov_method", "floormod") != "farmhash":
        return Term(n, n.cast(x, i64)) % known.unknown
    return Term(n, buckets(n, x, known.unknown, n.option("salt", None) or ()))


def _encoded(n: KerasLayer, places: Value, known: Vocabulary, mode: str) -> Value:
    """Indices encoded as vectors, with TF-IDF weights if words have some."""
    padded = n.option("pad_to_max_tokens", False)
    size = n.integer("max_tokens") if padded else known.size
    if mode not in ("tf_idf", "tf-idf"):
        found = encoded(n, places, size, {"binary": "multi_hot"}.get(mode, mode))
        return found if n.is_old else n.cast(found, i64)
    found = Term(n, encoded(n, places, size, "count"))
    return (found * Term(n, _frequencies(n, known, size))).value


def _frequencies(n: KerasLayer, known: Vocabulary, size: int) -> Value:
    """The weight of each index; those before the words have the mean of all."""
    given = n.option("idf_weights", None)
    if not isinstance(given, list):
        return n.weights(1)[0]
    before = [] if known.told else [float(np.mean(given))] * known.first
    found = np.array([*before, *given], np.float32)
    return n.constant(np.pad(found, (0, size - len(found))))


# -- text as words ---------------------------------------------------------------------------------


@layer("TextVectorization")
def text_vectorization(n: KerasLayer) -> Value:
    """[B] or [B, 1] texts -> [B, indices], or one vector per text"""
    if n.option("ragged", False) or n.option("sparse", False):
        raise n.error("ragged and sparse results are not supported")
    mode, (words, counts) = n.option("output_mode", "int"), _split(n, _standard(n, n.tensor()))
    if n.option("ngrams", None) is not None:
        widths = n.option("ngrams")
        widths = tuple(range(1, widths + 1)) if isinstance(widths, int) else tuple(widths)
        if counts is None:
            shape = Term(n, shape_of(n, words))
            counts = constant(n, 0, i64).filled(shape.part(0, 0, -1)) + shape.column(-1)
            counts = counts.value
        words, _ = n(nn.StringNgrams(words, counts, widths=widths, pad=0))
    known = vocabulary(n, "", 1, mode)
    places = _places(n, words, known, mode)
    if mode != "int":
        return _encoded(n, places, known, mode)
    length = n.option("output_sequence_length", None)
    if length is None:
        return places
    here = Term(n, places)
    none = constant(n, 0, i64).filled(Term(n, shape_vector(n, [(places, 0), int(length)])))
    return joined([here, none], 1).part(1, 0, int(length)).value


def _standard(n: KerasLayer, x: Value) -> Value:
    """Text in lower case and without punctuation, by the configuration."""
    how = n.option("standardize", "lower_and_strip_punctuation")
    known = ("lower_and_strip_punctuation", "lower", "strip_punctuation", None)
    if how not in known:
        raise n.error("'standardize' is a function in Python, which is not in the file")
    if how in known[:2]:
        x = n(nn.StringCase(x, case="lower", ascii=True))
    if how in (known[0], known[2]):
        x = n(nn.RegexReplace(x, pattern=PUNCTUATION))
    return x


def _split(n: KerasLayer, x: Value) -> tuple[Value, Value | None]:
    """The words of each text, padded, and their number."""
    how = n.option("split", "whitespace")
    if how is None:
        return (x if x.type.rank > 1 else Term(n, x).spread(0, 1).value), None
    if how not in ("whitespace", "character"):
        raise n.error("'split' is a function in Python, which is not in the file")
    if x.type.rank > 1:
        x = Term(n, x).column(0).value
    unit = "character" if how == "character" else "delimiter"
    words, counts = n(nn.StringSplit(x, unit=unit))
    return words, counts


# -- hashes ----------------------------------------------------------------------------------------


@layer("Hashing")
def hashing(n: KerasLayer) -> Value:
    """The bucket of each element's text, by FarmHash or, with a salt, by SipHash."""
    x, count, mask = n.tensor(), n.integer("num_bins"), n.option("mask_value", None)
    salt = n.option("salt", None)
    key = () if salt is None else (salt, salt) if isinstance(salt, int) else salt
    text = x.type.element_type is string
    reserved = mask is not None and count > 1
    whole = n.cast(x, i64) if isinstance(x.type.element_type, FloatType) else x
    found = Term(n, buckets(n, whole, count - reserved, key))
    if reserved:
        wanted = n.constant(strings([mask]).reshape(())) if text else n.scalar(mask, x)
        found = Term(n, n(nn.Equal(x, wanted))).choose(0, found + 1)
    return encoded(n, found.value, count, n.option("output_mode", "int"))


@layer("HashedCrossing")
def hashed_crossing(n: KerasLayer) -> Value:
    """The bucket of the combined elements of all tensors at each position."""
    count = n.integer("num_bins")
    found = constant(n, np.uint64(CROSSING), u64)
    for x in n.tensors():
        is_text = x.type.element_type is string
        number = n(nn.StringHash(as_text(n, x))) if is_text else n.cast(x, i64)
        found = _crossed(n, found, Term(n, number).cast(u64))
    bucket = (found % constant(n, np.uint64(count), u64)).cast(i64)
    return encoded(n, bucket.value, count, n.option("output_mode", "int"))


def _crossed(n: KerasLayer, a: Term, b: Term) -> Term:
    """Two 64-bit hashes combined into one."""
    factor, by = constant(n, np.uint64(MIXING), u64), constant(n, np.uint64(47), u64)

    def mixed(x: Term) -> Term:
        return x ^ (x >> by)

    found = ((a ^ factor) ^ (mixed(b * factor) * factor)) * factor
    return mixed(mixed(found) * factor)

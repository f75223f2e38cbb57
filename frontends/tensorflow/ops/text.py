"""Strings: case, parts, words and characters, and numbers in text."""

from __future__ import annotations

from functools import reduce

from ...common.re2 import python_pattern, python_rewrite
from ...common.strings import buckets, scalar_string
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..ragged import inside, moved_up, padded, positions, splits_of, term64

UTF8 = ("UTF-8", "UTF8")
SPACES = r"\A[ \t-\r]+|[ \t-\r]+\Z"
REPLACEMENT = 0xFFFD


@rows("StringLower", "StringUpper")
def in_case(n: TfLayer, x: Value) -> Value:
    ascii = n.text("encoding", "", ("", "utf-8")) == ""
    return n(nn.StringCase(x, case=n.kind.removeprefix("String").lower(), ascii=ascii))


@rows("StringStrip")
def stripped(n: TfLayer, x: Value) -> Value:
    return n(nn.RegexReplace(x, pattern=SPACES))


@rows("RegexReplace", "StaticRegexReplace")
def regex_replaced(n: TfLayer, x: Value, *given: Value) -> Value:
    pattern, rewrite = (
        _known_text(n, given[i], name) if i < len(given) else n.text(name)
        for i, name in enumerate(("pattern", "rewrite"))
    )
    first = not n.flag("replace_global", True)
    return n(
        nn.RegexReplace(
            x,
            pattern=_translated(n, python_pattern, pattern),
            rewrite=_translated(n, python_rewrite, rewrite),
            first=first,
        )
    )


@rows("RegexFullMatch", "StaticRegexFullMatch")
def regex_matched(n: TfLayer, x: Value, given: Value | None = None) -> Value:
    pattern = n.text("pattern") if given is None else _known_text(n, given, "pattern")
    return n(nn.RegexMatch(x, pattern=_translated(n, python_pattern, pattern)))


def _translated(n: TfLayer, how: Callable[[str], str], text: str) -> str:
    try:
        return how(text)
    except ValueError as error:
        raise n.error(f"pattern '{text}': {error} is not supported") from None


def _known_text(n: TfLayer, x: Value, what: str) -> str:
    found = n.array(x)
    if found is None or found.size != 1:
        raise n.error(f"{what} must be known at import")
    return str(found.reshape(())[()])


def _string(n: TfLayer, text: str) -> Value:
    return n.constant(scalar_string(text))


# -- parts -----------------------------------------------------------------------------------------


@rows("StringJoin")
def joined_texts(n: TfLayer, *parts: Value) -> Value:
    """Texts concatenated; 0-d ones broadcast."""
    separator = n.text("separator")
    if not parts:
        raise n.error("no texts")

    def add(x: Value, y: Value) -> Value:
        between = n(nn.StringConcat(x, _string(n, separator))) if separator else x
        return n(nn.StringConcat(between, y))

    return reduce(add, parts)


@rows("ReduceJoin")
def reduced_texts(n: TfLayer, x: Value, axes: Value) -> Value:
    """Texts joined along axes, in the given order."""
    places = normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank)
    extents = [1 if axis in places else (x, axis) for axis in range(x.type.rank)]
    kept = extents
    if not n.flag("keep_dims"):
        kept = [d for axis, d in enumerate(extents) if axis not in places]
    separator = n.text("separator")
    for axis in places:
        x = n(nn.StringReduce(x, axes=(axis,), separator=separator, keep_dims=True))
    return reshape(n, x, kept) if places else x


@rows("StringLength")
def length(n: TfLayer, x: Value) -> Value:
    return n(nn.StringLength(x, unit=_unit(n)))


@rows("Substr")
def substring(n: TfLayer, x: Value, begin: Value, count: Value) -> Value:
    return n(nn.Substring(x, as_i64(n, begin), as_i64(n, count), unit=_unit(n)))


def _unit(n: TfLayer) -> str:
    return {"BYTE": "byte"}.get(n.text("unit", "BYTE", ("BYTE", "UTF8_CHAR")), "character")


# -- words -----------------------------------------------------------------------------------------


@rows("StringSplitV2")
def split(n: TfLayer, x: Value, separator: Value) -> list[Value]:
    """The words of each row as a sparse tensor: indices [K, 2], words [K], shape."""
    delimiter, most = _known_text(n, separator, "the separator"), n.int("maxsplit", -1)
    words, counts = n(
        nn.StringSplit(
            x,
            delimiter=delimiter,
            unit="delimiter" if delimiter else "word",
            most=most if most > 0 else None,
        )
    )
    return moved_up(n, Term(n, words), inside(Term(n, words), Term(n, counts)))


@rows("StringSplit")
def split_by_any(n: TfLayer, x: Value, delimiters: Value) -> list[Value]:
    """Splits at any character of the delimiters; without delimiters, into bytes."""
    text, unit = _known_text(n, delimiters, "the delimiter"), "byte"
    if text:
        unit = "delimiter"
        pattern = "[" + "".join(f"\\{c}" if c in r"\]^-[&~|" else c for c in text) + "]"
        x = n(nn.RegexReplace(x, pattern=pattern, rewrite="\0")) if len(text) > 1 else x
    words, counts = n(nn.StringSplit(x, delimiter="\0" if len(text) > 1 else text, unit=unit))
    mask = inside(Term(n, words), Term(n, counts))
    empty = words if n.flag("skip_empty", True) else Term(n, x).spread(0, 1).value
    mask = mask & ~Term(n, n(nn.Equal(empty, _string(n, ""))))
    return moved_up(n, Term(n, words), mask)


@rows("StringNGrams")
def ngrams(n: TfLayer, x: Value, splits: Value) -> list[Value]:
    """The n-grams of each row of strings, and the row splits."""
    words, counts = padded(Term(n, x), term64(n, splits), _string(n, ""))
    pad = n.int("pad_width", 0)
    runs, counts = n(
        nn.StringNgrams(
            words.value,
            counts.value,
            widths=n.ints("ngram_widths"),
            separator=n.text("separator"),
            left=n.text("left_pad"),
            right=n.text("right_pad"),
            pad=None if pad < 0 else pad,
            keep_short=n.flag("preserve_short_sequences"),
        )
    )
    return _ragged(n, [runs], counts, splits.type.element_type)


def _ragged(n: TfLayer, rows: Sequence[Value], counts: Value, element: Type) -> list[Value]:
    """The elements that count in each row, concatenated, and the row splits."""
    here = positions(inside(Term(n, rows[0]), Term(n, counts)))
    splits = splits_of(Term(n, counts)).cast(element)
    return [*(gathered_nd(n, row, here.value) for row in rows), splits.value]


# -- characters ------------------------------------------------------------------------------------


@rows("UnicodeDecode", "UnicodeDecodeWithOffsets")
def decoded(n: TfLayer, x: Value) -> list[Value]:
    """Row splits, character codes, and their byte offsets."""
    if n.text("input_encoding").upper() not in UTF8:
        raise n.error(f"encoding '{n.text('input_encoding')}' is not supported")
    how = n.text("errors", "replace", ("replace", "ignore"))
    replacement = n.int("replacement_char", REPLACEMENT)
    replacement = replacement if how == "replace" else None
    controls = n.flag("replace_control_characters")
    found = n(nn.CodePoints(x, replacement=replacement, controls=controls))
    element = n.element("Tsplits") if n.has("Tsplits") else i64
    *values, splits = _ragged(n, found[:2], found[2], element)
    return [splits, *values]


@rows("UnicodeEncode")
def encoded(n: TfLayer, x: Value, splits: Value) -> Value:
    if n.text("output_encoding").upper() not in UTF8:
        raise n.error(f"encoding '{n.text('output_encoding')}' is not supported")
    points, counts = padded(Term(n, x), term64(n, splits), n.scalar(0, x))
    replacement = chr(n.int("replacement_char", REPLACEMENT))
    if n.text("errors", "replace", ("replace", "ignore")) == "ignore":
        replacement = ""
    return n(nn.FromCodePoints(points.value, counts.value, replacement=replacement))


# -- numbers ---------------------------------------------------------------------------------------


@rows("AsString")
def written(n: TfLayer, x: Value) -> Value:
    """Numbers formatted by the attributes, as C's printf does."""
    element = x.type.element_type
    if element is i1:
        return n(nn.Where(x, _string(n, "true"), _string(n, "false")))
    if not isinstance(element, IntegerType | FloatType):
        raise n.error("only texts of real numbers are supported")
    width, precision = n.int("width", -1), n.int("precision", -1)
    kind = "e" if n.flag("scientific") else "g" if n.flag("shortest") else "f"
    kind = "d" if isinstance(element, IntegerType) else kind
    fill = n.text("fill")
    if isinstance(element, IntegerType) and element.signedness == "u":
        fill = fill.strip("+ ")  # flags of numbers that have a sign
    parts = [fill, str(width) if width > -1 else ""]
    parts += [f".{precision}" if precision > -1 else "", kind]
    return n(nn.FormatNumber(x, pattern="%" + "".join(parts)))


@rows("StringToNumber")
def read(n: TfLayer, x: Value) -> Value:
    element = n.element("out_type") if n.has("out_type") else f32
    return n(nn.FromString(x, outs=[TensorType(x.type.shape, element)]))


@rows("StringToHashBucketFast", "StringToHashBucketStrong")
def bucket(n: TfLayer, x: Value) -> Value:
    return buckets(n, x, n.int("num_buckets"), n.ints("key"))

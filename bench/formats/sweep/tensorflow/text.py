"""Operators on strings: letters, substrings, words, characters, numbers, and lookup tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cases import UnmakableError
from .base import Given, Room, numbers, tf

room = Room()
WORDS = [
    "  two words ",
    "",
    "Äpfel und Öl",
    "a-b_c.d",
    "UPPER lower",
    "日本語 text",
    "tab\tnew\n",
    "x,y,,z",
    "12.5",
]


def _texts(rng: Any, shape: list[int]) -> np.ndarray:
    return np.array(rng.choice(np.array(WORDS, object), shape), object)


SHAPES = [[4], [], [2, 3], [0]]


@room("StringLower StringUpper", shape=SHAPES, encoding=["", "utf-8"])
def cased(rng: Any, op: Any, shape: list[int], encoding: str) -> Given:
    return (lambda x: op(x, encoding=encoding)), [_texts(rng, shape)]


@room("StringStrip", shape=SHAPES)
def stripped(rng: Any, op: Any, shape: list[int]) -> Given:
    return op, [_texts(rng, shape)]


@room("StringLength", shape=SHAPES, unit=["BYTE", "UTF8_CHAR"])
def length(rng: Any, op: Any, shape: list[int], unit: str) -> Given:
    return (lambda x: op(x, unit=unit)), [_texts(rng, shape)]


@room(
    "Substr",
    shape=[[4], [], [2, 3]],
    unit=["BYTE", "UTF8_CHAR"],
    begin=[0, 2, -3, -1],
    count=[1, 0, 50],
    each=[False, True],
)
def part(
    rng: Any, op: Any, shape: list[int], unit: str, begin: int, count: int, each: bool
) -> Given:
    x = np.vectorize(lambda s: f"abc{s}xyz".replace("é", "e"), otypes=[object])(_texts(rng, shape))
    if unit == "BYTE":
        x = np.vectorize(lambda s: s.encode("ascii", "replace").decode(), otypes=[object])(x)
    at, many = np.array(begin, np.int32), np.array(count, np.int32)
    if each:
        at, many = np.full(shape, at), np.full(shape, many)
    return (lambda x, b, c: op(x, b, c, unit=unit)), [x, at, many]


PATTERNS = [
    " ",
    "[a-z]+",
    "(\\w)(\\w)",
    "^ +| +$",
    "[^\\x20-\\x7e]",
    "\\s",
    "x|y",
    "\\d+\\.\\d",
    ".",
]


@room(
    "RegexReplace StaticRegexReplace",
    shape=SHAPES,
    pattern=PATTERNS,
    rewrite=["-", "", "<\\0>"],
    every=[True, False],
)
def replaced(rng: Any, op: Any, shape: list[int], pattern: str, rewrite: str, every: bool) -> Given:
    if op.name == "RegexReplace":
        return (lambda x: op(x, pattern, rewrite, replace_global=every)), [_texts(rng, shape)]
    return (lambda x: op(x, pattern=pattern, rewrite=rewrite, replace_global=every)), [
        _texts(rng, shape)
    ]


@room("RegexFullMatch StaticRegexFullMatch", shape=SHAPES, pattern=[*PATTERNS, ".*", "[a-zA-Z ]*"])
def matched(rng: Any, op: Any, shape: list[int], pattern: str) -> Given:
    if op.name == "RegexFullMatch":
        return (lambda x: op(x, pattern)), [_texts(rng, shape)]
    return (lambda x: op(x, pattern=pattern)), [_texts(rng, shape)]


@room("StringJoin", shapes=[[[3], [3]], [[], [2]], [[2], [2], [2]], [[2]]], separator=["", "-"])
def joined(rng: Any, op: Any, shapes: list[list[int]], separator: str) -> Given:
    return (lambda *x: op(x, separator=separator)), [_texts(rng, shape) for shape in shapes]


@room(
    "ReduceJoin",
    shape=[[4], [2, 3], [0, 2]],
    axes=[[0], [-1], [], [0, 1], [1, 0]],
    separator=["", ", "],
    keep=[False, True],
)
def reduced(
    rng: Any, op: Any, shape: list[int], axes: list[int], separator: str, keep: bool
) -> Given:
    along = np.array(axes, np.int32)
    return (lambda x: op(x, along, separator=separator, keep_dims=keep)), [_texts(rng, shape)]


@room("StringSplitV2", shape=[[4], [0], [1]], separator=["", " ", ",", "::"], most=[-1, 1, 2])
def split(rng: Any, op: Any, shape: list[int], separator: str, most: int) -> Given:
    return (lambda x: op(x, separator, maxsplit=most)), [_texts(rng, shape)]


@room("StringSplit", shape=[[4], [0], [1]], delimiter=["", " ", " ,", "-_."], skip=[True, False])
def split_by_any(rng: Any, op: Any, shape: list[int], delimiter: str, skip: bool) -> Given:
    x = np.vectorize(lambda s: s.encode("ascii", "replace").decode(), otypes=[object])(
        _texts(rng, shape)
    )
    return (lambda x: op(x, delimiter, skip_empty=skip)), [x]


@room(
    "StringNGrams",
    widths=[[2], [1, 3], [5]],
    left=["", "<"],
    right=["", ">"],
    pad=[0, 1, -1],
    short=[False, True],
    splits=["int64", "int32"],
    rows=[[0, 3, 3, 5], [0, 5], [0, 0]],
)
def ngrams(
    rng: Any, op: Any, widths: list[int], left: str, right: str, pad: int, short: bool, splits: str,
    rows: list[int],
) -> Given:  # fmt: skip
    how = {"separator": " ", "ngram_widths": widths, "left_pad": left, "right_pad": right,
           "pad_width": pad, "preserve_short_sequences": short}  # fmt: skip
    return (lambda x, s: op(x, s, **how)), [_texts(rng, [rows[-1]]), np.array(rows, splits)]


@room("UnicodeDecode UnicodeDecodeWithOffsets", shape=[[4], [0], [1]], errors=["replace", "ignore"],
      controls=[False, True], splits=["int64", "int32"])  # fmt: skip
def decoded(rng: Any, op: Any, shape: list[int], errors: str, controls: bool, splits: str) -> Given:
    if op.name.endswith("Offsets") and splits == "int32":
        raise UnmakableError("a check of TensorFlow's kernel ends the process")
    how = {"input_encoding": "UTF-8", "errors": errors, "replace_control_characters": controls}
    return (lambda x: op(x, Tsplits=tf.as_dtype(splits), **how)), [_texts(rng, shape)]


@room(
    "UnicodeEncode",
    rows=[[0, 3, 3, 5], [0, 5], [0, 0]],
    values=["letters", "wrong"],
    errors=["replace", "ignore"],
    splits=["int64", "int32"],
)
def encoded(rng: Any, op: Any, rows: list[int], values: str, errors: str, splits: str) -> Given:
    points = rng.integers(65, 900, rows[-1]).astype(np.int32)
    if values == "wrong" and points.size:
        points[0], points[-1] = 0x110000, 0xD800
    how = {"output_encoding": "UTF-8", "errors": errors}
    return (lambda x, s: op(x, s, **how)), [points, np.array(rows, splits)]


@room(
    "AsString",
    type=["float32", "float64", "int32", "int64", "bool", "int8", "uint8", "float16"],
    shape=[[4], [], [0]],
    precision=[-1, 3],
    how=["plain", "scientific", "shortest"],
    width=[-1, 9],
    fill=["", "0", " "],
)
def written(
    rng: Any, op: Any, type: str, shape: list[int], precision: int, how: str, width: int, fill: str
) -> Given:
    kind = {} if how == "plain" else {how: True}
    return (lambda x: op(x, precision=precision, width=width, fill=fill, **kind)), [
        numbers(rng, shape, type)
    ]


@room("StringToNumber", type=["float32", "float64", "int32", "int64"], shape=[[4], [], [0]],
      values=["plain", "spaces", "large"])  # fmt: skip
def read(rng: Any, op: Any, type: str, shape: list[int], values: str) -> Given:
    x = rng.integers(-999, 999, shape).astype(np.float64)
    x = x / 8 if "float" in type else x.astype(np.int64)
    x = x * 10.0**20 if values == "large" and "float" in type else x
    text = np.vectorize(lambda v: f"  {v} " if values == "spaces" else f"{v}", otypes=[object])(x)
    return (lambda x: op(x, out_type=tf.as_dtype(type))), [text]


@room("StringToHashBucketFast", shape=SHAPES, buckets=[10, 1, 10**9])
def hashed(rng: Any, op: Any, shape: list[int], buckets: int) -> Given:
    return (lambda x: op(x, num_buckets=buckets)), [_texts(rng, shape)]


@room("StringToHashBucketStrong", shape=SHAPES, buckets=[10, 1], key=[[1, 2], [-5, 2**40]])
def hashed_by_key(rng: Any, op: Any, shape: list[int], buckets: int, key: list[int]) -> Given:
    return (lambda x: op(x, num_buckets=buckets, key=key)), [_texts(rng, shape)]


@room("LookupTable", keys=["string", "int64"], values=["int64", "float32", "string"], shape=SHAPES,
      outside=[False, True])  # fmt: skip
def looked_up(rng: Any, op: Any, keys: str, values: str, shape: list[int], outside: bool) -> Given:
    """A lookup in a table that the model initializes."""
    if (keys, values) == ("int64", "int64"):
        raise ValueError("TensorFlow has no such kernel")
    names = np.array(["a", "b", "cc"], object) if keys == "string" else np.array([3, -5, 2**40])
    found = numbers(rng, [3], values)
    x = rng.choice(names, shape)
    if outside and np.size(x):
        x = np.array(x, names.dtype).reshape(shape)
        x.reshape(-1)[:1] = "zz" if keys == "string" else 8
    default = numbers(rng, [], values)
    start = tf.lookup.KeyValueTensorInitializer(tf.constant(names), tf.constant(found))
    table = tf.lookup.StaticHashTable(start, tf.constant(default))
    return (lambda x: table.lookup(x)), [np.asarray(x)]


subjects = room.subjects

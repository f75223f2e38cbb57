"""Elementwise functions of strings, joining of strings, and n-grams."""

from __future__ import annotations

import math
import re

from ..vocabulary import *
from .base import one_of, tensor
from .city_hash import city_hash
from .fingerprints import farm_fingerprint, sip_hash
from .host import HostOp
from .host_types import Strings, string
from .strings import BYTES, filled_up, texts_of


class StringCase(HostOp, name="nn.string_case"):
    """Each string in lower or upper case; with `ascii`, only the letters a to z change.

    Source: TensorFlow's StringLower and StringUpper.
    """

    x: Operand = operand(Strings)
    case: str = attribute(one_of("lower", "upper"))
    ascii: bool = attribute(BOOL, default=False)
    out: Result = result(Strings)

    example = (
        '%y = nn.string_case %x {case = "lower"} : (tensor<4x!nn.string>) -> tensor<4x!nn.string>'
    )

    @classmethod
    def infer(cls, types, attrs):
        return [types[0]]

    def evaluate(self, x):
        if self.ascii:
            table = {a: a - 32 if self.case == "upper" else a + 32 for a in self._letters()}
            return texts_of(x.shape, (text.translate(table) for text in x.reshape(-1)))
        return texts_of(x.shape, (getattr(text, self.case)() for text in x.reshape(-1)))

    def _letters(self):
        return range(97, 123) if self.case == "upper" else range(65, 91)


class RegexReplace(HostOp, name="nn.regex_replace"):
    r"""Each string with all matches of `pattern`, or with `first` only the first, replaced by
    `rewrite`.

    Both are in Python's notation; `rewrite` may name groups, as in "\1". An empty match directly
    after another match is removed instead of replaced. Source: TensorFlow's RegexReplace.
    """

    x: Operand = operand(Strings)
    pattern: str = attribute(STRING)
    rewrite: str = attribute(STRING, default="")
    first: bool = attribute(BOOL, default=False)
    out: Result = result(Strings)

    example = (
        '%y = nn.regex_replace %x {pattern = "[.,]"} : '
        "(tensor<4x!nn.string>) -> tensor<4x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return [types[0]]

    def check(self):
        try:
            re.compile(self.pattern).sub(self.rewrite, "")
        except (re.error, IndexError) as error:
            raise NncError(f"the pattern is not valid: {error}") from None

    def evaluate(self, x):
        return texts_of(x.shape, map(self._replaced, x.reshape(-1)))

    def _replaced(self, text: str) -> str:
        end, plain = -1, "\\" not in self.rewrite

        def put(match: re.Match) -> str:
            nonlocal end
            if match.span() == (end, end):
                return ""
            end = match.end()
            return self.rewrite if plain else match.expand(self.rewrite)

        return re.compile(self.pattern).sub(put, text, int(self.first))


class StringHash(HostOp, name="nn.string_hash"):
    """A hash of 64 bits of each string's bytes, by FarmHash or CityHash 1.0.

    With `key`, two integers, it is SipHash instead. With `buckets`, the result is the unsigned hash
    modulo that number. Source: TensorFlow's StringToHashBucketFast and -Strong, and CatBoost.
    """

    x: Operand = operand(Strings)
    buckets: int = attribute(I64, default=0)
    key: tuple[int, ...] = attribute(INT_ARRAY, default=())
    function: str = attribute(one_of("farm", "city"), default="farm")
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.string_hash %x {buckets = 10} : (tensor<4x!nn.string>) -> tensor<4xi64>"

    @classmethod
    def infer(cls, types, attrs):
        if len(attrs.key) not in (0, 2) or attrs.buckets < 0:
            raise NncError("a key must have two integers, and buckets must not be negative")
        return [tensor(types[0].shape, i64)]

    def evaluate(self, x):
        known: dict[str, int] = {}
        for text in x.reshape(-1):
            if text not in known:
                known[text] = self._hash(text.encode(*BYTES))
        found = np.array([known[text] for text in x.reshape(-1)], np.uint64).reshape(x.shape)
        return (found % np.uint64(self.buckets) if self.buckets else found).astype(np.int64)

    def _hash(self, data: bytes) -> int:
        if self.key:
            return sip_hash(data, self.key)  # type: ignore[arg-type]
        return city_hash(data) if self.function == "city" else farm_fingerprint(data)


class StringNgrams(HostOp, name="nn.string_ngrams"):
    """The n-grams of each row: all runs of n neighbouring strings, joined, for each n in `widths`.

    Only the first `counts` strings of a row count; the first `lengths` strings of a row of the
    result are its n-grams. Before them, a row gets `pad` strings `left` in front and `right`
    behind, but at most (and by default) n - 1. With `keep_short`, a row too short for every n is
    one n-gram.
    Shapes: x [I.., W], counts [I..] -> out [I.., ?], lengths [I..].
    Source: TensorFlow's StringNGrams.
    """

    x: Operand = operand(Strings)
    counts: Operand = operand(AnyRankedTensor)
    widths: tuple[int, ...] = attribute(INT_ARRAY)
    separator: str = attribute(STRING, default=" ")
    left: str = attribute(STRING, default="")
    right: str = attribute(STRING, default="")
    pad: int | None = attribute(I64, optional=True)
    keep_short: bool = attribute(BOOL, default=False)
    out: Result = result(Strings)
    lengths: Result = result(AnyRankedTensor)

    example = """
        %y, %m = nn.string_ngrams %x, %n {widths = array<i64: 1, 2>, pad = 0} :
            (tensor<2x?x!nn.string>, tensor<2xi64>) -> (tensor<2x?x!nn.string>, tensor<2xi64>)
    """

    @classmethod
    def infer(cls, types, attrs):
        x, counts = types
        if counts.rank != x.rank - 1 or any(width < 1 for width in attrs.widths):
            raise NncError(f"x is '{x}', counts are '{counts}', widths {list(attrs.widths)}")
        return [tensor((*x.shape[:-1], None), string), tensor(counts.shape, i64)]

    def evaluate(self, x, counts):
        rows = x.reshape(counts.size, x.shape[-1])
        pairs = zip(rows, counts.reshape(-1), strict=True)
        return filled_up([self._runs(list(row[:count])) for row, count in pairs], counts.shape)

    def _runs(self, row: list[str]) -> list[str]:
        runs = [run for width in self.widths for run in self._of_width(row, width)]
        if not runs and row and self.keep_short:
            runs = self._of_width(row, len(row) + 2 * (self.pad or 0))
        return runs

    def _of_width(self, row: list[str], width: int) -> list[str]:
        pad = width - 1 if self.pad is None else min(self.pad, width - 1)
        padded = [*[self.left] * pad, *row, *[self.right] * pad]
        runs = (padded[i : i + width] for i in range(len(padded) - width + 1))
        return [_whole(self.separator.join(run)) for run in runs]


class StringReduce(HostOp, name="nn.string_reduce"):
    """The strings along `axes` joined, with `separator` between them; the last of the axes runs
    fastest.

    Source: TensorFlow's ReduceJoin.
    """

    x: Operand = operand(Strings)
    axes: tuple[int, ...] = attribute(INT_ARRAY)
    separator: str = attribute(STRING, default="")
    keep_dims: bool = attribute(BOOL, default=False)
    out: Result = result(Strings)

    example = (
        '%y = nn.string_reduce %x {axes = array<i64: 1>, separator = "-"} : '
        "(tensor<4x2x!nn.string>) -> tensor<4x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        (x,), axes = types, attrs.axes
        if len(set(axes)) != len(axes) or any(not 0 <= axis < x.rank for axis in axes):
            raise NncError(f"x is '{x}', which has no axes {list(axes)}")
        kept = [1 if i in axes else d for i, d in enumerate(x.shape)]
        dropped = [d for i, d in enumerate(x.shape) if i not in axes]
        return [tensor(tuple(kept if attrs.keep_dims else dropped), string)]

    def evaluate(self, x):
        rest = [i for i in range(x.ndim) if i not in self.axes]
        shape = tuple(x.shape[i] for i in rest)
        count = math.prod(x.shape[i] for i in self.axes)
        rows = x.transpose(*rest, *self.axes).reshape(math.prod(shape), count)
        found = texts_of(shape, (_whole(self.separator.join(row)) for row in rows))
        return np.expand_dims(found, self.axes) if self.keep_dims else found


class FormatNumber(HostOp, name="nn.format_number"):
    """Each number as text in a format of C's printf, as "%.2f". Source: TensorFlow's AsString."""

    x: Operand = operand(AnyRankedTensor)
    pattern: str = attribute(STRING)
    out: Result = result(Strings)

    example = (
        '%s = nn.format_number %x {pattern = "%.2f"} : (tensor<4xf32>) -> tensor<4x!nn.string>'
    )

    def check(self):
        if not re.fullmatch(r"%[-+ #0]*\d{0,3}(\.\d{1,3})?[defg]", self.pattern):
            raise NncError(f"'{self.pattern}' is not a format of one number")

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(types[0].shape, string)]

    def evaluate(self, x):
        return texts_of(x.shape, (self.pattern % number for number in x.reshape(-1).tolist()))


def _whole(text: str) -> str:
    """The text with characters put together again that were split into their bytes."""
    return text if text.isascii() else text.encode(*BYTES).decode(*BYTES)

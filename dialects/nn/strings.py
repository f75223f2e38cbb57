"""Strings: tensors of text, which a host handles."""

from __future__ import annotations

import re

from ..vocabulary import *
from .base import broadcast_shapes, one_of, tensor
from .creation import ELEMENTS
from .host import HostOp
from .host_types import Strings, string

WORDS = AttrKind[tuple[str, ...]](
    "array of strings",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, StringAttr) for e in a.elements),
    lambda a: tuple(e.value for e in a.elements),
    lambda words: ArrayAttr(tuple(map(StringAttr, words))),
)


BYTES = ("utf-8", "surrogateescape")
"""The codec and the error handling with which bytes, whether valid UTF-8 or not, become a string
and the string becomes the same bytes again.
"""


def filled_up(rows, shape):
    """Rows of strings as an array [I.., W], with "" after the shorter ones, and their lengths
    [I..].

    `shape` is [I..]; W is the length of the longest row.
    """
    counts = np.array([len(row) for row in rows], np.int64).reshape(shape)
    width = int(counts.max(initial=0))
    filled = [piece for row in rows for piece in (*row, *[""] * (width - len(row)))]
    return texts_of((*shape, width), filled), counts


def texts_of(shape, texts):
    """An array of this shape with the strings in row-major order."""
    found = np.empty(shape, object)
    found.reshape(-1)[:] = list(texts)
    return found


class StringConcat(HostOp, name="nn.string_concat"):
    """Each string of lhs followed by that of rhs; the operands broadcast.

    Source: ONNX StringConcat-20.
    """

    lhs: Operand = operand(Strings)
    rhs: Operand = operand(Strings)
    out: Result = result(Strings)

    example = (
        "%c = nn.string_concat %a, %b : "
        "(tensor<2x!nn.string>, tensor<1x!nn.string>) -> tensor<2x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(broadcast_shapes(*(t.shape for t in types)), string)]

    def evaluate(self, lhs, rhs):
        return np.asarray(lhs + rhs, object)


class StringSplit(HostOp, name="nn.string_split"):
    """Each string split into pieces, and the number of pieces of each.

    `unit` says what a piece is: "delimiter", the text between two delimiters (an empty delimiter
    stands for any run of white space, and white space at both ends is ignored);
    "character" or "byte", each one; "word", the text between white space of ASCII. After `most`
    delimiters or words, the rest of the string is the last piece; for words it is there even if it
    is empty. Shorter rows are filled up with empty strings.
    Shapes: x [I..] -> pieces [I.., ?], counts [I..]. Source: ONNX StringSplit-20; TensorFlow's
    UnicodeSplit and StringsByteSplit.
    """

    x: Operand = operand(Strings)
    delimiter: str = attribute(STRING, default="")
    unit: str = attribute(one_of("delimiter", "word", "character", "byte"), default="delimiter")
    most: int | None = attribute(I64, optional=True)
    pieces: Result = result(Strings)
    counts: Result = result(AnyRankedTensor)

    example = (
        "%p, %n = nn.string_split %x : "
        "(tensor<2x!nn.string>) -> (tensor<2x?x!nn.string>, tensor<2xi64>)"
    )

    @classmethod
    def infer(cls, types, attrs):
        shape = types[0].shape
        return [tensor((*shape, None), string), tensor(shape, i64)]

    def evaluate(self, x):
        return filled_up([self._split(text) for text in x.reshape(-1)], x.shape)

    def _split(self, text):
        if self.unit == "delimiter":
            text = text if self.delimiter else text.strip()
            return text.split(self.delimiter or None, -1 if self.most is None else self.most)
        if self.unit == "word":
            pieces = text.encode(*BYTES).split(None, -1 if self.most is None else self.most)
            pieces += [b""] * (len(pieces) == self.most)
            return [piece.decode(*BYTES) for piece in pieces]
        if self.unit == "character" or text.isascii():
            return list(text)
        return [bytes([b]).decode(*BYTES) for b in text.encode(*BYTES)]


class StringNormalize(HostOp, name="nn.string_normalize"):
    """A row of strings without its stop words, in lower or upper case as `case` says.

    If no string is left, the result is one empty string.
    Shapes: x [C] -> out [?], x [1, C] -> out [1, ?]. Source: ONNX StringNormalizer-10.
    """

    x: Operand = operand(Strings)
    case: str = attribute(one_of("none", "lower", "upper"))
    case_sensitive: bool = attribute(BOOL, default=False)
    stop_words: tuple[str, ...] = attribute(WORDS)
    out: Result = result(Strings)

    example = (
        '%y = nn.string_normalize %x {case = "lower", stop_words = ["a"]} : '
        "(tensor<4x!nn.string>) -> tensor<?x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        (x,) = types
        if x.rank not in (1, 2) or (x.rank == 2 and x.shape[0] not in (1, None)):
            raise NncError(f"x must be one row of strings, but got '{x}'")
        kept = None if attrs.stop_words or not x.shape[-1] else x.shape[-1]
        return [tensor((*x.shape[:-1], kept), string)]

    def evaluate(self, x):
        if x.ndim == 2 and x.shape[0] != 1:
            raise NncError(f"x must be one row of strings, but has {x.shape[0]} rows")

        def key(text):
            return text if self.case_sensitive else text.lower()

        stops = {key(word) for word in self.stop_words}
        kept = [text for text in x.reshape(-1) if key(text) not in stops]
        if self.case != "none":
            kept = [text.lower() if self.case == "lower" else text.upper() for text in kept]
        kept = kept or [""]
        return texts_of((*x.shape[:-1], len(kept)), kept)


class RegexMatch(HostOp, name="nn.regex_match"):
    """Whether each string as a whole matches the pattern, a regular expression of Python.

    Source: ONNX RegexFullMatch-20.
    """

    x: Operand = operand(Strings)
    pattern: str = attribute(STRING)
    out: Result = result(AnyRankedTensor)

    example = '%m = nn.regex_match %x {pattern = "a+"} : (tensor<2x!nn.string>) -> tensor<2xi1>'

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(types[0].shape, i1)]

    def check(self):
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise NncError(f"the pattern is not valid: {error}") from None

    def evaluate(self, x):
        matches = re.compile(self.pattern).fullmatch
        found = [matches(text) is not None for text in x.reshape(-1)]
        return np.array(found, np.bool_).reshape(x.shape)


class Tokenize(HostOp, name="nn.tokenize"):
    r"""The pieces of each string: what matches `pattern`, or without it what stands between
    separators.

    The separators are patterns; the first one splits the strings, the next one the pieces, and so
    on. Pieces of less than `least` characters are dropped. With `marks`, the pieces of a string
    stand between "\x02" and "\x03", unless no string has any. Shorter rows are filled up with
    `padding`. Patterns are regular expressions of Python. Shapes: x [I..] -> pieces [I.., ?].
    Source: Tokenizer of ONNX Runtime's contrib operators.
    """

    x: Operand = operand(Strings)
    pattern: str = attribute(STRING, default="")
    separators: tuple[str, ...] = attribute(WORDS)
    least: int = attribute(I64, default=1)
    padding: str = attribute(STRING, default="")
    marks: bool = attribute(BOOL, default=False)
    pieces: Result = result(Strings)

    example = (
        '%p = nn.tokenize %x {separators = [" "], padding = "#"} : '
        "(tensor<2x!nn.string>) -> tensor<2x?x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return [tensor((*types[0].shape, None), string)]

    def check(self):
        for pattern in (self.pattern, *self.separators):
            try:
                re.compile(pattern)
            except re.error as error:
                raise NncError(f"the pattern '{pattern}' is not valid: {error}") from None

    def evaluate(self, x):
        rows = [self._pieces(text) for text in x.reshape(-1)]
        width = max(map(len, rows), default=0)
        if self.marks and width:
            rows = [["\x02", *row, "\x03"] for row in rows]
            width += 2
        filled = [piece for row in rows for piece in (*row, *[self.padding] * (width - len(row)))]
        return texts_of((*x.shape, width), filled)

    def _pieces(self, text: str) -> list[str]:
        if self.pattern:
            pieces = [text[begin:end] for begin, end in _matches(re.compile(self.pattern), text)]
        else:
            pieces = [text]
            for pattern in map(re.compile, self.separators):
                pieces = [part for piece in pieces for part in _between(pattern, piece)]
        return [piece for piece in pieces if piece and len(piece) >= self.least]


def _between(pattern: re.Pattern, text: str) -> list[str]:
    """The pieces of a text between the matches of a pattern."""
    parts, last = [], 0
    for begin, end in _matches(pattern, text):
        parts.append(text[last:begin])
        last = end
    return [*parts, text[last:]]


def _matches(pattern: re.Pattern, text: str) -> list[tuple[int, int]]:
    """(begin, end) of the matches that are not empty.

    Of the matches that begin at a place the longest counts, as in POSIX; Python would take the
    first alternative of the pattern.
    """
    found, at = [], 0
    while match := pattern.search(text, at):
        begin = match.start()
        ends = range(len(text), max(match.end(), begin), -1)
        end = next((end for end in ends if pattern.fullmatch(text, begin, end)), match.end())
        if end > begin:
            found.append((begin, end))
        at = max(end, begin + 1)
    return found


class HashText(HostOp, name="nn.hash_text"):
    """A hash of each string as u32: MurmurHash3_x86_32 of its UTF-8 form. Source:
    Appleby (2011).
    """

    x: Operand = operand(Strings)
    seed: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    example = "%h = nn.hash_text %x : (tensor<2x!nn.string>) -> tensor<2xui32>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(types[0].shape, IntegerType(32, "u"))]

    def evaluate(self, x):
        found = [_murmur(text.encode(), self.seed) for text in x.reshape(-1)]
        return np.array(found, np.uint32).reshape(x.shape)


def _murmur(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32: blocks of 4 bytes, of which the last one may be shorter."""
    mask, total = (1 << 32) - 1, seed & ((1 << 32) - 1)
    for i in range(0, len(data), 4):
        block = data[i : i + 4]
        word = int.from_bytes(block, "little") * 0xCC9E2D51 & mask
        total ^= ((word << 15 & mask) | word >> 17) * 0x1B873593 & mask
        if len(block) == 4:
            total = (((total << 13 & mask) | total >> 19) * 5 + 0xE6546B64) & mask
    total ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        total = (total ^ total >> shift) * factor & mask
    return total ^ total >> 16


class Lookup(HostOp, name="nn.lookup"):
    """`values[i]` where an element of x is `keys[i]`, and `default` where it is none of the keys.

    Source: ONNX LabelEncoder-4 and CategoryMapper-1 of ai.onnx.ml.
    """

    x: Operand = operand(AnyRankedTensor)
    keys: DenseElements | DenseResource = attribute(ELEMENTS)
    values: DenseElements | DenseResource = attribute(ELEMENTS)
    default: DenseElements | DenseResource = attribute(ELEMENTS)
    out: Result = result(AnyRankedTensor)

    example = """
        %y = nn.lookup %x {
            keys = dense<["a", "b"]> : tensor<2x!nn.string>, values = dense<[1, 2]> : tensor<2xi64>,
            default = dense<-1> : tensor<i64>
        } : (tensor<4x!nn.string>) -> tensor<4xi64>
    """

    @classmethod
    def infer(cls, types, attrs):
        keys, values, default = attrs.keys.type, attrs.values.type, attrs.default.type
        if keys.element_type is not types[0].element_type:
            raise NncError(f"keys are '{keys}', but x is '{types[0]}'")
        if keys.shape != values.shape or keys.rank != 1:
            raise NncError(f"keys are '{keys}', but values are '{values}'")
        if default is not tensor((), values.element_type):
            raise NncError(f"the default is '{default}', but values are '{values}'")
        return [tensor(types[0].shape, values.element_type)]

    def evaluate(self, x):
        keys, values = self.keys.to_numpy(), self.values.to_numpy()
        default = self.default.to_numpy()
        table = dict(zip(keys[::-1].tolist(), values[::-1].tolist(), strict=True))
        found = [table.get(key, default[()]) for key in x.reshape(-1).tolist()]
        if x.dtype.kind == "f" and np.isnan(keys).any():
            unknown = np.isnan(x.reshape(-1))
            nan = values[np.isnan(keys)][0]
            found = [nan if no else one for one, no in zip(found, unknown, strict=True)]
        return np.array(found, values.dtype).reshape(x.shape)


class ToString(HostOp, name="nn.to_string"):
    """Each number as text: integers whole, floats of any type with 8 digits at most.

    Source: ONNX Cast-25; ONNX Runtime for the number of digits, which ONNX leaves open.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(Strings)

    example = "%s = nn.to_string %x : (tensor<4xf32>) -> tensor<4x!nn.string>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(types[0].shape, string)]

    def evaluate(self, x):
        return texts_of(x.shape, map(number_text, x.reshape(-1)))


def number_text(number) -> str:
    """A NumPy number as ONNX casts it to a string: `1`, `0.5`, `NaN`, `INF`."""
    if isinstance(number, np.bool_):
        return str(int(number))
    if number != number:
        return "NaN"
    if isinstance(number, np.integer):
        return str(number)
    return f"{float(number):.8g}".replace("inf", "INF")


class FromString(HostOp, name="nn.from_string"):
    """The number that each string spells, in Python's notation; an integer is truncated if need be.

    "2.7" as i64 is 2. Source: ONNX Cast-25.
    """

    x: Operand = operand(Strings)
    outs: Results = results(AnyRankedTensor)

    example = "%x = nn.from_string %s : (tensor<4x!nn.string>) -> tensor<4xf32>"

    def check(self):
        (x,), (out,) = self.operand_types, self.result_types
        known = isinstance(out, TensorType) and isinstance(
            out.element_type, IntegerType | FloatType
        )
        if not known or out.shape != x.shape:
            raise NncError(f"'{x}' cannot become '{out}'")

    @classmethod
    def infer(cls, types, attrs):
        return None

    def evaluate(self, x):
        from ...ir.numpy_types import number_kind, type_to_numpy

        dtype = type_to_numpy(self.outs[0].type.element_type)
        read = float if number_kind(dtype) == "f" else integer_of
        found = np.empty(x.shape, dtype)
        for i, text in enumerate(x.reshape(-1)):
            try:
                found.reshape(-1)[i] = read(text)
            except (ValueError, OverflowError):
                raise NncError(f"'{text}' is not a number of type {dtype}") from None
        return found


def integer_of(text: str) -> int:
    """The integer that a text spells, truncated if it has a fraction. Raises ValueError."""
    try:
        return int(text)
    except ValueError:
        return int(float(text))

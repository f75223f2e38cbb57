"""Text as bytes and characters: lengths, substrings and code points."""

from __future__ import annotations

from ..vocabulary import *
from .base import broadcast_shapes, one_of, tensor
from .host import HostOp
from .host_types import Strings, string
from .strings import BYTES, texts_of

UNITS = one_of("byte", "character")


class StringLength(HostOp, name="nn.string_length"):
    """The number of bytes or characters of each string. Source: TensorFlow's StringLength."""

    x: Operand = operand(Strings)
    unit: str = attribute(UNITS, default="byte")
    out: Result = result(AnyRankedTensor)

    example = "%n = nn.string_length %x : (tensor<4x!nn.string>) -> tensor<4xi32>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(types[0].shape, i32)]

    def evaluate(self, x):
        lengths = [len(_units(text, self.unit)) for text in x.reshape(-1)]
        return np.array(lengths, np.int32).reshape(x.shape)


class Substring(HostOp, name="nn.substring"):
    """A substring of each string: `length` bytes or characters from position `begin` on.

    A negative position counts from the end; a negative length means up to the end. The three
    operands broadcast. A position outside of its string is an error. Source: TensorFlow's Substr.
    """

    x: Operand = operand(Strings)
    begin: Operand = operand(AnyRankedTensor)
    length: Operand = operand(AnyRankedTensor)
    unit: str = attribute(UNITS, default="byte")
    out: Result = result(Strings)

    example = (
        "%y = nn.substring %x, %b, %n : "
        "(tensor<4x!nn.string>, tensor<i64>, tensor<i64>) -> tensor<4x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(broadcast_shapes(*(t.shape for t in types)), string)]

    def evaluate(self, x, begin, length):
        rows = np.broadcast_arrays(x, begin, length)
        parts = (self._part(*row) for row in zip(*(row.reshape(-1) for row in rows), strict=True))
        return texts_of(rows[0].shape, parts)

    def _part(self, text, begin, length):
        units = _units(text, self.unit)
        if not -len(units) <= begin <= len(units):
            raise NncError(f"position {begin} is outside of '{text}'")
        first = int(begin) + len(units) * int(begin < 0)
        last = len(units) if length < 0 else first + int(length)
        part = units[first:last]
        return part.decode(*BYTES) if isinstance(part, bytes) else part


def _units(text: str, unit: str) -> str | bytes:
    """The sequence whose items are the string's bytes or characters."""
    return text if unit == "character" or text.isascii() else text.encode(*BYTES)


class CodePoints(HostOp, name="nn.code_points"):
    """The code points of each string's characters, and where in its bytes each character begins.

    Bytes that are not valid UTF-8 become the code point `replacement`, and are left out if there is
    no `replacement`. With `controls`, so do control characters (below 32). `counts` is the number
    of code points of each string; after them its rows of `points` and `offsets` are filled up with
    zeros.
    Shapes: x [I..] -> points [I.., W], offsets [I.., W], counts [I..], with W the largest count.
    Source: TensorFlow's UnicodeDecodeWithOffsets.
    """

    x: Operand = operand(Strings)
    replacement: int | None = attribute(I64, optional=True)
    controls: bool = attribute(BOOL, default=False)
    points: Result = result(AnyRankedTensor)
    offsets: Result = result(AnyRankedTensor)
    counts: Result = result(AnyRankedTensor)

    example = """
        %p, %o, %n = nn.code_points %x {replacement = 65533} :
            (tensor<2x!nn.string>) -> (tensor<2x?xi32>, tensor<2x?xi64>, tensor<2xi64>)
    """

    @classmethod
    def infer(cls, types, attrs):
        shape = types[0].shape
        return [tensor((*shape, None), i32), tensor((*shape, None), i64), tensor(shape, i64)]

    def evaluate(self, x):
        rows = [self._characters(text) for text in x.reshape(-1)]
        width = max(map(len, rows), default=0)
        points = np.zeros((2, len(rows), width), np.int64)
        for i, row in enumerate(rows):
            points[:, i, : len(row)] = np.array(row, np.int64).reshape(-1, 2).T
        counts = np.array([len(row) for row in rows], np.int64).reshape(x.shape)
        points = points.reshape(2, *x.shape, width)
        return points[0].astype(np.int32), points[1], counts

    def _characters(self, text: str) -> list[tuple[int, int]]:
        found, at = [], 0
        for character in text:
            point = ord(character)
            broken = 0xDC80 <= point <= 0xDCFF
            if broken or (self.controls and point < 32):
                point = self.replacement
            if point is not None:
                found.append((point, at))
            at += 1 if broken else len(character.encode(*BYTES))
        return found


class FromCodePoints(HostOp, name="nn.from_code_points"):
    """A string from each row of code points, of which the first `counts` are used.

    Invalid code points become `replacement`. Shapes: points [I.., W], counts [I..] -> out [I..].
    Source: TensorFlow's UnicodeEncode.
    """

    points: Operand = operand(AnyRankedTensor)
    counts: Operand = operand(AnyRankedTensor)
    replacement: str = attribute(STRING, default="\ufffd")
    out: Result = result(Strings)

    example = (
        "%y = nn.from_code_points %p, %n : (tensor<2x?xi32>, tensor<2xi64>) -> tensor<2x!nn.string>"
    )

    @classmethod
    def infer(cls, types, attrs):
        points, counts = types
        if counts.rank != points.rank - 1:
            raise NncError(f"points are '{points}', but counts are '{counts}'")
        return [tensor(counts.shape, string)]

    def evaluate(self, points, counts):
        rows = points.reshape(counts.size, points.shape[-1])
        pairs = zip(rows, counts.reshape(-1), strict=True)
        return texts_of(counts.shape, ("".join(map(self._text, row[:n])) for row, n in pairs))

    def _text(self, point) -> str:
        is_character = 0 <= point < 0x110000 and not 0xD800 <= point < 0xE000
        return chr(point) if is_character else self.replacement

"""Elements of vectors rearranged by `vector.shuffle`: deinterleaved, interleaved, transposed."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import vector
from ....ir.core import Value
from ..code import Code


def deinterleaved(code: Code, vectors: Sequence[Value]) -> list[Value]:
    """A row of n vectors (a power of two): result i has its elements i, i + n, i + 2n, .."""
    if len(vectors) == 1:
        return list(vectors)
    width: int = vectors[0].type.shape[0]
    pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
    halves = [
        deinterleaved(code, [code.value(vector.Shuffle(a, b, [*range(start, 2 * width, 2)]))
                     for a, b in pairs])
        for start in (0, 1)
    ]  # fmt: skip
    return [v for both in zip(*halves, strict=True) for v in both]


def interleaved(code: Code, vectors: Sequence[Value]) -> list[Value]:
    """The first elements of all vectors, then the second ones, and so on, as whole vectors."""
    count = len(vectors)
    if count == 1:
        return list(vectors)
    width: int = vectors[0].type.shape[0]
    if count % 2 == 0:
        pairs = zip(*(interleaved(code, vectors[i::2]) for i in (0, 1)), strict=True)
        picks = [n for i in range(width) for n in (i, width + i)]
        halves = picks[:width], picks[width:]
        return [code.value(vector.Shuffle(a, b, half)) for a, b in pairs for half in halves]
    found = []
    for start in range(0, count * width, width):
        places = [divmod(start + i, count) for i in range(width)]
        total = vectors[0]
        for n in range(1, count):
            taken = [
                width + lane if source == n else lane if n == 1 else i
                for i, (lane, source) in enumerate(places)
            ]
            total = code.value(vector.Shuffle(total, vectors[n], taken))
        found.append(total)
    return found


def transposed(code: Code, rows: Sequence[Value]) -> list[Value]:
    """The columns of a square of vectors, by exchanging blocks of growing size."""
    size = len(rows)
    rows = list(rows)
    distance = 1
    while distance < size:
        keep = [c if not c & distance else size + (c ^ distance) for c in range(size)]
        move = [c ^ distance if not c & distance else size + c for c in range(size)]
        for i in range(size):
            if not i & distance:
                a, b = rows[i], rows[i | distance]
                rows[i] = code.value(vector.Shuffle(a, b, keep))
                rows[i | distance] = code.value(vector.Shuffle(a, b, move))
        distance *= 2
    return rows


def pick(
    code: Code, vectors: Sequence[Value], starts: Sequence[int], first: int, stride: int, lanes: int
) -> Value:
    """Every `stride`-th element from the first on, of vectors that start at these elements."""
    width: int = vectors[0].type.shape[0]
    wanted = [first + stride * i for i in range(lanes)]
    held = [max(n for n, start in enumerate(starts) if start <= e) for e in wanted]
    total = vectors[0]
    for n in range(min(1, len(vectors) - 1), len(vectors)):
        picks = [0] * width
        for i, (element, source) in enumerate(zip(wanted, held, strict=True)):
            if source == n and n > 0:
                picks[i] = width + element - starts[n]
            elif n <= 1:
                picks[i] = element if source == 0 else 0
            else:
                picks[i] = i
        total = code.value(vector.Shuffle(total, vectors[n], picks))
    return total

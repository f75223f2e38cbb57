"""Tensors made from numbers and shapes."""

from __future__ import annotations

from functools import reduce
from operator import and_

from ...common.arrays import WINDOWS, window
from ...common.complexes import Pair
from ...common.terms import counting
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS


def created(n: AtenLayer, size: Any, value: Any, element: Type | None) -> Any:
    """A tensor filled with one number."""
    if isinstance(element, ComplexType) or isinstance(value, complex):
        own = element.element_type if isinstance(element, ComplexType) else f32
        parts = (complex(value).real, complex(value).imag)
        return Pair(*(n.filled(n.as_value(part, own), size) for part in parts))
    return n.filled(n.as_value(value, element), size)


@ROWS("aten.zeros", "aten.ones", "aten.empty", "aten.full")
def filled(
    n: AtenLayer,
    size: Any,
    fill_value: Any = None,
    dtype: Type | None = None,
    names: Any = None,
) -> Value:
    if fill_value is None:
        fill_value = float("ones" in n.kind)
    return created(n, size, fill_value, dtype)


@ROWS(
    *(f"aten.{name}_like" for name in ("zeros", "ones", "empty", "full")),
    *("aten.zero", "aten.fill"),
    batched="elements",
)
def filled_like(
    n: AtenLayer, self: Value, fill_value: Any = None, value: Any = None, dtype=None
) -> Value:
    fill = fill_value if fill_value is not None else value
    fill = int("ones" in n.kind) if fill is None else fill
    return created(n, n.shape(self), fill, dtype or self.type.element_type)


@ROWS(*(f"aten.new_{name}" for name in ("zeros", "ones", "empty", "full")), batched="fresh")
def filled_new(n: AtenLayer, self: Value, size: Any, fill_value: Any = None, dtype=None) -> Value:
    fill = int("ones" in n.kind) if fill_value is None else fill_value
    return created(n, size, fill, dtype or self.type.element_type)


@ROWS("aten.empty_strided", "aten.new_empty_strided", "aten.empty_permuted")
def empty_strided(n: AtenLayer, size: Any, dtype=None, **other: Any) -> Value:
    return created(n, size, 0.0, dtype or other["self"].type.element_type)


@ROWS("aten.fill_diagonal")
def fill_diagonal(n: AtenLayer, self: Value, fill_value: Any, wrap: bool = False) -> Value:
    """x with its diagonal filled; with `wrap`, a new one begins a row below where it ends."""
    fill = n.as_value(fill_value, self.type.element_type)
    if None not in self.type.shape:
        known = np.zeros(self.type.shape, bool)
        np.fill_diagonal(known, True, wrap)
        return n(nn.Where(n.constant(known, i1), fill, self))
    rank, sizes = self.type.rank, [extent(n, (self, i)) for i in range(self.type.rank)]
    places = [counting(n, size).spread(0, rank - 1 - i) for i, size in enumerate(sizes)]
    if wrap and rank == 2:
        inside = ((places[0] * sizes[1] + places[1]) % (sizes[1] + 1)).equals(0)
    else:
        inside = reduce(and_, (place.equals(places[0]) for place in places[1:]))
    return n(nn.Where(inside.value, fill, self))


@ROWS("aten.scalar_tensor")
def scalar_tensor(n: AtenLayer, s: Any, dtype: Type | None = None) -> Value:
    return created(n, [], s, dtype or f32)


@ROWS("aten.arange")
def arange(n: AtenLayer, end: Any, start: Any = 0, step: Any = 1, dtype=None) -> Value:
    numbers = [n.number(v) for v in (start, end, step)]
    if dtype is None:
        dtype = n.promoted(*numbers)[0].type.element_type
    if not any(isinstance(v, Value) for v in numbers):
        first, last, by = numbers
        count = max(math.ceil((last - first) / by), 0)
        return n.constant(first + np.arange(count) * by, dtype)
    is_whole = not any(_is_fractional(v) for v in numbers)
    first, last, by = (Term(n, n.as_value(v, i64 if is_whole else f64)) for v in numbers)
    whole = last - first
    if is_whole:
        known = numbers[2] if not isinstance(numbers[2], Value) else None
        nearer = (by > 0).choose(by - 1, by + 1) if known is None else by - (1 if known > 0 else -1)
        steps = (whole + nearer) / by  # rounded up
    else:
        steps = (whole / by).function(nn.Ceil).cast(i64)
    places = counting(n, steps.max(0)).cast(first.element)
    return n.cast((places * by + first).value, dtype)


def _is_fractional(number: Any) -> bool:
    """Whether a number, or a tensor of one, is a float."""
    if isinstance(number, Value):
        return isinstance(number.type.element_type, FloatType)
    return isinstance(number, float)


@ROWS("aten.linspace", "aten.logspace")
def linspace(
    n: AtenLayer, start: Any, end: Any, steps: int, base: Any = 10.0, dtype: Type | None = None
) -> Value:
    """Evenly spaced numbers, or powers of `base` with such exponents; integers are truncated."""
    ends: Any = [n.number(start), n.number(end)]
    base, count = n.number(base), n.int(steps)
    element, is_log = dtype or f32, "logspace" in n.kind
    if isinstance(element, ComplexType):
        element = element.element_type
        found = linspace(n, start, end, steps, base, element)
        return Pair(found, Term(n, found).zeros().value)  # type: ignore[return-value]
    if isinstance(element, IntegerType):
        ends = [n.cast(v, i64) if isinstance(v, Value) else math.trunc(v) for v in ends]
    if not any(isinstance(v, Value) for v in [*ends, base]):
        found = np.linspace(ends[0], ends[1], count)
        found = np.power(base, found) if is_log else found
        return n.constant(found, element)
    wide = f64 if isinstance(element, IntegerType) else element
    first, last = (Term(n, n.as_value(v, wide)).cast(wide) for v in ends)
    places, step = np.arange(count), (last - first) / max(count - 1, 1)
    behind, ahead = (constant(n, v, wide) for v in (places, count - 1 - places))
    at = constant(n, places < count // 2).choose(first + step * behind, last - step * ahead)
    return ((Term(n, n.as_value(base, wide)) ** at) if is_log else at).cast(element).value


@ROWS("aten.range")
def range_(n: AtenLayer, end: Any, start: Any = 0, step: Any = 1, dtype=None) -> Value:
    """As arange, but including the end."""
    first, last, by = (n.number(v) for v in (start, end, step))
    count = math.floor((last - first) / by) + 1
    return n.constant(first + np.arange(count) * by, dtype or f32)


@ROWS("aten.tril_indices", "aten.triu_indices")
def triangle(n: AtenLayer, row: Any, col: Any, offset: int = 0, dtype=None) -> Value:
    """The row and column indices of the elements on one side of a diagonal."""
    is_low, sizes = "tril" in n.kind, [n.number(size) for size in (row, col)]
    if not any(isinstance(size, Value) for size in sizes):
        find = np.tril_indices if is_low else np.triu_indices
        return n.constant(np.stack(find(sizes[0], offset, sizes[1])), dtype or i64)
    rows, columns = (counting(n, Term(n, n.as_value(size, i64))) for size in sizes)
    above = columns - rows.spread(0, 1)
    kept = above <= offset if is_low else above >= offset
    return n.cast(n(nn.NonZero(kept.value)), dtype or i64)


@ROWS("aten.fft_fftfreq", "aten.fft_rfftfreq")
def frequencies(n: AtenLayer, n_: Any, d: float = 1.0, dtype=None) -> Value:
    find = np.fft.rfftfreq if "rfft" in n.kind else np.fft.fftfreq
    return n.constant(find(n.int(n_), d), dtype or f32)


@ROWS("aten.eye")
def eye(n: AtenLayer, n_: Any, m: Any = None, dtype: Type | None = None) -> Value:
    sizes, element = [n.number(size) for size in (n_, n_ if m is None else m)], dtype or f32
    own = element.element_type if isinstance(element, ComplexType) else element
    if any(isinstance(size, Value) for size in sizes):
        rows, columns = (counting(n, Term(n, n.as_value(size, i64))) for size in sizes)
        found = n.cast(rows.spread(0, 1).equals(columns).value, own)
    else:
        found = n.constant(np.eye(*sizes), own)
    if isinstance(element, ComplexType):
        return Pair(found, Term(n, found).zeros().value)  # type: ignore[return-value]
    return found


@ROWS(*(f"aten.{name}_window" for name in WINDOWS))
def cosine_window(n: AtenLayer, window_length: Any, periodic: bool = True, dtype=None) -> Value:
    name = n.kind.split(".")[1].removesuffix("_window")
    return n.constant(window(name, n.int(window_length), periodic), dtype or f32)


@ROWS("aten.bartlett_window", "aten.kaiser_window")
def ramp_or_kaiser_window(
    n: AtenLayer, window_length: Any, periodic: bool = True, beta: float = 12.0, dtype=None
) -> Value:
    count = n.int(window_length)
    whole = count + (periodic and count > 1)
    made = np.bartlett(whole) if "bartlett" in n.kind else np.kaiser(whole, beta)
    return n.constant(made[:count], dtype or f32)

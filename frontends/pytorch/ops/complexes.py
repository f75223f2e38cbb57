"""Complex numbers, as pairs of real tensors, and Fourier transforms.

A converter `complex.NAME` is for `aten.NAME` with some operands being pairs.
"""

from __future__ import annotations

from ...common import formulas
from ...common.complexes import Pair, as_complex, as_real, pair, product, quotient, terms
from ...common.fourier import Complex, along_axes, each
from ...common.vocabulary import *
from ..layer import AtenLayer, common_element
from ..rows import ROWS, Row, table
from .elementwise import atan2
from .views import broadcast_tensors, numel, sym_size, sym_stride, view_of_bits

# -- numbers ---------------------------------------------------------------------------------------


def parts_of(n: AtenLayer, *operands: Any) -> list[tuple[Term, Term]]:
    """Tensors and numbers as (real, imaginary) parts, all of one type."""
    whole = [x.real if isinstance(x, Pair | complex) else x for x in operands]
    element = common_element(whole)
    element = element if isinstance(element, FloatType) else f32
    imaginary = [x.imag if isinstance(x, Pair | complex) else 0.0 for x in operands]

    def term(value: Any) -> Term:
        return Term(n, n.as_value(value, element))

    return [(term(a), term(b)) for a, b in zip(whole, imaginary, strict=True)]


def spread_pair(n: AtenLayer, real: Term, imag: Term, *operands: Any) -> Pair:
    """Parts that are made of operands as a complex tensor.

    Real operands lack imaginary parts, so that the result's may lack dimensions of its real part.
    """
    if all(isinstance(x, Pair) for x in operands):
        return pair(real, imag)
    known = [d for d in real.shape if d is not None]
    if len(known) == real.rank:
        return Pair(real.value, broadcast(n, imag.value, known))
    return Pair(real.value, broadcast_by(n, imag.value, n(nn.ShapeOf(real.value))))


@ROWS("aten.view_as_complex")
def view_as_complex(n: AtenLayer, self: Value) -> Pair:
    return as_complex(n, self)


@ROWS("complex.view_as_real")
def view_as_real(n: AtenLayer, self: Pair) -> Value:
    return as_real(n, self)


@ROWS("aten.complex")
def complex_(n: AtenLayer, real: Value, imag: Value) -> Pair:
    return Pair(*broadcast_tensors(n, n.promoted(real, imag)))


@ROWS("aten.polar", batched="elements")
def polar(n: AtenLayer, abs: Value, angle: Value) -> Pair:
    length, turn = Term(n, abs), Term(n, angle)
    return pair(length * turn.function(nn.Cos), length * turn.function(nn.Sin))


def _same(n: AtenLayer, self: Any) -> list[Any]:
    return [self]


table(lambda _: _same, real=0, conj=0, conj_physical=0, resolve_conj=0, resolve_neg=0)


@ROWS("complex.view")
def view_of_complex(n: AtenLayer, self: Pair, size: Any = None, dtype: Any = None) -> Any:
    """A complex tensor in another shape, or its interleaved parts' bits as another type."""
    if dtype is None:
        return Pair(n.reshape(self.real, size), n.reshape(self.imag, size))
    last = self.type.shape[-1]
    extents = [*n.shape(self.real)[:-1], -1 if last is None else last * 2]
    side_by_side = n.reshape(as_real(n, self), extents)
    return view_of_bits(n, side_by_side, dtype)


@ROWS("complex.real", "complex.imag")
def part(n: AtenLayer, self: Pair) -> Value:
    return self.real if "real" in n.kind else self.imag


@ROWS("complex.conj", "complex.conj_physical", "complex._conj", "complex._conj_physical")
def conjugate(n: AtenLayer, self: Pair) -> Pair:
    return Pair(self.real, n(nn.Neg(self.imag)))


ROWS.add({"complex.resolve_conj": _same, "complex.resolve_neg": _same})


def _of_extents(row: Row) -> Row:
    """The converter of what extents tell, which both parts of a tensor have in common."""

    def of_real(n: AtenLayer, self: Pair, **how: Any) -> Value:
        return row(n, self.real, **how)

    return of_real


_EXTENTS = {"size": sym_size, "stride": sym_stride, "numel": numel}
ROWS.add({f"complex.{name}": _of_extents(row) for name, row in _EXTENTS.items()})
ROWS.add({f"complex.sym_{name}": _of_extents(row) for name, row in _EXTENTS.items()})


@ROWS("complex.to", "complex._to_copy", "complex.type_as")
def to(n: AtenLayer, self: Any, dtype: Type | None = None, other: Any = None) -> Any:
    if isinstance(other, Pair):
        dtype = ComplexType(other.type.element_type)
    if dtype is None:
        return self
    if isinstance(dtype, ComplexType):
        real, imag = parts_of(n, self)[0]
        return pair(real.cast(dtype.element_type), imag.cast(dtype.element_type))
    return truth(n, self) if dtype is i1 else n.cast(self.real, dtype)


def truth(n: AtenLayer, x: Pair) -> Value:
    """Whether either part is not zero."""
    a, b = terms(n, x)
    return (~(a.equals(0.0) & b.equals(0.0))).value


@ROWS("complex.abs")
def size(n: AtenLayer, self: Pair) -> Value:
    return formulas.hypot(*terms(n, self)).value


@ROWS("complex.angle")
def angle(n: AtenLayer, self: Pair) -> Value:
    return atan2(n, self.imag, self.real)


@ROWS("aten.angle")
def angle_of_real(n: AtenLayer, self: Value) -> Value:
    """The angle of real numbers: pi below zero, else 0."""
    x = Term(n, n.floating(self))
    turned = (x < 0.0).cast(x.element) * math.pi
    return x.function(nn.IsNan).choose(x, turned).value


@ROWS("complex.exp")
def exp(n: AtenLayer, self: Pair) -> Pair:
    a, b = terms(n, self)
    return polar(n, a.function(nn.Exp).value, b.value)


def _sum(sign: int) -> Row:
    def row(n: AtenLayer, self: Any, other: Any, alpha: Any = 1) -> Pair:
        (a, b), (c, d) = parts_of(n, self, other)
        if alpha != 1:
            c, d = product((c, d), *parts_of(n, complex(alpha)))
        if sign < 0:
            c, d = -c, -d
        return spread_pair(n, a + c, b + d, self, other)

    return row


ROWS.add({"complex.add": _sum(1), "complex.sub": _sum(-1), "complex.subtract": _sum(-1)})


@ROWS("complex.mul", "complex.multiply")
def mul(n: AtenLayer, self: Any, other: Any) -> Pair:
    for x, y in ((self, other), (other, self)):
        if not isinstance(y, Pair | complex):  # of a real number, two products
            (a, b), (factor, _) = parts_of(n, x, y)
            return pair(a * factor, b * factor)
    return pair(*product(*parts_of(n, self, other)))


@ROWS("complex.div", "complex.true_divide", "complex.divide")
def div(n: AtenLayer, self: Any, other: Any) -> Pair:
    return pair(*quotient(*parts_of(n, self, other)))


# -- transforms ------------------------------------------------------------------------------------

Work = Sequence[tuple[int, int | Term | None]]
"""(axis, length) of each dimension of a transform; a length of None keeps the extent, and a term is
a 0-d i64.
"""


def _transform(n: AtenLayer, x: Any, axes: Work, inverse: bool, half: bool, scale: Any) -> Any:
    """Fourier transforms along axes; with `half`, of real numbers along the last, or to them."""
    value: Complex = terms(n, x) if isinstance(x, Pair) else (Term(n, n.floating(x)), None)
    sizes = [(i, constant(n, size, i64) if isinstance(size, int) else size) for i, size in axes]
    value = along_axes(value, sizes, inverse, half)
    if isinstance(scale, Term) or scale != 1:
        value = each(value, lambda part: part * scale)
    real, imag = value
    if inverse and half:
        return real.value
    return pair(real, imag if imag is not None else real.zeros())


def _rank(x: Any) -> int:
    return x.type.rank


def _axes(n: AtenLayer, x: Any, dim: Any, sizes: Any) -> Work:
    """The axes and sizes to transform: the last dimensions if only sizes are given, else all."""
    rank = _rank(x)
    if dim is None:
        dim = range(rank) if sizes is None else range(rank - len(sizes), rank)
    found = [n.axis(d, rank) for d in (dim if isinstance(dim, list | tuple | range) else [dim])]
    given = sizes if isinstance(sizes, list | tuple) else [sizes] * len(found)
    return list(zip(found, (_length(n, size) for size in given), strict=True))


def _length(n: AtenLayer, size: Any) -> int | Term | None:
    """A length of `Work`, from an argument that is a number, -1 for the extent, or absent."""
    found = None if size is None else n.number(size)
    return Term(n, found) if isinstance(found, Value) else None if found == -1 else found


def _elements(n: AtenLayer, x: Any, axes: Work, back: bool) -> Any:
    """The number of elements that are transformed; with `back`, x has half of the last spectrum."""
    total: Any = 1
    part = terms(n, x)[0] if isinstance(x, Pair) else Term(n, n.floating(x))
    for i, (axis, size) in enumerate(axes):
        own: Any = x.type.shape[axis]
        if own is None and size is None:
            own = extent(n, (part.value, axis)).cast(part.element)
        if isinstance(size, Term):
            size = size.cast(part.element)
        whole = (own or 1) * 2 - 2 if back and i == len(axes) - 1 else own
        total = total * (whole if size is None else size)
    return total


def _fft(inverse: bool, half: bool, last: Any = ()) -> Row:
    def row(
        n: AtenLayer, self: Any, n_: Any = None, s: Any = None, dim: Any = last, norm: Any = None
    ) -> Any:
        axes = _axes(n, self, None if dim == () else dim, n_ if s is None else s)
        scale = 1.0
        if norm == "ortho":
            scale = _elements(n, self, axes, inverse and half) ** (0.5 if inverse else -0.5)
        elif norm == "forward":
            scale = _elements(n, self, axes, inverse and half) ** (1.0 if inverse else -1.0)
        return _transform(n, self, axes, inverse, half, scale)

    return row


for _inverse in ("", "i"):
    for _real in ("", "r"):
        _name = f"fft_{_inverse}{_real}fft"
        for _suffix, _last in (("", -1), ("2", [-2, -1]), ("n", ())):
            _row = _fft(bool(_inverse), bool(_real), _last)
            ROWS.add({f"{kind}.{_name}{_suffix}": _row for kind in ("aten", "complex")})


def _hermitian(suffix: str) -> Row:
    """A converter of a Hermitian transform: the inverse real one of the conjugate, rescaled."""
    twins = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
    last = {"": -1, "2": [-2, -1], "n": ()}[suffix]

    def row(
        n: AtenLayer, self: Any, n_: Any = None, s: Any = None, dim: Any = last, norm: Any = None
    ) -> Any:
        back = "ihfft" in n.kind
        given = self if back else conjugate(n, self) if isinstance(self, Pair) else self
        if not back and not isinstance(given, Pair):
            real = Term(n, n.floating(given))
            given = pair(real, real.zeros())
        found = _fft(not back, True, last)(n, given, n_, s, dim, twins[norm])
        return conjugate(n, found) if back else found

    return row


for _suffix in ("", "2", "n"):
    for _name in ("hfft", "ihfft"):
        _row = _hermitian(_suffix)
        ROWS.add({f"{kind}.fft_{_name}{_suffix}": _row for kind in ("aten", "complex")})


def _factor(n: AtenLayer, x: Any, axes: Work, mode: int, inverse: bool, back: bool) -> Any:
    """The transform's scale by ATen's mode (none, root, all), relative to that of `fourier`."""
    if mode == (2 if inverse else 0):
        return 1.0
    count = _elements(n, x, axes, back)
    return count ** -(mode / 2) * (count if inverse else 1)


@ROWS("aten._fft_r2c")
def real_to_complex(n: AtenLayer, self: Any, dim: Any, normalization: int, onesided: bool) -> Pair:
    axes = _axes(n, self, dim, None)
    scale = _factor(n, self, axes, normalization, False, False)
    return _transform(n, self, axes, False, onesided, scale)


@ROWS("complex._fft_c2c")
def complex_to_complex(
    n: AtenLayer, self: Pair, dim: Any, normalization: int, forward: bool
) -> Pair:
    axes = _axes(n, self, dim, None)
    scale = _factor(n, self, axes, normalization, not forward, False)
    return _transform(n, self, axes, not forward, False, scale)


@ROWS("complex._fft_c2r")
def complex_to_real(
    n: AtenLayer, self: Pair, dim: Any, normalization: int, last_dim_size: Any
) -> Value:
    *axes, (last, _) = _axes(n, self, dim, None)
    axes.append((last, _length(n, last_dim_size)))
    scale = _factor(n, self, axes, normalization, True, True)
    return _transform(n, self, axes, True, True, scale)


@ROWS("aten.fft_fftshift", "aten.fft_ifftshift")
def shifted(n: AtenLayer, self: Value, dim: Any = None) -> Value:
    """The middle of a spectrum moved to the front, or back."""
    for axis in n.axes(dim, self.type.rank):
        extent_, is_back = self.type.shape[axis], "ifftshift" in n.kind
        if extent_ is None:
            half = extent(n, (self, axis)) / 2
            self = rolled_at_run_time(n, self, axis, -half if is_back else half)
        else:
            self = rolled(n, self, axis, -(extent_ // 2) if is_back else extent_ // 2)
    return self


def _centered(n: AtenLayer, row: Term, width: int) -> Term:
    """A window centered in zeros, of `width` elements."""
    own = row.shape[0] or 0
    before = (width - own) // 2
    by = [before, width - own - before]
    return Term(n, padded_by(n, row.value, by))


@ROWS("aten.stft")
def stft(
    n: AtenLayer,
    self: Value,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Value | None = None,
    center: bool = False,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """Frames of a signal, windowed and transformed: [B, L] -> [B, bins, frames]."""
    x = Term(n, self if self.type.rank == 2 else Term(n, self).spread(1, 0).value)
    if center:
        pads = [0, n_fft // 2, 0, n_fft // 2]
        fill = n.scalar(0, self) if pad_mode == "constant" else None
        names = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
        x = Term(n, padded_by(n, x.value, pads, fill, names[pad_mode]))
    hop, count = hop_length or n_fft // 4, constant(n, n_fft, i64)
    frames = (extent(n, (x.value, 1)) - n_fft) / hop + 1
    places = (counting(n, frames) * hop).spread(0, 1) + counting(n, count)
    rows = x.gather(places, 1)
    if window is not None or win_length not in (None, n_fft):
        row = constant(n, np.ones(win_length or n_fft), x.element)
        rows = rows * _centered(n, row if window is None else Term(n, window), n_fft)
    half = onesided is None or onesided
    scale = n_fft**-0.5 if normalized else 1.0
    found = _transform(n, rows.value, [(2, None)], False, half, scale)
    moved = [swapped(n, one, 1, 2) for one in (found.real, found.imag)]
    if self.type.rank == 1:
        moved = [Term(n, one).column(0, 0).value for one in moved]
    return Pair(*moved) if return_complex else as_real(n, Pair(*moved))


@ROWS("complex.stft")
def stft_of_complex(n: AtenLayer, self: Any, window: Any = None, **how: Any) -> Any:
    """The transforms of a complex signal and window by parts, with whole spectra."""
    given = how | {"onesided": False, "return_complex": True}
    if isinstance(window, Pair):
        parts = [stft_of_complex(n, self, part, **given) for part in (window.real, window.imag)]
    elif isinstance(self, Pair):
        parts = [stft(n, part, window=window, **given) for part in (self.real, self.imag)]
    else:
        return stft(n, self, window=window, **given)
    a, b = parts
    found = Pair(n(nn.Sub(a.real, b.imag)), n(nn.Add(a.imag, b.real)))
    return as_real(n, found) if how.get("return_complex") is False else found


@ROWS("complex.istft")
def istft(
    n: AtenLayer,
    self: Pair,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Value | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: Any = None,
    return_complex: bool = False,
) -> Value:
    """The signal from frames by overlap-add: [B, bins, frames] -> [B, L].

    Overlapping frames are divided by the sum of the windows' squares.
    """
    if return_complex or onesided is False:
        raise n.error("only signals of real numbers are supported, of one-sided spectra")
    hop, rank = hop_length or n_fft // 4, self.type.rank
    parts = [Term(n, swapped(n, v, rank - 2, rank - 1)).value for v in (self.real, self.imag)]
    parts = [Term(n, v).spread(3 - rank, 0).value for v in parts]
    scale = n_fft**0.5 if normalized else 1.0
    frames = Term(n, _transform(n, Pair(*parts), [(2, n_fft)], True, True, scale))
    row = constant(n, np.ones(win_length or n_fft), frames.element)
    row = _centered(n, row if window is None else Term(n, window), n_fft)
    count = n.int(n.size(frames.value, 1))
    whole = n_fft + hop * (count - 1)

    def overlapped(x: Term) -> Term:
        columns = x.transpose(0, 2, 1).value
        found = folded(n, columns, [1, whole], [1, n_fft], [1, hop], [1, 1], [0] * 4)
        return Term(n, found).reshape((x.value, 0), whole)

    weights = n.expand((row * row).spread(2, 0).value, [1, count, n_fft])
    begin = n_fft // 2 if center else 0
    end = begin + n.int(length) if length is not None else whole - begin
    sums = [overlapped(v).part(1, begin, min(end, whole)) for v in (frames * row, Term(n, weights))]
    found = sums[0] / sums[1]
    if end > whole:
        found = Term(n, padded_by(n, found.value, [0, 0, 0, end - whole]))
    return found.column(0, 0).value if rank == 2 else found.value

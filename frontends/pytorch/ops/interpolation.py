"""Interpolation: images resized by the nearest element, linearly or by cubics."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row


def _upsample(mode: str, transform: str, nearest: str = "floor", **how: Any) -> Row:
    def row(
        n: AtenLayer,
        self: Value | None = None,
        output_size: Any = None,
        align_corners: bool = False,
        scale_factors: Any = None,
        input: Value | None = None,
        **scales: Any,
    ) -> Value:
        x = self if self is not None else input
        assert x is not None
        given: Any = scale_factors
        if given is None:
            names = ("scales",) if x.type.rank == 3 else ("scales_d", "scales_h", "scales_w")
            given = [scales.get(name) for name in names[-(x.type.rank - 2) :]]
            given = given if any(given) else None
        kind = "align_corners" if align_corners else transform
        if align_corners and how.get("antialias"):  # only the scale is that of corners
            own = [n.int(d) for d in n.shape(x)[2:]]
            if output_size is None:
                wanted = [math.floor(d * s) for d, s in zip(own, given, strict=True)]
            else:
                wanted = [n.int(s) for s in output_size]
            ends = [(d - 1, s - 1) for d, s in zip(own, wanted, strict=True)]
            output_size = wanted
            given, kind = [s / d if d and s else 1.0 for d, s in ends], transform
        options = {"mode": mode, "coordinate_transform": kind, "nearest_mode": nearest, **how}
        return resampled(n, x, output_size, given, options)

    return row


def resampled(n: AtenLayer, x: Value, sizes: Any, factors: Any, how: dict[str, Any]) -> Value:
    """x resized in its spatial dimensions, by the scales `factors`, or those of the sizes.

    A factor may be None where the sizes are given.
    """
    own = x.type.shape[2:]
    if sizes is None and None not in own:
        sizes = [math.floor(d * s) for d, s in zip(own, factors, strict=True)]
    numbers = None if sizes is None else [n.number(size) for size in sizes]
    factors = factors or [None] * len(own)
    if numbers is None or None in own or any(isinstance(v, Value) for v in numbers):
        return _resampled_openly(n, x, sizes, factors, how)
    scale = [f or s / d if d else 1.0 for f, s, d in zip(factors, numbers, own, strict=True)]
    out = TensorType((*x.type.shape[:2], *numbers), x.type.element_type)
    resize = nn.Resize(x, scales=(1.0, 1.0, *map(float, scale)), out=out, **how)
    if how["mode"] != "nearest":
        return n(resize)
    centres, known = how["coordinate_transform"] == "half_pixel", list[tuple[int, Any]]()
    for axis, (size, count, factor) in enumerate(zip(own, numbers, factors, strict=True), 2):
        places = _known_nearest(size, count, factor, centres)
        known.append((axis, places))
    if all(np.array_equal(p, resize.taps_along(i, own[i - 2])[0][:, 0]) for i, p in known):
        return n(resize)
    return _taken(x=Term(n, x), places=[(axis, constant(n, places)) for axis, places in known])


def _resampled_openly(n: AtenLayer, x: Value, sizes: Any, factors: Any, how: Any) -> Value:
    """x resized where an extent of it or of the result is not known at import."""
    axes = tuple(range(2, x.type.rank))
    extents = n.vector(n.shape(x)[2:])
    if sizes is None:
        exact = n.cast(extents, f64)  # as f32, 100 * 1.15 would be 115, not 114
        vector = n.cast(n(nn.Floor(n(nn.Mul(exact, n.constant(np.array(factors)))))), i64)
    else:
        vector = n.vector(sizes)
    if how["mode"] == "nearest" and not all(f and math.frexp(f)[0] == 0.5 for f in factors):
        return _nearest_openly(n, x, Term(n, vector), factors, how["coordinate_transform"])
    scales = n(nn.Div(n.cast(vector, f32), n.cast(extents, f32)))
    if any(factors) and how["coordinate_transform"] != "align_corners":
        known = n.constant(np.array([f or 1.0 for f in factors], np.float32))
        is_known = n.constant(np.array([bool(f) for f in factors]))
        scales = known if all(factors) else n(nn.Where(is_known, known, scales))
    out = TensorType((*x.type.shape[:2], *(None,) * len(axes)), x.type.element_type)
    return n(nn.ResizeDynamic(x, axes=axes, out=out, scales=scales, sizes=vector, roi=None, **how))


# PyTorch computes the nearest element in f32 with the ratio of the extents, or the reciprocal of
# the factor, rounded first. Where that crosses a whole number it takes another element than the
# exact ratio or a division by the factor would: of 2 elements resized to 82, 41 is the first that
# takes the element 0 still. Source: aten/src/ATen/native/UpSample.h.


def _known_nearest(size: int, count: int, factor: float | None, centres: bool) -> np.ndarray:
    """The element of `size` that PyTorch takes for each of `count` results."""
    one = np.float32(1)
    ratio = np.float32(1 / factor) if factor else one * size / (one * max(count, 1))
    at, half = np.arange(count, dtype=np.float32), one / 2
    at = (at + half) * ratio - half + half if centres else at * ratio
    return np.clip(np.floor(at), 0, max(size - 1, 0)).astype(np.int64)


def _nearest_openly(
    n: AtenLayer, x: Value, sizes: Term, factors: Sequence[float | None], transform: str
) -> Value:
    """`_known_nearest` at run time, for each dimension, and the elements there."""
    places = []
    for axis, factor in enumerate(factors, 2):
        size, count = extent(n, (x, axis)), sizes.column(axis - 2)
        ratio = size.cast(f32) / count.cast(f32)
        if factor:
            ratio = constant(n, 1 / factor, f32)
        at = counting(n, count).cast(f32)
        at = (at + 0.5) * ratio - 0.5 + 0.5 if transform == "half_pixel" else at * ratio
        at = at.function(nn.Floor).cast(i64)
        places.append((axis, at.min(size - 1).max(0)))
    return _taken(Term(n, x), places)


def _taken(x: Term, places: Sequence[tuple[int, Term]]) -> Value:
    """The elements of x at places along axes."""
    for axis, at in places:
        x = x.gather(at, axis)
    return x.value


for _count, _name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    ROWS.add(
        {
            f"aten.upsample_{_name}": _upsample("linear", "half_pixel"),
            f"aten.upsample_nearest{_count}d": _upsample("nearest", "asymmetric"),
            f"aten._upsample_nearest_exact{_count}d": _upsample(
                "nearest", "half_pixel", "round_prefer_ceil"
            ),
        }
    )
ROWS.add(
    {
        "aten.upsample_bicubic2d": _upsample("cubic", "half_pixel"),
        "aten._upsample_bilinear2d_aa": _upsample(
            "linear", "half_pixel", antialias=True, exclude_outside=True
        ),
        "aten._upsample_bicubic2d_aa": _upsample(
            "cubic", "half_pixel", antialias=True, cubic_coeff_a=-0.5, exclude_outside=True
        ),
    }
)

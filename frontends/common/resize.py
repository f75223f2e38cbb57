"""Interpolation to other extents, which may be known at run time only.

`how` are the attributes of nn.resize: mode, coordinate_transform, nearest_mode, ..
"""

from __future__ import annotations

from ...dialects.nn.known_values import LIMIT, KnownValues
from ...dialects.nn.resize import scaled
from .runtime_axes import source_of
from .words import *

How = Mapping[str, Any]


def resized_by_scales(
    n: Layer, x: Value, scales: Value, axes: Sequence[int], how: How, roi: Value | None = None
) -> Value:
    """The tensor with its extents along the axes multiplied by `scales`, and rounded down."""
    check_count(n, scales, len(axes), "scales")
    scales = n.cast(scales, f32)
    known, region = n.known(scales), _region(n, roi)
    if known is not None and (roi is None or region is not None):
        factors, shape = [1.0] * x.type.rank, list(x.type.shape)
        for axis, factor in zip(axes, known.reshape(-1).tolist(), strict=True):
            own = shape[axis]
            if not 0 < factor < 2**31:
                raise n.error(f"a scale is {factor:g}, expected a positive number")
            factors[axis], shape[axis] = factor, None if own is None else scaled(own, factor)
        return _resize(n, x, shape, factors, axes, region, how)
    stays = [factor == 1 for factor in _elements(scales, len(axes))]
    own = n.cast(_extents(n, x, axes), f32)
    sizes = n.cast(n(nn.Floor(n(nn.Mul(own, scales)))), i64)
    return _resize_dynamic(n, x, (scales, sizes, roi), axes, stays, how)


def resized(
    n: Layer,
    x: Value,
    sizes: Value,
    axes: Sequence[int],
    how: How,
    roi: Value | None = None,
    policy: str = "stretch",
) -> Value:
    """The tensor with these extents along the axes.

    With the policy `not_larger` or `not_smaller`, they are bounds, and all axes have one scale.
    """
    check_count(n, sizes, len(axes), "sizes")
    choose = POLICIES[policy]
    own, region = [x.type.shape[axis] for axis in axes], _region(n, roi)
    if n.known(sizes) is not None and None not in own and (roi is None or region is not None):
        wanted = n.known_ints(sizes, "sizes")
        factors, shape = [1.0] * x.type.rank, list(x.type.shape)
        ratios = [w / d if d else 1.0 for w, d in zip(wanted, own, strict=True)]
        for i, axis in enumerate(axes):
            factors[axis], shape[axis] = ratios[i], wanted[i]
            if choose is not None:
                factors[axis] = choose[0](ratios)
                shape[axis] = math.floor(factors[axis] * own[i] + 0.5)
        return _resize(n, x, shape, factors, axes, region, how)
    sizes = as_i64(n, sizes)
    stays = [_is_extent(sizes, i, x, axis) for i, axis in enumerate(axes)]
    own_extents = n.cast(_extents(n, x, axes), f64)
    scales = n(nn.Div(n.cast(sizes, f64), own_extents))
    if choose is not None:
        stays = [False] * len(axes)
        scale = n(choose[1](scales, axes=(0,), keep_dims=True))
        scales = n(nn.Mul(scale, n.constant(np.ones(len(axes)))))
        rounded = n(nn.Add(n(nn.Mul(scale, own_extents)), n.constant(0.5, f64)))
        sizes = n.cast(n(nn.Floor(rounded)), i64)
    return _resize_dynamic(n, x, (n.cast(scales, f32), sizes, roi), axes, stays, how)


POLICIES: dict[str, Any] = {
    "stretch": None,
    "not_larger": (min, nn.ReduceMin),
    "not_smaller": (max, nn.ReduceMax),
}
"""How each policy selects one scale for all axes from the scales that the sizes imply: the function
for known scales, and the reduction for those computed at run time. None: an axis keeps its own."""


def _resize(
    n: Layer, x: Value, shape: list[Dim], factors: list[float], axes, region, how: How
) -> Value:
    """The op nn.resize for known scales and a known region; extents may be unknown."""
    roi = None
    if region is not None:
        begin, end = [0.0] * len(shape), [1.0] * len(shape)
        for i, axis in enumerate(axes):
            begin[axis], end[axis] = region[i], region[i + len(axes)]
        roi = (*begin, *end)
    out = TensorType(tuple(shape), x.type.element_type)
    return n(nn.Resize(x, scales=tuple(factors), roi=roi, out=out, **how))


def _resize_dynamic(
    n: Layer,
    x: Value,
    computed: tuple[Value, Value, Value | None],
    axes: Sequence[int],
    stays: Sequence[bool],
    how: How,
) -> Value:
    """The op for scales, sizes and a region computed at run time, without unchanged axes."""
    scales, sizes, roi = computed
    moving = [i for i, stay in enumerate(stays) if not stay or roi is not None]
    if not moving:
        return x
    if len(moving) < len(axes):
        which = n.constant(np.array(moving, np.int64))
        scales, sizes = n(nn.Gather(scales, which)), n(nn.Gather(sizes, which))
    along = tuple(axes[i] for i in moving)
    known, shape = n.extents(sizes), list(x.type.shape)
    for i, axis in enumerate(along):
        shape[axis] = known[i] if known is not None else None
    out = TensorType(tuple(shape), x.type.element_type)
    vectors = {"scales": scales, "sizes": sizes, "roi": roi}
    return n(nn.ResizeDynamic(x, axes=along, out=out, **vectors, **how))


def _extents(n: Layer, x: Value, axes: Sequence[int]) -> Value:
    """The operand's extents along some axes, as a 1-D tensor of i64."""
    shape = shape_of(n, x)
    if list(axes) == list(range(x.type.rank)):
        return shape
    return n(nn.Gather(shape, n.constant(np.array(axes, np.int64))))


def _elements(vector: Value, count: int) -> list[float | None]:
    """The numbers of a 1-D tensor, None for one that is not known."""
    found = KnownValues(_is_vector).partial(vector)
    if found is None:
        return [None] * count
    pairs = zip(found.elements.tolist(), found.unknown.tolist(), strict=True)
    return [None if unknown else number for number, unknown in pairs]


def _is_vector(type: Any) -> bool:
    return type.rank <= 1 and type.has_static_shape and type.num_elements <= LIMIT


def _is_extent(vector: Value, at: int, x: Value, axis: int) -> bool:
    """Whether element `at` of a 1-D tensor is the operand's extent along an axis."""
    own = x.type.shape[axis]
    if own is not None:
        known = KnownValues().elements(vector)
        return known is not None and known[at] == own
    return source_of(vector, at) == (x, axis)


def _region(n: Layer, roi: Value | None) -> tuple[float, ...] | None:
    found = n.known(roi)
    return None if found is None else tuple(float(v) for v in found.reshape(-1))


def check_count(n: Layer, values: Value, expected: int, what: str) -> None:
    """Raises NncError where a vector does not have so many elements."""
    if values.type.rank != 1:
        raise n.error(f"{what} must be a vector, but have shape {shape_text(values)}")
    if values.type.shape[0] not in (expected, None):
        raise n.error(f"{values.type.shape[0]} {what}, expected {expected}")

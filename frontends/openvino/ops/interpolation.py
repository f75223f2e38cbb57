"""Images and other tensors resampled to other extents.

What `nn.resize` does not have (nearest elements in f32 arithmetic, Pillow's filters) is a
table of places or weights for each axis, whose extents must then be known.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.nn.resize import scaled
from ...common.vocabulary import *
from ...common.windows import pad_by_vector
from ..layer import OpenvinoLayer, rows

_MODES = {"nearest": "nearest", "linear": "linear", "linear_onnx": "linear", "cubic": "cubic"}
_FILTERS = {"bilinear_pillow": 1.0, "bicubic_pillow": 2.0}
_COORDINATES = [
    "half_pixel",
    "pytorch_half_pixel",
    "asymmetric",
    "align_corners",
    "tf_half_pixel_for_nn",
]


@dataclass(frozen=True)
class _How:
    """The attributes of an interpolation."""

    mode: str
    where: str = "half_pixel"
    nearest: str = "round_prefer_floor"
    antialias: bool = False
    cubic: float = -0.75


@rows("Interpolate")
def interpolate(n: OpenvinoLayer, x: Value, *given: Value) -> Value:
    """Images resized to sizes, or by scales."""
    x = _padded(n, x)
    if n.opset < 4:
        axes = normalize_axes(n, n.ints("axes"), x.type.rank)
        return _interpolated(n, x, given[0], axes, _how_1(n, x, axes), False)
    by_scales = n.text("shape_calculation_mode") == "scales"
    count = 2 if n.opset < 11 else 1  # sizes and scales, or one of them
    if len(given) < count:
        raise n.error(f"it has {len(given)} inputs for sizes and scales, expected {count}")
    sizes = given[count - 1] if by_scales else given[0]
    axes = n.axes(x, given[count]) if len(given) > count else tuple(range(x.type.rank))
    how = _How(
        n.text("mode"),
        n.text("coordinate_transformation_mode", "half_pixel"),
        n.text("nearest_mode", "round_prefer_floor"),
        n.flag("antialias"),
        n.float("cube_coeff", -0.75),
    )
    if how.mode == "bicubic_pillow" and how.cubic != -0.5:
        n.warn(f"cube_coeff is {how.cubic:g}; OpenVINO's CPU plugin takes Pillow's -0.5")
    return _interpolated(n, x, sizes, axes, how, by_scales)


def _padded(n: OpenvinoLayer, x: Value) -> Value:
    """x with the zeros around it that the operation adds first."""
    pads = [n.ints(name, []) for name in ("pads_begin", "pads_end")]
    begin, end = ([*given, *[0] * x.type.rank][: x.type.rank] for given in pads)
    if not any(begin) and not any(end):
        return x
    by = n.constant(np.array([*begin, *end], np.int64))
    return pad_by_vector(n, x, by, n.scalar(0, x))


def _how_1(n: OpenvinoLayer, x: Value, axes: Sequence[int]) -> _How:
    """The meaning of the first opset's operation in terms of later ones."""
    mode, where = n.text("mode"), "asymmetric"
    is_linear = mode in ("linear", "linear_onnx")
    has_pads = any(n.ints("pads_begin")) or any(n.ints("pads_end"))
    if n.flag("align_corners", True):
        where = "align_corners"
    elif is_linear and not has_pads and (x.type.rank != 4 or sorted(axes) != [2, 3]):
        where = "half_pixel"
    if mode == "linear" and x.type.rank < 5:
        mode = "linear_onnx"
    return _How(mode, where, "simple", n.flag("antialias", True))


def _interpolated(
    n: OpenvinoLayer, x: Value, sizes: Value, axes: Sequence[int], how: _How, by_scales: bool
) -> Value:
    if (how.mode not in _MODES and how.mode not in _FILTERS) or how.where not in _COORDINATES:
        raise n.error(f"resampling '{how.mode}' at '{how.where}' is not supported")
    wanted = n.known(sizes)
    is_nearest = how.mode == "nearest"
    if how.antialias and how.mode == "linear":
        raise n.error("linear means with antialiasing, which OpenVINO's CPU plugin leaves out")
    is_own = how.mode in _FILTERS or how.where == "tf_half_pixel_for_nn"
    if wanted is not None and None not in [x.type.shape[axis] for axis in axes]:
        if is_nearest or is_own:
            return _by_tables(n, x, wanted.reshape(-1), axes, how, by_scales)
    elif is_own or (how.nearest == "simple" and is_nearest):
        raise n.error(f"resampling '{how.mode}' at '{how.where}' needs known extents")
    attributes = {
        "mode": _MODES[how.mode],
        "coordinate_transform": how.where,
        "cubic_coeff_a": how.cubic,
    }
    if is_nearest:
        attributes["nearest_mode"] = how.nearest
    if by_scales:
        return resized_by_scales(n, x, sizes, axes, attributes)
    return resized(n, x, as_i64(n, sizes), axes, attributes)


def _by_tables(
    n: OpenvinoLayer,
    x: Value,
    wanted: np.ndarray,
    axes: Sequence[int],
    how: _How,
    by_scales: bool,
) -> Value:
    """x resampled along one axis after another."""
    if how.mode != "nearest" and isinstance(x.type.element_type, IntegerType):
        raise n.error("means of integers are not supported here")
    for axis, number in zip(axes, wanted, strict=True):
        own = n.extent(x, axis)
        scale = np.float32(number) if by_scales else np.float32(number) / np.float32(own)
        count = scaled(own, float(number)) if by_scales else int(number)
        if not 0 < count < 1 << 31:
            raise n.error(f"{count} elements, expected a positive number")
        if how.mode == "nearest":
            places = _nearest(how, scale, own, count)
            if not np.array_equal(places, np.arange(own)):
                x = gathered(n, x, n.constant(places), axis)
            continue
        if how.mode in _FILTERS:
            weights = _filter(how, own, count)
        else:
            weights = _weights(how, scale, own, count)
        turned = Term(n, swapped(n, x, axis, x.type.rank - 1))
        rows_ = constant(n, weights.T.astype(np.float32)).cast(turned.element)
        x = swapped(n, (turned @ rows_).value, axis, x.type.rank - 1)
    return x


def _positions(how: _How, scale: np.float32, own: int, count: int) -> np.ndarray:
    """Where each element of the result lies among those of the operand, in f32 as OpenVINO's."""
    at, half = np.arange(count, dtype=np.float32), np.float32(0.5)
    if scale == 1 or own == count:
        return at
    match how.where:
        case "pytorch_half_pixel":
            return (at + half) / scale - half if count > 1 else at * 0
        case "asymmetric":
            return at / scale
        case "tf_half_pixel_for_nn":
            return (at + half) / scale
        case "align_corners":
            return at * np.float32(own - 1) / np.float32(count - 1) if count > 1 else at * 0
    return (at + half) / scale - half


def _nearest(how: _How, scale: np.float32, own: int, count: int) -> np.ndarray:
    """The index of the nearest element of each element of the result."""
    at = _positions(how, scale, own, count)
    away = np.trunc(at + np.copysign(np.float32(0.5), at))
    match how.nearest:
        case "floor":
            found = np.floor(at)
        case "ceil":
            found = np.ceil(at)
        case "simple":
            found = np.ceil(at) if scale < 1 else np.trunc(at)
        case "round_prefer_ceil":
            found = away
        case _:
            found = np.where(at == np.trunc(at) + np.float32(0.5), np.floor(at), away)
    return found.astype(np.int64).clip(0, own - 1)


def _weights(how: _How, scale: np.float32, own: int, count: int) -> np.ndarray:
    """The weights [count, own] of elements, for linear and cubic means."""
    at = _positions(how, scale, own, count)[:, None].astype(np.float64)
    places = np.arange(own)
    if how.mode == "cubic":
        weights, first = np.zeros((count, own)), np.floor(at).astype(np.int64)
        for i in range(-1, 3):
            part = _cubic(np.abs(at - (first + i)), how.cubic)
            np.add.at(weights, (np.arange(count)[:, None], (first + i).clip(0, own - 1)), part)
        return weights
    if how.mode == "linear_onnx":
        at = at.clip(0, own - 1)
    weights = np.maximum(1 - np.abs(at - places), 0)
    total = weights.sum(1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """The weight at a distance of a cubic mean."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _filter(how: _How, own: int, count: int) -> np.ndarray:
    """The weights [count, own] of Pillow's filters, which are wider where the result is smaller."""
    step = own / count
    wide, reach = max(step, 1.0), _FILTERS[how.mode]
    middle = (np.arange(count)[:, None] + 0.5) * step
    begin = np.trunc(middle - reach * wide + 0.5).clip(0, None)
    end = np.trunc(middle + reach * wide + 0.5).clip(None, own)
    places = np.arange(own)
    distance = np.abs(places - middle + 0.5) / wide
    if how.mode == "bicubic_pillow":
        weights = _cubic(distance, -0.5)
    else:
        weights = np.maximum(1 - distance, 0)
    weights = np.where((places >= begin) & (places < end), weights, 0)
    return weights / weights.sum(1, keepdims=True)

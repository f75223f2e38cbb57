"""Interpolation: ops that sample images, or other tensors, at new places."""

from __future__ import annotations

import math

from ...ir.types import f32
from ..vocabulary import *
from .base import (
    NnOp,
    check_axes,
    check_length,
    numbers,
    one_of,
    shape_operand_length,
    tensor,
)
from .traits import Fusion

F32_ARRAY: AttrKind[tuple[float, ...]] = AttrKind(
    "array<f32>",
    lambda a: isinstance(a, DenseArrayAttr) and a.element_type is f32,
    lambda a: a.values,
    lambda values: DenseArrayAttr(f32, tuple(f32.round(float(v)) for v in values)),
)


class Resampling(NnOp):
    """Base of the ops that sample x at new places, one dimension after the other.

    Each element of the result is a weighted sum of a few elements of the operand. With
    `cubic_steps`, the weights of mode cubic come from a table of so many steps from one element to
    the next, and coordinates are computed in f32, as in TensorFlow.
    """

    x: Operand = operand(AnyRankedTensor)
    mode: str = attribute(one_of("nearest", "linear", "cubic"), default="nearest")
    coordinate_transform: str = attribute(
        one_of(
            "half_pixel",
            "half_pixel_symmetric",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_crop_and_resize",
        ),
        default="half_pixel",
    )
    nearest_mode: str = attribute(
        one_of("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
        default="round_prefer_floor",
    )
    cubic_coeff_a: float = attribute(F32, default=-0.75)
    exclude_outside: bool = attribute(BOOL, default=False)
    antialias: bool = attribute(BOOL, default=False)
    cubic_steps: int = attribute(I64, default=0)
    extrapolation_value: float = attribute(F32, default=0.0)
    out: Result = result(AnyRankedTensor)

    @property
    def crops(self) -> bool:
        """Whether only the region of the operand that `roi` gives is sampled."""
        return self.coordinate_transform == "tf_crop_and_resize"

    @property
    def reach(self) -> int:
        """How many elements to each side have weight, before antialiasing makes that more."""
        return 2 if self.mode == "cubic" else 1

    @property
    def normalizes(self) -> bool:
        """Whether the weights of a result are divided by their sum."""
        return self.exclude_outside or self.antialias

    def changes(self, extent: int, length: int, scale: float) -> bool:
        """Whether a dimension is sampled at all; otherwise its elements stay."""
        return self.crops or scale != 1.0 or extent != length

    def taps(self, extent: int, length: int, scale: float, region: tuple[float, float]):
        """From which elements, with which weights, each result along one dimension is computed.

        For P results of T elements each: the elements' indices [P, T], clamped to the operand;
        their weights [P, T] in f64; and [P], whether the result lies outside of the operand and so
        has the `extrapolation_value`.
        """
        i = np.arange(length, dtype=np.float64)
        exact = is_ratio(extent, length, scale)
        if self.cubic_steps:
            at = self._places_of_table(i, extent, length)
        else:
            at = self._coordinates(i, extent, length, scale, region, exact)
        outside = np.zeros(length, np.bool_)
        if self.crops:
            outside = (at < 0) | (at > extent - 1)
        if self.mode == "nearest":
            at = self._nearest(self._single(at, exact), extent)
            return at[:, None], np.ones((length, 1)), outside
        # Antialiasing widens the kernel by the factor that the sampling gets coarser.
        stretch = min(scale, 1.0) if self.antialias else 1.0
        reach = math.ceil(self.reach / stretch)
        positions = np.floor(at)[:, None] + np.arange(1 - reach, reach + 1)
        distance = np.abs(at[:, None] - positions) * stretch
        if self.mode == "linear":
            weights = np.maximum(0.0, 1 - distance)
        else:
            weights = self._cubic(distance)
        if self.exclude_outside:
            weights = np.where((positions < 0) | (positions >= extent), 0.0, weights)
        if self.normalizes:
            weights = weights / weights.sum(axis=1, keepdims=True)
        clamped = np.clip(positions, 0, max(extent - 1, 0)).astype(np.int64)
        return clamped, weights, outside

    def _coordinates(self, i, extent: int, length: int, scale: float, region, exact: bool):
        """The places in the operand, in elements, of the result's positions `i`."""
        factor, divisor = (extent, length) if exact else (1, scale)
        centre = self._single((i + 0.5) * factor / divisor, exact) - 0.5
        match self.coordinate_transform:
            case "half_pixel":
                return centre
            case "half_pixel_symmetric":
                adjustment = length / (scale * extent)
                return extent / 2 * (1 - adjustment) + centre
            case "pytorch_half_pixel":
                return centre if length > 1 else i * 0.0
            case "align_corners":
                return i * (extent - 1) / (length - 1) if length > 1 else i * 0.0
            case "asymmetric":
                return i * factor / divisor
        first, last = region
        if length > 1:
            return first * (extent - 1) + i * (last - first) * (extent - 1) / (length - 1)
        return i * 0.0 + 0.5 * (first + last) * (extent - 1)

    def _single(self, at, exact: bool):
        """Coordinates, rounded to f32 in mode nearest unless `exact`; see `is_ratio`."""
        rounds = self.mode == "nearest" and not exact
        return at.astype(np.float32).astype(np.float64) if rounds else at

    def _places_of_table(self, i, extent: int, length: int):
        """As `_coordinates`, but in f32 and rounded down to the steps of the cubic table."""
        one = np.float32(1)
        if self.coordinate_transform == "align_corners" and length > 1:
            at = i.astype(np.float32) * (one * (extent - 1) / (one * (length - 1)))
        elif self.coordinate_transform == "half_pixel":
            scale = one * extent / (one * max(length, 1))
            at = (i + 0.5).astype(np.float32) * scale - np.float32(0.5)
        else:
            at = i.astype(np.float32) * (one * extent / (one * max(length, 1)))
        whole = np.floor(at)
        steps = np.rint((at - whole) * np.float32(self.cubic_steps))
        return whole.astype(np.float64) + steps / self.cubic_steps

    def _nearest(self, at, extent: int):
        match self.nearest_mode:
            case "round_prefer_floor":
                at = np.ceil(at - 0.5)
            case "round_prefer_ceil":
                at = np.floor(at + 0.5)
            case "floor":
                at = np.floor(at)
            case _:
                at = np.ceil(at)
        return np.clip(at, 0, max(extent - 1, 0)).astype(np.int64)

    def _cubic(self, distance):
        """The weight of an element at a distance. Source: R. Keys, Cubic convolution interpolation,
        1981, (4).
        """
        a, d = self.cubic_coeff_a, distance
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0.0))

    def sampled(self, x, shape, along):
        """x sampled to another shape; `along` lists (axis, scale, region) of the dimensions."""
        from ...ir.comprehension_numpy import accumulator

        out: Any = x
        if self.mode != "nearest":
            out = out.astype(np.float64 if x.dtype == np.float64 else accumulator(np.dtype("f4")))
        beyond = np.zeros(shape, np.bool_)
        for axis, scale, region in along:
            if not self.changes(x.shape[axis], shape[axis], scale):
                continue
            if shape[axis] and not scale > 0:
                raise NncError("a scale is not positive")
            if shape[axis] and not x.shape[axis]:
                raise NncError("there is no element to sample")
            positions, weights, outside = self.taps(x.shape[axis], shape[axis], scale, region)
            total: Any = None
            for t in range(positions.shape[1]):
                part = np.take(out, positions[:, t], axis=axis)
                if self.mode != "nearest":
                    ones = [1] * axis + [-1] + [1] * (x.ndim - axis - 1)
                    part = part * weights[:, t].reshape(ones).astype(out.dtype)
                total = part if total is None else total + part
            out = total
            beyond |= outside.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        out = np.where(beyond, out.dtype.type(self.extrapolation_value), out)
        if self.mode != "nearest" and x.dtype.kind in "iu":
            info = np.iinfo(x.dtype)
            out = np.clip(np.rint(out), info.min, info.max)
        return out.astype(x.dtype)


def scaled(extent: int, scale: float) -> int:
    """An extent times a scale, rounded down. It is computed in f32, so that 0.7 of 10 is 7."""
    return int(np.float32(extent * scale))


def is_ratio(extent: int, length: int, scale: float) -> bool:
    """Whether a scale, which is an f32, is length / extent as far as f32 can tell.

    Then the exact ratio is used: with the rounded one, coordinates that should be whole are
    slightly off, and another element may be the nearest. With other scales, coordinates are rounded
    to f32, as in other frameworks.
    """
    return length > 0 < extent and np.float32(length / extent) == np.float32(scale)


def check_steps(op: Resampling) -> None:
    """Raise NncError where `cubic_steps` is given with other attributes that exclude it."""
    transforms = ("half_pixel", "align_corners", "asymmetric")
    if op.cubic_steps < 0 or (op.cubic_steps and op.mode != "cubic"):
        raise NncError(f"{op.cubic_steps} steps of mode {op.mode}")
    if op.cubic_steps and (op.antialias or op.coordinate_transform not in transforms):
        raise NncError(
            f"cubic_steps needs coordinate_transform {', '.join(transforms)}, and no antialias"
        )


class Resize(Resampling, name="nn.resize"):
    """x sampled anew to the result's shape.

    `scales` gives the ratio of the result's extent to x's for each dimension, with which
    coordinates are computed; without it, the ratio of the actual extents is taken. An unknown
    extent of the result is x's extent times the scale, rounded down. `roi` is for
    coordinate_transform "tf_crop_and_resize": the begins, then the ends, of the region to sample,
    relative to x's extents.

    Source: ONNX Resize-19.
    """

    scales: tuple[float, ...] = attribute(F32_ARRAY, optional=True)
    roi: tuple[float, ...] = attribute(F32_ARRAY, optional=True)

    fusion = Fusion.REDUCTION
    treats_images_apart = True
    keeps_channels = True

    example = (
        "%y = nn.resize %x {scales = array<f32: 1.0, 1.0, 2.0, 2.0>} : "
        "(tensor<1x8x4x4xf32>) -> tensor<1x8x8x8xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return None

    def check(self) -> None:
        check_steps(self)
        x, out = self.x.type, self.out.type
        if x.rank != out.rank or x.element_type is not out.element_type:
            raise NncError(f"cannot resize '{x}' to '{out}'")
        if self.scales is not None:
            check_length(self.scales, x.rank, "scales")
        elif not out.has_static_shape and out.shape != x.shape:
            raise NncError("scales must be given where the result's shape is not known")
        if self.crops:
            if self.roi is None:
                raise NncError('coordinate_transform "tf_crop_and_resize" needs roi')
            check_length(self.roi, 2 * x.rank, "roi")

    def result_shape(self, shape) -> tuple[int, ...]:
        """The result's shape for an operand of this shape."""
        scales = numbers(self.scales, len(shape), 1.0, "scales")
        return tuple(
            scaled(d, s) if out is None else out
            for d, s, out in zip(shape, scales, self.out.type.shape, strict=True)
        )

    def taps_along(self, axis: int, extent: int):
        """`taps` of a dimension whose extent in the operand is `extent`."""
        length = self.out.type.shape[axis]
        if length is None:
            length = scaled(extent, self.scales[axis]) if self.scales is not None else extent
        return self.taps(extent, length, self._scale(axis, extent, length), self.region(axis))

    def _scale(self, axis: int, extent: int, length: int) -> float:
        """The ratio that coordinates along a dimension are computed with."""
        return self.scales[axis] if self.scales is not None else length / max(extent, 1)

    def region(self, axis: int) -> tuple[float, float]:
        """The part of a dimension that is sampled: begin and end, relative to its extent."""
        if self.roi is None:
            return 0.0, 1.0
        return self.roi[axis], self.roi[axis + len(self.roi) // 2]

    def samples(self, axis: int, shape) -> bool:
        """Whether a dimension is sampled anew, as far as that is known at compile time."""
        if self.crops or (self.scales is not None and self.scales[axis] != 1.0):
            return True
        wanted = self.out.type.shape[axis]
        return wanted is not None and shape[axis] != wanted

    def evaluate(self, x):
        shape = self.result_shape(x.shape)
        scales = [self._scale(d, *pair) for d, pair in enumerate(zip(x.shape, shape, strict=True))]
        along = [(axis, scale, self.region(axis)) for axis, scale in enumerate(scales)]
        return self.sampled(x, shape, along)


class ResizeDynamic(Resampling, name="nn.resize_dynamic"):
    """`nn.resize` along `axes`, with scales, extents and region known only at run time.

    `scales` (f32) and `sizes` (i64) are 1-D, with an element for each of the axes; `roi` (f32) has
    the begin of each, then the end of each.

    Source: ONNX Resize-19.
    """

    scales: Operand = operand(AnyRankedTensor)
    sizes: Operand = operand(AnyRankedTensor)
    roi: OptionalOperand = optional_operand(AnyRankedTensor)
    axes: tuple[int, ...] = attribute(INT_ARRAY)

    example = (
        '%y = nn.resize_dynamic %x, %s, %n {axes = array<i64: 2, 3>, mode = "linear"} : '
        "(tensor<1x8x4x4xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<1x8x?x?xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, scales, sizes = types[:3]
        check_axes(attrs.axes, x.rank)
        if shape_operand_length(sizes, "sizes") not in (len(attrs.axes), None):
            raise NncError(f"sizes must have {len(attrs.axes)} elements, but is '{sizes}'")
        _check_floats(scales, len(attrs.axes), "scales")
        if attrs.coordinate_transform == "tf_crop_and_resize":
            if len(types) < 4:
                raise NncError('coordinate_transform "tf_crop_and_resize" needs roi')
            _check_floats(types[3], 2 * len(attrs.axes), "roi")
        shape = [None if i in attrs.axes else d for i, d in enumerate(x.shape)]
        return [tensor(shape, x.element_type)]

    def evaluate(self, x, scales, sizes, roi=None):
        if (sizes < 0).any():
            raise NncError(f"an extent of {sizes.tolist()} is negative")
        shape, count = list(x.shape), len(self.axes)
        along = []
        for i, axis in enumerate(self.axes):
            shape[axis] = int(sizes[i])
            region = (0.0, 1.0) if roi is None else (float(roi[i]), float(roi[i + count]))
            along.append((axis, float(scales[i]), region))
        return self.sampled(x, shape, along)


def _check_floats(type, count: int, name: str) -> None:
    if type.shape not in ((count,), (None,)) or type.element_type is not f32:
        raise NncError(f"{name} must be {count} numbers of type f32, but is '{type}'")

"""Interpolation of images and other samples."""

from __future__ import annotations

from typing import Any

from ...ir.attributes import DenseArrayAttr
from ...ir.constraints import AnyRankedTensor
from ...ir.declare import BOOL, F32, AttrKind, Operand, Result, attribute, operand, result
from ...ir.diagnostics import NncError
from ...ir.types import f32
from .base import NnOp, check_length, numbers, one_of
from .traits import Fusion

F32_ARRAY: AttrKind[tuple[float, ...]] = AttrKind(
    "array<f32>",
    lambda a: isinstance(a, DenseArrayAttr) and a.element_type is f32,
    lambda a: a.values,
    lambda values: DenseArrayAttr(f32, tuple(f32.round(float(v)) for v in values)),
)


class Resize(NnOp, name="nn.resize"):
    """x sampled anew, so that it has the result's shape.

    `scales` is the ratio of extents that coordinates are computed with, for each dimension;
    left out, it is the ratio of the actual extents. A `?` of the result is the operand's
    extent times the scale, rounded down. `roi` (begins, then ends, relative) is for
    coordinate_transform "tf_crop_and_resize" only.

    Source: ONNX Resize-19.
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
    scales: tuple[float, ...] = attribute(F32_ARRAY, optional=True)
    roi: tuple[float, ...] = attribute(F32_ARRAY, optional=True)
    cubic_coeff_a: float = attribute(F32, default=-0.75)
    exclude_outside: bool = attribute(BOOL, default=False)
    antialias: bool = attribute(BOOL, default=False)
    extrapolation_value: float = attribute(F32, default=0.0)
    out: Result = result(AnyRankedTensor)

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
        x, out = self.x.type, self.out.type
        if x.rank != out.rank or x.element_type is not out.element_type:
            raise NncError(f"cannot resize '{x}' to '{out}'")
        if self.scales is not None:
            check_length(self.scales, x.rank, "scales")
        elif not out.has_static_shape and out.shape != x.shape:
            raise NncError("scales must be given where the result's shape is not known")
        if self.coordinate_transform == "tf_crop_and_resize":
            if self.roi is None:
                raise NncError('coordinate_transform "tf_crop_and_resize" needs roi')
            check_length(self.roi, 2 * x.rank, "roi")

    def result_shape(self, shape) -> tuple[int, ...]:
        """The result's shape for an operand's."""
        scales = numbers(self.scales, len(shape), 1.0, "scales")
        return tuple(
            int(d * s) if out is None else out
            for d, s, out in zip(shape, scales, self.out.type.shape, strict=True)
        )

    def taps(self, shape, axis: int):
        """How the result is made along one dimension: source positions and their weights.

        For P result elements, two arrays [P, T]: positions, clamped to the operand, and
        weights in f64; and [P], whether the element lies outside (and is extrapolated).
        """
        import math

        import numpy as np

        extent, length = shape[axis], self.result_shape(shape)[axis]
        scale = self.scales[axis] if self.scales is not None else length / max(extent, 1)
        at = self._coordinates(np.arange(length, dtype=np.float64), axis, extent, length, scale)
        outside = np.zeros(length, np.bool_)
        if self.coordinate_transform == "tf_crop_and_resize":
            outside = (at < 0) | (at > extent - 1)
        if self.mode == "nearest":
            return self._nearest(at, extent)[:, None], np.ones((length, 1)), outside
        # Antialiasing widens the kernel by the factor that the sampling gets coarser.
        stretch = min(scale, 1.0) if self.antialias else 1.0
        reach = math.ceil((1 if self.mode == "linear" else 2) / stretch)
        positions = np.floor(at)[:, None] + np.arange(1 - reach, reach + 1)
        distance = np.abs(at[:, None] - positions) * stretch
        if self.mode == "linear":
            weights = np.maximum(0.0, 1 - distance)
        else:
            weights = self._cubic(distance)
        if self.exclude_outside:
            weights = np.where((positions < 0) | (positions >= extent), 0.0, weights)
        if self.exclude_outside or self.antialias:
            weights = weights / weights.sum(axis=1, keepdims=True)
        clamped = np.clip(positions, 0, max(extent - 1, 0)).astype(np.int64)
        return clamped, weights, outside

    def _coordinates(self, i, axis: int, extent: int, length: int, scale: float):
        """Where the result's positions `i` lie in the operand."""
        match self.coordinate_transform:
            case "half_pixel":
                return (i + 0.5) / scale - 0.5
            case "half_pixel_symmetric":
                adjustment = length / (scale * extent)
                return extent / 2 * (1 - adjustment) + (i + 0.5) / scale - 0.5
            case "pytorch_half_pixel":
                return (i + 0.5) / scale - 0.5 if length > 1 else i * 0.0
            case "align_corners":
                return i * (extent - 1) / (length - 1) if length > 1 else i * 0.0
            case "asymmetric":
                return i / scale
        first, last = self.roi[axis], self.roi[axis + len(self.roi) // 2]
        if length > 1:
            return first * (extent - 1) + i * (last - first) * (extent - 1) / (length - 1)
        return i * 0.0 + 0.5 * (first + last) * (extent - 1)

    def _nearest(self, at, extent: int):
        import numpy as np

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
        """Keys' kernel. Source: R. Keys, Cubic convolution interpolation, 1981, (4)."""
        import numpy as np

        a, d = self.cubic_coeff_a, distance
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0.0))

    def evaluate(self, x):
        import numpy as np

        from ...ir.comprehension_numpy import accumulator

        shape = x.shape
        result_shape = self.result_shape(shape)
        out: Any = x
        if self.mode != "nearest":
            out = out.astype(np.float64 if x.dtype == np.float64 else accumulator(np.dtype("f4")))
        beyond = np.zeros(result_shape, np.bool_)
        for axis in range(x.ndim):
            if not self.samples(axis, shape):
                continue
            positions, weights, outside = self.taps(shape, axis)
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

    def samples(self, axis: int, shape) -> bool:
        """Whether anything happens along the dimension."""
        if self.coordinate_transform == "tf_crop_and_resize":
            return True
        scaled = self.scales is not None and self.scales[axis] != 1.0
        return scaled or shape[axis] != self.result_shape(shape)[axis]

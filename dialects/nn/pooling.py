"""Pooling: a reduction in a window that slides over the spatial dimensions.

Shapes: x [N, C, D..] -> out [N, C, P..], with P = (D + pads - reach) / stride + 1, rounded down, or
up with `ceil_mode`. The reach is the extent of the dilated kernel, (kernel - 1) * dilation + 1.
"""

from __future__ import annotations

import math

from ..vocabulary import *
from .base import NnOp, tensor
from .traits import Fusion
from .windows import Window


class PoolingOp(NnOp):
    """Base of the poolings."""

    x: Operand = operand(AnyRankedTensor)
    kernel: tuple[int, ...] = attribute(INT_ARRAY)
    strides: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    dilations: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    pads: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    ceil_mode: bool = attribute(BOOL, default=False)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.REDUCTION
    prologue = (Fusion.PADDING,)
    treats_images_apart = True
    keeps_channels = True
    combine = ""

    @property
    def manner(self) -> dict[str, Any]:
        """The attributes that determine how a window's elements are combined."""
        return {}

    @classmethod
    def window(cls, types, attrs) -> Window:
        """Kernel, strides, dilations and pads, with defaults filled in; `ceil_mode` becomes
        padding.
        """
        x = types[0]
        if x.rank < 3:
            raise NncError(f"x must have at least rank 3, but got '{x}'")
        window = Window.of(attrs, x, kernel=attrs.kernel)
        if not attrs.ceil_mode:
            return window
        more = window.ceil_padding(x.shape[2:])
        end = tuple(e + m for e, m in zip(window.end, more, strict=True))
        return Window(window.kernel, window.strides, window.dilations, window.begin, end)

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        """The comprehension on an operand that has been padded already."""
        if not cls.combine:
            return None
        return cls.pool(types, attrs, cls.combine)

    @classmethod
    def pool(cls, types, attrs, combine: str):
        """The reduction of each window of a padded operand; `combine` is an
        operator such as "+=".
        """
        x, window = types[0], cls.window(types, attrs)
        padded = tensor((*x.shape[:2], *window.padded_shape(x.shape[2:])), x.element_type)
        scope = {"strides": window.strides, "dilations": window.dilations}
        body = f"out[n, c, p..] {combine} x[n, c, p..*strides + k..*dilations]"
        return cls.bind(body, [padded], scope, {"k": window.kernel})

    @classmethod
    def infer(cls, types, attrs):
        x, window = types[0], cls.window(types, attrs)
        counts = window.counts(window.padded_shape(x.shape[2:]))
        return [tensor((*x.shape[:2], *counts), x.element_type)]

    @property
    def is_resolved(self) -> bool:
        """Whether the padding that `ceil_mode` adds is known though extents may be unknown."""
        if not self.ceil_mode:
            return True
        plain = Window.of(self, self.x.type, kernel=self.kernel)
        unknown = [i for i, extent in enumerate(self.x.type.shape[2:]) if extent is None]
        return all(map(plain.rounds_up_alike, unknown))

    def padded(self, x, fill):
        """The operand padded with `fill`, as NumPy."""
        from ...ir.comprehension_numpy import pad

        window = self.window([tensor(x.shape, self.x.type.element_type)], self)
        pads = [(0, 0), (0, 0), *zip(window.begin, window.end, strict=True)]
        return pad(x, pads, fill)

    def windows_of(self, padded):
        """A view of the padded operand with the window's dimensions last."""
        window = self.window([self.x.type], self)
        reach = [window.reach(i) for i in range(len(window.kernel))]
        counts = window.counts(padded.shape[2:])
        if 0 in counts:
            return np.empty((*padded.shape[:2], *counts, *self.kernel), padded.dtype)
        view = np.lib.stride_tricks.sliding_window_view(
            padded, reach, axis=tuple(range(2, padded.ndim))
        )
        steps = tuple(slice(None, None, s) for s in window.strides)
        taps = tuple(slice(None, None, d) for d in window.dilations)
        return view[(slice(None), slice(None), *steps, *taps)]


def lowest(dtype):
    """The least value of a dtype, the neutral element of max."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return False if dtype.kind == "b" else -np.inf


class MaxPool(PoolingOp, name="nn.max_pool"):
    """The largest element of each window; the padding does not count.

    NaN is passed over, as in ONNX Runtime and TensorFlow. With `keeps_nan`, a window that has a NaN
    gives NaN, as in PyTorch. Source: ONNX MaxPool-22.
    """

    keeps_nan: bool = attribute(BOOL, default=False)
    combine = "max="

    @property
    def ignores_nan(self) -> bool:
        return not self.keeps_nan

    @property
    def manner(self) -> dict[str, Any]:
        return {"keeps_nan": self.keeps_nan}

    example = (
        "%y = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : "
        "(tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>"
    )

    def evaluate(self, x):
        least, numbers = lowest(x.dtype), x
        if x.dtype.kind not in "biu" and not self.keeps_nan:
            numbers = np.where(np.isnan(x), least, x).astype(x.dtype)
        view = self.windows_of(self.padded(numbers, least))
        axes = tuple(range(x.ndim, view.ndim))
        return view.max(axis=axes).astype(x.dtype)


class MaxPoolWithIndices(PoolingOp, name="nn.max_pool_with_indices"):
    """The largest element of each window, and its index in the flattened operand.

    Of equal elements, the first one. NaN is passed over unless it is the window's first element;
    with `keeps_nan`, the last NaN of a window is its result. Source: ONNX MaxPool-22 (storage_order
    0).
    """

    has_own_lowering = True
    keeps_nan: bool = attribute(BOOL, default=False)
    indices: Result = result(AnyRankedTensor)

    @property
    def manner(self) -> dict[str, Any]:
        return {"keeps_nan": self.keeps_nan}

    example = (
        "%y, %i = nn.max_pool_with_indices %x {kernel = array<i64: 2, 2>} : "
        "(tensor<1x8x4x4xf32>) -> (tensor<1x8x3x3xf32>, tensor<1x8x3x3xi64>)"
    )

    @classmethod
    def infer(cls, types, attrs):
        (out,) = super().infer(types, attrs)
        return [out, tensor(out.shape, i64)]

    def evaluate(self, x):
        view = self.windows_of(self.padded(x, lowest(x.dtype)))
        places = np.arange(x.size, dtype=np.int64).reshape(x.shape)
        inside = self.windows_of(self.padded(np.ones(x.shape, np.bool_), False))
        shape = (*view.shape[: x.ndim], math.prod(view.shape[x.ndim :]))
        flat, inside = view.reshape(shape), inside.reshape(shape)
        where = self.windows_of(self.padded(places, -1)).reshape(shape)
        # Padding loses even against -inf.
        best = np.where(inside, flat.astype(np.float64), -np.inf)
        missing = inside & np.isnan(best)
        best = np.where(missing, -np.inf, best)
        best = np.where(inside & (best == best.max(-1, keepdims=True)), 1, 0)
        at = best.argmax(-1)[..., None]
        if self.keeps_nan:
            last = missing.shape[-1] - 1 - missing[..., ::-1].argmax(-1)[..., None]
            at = np.where(missing.any(-1, keepdims=True), last, at)
        else:  # nothing is larger than a NaN that is first
            first = inside.argmax(-1)[..., None]
            at = np.where(np.take_along_axis(missing, first, -1), first, at)
        values = np.take_along_axis(flat, at, -1)[..., 0]
        return values, np.take_along_axis(where, at, -1)[..., 0]


class AvgPool(PoolingOp, name="nn.avg_pool"):
    """The mean of each window's elements; those of the padding count with `count_include_pad` only.

    Source: ONNX AveragePool-22.
    """

    count_include_pad: bool = attribute(BOOL, default=False)

    example = (
        "%y = nn.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : "
        "(tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>"
    )

    def evaluate(self, x):

        from ...ir.comprehension_numpy import accumulator

        dtype = accumulator(x.dtype)
        view = self.windows_of(self.padded(x, 0))
        axes = tuple(range(x.ndim, view.ndim))
        counts = self.counts(x.shape[2:])
        return (view.sum(axis=axes, dtype=dtype) / counts).astype(x.dtype)

    def counts(self, spatial):
        """By how many elements the sum of each window is divided: [1, 1, P..] in f32.

        The padding that `ceil_mode` adds never counts.
        """
        given = Window.of(self, self.x.type, kernel=self.kernel)
        whole = self.window([tensor((1, 1, *spatial), self.x.type.element_type)], self)
        mask = np.zeros((1, 1, *whole.padded_shape(spatial)), np.float32)
        inside = []
        for i, extent in enumerate(spatial):
            begin = 0 if self.count_include_pad else given.begin[i]
            padding = given.begin[i] + given.end[i] if self.count_include_pad else 0
            inside.append(slice(begin, begin + extent + padding))
        mask[(0, 0, *inside)] = 1
        view = self.windows_of(mask)
        return view.sum(axis=tuple(range(mask.ndim, view.ndim)))


class SumPool(PoolingOp, name="nn.sum_pool"):
    """The sum of each window; averages and norms are decomposed to it."""

    combine = "+="
    example = (
        "%y = nn.sum_pool %x {kernel = array<i64: 2, 2>} : "
        "(tensor<1x8x4x4xf32>) -> tensor<1x8x3x3xf32>"
    )

    def evaluate(self, x):
        from ...ir.comprehension_numpy import accumulator

        view = self.windows_of(self.padded(x, 0))
        axes = tuple(range(x.ndim, view.ndim))
        return view.sum(axis=axes, dtype=accumulator(x.dtype)).astype(x.dtype)


class LpPool(PoolingOp, name="nn.lp_pool"):
    """The p-norm of each window: (sum of |x|**p)**(1 / p). Source: ONNX LpPool-22."""

    p: int = attribute(I64, default=2)

    @property
    def manner(self) -> dict[str, Any]:
        return {"p": self.p}

    example = (
        "%y = nn.lp_pool %x {kernel = array<i64: 2, 2>, p = 3 : i64} : "
        "(tensor<1x8x4x4xf32>) -> tensor<1x8x3x3xf32>"
    )

    def evaluate(self, x):
        from ...ir.comprehension_numpy import accumulator

        view = self.windows_of(self.padded(x, 0)).astype(accumulator(x.dtype))
        axes = tuple(range(x.ndim, view.ndim))
        return ((np.abs(view) ** self.p).sum(axis=axes) ** (1 / self.p)).astype(x.dtype)

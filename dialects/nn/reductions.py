"""Reductions over axes, running sums and products, and searches for the largest elements."""

from __future__ import annotations

from typing import ClassVar

from ...ir.types import Dim
from ..vocabulary import *
from .base import NnOp, check_axes, check_axis, is_float, tensor
from .traits import Fusion


class ReductionOp(NnOp):
    """Base of the reductions along `axes`; with `keep_dims` these stay, with extent 1."""

    x: Operand = operand(AnyRankedTensor)
    axes: tuple[int, ...] = attribute(INT_ARRAY)
    keep_dims: bool = attribute(BOOL, default=False)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.REDUCTION
    prologue = (Fusion.ELEMENTWISE,)
    combine = ""
    value = "{x}"
    example = "%y = {name} %x {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>"

    @property
    def row_axes(self):
        return tuple(self.axes) if self.keep_dims else None

    @property
    def keeps_channels(self):
        return self.keep_dims and min(self.axes, default=2) > 1

    def operands_by_parts(self):
        return {0} if 0 not in self.axes else None

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        return cls.reduce(types, attrs, cls.combine, cls.value) if cls.combine else None

    @classmethod
    def reduce(cls, types, attrs, combine: str, value: str):
        """The comprehension of a reduction of `value`, a text with `{x}` for the element, by
        `combine`.
        """
        rank, axes = types[0].rank, set(attrs.axes)
        check_axes(attrs.axes, rank)
        kept = [
            (f"i{d}" if d not in axes else f"one{d}")
            for d in range(rank)
            if d not in axes or attrs.keep_dims
        ]
        element = "x[" + ", ".join(f"i{d}" for d in range(rank)) + "]"
        body = f"out[{', '.join(kept)}] {combine} {value.format(x=element)}"
        ones = {name: 1 for name in kept if name.startswith("one")}
        return cls.bind(body, types, attrs, ones)

    @classmethod
    def infer(cls, types, attrs):
        return [tensor(cls.reduce(types, attrs, "+=", "{x}").shape, types[0].element_type)]

    def accumulated(self, x):
        """The operand converted to the type in which sums are computed."""
        from ...ir.comprehension_numpy import accumulator

        return x.astype(accumulator(x.dtype))


class ReduceSum(ReductionOp, name="nn.reduce_sum"):
    """The sum; 0 for no elements. Source: ONNX ReduceSum-13."""

    combine = "+="


class ReduceProd(ReductionOp, name="nn.reduce_prod"):
    """The product; 1 for no elements. Source: ONNX ReduceProd-18."""

    combine = "*="


class ReduceMax(ReductionOp, name="nn.reduce_max"):
    """The largest element; the least value of the type if there are no elements.

    Source: ONNX ReduceMax-20.
    """

    combine = "max="


class ReduceMin(ReductionOp, name="nn.reduce_min"):
    """The smallest element; the largest value of the type if there are no elements.

    Source: ONNX ReduceMin-20.
    """

    combine = "min="


class ReduceL1(ReductionOp, name="nn.reduce_l1"):
    """The sum of absolute values. Source: ONNX ReduceL1-18."""

    combine = "+="
    value = "abs({x})"


class ReduceSumSquare(ReductionOp, name="nn.reduce_sum_square"):
    """The sum of squares. Source: ONNX ReduceSumSquare-18."""

    combine = "+="
    value = "{x} * {x}"


class ReduceMean(ReductionOp, name="nn.reduce_mean"):
    """The mean; integers round toward zero. Source: ONNX ReduceMean-18."""

    example = (
        "%y = nn.reduce_mean %x {axes = array<i64: 1>, keep_dims = true} : "
        "(tensor<4x8xf32>) -> tensor<4x1xf32>"
    )

    def evaluate(self, x):
        total = self.accumulated(x).sum(axis=tuple(self.axes), keepdims=self.keep_dims)
        count = int(np.prod([x.shape[a] for a in self.axes], dtype=np.int64))
        with np.errstate(all="ignore"):
            if is_float(self.x.type.element_type):
                return np.asarray(total / total.dtype.type(count)).astype(x.dtype)
            return np.trunc(np.asarray(total) / count).astype(x.dtype)


class ReduceL2(ReductionOp, name="nn.reduce_l2"):
    """The square root of the sum of squares. Source: ONNX ReduceL2-18."""

    needs_floats = True

    def evaluate(self, x):
        wide = self.accumulated(x)
        total = (wide * wide).sum(axis=tuple(self.axes), keepdims=self.keep_dims)
        return np.asarray(np.sqrt(total)).astype(x.dtype)


class ReduceLogSum(ReductionOp, name="nn.reduce_log_sum"):
    """The logarithm of the sum. Source: ONNX ReduceLogSum-18."""

    needs_floats = True

    def evaluate(self, x):
        total = self.accumulated(x).sum(axis=tuple(self.axes), keepdims=self.keep_dims)
        with np.errstate(all="ignore"):
            return np.asarray(np.log(total)).astype(x.dtype)


class ReduceLogSumExp(ReductionOp, name="nn.reduce_log_sum_exp"):
    """The logarithm of the sum of e**x, without overflow. Source: ONNX ReduceLogSumExp-18."""

    needs_floats = True

    def evaluate(self, x):
        axes, wide = tuple(self.axes), self.accumulated(x)
        with np.errstate(all="ignore"):
            top = wide.max(axis=axes, keepdims=True, initial=-np.inf)
            top = np.where(np.isfinite(top), top, 0)
            total = np.exp(wide - top).sum(axis=axes, keepdims=True)
            out = np.log(total) + top
        return (out if self.keep_dims else out.squeeze(axes)).astype(x.dtype)


class ArgOp(NnOp):
    """Base of the searches for the index (i64) of the largest or smallest element along an axis."""

    x: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64)
    keep_dims: bool = attribute(BOOL, default=False)
    select_last_index: bool = attribute(BOOL, default=False)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.REDUCTION

    @classmethod
    def infer(cls, types, attrs):
        shape: list[Dim] = list(types[0].shape)
        axis = check_axis(attrs.axis, len(shape))
        rest = [d for i, d in enumerate(shape) if i != axis]
        if shape[axis] == 0 and all(rest):
            raise NncError(f"axis {axis} of '{types[0]}' has no elements")
        return [tensor([*shape[:axis], 1, *shape[axis + 1 :]] if attrs.keep_dims else rest, i64)]

    def find(self, x, where):
        """The indices that `where` (NumPy's argmax or argmin) finds; with `select_last_index` the
        last.
        """
        if not x.shape[self.axis] and x.ndim > 1:
            at = np.zeros([d for i, d in enumerate(x.shape) if i != self.axis])
        elif self.select_last_index:
            at = x.shape[self.axis] - 1 - where(np.flip(x, self.axis), axis=self.axis)
        else:
            at = where(x, axis=self.axis)
        at = np.asarray(at, np.int64)
        return np.expand_dims(at, self.axis) if self.keep_dims else at


class Argmax(ArgOp, name="nn.argmax"):
    """The index of the largest element along the axis. Source: ONNX ArgMax-13."""

    example = "%y = nn.argmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>"

    def evaluate(self, x):
        return self.find(x, np.argmax)


class Argmin(ArgOp, name="nn.argmin"):
    """The index of the smallest element along the axis. Source: ONNX ArgMin-13."""

    example = "%y = nn.argmin %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>"

    def evaluate(self, x):
        return self.find(x, np.argmin)


class RunningOp(NnOp):
    """Base of the running sums and products: each element is combined with those before it.

    With `exclusive`, an element itself does not count; with `reverse`, it is combined with those
    after it.
    """

    combine: ClassVar[str]
    """The name of the scalar function that combines elements, `add` or `mul`."""
    start: ClassVar[int]
    """The function's neutral element."""

    x: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64)
    exclusive: bool = attribute(BOOL, default=False)
    reverse: bool = attribute(BOOL, default=False)
    out: Result = result(AnyRankedTensor)

    @classmethod
    def infer(cls, types, attrs):
        check_axis(attrs.axis, types[0].rank)
        return [types[0]]

    def running(self, x, combine):
        """The results; `combine` is the NumPy function."""
        from ...ir.comprehension_numpy import accumulator

        wide = np.moveaxis(np.flip(x, self.axis) if self.reverse else x, self.axis, 0)
        wide = wide.astype(accumulator(x.dtype))
        if self.exclusive:
            first = np.full_like(wide[:1], self.start)
            wide = np.concatenate([first, wide[:-1]])
        total = np.moveaxis(combine.accumulate(wide, dtype=wide.dtype), 0, self.axis)
        return (np.flip(total, self.axis) if self.reverse else total).astype(x.dtype)


class Cumsum(RunningOp, name="nn.cumsum"):
    """Running sums along the axis: of 1, 2, 3 they are 1, 3, 6.

    With `exclusive` they are 0, 1, 3; with `reverse` 6, 5, 3. Source: ONNX CumSum-14.
    """

    combine = "add"
    start = 0
    example = "%y = nn.cumsum %x {axis = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>"

    def evaluate(self, x):
        return self.running(x, np.add)


class Cumprod(RunningOp, name="nn.cumprod"):
    """Running products along the axis: of 2, 3, 4 they are 2, 6, 24.

    With `exclusive` they are 1, 2, 6; with `reverse` 24, 12, 4. Source: ONNX CumProd-26.
    """

    combine = "mul"
    start = 1
    example = "%y = nn.cumprod %x {axis = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>"

    def evaluate(self, x):
        return self.running(x, np.multiply)


class TopK(NnOp, name="nn.top_k"):
    """The k largest (or smallest) elements along the axis, and their indices.

    Equal elements come in the order of their indices. `k` holds one i64. `sorted` asks for the best
    elements first; they always come so. Source: ONNX TopK-24.
    """

    x: Operand = operand(AnyRankedTensor)
    k: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64)
    largest: bool = attribute(BOOL, default=True)
    sorted: bool = attribute(BOOL, default=True)
    out: Result = result(AnyRankedTensor)
    indices: Result = result(AnyRankedTensor)

    example = (
        "%v, %i = nn.top_k %x, %k {axis = 1 : i64} : "
        "(tensor<4x8xf32>, tensor<1xi64>) -> (tensor<4x?xf32>, tensor<4x?xi64>)"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, k = types
        check_axis(attrs.axis, x.rank)
        if k.rank > 1 or k.element_type is not i64 or k.shape not in ((), (1,)):
            raise NncError(f"k must hold one i64, but got '{k}'")
        shape = list(x.shape)
        shape[attrs.axis] = None
        return [tensor(shape, x.element_type), tensor(shape, i64)]

    def evaluate(self, x, k):
        axis, count = self.axis, int(np.asarray(k).reshape(()))
        if not 0 <= count <= x.shape[axis]:
            raise self.error(f"k is {count}, but axis {axis} has {x.shape[axis]} elements")
        if self.largest:
            # A stable ascending sort of the reversed axis, reversed: equal ones stay in order.
            order = np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
            order = x.shape[axis] - 1 - order
        else:
            order = np.argsort(x, axis=axis, kind="stable")
        order = np.take(order, np.arange(count), axis=axis).astype(np.int64)
        return np.take_along_axis(x, order, axis), order

"""Ops that move elements to places that do not depend on what the elements are."""

from __future__ import annotations

from ...ir.types import Dim
from ..vocabulary import *
from .base import (
    NnOp,
    check_axis,
    check_length,
    numbers,
    one_of,
    shape_operand_length,
    tensor,
)
from .traits import Arranging, Fusion, Total


class Transpose(NnOp, name="nn.transpose", traits=(Total, Arranging)):
    """x with its dimensions in another order: dimension i of the result is x's permutation[i].

    Source: ONNX Transpose-25.
    """

    x: Operand = operand(AnyRankedTensor)
    permutation: tuple[int, ...] = attribute(INT_ARRAY)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.MOVEMENT

    @property
    def keeps_rows(self):
        return self.permutation[-1:] == (len(self.permutation) - 1,)

    places_rows = keeps_rows

    example = (
        "%y = nn.transpose %x {permutation = array<i64: 1, 0>} : "
        "(tensor<4x8xf32>) -> tensor<8x4xf32>"
    )

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        rank = types[0].rank
        if sorted(attrs.permutation) != list(range(rank)):
            raise NncError(
                f"permutation {list(attrs.permutation)} is not one of 0..{rank - 1}"
                if rank
                else "the permutation of a 0-d tensor is empty"
            )
        out = ", ".join(f"i{d}" for d in attrs.permutation)
        return cls.bind(f"out[{out}] = x[{', '.join(f'i{d}' for d in range(rank))}]", types, attrs)

    def evaluate(self, x):
        """A view without a copy: weights are transposed several times before they are stored."""
        return x.transpose(self.permutation)


class Concat(NnOp, name="nn.concat"):
    """Tensors one after the other along the axis. Source: ONNX Concat-13."""

    inputs: Operands = operands(AnyRankedTensor)
    axis: int = attribute(I64)
    out: Result = result(AnyRankedTensor)

    def operands_by_parts(self):
        return set(range(len(self._operands))) if self.axis != 0 else None

    example = (
        "%c = nn.concat %a, %b {axis = 0 : i64} : "
        "(tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        if not types:
            raise NncError("needs at least one operand")
        first = types[0]
        axis = check_axis(attrs.axis, first.rank)
        shape = list(first.shape)
        total: Dim = 0
        for type in types:
            if type.rank != first.rank or type.element_type is not first.element_type:
                raise NncError(f"operands do not fit together: '{first}' and '{type}'")
            extent = type.shape[axis]
            total = None if total is None or extent is None else total + extent
            for i, d in enumerate(type.shape):
                if i != axis and None not in (d, shape[i]) and d != shape[i]:
                    raise NncError(f"operands differ in dimension {i}: '{first}' and '{type}'")
                if i != axis and shape[i] is None:
                    shape[i] = d
        shape[axis] = total
        return [tensor(shape, first.element_type)]

    def evaluate(self, *inputs):
        return np.concatenate(inputs, axis=self.axis)


class TransposeDynamic(NnOp, name="nn.transpose_dynamic"):
    """`nn.transpose` with a permutation that is known only at run time.

    `permutation` is a 1-D tensor of i64 that holds each of x's dimensions once. Dimension i of the
    result is x's dimension permutation[i].
    """

    x: Operand = operand(AnyRankedTensor)
    permutation: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.transpose_dynamic %x, %p : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, permutation = types
        if shape_operand_length(permutation, "permutation") not in (x.rank, None):
            raise NncError(f"permutation must have {x.rank} elements, but is '{permutation}'")
        return [tensor([None] * x.rank, x.element_type)]

    def evaluate(self, x, permutation):
        if sorted(permutation) != list(range(x.ndim)):
            raise NncError(f"permutation {list(permutation)} is not one of 0..{x.ndim - 1}")
        return np.asarray(np.transpose(x, permutation), order="C")


class Slice(NnOp, name="nn.slice"):
    """Every `steps`-th element from `starts` on, as many as the result type says.

    `starts` and `steps` have a number for each dimension. Starts are in range, steps may be
    negative. An unknown extent of the result reaches to the end: a slice of tensor<?x8xf32> with
    starts [1, 6] and steps [1, -2] to tensor<?x3xf32> is the rows 1, 2, .. and of them the columns
    6, 4 and 2.
    Source: ONNX Slice-13.
    """

    x: Operand = operand(AnyRankedTensor)
    starts: tuple[int, ...] = attribute(INT_ARRAY)
    steps: tuple[int, ...] = attribute(INT_ARRAY, optional=True)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.MOVEMENT
    has_own_lowering = True

    example = (
        "%y = nn.slice %x {starts = array<i64: 1, 0>, steps = array<i64: 1, 2>} : "
        "(tensor<4x8xf32>) -> tensor<2x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        return None

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        (x,), (out,) = types, results
        steps = numbers(attrs.steps, x.rank, 1, "steps")
        names = [f"i{d}" for d in range(x.rank)]
        index = [
            f"{start} + {name}*({step})" if (start, step) != (0, 1) else name
            for name, start, step in zip(names, attrs.starts, steps, strict=True)
        ]
        pairs = zip(names, out.shape, strict=True)
        extents = {name: size for name, size in pairs if size is not None}
        return cls.bind(f"out[{', '.join(names)}] = x[{', '.join(index)}]", types, attrs, extents)

    def check(self) -> None:
        x, out = self.x.type, self.out.type
        if x.element_type is not out.element_type or x.rank != out.rank:
            raise NncError(f"cannot slice '{x}' to '{out}'")
        check_length(self.starts, x.rank, "starts")
        steps = numbers(self.steps, x.rank, 1, "steps")
        for i, (start, step) in enumerate(zip(self.starts, steps, strict=True)):
            before, after = x.shape[i], out.shape[i]
            if step == 0 or start < 0:
                raise NncError("steps must not be 0, starts not negative")
            if after:
                last = start + (after - 1) * step
                if last < 0 or (before is not None and max(start, last) >= before):
                    raise NncError(f"elements {start}, .., {last} are not all in dimension {i}")
            elif after is None and (step != 1 or start) and before is not None:
                raise NncError(f"dimension {i} of '{out}' is known and must be given")

    @property
    def keeps_rows(self):
        steps = self.steps or (1,)
        return min(steps) > 0 and steps[-1] == 1

    def operands_by_parts(self):
        whole = self.starts[:1] == (0,) and (self.steps or (1,))[0] == 1
        return {0} if whole and self.out.type.shape[0] == self.x.type.shape[0] else None


class SliceDynamic(NnOp, name="nn.slice_dynamic"):
    """x sliced as NumPy's x[start:end:step] along some axes, all known only at run time.

    The four operands are 1-D tensors of i64 with an element for each of the axes.
    Source: ONNX Slice-13.
    """

    x: Operand = operand(AnyRankedTensor)
    starts: Operand = operand(AnyRankedTensor)
    ends: Operand = operand(AnyRankedTensor)
    axes: Operand = operand(AnyRankedTensor)
    steps: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.slice_dynamic %x, %a, %b, %axes, %steps : (tensor<4x8xf32>, tensor<1xi64>, "
        "tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        for type, name in zip(types[1:], ("starts", "ends", "axes", "steps"), strict=True):
            shape_operand_length(type, name)
        return [tensor([None] * types[0].rank, types[0].element_type)]

    def evaluate(self, x, starts, ends, axes, steps):
        where = [slice(None)] * x.ndim
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            axis, step = int(axis), int(step)
            count, first = slice_bounds(int(start), int(end), step, x.shape[axis])
            stop = first + count * step
            where[axis] = slice(first, None if stop < 0 else stop, step) if count else slice(0, 0)
        return np.asarray(x[tuple(where)], order="C")


def slice_bounds(start: int, end: int, step: int, extent: int) -> tuple[int, int]:
    """How many elements NumPy's `start:end:step` selects of `extent`, and the index of the first.

    Raises NncError if the step is 0.
    """
    if step == 0:
        raise NncError("steps must not be 0")
    first, stop, step = slice(start, end, step).indices(extent)
    count = max(0, -((first - stop) // step))
    return count, first if count else 0


class Split(NnOp, name="nn.split"):
    """Consecutive parts along the axis, of the sizes that the result types give.

    Source: ONNX Split-18.
    """

    x: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64)
    outs: Results = results(AnyRankedTensor)

    example = (
        "%a, %b = nn.split %x {axis = 0 : i64} : "
        "(tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>)"
    )

    @classmethod
    def infer(cls, types, attrs):
        check_axis(attrs.axis, types[0].rank)
        return

    def check(self) -> None:
        x, total = self.x.type, 0
        for out in self.result_types:
            rest = [*x.shape[: self.axis], *x.shape[self.axis + 1 :]]
            found = [*out.shape[: self.axis], *out.shape[self.axis + 1 :]]
            if out.rank != x.rank or out.element_type is not x.element_type or rest != found:
                raise NncError(f"'{out}' is not a part of '{x}'")
            if out.shape[self.axis] is None:
                raise NncError(f"dimension {self.axis} of the parts must be known")
            total += out.shape[self.axis]
        if x.shape[self.axis] is not None and x.shape[self.axis] != total:
            raise NncError(f"the parts have {total} elements along axis {self.axis} of '{x}'")

    def operands_by_parts(self):
        return {0} if self.axis != 0 else None

    def evaluate(self, x):
        sizes = [t.shape[self.axis] for t in self.result_types]
        ends = np.cumsum(sizes)
        if sum(sizes) != x.shape[self.axis]:
            raise self.error(f"cannot split {x.shape[self.axis]} elements into {sizes}")
        parts = tuple(
            np.ascontiguousarray(np.take(x, range(e - n, e), axis=self.axis))
            for n, e in zip(sizes, ends, strict=True)
        )
        return parts if len(parts) != 1 else parts[0]


class Tile(NnOp, name="nn.tile"):
    """The whole tensor repeated along each dimension. Source: ONNX Tile-13."""

    x: Operand = operand(AnyRankedTensor)
    repeats: tuple[int, ...] = attribute(INT_ARRAY)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.tile %x {repeats = array<i64: 2, 1>} : (tensor<4x8xf32>) -> tensor<8x8xf32>"

    @classmethod
    def infer(cls, types, attrs):
        x = types[0]
        check_length(attrs.repeats, x.rank, "repeats")
        if min(attrs.repeats, default=0) < 0:
            raise NncError("repeats must not be negative")
        shape = [None if d is None else d * n for d, n in zip(x.shape, attrs.repeats, strict=True)]
        return [tensor(shape, x.element_type)]

    def evaluate(self, x):
        return np.tile(x, self.repeats)


class Trilu(NnOp, name="nn.trilu", traits=(Idempotent,)):
    """The upper (or lower) triangle of each matrix with its diagonal k; the other elements are 0.

    Diagonal 1 is above the main one, -1 below it. `k` is a 0-d tensor of i64; without it, k is 0.
    Source: ONNX Trilu-14.
    """

    x: Operand = operand(AnyRankedTensor)
    k: OptionalOperand = optional_operand(AnyRankedTensor)
    upper: bool = attribute(BOOL, default=True)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.trilu %x {upper = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>"

    @classmethod
    def infer(cls, types, attrs):
        if types[0].rank < 2:
            raise NncError(f"x must have at least rank 2, but got '{types[0]}'")
        return [types[0]]

    def evaluate(self, x, k=None):
        k = 0 if k is None else int(k.reshape(()))
        rows, columns = x.shape[-2:]
        distance = np.arange(columns)[None, :] - np.arange(rows)[:, None]
        keep = distance >= k if self.upper else distance <= k
        return np.where(keep, x, np.zeros((), x.dtype))


class DepthToSpace(NnOp, name="nn.depth_to_space"):
    """Each pixel's channels spread over squares of `block` x `block` pixels.

    In mode "DCR" the channels are numbered [row, column, c], in mode "CRD" [c, row, column].
    Shapes: x [N, C, H, W] -> out [N, C / block**2, H * block, W * block].
    Source: ONNX DepthToSpace-13.
    """

    x: Operand = operand(AnyRankedTensor)
    block: int = attribute(I64)
    mode: str = attribute(one_of("DCR", "CRD"), default="DCR")
    out: Result = result(AnyRankedTensor)

    treats_images_apart = True

    example = (
        "%y = nn.depth_to_space %x {block = 2 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x2x8x8xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        N, C, H, W = _image(types[0])
        b = attrs.block
        if b < 1 or (C is not None and C % (b * b)):
            raise NncError(f"{C} channels do not split into blocks of {b} x {b}")
        shape = (N, C and C // (b * b), H and H * b, W and W * b)
        return [tensor(shape, types[0].element_type)]

    def evaluate(self, x):
        N, C, H, W = x.shape
        b = self.block
        if self.mode == "DCR":
            split = x.reshape(N, b, b, C // (b * b), H, W).transpose(0, 3, 4, 1, 5, 2)
        else:
            split = x.reshape(N, C // (b * b), b, b, H, W).transpose(0, 1, 4, 2, 5, 3)
        return split.reshape(N, C // (b * b), H * b, W * b)


class SpaceToDepth(NnOp, name="nn.space_to_depth"):
    """The pixels of squares of `block` x `block` made channels of one pixel: [row, column, c].

    Shapes: x [N, C, H, W] -> out [N, C * block**2, H / block, W / block].
    Source: ONNX SpaceToDepth-13.
    """

    x: Operand = operand(AnyRankedTensor)
    block: int = attribute(I64)
    out: Result = result(AnyRankedTensor)

    treats_images_apart = True
    example = (
        "%y = nn.space_to_depth %x {block = 2 : i64} : (tensor<1x2x8x8xf32>) -> tensor<1x8x4x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        N, C, H, W = _image(types[0])
        b = attrs.block
        if b < 1 or (H or 0) % b or (W or 0) % b:
            raise NncError(f"'{types[0]}' does not split into blocks of {b} x {b}")
        shape = (N, C and C * b * b, H and H // b, W and W // b)
        return [tensor(shape, types[0].element_type)]

    def evaluate(self, x):
        N, C, H, W = x.shape
        b = self.block
        split = x.reshape(N, C, H // b, b, W // b, b).transpose(0, 3, 5, 1, 2, 4)
        return split.reshape(N, C * b * b, H // b, W // b)


def _image(type) -> tuple[Dim, Dim, Dim, Dim]:
    if type.rank != 4:
        raise NncError(f"x must have rank 4, but got '{type}'")
    return type.shape

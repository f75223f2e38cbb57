"""Gathering and scattering: elements chosen by tensors of indices."""

from __future__ import annotations

from ...ir.types import Dim
from ..vocabulary import *
from .base import NnOp, check_axis, compatible, one_of, tensor

REDUCTION = one_of("none", "add", "mul", "max", "min")


def check_indices(type: TensorType) -> None:
    """Raise NncError unless the elements are i32 or i64."""
    if type.element_type not in (IntegerType(32), IntegerType(64)):
        raise NncError(f"indices must be i32 or i64, but got '{type}'")


def check_batch(a: TensorType, b: TensorType, dims) -> None:
    """Raise NncError where the two types differ in one of the dimensions `dims`."""
    for i in dims:
        if None not in (a.shape[i], b.shape[i]) and a.shape[i] != b.shape[i]:
            raise NncError(f"'{a}' and '{b}' differ in dimension {i}")


def check_within(indices: TensorType, data: TensorType, axis: int) -> None:
    """Raise NncError where `indices` is larger than `data` in a dimension other than the axis."""
    if indices.rank != data.rank:
        raise NncError(f"data and indices differ in rank: '{data}' and '{indices}'")
    for i, (count, extent) in enumerate(zip(indices.shape, data.shape, strict=True)):
        if i != axis and None not in (count, extent) and count > extent and 0 not in indices.shape:
            raise NncError(f"'{indices}' has more indices in dimension {i} than '{data}' elements")


class Gather(NnOp, name="nn.gather"):
    """The slices of `data` at the given indices of an axis; negative indices count from the end.

    Shapes: data [A.., D, B..], indices [I..] -> out [A.., I.., B..]. Source: ONNX Gather-13.
    """

    data: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.gather %x, %i {axis = 1 : i64} : "
        "(tensor<4x8xf32>, tensor<3x2xi64>) -> tensor<4x3x2xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        data, indices = types
        check_indices(indices)
        axis = check_axis(attrs.axis, data.rank)
        shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
        return [tensor(shape, data.element_type)]

    def evaluate(self, data, indices):
        return np.take(data, indices, axis=self.axis)

    def operands_by_parts(self):
        return {1} if self.axis == 0 and self.indices.type.rank else None


class GatherElements(NnOp, name="nn.gather_elements"):
    """An element for each index: for axis 0, out[i, j, k] = data[indices[i, j, k], j, k].

    Source: ONNX GatherElements-13.
    """

    data: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.gather_elements %x, %i {axis = 1 : i64} : "
        "(tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        data, indices = types
        check_indices(indices)
        check_within(indices, data, check_axis(attrs.axis, data.rank))
        return [tensor(indices.shape, data.element_type)]

    def evaluate(self, data, indices):
        return data[along(indices, self.axis, data.shape[self.axis])]


class GatherNd(NnOp, name="nn.gather_nd"):
    """The elements or slices of `data` at index tuples, which are the rows of `indices`.

    Shapes: data [B.., D.., E..], indices [B.., I.., T] with T dimensions D.. and `batch_dims`
    dimensions B.. -> out [B.., I.., E..]. Source: ONNX GatherND-13.
    """

    data: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(AnyRankedTensor)
    batch_dims: int = attribute(I64, default=0)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.gather_nd %x, %i : (tensor<4x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>"

    @classmethod
    def infer(cls, types, attrs):
        data, indices = types
        check_indices(indices)
        batch, length = attrs.batch_dims, indices.shape[-1] if indices.rank else None
        if length is None:
            raise NncError(f"the last dimension of indices must be known, but got '{indices}'")
        if not 0 <= batch < min(data.rank, indices.rank) or batch + length > data.rank:
            raise NncError(
                f"{batch} batch dimensions and tuples of {length} do not fit '{data}', '{indices}'"
            )
        check_batch(data, indices, range(batch))
        return [tensor((*indices.shape[:-1], *data.shape[batch + length :]), data.element_type)]

    def evaluate(self, data, indices):
        batch, length = self.batch_dims, indices.shape[-1]
        lead = np.ogrid[tuple(slice(d) for d in data.shape[:batch])] if batch else []
        middle = indices.ndim - 1 - batch
        lead = [g.reshape(*g.shape, *[1] * middle) for g in lead]
        found = data[(*lead, *(indices[..., i] for i in range(length)))]
        shape = (*indices.shape[:-1], *data.shape[batch + length :])  # tuples may be empty
        return np.array(np.broadcast_to(found, shape), order="C")


class ScatterElements(NnOp, name="nn.scatter_elements"):
    """`data` with elements replaced: for axis 0, out[indices[i, j], j] = updates[i, j].

    With a `reduction` such as "add", the update is added to the element instead.
    Source: ONNX ScatterElements-18.
    """

    data: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(AnyRankedTensor)
    updates: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64, default=0)
    reduction: str = attribute(REDUCTION, default="none")
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.scatter_elements %x, %i, %u {axis = 1 : i64} : "
        "(tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        data, indices, updates = types
        check_indices(indices)
        check_within(indices, data, check_axis(attrs.axis, data.rank))
        if not compatible(tensor(indices.shape, data.element_type), updates):
            raise NncError(f"updates do not fit data and indices: '{updates}'")
        return [data]

    def evaluate(self, data, indices, updates):
        out = data.copy()
        scatter(out, along(indices, self.axis, data.shape[self.axis]), updates, self.reduction)
        return out


class ScatterNd(NnOp, name="nn.scatter_nd"):
    """`data` with the elements or slices at index tuples, the rows of `indices`, replaced by
    updates.

    With a `reduction` such as "add", the update is added to what is there instead.
    Shapes: data [D.., E..], indices [I.., T] with T dimensions D.., updates [I.., E..] -> out as
    data.
    Source: ONNX ScatterND-18.
    """

    data: Operand = operand(AnyRankedTensor)
    indices: Operand = operand(AnyRankedTensor)
    updates: Operand = operand(AnyRankedTensor)
    reduction: str = attribute(REDUCTION, default="none")
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.scatter_nd %x, %i, %u : "
        "(tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        data, indices, updates = types
        check_indices(indices)
        length = indices.shape[-1] if indices.rank else None
        if length is None or length > data.rank:
            raise NncError(f"indices do not fit data: '{indices}' and '{data}'")
        expected = tensor((*indices.shape[:-1], *data.shape[length:]), data.element_type)
        if not compatible(expected, updates):
            raise NncError(f"updates must be '{expected}', but got '{updates}'")
        return [data]

    def evaluate(self, data, indices, updates):
        out = data.copy()
        where = tuple(indices[..., i] for i in range(indices.shape[-1]))
        scatter(out, where if where else (...,), updates, self.reduction)
        return out


class OneHot(NnOp, name="nn.one_hot"):
    """A new dimension of extent `depth`, with `values[1]` at each index and `values[0]` elsewhere.

    `axis` is the place of the new dimension. `depth` holds one integer. Indices from -depth on
    count from the end; for an index out of range, all are `values[0]`.
    Shapes: indices [A.., B..], depth [] or [1], values [2] -> out [A.., depth, B..].
    Source: ONNX OneHot-11.
    """

    indices: Operand = operand(AnyRankedTensor)
    depth: Operand = operand(AnyRankedTensor)
    values: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.one_hot %i, %depth, %values {axis = 1 : i64} : "
        "(tensor<4xi64>, tensor<i64>, tensor<2xf32>) -> tensor<4x?xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        indices, depth, values = types
        if values.rank != 1 or values.shape[0] not in (None, 2):
            raise NncError(f"values must be [off, on], but got '{values}'")
        if depth.shape not in ((), (1,)):
            raise NncError(f"depth must hold one number, but got '{depth}'")
        check_axis(attrs.axis, indices.rank + 1)
        shape: list[Dim] = list(indices.shape)
        shape.insert(attrs.axis, None)
        return [tensor(shape, values.element_type)]

    def evaluate(self, indices, depth, values):
        count = int(depth.reshape(()))
        if count < 0:
            raise self.error(f"depth is {count}, which is negative")
        at = np.expand_dims(indices, self.axis).astype(np.int64)
        at = np.where((at < 0) & (at >= -count), at + count, at)
        shape = [1] * at.ndim
        shape[self.axis] = count
        places = np.arange(count).reshape(shape)
        return np.where(at == places, values[1], values[0]).astype(values.dtype)


class NonZero(NnOp, name="nn.non_zero"):
    """The positions of the elements that are not zero, a column for each, in row-major order.

    Shapes: x of rank R -> out [R, ?]. Source: ONNX NonZero-13.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.non_zero %x : (tensor<4x8xf32>) -> tensor<2x?xi64>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor((types[0].rank, None), i64)]

    def evaluate(self, x):
        if x.ndim == 0:
            return np.zeros((0, int(bool(x))), np.int64)
        return np.array(np.nonzero(x), np.int64).reshape(x.ndim, -1)


def along(indices, axis: int, extent: int):
    """A NumPy index for gathering along the axis: `indices` there, else each position itself."""
    where = list(np.ogrid[tuple(slice(d) for d in indices.shape)])
    where[axis] = np.where(indices < 0, indices + extent, indices)
    return tuple(where)


def scatter(out, where, updates, reduction: str) -> None:
    """Write the updates to `out[where]`, or combine them with what is there, in place.

    Repeated indices count one after the other.
    """
    match reduction:
        case "none":
            out[where] = updates
            return
        case "add":
            combine = np.logical_or if out.dtype == np.bool_ else np.add
        case "mul":
            combine = np.logical_and if out.dtype == np.bool_ else np.multiply
        case "max":
            combine = np.maximum
        case _:
            combine = np.minimum
    combine.at(out, where, updates)

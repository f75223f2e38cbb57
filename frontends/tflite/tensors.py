"""Tensors of a .tflite file as types and as arrays: views of the file where they can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np

from ...dialects.nn.strings import BYTES
from ...ir.diagnostics import NncError
from ...ir.numpy_types import numpy_to_type
from ...ir.types import TensorType, Type, size_fault
from ..common.source import Source
from ..wire.flatbuffers import FlatbufferError, Table
from .schema import ELEMENTS, MODEL

_DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "string": object,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i4": ml_dtypes.int4,
    "i2": ml_dtypes.int2,
    "ui4": ml_dtypes.uint4,
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
}
_VECTORS = {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}
BY_BLOCKS = 2
"""The kind of quantization whose scales are another tensor."""


@dataclass(frozen=True)
class Blocks:
    """The scales of a matrix of integers: one for each `size` elements of a row."""

    scales: np.ndarray
    """[rows, blocks of a row], f32."""
    size: int


def dtype_of(number: int) -> np.dtype:
    """NumPy's element type. Raises NncError where there is none."""
    name = ELEMENTS[number] if 0 <= number < len(ELEMENTS) else f"number {number}"
    if name not in _DTYPES:
        raise NncError(f"element type {name} is not supported")
    return np.dtype(_DTYPES[name])


def element_type(number: int) -> Type:
    """The element type by its number. Raises NncError."""
    return numpy_to_type(dtype_of(number))


class Tensors:
    """The tensors of a model, in whatever graph of it."""

    def __init__(self, source: Source, model: Table) -> None:
        self.source = source
        self.buffers = model.buffers

    def type(self, tensor: Table) -> TensorType:
        """The type; dimensions that may change are unknown."""
        shape = tensor.signature if len(tensor.signature) else tensor.shape
        try:
            element = element_type(tensor.type)
        except NncError as error:
            raise self.source.error(f"tensor '{tensor.name}': {error.message}") from None
        return TensorType(tuple(None if d < 0 else d for d in shape.tolist()), element)

    def array(self, tensor: Table) -> np.ndarray | None:
        """The elements of a constant; None for a variable, and for what the model computes."""
        if tensor.buffer >= len(self.buffers):
            raise self.source.error(f"tensor '{tensor.name}': there is no buffer {tensor.buffer}")
        data = self.data(self.buffers[tensor.buffer], tensor.name)
        if tensor.is_variable or (not data.size and 0 not in tensor.shape):
            return None
        try:
            return self._array(tensor, data)
        except NncError as error:
            raise self.source.error(f"tensor '{tensor.name}': {error.message}") from None
        except ValueError as error:
            raise self.source.error(f"tensor '{tensor.name}': {error}") from None

    def blocks(self, tensor: Table, others: Sequence[Table]) -> Blocks | None:
        """The scales of a tensor that is quantized by blocks; None for other tensors.

        `others` are the tensors of its graph. Raises NncError.
        """
        about = tensor.quantization
        if about is None or about.details_kind != BY_BLOCKS or not about.has("details"):
            return None
        details, rows = about.details.read("Blocks", MODEL), tensor.shape.tolist()
        if details.zero_points >= 0:
            raise self.source.error(f"tensor '{tensor.name}': blocks with zero points")
        place, size = details.scales, details.size
        scales = self.array(others[place]) if 0 <= place < len(others) else None
        wanted = [rows[0], rows[1] // size] if size > 0 and len(rows) == 2 else None
        if wanted is None or rows[1] % size or scales is None or list(scales.shape) != wanted:
            raise self.source.error(
                f"tensor '{tensor.name}' of shape {rows} has blocks of {size} elements with "
                f"{'no scales' if scales is None else f'scales of shape {list(scales.shape)}'}"
            )
        return Blocks(scales.astype(np.float32), size)

    def is_stored(self, tensor: Table) -> bool:
        """Whether the file has the elements of a tensor."""
        if tensor.is_variable or tensor.buffer >= len(self.buffers):
            return False
        return self.data(self.buffers[tensor.buffer], tensor.name).size > 0

    def data(self, buffer: Table, what: str) -> np.ndarray:
        """The bytes of a buffer, which may lie in the file after the flatbuffer."""
        if buffer.offset > 1:
            return self.behind(buffer.offset, buffer.size, what)
        return buffer.data

    def behind(self, offset: int, size: int, what: str) -> np.ndarray:
        """`size` bytes of the file at `offset`. Raises NncError, naming `what`, past its end."""
        whole = self.source.data
        if offset + size > whole.size:
            raise self.source.error(
                f"the data of '{what}' ends at byte {offset + size} of {whole.size}"
            )
        return whole[offset : offset + size]

    def _array(self, tensor: Table, data: np.ndarray) -> np.ndarray | None:
        dtype, shape = dtype_of(tensor.type), tuple(tensor.shape.tolist())
        if any(d < 0 for d in shape):
            raise NncError(f"it has the shape {list(shape)}")
        if fault := size_fault(TensorType(shape, numpy_to_type(dtype))):
            raise NncError(fault)
        if dtype.kind == "O":
            return _texts(data).reshape(shape)
        if tensor.sparsity is not None:
            return _dense(tensor.sparsity, data, dtype, shape)
        count = math.prod(shape)
        bits = (
            int(ELEMENTS[tensor.type].lstrip("ui"))
            if dtype.itemsize == 1 and dtype.kind == "V"
            else 0
        )
        if 0 < bits < 8:
            data = _unpacked(data, bits, dtype)
        if data.size < count * dtype.itemsize:
            raise NncError(f"{data.size} bytes of data, but shape {list(shape)} needs more")
        array = data[: count * dtype.itemsize].view(dtype).reshape(shape)
        return array.view(np.uint8) != 0 if dtype == np.bool_ else array


def _texts(data: np.ndarray) -> np.ndarray:
    """Strings: their number, where each begins and the last one ends, and their bytes."""
    whole = data[: data.size // 4 * 4].view(np.int32)
    count = int(whole[0]) if whole.size else -1
    if not 0 <= count < whole.size - 1:
        raise NncError("its strings have no places")
    ends = whole[1 : count + 2].tolist()
    if sorted(ends) != ends or ends[0] < 0 or ends[-1] > data.size:
        raise NncError("its strings lie outside of its data")
    found = np.empty(count, object)
    raw = data.tobytes()
    found[:] = [raw[a:b].decode(*BYTES) for a, b in pairwise(ends)]
    return found


def _unpacked(data: np.ndarray, bits: int, dtype: np.dtype) -> np.ndarray:
    """Elements of few bits, the first in the lowest ones, as a byte each."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    found = (data[:, None] >> shifts & ((1 << bits) - 1)).reshape(-1)
    return found.astype(np.int8).astype(dtype).view(np.uint8)


def _dense(sparsity: Table, data: np.ndarray, dtype: np.dtype, shape: tuple) -> np.ndarray:
    """A sparse tensor with its zeros.

    Dimensions are traversed in `order`, those of blocks, which divide the ones in `block_map`,
    last; each is dense, or sparse with the indices of its parts in segments.
    """
    order, blocks = sparsity.order.tolist(), sparsity.block_map.tolist()
    dims, rank = sparsity.dims, len(shape)
    if sorted(order) != list(range(rank + len(blocks))) or len(dims) != len(order):
        raise NncError("its sparsity does not fit its shape")
    if any(not 0 <= d < rank for d in blocks) or len(set(blocks)) != len(blocks):
        raise NncError(f"its blocks are along dimensions {blocks}")
    sizes = {order[i]: dims[i].size for i in range(rank, len(order))}
    block_of = {d: sizes.get(rank + k, 0) for k, d in enumerate(blocks)}
    extents = [d // block_of[i] if block_of.get(i) else d for i, d in enumerate(shape)]
    extents += [block_of[d] for d in blocks]
    if any(block_of[d] <= 0 or shape[d] % block_of[d] for d in blocks):
        raise NncError("its blocks do not divide its shape")
    values = data[: data.size // dtype.itemsize * dtype.itemsize].view(dtype)
    rows = [_vector(d.segments_kind, d.segments).size for d in dims if d.is_sparse]
    # Each place at any level has a value, or segments of the next level.
    most = max(values.size, *rows, 1)
    places = np.zeros((1, 0), np.int64)
    parents = np.zeros(1, np.int64)
    for level, dim in enumerate(dims):
        places, parents = _descended(places, parents, dim, extents[order[level]], most)
    if len(places) > values.size:
        raise NncError(f"{values.size} elements of data, but {len(places)} places")
    index = np.zeros((len(places), len(order)), np.int64)
    index[:, order] = places
    for k, d in enumerate(blocks):
        index[:, d] = index[:, d] * block_of[d] + index[:, rank + k]
    whole = np.zeros(shape, dtype)
    if len(places):
        if (index[:, :rank] >= np.array(shape)).any() or (index < 0).any():
            raise NncError("its sparsity has an index that is out of range")
        whole[tuple(index[:, :rank].T)] = values[: len(places)]
    return whole


def _descended(
    places: np.ndarray, parents: np.ndarray, dim: Table, extent: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """The places of one dimension more: each with all indices, or with those that are stored."""
    if not dim.is_sparse:
        if len(places) * extent > most:
            raise NncError(f"its sparsity has more positions than the tensor has elements ({most})")
        inner = np.tile(np.arange(extent), len(places))
        outer = np.repeat(np.arange(len(places)), extent)
        return np.column_stack([places[outer], inner]), np.repeat(parents, extent) * extent + inner
    segments, indices = (
        _vector(dim.segments_kind, dim.segments),
        _vector(dim.indices_kind, dim.indices),
    )
    if len(places) and parents.max() + 1 >= segments.size:
        raise NncError("its sparsity has too few segments")
    begins, ends = segments[parents], segments[parents + 1]
    counts = ends - begins
    if (counts < 0).any() or (begins < 0).any() or (ends > indices.size).any():
        raise NncError("its sparsity has segments outside the indices")
    if counts.sum() > most:
        raise NncError(f"its sparsity has more positions than the tensor has elements ({most})")
    outer = np.repeat(np.arange(len(places)), counts)
    firsts = np.repeat(begins - np.concatenate([[0], counts.cumsum()[:-1]]), counts)
    rows = firsts + np.arange(counts.sum())
    return np.column_stack([places[outer], indices[rows]]), rows


def _vector(kind: int, table: Any) -> np.ndarray:
    if kind not in _VECTORS or table is None:
        raise FlatbufferError("a sparse dimension has no indices")
    return table.read(_VECTORS[kind]).values.astype(np.int64)

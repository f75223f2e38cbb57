"""Random inputs with values for which passes tend to be wrong.

    ordinary   standard normal floats, small integers
    special    the same, but every sixth element is NaN, an infinity, +-0, a denormal, or a value
               whose fourth power is finite; integers at their limits
    wide       floats of any such magnitude, integers of any value
    extreme    as special, with the largest values of the type

An integer may be an index, so its valid range is not known. If a run fails or its result is
undefined, it is tried again with smaller and smaller ranges of integers (`LADDER`) and with other
extents for unknown dimensions. An input that never runs is left out and reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import llvm, nn
from ...ir.diagnostics import NncError
from ...ir.numpy_types import number_kind, type_to_numpy
from ...ir.types import MemRefType, ScalarType, ShapedType, TensorType, Type, VectorType
from ...runtime.memory import aligned_buffer

KINDS = ("ordinary", "special", "wide", "extreme")
OVERFLOWING = ("wide", "extreme")
"""The kinds of inputs of which sums may overflow in one order and be finite in another."""
POINTER_BYTES = 1 << 16
"""The size of the memory behind a pointer of unknown extent. Units: bytes."""


@dataclass(frozen=True)
class Attempt:
    """The range of integers (None: as the kind says) and the extent of unknown dimensions."""

    bounds: tuple[int, int] | None
    extent: int


LADDER = tuple(
    Attempt(bounds, extent)
    for extent in (3, 4, 1, 8)
    for bounds in (None, (-8, 8), (0, 50), (0, 3), (0, 2), (1, 2), (0, 1))
)
"""The attempts in order: first all values of the kind, at last zeros only."""


TEXTS = ("", "a", "ab", "the end", "1", "-2.5", "Zürich")


@dataclass(frozen=True)
class Sample:
    """An input of a function. Its arrays are made anew for each run, because runs
    write to buffers.
    """

    types: tuple[Type, ...]
    kind: str
    seed: tuple[int, ...]
    attempt: Attempt

    def values(self) -> list[Any]:
        """New arrays with the same values each time."""
        generator = np.random.default_rng(self.seed)
        return [self._value(type, generator) for type in self.types]

    def _value(self, type: Type, generator: np.random.Generator) -> Any:
        match type:
            case MemRefType():
                return _in_layout(self._array(type, generator), type)
            case nn.OptionalType():
                return self._value(type.element, generator)
            case nn.SequenceType():
                return [self._value(type.element, generator) for _ in range(self.attempt.extent)]
            case TensorType() if nn.is_strings(type):
                shape = tuple(self.attempt.extent if d is None else d for d in type.shape)
                return np.array(TEXTS, object)[generator.integers(0, len(TEXTS), shape)]
            case TensorType() | VectorType():
                return self._array(type, generator)
            case ScalarType():
                return self.elements(type_to_numpy(type), (), generator, type)[()]
            case llvm.PointerType():
                array = aligned_array((POINTER_BYTES // 4,), np.dtype(np.float32))
                array[:] = self.elements(array.dtype, array.shape, generator, None)
                return array
        raise NncError(f"no inputs of type {type} can be made")

    def _array(self, type: ShapedType, generator: np.random.Generator) -> np.ndarray:
        shape = tuple(self.attempt.extent if d is None else d for d in type.shape)
        dtype = type_to_numpy(type.element_type)
        array = aligned_array(shape, dtype)
        array[...] = self.elements(dtype, shape, generator, type.element_type)
        return array

    def elements(
        self, dtype: np.dtype, shape: tuple[int, ...], generator: Any, element: Type | None
    ) -> np.ndarray:
        """Random elements of the sample's kind."""
        if dtype.kind == "b":
            return generator.integers(0, 2, shape).astype(dtype)
        if number_kind(dtype) in "iu":
            width = getattr(element, "width", 8 * dtype.itemsize)
            return self._integers(dtype, shape, generator, width)
        if dtype.kind == "c":
            part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
            real, imaginary = (self.elements(part, shape, generator, None) for _ in range(2))
            with np.errstate(all="ignore"):
                return (real + 1j * imaginary).astype(dtype)
        return self._floats(dtype, shape, generator)

    def _integers(self, dtype, shape, generator, width: int) -> np.ndarray:
        unsigned = number_kind(dtype) == "u"
        low, high = (
            (0, (1 << width) - 1) if unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        )
        if self.attempt.bounds is not None:
            least, most = self.attempt.bounds
            low, high = max(low, least), min(high, most - 1)
        elif self.kind != "wide":
            limits = np.array([low, high, 0, 1, max(low, -1), low + 1, high - 1], dtype)
            small = generator.integers(max(low, -8), min(high, 8), shape, endpoint=True)
            if self.kind == "ordinary":
                return small.astype(dtype)
            chosen = generator.choice(limits, shape)
            return np.where(generator.random(shape) < 0.5, chosen, small).astype(dtype)
        return generator.integers(
            low, high, shape, endpoint=True, dtype=np.uint64 if unsigned else np.int64
        ).astype(dtype)

    def _floats(self, dtype, shape, generator) -> np.ndarray:
        import ml_dtypes

        info = ml_dtypes.finfo(dtype)
        normal = generator.standard_normal(shape)
        with np.errstate(all="ignore"):
            if self.kind == "wide":
                exponents = generator.uniform(float(info.minexp) / 4, float(info.maxexp) / 4, shape)
                return (normal * np.exp2(exponents)).astype(dtype)
            if self.kind in ("special", "extreme"):
                tiny, largest = float(info.smallest_subnormal), float(info.max)
                if self.kind == "special":
                    largest = 2.0 ** (float(info.maxexp) // 4)
                values = [
                    math.nan,
                    math.inf,
                    -math.inf,
                    0.0,
                    -0.0,
                    tiny,
                    -3 * tiny,
                    largest,
                    -largest,
                ]
                values += [float(info.tiny), 1.0, -1.0, 0.5]
                chosen = generator.choice(np.array(values), shape)
                normal = np.where(generator.random(shape) < 1 / 6, chosen, normal)
            return normal.astype(dtype)


def aligned_array(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array without initial values, at an address that is a multiple of 64."""
    return aligned_buffer(math.prod(shape) * dtype.itemsize).view(dtype).reshape(shape)


def aligned_copy(value: Any) -> Any:
    """A copy with the same strides at an aligned address; a scalar itself."""
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    if value.flags.c_contiguous or not value.size or min(value.strides, default=0) < 0:
        made = aligned_array(value.shape, value.dtype)
    else:
        span = 1 + sum(
            (n - 1) * (s // value.itemsize) for n, s in zip(value.shape, value.strides, strict=True)
        )
        flat = aligned_array((span,), value.dtype)
        made = np.lib.stride_tricks.as_strided(flat, value.shape, value.strides)
    made[...] = value
    return made


def _in_layout(array: np.ndarray, type: MemRefType) -> np.ndarray:
    """The elements in a buffer with the strides of the memref type."""
    found = type.strides_and_offset()
    if type.layout is None or found is None or not array.size:
        return array
    strides, step = list(found[0]), 1
    for dim in reversed(range(array.ndim)):
        strides[dim] = step if strides[dim] is None else strides[dim]
        step = max(step, strides[dim] * array.shape[dim])
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    flat = aligned_array((span,), array.dtype)
    steps = [s * array.itemsize for s in strides]  # type: ignore[operator]
    made = np.lib.stride_tricks.as_strided(flat, array.shape, steps)
    made[...] = array
    return made

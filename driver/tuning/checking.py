"""Checks that a candidate computes the same as the default: per kernel, and for the whole model.

A kernel is called twice at each of its calls in the model, with its default code and with the
candidate's, on the same operands. Integer results have to be equal. Floats may differ by the order
of sums, whose error is that of the sums' type, not of the type that results are stored in: of
16-bit results, at most the last bits differ.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod, sqrt
from typing import Any, Protocol

import numpy as np

from ...dialects import func, linalg, memref
from ...dialects.memref import base_buffer
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.numpy_types import type_to_numpy
from ...ir.traits import Terminator, WritesMemory
from ...ir.types import FloatType, MemRefType
from ...kernels.model.extents import expected
from ...kernels.model.stages import stages_of
from ...memory.instrument_kernels import INNER, TIMES

_CONSTANT, _GROWTH = 32.0, 4.0
"""The tolerance of sums of n floats in another order: (32 + 4 sqrt(n)) epsilons of the largest
result. Errors grow by the root of n, as rounding goes up and down; the rest is for functions of
sums, whose derivative may be large."""
_PLACES = 2
"""The tolerance of rounded results, if the values before rounding nearly agree. Units: units in the
last place."""
_EPSILONS = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
WRONG = "its numbers are wrong"
"""The beginning of the fault of a candidate with wrong results."""
_POISON = 0xFF
"""The byte that results are filled with before they are computed: NaN in all float types."""


@dataclass(frozen=True)
class Bound:
    """The allowed error of results: `relative` to each, plus `absolute` relative to the largest."""

    relative: float = 0.0
    absolute: float = 0.0
    steps: int = 0
    """The tolerance of integers that are rounded from sums of floats."""


@dataclass(frozen=True)
class Buffer:
    """An argument of a kernel; `bound` is the allowed error of one that the kernel writes, else
    None.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    bound: Bound | None

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return prod(self.shape) * self.dtype.itemsize

    def difference(self, expected: np.ndarray, found: np.ndarray) -> str:
        """How the bytes of two results differ, in words; empty if they agree."""
        if self.bound is None or np.array_equal(expected, found):
            return ""
        want, got = (one.view(self.dtype).reshape(self.shape) for one in (expected, found))
        return beyond(want, got, self.bound)


def buffers_of(function: func.FuncOp) -> tuple[Buffer, ...] | None:
    """The arguments of a kernel on buffers, after `bufferize`; None if sizes or written arguments
    are unknown.
    """
    written: set[Value] = set()
    for op in function.walk():
        match op:
            case linalg.StructuredOp():
                written |= set(map(base_buffer, op.outputs))
            case memref.Store():
                written.add(base_buffer(op.memref))
            case memref.Copy():
                written.add(base_buffer(op.target))
            case memref.Prefetch() | memref.Alloc() | memref.Dealloc():
                pass
            case _ if op.has_trait(WritesMemory):
                return None
    found: list[Buffer] = []
    bounds = _Bounds(function)
    for argument in function.args:
        type = argument.type
        if not isinstance(type, MemRefType) or not type.has_static_shape:
            return None
        try:
            dtype = type_to_numpy(type.element_type)
        except NncError:
            return None
        if prod(type.shape) * dtype.itemsize != type.num_bytes:
            return None
        bound = bounds.of(argument) if argument in written else None
        found.append(Buffer(tuple(type.shape), dtype, bound))
    return tuple(found)


def _goes_on_rounded(op: Operation) -> bool:
    """Whether an operation uses a float that the kernel has rounded to 16 bits or less."""
    if op.has_trait(Terminator) or isinstance(op, memref.Dealloc):
        return False
    made = (v.type for v in op.operands if v.defining_op is not None)
    types = (t.element_type if isinstance(t, MemRefType) else t for t in made)
    return any(isinstance(t, FloatType) and t.byte_width < 4 for t in types)


class _Bounds:
    """Bounds of the results of one kernel."""

    def __init__(self, function: func.FuncOp) -> None:
        values = [v for op in function.walk() for v in op.operands] + list(function.args)
        types = {v.type.element_type for v in values if isinstance(v.type, MemRefType)}
        self._floats = [t for t in types if isinstance(t, FloatType)]
        self._rounds = any(map(_goes_on_rounded, function.walk()))
        sums = [
            prod(expected(e) for e, k in zip(s.extents, s.kinds, strict=True) if k == "reduction")
            for s in stages_of(function.body.blocks[0])
            if s.has_reduction
        ]
        self._terms = max(sums, default=1)
        self._has_sums = bool(sums)

    def of(self, argument: Value) -> Bound:
        """The bound of a result."""
        type = argument.type.element_type  # type: ignore[attr-defined]
        if not isinstance(type, FloatType):
            small = getattr(type, "width", 64) <= 8
            return Bound(steps=int(small and self._has_sums and bool(self._floats)))
        of_result = _EPSILONS.get(str(type), 2.0**-3)
        of_sums = min(of_result, _EPSILONS["f32"])
        absolute = (_CONSTANT + _GROWTH * sqrt(self._terms)) * of_sums
        if of_result == of_sums:
            return Bound(0.0, absolute)
        if self._rounds:
            # What is rounded on the way is off by a place of its own, of the largest there.
            absolute += _PLACES * of_result
        return Bound(_PLACES * of_result, absolute)


def beyond(want: np.ndarray, got: np.ndarray, bound: Bound) -> str:
    """How an array exceeds its bound, in words; empty if it is within.

    Units: errors of floats are relative to the largest wanted value.
    """
    if want.dtype.kind in "biu":
        apart = np.abs(want.astype(np.float64) - got.astype(np.float64))
        wrong = apart > bound.steps if bound.steps else want != got
        if not wrong.any():
            return ""
        return f"{int(wrong.sum())} of {wrong.size} integers differ, by up to {apart.max():g}"
    kind = np.complex128 if want.dtype.kind == "c" else np.float64
    a, b = got.astype(kind), want.astype(kind)
    finite = np.isfinite(a) & np.isfinite(b)
    if not (finite | (a == b) | (np.isnan(a) & np.isnan(b))).all():
        return "NaN or infinity in other places"
    a, b = a[finite], b[finite]
    largest = float(np.max(np.abs(b), initial=0.0)) or 1.0
    error = np.abs(a - b)
    allowed = bound.relative * np.abs(b) + bound.absolute * largest
    if not (error > allowed).any():
        return ""
    worst = np.argmax(error - allowed)
    return f"relative error {error[worst] / largest:.3g} exceeds {allowed[worst] / largest:.2g}"


class Memory(Protocol):
    """The memory in which a kernel's buffers are."""

    def read(self, address: int, size: int) -> np.ndarray:
        """A copy of `size` bytes."""
        ...

    def write(self, address: int, data: np.ndarray) -> None:
        """Write bytes."""
        ...


class OwnMemory:
    """The memory of this process."""

    def read(self, address: int, size: int) -> np.ndarray:
        return self._at(address, size).copy()

    def write(self, address: int, data: np.ndarray) -> None:
        self._at(address, data.size)[:] = data

    @staticmethod
    def _at(address: int, size: int) -> np.ndarray:
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class Comparison:
    """A function that replaces a kernel and calls two versions of it at each call.

    The model continues with the first version's results. `fault` describes how the other one
    differs, in the first call in which it does.
    """

    def __init__(
        self,
        buffers: Sequence[Buffer],
        extra: int,
        default: int,
        candidate: int,
        returns_status: bool = False,
        before: Callable[[], None] = lambda: None,
        memory: Memory | None = None,
    ) -> None:
        """`extra` pointers follow the buffers; both versions are addresses of functions.

        `before` is called before each call of the candidate. Buffers are in `memory`, by default
        that of this process.
        """
        kind = function_type(len(buffers) + extra, returns_status)
        self._buffers, self._before, self._memory = buffers, before, memory or OwnMemory()
        self._default, self._candidate = kind(default), kind(candidate)
        self.fault = ""
        self._callback = kind(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _call(self, *given: int | None) -> Any:
        addresses = [address or 0 for address in given[: len(self._buffers)]]
        places = list(zip(self._buffers, addresses, strict=True))
        made = [one for one in places if one[0].bound is not None]
        alone = [one for i, one in enumerate(places) if one in made and _is_alone(i, places)]
        saved = self._read(made)
        self._poison(alone)
        result = self._default(*given)
        expected = self._read(made)
        self._write(made, saved)
        self._poison(alone)
        self._before()
        self._candidate(*given)
        for (buffer, _), want, found in zip(made, expected, self._read(made), strict=True):
            self.fault = self.fault or buffer.difference(want, found)
        self._write(made, expected)
        return result

    def _read(self, places: Sequence[tuple[Buffer, int]]) -> list[np.ndarray]:
        return [self._memory.read(at, buffer.bytes) for buffer, at in places]

    def _write(self, places: Sequence[tuple[Buffer, int]], data: Sequence[np.ndarray]) -> None:
        for (_, at), one in zip(places, data, strict=True):
            self._memory.write(at, one)

    def _poison(self, places: Sequence[tuple[Buffer, int]]) -> None:
        self._write(places, [np.full(buffer.bytes, _POISON, np.uint8) for buffer, _ in places])


def function_type(arguments: int, returns_status: bool) -> Any:
    """The ctypes type of functions that take `arguments` addresses."""
    result = ctypes.c_int32 if returns_status else None
    return ctypes.CFUNCTYPE(result, *[ctypes.c_void_p] * arguments)


def _is_alone(number: int, places: Sequence[tuple[Buffer, int]]) -> bool:
    """Whether a buffer shares no byte with another one."""
    buffer, at = places[number]
    return not any(
        at < other + one.bytes and other < at + buffer.bytes
        for i, (one, other) in enumerate(places)
        if i != number
    )


# -- the whole model -------------------------------------------------------------------------------


def difference(expected: Mapping[str, Any], found: Mapping[str, Any], tolerance: float) -> str:
    """How the outputs of two runs differ, in words; empty if they agree.

    Units of `tolerance`: the largest finite value of an output.
    """
    from ..comparing.difference import flattened

    clocks = (TIMES, INNER)
    ours, theirs = (
        flattened({n: v for n, v in one.items() if n not in clocks}) for one in (found, expected)
    )
    for name, want in theirs.items():
        got = ours.get(name)
        if got is None or got.shape != want.shape:
            return f"{name}: another shape"
        if want.dtype.kind not in "biufc" and want.dtype.itemsize > 2:
            if got.tolist() != want.tolist():
                return f"{name}: other values"
        elif fault := beyond(_as_floats(want), _as_floats(got), Bound(absolute=tolerance)):
            return f"{name}: {fault}"
    return ""


def largest_error(expected: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """The largest error of outputs, relative to the largest finite value of each.

    It is infinite if shapes, texts, or the positions of NaN and infinity differ.
    """
    from ..comparing.difference import flattened

    theirs, ours = flattened(expected), flattened(found)
    most = 0.0
    for name, want in theirs.items():
        got = ours.get(name)
        if got is None or got.shape != want.shape:
            return inf
        if want.dtype.kind not in "biufc" and want.dtype.itemsize > 2:
            if got.tolist() != want.tolist():
                return inf
            continue
        a, b = _as_floats(got), _as_floats(want)
        finite = np.isfinite(a) & np.isfinite(b)
        if not (finite | (a == b) | (np.isnan(a) & np.isnan(b))).all():
            return inf
        largest = float(np.max(np.abs(b[finite]), initial=0.0)) or 1.0
        most = max(most, float(np.max(np.abs(a[finite] - b[finite]), initial=0.0)) / largest)
    return most


def _as_floats(array: np.ndarray) -> np.ndarray:
    """The array as floats, or complex; integers too, which a last step may round differently."""
    return array if array.dtype.kind == "c" else array.astype(np.float64)

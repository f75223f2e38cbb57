"""Whether a candidate computes what the default does: of each kernel, and of the whole model.

A kernel is called twice at each of its calls in the model, once by its default code and once by
the candidate's, on the same operands. Results that are integers have to be equal. Floats differ
by the order of sums, which is an error of the type that sums have, not of the type that results
are stored in: of results of 16 bits, at most the last places differ.
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
"""Errors of a sum of n floats, of another order: (32 + 4 sqrt(n)) epsilons of the largest result.

They grow by the root of n, as rounding goes up and down; the rest is for functions of sums, whose
derivative may be large.
"""
_PLACES = 2
"""Units in the last place by which rounded results may differ, where what is rounded is all but
equal."""
_EPSILONS = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
WRONG = "its numbers are wrong"
"""How faults begin of candidates that compute something else."""
_POISON = 0xFF
"""Of bytes of results before they are made: NaN of all floats."""


@dataclass(frozen=True)
class Bound:
    """How far a result may be off: `relative` to itself, and `absolute` in parts of the largest."""

    relative: float = 0.0
    absolute: float = 0.0
    steps: int = 0
    """Of integers that are rounded from sums of floats."""


@dataclass(frozen=True)
class Buffer:
    """An argument of a kernel; `bound` for one that it writes."""

    shape: tuple[int, ...]
    dtype: np.dtype
    bound: Bound | None

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return prod(self.shape) * self.dtype.itemsize

    def difference(self, expected: np.ndarray, found: np.ndarray) -> str:
        """How the bytes of two results differ; empty where they agree."""
        if self.bound is None or np.array_equal(expected, found):
            return ""
        want, got = (one.view(self.dtype).reshape(self.shape) for one in (expected, found))
        return beyond(want, got, self.bound)


def buffers_of(function: func.FuncOp) -> tuple[Buffer, ...] | None:
    """The arguments of a kernel on buffers, behind `bufferize`; None where sizes or what is
    written are not known.
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
    """Whether an operation works on a float that was rounded to 16 bits or less in the kernel."""
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
        """Of a result."""
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
    """What is wrong with an array, beside the wanted one; empty where it is within the bound.

    Units: errors of floats are parts of the largest wanted value.
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
    """Where a kernel's buffers lie."""

    def read(self, address: int, size: int) -> np.ndarray:
        """A copy of so many bytes."""
        ...

    def write(self, address: int, data: np.ndarray) -> None:
        """Set bytes."""
        ...


class OwnMemory:
    """That of this process."""

    def read(self, address: int, size: int) -> np.ndarray:
        return self._at(address, size).copy()

    def write(self, address: int, data: np.ndarray) -> None:
        self._at(address, data.size)[:] = data

    @staticmethod
    def _at(address: int, size: int) -> np.ndarray:
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class Comparison:
    """A function that stands in a kernel's place, and calls two forms of it at each call.

    What the first one made is what the model goes on with. `fault` says how the other one differs,
    in the first call where it does.
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
        """`extra` pointers are behind the buffers; both forms are addresses of functions.

        `before` is called before each call of the candidate. Buffers lie in `memory`, by default
        in that of this process.
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
    """The type of functions that take so many addresses, for ctypes."""
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
    """How the outputs of two runs differ; empty where they agree.

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
    """How far outputs are off at most, in parts of the largest finite value of each.

    Infinite where shapes, texts, or the places of NaN and infinity differ.
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
    """Integers too, which the last step of a quantized model may round another way."""
    return array if array.dtype.kind == "c" else array.astype(np.float64)

"""Compares nnc's outputs with the framework's: the verdict on a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import nnc
import numpy as np
from nnc.dialects.marks import COMPLEX_OUTPUTS, INPUT_NAMES, INPUT_STARTS, OUTPUT_NAMES
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.types import ScalarType
from nnc.numerics.interpreter import Interpreter
from nnc.runtime.model import filled, from_parts, in_parts

from .cases import Made, Runnable, UnmakableError

TOLERANCES = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 1e-4, "float64": 1e-9}
TOLERANCES |= {"complex64": 1e-4, "complex128": 1e-9}
"""By element type: how far from the framework an element may be, of the largest one."""

LEAST = {"float16": 2**-24}
"""The smallest positive number of types whose results may be subnormal; a difference of one is
accepted.
"""


@dataclass(frozen=True)
class Verdict:
    """The result of a case.

    `kind` is "right"; "refused", by an NncError; "wrong"; "crash", by any other exception;
    "unmakable", if the framework rejects the configuration; "died", if the process ended.
    """

    kind: str
    detail: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether nnc is at fault."""
        return self.kind in ("wrong", "crash", "died")


def judge(made: Made, interpreted: bool = False) -> Verdict:
    """Compile or interpret the model, and compare the outputs of each run."""
    try:
        model = _model(made, made.interpreted or interpreted)
        for i, (inputs, expected) in enumerate(made.runs):
            given = model.run(inputs) if isinstance(inputs, dict) else model(*inputs)
            found = list(given.values()) if isinstance(given, dict) else given
            found = list(found) if isinstance(found, tuple | list) else [found]
            faults = [
                difference(found, one, made.tolerance) for one in (expected, *made.alternatives)
            ]
            if all(faults):
                fault = "; or ".join(map(str, faults))
                return Verdict("wrong", f"run {i}: {fault}" if len(made.runs) > 1 else fault)
    except nnc.NncError as error:
        return Verdict("refused", error.message)
    except UnmakableError as reason:
        return Verdict("unmakable", str(reason))
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {error}")
    return Verdict("right")


def _model(made: Made, interpreted: bool) -> Any:
    if isinstance(made.model, Runnable):
        return made.model.callable(interpreted)
    return (
        Interpreted(made) if interpreted else nnc.compile(made.model, cache=False, **made.options)
    )


class Interpreted:
    """A model as a callable, run by the reference interpreter."""

    def __init__(self, made: Made) -> None:
        module = nnc.load(made.model, **made.options)
        module.verify()
        (main,) = (op for op in module.body_block if INPUT_NAMES in op.attributes)
        names: Any = main.attributes[INPUT_NAMES]
        self.input_names = [name.value for name in names]
        self.output_names = [name.value for name in main.attributes[OUTPUT_NAMES]]
        starts: Any = main.attributes.get(INPUT_STARTS, ())
        self.starts = dict(
            zip(self.input_names, (one.value.split() for one in starts), strict=False)
        )
        self.pairs = [name.value for name in main.attributes.get(COMPLEX_OUTPUTS, ())]
        self.types = [value.type for value in main.body_block.args]
        self.interpreter = Interpreter(module)

    def run(self, inputs: Any) -> dict[str, Any]:
        """The outputs by name, from inputs by name; missing states have their initial values."""
        given = dict(inputs)
        for name, type in zip(self.input_names, self.types, strict=True):
            if name not in given:
                numbers = self.starts.get(name) or ["0"]
                given[name] = filled(numbers, type.shape, type_to_numpy(type.element_type))
        found = self(*(given[name] for name in self.input_names))
        return dict(zip(self.output_names, found, strict=True))

    def __call__(self, *inputs: Any) -> Any:
        for name, value, type in zip(self.input_names, inputs, self.types, strict=True):
            if isinstance(type.element_type, ScalarType):
                wanted = type_to_numpy(type.element_type)
                if _real_dtype(value) != wanted:
                    raise nnc.NncError(f"input '{name}' is {np.asarray(value).dtype}, not {wanted}")
        given = [in_parts(v) if np.iscomplexobj(v) else v for v in inputs]
        found = self.interpreter.call("main", given)
        return [
            from_parts(v) if n in self.pairs else v
            for n, v in zip(self.output_names, found, strict=True)
        ]


def _real_dtype(value: Any) -> np.dtype:
    """The type of an array's elements; of complex numbers, that of their parts."""
    return np.asarray(value).real.dtype if np.iscomplexobj(value) else np.asarray(value).dtype


def difference(
    found: Sequence[Any], expected: Sequence[Any], tolerance: float | None = None
) -> str | None:
    """A description of the first output that differs from the expected one; None if none does."""
    if len(found) != len(expected):
        return f"{len(found)} outputs, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if isinstance(b, list | tuple | dict) or b is None:
            fault = None if _same(a, b) else f"{a!r:.80} for {b!r:.80}"
        else:
            fault = _difference(np.asarray(a), np.asarray(b), tolerance)
        if fault:
            return f"output {i}: {fault}"
    return None


def _same(a: Any, b: Any) -> bool:
    if isinstance(b, dict):
        return isinstance(a, dict) and a.keys() == b.keys() and all(_same(a[k], b[k]) for k in b)
    if isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is None if b is None else _difference(np.asarray(a), np.asarray(b), None) is None


def _difference(a: np.ndarray, b: np.ndarray, tolerance: float | None) -> str | None:
    if a.dtype.kind == "c" and b.dtype.kind == "f":  # as results of older samples are stored
        a = in_parts(a)
    if b.dtype.kind in "OUST":
        return None if a.tolist() == b.tolist() else f"{a.tolist()!r:.80} for {b.tolist()!r:.80}"
    if a.dtype != b.dtype:
        return f"type {a.dtype}, expected {b.dtype}"
    if a.shape != b.shape:
        return f"shape {a.shape}, expected {b.shape}"
    if b.dtype.name not in TOLERANCES:
        at = np.flatnonzero(((a != b) & ((a == a) | (b == b))).ravel())  # NaN is NaN
        return _worst(a, b, int(at[0]), at.size) if at.size else None
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    finite = np.isfinite(y)
    odd = np.where(finite, ~np.isfinite(x), (x != y) & ~(np.isnan(x) & np.isnan(y)))
    if odd.any():
        return _worst(a, b, int(np.flatnonzero(odd.ravel())[0]), int(odd.sum()))
    apart = np.abs(np.where(finite, x, 0) - np.where(finite, y, 0))
    largest = float(np.abs(np.where(finite, y, 0)).max(initial=0))
    bound = (TOLERANCES[b.dtype.name] if tolerance is None else tolerance) * (largest or 1e-2)
    far = apart > max(bound, LEAST.get(b.dtype.name, 0))
    return _worst(a, b, int(apart.argmax()), int(far.sum())) if far.any() else None


def _worst(a: np.ndarray, b: np.ndarray, at: int, count: int) -> str:
    place = tuple(int(i) for i in np.unravel_index(at, b.shape))
    return f"{count} of {b.size} elements; {a[place]!s} for {b[place]!s} at {place}"

"""Compiles one exported file and compares it with ONNX Runtime.

It imports neither PyTorch nor the exporter, so that it can run in a process that has neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nnc
import numpy as np
import onnxruntime

TOLERANCE = 1e-3
"""The tolerance relative to an output's largest value: the difference that another order of float32
sums can make in a deep network.
"""


@dataclass
class Finding:
    """The result for one file: the largest error, seconds to compile, times at each size in ms of
    CPU.

    `failure` is nnc's error message, `unwritten` that of the exporter that made no file, `oracle`
    the name of what it was compared with.
    """

    name: str
    failure: str = ""
    unwritten: str = ""
    error: float = 0.0
    compile_seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    onnxruntime: list[float] = field(default_factory=list)
    oracle: str = "onnxruntime"

    @property
    def ratios(self) -> list[float]:
        """The speed relative to ONNX Runtime at each size; more than 1 if nnc is faster."""
        pairs = zip(self.onnxruntime, self.milliseconds, strict=False)
        return [theirs / ours for theirs, ours in pairs]

    @property
    def agrees(self) -> bool:
        return not (self.failure or self.unwritten) and self.error <= TOLERANCE

    @property
    def is_wrong(self) -> bool:
        """Whether nnc is at fault; a file that ONNX Runtime cannot run either is no fault."""
        neither = self.failure and self.oracle != "onnxruntime"
        return not (self.agrees or self.unwritten or neither)


def check(model: Path, values: Path, seconds: float) -> Finding:
    """Compile a file, run it at each size, compare, and time it if `seconds` are given."""
    name = model.name.removesuffix(".onnx")
    found = Finding(name)
    arrays = np.load(values)
    sizes = (0, 1) if ".dynamic" in model.name else (0,)
    session = _session(model)
    found.oracle = "onnxruntime" if session is not None else "framework"
    inputs = [_values(arrays, f"{at}/in/") for at in sizes]
    wanted = [_expected(session, one, arrays, at, found) for at, one in enumerate(inputs)]
    timed = bool(seconds) and found.oracle == "onnxruntime"
    began = time.process_time()
    try:
        compiled = nnc.compile(model, cache=False)
        found.compile_seconds = time.process_time() - began
        for one, want in zip(inputs, wanted, strict=True):
            given = {name: one[name] for name in compiled.input_names}
            got = list(compiled.run(given).values())
            found.error = max(found.error, worst_error(got, want))
            if timed and session is not None:
                ours, theirs = least(
                    lambda x=given: compiled.run(x),
                    lambda x=given: session.run(None, x),
                    seconds,
                )
                found.milliseconds.append(ours)
                found.onnxruntime.append(theirs)
    except nnc.NncError as error:
        found.failure = str(error)
    return found


def _values(arrays: np.lib.npyio.NpzFile, prefix: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with `prefix`, by the rest of the name."""
    return {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}


def _session(model: Path) -> onnxruntime.InferenceSession | None:
    """ONNX Runtime's session of the model, or None if it cannot load it."""
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception:  # its errors have no common class
        return None


def _expected(
    session: onnxruntime.InferenceSession | None,
    inputs: dict[str, np.ndarray],
    arrays: np.lib.npyio.NpzFile,
    at: int,
    found: Finding,
) -> list[np.ndarray]:
    """ONNX Runtime's outputs, or the framework's own if ONNX Runtime cannot run the model."""
    try:
        if session is not None:
            given = {one.name: inputs[one.name] for one in session.get_inputs()}
            return list(map(np.asarray, session.run(None, given)))
    except Exception:  # as above
        pass
    found.oracle = "framework"
    outputs = _values(arrays, f"{at}/out/")
    return [outputs[str(i)] for i in range(len(outputs))]


def worst_error(found: list[np.ndarray], want: list[np.ndarray]) -> float:
    """The largest difference relative to each output's largest value; infinite if shapes differ.

    NaN and infinities must be the same in both.
    """
    if len(found) != len(want):
        return np.inf
    worst = 0.0
    for a, b in zip(found, map(np.asarray, want), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return np.inf
        if a.dtype.kind not in "fiub":
            worst = max(worst, 0.0 if np.array_equal(a, b) else np.inf)
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return np.inf
        scale = float(np.abs(b[finite]).max(initial=0.0)) or 1.0
        worst = max(worst, float(np.abs(a[finite] - b[finite]).max(initial=0.0)) / scale)
    return worst if np.isfinite(worst) else np.inf


def least(
    ours: Callable[[], object], theirs: Callable[[], object], seconds: float
) -> tuple[float, float]:
    """The least CPU time of each of two functions, which take turns. Units: milliseconds."""
    best = [np.inf, np.inf]
    end = time.perf_counter() + seconds
    turns = 0
    while turns < 5 or time.perf_counter() < end:
        for i, run in enumerate((ours, theirs)):
            began = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - began)
        turns += 1
    return best[0] * 1e3, best[1] * 1e3

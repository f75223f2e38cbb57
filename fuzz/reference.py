"""A model run by nnc and by ONNX's reference, whose results must be equal."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .graphs import RejectedNodeError, dtype_of, free_names

RELATIVE = {"float64": 1e-6, "float32": 2e-4, "float16": 3e-2, "bfloat16": 2e-1}
"""Tolerated errors, relative to an output's largest value: sums in another order and other
polynomials; the reference rounds the narrow types after each step.
"""

DOUBTFUL = {
    *("Loop", "MaxPool", "GlobalMaxPool", "ConvTranspose", "LRN", "ReduceSumSquare", "ReduceProd"),
    "Resize",
}
"""Operators that the reference sometimes computes wrongly: findings need ONNX
Runtime's agreement.
"""

LOGARITHMS = {"Log", "LogSoftmax", "ReduceLogSum", "ReduceLogSumExp"}
NEARLY_ZERO = np.log(1e-6)
"""The logarithm of a sum that is 0 except for rounding may be anything below this, -inf, or NaN."""

LIMITS = re.compile(
    r"not supported|must be known|more memory than there is|of (static|known) (shape|extents)"
    r"|known last extent|known extents|the window does not fit"
)
"""Matches nnc's messages about valid models that are beyond its documented limits."""


def load() -> None:
    """Import the modules that cases use, so that forked processes need not."""
    for name in ("onnxruntime", "onnx.reference", "nnc.driver.compile", "nnc.numerics.interpreter"):
        import_module(name)


def evaluated(model: Any, given: dict[str, np.ndarray]) -> list[Any]:
    """The outputs that the reference computes. Raises RejectedNodeError if it fails."""
    from onnx.reference import ReferenceEvaluator

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return list(ReferenceEvaluator(model).run(None, given))
    except MemoryError:
        raise
    except Exception as error:  # it has no exceptions of its own
        raise RejectedNodeError(str(error)) from error


def split_inputs(data: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Split a model whose inputs have default values: the model without them, and the values."""
    model = onnx.ModelProto.FromString(data)
    names = {value.name for value in model.graph.input}
    weights = list(model.graph.initializer)
    del model.graph.initializer[:]
    model.graph.initializer.extend(w for w in weights if w.name not in names)
    return model, {w.name: numpy_helper.to_array(w) for w in weights if w.name in names}


def differences(model: Any, given: dict[str, np.ndarray], compiled: bool) -> str:
    """Describe how nnc's outputs differ from the reference's; empty if they do not.

    As the reference has defects of its own, ONNX Runtime decides: outputs that agree with it, and
    models that it rejects too, are no difference; nor is a limit that nnc names. Raises NncError
    as nnc does, RejectedNodeError if the reference fails.
    """
    from nnc.ir.diagnostics import NncError

    expected = evaluated(model, given)
    try:
        found = (_compiled if compiled else _interpreted)(model, given)
    except NncError as error:
        if LIMITS.search(error.message) or _by_onnx_runtime(model, given) is None:
            return ""
        raise
    expected = list(map(np.asarray, expected))
    faults = [_fault(value, want) for value, want in zip(found, expected, strict=True)]
    if any(faults):
        parts = single_outputs(model, given)
        faults = [
            fault and _second(fault, value, want, *part)
            for fault, value, want, part in zip(faults, found, expected, parts, strict=True)
        ]
    for value, fault in zip(model.graph.output, faults, strict=True):
        if fault:
            return f"output '{value.name}': {fault}"
    return ""


def _second(
    fault: str, found: np.ndarray, want: np.ndarray, part: Any, given: dict[str, np.ndarray]
) -> str:
    """Compare an output that differs from the reference's with ONNX Runtime's, if that runs.

    Each element may equal either: where intermediate float16 sums overflow, they differ.
    """
    second = _by_onnx_runtime(part, given)
    kinds = {node.op_type for node in part.graph.node}
    if kinds & LOGARITHMS:
        for one in (want, *(second or ())):
            found = _as_logarithm(found, one)
    if second is not None:
        alike = [want] if (want.dtype, want.shape) == (second[0].dtype, second[0].shape) else []
        return _fault(found, second[0], *alike)
    return "" if kinds & DOUBTFUL else fault


def _as_logarithm(found: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The outputs, with the expected value where rounding explains the difference of logarithms.

    That is where both are logarithms of nearly 0, or of numbers near 1 that differ only by
    rounding: their logarithms may be arbitrarily close to 0.
    """
    if (found.dtype, found.shape) != (want.dtype, want.shape) or found.dtype.kind != "f":
        return found
    wide, have = want.astype(np.float64), found.astype(np.float64)
    with np.errstate(all="ignore"):
        rounded = np.abs(have - wide) <= RELATIVE.get(want.dtype.name, 0)
    return np.where(rounded | ~np.isfinite(wide) & (have < NEARLY_ZERO), want, found)


def single_outputs(model: Any, given: dict[str, np.ndarray]) -> Iterator[tuple[Any, dict]]:
    """For each output: a model of the nodes that it needs, and their inputs."""
    for output in model.graph.output:
        one = onnx.ModelProto()
        one.CopyFrom(model)
        wanted, nodes = {output.name}, []
        for node in reversed(model.graph.node):
            if wanted & set(node.output):
                nodes.append(node)
                wanted |= set(free_names([node]))
        for part in (one.graph.node, one.graph.output, one.graph.input, one.graph.initializer):
            del part[:]
        one.graph.node.extend(reversed(nodes))
        one.graph.output.append(output)
        one.graph.input.extend(v for v in model.graph.input if v.name in wanted)
        one.graph.initializer.extend(w for w in model.graph.initializer if w.name in wanted)
        yield one, {name: array for name, array in given.items() if name in wanted}


def culprit(model: Any, given: dict[str, np.ndarray], compiled: bool) -> Any:
    """The first node whose results differ when it is computed alone, on the reference's values.

    It is a model whose inputs have default values; None if there is no such node.
    """
    from nnc.ir.diagnostics import NncError

    names = [name for node in model.graph.node for name in node.output if name]
    every = onnx.ModelProto()
    every.CopyFrom(model)
    del every.graph.output[:]
    every.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    known = dict(zip(names, map(np.asarray, evaluated(every, given)), strict=True))
    known |= given
    known |= {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
    for node in model.graph.node:
        one = onnx.ModelProto()
        one.CopyFrom(model)
        for part in (one.graph.node, one.graph.output, one.graph.input):
            del part[:]
        one.graph.node.append(node)
        needed = [name for name in free_names([node]) if name in known]
        stored = {w.name for w in one.graph.initializer}
        inputs = {name: known[name] for name in needed if name not in stored}
        one.graph.input.extend(_info(name, array) for name, array in inputs.items())
        one.graph.output.extend(_info(name, known[name]) for name in node.output if name)
        try:
            if differences(one, inputs, compiled):
                return with_defaults(one, inputs)
        except RejectedNodeError:
            continue
        except (NncError, AssertionError):
            return with_defaults(one, inputs)
    return None


def with_defaults(model: Any, given: dict[str, np.ndarray]) -> Any:
    """A model whose inputs have default values; `split_inputs` is the inverse."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    model = made
    unused = {w.name for w in model.graph.initializer} - set(free_names(model.graph.node))
    weights = [w for w in model.graph.initializer if w.name not in unused]
    del model.graph.initializer[:]
    model.graph.initializer.extend(weights)
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in given.items())
    return model


def _info(name: str, array: np.ndarray) -> Any:
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, code, array.shape)


def _by_onnx_runtime(model: Any, given: dict[str, np.ndarray]) -> list[np.ndarray] | None:
    """The outputs of ONNX Runtime, run in a process of its own as it may crash;
    None if it fails.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        with contextlib.suppress(BaseException), open(writing, "wb") as file:
            found = _onnx_runtime(model, given)
            file.write(pickle.dumps([(str(a.dtype), a.shape, a.tobytes()) for a in found]))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        said = file.read()
    os.waitpid(pid, 0)
    if not said:
        return None
    found = pickle.loads(said)
    return [np.frombuffer(data, dtype_of(kind)).reshape(shape) for kind, shape, data in found]


def _onnx_runtime(model: Any, given: dict[str, np.ndarray]) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    data, providers = model.SerializeToString(), ["CPUExecutionProvider"]
    signal.alarm(20)
    return onnxruntime.InferenceSession(data, options, providers=providers).run(None, given)


def _compiled(model: Any, given: dict[str, np.ndarray]) -> list[np.ndarray]:
    from nnc.driver.compile import compile_model

    run = compile_model(model, cache=False)
    first = list(run.run(given).values())
    again = list(run.run(given).values())
    for one, other in zip(first, again, strict=True):
        if one.tobytes() != other.tobytes():
            raise AssertionError("the second call gives other results than the first")
    return again


def _interpreted(model: Any, given: dict[str, np.ndarray]) -> list[np.ndarray]:
    from nnc.driver.compile import load_module
    from nnc.numerics.interpreter import Interpreter

    module = load_module(model)
    return Interpreter(module).call("main", [given[v.name] for v in model.graph.input])


def _fault(have: np.ndarray, want: np.ndarray, *others: np.ndarray) -> str:
    """Describe where an array equals neither the expected one nor the others; empty if nowhere."""
    if want.dtype != have.dtype or want.shape != have.shape:
        return f"{have.dtype} {have.shape}, expected {want.dtype} {want.shape}"
    same = np.logical_or.reduce([_close(have, one) for one in (want, *others)])
    if same.all():
        return ""
    at = tuple(map(int, np.argwhere(~same)[0]))
    return f"{have[at]!r} at {list(at)}, expected {want[at]!r} ({(~same).sum()} of {same.size})"


def _close(have: np.ndarray, want: np.ndarray) -> np.ndarray:
    if want.dtype.name not in RELATIVE:
        return np.asarray(have == want)
    wide, found = want.astype(np.float64), have.astype(np.float64)
    finite = np.isfinite(wide)
    largest = np.abs(wide[finite]).max(initial=1e-3)
    with np.errstate(all="ignore"):
        close = np.abs(found - wide) <= RELATIVE[want.dtype.name] * largest
    return np.where(finite, close, (wide == found) | (np.isnan(wide) & np.isnan(found)))

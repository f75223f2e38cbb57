"""A model run by nnc and by ONNX's reference: the results have to be equal."""

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
"""Errors that are no finding, as parts of an output's largest value: sums in another order, math
in its own polynomials; the reference rounds the narrow types after each step."""

DOUBTFUL = {
    *("Loop", "MaxPool", "GlobalMaxPool", "ConvTranspose", "LRN", "ReduceSumSquare", "ReduceProd"),
    "Resize",
}
"""What the reference computes wrongly in some cases: nothing is said of it without ONNX Runtime."""

LOGARITHMS = {"Log", "LogSoftmax", "ReduceLogSum", "ReduceLogSumExp"}
NEARLY_ZERO = np.log(1e-6)
"""Of a sum that is 0 but for rounding, the logarithm may be below this, or -inf, or NaN."""

LIMITS = re.compile(
    r"not supported|must be known|more memory than there is|of (static|known) (shape|extents)"
    r"|known last extent|known extents|the window does not fit"
)
"""What nnc says of valid models that it does not take, and names as its limits."""


def load() -> None:
    """Import what each case uses, so that processes made from this one need not."""
    for name in ("onnxruntime", "onnx.reference", "nnc.driver.compile", "nnc.numerics.interpreter"):
        import_module(name)


def evaluated(model: Any, given: dict[str, np.ndarray]) -> list[Any]:
    """The outputs that the reference computes. Raises RejectedNodeError where it cannot."""
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
    """A model whose inputs have default values: the model without them, and them."""
    model = onnx.ModelProto.FromString(data)
    names = {value.name for value in model.graph.input}
    weights = list(model.graph.initializer)
    del model.graph.initializer[:]
    model.graph.initializer.extend(w for w in weights if w.name not in names)
    return model, {w.name: numpy_helper.to_array(w) for w in weights if w.name in names}


def differences(model: Any, given: dict[str, np.ndarray], compiled: bool) -> str:
    """What nnc computes otherwise than the reference; empty where nothing is.

    ONNX Runtime has the last word, as the reference has defects of its own: what agrees with it,
    or is rejected by it too, is no difference; neither is a limit that nnc names. Raises
    NncError as nnc does, RejectedNodeError where the reference fails.
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
    """What ONNX Runtime says of an output that the reference says is wrong, if it says anything.

    Each element may be as either has it: where sums of float16 overflow on the way, they differ.
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
    """What was found, but as wanted where both are logarithms of what is nearly 0, or of what
    differs by no more than rounding: of nearly 1 they may be as close to 0 as they like.
    """
    if (found.dtype, found.shape) != (want.dtype, want.shape) or found.dtype.kind != "f":
        return found
    wide, have = want.astype(np.float64), found.astype(np.float64)
    with np.errstate(all="ignore"):
        rounded = np.abs(have - wide) <= RELATIVE.get(want.dtype.name, 0)
    return np.where(rounded | ~np.isfinite(wide) & (have < NEARLY_ZERO), want, found)


def single_outputs(model: Any, given: dict[str, np.ndarray]) -> Iterator[tuple[Any, dict]]:
    """For each output a model of what it needs, and its inputs."""
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
    """The first node that alone, on the reference's values, is computed otherwise, as a model
    whose inputs have default values; None where none is.
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
    """A model whose inputs have default values, which `split_inputs` takes away again."""
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
    """What ONNX Runtime computes, in a process that it may end; None where it does not."""
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
    """Where an array is neither the wanted one nor one of the others; empty where nowhere."""
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

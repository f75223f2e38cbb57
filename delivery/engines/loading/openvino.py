"""OpenVINO's CPU plugin."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task

_NEEDED = ("libopenvino.so", "intel_cpu", "arm_cpu", "libtbb")
"""Parts of the names of libraries needed for runs on a processor, besides the reader of the format.
"""
_READERS = {".onnx": "onnx_frontend", ".tflite": "tensorflow_lite_frontend"}


def load(task: Task) -> Run:
    """Load the model, compiled for latency, in its own precision."""
    ov = import_module("openvino")

    config = {
        "INFERENCE_NUM_THREADS": task.threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": task.options.get("precision", "f32"),
        "NUM_STREAMS": 1,
    }
    core = ov.Core()
    model = core.read_model(task.model)
    known = {**task.inputs, **task.options.get("constants", {})}
    ordered = [known[_name(port, known)] for port in model.inputs]
    if any(port.get_partial_shape().is_dynamic for port in model.inputs):
        pairs = zip(model.inputs, ordered, strict=True)
        model.reshape({port: ov.PartialShape(list(np.shape(x))) for port, x in pairs})
    compiled = core.compile_model(model, "CPU", config)
    request = compiled.create_infer_request()
    task.names = [_any_name(port) for port in compiled.outputs]
    reader = _READERS.get(Path(task.model).suffix, "frontend")
    task.ships(task.model, *task.libraries("openvino", *_NEEDED, reader))

    def run() -> list[np.ndarray]:
        results = request.infer(ordered, share_inputs=True, share_outputs=True)
        return [results[port] for port in compiled.outputs]

    return run


def _name(port: Any, known: Mapping[str, Any]) -> str:
    """The name of a port that is among the inputs; a port may have several names."""
    return next((name for name in port.get_names() if name in known), port.get_any_name())


def _any_name(port: Any) -> str:
    return port.get_any_name() if port.get_names() else ""

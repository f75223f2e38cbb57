"""ONNX Runtime's CPU provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..worker import Run, Task


def load(task: Task) -> Run:
    """Load a session with all optimizations, or with none for the option `plain`."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = task.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if task.options.get("plain"):
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(task.model, options, ["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    taken = (*session.get_inputs(), *session.get_overridable_initializers())
    known = {**task.inputs, **task.options.get("constants", {})}
    inputs = {one.name: known[one.name] for one in taken if one.name in known}
    task.names = names
    task.ships(task.model, *task.libraries("onnxruntime", "capi"))
    return lambda: session.run(names, inputs)

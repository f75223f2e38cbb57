"""The TensorFlow family: SavedModels, frozen graphs, Keras files, and TensorFlow Lite by LiteRT."""

from __future__ import annotations

import os
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


_BACKEND = next((name for name in ("tensorflow", "torch", "jax") if find_spec(name)), "tensorflow")
os.environ.setdefault("KERAS_BACKEND", _BACKEND)  # read when Keras is imported


def load_litert(task: Task) -> Run:
    """Load a .tflite file by LiteRT, with its CPU kernels."""
    litert = import_module("ai_edge_litert.interpreter")
    kinds = (
        litert.OpResolverType.BUILTIN_REF
        if task.options.get("plain")
        else litert.OpResolverType.AUTO
    )
    interpreter = litert.Interpreter(
        task.model, num_threads=task.threads, experimental_op_resolver_type=kinds
    )
    known = interpreter.get_signature_list()
    signature = task.options.get("signature") or (next(iter(known)) if len(known) == 1 else None)
    if signature not in known or set(known[signature]["inputs"]) != set(task.inputs):
        return _by_place(task, interpreter)  # without a signature, or nnc calls them otherwise
    runner = interpreter.get_signature_runner(signature)
    runner(**task.inputs)
    task.names = list(runner.get_output_details())
    task.ships(task.model, *task.libraries("ai-edge-litert"))
    return lambda: list(runner(**task.inputs).values())


def _by_place(task: Task, interpreter: Any) -> Run:
    """A run that passes inputs by their positions, in the file's order."""
    details, arrays = interpreter.get_input_details(), list(task.inputs.values())
    for one, array in zip(details, arrays, strict=True):
        if tuple(one["shape"]) != array.shape:
            interpreter.resize_tensor_input(one["index"], array.shape)
    interpreter.allocate_tensors()
    outputs = interpreter.get_output_details()
    task.ships(task.model, *task.libraries("ai-edge-litert"))

    def run() -> list[np.ndarray]:
        for one, array in zip(details, arrays, strict=True):
            interpreter.set_tensor(one["index"], array)
        interpreter.invoke()
        return [interpreter.get_tensor(one["index"]) for one in outputs]

    return run


def load_tensorflow(task: Task) -> Run:
    """Load a signature of a SavedModel, or a frozen graph, by TensorFlow."""
    path = Path(task.model)
    task.ships(task.model, *task.libraries("tensorflow"))
    if path.is_dir() or path.name == "saved_model.pb":
        return _saved_model(task, path if path.is_dir() else path.parent)
    return _frozen_graph(task, path)


def _saved_model(task: Task, folder: Path) -> Run:
    """A run of a signature. Inputs that it does not take are the values of its variables before a
    run; their values after the run are further outputs.
    """
    tf = import_module("tensorflow")

    _set_threads(task)
    loaded = tf.saved_model.load(str(folder))
    known = loaded.signatures
    default = next(name for name in ("serving_default", "serve", *known) if name in known)
    function = known[task.options.get("signature") or default]
    _, taken = function.structured_input_signature
    tensors = {name: tf.constant(task.inputs[name]) for name in taken}
    variables = {one.name.removesuffix(":0"): one for one in function.graph.variables}
    states = [(variables[name], task.inputs[name]) for name in task.inputs if name not in taken]
    names = list(function.structured_outputs)
    task.names = names + [name for name in task.inputs if name not in taken]

    def run() -> list[np.ndarray]:
        for variable, value in states:
            variable.assign(value)
        found = function(**tensors)
        return [one.numpy() for one in (*map(found.get, names), *(v for v, _ in states))]

    run.model = loaded  # type: ignore[attr-defined]  # whose variables the function refers to weakly
    return run


def _frozen_graph(task: Task, path: Path) -> Run:
    """A run of a graph without variables; its outputs are what no other node uses."""
    tf = import_module("tensorflow").compat.v1

    definition, data = tf.GraphDef(), path.read_bytes()
    try:
        definition.ParseFromString(data)
    except Exception:  # a DecodeError of protobuf's
        import_module("google.protobuf.text_format").Parse(data, definition)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
    used = {text.lstrip("^").partition(":")[0] for node in definition.node for text in node.input}
    ops = [op for op in graph.get_operations() if op.name not in used]
    silent = ("Const", "Placeholder", "PlaceholderV2")
    task.names = [op.name for op in ops if op.outputs and op.type not in silent]
    threads = {"intra_op_parallelism_threads": task.threads, "inter_op_parallelism_threads": 1}
    session = tf.Session(graph=graph, config=tf.ConfigProto(**threads))
    session.run([op for op in graph.get_operations() if not op.outputs and "Table" in op.type])
    feeds = [f"{name}:0" for name in task.inputs]
    call = session.make_callable([f"{name}:0" for name in task.names], feeds)
    return lambda: call(*task.inputs.values())


def load_keras(task: Task) -> Run:
    """Load a .keras or .h5 file by Keras, on TensorFlow if it is installed."""
    keras = import_module("keras")
    if keras.backend.backend() != "tensorflow":
        return _on_other_backend(task, keras)
    tf = import_module("tensorflow")

    _set_threads(task)
    model = keras.models.load_model(task.model, compile=False)
    function = tf.function(lambda *tensors: model(tensors[0] if len(tensors) == 1 else tensors))
    tensors = [tf.constant(array) for array in task.inputs.values()]
    task.ships(task.model, *task.libraries("tensorflow"))
    return lambda: [one.numpy() for one in tf.nest.flatten(function(*tensors))]


def _on_other_backend(task: Task, keras: Any) -> Run:
    """A model on another backend, layer by layer; only PyTorch gets the number of threads."""
    backend = keras.backend.backend()
    if backend == "torch":
        import_module("torch").set_num_threads(task.threads)
    model = keras.models.load_model(task.model, compile=False)
    tensors = [keras.ops.convert_to_tensor(array) for array in task.inputs.values()]
    given = tensors[0] if len(tensors) == 1 else tensors
    task.ships(task.model, *task.libraries(backend))
    no_gradients = import_module("torch").no_grad if backend == "torch" else nullcontext

    def run() -> list[np.ndarray]:
        with no_gradients():
            found = keras.tree.flatten(model(given, training=False))
        return [keras.ops.convert_to_numpy(one) for one in found]

    return run


def _set_threads(task: Task) -> None:
    tf = import_module("tensorflow")

    tf.config.threading.set_intra_op_parallelism_threads(task.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)

"""The TensorFlow family: SavedModels, Keras files, and TensorFlow Lite by LiteRT."""

from __future__ import annotations

import os
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
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
    """A run with inputs in the order of the file."""
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


def load_saved_model(task: Task) -> Run:
    """Load a function of a SavedModel, by TensorFlow."""
    tf = import_module("tensorflow")

    _set_threads(task)
    loaded = tf.saved_model.load(task.model)
    function = loaded.signatures[task.options.get("signature") or "serving_default"]
    tensors = {name: tf.constant(array) for name, array in task.inputs.items()}
    names = list(function.structured_outputs)
    task.names = names
    task.ships(task.model, *task.libraries("tensorflow"))

    def run() -> list[np.ndarray]:
        found = function(**tensors)
        return [found[name].numpy() for name in names]

    run.model = loaded  # type: ignore[attr-defined]  # whose variables the function refers to weakly
    return run


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

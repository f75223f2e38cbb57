"""PyTorch: models of `torch.export.save` or `torch.jit.save`, eager and compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load(task: Task) -> Run:
    """Load a model that runs operator by operator, without gradients."""
    return _running(task, _module(task))


def load_compiled(task: Task) -> Run:
    """Load a model by torch.compile, which needs a C++ compiler; the first run compiles."""
    torch = import_module("torch")

    module = _module(task)
    with task.compiling():
        run = _running(task, torch.compile(module))
        run()
    return run


def _module(task: Task) -> Any:
    torch = import_module("torch")

    torch.set_num_threads(task.threads)
    try:
        return torch.export.load(task.model).module()
    except Exception as error:  # which kind depends on what the file is instead
        try:
            return torch.jit.load(task.model, map_location="cpu").eval()
        except Exception:
            raise error from None


def _running(task: Task, module: Any) -> Run:
    torch = import_module("torch")

    tensors = [torch.from_numpy(np.array(array)) for array in task.inputs.values()]
    task.ships(task.model, *task.libraries("torch", "torch/lib"))

    def run() -> list[np.ndarray]:
        with torch.inference_mode():
            return [_array(one) for one in _flat(module(*tensors))]

    return run


def _array(one: Any) -> np.ndarray:
    return one.float().numpy() if str(one.dtype) == "torch.bfloat16" else one.numpy()


def _flat(value: Any) -> Iterator[Any]:
    """The tensors in a module's result, in order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _flat(one)
    elif value is not None:
        yield value

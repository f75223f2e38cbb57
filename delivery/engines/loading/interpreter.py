"""nnc's reference interpreter: each operation by its definition, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load(task: Task) -> Run:
    """Load the model's graph as it was imported, without any passes."""
    import nnc  # type: ignore[import-not-found]
    from nnc.driver.hosting import entry_of  # type: ignore[import-not-found]
    from nnc.ir.numpy_types import type_to_numpy  # type: ignore[import-not-found]
    from nnc.ir.types import TensorType  # type: ignore[import-not-found]
    from nnc.numerics.interpreter import Interpreter  # type: ignore[import-not-found]

    names = ("shapes", "constants", "signature")
    given = {name: task.options.get(name) for name in names}
    module = nnc.load(task.model, **given, ops=task.options.get("ops", ()))
    entry = entry_of(module)
    if entry is None:
        raise ValueError("the module has no entry")
    arguments = []
    for value, type in zip(task.inputs.values(), entry.function_type.inputs, strict=True):
        is_tensor = isinstance(type, TensorType)
        arguments.append(value.astype(type_to_numpy(type.element_type)) if is_tensor else value)
    task.ships(task.model)

    def run() -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            return Interpreter(module).call(entry.sym_name, [np.copy(one) for one in arguments])

    return run

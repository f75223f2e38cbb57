"""nnc's library from a package, by its Python bindings: nnc itself is not in the process."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load(task: Task) -> Run:
    """Load the library by its bindings, the file in the option `module`; `files` are shipped."""
    file = Path(task.options["module"])
    sys.path.insert(0, str(file.parent))
    module = import_module(file.stem)
    model = module.Model(threads=task.threads)
    inputs = {one.name: task.inputs[one.name].astype(one.dtype) for one in module.INPUTS}
    task.version = task.options["version"]
    task.names = [one.name for one in module.OUTPUTS]
    task.ships(*task.options["files"])

    def run() -> list[np.ndarray]:
        return list(model.run(inputs).values())

    return run

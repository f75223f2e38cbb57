"""nnc: compiled in another process, so that only a run's memory is measured, and then cached."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..worker import Run, Task

_COMPILE = "import nnc, pickle, sys; nnc.compile(**pickle.load(open(sys.argv[1], 'rb')))"


def load(task: Task) -> Run:
    """Load a model by `nnc.compile` with the task's options. The option `cache_folder` is a folder
    of compiled models; by default an empty one. The code and the weights count as shipped.
    """
    options = dict(task.options)
    folder = Path(options.pop("cache_folder", None) or task.folder())
    os.environ.update(XDG_CACHE_HOME=str(folder), NNC_CACHE_LIMIT="64G")
    choices: dict[str, Any] = {"model": task.model, **options}
    file = task.folder() / "choices.pickle"
    file.write_bytes(pickle.dumps(choices))
    with task.compiling():
        subprocess.run([sys.executable, "-P", "-c", _COMPILE, file], check=True)
    import nnc  # type: ignore[import-not-found]
    from nnc.ir.numpy_types import type_to_numpy  # type: ignore[import-not-found]
    from nnc.ir.types import TensorType  # type: ignore[import-not-found]

    executable = nnc.compile(**choices, threads=task.threads)
    inputs = {}
    for name, type in zip(executable.input_names, executable.input_types, strict=True):
        value = task.inputs[name]
        is_tensor = isinstance(type, TensorType)
        inputs[name] = value.astype(type_to_numpy(type.element_type)) if is_tensor else value
    task.version = nnc.__version__
    task.names = list(executable.output_names)
    task.ships(*(path for path in folder.rglob("*") if path.name in ("model.o", "weights")))
    if hasattr(executable, "timed_on"):  # an older nnc has no times of an engine
        timed = executable.timed_on(inputs)
        if timed.where:
            task.timed = lambda: timed.run() / 1e6
    return lambda: list(executable.run(inputs).values())

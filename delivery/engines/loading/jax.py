"""JAX: functions that `jax.export` has written, compiled by XLA."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task

os.environ["JAX_PLATFORMS"] = "cpu"  # read when JAX is imported


def load(task: Task) -> Run:
    """Load an exported function and compile it for the CPU.

    Raises ValueError for StableHLO that `jax.export` has not written.
    """
    os.environ["NPROC"] = str(task.threads)  # what XLA's pool of threads is made for
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)  # otherwise int64 and float64 are narrowed

    import_module("flatbuffers")  # without which no file can be read
    try:
        exported = jax.export.deserialize(bytearray(Path(task.model).read_bytes()))
    except Exception as error:
        raise ValueError("JAX reads what jax.export wrote, not StableHLO alone") from error
    arguments, by_name = jax.tree.unflatten(exported.in_tree, list(task.inputs.values()))
    task.ships(task.model, *task.libraries("jaxlib"))
    with task.compiling():
        compiled = jax.jit(exported.call).lower(*arguments, **by_name).compile()
    return lambda: [np.asarray(one) for one in jax.tree.leaves(compiled(*arguments, **by_name))]

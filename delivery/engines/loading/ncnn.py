"""ncnn: a `.param` file with its `.bin` beside it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load(task: Task) -> Run:
    """Load a network; a run computes all its outputs, with ncnn's default options.

    With the option `plain`, no numbers are kept or computed in 16 bits. Raises ValueError if ncnn
    rejects the files or the inputs.
    """
    ncnn = import_module("ncnn")

    net = ncnn.Net()
    net.opt.num_threads = task.threads
    if task.options.get("plain"):
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.opt.use_bf16_storage = False
    weights = Path(task.model).with_suffix(".bin")
    if net.load_param(task.model) or net.load_model(str(weights)):
        raise ValueError("ncnn does not take the network")
    mats = {name: ncnn.Mat(np.ascontiguousarray(array)) for name, array in task.inputs.items()}
    task.names = list(net.output_names())
    task.ships(task.model, weights, *task.libraries("ncnn"))

    def run() -> list[np.ndarray]:
        extractor = net.create_extractor()
        for name, mat in mats.items():
            extractor.input(name, mat)
        found = []
        for name in task.names or ():
            status, mat = extractor.extract(name)
            if status:
                raise ValueError(f"ncnn cannot compute '{name}' of these inputs")
            found.append(np.array(mat))
        return found

    return run

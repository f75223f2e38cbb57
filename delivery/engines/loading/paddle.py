"""PaddlePaddle's predictor: a program of either form with the parameters beside it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..worker import Run, Task


def load(task: Task) -> Run:
    """Load the program in the predictor; with the option `plain`, without its optimizations."""
    inference = import_module("paddle.inference")

    config = inference.Config()
    config.set_prog_file(task.model)
    task.ships(task.model, *task.libraries("paddlepaddle"))
    parameters = Path(task.model).with_suffix(".pdiparams")
    if parameters.exists():  # a program without any has none beside it
        config.set_params_file(str(parameters))
        task.ships(parameters)
    config.disable_gpu()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(task.threads)
    if task.options.get("plain"):
        config.switch_ir_optim(False)
        config.disable_mkldnn()
    predictor = inference.create_predictor(config)
    names = predictor.get_input_names()
    known = task.inputs.keys() >= set(names)
    for name, array in zip(names, task.inputs.values(), strict=True):
        predictor.get_input_handle(name).copy_from_cpu(task.inputs[name] if known else array)
    task.names = outputs = list(predictor.get_output_names())
    results = [predictor.get_output_handle(name) for name in outputs]

    def run() -> list[np.ndarray]:
        predictor.run()
        return [one.copy_to_cpu() for one in results]

    return run

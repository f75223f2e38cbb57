"""Peers other than the engines of `nnc package`: IREE, TVM, and torch.compile on bench/models.py.

As there, a function loads a model in a process of its own (`delivery/engines/worker.py`), which
reads this file by its path. It imports nothing but NumPy and the peer, so that each peer can have
its own environment. IREE and TVM compile in another process: its time is the compile time, and its
memory does not count as that of a run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nnc.delivery.engines.worker import Run, Task


def iree(task: Task) -> Run:
    """Load a model by IREE's CPU backend for this machine, with data tiling."""
    import iree.runtime as runtime

    folder = task.folder()
    text, module = folder / "model.mlir", folder / "model.vmfb"
    tools = Path(sys.executable).parent
    with task.compiling():
        subprocess.run([tools / "iree-import-onnx", task.model, "-o", text], check=True)
    flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
        "--iree-opt-data-tiling",
        "--iree-opt-level=O3",
    ]
    with task.compiling():
        subprocess.run([tools / "iree-compile", text, *flags, "-o", module], check=True)
    runtime.flags.parse_flags(f"--task_topology_max_group_count={task.threads}")
    device = "local-sync" if task.threads == 1 else "local-task"
    loaded = runtime.load_vm_flatbuffer_file(str(module), driver=device)
    name = next(n for n in loaded.vm_module.function_names if not n.endswith("$async"))
    arguments = list(task.inputs.values())

    def run() -> list[np.ndarray]:
        results = loaded[name](*arguments)
        several = isinstance(results, tuple | list)
        return [np.asarray(r.to_host()) for r in (results if several else [results])]

    task.ships(module, *task.libraries("iree-base-runtime", "_runtime_libs"))
    return run


_COMPILE_WITH_TVM = """
import sys
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.load(sys.argv[1])
weights = {tensor.name for tensor in model.graph.initializer}
shapes = {
    value.name: [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
    for value in model.graph.input
    if value.name not in weights
}
module = from_onnx(model, shapes, keep_params_in_input=False)
library, trials, threads = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
target = tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": threads})
if trials:
    tuning = relax.get_pipeline(
        "static_shape_tuning",
        total_trials=10**6,
        max_trials_per_task=trials,
        target=target,
        work_dir=f"{library}.tuning",
        cpu_weight_prepack=True,
    )
    with target:
        module = tuning(module)
relax.build(module, target=target).export_library(library)
"""


def tvm(task: Task) -> Run:
    """Load a model by TVM's Relax with its default pipeline, untuned."""
    return _tvm(task, trials=0)


def metaschedule(task: Task) -> Run:
    """Load a model that TVM's MetaSchedule tunes, by `TVM_TRIALS` trials for each of its functions
    (default 32).
    """
    return _tvm(task, trials=int(os.environ.get("TVM_TRIALS", "32")))


def _tvm(task: Task, trials: int) -> Run:
    os.environ["TVM_NUM_THREADS"] = str(task.threads)
    library = task.folder() / "model.so"
    options = [task.model, str(library), str(trials), str(task.threads)]
    command = [sys.executable, "-c", _COMPILE_WITH_TVM, *options]
    with task.compiling():
        subprocess.run(command, check=True)
    import tvm as apache_tvm
    from tvm import relax

    executable = apache_tvm.runtime.load_module(str(library))
    machine = relax.VirtualMachine(executable, apache_tvm.cpu())
    arguments = [apache_tvm.runtime.tensor(array) for array in task.inputs.values()]

    def run() -> list[np.ndarray]:
        results = machine["main"](*arguments)
        several = not hasattr(results, "numpy")
        return [r.numpy() for r in (results if several else [results])]

    task.ships(library, *task.libraries("apache-tvm", "libtvm_runtime.so"))
    return run


def torch(task: Task) -> Run:
    """Load, by torch.compile, the PyTorch module that bench/models.py exports under the file's
    name.
    """
    import torch as pytorch

    sys.path.append(str(Path(__file__).parent.parent))
    from bench import models

    name = Path(task.model).stem
    if name not in models.MODELS:
        raise ValueError(f"torch runs the models of bench/models.py, not '{name}'")
    pytorch.set_num_threads(task.threads)
    tensors = [pytorch.from_numpy(array) for array in task.inputs.values()]
    module = pytorch.compile(models.build(name, batch=tensors[0].shape[0]).module)

    def run() -> list[np.ndarray]:
        with pytorch.inference_mode():
            results = module(*tensors)
        several = isinstance(results, tuple | list)
        return [r.numpy() for r in (results if several else [results])]

    with task.compiling():
        run()
    task.ships(task.model, *task.libraries("torch", "torch/lib"))
    return run

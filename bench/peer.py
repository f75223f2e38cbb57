"""One runtime in a process of its own, that runs a model when it is told to.

    python -m bench.peer RUNTIME MODEL.onnx INPUTS.npz --threads N

Reads lines from standard input and answers each with a line of JSON:

    load        {"seconds": of making it ready, "version": .., "bytes": of what is shipped}
    run N       {"ms": [N latencies]}
    save FILE   {}, after the outputs are in FILE.npz, in order
    quit        {"peak_bytes": of memory}

nnc, IREE and TVM compile in another process, whose time is what they take to make the model
ready and whose memory is not that of a run: what is measured is a process that runs a compiled
model. The others compile where they run. What is shipped is the compiled model with its weights;
where a runtime has to come along, its native libraries, and the model if it reads that.

It imports nothing but NumPy and the runtime, so that each runtime can have its own environment.
"""

import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Run = Callable[[], list[np.ndarray]]


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to run; `files` are what is shipped of it."""

    run: Run
    files: list[Path]


def _libraries(name: str, *parts: str) -> list[Path]:
    """The shared libraries of an installed package, of which all `parts` are in the path."""
    found = [Path(str(file.locate())) for file in distribution(name).files or ()]
    return [f for f in found if ".so" in f.name and all(part in str(f) for part in parts)]


def _folder() -> Path:
    """A folder that goes when the process ends."""
    folder = tempfile.mkdtemp(prefix="nnc-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def nnc(model: str, inputs: Arrays, threads: int) -> Loaded:
    """This compiler, from an empty cache; its library is what is shipped."""
    folder = _folder()
    os.environ.update(XDG_CACHE_HOME=str(folder), NNC_CACHE_LIMIT="64G")
    compile = "import nnc, sys; nnc.compile(sys.argv[1])"
    subprocess.run([sys.executable, "-c", compile, model], check=True)
    import nnc

    executable = nnc.compile(model, threads=threads)
    files = [path for path in folder.rglob("*") if path.name in ("model.o", "weights")]
    return Loaded(lambda: list(executable.run(inputs).values()), files)


def onnxruntime(model: str, inputs: Arrays, threads: int) -> Loaded:
    """ONNX Runtime's CPU provider, all optimizations on."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(model, options, ["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    libraries = _libraries("onnxruntime", "capi")
    return Loaded(lambda: list(session.run(names, inputs)), [Path(model), *libraries])


def openvino(model: str, inputs: Arrays, threads: int) -> Loaded:
    """OpenVINO's CPU plugin, for latency, in float32."""
    import openvino as ov

    config = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "NUM_STREAMS": 1,
    }
    compiled = ov.Core().compile_model(model, "CPU", config)
    request = compiled.create_infer_request()
    ordered = [inputs[port.get_any_name()] for port in compiled.inputs]

    def run() -> list[np.ndarray]:
        results = request.infer(ordered, share_inputs=True, share_outputs=True)
        return [results[port] for port in compiled.outputs]

    # What a run for this device on an ONNX file needs.
    needed = ("libopenvino.so", "intel_cpu", "onnx_frontend", "libtbb")
    libraries = [f for f in _libraries("openvino") if any(n in f.name for n in needed)]
    return Loaded(run, [Path(model), *libraries])


def iree(model: str, inputs: Arrays, threads: int) -> Loaded:
    """IREE's CPU backend for this machine, data tiling on."""
    import iree.runtime as runtime

    folder = _folder()
    text, module = folder / "model.mlir", folder / "model.vmfb"
    tools = Path(sys.executable).parent
    subprocess.run([tools / "iree-import-onnx", model, "-o", text], check=True)
    flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
        "--iree-opt-data-tiling",
        "--iree-opt-level=O3",
    ]
    subprocess.run([tools / "iree-compile", text, *flags, "-o", module], check=True)
    runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
    device = "local-sync" if threads == 1 else "local-task"
    loaded = runtime.load_vm_flatbuffer_file(str(module), driver=device)
    name = next(n for n in loaded.vm_module.function_names if not n.endswith("$async"))
    arguments = list(inputs.values())

    def run() -> list[np.ndarray]:
        results = loaded[name](*arguments)
        several = isinstance(results, tuple | list)
        return [np.asarray(r.to_host()) for r in (results if several else [results])]

    return Loaded(run, [module, *_libraries("iree-base-runtime", "_runtime_libs")])


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
cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
relax.build(module, target=tvm.target.Target({"kind": "llvm", "mcpu": cpu})).export_library(
    sys.argv[2]
)
"""


def tvm(model: str, inputs: Arrays, threads: int) -> Loaded:
    """TVM's Relax, default pipeline, untuned."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    library = _folder() / "model.so"
    command = [sys.executable, "-c", _COMPILE_WITH_TVM, model, str(library)]
    subprocess.run(command, check=True)
    import tvm as apache_tvm
    from tvm import relax

    executable = apache_tvm.runtime.load_module(str(library))
    machine = relax.VirtualMachine(executable, apache_tvm.cpu())
    arguments = [apache_tvm.runtime.tensor(array) for array in inputs.values()]

    def run() -> list[np.ndarray]:
        results = machine["main"](*arguments)
        several = not hasattr(results, "numpy")
        return [r.numpy() for r in (results if several else [results])]

    return Loaded(run, [library, *_libraries("apache-tvm", "libtvm_runtime.so")])


def torch(model: str, inputs: Arrays, threads: int) -> Loaded:
    """torch.compile on the PyTorch module that bench/models.py exports under the file's name."""
    import torch as pytorch

    from bench import models

    name = Path(model).stem
    if name not in models.MODELS:
        raise ValueError(f"torch runs the models of bench/models.py, not '{name}'")
    pytorch.set_num_threads(threads)
    tensors = [pytorch.from_numpy(array) for array in inputs.values()]
    module = pytorch.compile(models.build(name, batch=tensors[0].shape[0]).module)

    def run() -> list[np.ndarray]:
        with pytorch.inference_mode():
            results = module(*tensors)
        several = isinstance(results, tuple | list)
        return [r.numpy() for r in (results if several else [results])]

    run()
    return Loaded(run, [Path(model), *_libraries("torch", "torch/lib")])


RUNTIMES: dict[str, tuple[Callable[[str, Arrays, int], Loaded], str]] = {
    "nnc": (nnc, "nnc"),
    "onnxruntime": (onnxruntime, "onnxruntime"),
    "openvino": (openvino, "openvino"),
    "torch": (torch, "torch"),
    "iree": (iree, "iree-base-runtime"),
    "tvm": (tvm, "apache-tvm"),
}
"""By name: how to load a model, and the distribution whose version is told."""


def main() -> None:
    """Answer the commands on standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime", choices=RUNTIMES)
    parser.add_argument("model")
    parser.add_argument("inputs")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    # What a runtime prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    inputs = dict(np.load(args.inputs))
    make, name = RUNTIMES[args.runtime]
    loaded: Loaded | None = None
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        answer: dict[str, Any] = {}
        if command == "load":
            started = time.perf_counter()
            loaded = make(args.model, inputs, args.threads)
            seconds = time.perf_counter() - started
            size = sum(file.stat().st_size for file in set(loaded.files))
            answer = {"seconds": seconds, "version": version(name), "bytes": size}
        elif command == "run":
            assert loaded is not None
            answer = {"ms": [_time(loaded.run) for _ in range(int(argument))]}
        elif command == "save":
            assert loaded is not None
            np.savez(argument, **{f"{i:04}": a for i, a in enumerate(loaded.run())})  # type: ignore[arg-type]
        elif command == "quit":
            answer = {"peak_bytes": _peak_bytes()}
        print(json.dumps(answer), file=answers, flush=True)
        if command == "quit":
            return


def _peak_bytes() -> int:
    """The most memory of this process, as Linux tells it (getrusage counts the parent's too)."""
    status = Path("/proc/self/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(line.split()[1])


def _time(run: Run) -> float:
    started = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - started)


if __name__ == "__main__":
    main()

"""One runtime in a process of its own, that runs a model when it is told to.

    python -m bench.peer RUNTIME MODEL.onnx INPUTS.npz --threads N

Reads lines from standard input and answers each with a line of JSON:

    load        {"seconds": of making it ready, "version": .., "bytes": of what could be shipped}
    run N       {"ms": [N latencies]}
    save FILE   {}, after the outputs are in FILE.npz, in order
    quit        {"peak_bytes": of memory}

It imports nothing but NumPy and the runtime, so that each runtime can have its own environment.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Run = Callable[[], list[np.ndarray]]


def nnc(model: str, inputs: Arrays, threads: int) -> tuple[Run, int]:
    """This compiler, without its cache."""
    import nnc

    executable = nnc.compile(model, threads=threads, cache=False)
    return lambda: list(executable.run(inputs).values()), 0


def onnxruntime(model: str, inputs: Arrays, threads: int) -> tuple[Run, int]:
    """ONNX Runtime's CPU provider, all optimizations on."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(model, options, ["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda: session.run(names, inputs), 0


def openvino(model: str, inputs: Arrays, threads: int) -> tuple[Run, int]:
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

    return run, 0


def iree(model: str, inputs: Arrays, threads: int) -> tuple[Run, int]:
    """IREE's CPU backend for this machine, data tiling on."""
    import subprocess
    import tempfile

    import iree.runtime as runtime

    folder = Path(tempfile.mkdtemp())
    text, module = folder / "model.mlir", folder / "model.vmfb"
    tools = Path(sys.executable).parent
    subprocess.run([tools / "iree-import-onnx", model, "-o", text], check=True)
    flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
        "--iree-opt-data-tiling",
        "-O3",
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

    return run, module.stat().st_size


def tvm(model: str, inputs: Arrays, threads: int) -> tuple[Run, int]:
    """TVM's Relax, default pipeline, untuned."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import onnx
    import tvm as apache_tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    shapes = {name: array.shape for name, array in inputs.items()}
    module = from_onnx(onnx.load(model), shapes, keep_params_in_input=False)
    target = apache_tvm.target.Target({"kind": "llvm", "mcpu": "native"})
    executable = relax.build(module, target=target)
    machine = relax.VirtualMachine(executable, apache_tvm.cpu())
    arguments = [apache_tvm.runtime.tensor(array) for array in inputs.values()]

    def run() -> list[np.ndarray]:
        results = machine["main"](*arguments)
        several = not hasattr(results, "numpy")
        return [r.numpy() for r in (results if several else [results])]

    return run, 0


def torch(model: str, inputs: Arrays, threads: int) -> tuple[Run, int]:
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
    return run, 0


RUNTIMES: dict[str, tuple[Callable[[str, Arrays, int], tuple[Run, int]], str]] = {
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
    make, distribution = RUNTIMES[args.runtime]
    run: Run | None = None
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        answer: dict[str, Any] = {}
        if command == "load":
            started = time.perf_counter()
            run, size = make(args.model, inputs, args.threads)
            seconds = time.perf_counter() - started
            answer = {"seconds": seconds, "version": version(distribution), "bytes": size}
        elif command == "run":
            assert run is not None
            answer = {"ms": [_time(run) for _ in range(int(argument))]}
        elif command == "save":
            assert run is not None
            np.savez(argument, **{f"{i:04}": a for i, a in enumerate(run())})  # type: ignore[arg-type]
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

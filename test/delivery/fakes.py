"""Engines whose times and outputs are known, in processes of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from nnc.delivery.engines.process import Job
from nnc.delivery.engines.table import Engine

SOURCE = '''
import os, signal, subprocess, sys, time
from pathlib import Path
import numpy as np

CLOCK = [0.0]

def load(task):
    """Doubles the input `x`. The process's clock moves by what the options say, and by nothing
    else: `times` are the seconds of each run, over and over."""
    options, count = task.options, [0]
    if options.get("broken") == "load":
        raise ValueError("this engine does not know the model")
    if options.get("broken") == "far in":
        raise ValueError("In the user's code:\\n\\n    InvalidArgumentError: no such axis\\n      [hint]")
    CLOCK[0] = time.perf_counter()
    time.perf_counter = lambda: CLOCK[0]
    CLOCK[0] += options.get("load", 0.0)
    task.names = options.get("names")
    task.ships(Path(task.model))

    def run():
        times = options["times"]
        CLOCK[0] += times[count[0] % len(times)]
        count[0] += 1
        if options.get("log"):
            with open(options["log"], "a") as log:
                log.write(options["letter"])
        if count[0] == options.get("at", -1):
            match options["broken"]:
                case "crash":
                    os.kill(os.getpid(), signal.SIGSEGV)
                case "hang":
                    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                    Path(options["child"]).write_text(str(child.pid))
                    time.sleep(600)
                case "words":
                    sys.exit("it gave up: no more memory")
        print("an engine may print what it likes")
        return [task.inputs["x"] * options.get("factor", 2)]

    return run
'''


def fake(folder: Path, name: str, **fields: object) -> Engine:
    """An engine of a name that reads ONNX's files."""
    (folder / "fake.py").write_text(SOURCE)
    return Engine(name, name.upper(), ("ONNX",), (), (), "fake.load", folder=folder, **fields)  # type: ignore[arg-type]


def fake_job(folder: Path, name: str, threads: int = 1, **options: object) -> Job:
    """A job of such an engine: by default each run takes 1 ms."""
    model, inputs = folder / "model.bin", folder / "inputs.npz"
    model.write_bytes(bytes(1234))
    np.savez(inputs, x=np.array([1.0, -3.0], np.float32))
    return Job(fake(folder, name), model, inputs, threads, {"times": [0.001], **options})

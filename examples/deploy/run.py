"""Run a compiled model from Python without nnc: only the library and its JSON are needed.

nnc compile model.onnx -o model.so
python run.py model.so
"""

import ctypes
import json
import math
import sys
from pathlib import Path


class Tensor(ctypes.Structure):
    """The C struct `nnc_tensor`."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)))


def buffer(about: dict) -> ctypes.Array:
    """Zeros for a tensor described in the JSON file."""
    assert about["type"] == "f32", "this example supports only float32"
    return (ctypes.c_float * math.prod(about["shape"]))()


path = Path(sys.argv[1]).resolve()
about = json.loads(path.with_suffix(".json").read_text())
library = ctypes.CDLL(str(path))
library.nnc_message.restype = ctypes.c_char_p


def check(status: int) -> None:
    """Exit with the library's message if a call failed."""
    if status:
        sys.exit(f"nnc: {library.nnc_message(status).decode()}")


weights = None if about["weights"] == "inside" else str(path.with_suffix(".weights")).encode()
context = ctypes.c_void_p()
check(library.nnc_create(ctypes.byref(context), weights, 1))

inputs, outputs = [buffer(t) for t in about["inputs"]], [buffer(t) for t in about["outputs"]]
for values in inputs:
    values[:] = [1.0] * len(values)
given = (Tensor * len(inputs))(*[Tensor(ctypes.addressof(b), None) for b in inputs])
made = (Tensor * len(outputs))(*[Tensor(ctypes.addressof(b), None) for b in outputs])
check(library.nnc_call(context, given, made))
library.nnc_destroy(context)

for values in outputs:
    for value in values:
        print(f"{value:.6f}")

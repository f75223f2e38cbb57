"""Models as C, built by the compilers that are here, and called through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nnc
import numpy as np
import onnx
from nnc.dialects import func
from nnc.dialects.marks import ARENA_BYTES, ENTRY, FAILURES, WEIGHTS_BYTES
from nnc.driver.compile import load_module, run_stages
from nnc.driver.weights import fill_weights
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.passes import PassContext, PassManager
from nnc.lowering.pipelines import pipeline
from nnc.lowering.to_llvm.entry import signature_of
from nnc.runtime.memory import aligned_buffer
from nnc.targets.attribute import target_of
from nnc.targets.c.entry import c_text

STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror".split()
SANITIZED = "-O1 -g -fsanitize=undefined -fno-sanitize-recover=all".split()
TAIL = "builtin.module(outline-parallel,expand-math,canonicalize,cse)"


def compilers() -> dict[str, list[str]]:
    """The C compilers that are here, by name."""
    found = {name: [name] for name in ("gcc", "clang") if shutil.which(name)}
    if find_spec("ziglang"):
        found["zig"] = [sys.executable, "-m", "ziglang", "cc"]
    return found


class Tensor(ctypes.Structure):
    """nnc_tensor"""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)))


def lowered(model, target=None):
    """A module behind the stages that C is printed from, and the entry's signature."""
    module = load_module(model)
    run_stages(module, last="vectors", target=target)
    PassManager(pipeline(TAIL), PassContext()).run(module)
    entry = next(
        op for op in module.body_block if isinstance(op, func.FuncOp) and ENTRY in op.attributes
    )
    signature = signature_of(entry)
    module.attributes.update(signature.attributes(0))
    return module, signature


class CProgram:
    """A model as C in this process."""

    def __init__(self, model, folder: Path, target=None, compiler=("gcc",), flags=("-O1",)) -> None:
        module, self.signature = lowered(model, target)
        self.text = c_text(module, pointer_bits=target_of(module).pointer_bits)
        self.weights = aligned_buffer(module.attributes[WEIGHTS_BYTES].value)
        fill_weights(module, self.weights)
        self.failures = [a.value for a in module.attributes[FAILURES].elements]
        self.arena = aligned_buffer(module.attributes[ARENA_BYTES].value + 64)
        source, library = folder / "model.c", folder / "model.so"
        source.write_text(self.text)
        native = [] if "-march" in " ".join(flags) else ["-march=native"]
        command = [*compiler, *STRICT, *flags, *native, "-shared", "-fPIC", source, "-o", library, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        self.run = ctypes.CDLL(str(library)).nnc_run
        os.unlink(library)

    def __call__(self, *arrays, pool=None) -> tuple:
        types = self.signature.inputs
        kinds = [type_to_numpy(t.element_type) for t in types]
        given = [np.ascontiguousarray(a, k) for a, k in zip(arrays, kinds, strict=True)]
        given = [a.reshape(np.shape(b)) for a, b in zip(given, arrays, strict=True)]
        shapes = [(ctypes.c_int64 * max(1, a.ndim))(*a.shape) for a in given]
        inputs = (Tensor * max(1, len(given)))(
            *(Tensor(a.ctypes.data, s) for a, s in zip(given, shapes, strict=True))
        )
        made, extents = [], []
        for type in self.signature.outputs:
            static = type.has_static_shape
            made.append(np.full(type.shape, 77, type_to_numpy(type.element_type)) if static else None)
            extents.append((ctypes.c_int64 * max(1, type.rank))())
        outputs = (Tensor * max(1, len(made)))(
            *(
                Tensor(None if a is None else a.ctypes.data, s)
                for a, s in zip(made, extents, strict=True)
            )
        )
        addresses = (ctypes.c_void_p(block.ctypes.data) for block in (self.arena, self.weights))
        status = self.run(inputs, outputs, *addresses, pool)
        if status:
            known = 0 <= status - 16 < len(self.failures)
            raise nnc.NncError(self.failures[status - 16] if known else f"status {status}")
        for i, type in enumerate(self.signature.outputs):
            if made[i] is None:
                made[i] = taken_over(outputs[i].data, list(extents[i])[: type.rank], type)
        return tuple(made)


def taken_over(address, shape, type) -> np.ndarray:
    """An array of memory that is C's to free."""
    dtype = np.dtype(type_to_numpy(type.element_type))
    bytes = ctypes.string_at(address, int(np.prod(shape)) * dtype.itemsize)
    ctypes.CDLL(None).free(ctypes.c_void_p(address))
    return np.frombuffer(bytes, dtype).reshape(shape)


def inputs_for(model: onnx.ModelProto, extent: int = 3, seed: int = 0) -> list[np.ndarray]:
    """Numbers for a model's inputs; extents that it leaves open are `extent`."""
    rng = np.random.default_rng(seed)
    found = []
    weights = {one.name for one in model.graph.initializer}
    for value in model.graph.input:
        if value.name in weights:
            continue
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = [d.dim_value or extent for d in value.type.tensor_type.shape.dim]
        numbers = rng.standard_normal(shape) if kind.kind == "f" else rng.integers(0, 5, shape)
        found.append(numbers.astype(kind))
    return found


def same_bits(got, want) -> bool:
    """Whether two arrays are the same, bit by bit."""
    got, want = np.asarray(got), np.asarray(want)
    return (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes())

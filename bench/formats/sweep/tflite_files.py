"""Writes .tflite files of single operators, and runs LiteRT's kernels on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import flatbuffers
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from .cases import UnmakableError

KINDS = {
    "f32": ("FLOAT32", np.float32), "f16": ("FLOAT16", np.float16), "i8": ("INT8", np.int8),
    "u8": ("UINT8", np.uint8), "i16": ("INT16", np.int16), "i32": ("INT32", np.int32),
    "i64": ("INT64", np.int64), "bool": ("BOOL", np.bool_), "u32": ("UINT32", np.uint32),
}  # fmt: skip
QUANTIZED = ("i8", "u8", "i16")


class Writer:
    """Builds a graph."""

    def __init__(self) -> None:
        self.graph = schema.SubGraphT()
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.subgraphs, self.model.buffers = [self.graph], [schema.BufferT()]
        self.model.operatorCodes = []
        for part in ("tensors", "operators", "inputs", "outputs"):
            setattr(self.graph, part, [])
        self.given: list[np.ndarray] = []

    def tensor(
        self,
        shape: Sequence[int],
        kind: str = "f32",
        data: np.ndarray | None = None,
        scale: Any = None,
        zero: Any = 0,
        axis: int = 0,
        signature: Sequence[int] | None = None,
        variable: bool = False,
    ) -> int:
        """Add a tensor; returns its number. With `data`, it is a constant."""
        made = schema.TensorT()
        made.name, made.shape = f"t{len(self.graph.tensors)}", list(shape)
        made.type = getattr(schema.TensorType, KINDS[kind][0])
        made.isVariable = variable
        if signature is not None:
            made.shapeSignature = list(signature)
        if data is not None:
            buffer = schema.BufferT()
            array = np.array(data, KINDS[kind][1], order="C")
            buffer.data = np.frombuffer(array.tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            made.buffer = len(self.model.buffers) - 1
        if scale is not None:
            about = made.quantization = schema.QuantizationParametersT()
            about.scale = [float(v) for v in np.atleast_1d(scale)]
            about.zeroPoint = [int(v) for v in np.broadcast_to(zero, len(about.scale))]
            about.quantizedDimension = axis
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def input(self, value: np.ndarray, kind: str, open: Sequence[int] = (), **about: Any) -> int:
        """Add an input with its value in the run; returns its number. The axes in `open` are
        dynamic.
        """
        shape = [1 if i in open else d for i, d in enumerate(value.shape)]
        signature = [-1 if i in open else d for i, d in enumerate(value.shape)] if open else None
        number = self.tensor(shape, kind, signature=signature, **about)
        self.graph.inputs.append(number)
        self.given.append(np.array(value, KINDS[kind][1], order="C"))
        return number

    def constant(self, value: Any, kind: str = "i32", **about: Any) -> int:
        """Add a constant; returns its number."""
        array = np.asarray(value, KINDS[kind][1])
        return self.tensor(array.shape, kind, array, **about)

    def operator(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        version: int = 1,
        intermediates: Sequence[int] = (),
        **fields: Any,
    ) -> Sequence[int]:
        """Add an operator whose options are of the class `options`; returns its outputs."""
        code = schema.OperatorCodeT()
        code.version, code.builtinCode = version, getattr(schema.BuiltinOperator, kind)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        self.model.operatorCodes.append(code)
        made = schema.OperatorT()
        made.opcodeIndex = len(self.model.operatorCodes) - 1
        made.inputs, made.outputs = list(inputs), list(outputs)
        made.intermediates = list(intermediates)
        if options:
            made.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            made.builtinOptions = getattr(schema, options + "T")()
            for key, value in fields.items():
                assert hasattr(made.builtinOptions, key), key
                setattr(made.builtinOptions, key, value)
        self.graph.operators.append(made)
        return outputs

    def data(self, outputs: Sequence[int]) -> bytes:
        """The bytes of the file."""
        self.graph.outputs = list(outputs)
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


REFERENCE = OpResolverType.BUILTIN_REF
OPTIMIZED = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
DEFAULT = OpResolverType.AUTO
"""The resolver that uses XNNPACK for the operators that it supports."""


def kernels(
    data: bytes, given: Sequence[np.ndarray], steps: int = 1, which: OpResolverType = REFERENCE
) -> list[np.ndarray]:
    """The outputs of the reference kernels. Raises UnmakableError if they reject the model."""
    try:
        interpreter = Interpreter(
            model_content=data,
            experimental_op_resolver_type=which,
            num_threads=1,
        )
        details = interpreter.get_input_details()
        for detail, x in zip(details, given, strict=True):
            if tuple(detail["shape"]) != x.shape:
                interpreter.resize_tensor_input(detail["index"], x.shape)
        interpreter.allocate_tensors()
        for _ in range(steps):
            for detail, x in zip(details, given, strict=True):
                interpreter.set_tensor(detail["index"], x)
            interpreter.invoke()
    except (RuntimeError, ValueError) as error:
        raise UnmakableError(str(error).splitlines()[0][:200]) from None
    return [interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()]


def write(data: bytes, folder: Path) -> Path:
    """Write the file; returns its path."""
    path = folder / "model.tflite"
    path.write_bytes(data)
    return path


def number_of(kind: str) -> int:
    """The number of an element type in files."""
    return getattr(schema.TensorType, KINDS[kind][0])

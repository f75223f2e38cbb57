"""An ONNX model of f32 as one of f16, bf16 or int8."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .command import model_file

TYPES = ("f32", "f16", "bf16", "int8")
_FLOATS = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
_CALIBRATED = 4
"""Random inputs by which the ranges of an int8 model's tensors are found."""


def as_type(path: Path, type: str, folder: Path) -> Path:
    """The path of the model in a type; the file is in `folder`. Raises NncError."""
    model_file(path)
    if type == "f32":
        return path
    made = folder / f"{path.stem}.{type}.onnx"
    if type == "int8":
        _quantize(path, made)
    else:
        onnx.save(narrowed(onnx.load(path), _FLOATS[type]), made)
    return made


def narrowed(model: onnx.ModelProto, type: int) -> onnx.ModelProto:
    """A model with another type in place of f32: of its tensors, inputs, outputs and casts."""
    dtype = helper.tensor_dtype_to_np_dtype(type)
    for graph in _graphs(model.graph):
        for tensor in graph.initializer:
            _narrow(tensor, dtype)
        for info in (*graph.input, *graph.output, *graph.value_info):
            if info.type.tensor_type.elem_type == TensorProto.FLOAT:
                info.type.tensor_type.elem_type = type
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.TENSOR:
                    _narrow(attribute.t, dtype)
                if attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
                    attribute.i = type
    return model


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _graphs(attribute.g)


def _narrow(tensor: onnx.TensorProto, dtype: np.dtype) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        numbers = numpy_helper.to_array(tensor).astype(dtype)
        tensor.CopyFrom(numpy_helper.from_array(numbers, tensor.name))


def _quantize(path: Path, made: Path) -> None:
    """Write a model with products of integers, weights with a scale for each channel."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    class Random(CalibrationDataReader):
        def __init__(self) -> None:
            self._inputs = iter(_random_inputs(path))

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self._inputs, None)

    quantize_static(path, made, Random(), quant_format=QuantFormat.QDQ, per_channel=True)


def _random_inputs(path: Path) -> Iterator[dict[str, np.ndarray]]:
    graph, random = onnx.load(path, load_external_data=False).graph, np.random.default_rng(0)
    weights = {tensor.name for tensor in graph.initializer}
    for _ in range(_CALIBRATED):
        found = {}
        for info in graph.input:
            if info.name in weights:
                continue
            type = info.type.tensor_type
            shape = [d.dim_value or 1 for d in type.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(type.elem_type)
            whole = np.issubdtype(dtype, np.integer) or dtype == np.bool_
            numbers = random.integers(0, 2, shape) if whole else random.standard_normal(shape)
            found[info.name] = numbers.astype(dtype)
        yield found

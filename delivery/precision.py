"""The number formats that a model computes in: its own, or another one for an ONNX model of f32."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError

if TYPE_CHECKING:
    import numpy as np
    import onnx


@dataclass(frozen=True)
class Precision:
    """A precision that `--precision` offers.

    `about` describes it; `tolerance` is the default tolerance of outputs, relative to the largest
    value; `floats` is the ONNX name of the type that replaces f32, empty if none does.
    """

    about: str
    tolerance: float
    floats: str = ""


AS_IT_IS = "f32"

PRECISIONS: Mapping[str, Precision] = {
    AS_IT_IS: Precision("the model as it is", 1e-3),
    "f16": Precision("floats of 16 bits", 2e-2, "FLOAT16"),
    "bf16": Precision("floats of 16 bits with the range of f32", 5e-2, "BFLOAT16"),
    "int8": Precision("products of integers of 8 bits, a scale for each channel", 1e-1),
}
"""The precisions by their names in `--precision`."""


def in_precision(
    path: Path, name: str, folder: Path, samples: Iterable[Mapping[str, np.ndarray]]
) -> Path:
    """The path of an ONNX model of f32 in another precision; a new file is in `folder`.

    Ranges of int8 are those observed for the samples. Raises NncError.
    """
    if name == AS_IT_IS:
        return path
    import onnx

    made, floats = folder / f"{path.stem}.{name}.onnx", PRECISIONS[name].floats
    try:
        if floats:
            element: int = getattr(onnx.TensorProto, floats)
            onnx.save(narrowed(_current(onnx.load(path)), element), made)
        else:
            _quantize(path, made, samples)
    except NncError:
        raise
    except Exception as error:  # onnx, protobuf and ONNX Runtime raise many kinds
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise NncError(f"'{path.name}' cannot be made {name}: {reason}") from None
    return made


_OPSET = 22
"""The first ONNX opset whose convolutions and pools take bfloat16."""


def _current(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model in an operator version that supports all floats, if ONNX can convert it."""
    import onnx
    from onnx import version_converter

    versions = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
    if not versions or max(versions) >= _OPSET:
        return model
    try:
        return version_converter.convert_version(model, _OPSET)
    except (RuntimeError, ValueError, onnx.checker.ValidationError):
        return model


def narrowed(model: onnx.ModelProto, type: int) -> onnx.ModelProto:
    """A model with another type in place of f32 in its tensors, inputs, outputs and casts."""
    import onnx

    dtype = onnx.helper.tensor_dtype_to_np_dtype(type)
    for graph in _graphs(model.graph):
        for tensor in graph.initializer:
            _narrow(tensor, dtype)
        for info in (*graph.input, *graph.output, *graph.value_info):
            if info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
                info.type.tensor_type.elem_type = type
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.TENSOR:
                    _narrow(attribute.t, dtype)
                if attribute.name in ("to", "dtype") and attribute.i == onnx.TensorProto.FLOAT:
                    attribute.i = type
    return model


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    import onnx

    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _graphs(attribute.g)


def _narrow(tensor: onnx.TensorProto, dtype: np.dtype) -> None:
    import numpy as np
    from onnx import TensorProto, numpy_helper

    if tensor.data_type == TensorProto.FLOAT:
        with np.errstate(over="ignore"):  # what is too large is an infinity, and is seen as such
            numbers = numpy_helper.to_array(tensor).astype(dtype)
        tensor.CopyFrom(numpy_helper.from_array(numbers, tensor.name))


def _quantize(path: Path, made: Path, samples: Iterable[Mapping[str, np.ndarray]]) -> None:
    """Write a quantized model, with integer products and one scale per channel of weights."""
    try:
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    except ImportError:
        raise NncError("--precision int8 needs ONNX Runtime: pip install onnxruntime") from None

    class Samples(CalibrationDataReader):
        def __init__(self) -> None:
            self._samples = iter(samples)

        def get_next(self) -> dict[str, np.ndarray] | None:
            found = next(self._samples, None)
            return None if found is None else dict(found)

    with _silence():
        quantize_static(path, made, Samples(), quant_format=QuantFormat.QDQ, per_channel=True)


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress the quantizer's log messages, which are advice to the model's author."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)

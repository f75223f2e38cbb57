"""A model's outputs in float64, the reference for the errors of float32 runtimes.

The model is rewritten to float64, its weights included, and evaluated by ONNX's reference
implementation, with operators of our own where ONNX's take minutes or fail.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_max_pool

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE


def float64_outputs(model: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs in order; float32 inputs are converted."""
    proto = to_float64(onnx.load(model))
    wide = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in inputs.items()}
    return ReferenceEvaluator(proto, new_ops=OPERATORS).run(None, wide)  # type: ignore[return-value]


def to_float64(model: ModelProto) -> ModelProto:
    """Replace float32 by float64 everywhere in the model, in place; returns it."""
    for graph in _graphs(model.graph):
        for tensor in graph.initializer:
            _widen(tensor)
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type == FLOAT:
                value.type.tensor_type.elem_type = DOUBLE
    bodies = [graph.node for graph in _graphs(model.graph)]
    for nodes in (*bodies, *(function.node for function in model.functions)):
        for node in nodes:
            _widen_attributes(node)
    return model


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """The graph and those in the attributes of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from _graphs(inner)


_TYPES = {"Cast": "to", "EyeLike": "dtype", "RandomNormal": "dtype", "RandomUniform": "dtype"}
"""Operators with an attribute that names an element type."""


def _widen_attributes(node: NodeProto) -> None:
    given = [attribute.name for attribute in node.attribute]
    for attribute in node.attribute:
        if attribute.name == _TYPES.get(node.op_type) and attribute.i == FLOAT:
            attribute.i = DOUBLE
        if attribute.type == AttributeProto.TENSOR:
            _widen(attribute.t)
    if node.op_type == "Constant" and given and given[0] in ("value_float", "value_floats"):
        (found,) = node.attribute
        values = np.array(found.f if given[0] == "value_float" else list(found.floats), np.float64)
        found.CopyFrom(onnx.helper.make_attribute("value", numpy_helper.from_array(values)))
    if node.op_type == "ConstantOfShape" and not given:
        zero = numpy_helper.from_array(np.zeros(1))
        node.attribute.append(onnx.helper.make_attribute("value", zero))


def _widen(tensor: TensorProto) -> None:
    if tensor.data_type == FLOAT:
        wide = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))


# -- windows ---------------------------------------------------------------------------------------


class Conv(OpRun):
    """A convolution of any rank, as one product for each position in the window."""

    op_domain = ""

    def _run(
        self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None,
        pads=None, strides=None,
    ):  # fmt: skip
        rank = x.ndim - 2
        taps, strides, dilations = w.shape[2:], strides or [1] * rank, dilations or [1] * rank
        spans = [(k - 1) * d + 1 for k, d in zip(taps, dilations, strict=True)]
        x = _padded(x, spans, strides, auto_pad, pads, 0)
        sizes = [(n - s) // t + 1 for n, s, t in zip(x.shape[2:], spans, strides, strict=True)]
        batch, groups = x.shape[0], group or 1
        out = np.zeros((batch, groups, w.shape[0] // groups, int(np.prod(sizes))), x.dtype)
        weights = w.reshape(groups, w.shape[0] // groups, w.shape[1], *taps)
        for tap in product(*map(range, taps)):
            part = x[(..., *_places(tap, dilations, strides, sizes))]
            part = part.reshape(batch, groups, w.shape[1], -1)
            out += weights[(..., *tap)] @ part
        out = out.reshape(batch, w.shape[0], *sizes)
        return (out if b is None else out + b.reshape(-1, *[1] * rank),)


def _places(tap, dilations, strides, sizes) -> list[slice]:
    """The slices of the input that one position in the window reads, for all windows."""
    starts = [i * d for i, d in zip(tap, dilations, strict=True)]
    return [
        slice(a, a + (n - 1) * t + 1, t) for a, n, t in zip(starts, sizes, strides, strict=True)
    ]


class MaxPool(op_max_pool.MaxPool):
    """The maximum of each window; rare variants are left to ONNX's own."""

    op_domain = ""

    def _run(self, x, **attributes: Any):
        rank = x.ndim - 2
        dilated = any(d != 1 for d in attributes.get("dilations") or ())
        if attributes.get("ceil_mode") or dilated or len(self.output) > 1:
            return super()._run(x, **attributes)
        taps, strides = attributes["kernel_shape"], attributes.get("strides") or [1] * rank
        border = attributes.get("auto_pad"), attributes.get("pads")
        x = _padded(x, taps, strides, *border, -np.inf)
        windows = sliding_window_view(x, taps, tuple(range(2, 2 + rank)))  # type: ignore[call-overload]
        steps = (slice(None), slice(None), *(slice(None, None, s) for s in strides))
        return (windows[steps].max(axis=tuple(range(-rank, 0))),)


class GatherElements(OpRun):
    """Elements selected along an axis; ONNX's own supports no more than 64 of them."""

    op_domain = ""

    def _run(self, data, indices, axis=None):
        axis = (axis or 0) % data.ndim
        part = [slice(None if d == axis else n) for d, n in enumerate(indices.shape)]
        return (np.take_along_axis(data[tuple(part)], indices % data.shape[axis], axis),)


OPERATORS: list[Any] = [Conv, MaxPool, GatherElements]


def _padded(x: np.ndarray, spans, strides, auto_pad, pads, value: float) -> np.ndarray:
    """The input with the padding that ONNX's attributes define."""
    rank = x.ndim - 2
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        before, after = [], []
        for n, span, stride in zip(x.shape[2:], spans, strides, strict=True):
            total = max(0, (-(-n // stride) - 1) * stride + span - n)
            small, large = total // 2, total - total // 2
            before.append(small if auto_pad == "SAME_UPPER" else large)
            after.append(total - before[-1])
    else:
        given: Any = list(pads or [0] * 2 * rank) if auto_pad != "VALID" else [0] * 2 * rank
        before, after = given[:rank], given[rank:]
    border = [(0, 0), (0, 0), *zip(before, after, strict=True)]
    return np.pad(x, border, constant_values=value) if any(map(any, border)) else x

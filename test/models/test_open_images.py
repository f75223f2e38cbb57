"""Networks on images whose number, height and width are open, against ONNX Runtime."""

import nnc
import numpy as np
import onnx
import onnxruntime
import pytest

from ..processor import runnable
from .small_models import GraphMaker

SHAPES = [(1, 32, 48), (2, 19, 33), (1, 1, 1), (3, 14, 70)]
"""Whole tiles and what is left of them, several images, and almost nothing."""


def text_detector() -> onnx.ModelProto:
    """A residual block, squeeze and excitation, a feature pyramid, transposed convolution."""
    g = GraphMaker()

    def conv(x: str, before: int, after: int, kernel: int, **attributes: object) -> str:
        pads = [kernel // 2] * 4
        weight = g.weight(after, before // int(attributes.get("group", 1)), kernel, kernel)
        return g.op("Conv", x, weight, g.weight(after), pads=pads, **attributes)

    x = g.op("Relu", conv("x", 3, 16, 3, strides=[2, 2]))
    x = g.op("Add", x, g.op("Relu", conv(x, 16, 16, 3)))
    y = g.op("HardSwish", conv(x, 16, 16, 5, group=16, strides=[2, 2]))
    s = g.op("GlobalAveragePool", y)
    s = g.op("HardSigmoid", conv(g.op("Relu", conv(s, 16, 4, 1)), 4, 16, 1))
    y = conv(g.op("Mul", y, s), 16, 24, 1)
    y = g.op("Add", y, conv(x, 16, 24, 1, strides=[2, 2]))
    y = g.op("MaxPool", y, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    scales = g.constant(np.array([1, 1, 2, 2], np.float32))
    up = g.op("Resize", y, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric")
    up = g.op("Relu", conv(up, 24, 24, 1))
    size = g.op("Shape", "x")
    channels = g.op("Concat", g.constant(np.array([0])), g.constant(np.array([1])), axis=0)
    lead = g.op("Gather", g.op("Shape", up), channels, axis=0)
    tail = g.op("Slice", size, g.constant(np.array([2])), g.constant(np.array([4])))
    sizes = g.op("Concat", lead, tail, axis=0)
    wide = g.op("Resize", up, "", "", sizes, mode="linear")
    wide = g.op("Concat", wide, conv("x", 3, 8, 1), axis=1)
    out = g.op("ConvTranspose", wide, g.weight(32, 1, 2, 2), strides=[2, 2])
    return g.model({"x": ("n", 3, "h", "w")}, g.op("Sigmoid", out))


@pytest.mark.thorough
@pytest.mark.parametrize("machine", runnable("host", "sse"))
def test_open_images(machine: str):
    """One compiled model is right for every shape."""
    made = text_detector()
    session = onnxruntime.InferenceSession(made.SerializeToString())
    compiled = nnc.compile(made, target=machine)
    for images, height, width in SHAPES:
        x = np.random.default_rng(height).standard_normal((images, 3, height, width)).astype("f4")
        (expected,) = session.run(None, {"x": x})
        np.testing.assert_allclose(compiled(x), expected, atol=3e-6)

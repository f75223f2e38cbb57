"""Matrix products, convolutions, pooling and normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import FLOATS, INTEGERS, Given, Room, numbers, tf

room = Room()
HALF_AND_REAL = ["float32", "float64", "float16", "bfloat16"]
PADDINGS = ["SAME", "VALID"]


@room(
    "MatMul",
    type=[*FLOATS, "int32", "int64"],
    sizes=[[2, 3, 4], [1, 1, 1], [0, 3, 2], [2, 0, 3], [5, 64, 2]],
    a=[False, True],
    b=[False, True],
    known=[False, True],
)
def matmul(rng: Any, op: Any, type: str, sizes: list[int], a: bool, b: bool, known: bool) -> Given:
    m, k, n = sizes
    x = numbers(rng, [k, m] if a else [m, k], type, "unit" if "float" in type else "plain")
    y = numbers(rng, [n, k] if b else [k, n], type, "unit" if "float" in type else "plain")
    how = {"transpose_a": a, "transpose_b": b}
    return ((lambda x: op(x, y, **how)), [x]) if known else ((lambda x, y: op(x, y, **how)), [x, y])


@room(
    "BatchMatMul BatchMatMulV2",
    type=[*FLOATS, "int32", "int64"],
    a=[False, True],
    b=[False, True],
    lead=[[[2], [2]], [[], []], [[3, 1], [2]], [[], [2]], [[0], [0]]],
    sizes=[[2, 3, 4], [1, 1, 1], [2, 0, 3]],
)
def batch_matmul(
    rng: Any, op: Any, type: str, a: bool, b: bool, lead: Any, sizes: list[int]
) -> Given:
    m, k, n = sizes
    how = "unit" if "float" in type else "plain"
    x = numbers(rng, [*lead[0], *([k, m] if a else [m, k])], type, how)
    y = numbers(rng, [*lead[1], *([n, k] if b else [k, n])], type, how)
    return (lambda x, y: op(x, y, adj_x=a, adj_y=b)), [x, y]


@room("BatchMatMulV3", type=["float32", "int8", "uint8", "int32"], to=["int32", "float32"],
      a=[False, True], b=[False, True])  # fmt: skip
def batch_matmul_to(rng: Any, op: Any, type: str, to: str, a: bool, b: bool) -> Given:
    x, y = (
        numbers(rng, [2, 3, 3], type, "odd" if "8" in type else "plain"),
        numbers(rng, [2, 3, 3], type),
    )
    return (lambda x, y: op(x, y, Tout=tf.as_dtype(to), adj_x=a, adj_y=b)), [x, y]


EQUATIONS = {
    "ij,jk->ik": [[2, 3], [3, 4]],
    "ij->ji": [[2, 3]],
    "ij->": [[2, 3]],
    "ii->i": [[3, 3]],
    "bij,bjk->bik": [[2, 2, 3], [2, 3, 2]],
    "...ij,...jk->...ik": [[2, 1, 2, 3], [4, 3, 2]],
    "i,j->ij": [[3], [2]],
    "ij,ij->i": [[2, 3], [2, 3]],
    "abc,cd->abd": [[2, 2, 3], [3, 2]],
    "...i->...": [[2, 3, 2]],
    "ij,kj->ik": [[0, 3], [2, 3]],
    "bhqd,bhkd->bhqk": [[2, 2, 3, 4], [2, 2, 3, 4]],
    "i,i->": [[3], [3]],
    "aij,bij->ab": [[2, 3, 2], [4, 3, 2]],
    "iij->j": [[2, 2, 3]],
}


@room("Einsum", type=[*FLOATS, "int32", "int64"], equation=list(EQUATIONS))
def einsum(rng: Any, op: Any, type: str, equation: str) -> Given:
    how = "unit" if "float" in type else "plain"
    xs = [numbers(rng, shape, type, how) for shape in EQUATIONS[equation]]
    return (lambda *x: op(x, equation=equation)), xs


# -- convolutions ----------------------------------------------------------------------------------


def _each(layout: str, *values: int) -> list[int]:
    return [1, *values, 1] if layout[-1] == "C" else [1, 1, *values]


def _image(rng: Any, batch: int, size: list[int], channels: int, type: str, layout: str) -> Any:
    shape = [batch, *size, channels] if layout[-1] == "C" else [batch, channels, *size]
    return numbers(rng, shape, type, "unit")


def _pads(padding: str, layout: str) -> dict[str, Any]:
    if padding != "EXPLICIT":
        return {"padding": padding}
    space, others = [1, 2, 0, 1], [0, 0]
    pads = [*others, *space, *others] if layout[-1] == "C" else [*others, *others, *space]
    return {"padding": padding, "explicit_paddings": pads}


IMAGES: dict[str, Any] = {
    "size": [[6, 7], [5, 5], [1, 1], [9, 4]],
    "batch": [2, 1, 0],
    "kernel": [[3, 3], [1, 1], [2, 3]],
    "stride": [[1, 1], [2, 2], [1, 3]],
    "dilation": [[1, 1], [2, 1], [2, 3]],
    "padding": [*PADDINGS, "EXPLICIT"],
    "known": [True, False],
}


@room(
    "Conv2D", type=[*HALF_AND_REAL, "int32"], inputs=[3, 1], outputs=[4, 1], groups=[1, 2], **IMAGES
)
def conv(
    rng: Any,
    op: Any,
    type: str,
    inputs: int,
    outputs: int,
    groups: int,
    size: list[int],
    batch: int,
    kernel: list[int],
    stride: list[int],
    dilation: list[int],
    padding: str,
    known: bool,
) -> Given:
    x = _image(rng, batch, size, inputs * groups, type, "NHWC")
    w = numbers(rng, [*kernel, inputs, outputs * groups], type, "unit")
    how = {"strides": [1, *stride, 1], "dilations": [1, *dilation, 1], **_pads(padding, "NHWC")}
    return ((lambda x: op(x, w, **how)), [x]) if known else ((lambda x, w: op(x, w, **how)), [x, w])


@room("DepthwiseConv2dNative", type=HALF_AND_REAL, inputs=[4, 1], times=[1, 2], **IMAGES)
def depthwise(
    rng: Any, op: Any, type: str, inputs: int, times: int, size: list[int], batch: int,
    kernel: list[int], stride: list[int], dilation: list[int], padding: str, known: bool,
) -> Given:  # fmt: skip
    x = _image(rng, batch, size, inputs, type, "NHWC")
    w = numbers(rng, [*kernel, inputs, times], type, "unit")
    how = {"strides": [1, *stride, 1], "dilations": [1, *dilation, 1], **_pads(padding, "NHWC")}
    return ((lambda x: op(x, w, **how)), [x]) if known else ((lambda x, w: op(x, w, **how)), [x, w])


@room("Conv2DBackpropInput", type=HALF_AND_REAL, inputs=[3, 1], outputs=[4, 1], less=[0, 1],
      sizes=["known", "given", "computed"], **IMAGES)  # fmt: skip
def transposed(
    rng: Any,
    op: Any,
    type: str,
    inputs: int,
    outputs: int,
    less: int,
    sizes: str,
    size: list[int],
    batch: int,
    kernel: list[int],
    stride: list[int],
    dilation: list[int],
    padding: str,
    known: bool,
) -> Given:
    """A transposed convolution; `sizes` are those of an image whose convolution has this input's
    size.
    """
    y = [s * d - (less if d > 1 else 0) for s, d in zip(size, stride, strict=True)]
    if padding == "VALID":
        y = [(s - 1) * d + (k - 1) * t + 1 + (less if d > 1 else 0)
             for s, d, k, t in zip(size, stride, kernel, dilation, strict=True)]  # fmt: skip
    if padding == "EXPLICIT":
        y = [
            (s - 1) * d + (k - 1) * t + 1 - p
            for s, d, k, t, p in zip(size, stride, kernel, dilation, [3, 1], strict=True)
        ]
    x = _image(rng, batch, size, outputs, type, "NHWC")
    w = numbers(rng, [*kernel, inputs, outputs], type, "unit")
    how = {"strides": [1, *stride, 1], "dilations": [1, *dilation, 1], **_pads(padding, "NHWC")}
    whole = np.array([batch, *y, inputs], np.int32)
    if sizes == "computed":
        return (lambda x: op(tf.stack([tf.shape(x)[0], *y, inputs]), w, x, **how)), [x]
    if sizes == "given":
        return (lambda s, x: op(s, w, x, **how)), [whole, x]
    return ((lambda x: op(whole, w, x, **how)), [x]) if known else (
        (lambda w, x: op(whole, w, x, **how)), [w, x])  # fmt: skip


@room(
    "Conv3D",
    type=HALF_AND_REAL,
    size=[[3, 5, 4], [2, 2, 2]],
    batch=[2, 0],
    kernel=[[2, 3, 3], [1, 1, 1]],
    stride=[[1, 1, 1], [1, 2, 2]],
    dilation=[[1, 1, 1], [1, 2, 1]],
    padding=PADDINGS,
)
def conv_3d(
    rng: Any, op: Any, type: str, size: list[int], batch: int, kernel: list[int], stride: list[int],
    dilation: list[int], padding: str,
) -> Given:  # fmt: skip
    x = _image(rng, batch, size, 2, type, "NDHWC")
    w = numbers(rng, [*kernel, 2, 3], type, "unit")
    how = {"strides": [1, *stride, 1], "dilations": [1, *dilation, 1], "padding": padding}
    return (lambda x: op(x, w, **how)), [x]


@room("Conv3DBackpropInputV2", type=HALF_AND_REAL, size=[[3, 5, 4], [2, 2, 2]], batch=[2, 0],
      kernel=[[2, 3, 3], [1, 1, 1]], stride=[[1, 1, 1], [1, 2, 2]], padding=PADDINGS,
      sizes=["known", "computed"])  # fmt: skip
def transposed_3d(
    rng: Any, op: Any, type: str, size: list[int], batch: int, kernel: list[int], stride: list[int],
    padding: str, sizes: str,
) -> Given:  # fmt: skip
    y = [s * d for s, d in zip(size, stride, strict=True)]
    if padding == "VALID":
        y = [(s - 1) * d + k for s, d, k in zip(size, stride, kernel, strict=True)]
    x, w = _image(rng, batch, size, 3, type, "NDHWC"), numbers(rng, [*kernel, 2, 3], type, "unit")
    how = {"strides": [1, *stride, 1], "padding": padding}
    if sizes == "computed":
        return (lambda x: op(tf.stack([tf.shape(x)[0], *y, 2]), w, x, **how)), [x]
    return (lambda x: op([batch, *y, 2], w, x, **how)), [x]


# -- pooling and normalization ---------------------------------------------------------------------

WINDOWS: dict[str, Any] = {
    "size": [[6, 7], [5, 5], [1, 1], [9, 4]],
    "batch": [2, 0],
    "kernel": [[2, 2], [3, 3], [1, 1], [1, 4], [7, 7]],
    "stride": [[1, 1], [2, 2], [3, 1]],
    "values": ["unit", "odd"],
}


@room("MaxPool AvgPool", type=[*FLOATS, *INTEGERS], padding=[*PADDINGS, "EXPLICIT"], **WINDOWS)
def pooled(
    rng: Any, op: Any, type: str, padding: str, size: list[int], batch: int, kernel: list[int],
    stride: list[int], values: str,
) -> Given:  # fmt: skip
    x = numbers(rng, [batch, *size, 3], type, values if "float" in type else "plain")
    how = {"ksize": [1, *kernel, 1], "strides": [1, *stride, 1], **_pads(padding, "NHWC")}
    return (lambda x: op(x, **how)), [x]


@room(
    "MaxPoolWithArgmax",
    type=FLOATS,
    padding=PADDINGS,
    out=["int64", "int32"],
    whole=[False, True],
    **WINDOWS,
)
def pooled_with_places(
    rng: Any, op: Any, type: str, padding: str, out: str, whole: bool, size: list[int], batch: int,
    kernel: list[int], stride: list[int], values: str,
) -> Given:  # fmt: skip
    x = numbers(rng, [batch, *size, 3], type, "ties" if values == "odd" else values)
    how = {"ksize": [1, *kernel, 1], "strides": [1, *stride, 1], "padding": padding}
    how |= {"Targmax": tf.as_dtype(out), "include_batch_in_index": whole}
    return (lambda x: op(x, **how)), [x]


@room(
    "MaxPool3D AvgPool3D",
    type=FLOATS,
    padding=PADDINGS,
    batch=[2, 0],
    kernel=[[2, 2, 2], [1, 3, 3]],
    stride=[[1, 1, 1], [2, 1, 2]],
    values=["unit", "odd"],
)
def pooled_3d(
    rng: Any, op: Any, type: str, padding: str, batch: int, kernel: list[int], stride: list[int],
    values: str,
) -> Given:  # fmt: skip
    x = numbers(rng, [batch, 3, 5, 4, 2], type, values)
    how = {"ksize": [1, *kernel, 1], "strides": [1, *stride, 1], "padding": padding}
    return (lambda x: op(x, **how)), [x]


@room(
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    type=["float32", "float16", "bfloat16"],
    training=[False, True],
    factor=[1.0, 0.3],
    epsilon=[1e-3, 1e-5],
    shape=[[2, 4, 5, 3], [1, 1, 1, 3], [0, 2, 2, 3]],
    layout=["NHWC", "NCHW"],
)
def normalized(
    rng: Any, op: Any, type: str, training: bool, factor: float, epsilon: float, shape: list[int],
    layout: str,
) -> Given:  # fmt: skip
    own = "float32" if op.name != "FusedBatchNorm" else type
    size = shape if layout == "NHWC" else [shape[0], shape[3], *shape[1:3]]
    scale, offset, mean = (numbers(rng, [3], own) for _ in range(3))
    spread = numbers(rng, [3], own, "positive")
    if training and factor == 1.0:
        mean = spread = np.zeros(0, scale.dtype)
    how = {"epsilon": epsilon, "is_training": training, "data_format": layout}
    how |= {"exponential_avg_factor": factor} if training else {}

    def run(x: Any) -> Any:
        return tuple(op(x, scale, offset, mean, spread, **how))[: 3 if training else 1]

    return run, [numbers(rng, size, type)]


@room(
    "LRN",
    type=["float32", "float16", "bfloat16"],
    shape=[[1, 2, 3, 9], [2, 1, 1, 3], [0, 2, 2, 4]],
    radius=[5, 1, 2],
    bias=[1.0, 0.5],
    alpha=[1.0, 0.1],
    beta=[0.5, 0.75, 1.0],
)
def responded(
    rng: Any, op: Any, type: str, shape: list[int], radius: int, bias: float, alpha: float,
    beta: float,
) -> Given:  # fmt: skip
    how = {"depth_radius": radius, "bias": bias, "alpha": alpha, "beta": beta}
    return (lambda x: op(x, **how)), [numbers(rng, shape, type)]


subjects = room.subjects

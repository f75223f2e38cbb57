"""Operators on images: resizing, cropping, colors, and boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import FLOATS, INTEGERS, Given, Room, numbers, positions

room = Room()
SIZES = [[12, 14], [3, 3], [1, 1], [7, 20], [5, 4]]
IMAGES = [[1, 6, 7, 3], [2, 5, 5, 1], [1, 1, 1, 2], [2, 9, 4, 1]]
TYPES = ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "int32", "int64"]


@room("ResizeBilinear ResizeNearestNeighbor ResizeBicubic", type=TYPES, shape=IMAGES, size=SIZES,
      how=[[False, False], [True, False], [False, True]], given=[False, True])  # fmt: skip
def resize(
    rng: Any, op: Any, type: str, shape: list[int], size: list[int], how: list[bool], given: bool
) -> Given:
    x, wanted = numbers(rng, shape, type), np.array(size, np.int32)
    flags = {"align_corners": how[0], "half_pixel_centers": how[1]}
    if given:
        return (lambda x, s: op(x, s, **flags)), [x, wanted]
    return (lambda x: op(x, wanted, **flags)), [x]


@room("ResizeArea", type=TYPES, shape=IMAGES, size=SIZES, corners=[False, True])
def resize_area(
    rng: Any, op: Any, type: str, shape: list[int], size: list[int], corners: bool
) -> Given:
    return (lambda x: op(x, size, align_corners=corners)), [numbers(rng, shape, type)]


@room(
    "ScaleAndTranslate",
    kernel=[
        "lanczos3",
        "lanczos1",
        "lanczos5",
        "gaussian",
        "box",
        "triangle",
        "keyscubic",
        "mitchellcubic",
    ],
    antialias=[True, False],
    shape=IMAGES,
    size=SIZES,
    scale=[[1.7, 0.6], [1.0, 1.0], [0.3, 2.5]],
    shift=[[0.0, 0.0], [1.5, -2.0]],
    type=["float32", "uint8", "int32"],
)
def scaled(
    rng: Any, op: Any, kernel: str, antialias: bool, shape: list[int], size: list[int],
    scale: list[float], shift: list[float], type: str,
) -> Given:  # fmt: skip
    how = {"kernel_type": kernel, "antialias": antialias}
    return (lambda x: op(x, size, scale, shift, **how)), [numbers(rng, shape, type)]


@room(
    "CropAndResize",
    type=["float32", "uint8", "float16", "int32"],
    shape=IMAGES,
    size=[[3, 4], [1, 1], [8, 8]],
    boxes=["inside", "outside", "flipped"],
    count=[3, 0, 1],
    method=["bilinear", "nearest"],
    fill=[0.0, 2.5],
)
def crop(
    rng: Any, op: Any, type: str, shape: list[int], size: list[int], boxes: str, count: int,
    method: str, fill: float,
) -> Given:  # fmt: skip
    low, high = (-0.5, 1.5) if boxes == "outside" else (0.0, 1.0)
    where = rng.uniform(low, high, [count, 4]).astype(np.float32)
    if boxes == "inside":
        where = np.concatenate(
            [np.minimum(where[:, :2], where[:, 2:]), np.maximum(where[:, :2], where[:, 2:])], 1
        )
    of = positions(rng, [count], shape[0])
    how = {"method": method, "extrapolation_value": fill}
    return (lambda x, b, i: op(x, b, i, size, **how)), [numbers(rng, shape, type), where, of]


@room(
    "ImageProjectiveTransformV2 ImageProjectiveTransformV3",
    type=["float32", "uint8", "float16"],
    shape=[[1, 6, 7, 3], [2, 5, 5, 1]],
    size=[[6, 7], [3, 9]],
    mode=["BILINEAR", "NEAREST"],
    fill=["CONSTANT", "REFLECT", "WRAP", "NEAREST"],
    kind=["shift", "turn", "perspective"],
)
def projected(
    rng: Any, op: Any, type: str, shape: list[int], size: list[int], mode: str, fill: str, kind: str
) -> Given:
    transform = {
        "shift": [1, 0, 1.25, 0, 1, -0.75, 0, 0],
        "turn": [0.8, -0.6, 1.3, 0.6, 0.8, 0.2, 0, 0],
        "perspective": [1.1, 0.1, 0.3, 0, 0.9, 0.2, 0.01, 0.02],
    }[kind]
    more = [0.0] if op.name.endswith("3") else []
    how = {"interpolation": mode, "fill_mode": fill}
    rows = np.array([transform], np.float32)
    return (lambda x, t: op(x, t, size, *more, **how)), [numbers(rng, shape, type), rows]


@room("RGBToHSV HSVToRGB", type=FLOATS, shape=[[2, 3, 4, 3], [3], [0, 3]], values=["unit", "gray"])
def colors(rng: Any, op: Any, type: str, shape: list[int], values: str) -> Given:
    x = np.abs(numbers(rng, shape, type, "unit"))
    return op, [x * 0 + x[..., :1] if values == "gray" else x]


@room(
    "AdjustHue AdjustSaturation AdjustContrastv2",
    type=["float32", "float16"],
    by=[0.3, 0.0, -0.6, 1.7],
    shape=[[2, 3, 4, 3], [4, 5, 3], [0, 2, 2, 3]],
)
def adjusted(rng: Any, op: Any, type: str, by: float, shape: list[int]) -> Given:
    x = np.abs(numbers(rng, shape, type, "unit"))
    return op, [x, np.array(by, np.float32)]


@room(
    "ExtractImagePatches",
    type=[*FLOATS, *INTEGERS],
    size=[[6, 7], [5, 5]],
    batch=[2, 0],
    kernel=[[2, 3], [1, 1], [3, 3]],
    stride=[[1, 1], [2, 3]],
    rate=[[1, 1], [2, 1]],
    padding=["VALID", "SAME"],
)
def patches(
    rng: Any, op: Any, type: str, size: list[int], batch: int, kernel: list[int], stride: list[int],
    rate: list[int], padding: str,
) -> Given:  # fmt: skip
    how = {
        "ksizes": [1, *kernel, 1],
        "strides": [1, *stride, 1],
        "rates": [1, *rate, 1],
        "padding": padding,
    }
    return (lambda x: op(x, **how)), [numbers(rng, [batch, *size, 2], type)]


@room("ExtractVolumePatches", type=["float32", "float64", "int32"], kernel=[[2, 2, 3], [1, 1, 1]],
      stride=[[1, 1, 1], [1, 2, 2]], padding=["VALID", "SAME"])  # fmt: skip
def volumes(
    rng: Any, op: Any, type: str, kernel: list[int], stride: list[int], padding: str
) -> Given:
    how = {"ksizes": [1, *kernel, 1], "strides": [1, *stride, 1], "padding": padding}
    return (lambda x: op(x, **how)), [numbers(rng, [1, 3, 5, 4, 2], type)]


@room(
    "Dilation2D",
    type=["float32", "float64", "int32", "uint8"],
    kernel=[[2, 3], [1, 1]],
    stride=[[1, 1], [2, 1]],
    rate=[[1, 1], [2, 1]],
    padding=["VALID", "SAME"],
    batch=[2, 0],
)
def dilated(
    rng: Any, op: Any, type: str, kernel: list[int], stride: list[int], rate: list[int],
    padding: str, batch: int,
) -> Given:  # fmt: skip
    how = {"strides": [1, *stride, 1], "rates": [1, *rate, 1], "padding": padding}
    x, w = numbers(rng, [batch, 6, 7, 2], type), numbers(rng, [*kernel, 2], type)
    return (lambda x, w: op(x, w, **how)), [x, w]


# -- boxes -----------------------------------------------------------------------------------------


def _boxes(rng: Any, count: int) -> np.ndarray:
    corner = rng.uniform(0, 5, [count, 2])
    return np.concatenate([corner, corner + rng.uniform(0.5, 4, [count, 2])], 1).astype(np.float32)


@room(
    "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3",
    count=[12, 0, 1],
    most=[4, 0, 30],
    overlap=[0.5, 0.1, 1.0],
    least=[-1e9, 0.0],
    ties=[False, True],
    given=[False, True],
)
def suppressed(
    rng: Any, op: Any, count: int, most: int, overlap: float, least: float, ties: bool, given: bool
) -> Given:
    scores = numbers(rng, [count], "float32", "ties" if ties else "plain")
    xs, limit = [_boxes(rng, count), scores], np.array(most, np.int32)
    late = [limit] if given else []
    more = {"3": [overlap, least], "2": [overlap]}.get(op.name[-1], [])
    how = {} if more else {"iou_threshold": overlap}
    return (lambda b, s, *m: op(b, s, m[0] if m else most, *more, **how)), [*xs, *late]


@room(
    "NonMaxSuppressionV4 NonMaxSuppressionV5",
    count=[12, 0, 1],
    most=[4, 0, 30],
    overlap=[0.5, 0.1],
    least=[-1e9, 0.0],
    pad=[False, True],
    sigma=[0.0, 0.7],
)
def suppressed_padded(
    rng: Any, op: Any, count: int, most: int, overlap: float, least: float, pad: bool, sigma: float
) -> Given:
    xs = [_boxes(rng, count), numbers(rng, [count], "float32", "positive")]
    more = [sigma] if op.name.endswith("5") else []
    how = {"pad_to_max_output_size": pad}
    return (lambda b, s: op(b, s, most, overlap, least, *more, **how)), xs


@room(
    "CombinedNonMaxSuppression",
    batch=[2, 1],
    count=[8, 1],
    classes=[3, 1],
    own=[False, True],
    each=[4, 1],
    total=[5, 20],
    overlap=[0.5, 0.1],
    pad=[False, True],
    clip=[True, False],
)
def combined(
    rng: Any, op: Any, batch: int, count: int, classes: int, own: bool, each: int, total: int,
    overlap: float, pad: bool, clip: bool,
) -> Given:  # fmt: skip
    many = classes if own else 1
    boxes = np.stack([_boxes(rng, count * many) / 9 for _ in range(batch)]).reshape(
        batch, count, many, 4
    )
    scores = numbers(rng, [batch, count, classes], "float32", "positive")
    how = {"pad_per_class": pad, "clip_boxes": clip}
    return (lambda b, s: op(b, s, each, total, overlap, 0.2, **how)), [boxes, scores]


subjects = room.subjects

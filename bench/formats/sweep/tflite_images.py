"""TensorFlow Lite's pooling, resizing, and conversions between space, depth and batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .cases import Subject
from .tflite_case import ACTIVATIONS, IMAGES, OPEN, STEPS, TYPES, Build, Built, activation, subject


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""

    def pool(kind: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            (h, w), (sh, sw) = b.config["kernel"], b.config["stride"]
            x = b.x(b.config["shape"])
            out = b.out(like=x)
            return b.w.operator(
                kind,
                [x],
                [out],
                "Pool2DOptions",
                version=3,
                filterHeight=h,
                filterWidth=w,
                strideH=sh,
                strideW=sw,
                padding=["SAME", "VALID"].index(b.config["padding"]),
                fusedActivationFunction=activation(b),
            )

        return build

    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        choices = {
            "type": TYPES if kind != "L2_POOL_2D" else ["f32"],
            "shape": IMAGES[:4],
            "kernel": [[2, 2], [3, 3], [1, 1], [1, 4], [7, 7]],
            "stride": [[1, 1], [2, 2], [3, 1]],
            "padding": ["SAME", "VALID"],
            "activation": list(ACTIVATIONS),
            "open": OPEN,
            "steps": STEPS,
        }

        def fits(c: Any) -> Any:
            return c["padding"] == "SAME" or all(
                k <= s for k, s in zip(c["kernel"], c["shape"][1:3], strict=True)
            )

        yield subject(kind, choices, pool(kind), fits)

    def resize(kind: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            x = b.x(b.config["shape"])
            options = "ResizeBilinearOptions" if "BI" in kind else "ResizeNearestNeighborOptions"
            corners, centers = b.config["how"]
            size = b.ints(*b.config["size"])
            return b.w.operator(
                kind,
                [x, size],
                [b.out(like=x)],
                options,
                version=4,
                alignCorners=corners,
                halfPixelCenters=centers,
            )

        return build

    for kind in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        choices = {
            "type": TYPES,
            "shape": IMAGES[:4],
            "open": OPEN,
            "steps": STEPS,
            "size": [[12, 14], [3, 3], [1, 1], [7, 20], [5, 4]],
            "how": [[False, False], [True, False], [False, True], [True, True]],
        }
        yield subject(kind, choices, resize(kind))

    def simple(kind: str, options: str, **fields: Any) -> Subject:
        def build(b: Built) -> Sequence[int]:
            x = b.x(b.config["shape"])
            return b.w.operator(kind, [x], [b.out(like=x)], options, version=2, **fields)

        shapes = [[1, 4, 6, 8], [2, 2, 2, 4], [0, 2, 4, 4]]
        return subject(
            kind, {"type": [*TYPES, "i32"], "shape": shapes, "open": OPEN, "steps": STEPS}, build
        )

    yield simple("SPACE_TO_DEPTH", "SpaceToDepthOptions", blockSize=2)
    yield simple("DEPTH_TO_SPACE", "DepthToSpaceOptions", blockSize=2)

    def response(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"], "f32")
        fields = {
            "radius": b.config["radius"],
            "bias": 1.5,
            "alpha": b.config["alpha"],
            "beta": b.config["beta"],
        }
        return b.w.operator(
            "LOCAL_RESPONSE_NORMALIZATION",
            [x],
            [b.out()],
            "LocalResponseNormalizationOptions",
            **fields,
        )

    choices = {
        "shape": IMAGES[:4],
        "radius": [1, 2, 5],
        "alpha": [0.7, 0.0],
        "beta": [0.5, 1.0],
        "open": OPEN,
    }
    yield subject("LOCAL_RESPONSE_NORMALIZATION", choices, response)

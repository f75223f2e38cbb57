"""TensorFlow Lite's convolutions and products of matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .cases import Config, Subject
from .tflite_case import ACTIVATIONS, OPEN, ROUNDING, STEPS, Built, activation, subject, values

WEIGHTED = ["f32", "i8", "u8", "i16", "f16 weights", "dynamic"]


def _conv_choices(**more: Any) -> dict[str, Any]:
    return {
        "type": WEIGHTED,
        "size": [[6, 7], [5, 5], [1, 1], [9, 4]],
        "batch": [1, 2, 3],
        "kernel": [[3, 3], [1, 1], [2, 3], [1, 5]],
        "stride": [[1, 1], [2, 2], [1, 3]],
        "padding": ["SAME", "VALID"],
        "activation": list(ACTIVATIONS),
        "bias": [True, False],
        "channels": ["each", "one"],
        "open": ["none", "batch", "all"],
        "steps": STEPS,
        **more,
    }


def _fits(config: Config) -> bool:
    dilation = config.get("dilation", [1, 1])
    reach = [(k - 1) * d + 1 for k, d in zip(config["kernel"], dilation, strict=True)]
    if config["padding"] == "VALID" and any(
        r > s for r, s in zip(reach, config["size"], strict=True)
    ):
        return False
    if config["type"] == "u8" and config.get("channels") == "each":
        return False
    has_groups = config.get("groups", 1) > 1 or "multiplier" in config
    if config["type"] == "dynamic" and config["channels"] == "one" and has_groups:
        return False
    return not ("groups" in config and not config["bias"])


def _convolutions() -> Iterator[Subject]:
    def windows(b: Built) -> dict[str, Any]:
        (h, w), padding = b.config["stride"], ["SAME", "VALID"].index(b.config["padding"])
        found = {"padding": padding, "strideH": h, "strideW": w}
        if "dilation" in b.config:
            found |= dict(
                zip(("dilationHFactor", "dilationWFactor"), b.config["dilation"], strict=True)
            )
        return found | {"fusedActivationFunction": activation(b)}

    def open_channels(b: Built, shape: Sequence[int]) -> int:
        """The input, whose channels are known."""
        value, where = values(b.rng, shape, b.element), b.config["open"]
        axes = {"none": (), "batch": (0,), "all": tuple(range(len(shape) - 1))}[where]
        return b.w.input(value, b.element, axes, **b.steps())

    def conv(b: Built) -> Sequence[int]:
        inner, groups = b.config["inputs"], b.config["groups"]
        x = open_channels(b, [b.config["batch"], *b.config["size"], inner * groups])
        weight, bias = b.weight([b.config["outputs"] * groups, *b.config["kernel"], inner], 0, x)
        operands = [x, weight] + ([] if bias is None else [bias])
        return b.w.operator(
            "CONV_2D", operands, [b.out()], "Conv2DOptions", version=5, **windows(b)
        )

    dilations = [[1, 1], [2, 1], [2, 3]]
    more = {"dilation": dilations, "inputs": [3, 1, 8, 17], "outputs": [4, 1, 19], "groups": [1, 2]}
    yield subject("CONV_2D", _conv_choices(**more), conv, _fits)

    def depthwise(b: Built) -> Sequence[int]:
        inner, times = b.config["inputs"], b.config["multiplier"]
        x = open_channels(b, [b.config["batch"], *b.config["size"], inner])
        weight, bias = b.weight([1, *b.config["kernel"], inner * times], 3, x)
        operands = [x, weight] + ([] if bias is None else [bias])
        return b.w.operator(
            "DEPTHWISE_CONV_2D",
            operands,
            [b.out()],
            "DepthwiseConv2DOptions",
            version=6,
            depthMultiplier=times,
            **windows(b),
        )

    more = {"dilation": dilations, "inputs": [4, 1, 17], "multiplier": [1, 2]}
    yield subject("DEPTHWISE_CONV_2D", _conv_choices(**more), depthwise, _fits)

    def transposed(b: Built) -> Sequence[int]:
        (h, w), (kh, kw), (sh, sw) = b.config["size"], b.config["kernel"], b.config["stride"]
        inner, outer = b.config["inputs"], b.config["outputs"]
        x = open_channels(b, [b.config["batch"], h, w, inner])
        if b.config["padding"] == "SAME":
            extents = h * sh - (b.config["less"] if sh > 1 else 0), w * sw
        else:
            extents = (h - 1) * sh + kh, (w - 1) * sw + kw
        if b.config["open"] == "none":
            shape = b.ints(b.config["batch"], *extents, outer)
        else:
            shape = _shape_with_batch(b, x, [*extents, outer])
        weight, bias = b.weight([outer, kh, kw, inner], 0, x)
        operands = [shape, weight, x] + ([] if bias is None else [bias])
        return b.w.operator(
            "TRANSPOSE_CONV", operands, [b.out()], "TransposeConvOptions", version=4, **windows(b)
        )

    more = {"inputs": [3, 8], "outputs": [4, 1, 17], "less": [0, 1]}
    choices = _conv_choices(**more)
    choices["open"] = ["none", "batch", "all"]
    yield subject("TRANSPOSE_CONV", choices, transposed, _fits)

    def volume(b: Built, kind: str) -> Sequence[int]:
        back = kind == "CONV_3D_TRANSPOSE"
        (h, w), (kh, kw), (sh, sw) = b.config["size"], b.config["kernel"], b.config["stride"]
        inner, outer = b.config["inputs"], b.config["outputs"]
        x = open_channels(b, [b.config["batch"], 3, h, w, inner])
        order = [2, kh, kw, outer, inner] if back else [2, kh, kw, inner, outer]
        weight, bias = b.weight(order, 3 if back else 4, x)
        same = b.config["padding"] == "SAME"
        fields = {
            "padding": 1 - same,
            "strideD": 1,
            "strideH": sh,
            "strideW": sw,
            "dilationDFactor": 1,
        }
        fields |= {
            "dilationHFactor": 1,
            "dilationWFactor": 1,
            "fusedActivationFunction": activation(b),
        }
        operands = [x, weight]
        if back:
            extents = [3, h * sh, w * sw] if same else [4, (h - 1) * sh + kh, (w - 1) * sw + kw]
            if b.config["open"] == "none":
                shape = b.ints(b.config["batch"], *extents, outer)
            else:
                shape = _shape_with_batch(b, x, [*extents, outer])
            operands = [shape, weight, x]
        operands += [] if bias is None else [bias]
        return b.w.operator(kind, operands, [b.out()], "Conv3DOptions", **fields)

    for kind in ("CONV_3D", "CONV_3D_TRANSPOSE"):
        choices = _conv_choices(inputs=[3, 2], outputs=[4, 1]) | {"type": ["f32", "f16 weights"]}
        yield subject(kind, choices, lambda b, kind=kind: volume(b, kind), _fits)


def _shape_with_batch(b: Built, x: int, rest: Sequence[int]) -> int:
    """The tensor number of a shape whose first extent, computed at run time, is that of `x`."""
    shape, first, whole = (b.w.tensor(s, "i32") for s in ((len(rest) + 1,), (1,), (len(rest) + 1,)))
    b.w.operator("SHAPE", [x], [shape], "ShapeOptions", outType=2)
    b.w.operator(
        "STRIDED_SLICE", [shape, b.ints(0), b.ints(1), b.ints(1)], [first], "StridedSliceOptions"
    )
    b.w.operator("CONCATENATION", [first, b.ints(*rest)], [whole], "ConcatenationOptions", axis=0)
    return whole


def _matrices() -> Iterator[Subject]:
    def dense(b: Built) -> Sequence[int]:
        shape, units = b.config["shape"], b.config["units"]
        value, where = values(b.rng, shape, b.element), b.config["open"]
        axes = {"none": (), "batch": (0,), "all": tuple(range(len(shape) - 1))}[where]
        x = b.w.input(value, b.element, axes if len(shape) > 1 else (), **b.steps())
        weight, bias = b.weight([units, shape[-1]], 0, x)
        operands = [x, weight] + ([-1] if bias is None else [bias])
        return b.w.operator(
            "FULLY_CONNECTED",
            operands,
            [b.out()],
            "FullyConnectedOptions",
            version=9,
            fusedActivationFunction=activation(b),
            keepNumDims=b.config["keep"],
            **b.asked_rounding(),
        )

    choices = {
        "type": WEIGHTED,
        "shape": [[2, 7], [1, 16], [2, 3, 5], [9], [3, 600], [1, 2, 2, 4]],
        "units": [4, 1, 33],
        "bias": [True, False],
        "channels": ["one", "each"],
        "activation": [*ACTIVATIONS, "tanh"],
        "keep": [False, True],
        "rounding": ROUNDING,
        "open": OPEN,
        "steps": STEPS,
    }

    def fits(c: Any) -> Any:
        is_real = c["type"] in ("f32", "f16 weights", "dynamic")
        return not (c["type"] == "u8" and c["channels"] == "each") and (
            is_real or c["activation"] != "tanh"
        )

    yield subject("FULLY_CONNECTED", choices, dense, fits)

    def product(b: Built) -> Sequence[int]:
        (first, second), x, y = b.config["shapes"], b.config["x"], b.config["y"]
        lhs = b.x([*first[:-2], *(reversed(first[-2:]) if x else first[-2:])])
        turned = [*second[:-2], *(reversed(second[-2:]) if y else second[-2:])]
        if b.kind == "dynamic":
            rhs = b.weight(turned, len(turned) - 1, lhs)[0]
        else:
            rhs = b.constant(turned) if b.config["constant"] else b.x(turned)
        fields = {"adjX": x, "adjY": y, **b.asked_rounding()}
        return b.w.operator(
            "BATCH_MATMUL", [lhs, rhs], [b.out()], "BatchMatMulOptions", version=4, **fields
        )

    pairs = [
        [[2, 3], [3, 4]],
        [[2, 4, 5], [2, 5, 3]],
        [[2, 2, 3], [3, 5]],
        [[1, 2, 3, 64], [4, 2, 64, 2]],
        [[3, 1, 300], [300, 2]],
    ]
    choices = {
        "type": ["f32", "i8", "i16", "dynamic"],
        "channels": ["one"],
        "rounding": ROUNDING,
        "shapes": pairs,
        "x": [False, True],
        "y": [False, True],
        "constant": [False, True],
        "open": OPEN,
        "steps": STEPS,
    }
    yield subject("BATCH_MATMUL", choices, product)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from _convolutions()
    yield from _matrices()

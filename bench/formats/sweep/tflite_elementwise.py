"""TensorFlow Lite's arithmetic, elementwise functions, functions of rows, and casts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .cases import Subject
from .tflite_case import (
    ACTIVATIONS,
    OPEN,
    SHAPES,
    STEPS,
    TYPES,
    Build,
    Built,
    activation,
    steps_of,
    subject,
    values,
)
from .tflite_files import QUANTIZED, number_of

PAIRS = [
    [[2, 3, 4], [2, 3, 4]],
    [[2, 3, 4], [4]],
    [[1], [3, 5]],
    [[2, 1, 4], [3, 1]],
    [[], [2, 2]],
    [[0, 3], [3]],
    [[1, 4, 4, 8], [1, 1, 1, 8]],
    [[2, 2, 3, 2, 3], [3, 1, 3]],
]


def _large(b: Built, shape: Sequence[int], steps: Mapping[str, Any]) -> np.ndarray | None:
    """Dividends that are not near 0; None for floats.

    For small quotients, kernels shift by more than 31 bits, which is undefined in C.
    """
    found = values(b.rng, shape, b.element)
    if b.element not in QUANTIZED:
        return found
    about = np.iinfo(found.dtype)
    middle, reach = steps["zero"], (int(about.max) - int(about.min)) // 3
    wide = found.astype(np.int64)
    far = np.where(
        wide < middle, np.minimum(wide, middle - reach), np.maximum(wide, middle + reach)
    )
    inside = np.where(far > about.max, about.min, np.where(far < about.min, about.max, far))
    return inside.astype(found.dtype)


def _binary(kind: str, types: Sequence[str], options: str, activated: bool, truth: bool) -> Subject:
    choices: dict[str, Any] = {
        "type": types,
        "shapes": PAIRS,
        "open": OPEN,
        "constant": [False, True],
    }
    if set(types) & set(QUANTIZED):
        choices["steps"] = STEPS
    if activated:
        choices["activation"] = list(ACTIVATIONS)
    if kind == "ATAN2":  # whose kernels read behind operands that broadcast
        choices["shapes"] = [pair for pair in PAIRS if pair[0] == pair[1]] + [[[3, 5], [3, 5]]]
    same = kind in ("MAXIMUM", "MINIMUM")

    def build(b: Built) -> Sequence[int]:
        first, second = b.config["shapes"]
        steps = b.steps() if b.element in QUANTIZED else {}
        x = b.x(first, data=_large(b, first, steps) if kind == "DIV" else None, **steps)
        if kind in ("DIV", "FLOOR_MOD", "FLOOR_DIV") and b.element in ("i32", "i64", *QUANTIZED):
            about = steps_of(b.rng, b.element, b.config.get("steps", "plain"))
            divisor = values(b.rng, second, b.element)
            divisor = np.where(divisor == about.get("zero", 0), divisor + 1, divisor)
            if b.config["constant"]:
                y = b.w.constant(divisor, b.element, **about)
            else:
                y = b.x(second, data=divisor, **(about or {"scale": None}))
        elif b.config["constant"]:
            y = b.constant(second, **(steps if same else {}))
        else:
            y = b.x(second, **(steps if same else {}))
        out = b.out("bool") if truth else b.out(like=x if same else None)
        fields = {"fusedActivationFunction": activation(b)} if activated else {}
        if b.element == "i16" and kind in ("ADD", "SUB"):
            fields["potScaleInt16"] = False
        return b.w.operator(kind, [x, y], [out], options, _version(kind), **fields)

    return subject(kind, choices, build)


def _binaries() -> Iterator[Subject]:
    numbers = ["f32", "i8", "u8", "i16", "i32", "i64"]
    for kind in ("ADD", "SUB", "MUL", "DIV"):
        yield _binary(kind, numbers, f"{kind.title()}Options", True, False)
    for kind in ("MAXIMUM", "MINIMUM"):
        yield _binary(kind, numbers, "MaximumMinimumOptions", False, False)
    yield _binary(
        "SQUARED_DIFFERENCE", ["f32", "i8", "i32"], "SquaredDifferenceOptions", False, False
    )
    yield _binary("FLOOR_DIV", ["f32", "i32"], "FloorDivOptions", False, False)
    yield _binary("FLOOR_MOD", ["f32", "i32", "i64"], "FloorModOptions", False, False)
    yield _binary("POW", ["f32"], "PowOptions", False, False)
    yield _binary("ATAN2", ["f32"], "", False, False)
    for kind in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        options = "".join(part.title() for part in kind.split("_")) + "Options"
        yield _binary(kind, numbers, options, False, True)
    for kind in ("LOGICAL_AND", "LOGICAL_OR"):
        yield _binary(kind, ["bool"], f"Logical{kind[8:].title()}Options", False, False)


_OLD = [
    "ELU",
    "RELU_N1_TO_1",
    "RELU_0_TO_1",
    "HARD_SWISH",
    "NEG",
    "ZEROS_LIKE",
    "SIN",
    "COS",
    "SQUARE",
    "FLOOR",
    "CEIL",
    "ROUND",
    "LOGICAL_NOT",
    "LOGICAL_AND",
    "LOGICAL_OR",
    "POW",
    "ATAN2",
    "SIGN",
]
"""Operators that have only one version."""


def _version(kind: str) -> int:
    return 1 if kind in _OLD else 2


FIXED = {"LOGISTIC": (1 / 256, 1 / 256, 1 / 32768), "TANH": (1 / 128, 1 / 128, 1 / 32768)}
"""The scales of results that kernels require, for i8, u8 and i16."""
UNARY: dict[str, tuple[str, list[str]]] = {
    "RELU": ("", TYPES),
    "RELU6": ("", TYPES),
    "RELU_N1_TO_1": ("", ["f32", "i8", "u8"]),
    "RELU_0_TO_1": ("", ["f32", "i8", "u8"]),
    "LOGISTIC": ("", TYPES),
    "TANH": ("", TYPES),
    "LEAKY_RELU": ("LeakyReluOptions", TYPES),
    "HARD_SWISH": ("HardSwishOptions", ["f32", "i8", "u8"]),
    "ELU": ("", ["f32", "i8"]),
    "GELU": ("GeluOptions", TYPES),
    "EXP": ("ExpOptions", ["f32", "i8", "i16"]),
    "ABS": ("AbsOptions", ["f32", "i8", "i16", "i32"]),
    "NEG": ("NegOptions", ["f32", "i32", "i64"]),
    "SQRT": ("", ["f32", "i8", "i16"]),
    "RSQRT": ("", ["f32", "i8", "i16"]),
    "LOG": ("", ["f32", "i8", "i16"]),
    "SIN": ("", ["f32"]),
    "COS": ("CosOptions", ["f32"]),
    "SQUARE": ("SquareOptions", ["f32"]),
    "FLOOR": ("", ["f32"]),
    "CEIL": ("", ["f32"]),
    "ROUND": ("", ["f32"]),
    "SIGN": ("", ["f32"]),
    "LOGICAL_NOT": ("LogicalNotOptions", ["bool"]),
    "ZEROS_LIKE": ("ZerosLikeOptions", ["f32", "i32", "i64"]),
}


def _unary(kind: str) -> Subject:
    options, types = UNARY[kind]
    choices: dict[str, Any] = {
        "type": types,
        "shape": SHAPES,
        "open": OPEN,
        "steps": STEPS,
        "outs": STEPS,
    }
    if kind == "LEAKY_RELU":
        choices["alpha"] = [0.1, 0.0, 1.5, -0.3]
    if kind == "GELU":
        choices["approximate"] = [False, True]

    def build(b: Built) -> Sequence[int]:
        data, steps = values(b.rng, b.config["shape"], b.element), b.steps()
        if kind in ("SQRT", "RSQRT", "LOG") and b.element != "f32":
            data = np.maximum(data, steps["zero"] + 1)
        elif kind in ("SQRT", "RSQRT", "LOG"):
            data = np.abs(data) + 0.1
        x = b.x(data.shape, data=data, **steps)
        about = b.steps(b.config["outs"])
        if kind in FIXED and b.element in QUANTIZED:
            at = QUANTIZED.index(b.element)
            zero = {"LOGISTIC": (-128, 0, 0), "TANH": (0, 128, 0)}[kind][at]
            about = {"scale": FIXED[kind][at], "zero": zero}
        fields = {key: b.config[key] for key in ("alpha", "approximate") if key in b.config}
        return b.w.operator(kind, [x], [b.out(**about)], options, _version(kind), **fields)

    # What tanh of 32 bits gives depends on the C library of the kernels.
    def exact(c: Any) -> Any:
        return not c.get("approximate") or c["type"] in ("i8", "u8")

    return subject(kind, choices, build, exact)


def _rows(kind: str) -> Subject:
    """A subject for functions of the last dimension."""
    types = {"SOFTMAX": TYPES, "LOG_SOFTMAX": TYPES[:3], "L2_NORMALIZATION": TYPES[:3]}[kind]
    choices: dict[str, Any] = {
        "type": types,
        "shape": [[2, 3, 4], [7], [1, 40], [3, 1], [2, 0], [1, 4, 4, 8], [4, 300]],
        "open": OPEN,
        "steps": STEPS,
    }
    if kind == "SOFTMAX":
        choices["beta"] = [1.0, 0.5, 2.5]
    scales: dict[str, dict[str, dict[str, Any]]] = {
        "SOFTMAX": {
            "i8": {"scale": 1 / 256, "zero": -128},
            "u8": {"scale": 1 / 256, "zero": 0},
            "i16": {"scale": 1 / 32768},
        },
        "LOG_SOFTMAX": {
            "i8": {"scale": 16 / 256, "zero": 127},
            "u8": {"scale": 16 / 256, "zero": 255},
        },
        "L2_NORMALIZATION": {"i8": {"scale": 1 / 128}, "u8": {"scale": 1 / 128, "zero": 128}},
    }

    def build(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"])
        out = b.out(**scales[kind].get(b.element, {}))
        options = {"SOFTMAX": "SoftmaxOptions", "LOG_SOFTMAX": "LogSoftmaxOptions"}.get(
            kind, "L2NormOptions"
        )
        fields = {"beta": b.config["beta"]} if kind == "SOFTMAX" else {}
        return b.w.operator(kind, [x], [out], options, version=2, **fields)

    return subject(kind, choices, build)


def _bits() -> Iterator[Subject]:
    """Subjects for sums of many operands, and for operations on bits."""

    def add_all(b: Built) -> Sequence[int]:
        parts = [b.x(b.config["shape"]) for _ in range(b.config["count"])]
        return b.w.operator("ADD_N", parts, [b.out()], "AddNOptions")

    counts = {"type": ["f32", "i32"], "shape": SHAPES, "count": [2, 1, 5], "open": OPEN}
    yield subject("ADD_N", counts, add_all)

    def pair(kind: str, options: str) -> Build:
        def build(b: Built) -> Sequence[int]:
            first, second = b.config["shapes"]
            x, y = values(b.rng, first, b.element), values(b.rng, second, b.element)
            if kind == "RIGHT_SHIFT":
                y = np.abs(y.astype(np.int64)) % 7
            operands = [b.x(first, data=x, scale=None), b.x(second, data=y, scale=None)]
            return b.w.operator(kind, operands, [b.out(scale=None)], options)

        return build

    kinds = ["i8", "u8", "i16", "i32"]
    more = {"type": kinds, "shapes": PAIRS, "open": OPEN}
    yield subject("RIGHT_SHIFT", more, pair("RIGHT_SHIFT", "RightShiftOptions"))
    more = {"type": [*kinds, "bool"], "shapes": PAIRS, "open": OPEN}
    yield subject("BITWISE_XOR", more, pair("BITWISE_XOR", "BitwiseXorOptions"))

    def bits(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"], scale=None)
        return b.w.operator("BITCAST", [x], [b.out(b.config["to"], scale=None)], "BitcastOptions")

    kinds = ["f32", "i32", "i8", "u8", "i16", "u32"]
    sizes = [[2, 4], [4], [3, 2]]
    yield subject("BITCAST", {"type": kinds, "to": kinds, "shape": sizes, "open": OPEN}, bits)

    def fake(b: Built) -> Sequence[int]:
        low, high = b.config["range"]
        fields = {"min": low, "max": high, "numBits": b.config["bits"]}
        fields["narrowRange"] = b.config["narrow"]
        x = b.x(b.config["shape"])
        return b.w.operator("FAKE_QUANT", [x], [b.out()], "FakeQuantOptions", 2, **fields)

    more = {
        "shape": SHAPES,
        "range": [[-1.0, 2.0], [0.0, 3.0], [-2.0, 0.0], [0.1, 1.0], [-1.37, -0.2]],
        "bits": [8, 4, 16],
        "narrow": [False, True],
        "open": OPEN,
    }
    yield subject("FAKE_QUANT", more, fake)


def _quantize() -> Iterator[Subject]:
    def quantize(b: Built) -> Sequence[int]:
        kind, to = b.config["type"], b.config["to"]
        x = b.x(b.config["shape"]) if kind != "f32" else b.x(b.config["shape"], "f32")
        about = steps_of(b.rng, to, b.config["outs"])
        return b.w.operator("QUANTIZE", [x], [b.out(to, **about)], "QuantizeOptions", version=2)

    choices = {
        "type": TYPES,
        "to": ["i8", "u8", "i16"],
        "shape": SHAPES,
        "open": OPEN,
        "steps": STEPS,
        "outs": STEPS,
    }
    yield subject("QUANTIZE", choices, quantize)

    def dequantize(b: Built) -> Sequence[int]:
        x = b.x(b.config["shape"])
        return b.w.operator("DEQUANTIZE", [x], [b.w.tensor(())], "DequantizeOptions", version=2)

    choices = {"type": ["i8", "u8", "i16", "f16"], "shape": SHAPES, "open": OPEN, "steps": STEPS}
    yield subject("DEQUANTIZE", choices, dequantize)

    def prelu(b: Built) -> Sequence[int]:
        shape = b.config["shape"]
        x = b.x(shape)
        slopes = [shape[-1]] if b.config["slopes"] == "last" else shape[1:]
        kind = "i8" if b.element == "i16" else b.element
        slope = b.constant(slopes, kind, **steps_of(b.rng, kind, b.config["steps"]))
        return b.w.operator("PRELU", [x, slope], [b.out()], "")

    choices = {
        "type": TYPES,
        "shape": [[2, 3, 4], [1, 4, 4, 8], [2, 5]],
        "slopes": ["last", "all"],
        "open": OPEN,
        "steps": STEPS,
    }
    yield subject("PRELU", choices, prelu)

    def cast(b: Built) -> Sequence[int]:
        data = values(b.rng, b.config["shape"], b.element)
        x = b.x(data.shape, data=np.abs(data) if b.config["to"] == "u32" else data, scale=None)
        fields = {
            k: number_of(b.config[v]) for k, v in (("inDataType", "type"), ("outDataType", "to"))
        }
        return b.w.operator(
            "CAST", [x], [b.out(b.config["to"], scale=None)], "CastOptions", **fields
        )

    kinds = ["f32", "i32", "i64", "bool", "u32", "f16"]
    yield subject("CAST", {"type": kinds, "to": kinds, "shape": SHAPES, "open": OPEN}, cast)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from _binaries()
    yield from map(_unary, UNARY)
    yield from map(_rows, ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION"))
    yield from _bits()
    yield from _quantize()

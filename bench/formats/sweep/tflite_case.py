"""Common parts of TensorFlow Lite's subjects: types, quantization, operands, the
kernels' results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Config, Made, Subject, UnmakableError
from .tflite_files import DEFAULT, KINDS, OPTIMIZED, QUANTIZED, REFERENCE, Writer, kernels, write

ACTIVATIONS = {"none": 0, "relu": 1, "relu1": 2, "relu6": 3}
STEPS = ["plain", "odd", "fine", "coarse"]
MOVED = ["f32", "i8", "u8", "i16", "i32", "i64", "bool"]
TYPES = ["f32", "i8", "u8", "i16"]
OPEN = ["none", "batch", "all"]
ROUNDING = ["symmetric", "asymmetric"]
SHAPES = [[2, 3, 4], [1], [], [0, 3], [5, 1, 7], [1, 4, 4, 8], [40]]
IMAGES = [[1, 6, 7, 4], [2, 5, 5, 3], [1, 1, 1, 8], [3, 9, 4, 1], [0, 4, 4, 2]]


def steps_of(rng: np.random.Generator, kind: str, name: str) -> dict[str, Any]:
    """A scale and a zero point, as keyword arguments; none for floats."""
    if kind not in QUANTIZED:
        return {}
    low, high = {"i8": (-128, 127), "u8": (0, 255), "i16": (0, 0)}[kind]
    middle = {"i8": 0, "u8": 128, "i16": 0}[kind]
    size = 1 / 200 if kind == "i16" else 1
    if name == "plain":
        return {"scale": 0.03125 * size, "zero": middle}
    scale = {"odd": rng.uniform(0.01, 0.1), "fine": 0.0021, "coarse": 0.37}[name] * size
    return {"scale": np.float32(scale), "zero": int(rng.integers(low, high + 1))}


def values(rng: np.random.Generator, shape: Sequence[int], kind: str) -> np.ndarray:
    """Random numbers of a type, which include its minimum and maximum."""
    if kind in ("f32", "f16"):
        return rng.standard_normal(shape).astype(KINDS[kind][1]) * 2
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    about = np.iinfo(KINDS[kind][1])
    low, high = (about.min, about.max) if kind in QUANTIZED else (-9, 10)
    found = rng.integers(low, high + 1, shape).astype(KINDS[kind][1])
    if kind in QUANTIZED and found.size > 2:
        found.reshape(-1)[:2] = low, high
    return found


class Built:
    """Builds the model of one case: an operator with its operands and results."""

    def __init__(self, config: Config, rng: np.random.Generator, folder: Path) -> None:
        self.config, self.rng, self.folder = config, rng, folder
        self.w = Writer()
        self.kind = config.get("type", "f32")
        self.kernels = REFERENCE

    @property
    def element(self) -> str:
        """The element type of activations."""
        return self.kind if self.kind in KINDS else "f32"

    def asked_rounding(self) -> dict[str, bool]:
        """The option that says how float products with 8-bit weights ("dynamic") quantize their
        inputs.
        """
        return {"asymmetricQuantizeInputs": self.config["rounding"] == "asymmetric"}

    def steps(self, name: str | None = None) -> dict[str, Any]:
        """The quantization of an operand or result, as `name` or the configuration says."""
        return steps_of(self.rng, self.element, name or self.config.get("steps", "plain"))

    def x(self, shape: Sequence[int], kind: str = "", data: Any = None, **about: Any) -> int:
        """Add an input; returns its tensor number."""
        kind = kind or self.element
        about = about or (self.steps() if kind == self.element else {})
        value = values(self.rng, shape, kind) if data is None else np.asarray(data)
        where = self.config.get("open", "none")
        axes = {"none": (), "batch": (0,), "all": range(value.ndim)}[where]
        return self.w.input(value, kind, tuple(a for a in axes if a < value.ndim), **about)

    def constant(self, shape: Sequence[int], kind: str = "", **about: Any) -> int:
        """Add a random constant operand; returns its tensor number."""
        kind = kind or self.element
        about = about or (self.steps() if kind == self.element else {})
        return self.w.constant(values(self.rng, shape, kind), kind, **about)

    def ints(self, *numbers: int) -> int:
        """Add a constant vector of i32; returns its tensor number."""
        return self.w.constant(np.array(numbers, np.int32))

    def weight(self, shape: Sequence[int], axis: int, x: int) -> tuple[int, int | None]:
        """The tensor numbers of weights for a product with input `x`, and of a bias (None without).
        `axis` is the weights' output channels.
        """
        rng, w, channels = self.rng, self.w, shape[axis]
        has_bias = self.config.get("bias", True)
        real = (rng.standard_normal(shape) * 0.4).astype(np.float32)
        bias = rng.standard_normal(channels).astype(np.float32)
        if self.kind == "f16 weights":
            half = w.constant(real.astype(np.float16), "f16")
            number = w.tensor(shape)
            w.operator("DEQUANTIZE", [half], [number], "DequantizeOptions")
            return number, w.constant(bias, "f32") if has_bias else None
        if self.kind == "f32":
            return w.constant(real, "f32"), w.constant(bias, "f32") if has_bias else None
        if self.kind == "u8":
            about: dict[str, Any] = {"scale": 0.011, "zero": int(rng.integers(90, 160))}
            number = w.constant(rng.integers(1, 256, shape), "u8", **about)
        else:
            per_channel = self.config.get("channels", "each") == "each"
            scale = rng.uniform(0.003, 0.02, channels if per_channel else 1)
            about = {"scale": scale.astype(np.float32), "axis": axis}
            number = w.constant(rng.integers(-127, 128, shape), "i8", **about)
        if not has_bias:
            return number, None
        if self.kind == "dynamic":
            return number, w.constant(bias, "f32")
        of_x = np.float32(w.graph.tensors[x].quantization.scale[0])
        wide = "i64" if self.kind == "i16" else "i32"
        large = 3000 if self.kind != "i16" else 300000
        return number, w.constant(
            rng.integers(-large, large, channels),
            wide,
            scale=(of_x * np.atleast_1d(np.float32(about["scale"]))),
            axis=0,
        )

    def out(self, kind: str = "", like: int | None = None, **about: Any) -> int:
        """Add a result, quantized like the tensor `like` or on its own; returns its
        tensor number.
        """
        kind = kind or self.element
        number = self.w.tensor((), kind, **(about or (self.steps() if kind in QUANTIZED else {})))
        if like is not None:
            tensors = self.w.graph.tensors
            tensors[number].quantization = tensors[like].quantization
        return number

    def made(self, outputs: Sequence[int]) -> Made:
        """The model, with the output shapes that the kernels compute.

        For dynamic weights, the expected outputs depend on how the kernels quantize the float
        inputs.
        """
        expected = self._expected(outputs)
        for number, array in zip(outputs, expected, strict=True):
            self.w.graph.tensors[number].shape = list(array.shape)
        data = self.w.data(outputs)
        if self.kind == "dynamic":
            expected = kernels(data, self.w.given, which=DEFAULT)
        return Made(write(data, self.folder), [(list(self.w.given), expected)])

    def _expected(self, outputs: Sequence[int]) -> list[np.ndarray]:
        """The kernels' outputs, with the newest version of the operator that the kernels support.

        A few operators have no reference kernel; for these, the optimized one is used.
        """
        codes = self.w.model.operatorCodes
        while True:
            try:
                return kernels(self.w.data(outputs), self.w.given, which=self.kernels)
            except UnmakableError as error:
                is_newer = "Didn't find op" in str(error)
                is_first = max(code.version for code in codes) == 1
                if not is_newer or (is_first and self.kernels == OPTIMIZED):
                    raise
                if is_first:
                    self.kernels = OPTIMIZED
            for code in codes:
                code.version = max(code.version - 1, 1)


Build = Callable[[Built], Sequence[int]]
"""A function that adds the operator to the writer and returns the tensor numbers of its outputs."""


def subject(
    name: str, choices: Mapping[str, Sequence[Any]], build: Build, allowed: Any = None
) -> Subject:
    """A subject of one operator."""

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        built = Built(config, rng, folder)
        return built.made(build(built))

    return Subject(name, choices, make, allowed or (lambda config: True))


def activation(b: Built) -> int:
    """The number of the activation function that the configuration names."""
    return {**ACTIVATIONS, "tanh": 4}[b.config["activation"]]

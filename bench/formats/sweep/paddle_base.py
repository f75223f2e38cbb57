"""Makes PaddlePaddle files of configurations, and computes Paddle's outputs.

The file has the format of version 3, or with `FLAGS_enable_pir_api=0` that of version 2.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("GLOG_minloglevel", "3")

import numpy as np
import paddle
from paddle import nn

from .cases import Config, Made, Subject, UnmakableError

Function = Callable[..., Any]
IS_OLD = os.environ.get("FLAGS_enable_pir_api") == "0"  # noqa: SIM112
OPEN = {"open": ["", "batch", "all"]}
"""Which dimensions of the operands are dynamic; dimensions of 1 are not."""
FLOATS = ["float32", "float64", "float16"]
TYPES = ["float32", "float64", "int32", "int64", "float16", "bool"]
ODD = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, 0.5, 3.0]
MORE = 2
"""How much larger a dynamic dimension is in the second run."""


@dataclass(frozen=True)
class Operand:
    """An input: random numbers of a kind; `odd` ones include infinities, NaN and large ones.

    Integers are from `least` to below `most`; the axes `closed` are never dynamic.
    """

    shape: Sequence[int]
    dtype: str = "float32"
    kind: str = "plain"
    least: int = -4
    most: int = 5
    closed: Sequence[int] = ()

    def is_open(self, axis: int, config: Config) -> bool:
        """Whether the dimension is dynamic."""
        if self.shape[axis] == 1 or axis in self.closed:
            return False
        return config["open"] == "all" or (config["open"] == "batch" and axis == 0)

    def spec(self, config: Config, name: str) -> Any:
        """The input's type for `paddle.static`."""
        dims = [None if self.is_open(i, config) else d for i, d in enumerate(self.shape)]
        return paddle.static.InputSpec(dims, self.dtype, name)

    def numbers(self, rng: np.random.Generator, config: Config, larger: bool) -> np.ndarray:
        """The values; if `larger`, dynamic dimensions are larger."""
        shape = [d + MORE * (larger and self.is_open(i, config)) for i, d in enumerate(self.shape)]
        if self.dtype == "bool":
            return rng.random(shape) < 0.5
        if self.dtype.startswith(("int", "uint")):
            least = max(self.least, 0) if self.dtype[0] == "u" else self.least
            return rng.integers(least, self.most, shape).astype(self.dtype)
        x = np.array(rng.normal(0, 2, shape))
        if self.kind == "odd":
            x = np.where(rng.random(shape) < 0.5, rng.choice(ODD, shape), x)
        if self.kind == "positive":
            x = np.abs(x) + 0.1
        if self.kind == "ties":
            x = np.round(x)
        if self.kind == "unit":
            x = 1 / (1 + np.exp(-x))
        with np.errstate(over="ignore"):
            return x.astype(self.dtype)


class _Program(nn.Layer):
    """A function of tensors as a layer that returns a list of tensors."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def results(self, *inputs: Any) -> list[Any]:
        """The function's results, without those that are None."""
        found = paddle.utils.flatten(self.function(*inputs))
        return [
            v if isinstance(v, _TENSORS) else paddle.to_tensor(v) for v in found if v is not None
        ]


_TENSORS = (paddle.Tensor, paddle.static.Variable, paddle.pir.Value)


class _None(_Program):
    def forward(self) -> list[Any]:
        return self.results()


class _One(_Program):
    def forward(self, x: Any) -> list[Any]:
        return self.results(x)


class _Two(_Program):
    def forward(self, x: Any, y: Any) -> list[Any]:
        return self.results(x, y)


class _Three(_Program):
    def forward(self, x: Any, y: Any, z: Any) -> list[Any]:
        return self.results(x, y, z)


class _Four(_Program):
    def forward(self, x: Any, y: Any, z: Any, w: Any) -> list[Any]:
        return self.results(x, y, z, w)


_PROGRAMS = (_None, _One, _Two, _Three, _Four)  # Paddle writes no programs of `*inputs`


def saved(
    config: Config,
    rng: np.random.Generator,
    folder: Path,
    function: Function,
    operands: Sequence[Operand],
    training: bool = False,
) -> Made:
    """The file of a function, and Paddle's outputs for one or two sets of inputs."""
    names = [f"x{i}" for i in range(len(operands))]
    try:
        program = _PROGRAMS[len(operands)](function)
        program.train() if training else program.eval()
        specs = [one.spec(config, name) for one, name in zip(operands, names, strict=True)]
        static = paddle.jit.to_static(program, full_graph=True, input_spec=specs)
        paddle.jit.save(static, str(folder / "model"))
        loaded = paddle.jit.load(str(folder / "model"))
        kept = [spec.name for spec in loaded._input_spec()]
        runs = []
        for larger in (False, True)[: 1 + bool(config["open"])]:
            values = [one.numbers(rng, config, larger) for one in operands]
            given = {n: v for n, v in zip(names, values, strict=True) if n in kept}
            found = loaded(*(paddle.to_tensor(given[name]) for name in kept))
            found = found if isinstance(found, list | tuple) else [found]
            runs.append((given, [v.numpy() for v in found]))
    except Exception as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[-200:]}") from None
    return Made(folder / ("model.pdmodel" if IS_OLD else "model.json"), runs, interpreted=True)


def subject(
    name: str,
    choices: Mapping[str, Sequence[Any]],
    operands: Callable[[Config], Sequence[Operand]],
    build: Callable[[Config], Function],
    allowed: Callable[[Config], bool] = lambda config: True,
    opens: Sequence[str] = ("", "batch", "all"),
) -> Subject:
    """A subject whose programs are made by `build(config)`, a function of the operands."""

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        paddle.seed(int(rng.integers(1 << 30)))
        training = bool(config.get("training"))
        return saved(config, rng, folder, build(config), operands(config), training)

    return Subject(name, {**choices, "open": list(opens)}, make, allowed)


def given(config: Config, *names: str, **renamed: str) -> dict[str, Any]:
    """The parameters of a configuration that are not None, as keyword arguments."""
    pairs = {**{name: name for name in names}, **renamed}
    return {key: config[name] for key, name in pairs.items() if config[name] is not None}

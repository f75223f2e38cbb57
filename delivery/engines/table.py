"""The engines: each row says which formats an engine reads and which function loads a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...ir.diagnostics import NncError

_FOLDER = Path(__file__).parent / "loading"

ONNX, PYTORCH, TFLITE, TENSORFLOW = "ONNX", "PyTorch", "TensorFlow Lite", "TensorFlow"
KERAS, PADDLE, STABLEHLO, NCNN = "Keras", "PaddlePaddle", "StableHLO", "ncnn"


@dataclass(frozen=True)
class Engine:
    """An engine. `title` is what people call it.

    `formats` are the formats whose files it reads, by nnc's names; none means all that nnc reads.
    One of `distributions`, by PyPI's names, has to be installed. `imports` are loaded before the
    clock starts. `loads` is the file in `folder` and its function that loads a model,
    `file.function`. If it `is_framework`, it is the framework that defines its formats: its
    outputs, with the option `plain`, are the reference for all other engines.
    """

    name: str
    title: str
    formats: tuple[str, ...]
    distributions: tuple[str, ...]
    imports: tuple[str, ...]
    loads: str
    is_framework: bool = False
    folder: Path = _FOLDER

    @property
    def file(self) -> Path:
        """The path of the Python file with the function that loads a model in this engine."""
        return self.folder / f"{self.loads.partition('.')[0]}.py"

    @property
    def function(self) -> str:
        """The name of the function in that file."""
        return self.loads.partition(".")[2]

    @property
    def is_nnc(self) -> bool:
        return self.name in (UNTUNED, TUNED)

    def reads(self, format: str) -> bool:
        """Whether the engine reads files of a format."""
        return not self.formats or format in self.formats

    def missing(self) -> str:
        """Why the engine is not available; empty if it is."""
        if not self.distributions or any(map(_version, self.distributions)):
            return ""
        return f"{self.distributions[0]} is not installed"

    @property
    def version(self) -> str:
        """The version of the installed distribution; empty if there is none."""
        return next(filter(None, map(_version, self.distributions)), "")


@cache
def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


UNTUNED, TUNED = "nnc", "nnc-tuned"
_NNC = ("nnc", "nnc.driver.compile", "nnc.runtime.executable")

ENGINES: Sequence[Engine] = (
    Engine(UNTUNED, "nnc", (), (), _NNC, "compiled.load"),
    Engine(TUNED, "nnc, tuned", (), (), _NNC, "compiled.load"),
    Engine(
        "onnxruntime", "ONNX Runtime", (ONNX,), ("onnxruntime",), ("onnxruntime",),
        "onnxruntime.load", is_framework=True,
    ),
    Engine(
        "openvino", "OpenVINO", (ONNX, TFLITE, TENSORFLOW, PADDLE), ("openvino",), ("openvino",),
        "openvino.load",
    ),
    Engine(
        "pytorch", "PyTorch", (PYTORCH,), ("torch",), ("torch",),
        "pytorch.load", is_framework=True,
    ),
    Engine(
        "torch-compile", "torch.compile", (PYTORCH,), ("torch",), ("torch",),
        "pytorch.load_compiled",
    ),
    Engine(
        "litert", "LiteRT", (TFLITE,), ("ai-edge-litert",), ("ai_edge_litert.interpreter",),
        "tensorflow.load_litert", is_framework=True,
    ),
    Engine(
        "tensorflow", "TensorFlow", (TENSORFLOW,), ("tensorflow", "tensorflow-cpu"),
        ("tensorflow",), "tensorflow.load_tensorflow", is_framework=True,
    ),
    Engine(
        "keras", "Keras", (KERAS,), ("keras",), ("keras",),
        "tensorflow.load_keras", is_framework=True,
    ),
    Engine(
        "jax", "JAX", (STABLEHLO,), ("jax",), ("jax", "jax.export"),
        "jax.load", is_framework=True,
    ),
    Engine(
        "paddle", "PaddlePaddle", (PADDLE,), ("paddlepaddle",), ("paddle.inference",),
        "paddle.load", is_framework=True,
    ),
    Engine("ncnn", "ncnn", (NCNN,), ("ncnn",), ("ncnn",), "ncnn.load", is_framework=True),
    Engine(
        "xgboost", "XGBoost", ("XGBoost",), ("xgboost", "xgboost-cpu"), ("xgboost",),
        "boosting.load_xgboost", is_framework=True,
    ),
    Engine(
        "lightgbm", "LightGBM", ("LightGBM",), ("lightgbm",), ("lightgbm",),
        "boosting.load_lightgbm", is_framework=True,
    ),
    Engine(
        "catboost", "CatBoost", ("CatBoost",), ("catboost",), ("catboost",),
        "boosting.load_catboost", is_framework=True,
    ),
)  # fmt: skip
"""The engines in the order of reports."""

INTERPRETER = Engine(
    "interpreter", "nnc's reference interpreter", (), (),
    ("nnc.numerics.interpreter", "nnc.driver.compile"), "interpreter.load",
)  # fmt: skip
"""Not measured: outputs are compared with it if the format's own framework is not installed."""


def engine(name: str) -> Engine:
    """The engine of a name. Raises NncError for an unknown name."""
    for one in ENGINES:
        if one.name == name:
            return one
    names = ", ".join(one.name for one in ENGINES)
    raise NncError(f"no engine is called '{name}'; there are {names}")


def chosen_engines(text: str) -> tuple[Engine, ...]:
    """The engines of `nnc,onnxruntime`, say, or of `all`, in table order. Raises NncError."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise NncError("no engine is named; `all` stands for all")
    wanted = {one.name for name in names if name != "all" for one in [engine(name)]}
    return tuple(one for one in ENGINES if one.name in wanted or "all" in names)


def engines_for(format: str, wanted: Sequence[Engine]) -> tuple[Engine, ...]:
    """The engines that read a format."""
    return tuple(one for one in wanted if one.reads(format))


def reference_for(format: str) -> Engine:
    """The engine whose outputs are the original's: the format's own framework if it is installed,
    else nnc's reference interpreter.
    """
    for one in ENGINES:
        if one.is_framework and format in one.formats and not one.missing():
            return one
    return INTERPRETER

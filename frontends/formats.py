"""The formats that models are read from: how each is detected, and the package that reads it.

The package of a format has a `FRONT_END`; it is imported when it is first needed. To add a format,
add a package, a module of `detection/`, and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common.source import Source

if TYPE_CHECKING:
    from ..ir.core import Operation
    from .common.front_end import Examination, FrontEnd


@dataclass(frozen=True)
class Format:
    """A format: its name in messages, and the dotted path of the `package` that reads it.

    The module that detects the format has the same path below `detection`.
    """

    name: str
    package: str
    has_signatures: bool = False
    """Whether a model may have several functions, of which `signature` chooses one."""

    @property
    def front_end(self) -> FrontEnd:
        """The reader of the format, which is loaded on first use."""
        return import_module(f".{self.package}", __package__).FRONT_END

    def is_it(self, source: Source) -> bool:
        """Whether a source looks like a model of this format."""
        return import_module(f".detection.{self.package}", __package__).is_it(source)


FORMATS: Sequence[Format] = (
    Format("Keras", "keras"),  # before PyTorch: a model of Keras may be a module of PyTorch
    Format("PyTorch", "pytorch"),
    Format("StableHLO", "stablehlo"),
    Format("TensorFlow Lite", "tflite", has_signatures=True),
    Format("GGUF", "gguf"),
    Format("ncnn", "ncnn"),
    Format("Darknet", "darknet"),
    Format("PaddlePaddle", "paddle"),
    Format("MXNet", "mxnet"),
    Format("CoreML", "coreml", has_signatures=True),
    Format("OpenVINO", "openvino"),
    Format("TensorFlow", "tensorflow", has_signatures=True),
    Format("Caffe", "caffe"),
    Format("Caffe2", "caffe2"),
    Format("XGBoost", "boosting.xgboost"),
    Format("LightGBM", "boosting.lightgbm"),
    Format("CatBoost", "boosting.catboost"),
    Format("ONNX", "onnx"),  # the last one: it says what a file is instead
)
"""All formats, in the order in which a source is tested for them."""


def find_format(source: Source) -> Format:
    """The first format that the source looks like; ONNX if none does."""
    return next(one for one in FORMATS if one.is_it(source))


def import_model(given: Any, *, signature: str | None = None, **choices: Any) -> Operation:
    """The module of a model in any format; the choices are those of `FrontEnd.import_model`.

    `given` is a path, the bytes of a file, or an object of a framework. Raises NncError.
    """
    source, front_end = _opened(given, signature)
    return front_end.import_model(source, **choices)


def examine_model(
    given: Any, *, signature: str | None = None, **choices: Mapping[str, Any]
) -> Examination:
    """The operators of a model, and what keeps it from being imported; see `FrontEnd`."""
    source, front_end = _opened(given, signature)
    return front_end.examine_model(source, **choices)


def _opened(given: Any, signature: str | None) -> tuple[Source, FrontEnd]:
    source = Source(given)
    source.signature = signature
    found = find_format(source)
    if signature is not None and not found.has_signatures:
        raise source.error(f"a signature is given, but models of {found.name} have none")
    return source, found.front_end


def model_files(path: str | Path) -> Sequence[Path]:
    """The files that a model is read from, as far as they follow from its path."""
    return find_format(Source(path)).front_end.files(Path(path))


def needs_other_files(path: str | Path) -> bool:
    """Whether a model has further files, which only its import finds."""
    return find_format(Source(path)).front_end.needs_other_files(Path(path))

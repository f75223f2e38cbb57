"""Common parts of the commands of `bench`: reading models, and error messages of one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from nnc.ir.diagnostics import NncError


def model_file(path: Path) -> Path:
    """The path of a model, checked to exist. Raises NncError."""
    if not path.exists():
        raise NncError(f"cannot read '{path}': no such file")
    return path


def read_onnx(path: Path) -> Any:
    """The ModelProto of a file, without the weights beside it. Raises NncError."""
    try:
        return onnx.load(model_file(path), load_external_data=False)
    except DecodeError:
        raise NncError(f"cannot read '{path}': no ONNX model") from None
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None


def run(main: Callable[[], Any]) -> None:
    """Run a command. If a file or a model is at fault, print one line about it and exit with code
    1.
    """
    try:
        main()
    except NncError as error:
        sys.exit(str(error))

"""Exports a row's network: a file from each exporter, static and dynamic, and one with inputs.

For a row `bert` the folder gets `bert.npz`, the inputs at both sizes with PyTorch's outputs, and
`bert.dynamo.static.onnx`, `bert.dynamo.dynamic.onnx`, `bert.script.static.onnx` and
`bert.script.dynamic.onnx`. If an exporter fails, its message is in a file with the suffix
`.failed.txt`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from ..models import strip_debug_info
from .rows import Row, flatten

EXPORTERS = ("dynamo", "script")
FORMS = ("static", "dynamic")


def files_of(name: str) -> tuple[str, ...]:
    """The names of a row's files."""
    return tuple(f"{name}.{exporter}.{form}" for exporter in EXPORTERS for form in FORMS)


def export_row(
    row: Row, folder: Path, files: Iterable[str], again: bool = False
) -> Iterator[tuple[str, str]]:
    """Write the missing files; yields each file's name with the exporter's error message, if it
    failed.
    """
    torch.set_num_threads(1)
    module: nn.Module | None = None
    for name in files:
        path = folder / f"{name}.onnx"
        failure = path.with_suffix(".failed.txt")
        if again or not (path.exists() or failure.exists()):
            if module is None:
                module = row.module()
                write_values(row, module, folder / f"{row.name}.npz")
            failure.unlink(missing_ok=True)
            _, exporter, form = name.split(".")
            try:
                export(row, module, path, exporter, form == "dynamic")
            except Exception as error:  # an exporter fails in any way it likes
                path.unlink(missing_ok=True)
                failure.write_text(f"{root_of(error)}\n")
        yield name, failure.read_text() if failure.exists() else ""


def root_of(error: BaseException) -> str:
    """The message of the innermost cause of an error; exporters wrap it in several others."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}"


def write_values(row: Row, module: nn.Module, path: Path) -> None:
    """Write the inputs as `0/in/NAME` and the outputs as `0/out/INDEX`, and with `1/` at the second
    size.
    """
    arrays: dict[str, np.ndarray] = {}
    for at in (0, 1):
        arguments = row.arguments(at)
        with torch.no_grad():
            outputs = flatten(module(*clones(arguments)))
        arrays |= {f"{at}/in/{name}": tensor.numpy() for name, tensor in arguments.items()}
        arrays |= {f"{at}/out/{i}": tensor.numpy() for i, tensor in enumerate(outputs)}
    np.savez(path, allow_pickle=False, **arrays)


def clones(arguments: dict[str, Tensor]) -> list[Tensor]:
    """Copies of the inputs, as a module may overwrite them."""
    return [tensor.clone() for tensor in arguments.values()]


def export(row: Row, module: nn.Module, path: Path, exporter: str, dynamic: bool) -> None:
    """Write one file. Raises whatever the exporter raises."""
    for chatty in ("torch.onnx", "onnxscript", "onnx_ir", "torch", "torch.export"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    symbols = {name: spec.symbols for name, spec in row.inputs.items()}
    options: dict[str, Any] = {}
    if exporter == "script":
        options = {"dynamo": False, "dynamic_axes": symbols if dynamic else None}
        options["opset_version"] = 18
    else:
        options = {"dynamo": True, "external_data": False, "verbose": False}
        if dynamic:
            options["dynamic_shapes"] = (tuple(symbols.values()),)
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # the exporters' advice about themselves
        torch.onnx.export(
            module, tuple(clones(row.arguments(0))), path, input_names=list(symbols), **options
        )
    model = onnx.load(path)
    strip_debug_info(model)
    onnx.save(model, path)

"""The shared state of nnc's commands: streams, progress, and the options for the model."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ir.diagnostics import NncError
from ..ir.location import FileLineColLoc
from .command import Streams, load_operators
from .progress import Progress

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..kernels.tuned import TunedFolder
    from ..runtime.model import Model

_NOT_COMPILING = ("import", "tune", "why")
"""The commands that do not end with a compilation."""


class Session:
    """The shared state of a command: streams, progress reports, and the options for the model."""

    def __init__(self, args: argparse.Namespace, streams: Streams) -> None:
        self.streams = streams
        self.quiet = args.quiet
        self._progress = Progress(streams, tells_left=args.command not in _NOT_COMPILING)
        self.fast_math = args.fast_math == "on"
        self.choices: dict[str, Any] = {
            "shapes": _shapes(args.shape),
            "constants": _constants(args.constant, streams),
            "signature": args.signature,
        }
        """The shapes and constants given for the model's inputs, as `load_module` takes them."""
        self.model = self.path(args.model) if args.model is not None else ""
        load_operators(args.ops, streams)

    def tuned(self, args: argparse.Namespace) -> TunedFolder | None:
        """The folder of schedules that `--tuned` names. Raises NncError if it is invalid."""
        from ..kernels.tuned import TunedFolder

        if args.tuned is None:
            if args.tuned_anywhere:
                raise NncError("nnc: --tuned-anywhere needs --tuned")
            return None
        folder = TunedFolder(self.streams.path(args.tuned), args.tuned_anywhere)
        folder.read()
        return folder

    def path(self, model: str) -> str:
        """The path of the model that the user gives. Raises NncError if it cannot be one."""
        from ..frontends.common.packaged import PACKAGED, packaged_model

        if model.startswith(PACKAGED):
            return str(packaged_model(model))
        path = self.streams.path(model)
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise NncError(f"'{path}' is a pipe or a device, expected a model's file or folder")
        return str(path)

    def progress(self, message: str) -> None:
        if not self.quiet:
            self._progress(message)

    def end_progress(self) -> None:
        """Remove the progress bar, before other output."""
        self._progress.end()

    def load(self) -> Operation:
        """The model as a module. Raises NncError."""
        from ..driver.compile import load_module

        return load_module(
            self.model, fast_math=self.fast_math, progress=self.progress, **self.choices
        )

    def run(self, executable: Model, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name; an error of the run names the model."""
        from ..targets.llvm.apart import interruptible

        try:
            return interruptible(executable.run)(inputs)
        except NncError as error:
            place, notes = FileLineColLoc(self.model, 0, 0), error.diagnostic.notes
            raise NncError(error.message, place, notes) from None

    def say(self, text: str) -> None:
        self.end_progress()
        print(text, file=self.streams.stdout)


def _shapes(options: Sequence[str]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for option in options:
        name, equals, dims = option.rpartition("=")
        try:
            shape = tuple(int(d) for d in dims.replace("x", ",").split(",")) if dims else ()
        except ValueError:
            equals = ""
            shape = ()
        if not equals:
            raise NncError(f"nnc: --shape takes NAME=1,3,224,224, not '{option}'")
        if fault := next((d for d in shape if d < 0), None):
            raise NncError(f"nnc: --shape {option}: no tensor has an extent of {fault}")
        shapes[name] = shape
    return shapes


def _constants(options: Sequence[str], streams: Streams) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not name:
            raise NncError(f"nnc: --constant takes NAME=VALUE, not '{option}'")
        if name in found:
            raise NncError(f"nnc: --constant gives '{name}' twice")
        found[name] = _constant(option, text, streams)
    return found


def _constant(option: str, text: str, streams: Streams) -> Any:
    """A number, a truth value, a list of them, or a file's contents. Raises NncError."""
    if text.endswith(".npy"):
        from .array_files import read_arrays

        return next(iter(read_arrays(streams.path(text)).values()))
    try:
        value = json.loads(f"[{text}]" if "," in text and text[0] != "[" else text)
        if isinstance(value, bool | int | float | str | list):
            return value
    except (ValueError, RecursionError):
        pass
    raise NncError(
        "nnc: --constant takes a number, true, false, a list as 1,2 or [[1,2]], or a .npy file "
        f"behind the name, not '{option}'"
    )

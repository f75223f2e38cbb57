"""The origin of a model: a file, a folder, bytes, or an object of a framework."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc


@dataclass(frozen=True)
class Traced:
    """A model object of this process, to be traced with example inputs: a tuple or by name."""

    model: Any
    inputs: Any


class Source:
    """A model as it was given: a path, bytes, or an object of a framework in this process.

    `name` is its name in messages; `path` and `object` are None if it has none; `inputs` are
    examples for tracing an object; `signature` is the name of the function to import.
    """

    def __init__(self, given: Any) -> None:
        self.path: Path | None = None
        self.object: Any = None
        self.inputs: Any = None
        self.signature: str | None = None
        if isinstance(given, Traced):
            given, self.inputs = given.model, given.inputs
        if isinstance(given, str | Path):
            self.path = Path(given)
            self.name = str(given)
        elif isinstance(given, bytes | bytearray | memoryview):
            self.data = np.frombuffer(given, np.uint8)
            self.name = "<bytes>"
        else:
            self.object = given
            self.name = "<model>"

    @property
    def loc(self) -> FileLineColLoc:
        """The location of the model as a whole."""
        return FileLineColLoc(self.name, 0, 0)

    def error(self, message: str) -> NncError:
        """An error that names the model."""
        return NncError(message, self.loc)

    @cached_property
    def data(self) -> np.ndarray:
        """All bytes; those of a file are mapped. Raises NncError where they cannot be read."""
        if self.path is None:
            raise self.error("expected a file or bytes")
        try:
            if self.path.is_dir():
                raise self.error("is a folder, expected a model's file")
            if self.path.stat().st_size == 0:
                raise self.error("the file is empty, expected a model")
            return np.memmap(self.path, np.uint8, "r").view(np.ndarray)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self.error(f"cannot read the model: {reason}") from None

    @cached_property
    def text(self) -> str:
        """The whole content as text. Raises NncError if it is not UTF-8."""
        try:
            return self.data.tobytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(f"not UTF-8 text (byte {error.start})") from None

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files."""
        return self.path is not None and self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first 4096 bytes, to detect the format; empty if they cannot be read."""
        if self.is_folder or self.object is not None:
            return b""
        try:
            return self.data[:4096].tobytes()
        except NncError:
            return b""

    def beside(self, name: str) -> Source:
        """The file `name` in the folder of the model. Raises NncError if there is none.

        The name comes from the model: it may not lead out of the folder.
        """
        if self.path is None:
            raise self.error(f"it needs the file '{name}', but comes without a folder; give a path")
        home = (self.path if self.path.is_dir() else self.path.parent).resolve()
        try:
            path = (home / name).resolve()
            inside, there = "\0" not in name and home in path.parents, path.is_file()
        except (OSError, RuntimeError, ValueError):  # also for a name that is too long
            raise self.error(f"'{name[:99]}' is not a valid file name") from None
        if not inside:
            raise self.error(f"the file '{name}' lies outside the model's folder")
        if not there:
            raise self.error(f"the file '{name}' is missing beside the model")
        return Source(home / name)

    def has_beside(self, name: str) -> bool:
        """Whether there is a file `name` in the folder of the model."""
        home = self.path if self.is_folder else self.path and self.path.parent
        return home is not None and (home / name).is_file()

"""Shared by all command lines: streams, errors, exit codes, reading and writing files.

A command is a function (arguments, streams) -> exit code. Whatever happens, the user sees one
message. The exit code is 1 for a fault of the user or the model, 2 for a defect of nnc, 130 for an
interruption, and 141, without a message, if nobody reads the output any more.
"""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ..ir.diagnostics import Diagnostic, NncError, SourceFile
from ..ir.location import FileLineColLoc, FusedLoc, Location, NameLoc
from ..ir.visible import visible
from .start import INTERRUPTED


@dataclass
class Streams:
    """Standard input, output and error of a command; tests use their own.

    `directory` is the base of relative paths.
    """

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    directory: Path

    @staticmethod
    def standard() -> Streams:
        """The process's own streams; Python has None for one that was closed before it started."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # whose encoding may not have all characters
                stream.reconfigure(errors="backslashreplace")
        return Streams(
            sys.stdin or _Closed("standard input is closed"),
            sys.stdout or _Closed("standard output is closed"),
            sys.stderr or io.StringIO(),
            _working_directory(),
        )

    def path(self, name: str) -> Path:
        """The path that a name on the command line means. Raises NncError for an empty name."""
        if not name:
            raise NncError("the name of a file or folder is empty")
        return self.directory / name

    def for_people(self, *, output: bool) -> Streams:
        """These streams with terminal control characters made visible; on standard output only if
        it is for people.
        """
        stdout = Visible(self.stdout) if output else self.stdout
        return Streams(self.stdin, stdout, Visible(self.stderr), self.directory)


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was removed: absolute names still mean something
        return Path()


class Visible(io.TextIOBase, TextIO):
    """A stream that writes text as `visible` shows it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(visible(text))

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()


class _Closed(io.TextIOBase, TextIO):
    """A stand-in for a missing stream."""

    def __init__(self, message: str) -> None:
        self.message = message

    def read(self, size: int | None = -1) -> str:
        raise NncError(self.message)

    def write(self, text: str) -> int:
        raise NncError(self.message)


Command = Callable[[Sequence[str], Streams], int]

_HEAD = 256
"""The bytes at the start of a file that are searched for control characters: a model's file has
some there, text has none."""
_UNREAD = 141
"""The exit code of a command whose output nobody reads, as in shells when SIGPIPE ends it."""
_MOST_TEXT = 1 << 30
"""The most bytes of text that are read: a device such as /dev/zero never ends."""


def run_command(name: str, command: Command, argv: Sequence[str], streams: Streams) -> int:
    """Run a command; each warning becomes a line, each exception a line and an exit code."""
    said = streams.for_people(output=name == "nnc")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: print(
                f"{name}: warning: {message}", file=said.stderr
            )
            status = command(argv, said)
            said.stdout.flush()
            return status
    except NncError as error:
        print(with_source(error.diagnostic), file=said.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=said.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output(streams)
        return _UNREAD
    except OSError as error:  # a full disk, say, below standard output
        _discard_output(streams)
        place = f"'{error.filename}': " if error.filename else ""
        print(f"{name}: error: {place}{error.strerror or error}", file=said.stderr)
        return 1
    except RecursionError:
        print(f"{name}: error: the input is nested too deeply", file=said.stderr)
        return 1
    except MemoryError:
        print(f"{name}: error: out of memory", file=said.stderr)
        return 1
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python wraps those of `__set_name__`
            print(f"{name}: interrupted", file=said.stderr)
            return INTERRUPTED
        if os.environ.get("NNC_DEBUG"):
            raise
        kind = type(error).__name__
        print(
            f"{name}: internal error: {kind}: {error}\n"
            f"{name}: this is a defect of nnc; NNC_DEBUG=1 shows where it happened",
            file=said.stderr,
        )
        return 2


def _discard_output(streams: Streams) -> None:
    """Discard all further output, also at exit, as nobody reads the output any more."""
    if streams.stdout is sys.stdout:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(nowhere, stream.fileno())


def with_source(diagnostic: Diagnostic, sources: Sequence[SourceFile] = ()) -> Diagnostic:
    """The diagnostic with the text line it points to, read from its file if needed."""
    if diagnostic.source is not None:
        return diagnostic
    place = file_place(diagnostic.location)
    if place is None or not place.line:
        return diagnostic
    text = next((s for s in sources if s.name == place.file), None)
    if text is None:
        try:
            with open(place.file, encoding="utf-8", errors="replace") as file:
                text = SourceFile(place.file, file.read(1 << 24))
        except (OSError, ValueError):
            return diagnostic
    if place.line > len(text.line_starts):
        return diagnostic
    column = max(place.column - 1, 0)
    return Diagnostic(
        diagnostic.severity,
        diagnostic.message,
        diagnostic.location,
        diagnostic.notes,
        text.line(place.line),
        (column, column + 1),
    )


def file_place(location: Location | None) -> FileLineColLoc | None:
    """The first file location that a location contains; None if there is none."""
    match location:
        case FileLineColLoc():
            return location
        case NameLoc(_, child):
            return file_place(child)
        case FusedLoc(locations):
            return next((p for one in locations if (p := file_place(one))), None)
    return None


OPS_HELP = "a Python file that declares custom operators (examples/my_ops.py is one)"


def load_operators(names: Sequence[str], streams: Streams) -> None:
    """Declare the operators in the files of `--ops`. Raises NncError."""
    if names:
        from ..frontends.onnx.own import load_operators

        for name in names:
            load_operators(streams.path(name))


def read_text(name: str, streams: Streams) -> SourceFile:
    """The text of a file, or of standard input for `-`. Raises NncError."""
    try:
        if name == "-":
            return SourceFile("<stdin>", streams.stdin.read())
        with open(streams.path(name), "rb") as file:
            data = file.read(_HEAD)
            if not name.endswith(".mlir") and re.search(rb"[\0-\x08]", data):
                raise NncError(f"'{name}' is binary, not text: `nnc import` makes IR of a model")
            data += file.read(_MOST_TEXT)
    except OSError as error:
        raise NncError(f"cannot read '{name}': {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise NncError(f"<stdin>: not UTF-8 text (byte {error.start})") from None
    if len(data) > _MOST_TEXT:
        raise NncError(f"cannot read '{name}': more than {_MOST_TEXT >> 20} MiB of text")
    try:
        return SourceFile(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise NncError(message, FileLineColLoc(name, line, 1)) from None

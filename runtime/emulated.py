"""A compiled model in an emulator: a library for another processor, and the process running it."""

from __future__ import annotations

import struct
import subprocess
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np

from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from .model import Model
from .program import Program

RUNNER_SOURCE = Path(__file__).parent / "runner.c"
"""The program at the other end of the pipes; its source describes the protocol."""


class Emulated(Model):
    """A compiled model whose calls go to a process in an emulator, one at a time."""

    is_elsewhere = True

    def __init__(
        self,
        program: Program,
        command: Sequence[str],
        folder: TemporaryDirectory[str],
        threads: int,
    ) -> None:
        """`command` starts the runner on a library in the folder, which is removed at the end.

        Raises NncError if it does not start.
        """
        super().__init__(program.signature)
        self._threads, self._lock = threads, threading.Lock()
        self._said = Path(folder.name) / "stderr"
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said
            )
        weakref.finalize(self, _end, self._process, folder)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to: IO[bytes] = self._process.stdin
        self._from: IO[bytes] = self._process.stdout
        if status := self._status():
            raise NncError(f"the library cannot be used: status {status}")

    def __reduce__(self):
        raise NncError("a model in an emulator can be neither copied nor pickled")

    @property
    def threads(self) -> int:
        return self._threads

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        with self._lock:
            self._send(inputs)
            self._check_status(inputs)
            return self._receive_all()

    def _send(self, inputs: list[np.ndarray]) -> None:
        try:
            self._to.write(_packed(len(inputs), len(self.output_types)))
            for array in inputs:
                self._to.write(_kind(array.ndim, array.itemsize, array.shape))
                self._to.write(array.tobytes())
            for type in self.output_types:
                itemsize = type_to_numpy(type.element_type).itemsize
                shape = type.shape if type.has_static_shape else None
                self._to.write(_kind(type.rank, itemsize, shape))
            self._to.flush()
        except OSError:
            raise self._ended() from None

    def _check_status(self, inputs: list[np.ndarray]) -> None:
        """Wait for the end of a run. Raises NncError if it failed."""
        if status := self._status():
            raise self._failed(status, inputs)

    def _receive_all(self) -> list[np.ndarray]:
        """The outputs, in order."""
        return [self._receive(type) for type in self.output_types]

    def _receive(self, type: TensorType) -> np.ndarray:
        """Receive an output: its shape and its elements."""
        shape = self._numbers(type.rank)
        array = np.empty(shape, type_to_numpy(type.element_type))
        array.reshape(-1).view(np.uint8)[:] = np.frombuffer(self._read(array.nbytes), np.uint8)
        return array

    def _status(self) -> int:
        return self._numbers(1)[0]

    def _numbers(self, count: int) -> list[int]:
        """Receive `count` numbers from the process."""
        return list(struct.unpack(f"<{count}q", self._read(8 * count)))

    def _say(self, *values: int, data: bytes = b"") -> None:
        """Send numbers and bytes to the process, without waiting for an answer. Raises NncError."""
        try:
            self._to.write(_packed(*values) + data)
            self._to.flush()
        except OSError:
            raise self._ended() from None

    def _read(self, size: int) -> bytes:
        data = self._from.read(size)
        if len(data) < size:
            raise self._ended()
        return data

    def _ended(self) -> NncError:
        """The error for a process that has ended."""
        status = self._process.wait()
        said = self._said.read_text(errors="replace").strip()
        return NncError(f"the emulator ended with status {status}" + (f": {said}" if said else ""))


def _packed(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def _kind(rank: int, itemsize: int, shape: Sequence[int | None] | None) -> bytes:
    return _packed(rank, itemsize, shape is not None, *(shape or ()))  # type: ignore[arg-type]


def _end(process: subprocess.Popen[bytes], folder: TemporaryDirectory[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    process.wait()
    folder.cleanup()

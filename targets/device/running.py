"""Runs programs for devices in this process: links them with the device's host code, loads them."""

from __future__ import annotations

import ctypes
import weakref
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...artifacts.options import DEFAULT_PREFIX
from ...ir.diagnostics import NncError
from ...runtime.abi import (
    DEVICE_ADD,
    DEVICE_CLOSE,
    DEVICE_COPY,
    DEVICE_HOST,
    DEVICE_MESSAGE,
    DEVICE_WAIT,
)
from ...runtime.program import LinkedCode
from ...runtime.replacing import GrowingCode
from ..llvm.target import LlvmTarget


class LoadedDeviceCode(LinkedCode):
    """The library of a program; the device is released when the object is no longer referenced."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int32)((DEVICE_MESSAGE, library))
        weakref.finalize(self, getattr(library, DEVICE_CLOSE))

    def __getitem__(self, name: str) -> int:
        address = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value
        assert address is not None
        return address

    def message(self, status: int) -> str | None:
        said = self._message(status)
        return said.decode(errors="replace") if said else None


class GrowingDeviceCode(LoadedDeviceCode, GrowingCode):
    """A program's library to which kernels can be added."""

    def __init__(self, library: ctypes.CDLL) -> None:
        super().__init__(library)
        self._add = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(
            (DEVICE_ADD, library)
        )
        self._wait = ctypes.CFUNCTYPE(None)((DEVICE_WAIT, library))
        sizes = [ctypes.c_size_t] * 3
        self._copy = ctypes.CFUNCTYPE(None, *sizes, ctypes.c_int32)((DEVICE_COPY, library))
        self._lines: list[ctypes.Array] = []

    def wait(self) -> None:
        self._wait()

    @property
    def functions(self) -> dict[str, int]:
        return {name: self[name] for name in DEVICE_HOST}

    def add(self, text: bytes, rows: str) -> int:
        lines = ctypes.create_string_buffer(rows.encode())
        first = self._add(text, ctypes.addressof(lines))
        if first < 0:
            raise NncError(self.message(-first) or f"the device failed with status {-first}")
        self._lines.append(lines)
        return first

    def read(self, address: int, size: int) -> np.ndarray:
        found = np.empty(size, np.uint8)
        self._copy(found.ctypes.data, address, size, _TO_HOST)
        return found

    def write(self, address: int, data: np.ndarray) -> None:
        data = np.ascontiguousarray(data)
        self._copy(address, data.ctypes.data, data.nbytes, _TO_DEVICE)


_TO_DEVICE, _TO_HOST = 0, 1
"""The directions of a copy, as `call-device` numbers them."""


def load_device_code(
    caller: LlvmTarget,
    source: Path,
    code: bytes,
    kind: type[LoadedDeviceCode] = LoadedDeviceCode,
) -> LoadedDeviceCode:
    """Link and load an object file with the device's host code (`source`). Raises NncError.

    To `GrowingDeviceCode`, kernels can be added later; their code can call the host's functions.
    """
    grows = issubclass(kind, GrowingDeviceCode)
    defines = {"P": DEFAULT_PREFIX, **({"EXPERIMENTS": "1"} if grows else {})}
    tools = caller.toolchain()
    with TemporaryDirectory(prefix="nnc-") as folder:
        model, device = Path(folder) / "model.o", Path(folder) / "device.o"
        library = Path(folder) / f"model{caller.library}"
        model.write_bytes(code)
        tools.compile(source, device, defines)
        tools.shared_library([model, device], library)
        try:
            return kind(ctypes.CDLL(str(library)))
        except OSError as error:
            raise NncError(f"the program was linked but does not load: {error}") from None

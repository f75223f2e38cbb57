"""A program for a device in this process: linked with the device's host into a library."""

from __future__ import annotations

import ctypes
import weakref
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...artifacts.options import DEFAULT_PREFIX
from ...ir.diagnostics import NncError
from ...runtime.abi import DEVICE_CLOSE, DEVICE_MESSAGE
from ...runtime.program import LinkedCode

if TYPE_CHECKING:
    from .target import DeviceTarget


class LoadedDeviceCode(LinkedCode):
    """The library of a program; the device is given back when nobody refers to it any more."""

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


def load_device_code(target: DeviceTarget, code: bytes) -> LoadedDeviceCode:
    """Link and load an object file with the device's host. Raises NncError."""
    tools = target.caller.toolchain()
    with TemporaryDirectory(prefix="nnc-") as folder:
        model, device = Path(folder) / "model.o", Path(folder) / "device.o"
        library = Path(folder) / f"model{target.caller.library}"
        model.write_bytes(code)
        tools.compile(target.source, device, {"P": DEFAULT_PREFIX})
        tools.shared_library([model, device], library)
        try:
            return LoadedDeviceCode(ctypes.CDLL(str(library)))
        except OSError as error:
            raise NncError(f"the program was linked but does not load: {error}") from None

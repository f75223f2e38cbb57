"""WebGPU in this process, by the package `wgpu`: implements the functions of `webgpu.c`."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import wgpu
from wgpu.backends.wgpu_native.extras import set_instance_extras

from ...artifacts.options import DEFAULT_PREFIX
from ..device.running import LoadedDeviceCode, load_device_code

if TYPE_CHECKING:
    from ..device.target import DeviceTarget

_DONE, _NO_DEVICE, _FAILED, _MEMORY, _CODE, _LIMIT = -1, 8, 9, 10, 11, 12
_LIMITS: dict[str, int] = {
    "max-storage-buffers-per-shader-stage": 8,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-storage-size": 16 << 10,
    "max-storage-buffer-binding-size": 128 << 20,
    "max-buffer-size": 256 << 20,
}
"""WebGPU's default limits: what runs here runs in every browser."""
_MOST_GROUPS = 65535
_STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
_UNIFORM = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
_TO_DEVICE, _TO_HOST, _WITHIN = range(3)
os.environ.setdefault("NODEVICE_SELECT", "1")
"""A layer of Mesa's that asks Wayland for a screen, and complains where there is none."""
with suppress(RuntimeError):  # where the process has used it before, with what it has chosen
    set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
_64, _32, _POINTER = ctypes.c_uint64, ctypes.c_int32, ctypes.c_void_p


@dataclass
class _Kernel:
    name: str
    kinds: str
    layout: Any
    pipeline: Any
    numbers: Any
    """The kernel's buffer of numbers."""
    groups: dict[tuple[int, ...], Any]
    """The bind groups, by the numbers of their buffers."""

    @property
    def writes(self) -> list[bool]:
        return [kind != "r" for kind in self.kinds if kind in "ars"]


class _RefusedError(Exception):
    """An error, with the status to return to the host's caller."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class WebGpuHost:
    """A device, its buffers by number, and its kernels."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._say = getattr(library, f"{DEFAULT_PREFIX}_device_host")
        self._say.argtypes = (_POINTER, ctypes.c_char_p)
        self.device: Any = None
        self.interrupted: BaseException | None = None
        """What ended a run from outside."""
        self.kernels: list[_Kernel] = []
        self.buffers: dict[int, Any] = {}
        self.count = 0
        kinds = (
            (self.open, _32, (ctypes.c_char_p, ctypes.c_char_p)),
            (self.close, None, ()),
            (self.make, _32, (_64, ctypes.POINTER(_64))),
            (self.drop, None, (_64,)),
            (self.copy, _32, (_64, _64, _64, _64, _64, _32)),
            (self.start, _32, (_64, *map(ctypes.POINTER, (ctypes.c_size_t, _64, ctypes.c_uint32)))),
            (self.wait, _32, ()),
        )  # fmt: skip
        self.callbacks = [
            ctypes.CFUNCTYPE(result, *arguments)(self._guarded(function))
            for function, result, arguments in kinds
        ]
        table = (_POINTER * len(kinds))(*(ctypes.cast(one, _POINTER) for one in self.callbacks))
        self._say(table, None)

    def _guarded(self, function: Callable[..., None]) -> Callable[..., int]:
        """The function, returning a status instead of raising."""

        def call(*arguments: Any) -> int:
            try:
                function(*arguments)
            except wgpu.GPUOutOfMemoryError:
                return _MEMORY
            except _RefusedError as error:
                self._say(None, str(error).encode())
                return error.status
            except Exception as error:
                lines = [line for line in str(error).splitlines() if line.strip()]
                self._say(None, " ".join(line.strip() for line in lines)[:400].encode())
                return _FAILED
            except BaseException as error:  # such as KeyboardInterrupt: for the caller
                self.interrupted = error
                return _FAILED
            return _DONE

        return call

    # -- the device ----------------------------------------------------------------------------

    def open(self, code: bytes, rows: bytes) -> None:
        """Request an adapter and a device, and make all pipelines."""
        try:
            adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
            self.device = adapter.request_device_sync(required_limits={**_LIMITS})
        except Exception as error:
            raise _RefusedError(_NO_DEVICE, f"no WebGPU adapter is here: {error}") from None
        if not rows:
            return
        try:
            module = self.device.create_shader_module(code=code.decode())
            self.kernels = [self._kernel(module, row) for row in rows.decode().splitlines()]
        except wgpu.GPUError as error:
            raise _RefusedError(_CODE, " ".join(str(error).split())[:400]) from None

    def _kernel(self, module: Any, row: str) -> _Kernel:
        name, _, kinds = row.split(" ")
        types = {"a": "storage", "r": "read-only-storage", "s": "storage"}
        bindings = [types[kind] for kind in kinds if kind in types] + ["uniform"]
        layout = self.device.create_bind_group_layout(
            entries=[
                {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": type}}
                for i, type in enumerate(bindings)
            ]
        )
        pipeline = self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": module, "entry_point": name},
        )
        words = 4 + sum({"s": 0, "8": 2}.get(kind, 1) for kind in kinds)
        numbers = self.device.create_buffer(size=-(-words // 4) * 16, usage=_UNIFORM)
        return _Kernel(name, kinds, layout, pipeline, numbers, {})

    def close(self) -> None:
        """Release the device, its buffers and kernels."""
        self.buffers.clear()
        self.kernels.clear()
        if self.device is not None:
            self.device.destroy()

    def wait(self) -> None:
        """Wait for all submitted work, by reading something after it."""
        self._read(self._buffer(4), 0, 4)

    # -- memory --------------------------------------------------------------------------------

    def make(self, size: int, made: Any) -> None:
        """Make a buffer, in whole units of 16 bytes, as bindings need."""
        if size > (most := _LIMITS["max-buffer-size"]):
            raise _RefusedError(_LIMIT, f"WebGPU gives buffers of {most} bytes at most, not {size}")
        self.count += 1
        self.buffers[self.count] = self._buffer(size)
        made[0] = self.count

    def _buffer(self, size: int) -> Any:
        return self.device.create_buffer(size=max(16, -(-size // 16) * 16), usage=_STORAGE)

    def drop(self, number: int) -> None:
        """Destroy a buffer, and forget the bindings that use it."""
        self.buffers.pop(number).destroy()
        for kernel in self.kernels:
            kernel.groups = {k: v for k, v in kernel.groups.items() if number not in k}

    def copy(self, to: int, at: int, source: int, start: int, size: int, way: int) -> None:
        """Copy bytes to the device, from it, or within it."""
        if way == _TO_DEVICE:
            self._write(self.buffers[to], at, ctypes.string_at(source, size))
        elif way == _TO_HOST:
            ctypes.memmove(to, self._read(self.buffers[source], start, size), size)
        elif to == source or (at | start | size) % 4:
            self._write(self.buffers[to], at, self._read(self.buffers[source], start, size))
        else:
            encoder = self.device.create_command_encoder()
            one, other = self.buffers[source], self.buffers[to]
            encoder.copy_buffer_to_buffer(one, start, other, at, size)
            self.device.queue.submit([encoder.finish()])

    def _read(self, buffer: Any, start: int, size: int) -> bytes:
        first, last = start & ~3, (start + size + 3) & ~3
        found: Any = self.device.queue.read_buffer(buffer, first, last - first)
        return bytes(found)[start - first : start - first + size]

    def _write(self, buffer: Any, at: int, data: bytes) -> None:
        """Write bytes in whole words, whose other bytes are kept."""
        first, last = at & ~3, (at + len(data) + 3) & ~3
        if last - first != len(data):
            old = self._read(buffer, first, last - first)
            data = old[: at - first] + data + old[at - first + len(data) :]
        self.device.queue.write_buffer(buffer, first, data)

    # -- launches ------------------------------------------------------------------------------

    def start(self, number: int, grid: Any, buffers: Any, words: Any) -> None:
        """Launch a kernel, in pieces if the grid exceeds WebGPU's limit."""
        kernel = self.kernels[number]
        count = kernel.numbers.size // 4
        group = self._group(kernel, tuple(buffers[i] for i in range(len(kernel.writes))))
        numbers = (ctypes.c_uint32 * count).from_buffer_copy(ctypes.string_at(words, 4 * count))
        for first in product(*(range(0, size, _MOST_GROUPS) for size in grid[:3])):
            numbers[:4] = (*first, 0)
            self.device.queue.write_buffer(kernel.numbers, 0, numbers)
            encoder = self.device.create_command_encoder()
            run = encoder.begin_compute_pass()
            run.set_pipeline(kernel.pipeline)
            run.set_bind_group(0, group)
            run.dispatch_workgroups(
                *(min(size - at, _MOST_GROUPS) for size, at in zip(grid[:3], first, strict=True))
            )
            run.end()
            self.device.queue.submit([encoder.finish()])

    def _group(self, kernel: _Kernel, numbers: tuple[int, ...]) -> Any:
        """The bind group of a kernel's buffers; an input also written is read from a copy."""
        known = kernel.groups.get(numbers)
        if known is not None:
            return known
        written = [n for n, writes in zip(numbers, kernel.writes, strict=True) if writes]
        if len(set(written)) != len(written):
            raise _RefusedError(_LIMIT, f"kernel '{kernel.name}' writes two parts of one buffer")
        bound, copies = [], False
        for one, writes in zip(numbers, kernel.writes, strict=True):
            buffer = self.buffers[one]
            if buffer.size > _LIMITS["max-storage-buffer-binding-size"]:
                most = _LIMITS["max-storage-buffer-binding-size"]
                text = f"kernel '{kernel.name}' is given a buffer of {buffer.size} bytes"
                raise _RefusedError(_LIMIT, f"{text}, and WebGPU lets it see {most} bytes")
            if not writes and one in written:
                source, buffer, copies = buffer, self._buffer(buffer.size), True
                encoder = self.device.create_command_encoder()
                encoder.copy_buffer_to_buffer(source, 0, buffer, 0, buffer.size)
                self.device.queue.submit([encoder.finish()])
            bound.append(buffer)
        entries = [
            {"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}}
            for i, b in enumerate([*bound, kernel.numbers])
        ]
        group = self.device.create_bind_group(layout=kernel.layout, entries=entries)
        if not copies:
            kernel.groups[numbers] = group
        return group


class WebGpuCode(LoadedDeviceCode):
    """The library of a program, and this process's device behind it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        super().__init__(library)
        self._host = WebGpuHost(library)
        library.webgpu = self._host  # type: ignore[attr-defined] # for as long as it may be called

    def message(self, status: int) -> str | None:
        """What a status means. Raises what ended the run from outside (KeyboardInterrupt)."""
        interrupted, self._host.interrupted = self._host.interrupted, None
        if interrupted is not None:
            raise interrupted
        return super().message(status)


def load_webgpu_code(target: DeviceTarget, code: bytes) -> LoadedDeviceCode:
    """Link and load an object file; this process acts as its device. Raises NncError."""
    return load_device_code(target.caller, target.source, code, WebGpuCode)

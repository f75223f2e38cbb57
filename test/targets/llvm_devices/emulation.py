"""NVIDIA's and AMD's kernels without such a device: their LLVM IR as code of this machine.

The IR is what LLVM's passes for the device have left. Address spaces are dropped, intrinsics become
calls of functions in `threads.cpp`, and each thread of a group is a fiber. The device's own code is
made as well. What stays unchecked is what a driver and a device make of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from ctypes import CDLL, RTLD_GLOBAL
from dataclasses import dataclass
from hashlib import sha256
from os import getpid
from pathlib import Path

from nnc.ir.diagnostics import NncError
from nnc.runtime.program import LinkedCode
from nnc.targets import base
from nnc.targets.amd import TARGETS as AMD
from nnc.targets.amd import AmdTarget
from nnc.targets.cuda import TARGETS as CUDA
from nnc.targets.cuda import CudaTarget
from nnc.targets.llvm.kernels import KernelTarget, generated
from nnc.targets.llvm.target import LlvmTarget

from bench.kernels import usages

from ...leftovers import lasting

HERE = Path(__file__).parent
COMPILER = shutil.which("g++")
C_COMPILER = shutil.which("gcc")
_FOLDER = "nnc-llvm-emulation"
_FLAGS = ["-std=c++17", "-O1", "-fPIC", "-w"]

_KERNEL = re.compile(r"^define (?:dso_local )?(?:ptx|amdgpu)_kernel void @(\w+)\((.*)\).*\{$", re.M)
_TYPE = re.compile(r"(?:^|, )(ptr|i\d+|half|float|double)\b")
_WAITS = re.compile(r"@emulated_\w*(?:barrier|shfl|bpermute)")


def for_processor(text: str, subgroup: int) -> str:
    """A device's IR as that of a processor, with a function for each kernel that runs all groups."""
    text = re.sub(r"^target .*\n", "", text, flags=re.M)
    text = re.sub(r"ptr addrspace\(\d+\)", "ptr", text)
    text = re.sub(r",? addrspace\(\d+\)(?=[,\s]|$)", lambda m: "" if m[0][0] == "," else " ", text)
    text = re.sub(r"addrspacecast \(ptr (@[\w.]+) to ptr\)", r"\1", text)
    text = text.replace("addrspacecast ptr", "bitcast ptr")
    names = lambda m: f"@emulated_{m[1].replace('.', '_')}"  # noqa: E731
    text = re.sub(r"@llvm\.((?:nvvm|amdgcn)\.[\w.]+)", names, text)
    runs = ["declare ptr @shim_launch(ptr, i64, i64, i32, ptr, ptr)"]
    for kernel in _KERNEL.finditer(text):
        name, given = kernel.groups()
        body = text[kernel.end() : text.find("\n}", kernel.end())]
        types = _TYPE.findall(_without_brackets(given))
        loads = "".join(
            f"  %a{i} = getelementptr ptr, ptr %parts, i64 {i}\n  %p{i} = load ptr, ptr %a{i}\n"
            f"  %v{i} = load {type}, ptr %p{i}\n"
            for i, type in enumerate(types)
        )
        passed = ", ".join(f"{type} %v{i}" for i, type in enumerate(types))
        numbers = f"i64 {subgroup}, i32 {int(_WAITS.search(body) is not None)}"
        runs.append(
            f"define void @run_{name}(ptr %parts) {{\n{loads}  call void @{name}({passed})\n"
            f"  ret void\n}}\ndefine ptr @shim_{name}(ptr %grid, i64 %threads, ptr %parts) {{\n"
            f"  %wrong = call ptr @shim_launch(ptr %grid, i64 %threads, {numbers}, ptr @run_{name}, "
            "ptr %parts)\n  ret ptr %wrong\n}"
        )
    return re.sub(r"\b(ptx|amdgpu)_kernel ", "", text) + "\n".join(runs) + "\n"


def _without_brackets(text: str) -> str:
    """Text without what stands in brackets, such as attributes' values."""
    while (found := re.sub(r"\([^()]*\)", "", text)) != text:
        text = found
    return text


def _made(path: Path, command: list[str | Path]) -> Path:
    """A file that a command makes, once."""
    if not path.exists():
        made = path.with_suffix(f".{getpid()}{path.suffix}")
        done = subprocess.run([*command, "-o", made], capture_output=True, text=True, check=False)
        if done.returncode:
            raise NncError(f"the kernels do not link: {done.stderr[:2000]}")
        made.rename(path)
    return path


def compiled(text: str) -> Path:
    """A library of kernels that are IR for this machine, made once for each text."""
    assert COMPILER is not None
    parts = [HERE / "threads.cpp", HERE.parent / "fibers" / "fibers.h"]
    own = sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:24]
    threads = _made(lasting(_FOLDER) / f"{own}.o", [COMPILER, *_FLAGS, "-c", parts[0]])
    library = lasting(_FOLDER) / f"{sha256(text.encode()).hexdigest()[:24]}-{own[:8]}.so"
    if not library.exists():
        here = base.host()
        assert isinstance(here, LlvmTarget)
        code = library.with_suffix(f".{getpid()}.o")
        made = generated(text, "object", here.name, here.triple, here.cpu, here.features, level=1)
        code.write_bytes(made)
        _made(library, [COMPILER, "-shared", code, threads])
        code.unlink()
    return library


def load_driver(name: str, *flags: str) -> None:
    """Let this process have a driver's library: whoever opens one of its name finds it."""
    assert C_COMPILER is not None
    own = sha256((HERE / "driver.c").read_bytes() + name.encode()).hexdigest()[:24]
    options = ["-O1", "-fPIC", "-shared", f"-Wl,-soname,{name}", *flags]
    path = _made(lasting(_FOLDER) / f"{own}.so", [C_COMPILER, *options, HERE / "driver.c", "-ldl"])
    CDLL(str(path), mode=RTLD_GLOBAL)


class Emulated(KernelTarget):
    """A device's kernels, run by this machine's processor; the host is the device's own."""

    def made(self, text: str) -> bytes:
        self.check(self.generated(text, "assembly").decode())
        text = self.generated(text, "ir").decode()
        return bytes(compiled(for_processor(text, self.machine.subgroup)))

    def check(self, text: str) -> None:
        """Raise where the device's own assembler refuses its code."""
        if self.code_suffix == ".ptx" and shutil.which("ptxas") is None:
            return
        usages(text, self)

    def obstacle(self) -> str | None:
        return None


@dataclass(frozen=True, kw_only=True)
class EmulatedCuda(Emulated, CudaTarget):
    """CUDA's."""

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        load_driver("libcuda.so.1")
        return super().load(code, exports)


@dataclass(frozen=True, kw_only=True)
class EmulatedAmd(Emulated, AmdTarget):
    """AMD's."""

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        load_driver("libamdhip64.so", "-DHIP")
        return super().load(code, exports)


def _emulated(cls: type, one: KernelTarget) -> KernelTarget:
    words = {key: getattr(one, key) for key in ("machine", "cpu", "features", "family")}
    return cls(name=f"emulated-{one.name}", summary="in tests", **words)


TARGETS = (
    *(_emulated(EmulatedCuda, one) for one in CUDA),
    *(_emulated(EmulatedAmd, one) for one in AMD),
)


def host() -> None:
    """No machine is one of these alone."""

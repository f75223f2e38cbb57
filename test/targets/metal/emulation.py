"""Metal without a Mac: the kernels' text as C++, each thread of a group a fiber.

`metal_stdlib` beside this stands for Metal's library, `emulated.c` for the host of Metal's. Where
clang is there, it reads the text as C++ for OpenCL too, which has spaces of memory and more of
Metal's words. What stays unchecked is what only Apple's compiler and driver know, and `metal.m`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from hashlib import sha256
from os import getpid
from pathlib import Path

from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.targets.metal import MetalTarget, devices
from nnc.targets.source.kernels import Kernels

from ...leftovers import lasting

HERE = Path(__file__).parent
FIBERS = HERE.parent / "fibers"
COMPILER = shutil.which("g++")
CLANG = shutil.which("clang")

_KERNEL = re.compile(
    r"\[\[kernel, max_total_threads_per_threadgroup\((\d+)\)\]\]\nvoid (\w+)\((.*)\) \{"
)
_PARAMETER = re.compile(r"(.*?)(\w+) \[\[(\w+)(?:\((\d+)\))?\]\]")
_IDS = {
    **dict.fromkeys(
        (
            "thread_position_in_threadgroup",
            "threadgroup_position_in_grid",
            "threads_per_threadgroup",
            "threadgroups_per_grid",
        ),
        "uint3 ",
    ),
    **dict.fromkeys(("thread_index_in_simdgroup", "simdgroup_index_in_threadgroup"), "uint "),
}


def as_cpp(text: str) -> str:
    """Kernels as C++ with a function for each that runs all groups."""
    found = re.sub(r"\bthreadgroup (\w+ \w+\[)", r"static \1", text)
    entries = []
    for kernel in _KERNEL.finditer(text):
        threads, name, parameters = kernel.groups()
        body = text[kernel.end() : text.find("\n}", kernel.end())]
        waits = int("threadgroup_barrier" in body or "nnc_shuffle" in body)
        arguments = []
        for position, parameter in enumerate(parameters.split(", ")):
            match = _PARAMETER.fullmatch(parameter)
            assert match, parameter
            type, _, attribute, number = match.groups()
            if attribute == "buffer":
                assert int(number) == position < 31
                arguments.append(f"({type})buffers[{number}]")
            else:
                assert _IDS[attribute] == type
                arguments.append(f"shim_{attribute}")
        call = f"{name}({', '.join(arguments)})"
        entries.append(
            f'extern "C" const char *shim_{name}(const size_t *grid, void **buffers) {{\n'
            f"    return shim_run(grid, {threads}, SHIM_SUBGROUP, {waits}, [&] {{ {call}; }});\n}}\n"
        )
    assert len(entries) == text.count("[[kernel")
    return found + "\n" + "".join(entries)


def fault_of_spaces(text: str) -> str:
    """What clang has against kernels as C++ for OpenCL: spaces of memory, words that are taken."""
    assert CLANG is not None
    text = re.sub(r"\[\[kernel, .*\]\]\nvoid", "__kernel void", text)
    command = [
        CLANG,
        "-x",
        "cl",
        "-cl-std=clc++",
        "-fsyntax-only",
        "-w",
        f"-I{HERE / 'spaces'}",
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


def compiled(text: str) -> Path:
    """A library of kernels, made once for each text."""
    assert COMPILER is not None
    cpp = as_cpp(text)
    parts = [(HERE / "metal_stdlib").read_bytes(), (FIBERS / "fibers.h").read_bytes()]
    stamp = sha256(b"".join([cpp.encode(), *parts])).hexdigest()[:24]
    folder = lasting("nnc-metal-emulation")
    library = folder / f"{stamp}.so"
    if not library.exists():
        if CLANG is not None and (fault := fault_of_spaces(text)):
            raise NncError(f"the kernels are no Metal: {fault[:2000]}")
        source = folder / f"{stamp}.{getpid()}.cpp"
        source.write_text(cpp)
        made = library.with_suffix(f".{getpid()}")
        flags = ["-std=c++14", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w"]
        command = [COMPILER, *flags, f"-I{HERE}", "-shared", "-fPIC", source, "-o", made]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NncError(f"the kernels are no C++: {done.stderr[:2000]}")
        made.rename(library)
    return library


@dataclass(frozen=True, kw_only=True)
class EmulatedMetal(MetalTarget):
    """Metal's kernels, run by this machine's processor."""

    @property
    def source(self) -> Path:
        return HERE / "emulated.c"

    def code_of(self, kernels: Operation) -> Kernels:
        found = super().code_of(kernels)
        return replace(found, text=str(compiled(found.text)))

    def obstacle(self) -> str | None:
        return None


TARGETS = (
    EmulatedMetal(
        name="emulated-metal", summary="Metal in tests", family="metal", machine=devices.M1
    ),
)


def host() -> None:
    """No machine is one of these alone."""

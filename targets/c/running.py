"""C text in this process: built as a shared library by the installed compiler."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from ...ir.diagnostics import NncError
from ...runtime.program import LinkedCode

_THREADS = Path(__file__).parent / "threads.c"
_USUAL = """
    -std=c99 -O2 -march=native -fno-math-errno -fno-trapping-math -fno-unroll-loops -w -shared -fPIC
"""
FLAGS = _USUAL.split()
"""Compiler flags. Loops are not unrolled further than schedules do: clang 14 would, which costs 10
%."""
CPP_FLAGS = ["-std=c++14", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC"]


@cache
def compiler() -> tuple[str, ...]:
    """The command of a C compiler: $CC, or a usual one; empty if none is installed."""
    given = shlex.split(os.environ.get("CC", ""))
    if given and shutil.which(given[0]):
        return tuple(given)
    for name in ("gcc", "clang", "cc"):
        if shutil.which(name):
            return (name,)
    return (sys.executable, "-m", "ziglang", "cc") if find_spec("ziglang") else ()


@cache
def cpp_compiler() -> tuple[str, ...]:
    """The command of a C++ compiler: $CXX, or a usual one; empty if none is installed."""
    given = shlex.split(os.environ.get("CXX", ""))
    if given and shutil.which(given[0]):
        return tuple(given)
    for name in ("g++", "clang++", "c++"):
        if shutil.which(name):
            return (name,)
    return (sys.executable, "-m", "ziglang", "c++") if find_spec("ziglang") else ()


class LoadedText(LinkedCode):
    """A library of C text; `[name]` is an address."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __getitem__(self, name: str) -> int:
        address = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert address is not None
        return address


def load_text(code: bytes) -> LoadedText:
    """Build and load C text. Raises NncError with the start of the compiler's message."""
    return load_library(library_of(code + _THREADS.read_bytes()))


def library_of(code: bytes) -> bytes:
    """The library that the compiler makes of C text that starts no threads. Raises NncError."""
    return _built([*compiler(), *FLAGS], "C", code, ["-lm", "-lpthread"])


def load_cpp(code: bytes) -> LoadedText:
    """Build and load C++ text. Raises NncError with the start of the compiler's message."""
    return load_library(_built([*cpp_compiler(), *CPP_FLAGS], "C++", code, ["-lm"]))


def load_library(library: bytes) -> LoadedText:
    """Load a shared library, given as bytes. Raises NncError."""
    with TemporaryDirectory(prefix="nnc-") as folder:
        path = Path(folder) / "model.so"
        path.write_bytes(library)
        try:
            return LoadedText(ctypes.CDLL(str(path)))
        except OSError as error:
            raise NncError(f"the C text was built but does not load: {error}") from None


def _built(command: list[str], language: str, code: bytes, libraries: list[str]) -> bytes:
    with TemporaryDirectory(prefix="nnc-") as folder:
        name = {"C": "model.c", "C++": "model.cpp"}[language]
        source, library = Path(folder) / name, Path(folder) / "model.so"
        source.write_bytes(code)
        command += [str(source), "-o", str(library), *libraries]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = next((line for line in done.stderr.splitlines() if "error" in line), "")
            place = said.partition(f"{name}:")[2]
            said = f"line {place}" if place else said.strip() or done.stderr[-200:].strip()
            raise NncError(f"'{command[0]}' cannot build the {language} text: {said}")
        return library.read_bytes()

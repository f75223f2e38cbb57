"""Object files into a module of WebAssembly, by the linker of the `ziglang` package."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ...ir.diagnostics import NncError
from ..linker import Toolchain

PAGE = 1 << 16
"""Units: bytes. Memory grows by these."""
MEMORY = 1 << 32
"""Units: bytes. What 32 bits reach."""
STACK = 1 << 20
"""Units: bytes. Of the first thread, at the bottom: beyond it there is nothing to overwrite."""


@dataclass(frozen=True)
class WasmToolchain(Toolchain):
    """Zig's C compiler and `wasm-ld`, for modules without a system."""

    def compile(self, source: Path, output: Path, defines: dict[str, str]) -> None:
        """An object file of C. Raises NncError."""
        flags = ["-Os", *(f"-D{name}={value}" for name, value in defines.items())]
        self._run([*self.driver, "-c", *flags, str(source), "-o", str(output)])

    def module(
        self,
        objects: Sequence[Path],
        output: Path,
        exports: Sequence[str],
        pages: int,
        shared: bool,
    ) -> None:
        """A module that imports a memory of so many pages or more, shared by threads or not.

        What `env` has to give are the functions that no object file has. Raises NncError.
        """
        options = ["--no-entry", "--import-memory", "--gc-sections", "--strip-all", "--stack-first"]
        options += ["-z", f"stack-size={STACK}", f"--initial-memory={pages * PAGE}"]
        options += [f"--max-memory={MEMORY}", "--allow-undefined", "--export=__stack_pointer"]
        options += [f"--export={name}" for name in exports]
        options += ["--shared-memory"] if shared else []
        linker = [*self.archiver[:-1], "wasm-ld"]
        self._run([*linker, *options, *map(str, objects), "-o", str(output)])


def find_wasm_toolchain() -> WasmToolchain:
    """Raises NncError where there is none."""
    if not find_spec("ziglang"):
        raise NncError("a module of WebAssembly needs a linker: `pip install 'nnc[cross]'`")
    zig = (sys.executable, "-m", "ziglang")
    features = "mvp+atomics+bulk_memory+mutable_globals+nontrapping_fptoint+sign_ext"
    driver = (*zig, "cc", "-target", "wasm32-freestanding", f"-mcpu={features}")
    return WasmToolchain(driver, (*zig, "ar"))

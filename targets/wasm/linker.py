"""Object files into a module of WebAssembly, by the linker of the `ziglang` package."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from ...ir.diagnostics import NncError
from ..linker import Toolchain

PAGE = 1 << 16
"""The bytes by which memory grows."""
MEMORY = 1 << 32
"""The bytes that 32-bit addresses reach."""
STACK = 1 << 20
"""The bytes of the first thread's stack, at the lowest addresses: an overflow overwrites nothing.
"""


@dataclass(frozen=True)
class Place:
    """The memory address and the first table index of a module that shares another one's memory."""

    address: int
    function: int


@dataclass(frozen=True)
class WasmToolchain(Toolchain):
    """Zig's C compiler and `wasm-ld`, for modules without a system."""

    def compile(self, source: Path, output: Path, defines: dict[str, str]) -> None:
        """Compile C text to an object file. Raises NncError."""
        flags = ["-Os", *(f"-D{name}={value}" for name, value in defines.items())]
        self._run([*self.driver, "-c", *flags, str(source), "-o", str(output)])

    def module(
        self,
        objects: Sequence[Path],
        output: Path,
        exports: Sequence[str],
        pages: int,
        shared: bool,
        table: bool = False,
    ) -> None:
        """Link a module that imports a memory of at least `pages` pages, perhaps shared by threads.

        It imports undefined functions from `env`. With `table`, the table of functions that are
        called indirectly is exported, and may grow. Raises NncError.
        """
        options = ["--stack-first", f"--initial-memory={pages * PAGE}", "--export=__stack_pointer"]
        options += ["--export-table", "--growable-table"] if table else []
        self._link(objects, output, exports, shared, options)

    def linked_beside(
        self, codes: Sequence[bytes], tags: Sequence[int], place: Place, shared: bool
    ) -> bytes:
        """A module of candidates that is loaded beside another one, whose memory and table it
        imports.

        It exports `nnc_candidate_TAG` and `nnc_candidate_TAG_needs` for each tag. Raises NncError.
        """
        options = ["--no-stack-first", f"--global-base={place.address}", "--growable-table"]
        options += ["--import-table", f"--table-base={place.function}"]
        names = [f"nnc_candidate_{tag}" for tag in tags]
        with TemporaryDirectory(prefix="nnc-") as folder:
            output = Path(folder) / "candidates.wasm"
            objects = [output.with_name(f"{name}.o") for name in names]
            for path, code in zip(objects, codes, strict=True):
                path.write_bytes(code)
            exports = [*names, *(f"{name}_needs" for name in names)]
            self._link(objects, output, exports, shared, options)
            return output.read_bytes()

    def _link(
        self,
        objects: Sequence[Path],
        output: Path,
        exports: Sequence[str],
        shared: bool,
        options: Sequence[str],
    ) -> None:
        common = ["--no-entry", "--import-memory", "--gc-sections", "--strip-all"]
        common += ["-z", f"stack-size={STACK}", f"--max-memory={MEMORY}", "--allow-undefined"]
        common += [f"--export={name}" for name in exports]
        common += ["--shared-memory"] if shared else []
        linker = [*self.archiver[:-1], "wasm-ld"]
        self._run([*linker, *common, *options, *map(str, objects), "-o", str(output)])


def find_wasm_toolchain() -> WasmToolchain:
    """The toolchain for WebAssembly. Raises NncError if it is not installed."""
    if not find_spec("ziglang"):
        raise NncError("a module of WebAssembly needs a linker: `pip install 'nnc[cross]'`")
    zig = (sys.executable, "-m", "ziglang")
    features = "mvp+atomics+bulk_memory+mutable_globals+nontrapping_fptoint+sign_ext"
    driver = (*zig, "cc", "-target", "wasm32-freestanding", f"-mcpu={features}")
    return WasmToolchain(driver, (*zig, "ar"))

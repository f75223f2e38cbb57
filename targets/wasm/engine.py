"""Node, which runs WebAssembly outside of browsers."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...ir.diagnostics import NncError

OLDEST = 20
"""The oldest supported version of Node."""
RELAXED, RELAXED_FLAG = 22, "--experimental-wasm-relaxed-simd"
"""The first version with relaxed vectors by default, and the flag for earlier ones."""
AT_ONCE = ("--no-liftoff", "--no-wasm-tier-up")
"""Node's flags that make the first call compile code fully optimized. Compiling all of it before
the first call, by `--no-wasm-lazy-compilation`, can hang in Node 24."""
_INSTALL = f"install Node {OLDEST} or newer (https://nodejs.org, or `apt-get install nodejs`)"


@dataclass(frozen=True)
class Node:
    """V8 with files, pipes and threads; `relaxed` enables code with relaxed vectors."""

    relaxed: bool = False
    program: str = "node"

    def missing(self) -> str | None:
        """What to install first; None if nothing is missing."""
        found = shutil.which(self.program)
        if found is None:
            return f"{self.program} is not installed: {_INSTALL}"
        version = _version(found)
        if version < OLDEST:
            return f"{self.program} is of version {version}: {_INSTALL}"
        return None

    def command(self) -> list[str]:
        """The start of a command line for JavaScript modules. Raises NncError without Node."""
        if missing := self.missing():
            raise NncError(missing)
        old = _version(shutil.which(self.program) or "") < RELAXED
        return [self.program, RELAXED_FLAG] if self.relaxed and old else [self.program]

    def argument(self, path: Path) -> str:
        """A file's path as the engine sees it."""
        return str(path)


@cache
def _version(path: str) -> int:
    """The major version of a Node; 0 if it is unknown."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", done.stdout)
    return int(found[1]) if found else 0

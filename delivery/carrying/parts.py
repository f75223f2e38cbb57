"""Parts of C libraries that a linker builds: built once, and shared read-only by all jobs.

A linker for another system builds the parts of that system's C library that it needs when it first
links, which takes some ten seconds, and keeps them in its cache. A job's own cache is empty at
first. So before the first job for a system, a trusted process links a trivial library, and jobs get
links to the parts that this has built.

`python -m nnc.delivery.carrying.parts TRIPLE` links such a library in the current folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from ...ir.diagnostics import NncError
from ...targets.base import asked
from ...targets.linker import find_toolchain

_SECONDS = 300.0
"""The time limit of a linker in seconds; after it, jobs make the parts themselves."""
_PAUSE = 1800.0
"""Seconds until parts that could not be made are tried again."""
_LOCKS: dict[Path, threading.Lock] = {}
_NEXT_TRY: dict[Path, float] = {}
"""For each folder of a system's parts: when they may be tried again. `_LOCKS` lets one job at a
time make them."""
_FINDING, _MADE = "h", ("b", "o")
"""The folders of Zig's cache that jobs share: one tells what exists, and is opened for writing even
by readers; the contents of the others never change. The rest serves the compilation of Zig itself.
"""


def parts_for(target: str, cache: Path) -> Path | None:
    """The folder of the parts that a linker needs for a target, built if it is missing.

    `cache` is a folder that jobs may read but not write. None if nothing is needed, or if the build
    fails: then the job, which tries the same, reports the reason.
    """
    with suppress(NncError, OSError, subprocess.SubprocessError):
        triple = asked(target).foreign_triple()
        if triple is None:
            return None
        folder = cache / "parts" / triple
        with _LOCKS.setdefault(folder, threading.Lock()):
            if not folder.exists():
                if time.monotonic() < _NEXT_TRY.get(folder, 0.0):
                    return None
                _NEXT_TRY[folder] = time.monotonic() + _PAUSE
                _make(triple, folder)
        return folder
    return None


def seed_parts(parts: Path, cache: Path) -> None:
    """Put the parts that `parts_for` built into a job's cache folder. Raises OSError."""
    shutil.copytree(parts / _FINDING, cache / "zig" / _FINDING)
    for kind in _MADE:
        (cache / "zig" / kind).mkdir()
        with suppress(FileNotFoundError):
            for one in (parts / kind).iterdir():
                (cache / "zig" / kind / one.name).symlink_to(one)


def _make(triple: str, folder: Path) -> None:
    """Build the parts for a system into a folder. Raises OSError, SubprocessError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as home:
        environment = {
            **os.environ,
            "HOME": home,
            "XDG_CACHE_HOME": home,
            "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path))),
        }
        for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
            environment.pop(name, None)
        subprocess.run(
            [sys.executable, "-P", "-m", __name__, triple],
            env=environment,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        made = Path(home) / "zig"
        for path in made.iterdir():
            if path.name not in (_FINDING, *_MADE):
                shutil.rmtree(path)
        os.rename(made, folder)


def link_nothing(triple: str, folder: Path) -> None:
    """Link a shared library with one function, for a system. Raises NncError."""
    toolchain = find_toolchain(triple)
    source, made = folder / "nothing.c", folder / "nothing.o"
    source.write_text("int nnc_nothing(void) { return 0; }\n")
    toolchain.compile(source, made, {})
    toolchain.shared_library([made], folder / "nothing.so", ["nnc_nothing"])


if __name__ == "__main__":
    link_nothing(sys.argv[1], Path.cwd())

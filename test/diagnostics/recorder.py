"""Notes which lines of the package an error is made below, while tests run."""

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from .sites import ROOT


class Recorder:
    """The (file, line) of every frame of the package above an error that was made."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._files: dict[str, str | None] = {}

    def install(self) -> None:
        """Watch errors and what argparse complains of."""
        from nnc.ir.diagnostics import NncError

        NncError.__init__ = self._watching(NncError.__init__)

    def _watching(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def watched(*args: Any, **named: Any) -> Any:
            self._note(sys._getframe(1))
            return function(*args, **named)

        return watched

    def _note(self, frame: Any) -> None:
        while frame is not None:
            file = self._relative(frame.f_code.co_filename)
            if file is not None:
                self.lines.add((file, frame.f_lineno))
            frame = frame.f_back

    def _relative(self, name: str) -> str | None:
        if name not in self._files:
            path = Path(os.path.realpath(name))
            inside = path.is_relative_to(ROOT) and "test" not in path.relative_to(ROOT).parts
            self._files[name] = str(path.relative_to(ROOT)) if inside else None
        return self._files[name]

    def write(self, folder: Path) -> None:
        """One file for each process that ran tests."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(sorted(self.lines)))


def provoked(folder: Path) -> set[tuple[str, int]]:
    """The lines that all processes of a test run have noted."""
    return {
        (file, line)
        for path in folder.glob("*.json")
        for file, line in json.loads(path.read_text())
    }

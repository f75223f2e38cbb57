"""The folder of a job: the part that its commands see, and the results taken from it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...ir.cache_home import data_home
from ...ir.diagnostics import NncError
from ..confined.limits import Ended, Limits
from ..confined.request import JOB
from ..confined.start import Confinement
from .job import CancelledError, Job, LostError, Progress
from .names import file_name
from .parts import parts_for, seed_parts
from .results import read_json, take

MOST_RESULT = 4 << 30
"""The most bytes of one result file."""
_MOST_TEXT, _MOST_ERROR = 300, 1000
_ERROR = re.compile(r"^(.*?: )?error: ")
"""The word by which commands say that a line is no warning; it follows the place."""
_MOST_LINES = 10_000
"""The most lines of a job's log."""


class Place:
    """Runs the commands of one job, which share a folder and the job's time.

    `home` is that folder, with the job's files in it; `results` holds the results taken out.
    """

    def __init__(
        self,
        job: Job,
        folder: Path,
        confinement: Confinement,
        limits: Limits,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> None:
        self.home, self.results = folder / "job", folder / "results"
        self._confinement, self._limits = confinement, limits
        self._progress, self._cancelled = progress, cancelled
        self._log: list[str] = []
        for one in (self.home, self.results):
            one.mkdir(parents=True)
        self.files: dict[str, str] = {}
        for kind, path in job.files.items():
            self.files[kind] = self._bring(kind, path)
        if "schedule" in job.options:
            self.files["schedule"] = self._write("schedule.mlir", str(job.options["schedule"]))
        self._seed(job.target)
        self._ends = time.monotonic() + job.seconds

    def _bring(self, kind: str, path: Path) -> str:
        """Move one of the job's files to a folder of its own, to avoid clashes of names."""
        name = f"{kind}/{file_name(path.name)}"
        (self.home / kind).mkdir()
        shutil.move(path, self.home / name)
        os.chmod(self.home / name, 0o644)
        return name

    def _write(self, name: str, text: str) -> str:
        (self.home / name).write_text(text, encoding="utf-8", errors="replace")
        return name

    def _seed(self, target: str) -> None:
        """Link the fork server's cached files and the linker's parts into the job's cache,
        read-only, and copy this machine's calibration.
        """
        with suppress(OSError):
            cache = self.home / ".cache" / "nnc"
            cache.mkdir(parents=True)
            for path in (self._confinement.cache / "nnc").iterdir():
                (cache / path.name).symlink_to(path)
        with suppress(OSError, shutil.Error):
            if parts := parts_for(target, self._confinement.cache):
                seed_parts(parts, self.home / ".cache")
        with suppress(OSError, shutil.Error):
            own = self.home / ".data" / "nnc" / "calibration"
            shutil.copytree(data_home() / "calibration", own)

    @property
    def left(self) -> float:
        """The seconds of the job's time that are left."""
        return self._ends - time.monotonic()

    def tell(self, step: str, done: float, text: str) -> None:
        """Report the job's progress; `done` is from 0 to 1."""
        self._progress({"step": step, "done": done, "text": text})

    def run(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        fresh: bool = False,
        seconds: float | None = None,
        nice: int = 0,
    ) -> Ended:
        """Run a command within the time that is left, or within `seconds` of it.

        Raises CancelledError, and LostError if the machine ended it.
        """
        allowed = max(0.1, self.left if seconds is None else min(seconds, self.left))
        limits = replace(self._limits, seconds=allowed)
        shown = shlex.join((module.rpartition(".")[2], *arguments))
        self._log.append(f"$ {self._plain(shown)}")
        ended = self._confinement.run(
            module,
            arguments,
            self.home,
            limits,
            fresh=fresh,
            nice=nice,
            say=self._said,
            cancelled=self._cancelled,
        )
        self._log.append(
            f"[{ended.about}; {ended.seconds:.1f} s, {ended.processor_seconds:.1f} s of processor "
            f"time, {ended.memory / 1e6:.0f} MB of memory, {ended.disk / 1e6:.0f} MB of disk]"
        )
        if ended.cause == "cancelled":
            raise CancelledError
        if ended.cause in ("lost", "unstarted"):
            raise LostError(ended.about)
        return ended

    def _said(self, line: str) -> None:
        line, note = self._plain(line), None
        if line.startswith("{"):
            with suppress(NncError):
                note = progress_note(read_json(line.encode(), "progress"))
        if note is not None:
            self._progress(note)
        elif len(self._log) < _MOST_LINES:
            self._log.append(line)

    def fault(self, ended: Ended) -> str:
        """Why a command failed: the first line of its error message, or how it ended."""
        if ended.cause or ended.status < 0:
            return ended.about
        lines = self._plain(ended.error.decode(errors="replace")).strip().splitlines()
        lines = [one for one in lines if one.strip() and not one.startswith(("{", "["))]
        return _ERROR.sub(r"\1", lines[0])[:_MOST_ERROR] if lines else ended.about

    def _plain(self, text: str) -> str:
        """A text without the paths of the folders in which commands see the job's files."""
        text = text.replace(f"{JOB}/", "").replace(f"{self.home.resolve()}/", "")
        for path in self.files.values():
            text = text.replace(path, Path(path).name)
        return text

    def take(self, name: str, called: str, most: int = MOST_RESULT) -> Path:
        """Move a file that a command has written to the results. Raises NncError."""
        return take(self.home, name, self.results / called, most)

    def log(self) -> Path:
        """Write the commands' standard error and resource use to a file; returns its path."""
        path = self.results / "log"
        path.write_text("\n".join(self._log) + "\n", encoding="utf-8", errors="replace")
        return path


def progress_note(found: Any) -> Mapping[str, Any] | None:
    """A line of progress, checked, or None if it is invalid."""
    if not isinstance(found, dict):
        return None
    step, done, text = found.get("step"), found.get("done"), found.get("text", "")
    if not isinstance(step, str) or not isinstance(text, str):
        return None
    if not isinstance(done, int | float) or not 0 <= done <= 1:
        return None
    return {"step": step[:_MOST_TEXT], "done": float(done), "text": text[:_MOST_TEXT]}

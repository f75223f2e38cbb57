"""The processes of a command: their combined resource use, and their end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")

MOST_ENTRIES, DEEPEST = 50_000, 64
"""The most files and folders in a folder, and their greatest depth."""


@dataclass
class Usage:
    """The combined resource use of processes. Units: seconds, bytes, number of threads."""

    processor_seconds: float = 0.0
    memory: int = 0
    written: int = 0
    threads: int = 0


class Tree:
    """A process and all its descendants.

    With `apart`, the process is the first one of a namespace, whose other processes end with it.
    Without, descendants are found by their parents, and the calling process must adopt orphans (see
    `adopt_orphans`).
    """

    def __init__(self, first: int, *, apart: bool) -> None:
        self.first, self._apart = first, apart
        self._proc = Path(f"/proc/{first}/root/proc") if apart else Path("/proc")

    def _all(self) -> Iterator[tuple[str, list[str]]]:
        """The id of each process, as text, and the fields of its `stat` from the state on."""
        found: dict[str, list[str]] = {}
        with suppress(OSError):
            for name in os.listdir(self._proc):
                if name.isdigit():
                    with suppress(OSError):
                        text = (self._proc / name / "stat").read_text(errors="replace")
                        found[name] = text.rpartition(")")[2].split()
        if self._apart:
            yield from found.items()
            return
        ours = str(os.getpid())
        inside = {ours}
        while new := {n for n, fields in found.items() if fields[1] in inside} - inside:
            inside |= new
        yield from ((name, found[name]) for name in inside - {ours})

    def usage(self) -> Usage:
        """The current resource use of all processes of the tree, and the processor time of those
        that have ended.
        """
        total = Usage()
        for name, fields in self._all():
            total.processor_seconds += sum(map(int, fields[11:15])) / _TICKS
            total.threads += int(fields[17])
            total.memory += int(fields[21]) * _PAGE
            total.written += self._written(name)
        return total

    def memory(self) -> int:
        """The resident bytes of all, counting shared pages once."""
        total = 0
        for name, _ in self._all():
            with suppress(OSError, ValueError, IndexError):
                text = (self._proc / name / "smaps_rollup").read_text()
                line = next(one for one in text.splitlines() if one.startswith("Pss:"))
                total += int(line.split()[1]) * 1024
        return total

    def _written(self, name: str) -> int:
        with suppress(OSError, ValueError, StopIteration):
            lines = (self._proc / name / "io").read_text().splitlines()
            return int(next(one for one in lines if one.startswith("write_bytes:")).split()[1])
        return 0

    def end(self) -> None:
        """Kill all of them, and wait until none is left."""
        with suppress(ProcessLookupError):
            os.kill(self.first, signal.SIGKILL)
        while not self._apart:
            left = [int(name) for name, _ in self._all()]
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not _reap_all():
                return

    def reap(self) -> None:
        """Reap orphans that have ended."""
        if not self._apart:
            with suppress(ChildProcessError):
                while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                    if ended is None or ended.si_pid == self.first:
                        return
                    os.waitpid(ended.si_pid, os.WNOHANG)


def _reap_all() -> bool:
    """Wait for a child, and reap all that have ended; returns whether there may be more."""
    try:
        os.wait()
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def size(folder: str) -> tuple[int, bool]:
    """The bytes on disk of a folder's contents, and whether there are too many entries to count."""
    total = entries = 0
    seen: set[tuple[int, int]] = set()
    waiting = [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        with suppress(OSError), os.scandir(path) as found:
            for one in found:
                entries += 1
                if entries > MOST_ENTRIES or depth > DEEPEST:
                    return total, True
                with suppress(OSError):
                    about = one.stat(follow_symlinks=False)
                    if (about.st_dev, about.st_ino) not in seen:
                        total += about.st_blocks * 512
                        if about.st_nlink > 1:
                            seen.add((about.st_dev, about.st_ino))
                    if one.is_dir(follow_symlinks=False):
                        waiting.append((one.path, depth + 1))
    return total, False

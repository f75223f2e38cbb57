"""The limits of a confined command, and how it ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ...ir.diagnostics import signal_name

Mode = Literal["namespaces", "landlock", "none"]
"""How a command is confined: in its own namespaces with Landlock and seccomp; by Landlock and
seccomp alone; or not (limits on time and memory still hold)."""

Cause = Literal[
    "", "time", "processor time", "memory", "disk", "processes", "cancelled", "lost", "unstarted"
]
"""Why a command was stopped from outside; empty if it ended by itself."""

_GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """The limits of a command with all processes that it starts. Units: seconds, bytes.

    `memory` limits each process (private data) and all of them together (resident); `file` limits
    each file. `disk` limits the contents of the folder; the bytes written in all may be four times
    as many. `processes` counts threads too.
    """

    seconds: float = 600.0
    processor_seconds: float = 1200.0
    memory: int = 4 * _GIB
    file: int = 2 * _GIB
    disk: int = 4 * _GIB
    processes: int = 256
    open_files: int = 1024
    output: int = 4 << 20
    """The most bytes kept of standard output, and of standard error."""

    def message(self) -> dict[str, Any]:
        """The limits as a message to the fork server."""
        return asdict(self)


@dataclass(frozen=True)
class Ended:
    """How a command ended. Units: seconds, bytes.

    `status` is its exit status, negative for the signal that ended it; `cause` says why it was
    ended from outside, if it was. `processor_seconds`, `memory` (the largest resident size that was
    seen) and `disk` are of all its processes together.
    """

    status: int
    cause: Cause = ""
    message: str = ""
    seconds: float = 0.0
    processor_seconds: float = 0.0
    memory: int = 0
    disk: int = 0
    output: bytes = field(default=b"", repr=False)
    error: bytes = field(default=b"", repr=False)

    @property
    def good(self) -> bool:
        """Whether the command ended by itself, with status 0."""
        return self.status == 0 and not self.cause

    @property
    def about(self) -> str:
        """The end of the command in one line, for the job's user."""
        if self.cause:
            return self.message or f"ended: {self.cause}"
        if self.status < 0:
            return f"ended by {signal_name(-self.status)}"
        return f"ended with status {self.status}"

"""Slots that run jobs one at a time, called hands: here those of this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...delivery.carrying.carry import carry
from ...delivery.carrying.job import Job, Outcome, Progress
from ...delivery.carrying.kept import Kept
from ...delivery.confined.limits import Limits
from ...delivery.confined.start import Confinement
from ..jobs import Wanted

LOOKS, PAGES = ("look",), ("page",)
PACKAGES = ("package",)
MEASURING = (*PACKAGES, "experiment")
"""Kinds of jobs that measure, of which a machine runs one at a time: they would disturb each other.
"""


class Hands(Protocol):
    """A slot, on this machine or a fleet, that runs one job at a time, on a thread of its own."""

    @property
    def name(self) -> str:
        """The slot's name, distinct on this server and kept across restarts."""
        ...

    def wanted(self) -> Wanted | None:
        """Which jobs the slot can run now; None if it can run no job."""
        ...

    def carry(
        self, job: Job, folder: Path, progress: Progress, cancelled: Callable[[], bool]
    ) -> Outcome:
        """Run a job in an empty folder. Raises LostError, CancelledError."""
        ...


@dataclass(frozen=True)
class Here:
    """A slot of this machine, which runs jobs as confined commands."""

    name: str
    which: Wanted
    confinement: Confinement
    limits: Limits
    kept: Kept | None = None

    def wanted(self) -> Wanted | None:
        return self.which

    def carry(
        self, job: Job, folder: Path, progress: Progress, cancelled: Callable[[], bool]
    ) -> Outcome:
        return carry(job, folder, self.confinement, self.limits, progress, cancelled, self.kept)

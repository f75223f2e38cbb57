"""Runs of a model on the same inputs, each timed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class TimedRuns(ABC):
    """Runs of a model on the same inputs, timed where its code runs."""

    where: str = ""
    """Where times are measured, such as `in the engine`; empty for this process."""

    @abstractmethod
    def run(self) -> int:
        """Run once; returns the time in nanoseconds. Raises NncError."""

    @abstractmethod
    def outputs(self) -> Mapping[str, Any]:
        """The outputs of the last run by name."""

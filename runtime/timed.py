"""Runs of a model on the same inputs, each timed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Model


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


class RunsHere(TimedRuns):
    """Runs of a model in this process, from the call to its outputs."""

    def __init__(self, model: Model, inputs: Mapping[str, Any]) -> None:
        self._model, self._inputs = model, inputs
        self._outputs: Mapping[str, Any] = {}

    def run(self) -> int:
        started = time.perf_counter_ns()
        self._outputs = self._model.run(self._inputs)
        return time.perf_counter_ns() - started

    def outputs(self) -> Mapping[str, Any]:
        return self._outputs

"""A job of the service, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["look", "page", "package", "experiment"]


@dataclass(frozen=True)
class Job:
    """The work to be done with a model.

    `files` are the paths of `model` and, if there are any, `inputs`. `seconds` limits the total
    time. `options` are those of its kind, as the service's users give them.
    """

    kind: Kind
    options: Mapping[str, Any]
    files: Mapping[str, Path]
    seconds: float = 1800.0
    model: str = ""
    """The service's name of the model; empty where jobs keep nothing for each other."""

    @property
    def target(self) -> str:
        """The name of the target; `host` is this machine."""
        return str(self.options.get("target") or "host")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job: `message` says why it failed; `files` are results by name.

    Names are `package`, `report`, `log`, `explore`; `summary` is JSON, for the database. A finished
    job may continue as one of the kind `then`, which is queued again.
    """

    state: Literal["done", "failed"]
    message: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)
    summary: Any = None
    then: Kind | None = None


Progress = Callable[[Mapping[str, Any]], None]
"""Called with the progress of a job: `step`, `done` from 0 to 1, `text`."""


class LostError(Exception):
    """A job that ended through the machine's fault, not its own: it is to be tried again."""


class CancelledError(Exception):
    """A job that was cancelled."""

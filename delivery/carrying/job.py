"""A job of the service, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["look", "page", "package", "experiment"]


@dataclass(frozen=True)
class Job:
    """What is to be done with a model.

    `files` are `model` and, where there are some, `inputs`, by their paths. `seconds` is how long
    all of it may take. `options` are those of its kind, as the service's users give them.
    """

    kind: Kind
    options: Mapping[str, Any]
    files: Mapping[str, Path]
    seconds: float = 1800.0

    @property
    def target(self) -> str:
        """Whom it is for; `host` is this machine."""
        return str(self.options.get("target") or "host")


@dataclass(frozen=True)
class Outcome:
    """What came of a job: `message` says why it failed; `files` are results by name.

    Names are `package`, `report`, `log`, `explore`; `summary` is JSON, for the database. A job that
    is done may go on as one of another kind, `then`, which waits for its own turn.
    """

    state: Literal["done", "failed"]
    message: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)
    summary: Any = None
    then: Kind | None = None


Progress = Callable[[Mapping[str, Any]], None]
"""Told how far a job is: `step`, `done` from 0 to 1, `text`."""


class LostError(Exception):
    """A job that ended for reasons of the machine's, not its own: it is to be tried again."""


class CancelledError(Exception):
    """A job that nobody wants any more."""

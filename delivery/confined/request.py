"""A request to a fork server: a command, its folder, its limits, and what it may see."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from .limits import Limits, Mode

JOB = "/job"
"""The path of the command's folder if it has its own root."""
INNER, OUTER = 1000, 64123
"""The user id of commands inside their namespaces, and outside if root starts them: one that owns
nothing, so that root's files are protected."""


@dataclass(frozen=True)
class Request:
    """One command. `read` are the paths that it may read, in addition to the system's own.

    `module` with `arguments` is run as by `python -m`: with `fresh` in a new interpreter, else in a
    fork of the server, which has imported what most commands need.
    """

    mode: Mode
    module: str
    arguments: Sequence[str]
    folder: str
    read: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    fresh: bool = True
    nice: int = 0

    @property
    def home(self) -> str:
        """The folder's path as the command sees it."""
        return JOB if self.mode == "namespaces" else self.folder

    def encoded(self) -> bytes:
        """The request as bytes."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def decoded(data: bytes) -> Request:
        """A request from its bytes."""
        found = json.loads(data)
        return Request(**{**found, "limits": Limits(**found["limits"])})

"""What a server answers, checked: fields that are missing or of another type are an error.

Fields that this version does not know are left out. Times are seconds since 1970 (UTC), sizes are
bytes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
Size = Annotated[int, Field(ge=0, lt=1 << 63)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Answer(BaseModel):
    """What all answers share."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)


class Limits(Answer):
    """What a user may have: bytes kept, jobs that wait, seconds of each job."""

    bytes: Size
    jobs_queued: Size
    seconds_per_job: Size


class Used(Answer):
    """What a user has of that."""

    bytes: Size
    jobs_queued: Size


class Me(Answer):
    """Who asks."""

    user: str
    quota: Limits
    used: Used


class Token(Answer):
    """A token of one's own; the token itself is told once, when it is made."""

    id: Identifier
    name: str
    created: float
    token: str | None = None


class Upload(Answer):
    """A file that is on its way: how much of it is there, and what it became once all of it is."""

    id: Identifier
    name: str
    purpose: Literal["model", "inputs"]
    bytes: Size
    sha256: Digest | None = None
    offset: Size
    model: Identifier | None = None
    inputs: Identifier | None = None

    @property
    def made(self) -> str | None:
        """What it became."""
        return self.model if self.purpose == "model" else self.inputs


class Model(Answer):
    """A model; `look` is what `nnc check --json` said of it, once the state is `ready`."""

    id: Identifier
    name: str
    bytes: Size
    sha256: Digest
    created: float
    state: Literal["looking", "ready", "refused"]
    error: str | None = None
    look: dict[str, Any] | None = None


class Target(Answer):
    """What can be compiled for; `measured` where the server can time it."""

    name: str
    about: str
    measured: bool
    why_not: str | None = None


class Engine(Answer):
    """What models are timed on."""

    name: str


class Progress(Answer):
    """Where a job is: a step, the part of it that is done, and words for people."""

    step: str = ""
    done: float | None = None
    text: str = ""


class Job(Answer):
    """One command of an order; `place` is its place in the queue, 1 the next one."""

    id: Identifier
    kind: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    place: int | None = None
    progress: Progress | None = None
    options: dict[str, Any] = {}
    error: str | None = None
    report: dict[str, Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.state in ("done", "failed", "cancelled")


class Order(Answer):
    """What was asked for at once; `comparison` sets its jobs beside each other."""

    id: Identifier
    model: Identifier
    created: float
    jobs: list[Job]
    comparison: Any = None

    @property
    def ended(self) -> bool:
        """Whether all of its jobs have."""
        return all(job.ended for job in self.jobs)


ANYTHING = TypeAdapter[Any](Any)
"""An answer that is not looked at."""
ME, TOKEN, TOKENS = TypeAdapter(Me), TypeAdapter(Token), TypeAdapter(list[Token])
UPLOAD, UPLOADS = TypeAdapter(Upload), TypeAdapter(list[Upload])
MODEL, MODELS = TypeAdapter(Model), TypeAdapter(list[Model])
TARGETS, ENGINES = TypeAdapter(list[Target]), TypeAdapter(list[Engine])
JOB, ORDER, ORDERS = TypeAdapter(Job), TypeAdapter(Order), TypeAdapter(list[Order])

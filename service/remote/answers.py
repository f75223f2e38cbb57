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
    operator: bool
    quota: Limits
    used: Used


class Token(Answer):
    """A token of one's own, without its text; `expires` is None where it never does."""

    id: Identifier
    name: str
    created: float
    expires: float | None
    used: float | None


class MadeToken(Token):
    """A token with its text, which is told once."""

    token: str


class Upload(Answer):
    """A file that is on its way: how much of it is there, and what it became once all of it is."""

    id: Identifier
    name: str
    purpose: Literal["model", "inputs"]
    bytes: Size
    sha256: Digest | None = None
    created: float
    offset: Size
    model: Identifier | None = None
    inputs: Identifier | None = None

    @property
    def made(self) -> str | None:
        """What it became."""
        return self.model if self.purpose == "model" else self.inputs


class Pages(Answer):
    """Which pages there are of a model; while one is being made, `making` is true."""

    explore: bool
    making: bool = False


class Model(Answer):
    """A model; `error` says why it is refused. `look` is what `nnc check --json` said of a model
    that is ready, where it was asked for alone.
    """

    id: Identifier
    name: str
    bytes: Size
    sha256: Digest
    created: float
    state: Literal["looking", "ready", "refused"]
    error: str | None
    look_job: Identifier | None
    pages: Pages
    look: Any = None


class InputsFile(Answer):
    """A file of values that models are measured and compared on."""

    id: Identifier
    name: str
    bytes: Size
    sha256: Digest
    created: float


class Target(Answer):
    """What can be compiled for; `measured` where packages have figures, else `why_not`."""

    name: str
    about: str
    measured: bool
    why_not: str | None


class Engine(Answer):
    """What models can be measured on, if it is `available`, else `why_not`."""

    name: str
    about: str
    available: bool
    why_not: str | None


class Progress(Answer):
    """Where a job is: a step, the part of it that is done, and words for people."""

    step: str = ""
    done: float | None = None
    text: str = ""


class Job(Answer):
    """One command that the server carries out; `place` is its place in the queue, 1 the next one.

    `files` names what can be taken of it, `report` is what came of it as data.
    """

    id: Identifier
    kind: str
    model: Identifier
    order: Identifier | None
    options: dict[str, Any]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    place: int | None
    progress: Progress | None
    error: str | None
    report: Any
    files: list[str]
    created: float
    started: float | None
    ended: float | None

    @property
    def over(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.state in ("done", "failed", "cancelled")


class Compared(Answer):
    """What one job of an order measured."""

    job: Identifier
    target: str
    precision: str
    report: Any


class Order(Answer):
    """What was asked for at once; `comparison` sets what its jobs measured beside each other, where
    the order was asked for alone.
    """

    id: Identifier
    model: Identifier
    inputs: Identifier | None
    options: dict[str, Any]
    created: float
    jobs: list[Job]
    comparison: list[Compared] | None

    @property
    def over(self) -> bool:
        """Whether all of its jobs are."""
        return all(job.over for job in self.jobs)


ME, TOKENS, MADE_TOKEN = TypeAdapter(Me), TypeAdapter(list[Token]), TypeAdapter(MadeToken)
UPLOAD, UPLOADS = TypeAdapter(Upload), TypeAdapter(list[Upload])
MODEL, MODELS = TypeAdapter(Model), TypeAdapter(list[Model])
INPUTS = TypeAdapter(list[InputsFile])
TARGETS, ENGINES = TypeAdapter(list[Target]), TypeAdapter(list[Engine])
PRECISIONS = TypeAdapter(list[str])
JOB, ORDER, ORDERS = TypeAdapter(Job), TypeAdapter(Order), TypeAdapter(list[Order])

"""A server's answers, checked: missing fields, or fields of another type, are an error.

Unknown fields are ignored. Times are seconds since 1970 (UTC), sizes are bytes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
Size = Annotated[int, Field(ge=0, lt=1 << 63)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Answer(BaseModel):
    """The base of all answers."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)


class Limits(Answer):
    """A user's limits: bytes stored, waiting jobs, seconds of each job."""

    bytes: Size
    jobs_queued: Size
    seconds_per_job: Size


class Used(Answer):
    """The part of the limits that is used."""

    bytes: Size
    jobs_queued: Size


class Me(Answer):
    """The user of the token."""

    user: str
    operator: bool
    quota: Limits
    used: Used


class Token(Answer):
    """A token of the user, without its text; `expires` is None if it never does."""

    id: Identifier
    name: str
    created: float
    expires: float | None
    used: float | None


class MadeToken(Token):
    """A token with its text, which is shown only once."""

    token: str


class Upload(Answer):
    """A file in transfer: how much of it has arrived, and what it became once it was complete."""

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
        """The id of the model or input file that it became."""
        return self.model if self.purpose == "model" else self.inputs


class Pages(Answer):
    """The pages about a model; while one is being made, `making` is true."""

    explore: bool
    making: bool = False


class Model(Answer):
    """A model; `error` says why it is refused. `look` is the output of `nnc check --json` for a
    model that is ready, in the answer for a single model.
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
    """A file of inputs that models are measured and compared on."""

    id: Identifier
    name: str
    bytes: Size
    sha256: Digest
    created: float


class Target(Answer):
    """A compilation target. Packages for it contain measurements if `measured`; else `why_not` says
    why they do not.
    """

    name: str
    about: str
    measured: bool
    why_not: str | None


class Engine(Answer):
    """An engine that models can be measured on if it is `available`; else `why_not` says why not.

    It runs models of these `formats`; none means all.
    """

    name: str
    about: str
    available: bool
    why_not: str | None
    formats: list[str] = []


class Progress(Answer):
    """The progress of a job: a step, the part of it that is done, and text for people."""

    step: str = ""
    done: float | None = None
    text: str = ""


class Job(Answer):
    """A job of the server; `place` is its position in the queue, 1 is next.

    `files` are the names of its downloads, `report` is its result as data.
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
        """Whether the job has reached its final state."""
        return self.state in ("done", "failed", "cancelled")


class Compared(Answer):
    """The measurements of one job of an order."""

    job: Identifier
    target: str
    precision: str
    report: Any


class Order(Answer):
    """An order of several jobs; `comparison` compares their measurements, in the answer for a
    single order.
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
        """Whether all of its jobs are over."""
        return all(job.over for job in self.jobs)


ME, TOKENS, MADE_TOKEN = TypeAdapter(Me), TypeAdapter(list[Token]), TypeAdapter(MadeToken)
UPLOAD, UPLOADS = TypeAdapter(Upload), TypeAdapter(list[Upload])
MODEL, MODELS = TypeAdapter(Model), TypeAdapter(list[Model])
INPUTS = TypeAdapter(list[InputsFile])
TARGETS, ENGINES = TypeAdapter(list[Target]), TypeAdapter(list[Engine])
PRECISIONS = TypeAdapter(list[str])
JOB, ORDER, ORDERS = TypeAdapter(Job), TypeAdapter(Order), TypeAdapter(list[Order])

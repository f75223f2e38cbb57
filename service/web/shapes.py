"""What requests and answers consist of, as OpenAPI describes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(max_length=200)]
_MOST = 2**53 - 1
"""The largest whole number that JSON's readers agree on."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SignIn(_Asked):
    """A token, or the secret of a one-time link."""

    token: str = Field(max_length=200)


class NewToken(_Asked):
    """A token to be made."""

    name: Name = "token"
    days: int | None = Field(None, ge=1, le=3650, description="until it expires; never if null")


class NewUpload(_Asked):
    """A file that is to be sent."""

    name: str = Field(max_length=1000, description="without folders; its extension says the format")
    bytes: int = Field(ge=1, le=_MOST)
    sha256: str | None = Field(None, max_length=64)
    purpose: Literal["model", "inputs"] = "model"


class NewOrder(_Asked):
    """A package for each target and precision."""

    targets: list[Name] = Field(["host"], max_length=64)
    precisions: list[Name] = Field(["f32"], max_length=16)
    threads: list[int] = Field([1], max_length=16)
    seconds: int = Field(0, ge=0, le=10**6, description="of tuning for each; 0: no tuning")
    engines: list[Name] = Field([], max_length=32, description="to measure on; all if empty")
    inputs: str | None = Field(None, max_length=22, description="a file of inputs; random if null")


class NewExperiment(_Asked):
    """The schedule of a kernel, to be checked and measured."""

    target: Name
    kernel: Name
    schedule: str = Field(min_length=1, max_length=200_000)


class Failure(BaseModel):
    """What every refusal says."""

    error: str


class Quotas(BaseModel):
    """What a user may have."""

    bytes: int
    jobs_queued: int
    seconds_per_job: int


class Used(BaseModel):
    """What of it is used."""

    bytes: int
    jobs_queued: int


class Me(BaseModel):
    """Who asks."""

    user: str
    operator: bool
    quota: Quotas
    used: Used


class Token(BaseModel):
    """A token without its text; times are seconds since 1970."""

    id: str
    name: str
    created: float
    expires: float | None
    used: float | None


class MadeToken(Token):
    """A token with its text, which is never shown again."""

    token: str


class Upload(BaseModel):
    """An upload; once it is finished, `model` or `inputs` says what it became."""

    id: str
    name: str
    purpose: str
    bytes: int
    sha256: str | None = None
    created: float
    offset: int
    model: str | None = None
    inputs: str | None = None


class Pages(BaseModel):
    """Which pages there are of a model; while one is being made, `making` is true."""

    explore: bool
    making: bool


class ModelRow(BaseModel):
    """A model as it is listed."""

    id: str
    name: str
    bytes: int
    sha256: str
    created: float
    state: Literal["looking", "ready", "refused"]
    error: str | None
    look_job: str | None
    pages: Pages


class Model(ModelRow):
    """A model with what `nnc check --json` said of it."""

    look: Any


class InputsFile(BaseModel):
    """A file of inputs."""

    id: str
    name: str
    bytes: int
    sha256: str
    created: float


class Target(BaseModel):
    """What models can be packaged for."""

    name: str
    about: str
    measured: bool
    why_not: str | None


class Engine(BaseModel):
    """What models can be measured on."""

    name: str
    about: str
    available: bool
    why_not: str | None


class Job(BaseModel):
    """A job; `place` is 1 for the next one, and `files` names what can be fetched of it.

    `report` is what came of it as JSON: of a package what was measured, of a look what
    `nnc check --json` said. A look goes on as a `page`, which shows the model's inside.
    """

    id: str
    kind: Literal["look", "page", "package", "experiment"]
    model: str
    order: str | None
    options: dict[str, Any]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    place: int | None
    progress: dict[str, Any] | None
    error: str | None
    report: Any
    files: list[str]
    created: float
    started: float | None
    ended: float | None


class Compared(BaseModel):
    """What one job measured."""

    job: str
    target: str
    precision: str
    report: Any


class Order(BaseModel):
    """An order with its jobs and what they measured; lists leave reports and comparison out."""

    id: str
    model: str
    inputs: str | None
    options: dict[str, Any]
    created: float
    jobs: list[Job]
    comparison: list[Compared] | None

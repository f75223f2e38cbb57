"""The types of requests and answers, as OpenAPI describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(max_length=200)]
_MOST = 2**53 - 1
"""The largest integer that all JSON readers represent exactly."""


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SignIn(_Asked):
    """A token, or the secret of a one-time link."""

    token: str = Field(max_length=200)


class NewToken(_Asked):
    """A token to make."""

    name: Name = "token"
    days: int | None = Field(None, ge=1, le=3650, description="until it expires; never if null")


class NewUpload(_Asked):
    """A file to be sent."""

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
    """The JSON of every answer that refuses a request."""

    error: str


class Quotas(BaseModel):
    """The limits of a user."""

    bytes: int
    jobs_queued: int
    seconds_per_job: int


class Used(BaseModel):
    """The part of the limits that is used."""

    bytes: int
    jobs_queued: int


class Me(BaseModel):
    """The signed-in user."""

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
    """An upload; once it is finished, `model` or `inputs` is the id of what it became."""

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
    """The pages about a model; while one is being made, `making` is true."""

    explore: bool
    making: bool


class ModelRow(BaseModel):
    """A model as listed."""

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
    """A model with the output of `nnc check --json`."""

    look: Any


class InputsFile(BaseModel):
    """An input file."""

    id: str
    name: str
    bytes: int
    sha256: str
    created: float


class Target(BaseModel):
    """A target that models can be packaged for."""

    name: str
    about: str
    measured: bool
    why_not: str | None


class Engine(BaseModel):
    """An engine that models can be measured on."""

    name: str
    about: str
    available: bool
    why_not: str | None
    formats: list[str] = Field(description="that it runs models of; empty for all")


class Job(BaseModel):
    """A job; `place` is 1 for the next one, and `files` are the names of its downloads.

    `report` is its result as JSON: the measurements of a package, or for a look the output of `nnc
    check --json`. A look goes on as a `page`, which shows the model's inside.
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
    """The measurements of one job."""

    job: str
    target: str
    precision: str
    report: Any


class Order(BaseModel):
    """An order with its jobs and their comparison; lists leave out reports and comparison."""

    id: str
    model: str
    inputs: str | None
    options: dict[str, Any]
    created: float
    jobs: list[Job]
    comparison: list[Compared] | None

"""Rows of jobs: how they are made, selected, ordered and read.

`Job` is a claimed job, `Wanted` the set of jobs that someone can run. Operations on jobs are in
`queue.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, func, not_, select

from ..ir.diagnostics import NncError
from .names import storable
from .storage.database import new_id
from .storage.schema import inputs, models, orders, users
from .storage.schema import jobs as rows

KINDS = {"look": 0, "experiment": 0, "page": 1, "package": 1}
"""The kinds of jobs with their priority among a user's jobs: short ones (0) run first. A `look`
continues as a `page`."""

ACTIVE = ("queued", "running")
"""The states of jobs that have not ended."""


@dataclass(frozen=True)
class Wanted:
    """The jobs that someone can run.

    `kinds` are their kinds; empty for all. They are for a target in `targets` or, if `others`, for
    any target that is not in `targets`; a job without a target, such as a look, counts as others.
    """

    kinds: Sequence[str] = ()
    targets: Sequence[str] = ()
    others: bool = True

    def fits(self) -> Any:
        """The condition on rows."""
        target = func.coalesce(rows.c.options["target"].as_string(), "")
        listed = target.in_(self.targets)
        fits = not_(listed) if self.others else listed
        return and_(fits, rows.c.kind.in_(self.kinds)) if self.kinds else fits


@dataclass(frozen=True)
class Job:
    """A claimed job."""

    id: str
    user: str
    kind: str
    options: Mapping[str, Any]
    model_name: str
    """The user's name for the model; no file name, see `file_name`."""
    blobs: Mapping[str, str]
    """The blobs that the job reads: `model`, and `inputs` if the order has some."""
    seconds: int
    """The time limit of the job."""
    owner: str
    attempt: int
    model: str = ""
    summary: Any = None
    """The summary of the model that the `look` found, if the job continues one."""


def new_row(
    user: str,
    model: str,
    kind: str,
    options: Mapping[str, Any],
    order: str | None = None,
    at: int = 0,
) -> dict[str, Any]:
    """The row of a new job; `at` is its index among those that are queued together."""
    return {
        "id": new_id(),
        "user": user,
        "model": model,
        "order": order,
        "kind": kind,
        "rank": KINDS[kind],
        "number": time.time_ns() + at,
        "options": storable(dict(options)),
        "state": "queued",
        "attempt": 0,
        "created": time.time(),
    }


def held(job: Job) -> Any:
    """The condition that a job is still running as the attempt `job`."""
    return and_(
        rows.c.id == job.id,
        rows.c.state == "running",
        rows.c.attempt == job.attempt,
        rows.c.owner == job.owner,
    )


def queued_for(target: str) -> Any:
    """The condition that a job waits for a machine that runs a target."""
    return and_(rows.c.state == "queued", rows.c.options["target"].as_string() == target)


def next_job(wanted: Wanted) -> Any:
    """The query for the next job: of the user served longest ago, the first by rank and age."""
    return (
        select(rows.c.id, rows.c.user)
        .join(users, users.c.id == rows.c.user)
        .where(rows.c.state == "queued", wanted.fits())
        .order_by(users.c.served, rows.c.rank, rows.c.number)
        .limit(1)
    )


def places_in_queue(connection: Connection, user: str) -> dict[str, int]:
    """The positions of a user's jobs in the queue if no others came: 1 is next.

    In each round each user has one turn, starting with the one who has waited longest.
    """
    turn = func.row_number().over(partition_by=rows.c.user, order_by=(rows.c.rank, rows.c.number))
    queued = (
        select(rows.c.id, rows.c.user, users.c.served, turn.label("turn"))
        .join(users, users.c.id == rows.c.user)
        .where(rows.c.state == "queued")
        .subquery()
    )
    place = func.row_number().over(order_by=(queued.c.turn, queued.c.served, queued.c.user))
    placed = select(queued.c.id, queued.c.user, place.label("place")).subquery()
    query = select(placed.c.id, placed.c.place).where(placed.c.user == user)
    return {row.id: row.place for row in connection.execute(query)}


def claimed_job(connection: Connection, id: str) -> Job:
    """A claimed job with its model's data. Raises NncError if the model is gone."""
    query = (
        select(
            rows,
            users.c.quota_seconds,
            models.c.name.label("model_name"),
            models.c.blob.label("model_blob"),
            inputs.c.blob.label("inputs_blob"),
        )
        .join(users, users.c.id == rows.c.user)
        .join(models, models.c.id == rows.c.model)
        .outerjoin(orders, orders.c.id == rows.c.order)
        .outerjoin(inputs, inputs.c.id == orders.c.inputs)
        .where(rows.c.id == id)
    )
    row = connection.execute(query).first()
    if row is None:
        raise NncError(f"job {id} has no model")
    read = {"model": row.model_blob}
    if row.inputs_blob is not None:
        read["inputs"] = row.inputs_blob
    return Job(
        row.id,
        row.user,
        row.kind,
        row.options,
        row.model_name,
        read,
        row.quota_seconds,
        row.owner,
        row.attempt,
        row.model,
        row.summary,
    )


SHOWN = (
    "id", "kind", "model", "order", "options", "state", "progress", "error",
    "created", "started", "ended",
)  # fmt: skip
"""The columns that users see."""


def shown_job(row: Row, place: int | None, names: list[str]) -> dict[str, Any]:
    """A job as users see it, with its position in the queue and the names of its files."""
    shown = {name: row._mapping[name] for name in SHOWN}
    return {**shown, "place": place, "report": row.report, "files": names}

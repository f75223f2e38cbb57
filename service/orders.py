"""Orders: a user's request for a job for each target and precision; and experiments."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select

from .catalogue import Catalogue
from .errors import ConflictError, InvalidError, NotFoundError
from .limits import Limits
from .models import Models
from .names import checked_id
from .queue import Queue
from .storage.database import Database, new_id
from .storage.files import Files
from .storage.schema import inputs, jobs, models
from .storage.schema import orders as rows

_MOST_THREADS = 1024


@dataclass(frozen=True)
class Wish:
    """The contents of an order: one package for each target and precision.

    `seconds` is the tuning budget for each package; no engines means all.
    """

    targets: Sequence[str]
    precisions: Sequence[str]
    threads: Sequence[int]
    seconds: int
    engines: Sequence[str]
    inputs: str | None


class Orders:
    """The orders of all users."""

    def __init__(
        self,
        database: Database,
        files: Files,
        queue: Queue,
        models: Models,
        catalogue: Catalogue,
        limits: Limits,
    ) -> None:
        self._database = database
        self._files = files
        self._queue = queue
        self._models = models
        self._catalogue = catalogue
        self._limits = limits

    def add(self, user: str, model: str, wish: Wish) -> dict[str, Any]:
        """Queue the jobs of an order.

        Raises NotFoundError, InvalidError, ConflictError, QuotaError.
        """
        found = self._models.get(user, model)
        if found["state"] == "refused":
            raise ConflictError(
                f"this model is refused: {found['error'] or 'its analysis was cancelled'}"
            )
        self._check(wish)
        shared = {
            "threads": list(wish.threads),
            "seconds": wish.seconds,
            "engines": list(wish.engines),
        }
        options = {"targets": list(wish.targets), "precisions": list(wish.precisions), **shared}
        id = new_id()
        row = {
            "id": id,
            "user": user,
            "model": model,
            "inputs": wish.inputs,
            "options": options,
            "created": time.time(),
        }
        wanted = [
            {"target": target, "precision": precision, **shared}
            for target in wish.targets
            for precision in wish.precisions
        ]
        with self._database.write() as connection:
            self._queue.check_room(connection, user, len(wanted))
            self._still_there(connection, user, model, wish.inputs)
            connection.execute(insert(rows).values(row))
            self._queue.add(connection, user, model, "package", wanted, id)
        return self.get(user, id)

    def add_experiment(self, user: str, model: str, options: Mapping[str, str]) -> dict[str, Any]:
        """Queue the trial of a schedule (`target`, `kernel`, `schedule`). Raises as `add`."""
        self._models.get(user, model)
        _check_known([options["target"]], self._catalogue.target_names(), "target")
        with self._database.write() as connection:
            self._queue.check_room(connection, user, 1)
            self._still_there(connection, user, model, None)
            (id,) = self._queue.add(connection, user, model, "experiment", [options])
        return self._queue.get(user, id)

    def all(self, user: str) -> list[dict[str, Any]]:
        """The user's orders, the newest first, with their jobs, but without reports."""
        query = select(rows).where(rows.c.user == user).order_by(rows.c.created.desc())
        with self._database.read() as connection:
            found = connection.execute(query).mappings().all()
        of_order: dict[str, list[dict[str, Any]]] = {}
        for job in self._queue.shown(user, jobs.c.order.is_not(None), reports=False):
            of_order.setdefault(job["order"], []).append(job)
        return [
            {**_shown(row), "jobs": of_order.get(row["id"], []), "comparison": None}
            for row in found
        ]

    def get(self, user: str, id: str) -> dict[str, Any]:
        """An order with its jobs, and a comparison of their measurements. Raises NotFoundError."""
        checked_id(id, "order")
        query = select(rows).where(rows.c.id == id, rows.c.user == user)
        with self._database.read() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise NotFoundError("there is no such order")
        of_order = self._queue.shown(user, jobs.c.order == id)
        comparison = [
            {
                "job": job["id"],
                "target": job["options"]["target"],
                "precision": job["options"]["precision"],
                "report": job["report"],
            }
            for job in of_order
            if job["state"] == "done"
        ]
        return {**_shown(row), "jobs": of_order, "comparison": comparison}

    def states(self, user: str, id: str) -> list[dict[str, Any]]:
        """The jobs of an order without reports; none if there is no such order."""
        return self._queue.shown(user, jobs.c.order == id, reports=False)

    def remove(self, user: str, id: str) -> None:
        """Delete an order with its jobs and results. Raises NotFoundError."""
        checked_id(id, "order")
        mine = (rows.c.id == id) & (rows.c.user == user)
        with self._database.write() as connection:
            if connection.scalar(select(rows.c.id).where(mine).with_for_update()) is None:
                raise NotFoundError("there is no such order")
            self._queue.remove(connection, jobs.c.order == id)
            connection.execute(delete(rows).where(mine))
        self._files.reap()

    def _check(self, wish: Wish) -> None:
        for name, values in (("targets", wish.targets), ("precisions", wish.precisions)):
            if not values or len(set(values)) != len(values):
                raise InvalidError(f"{name} names at least one, and none twice")
        if len(wish.targets) * len(wish.precisions) > self._limits.jobs_of_order:
            raise InvalidError(f"an order has at most {self._limits.jobs_of_order} packages")
        _check_known(wish.targets, self._catalogue.target_names(), "target")
        _check_known(wish.precisions, self._catalogue.precisions(), "precision")
        _check_known(wish.engines, self._catalogue.engine_names(), "engine")
        if not wish.threads or not all(1 <= n <= _MOST_THREADS for n in wish.threads):
            raise InvalidError(f"threads are one or more numbers of 1 to {_MOST_THREADS}")
        if wish.seconds < 0:
            raise InvalidError("seconds is at least 0")

    def _still_there(self, connection: Any, user: str, model: str, file: str | None) -> None:
        """Raise NotFoundError if the jobs' input is missing or another user's."""
        query = select(models.c.id).where(models.c.id == model, models.c.user == user)
        if connection.scalar(query.with_for_update()) is None:
            raise NotFoundError("there is no such model")
        if file is None:
            return
        checked_id(file, "file of inputs")
        query = select(inputs.c.id).where(inputs.c.id == file, inputs.c.user == user)
        if connection.scalar(query.with_for_update()) is None:
            raise NotFoundError("there is no such file of inputs")


def _check_known(asked: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in asked:
        if name not in known:
            raise InvalidError(f"there is no {what} '{name[:40]}'; known: {', '.join(known)}")


def _shown(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in ("id", "model", "inputs", "options", "created")}

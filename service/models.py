"""Models and input files that users have uploaded."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, delete, select

from ..delivery.carrying.kept import Kept
from .errors import NotFoundError
from .jobs import ACTIVE
from .names import checked_id
from .queue import Queue
from .storage.database import Database
from .storage.files import Files
from .storage.schema import blobs, inputs, jobs, models

_STATES = {"queued": "looking", "running": "looking", "done": "ready"}
_LOOKS = ("look", "page")
"""The kinds of the job that examines a model: after the check it makes the page about the model."""


class Models:
    """Uploaded models; a model's state is that of the job that examines it."""

    def __init__(self, database: Database, files: Files, queue: Queue, kept: Kept) -> None:
        self._database = database
        self._files = files
        self._queue = queue
        self._kept = kept

    def identifiers(self) -> set[str]:
        """The ids of all users' models."""
        with self._database.read() as connection:
            return set(connection.scalars(select(models.c.id)))

    def all(self, user: str) -> list[dict[str, Any]]:
        """The user's models, the newest first, without the results of their examination."""
        look = jobs.c.kind.in_(_LOOKS)
        looks = {job["model"]: job for job in self._queue.shown(user, look, reports=False)}
        query = _models(user).order_by(models.c.created.desc())
        with self._database.read() as connection:
            found = connection.execute(query).all()
        shown = [_shown(row, looks.get(row.id)) for row in found]
        for model in shown:
            model.pop("look")
        return shown

    def get(self, user: str, id: str) -> dict[str, Any]:
        """A model with the results of the look. Raises NotFoundError."""
        checked_id(id, "model")
        with self._database.read() as connection:
            row = connection.execute(_models(user).where(models.c.id == id)).first()
        if row is None:
            raise NotFoundError("there is no such model")
        looks = self._queue.shown(user, (jobs.c.model == id) & jobs.c.kind.in_(_LOOKS))
        return _shown(row, looks[-1] if looks else None)

    def page(self, user: str, id: str) -> Row:
        """The blob of the page that shows a model's inside. Raises NotFoundError."""
        look = self.get(user, id)["look_job"]
        if look is None:
            raise NotFoundError("this model has no page")
        return self._queue.file(user, look, "explore")

    def remove(self, user: str, id: str) -> None:
        """Delete a model with its orders, jobs and results. Raises NotFoundError."""
        checked_id(id, "model")
        mine = (models.c.id == id) & (models.c.user == user)
        with self._database.write() as connection:
            blob = connection.scalar(select(models.c.blob).where(mine).with_for_update())
            if blob is None:
                raise NotFoundError("there is no such model")
            self._queue.remove(connection, jobs.c.model == id)
            connection.execute(delete(models).where(mine))
            self._files.remove(connection, [blob])
        self._files.reap()
        self._kept.drop(id)

    def inputs(self, user: str) -> list[dict[str, Any]]:
        """The user's input files, the newest first."""
        query = (
            select(inputs, blobs.c.bytes, blobs.c.sha256)
            .join(blobs, blobs.c.id == inputs.c.blob)
            .where(inputs.c.user == user)
            .order_by(inputs.c.created.desc())
        )
        names = ("id", "name", "bytes", "sha256", "created")
        with self._database.read() as connection:
            return [
                {name: row[name] for name in names} for row in connection.execute(query).mappings()
            ]

    def remove_inputs(self, user: str, id: str) -> None:
        """Delete an input file; waiting orders continue with random inputs.

        Raises NotFoundError.
        """
        checked_id(id, "file of inputs")
        mine = (inputs.c.id == id) & (inputs.c.user == user)
        with self._database.write() as connection:
            blob = connection.scalar(select(inputs.c.blob).where(mine).with_for_update())
            if blob is None:
                raise NotFoundError("there is no such file of inputs")
            connection.execute(delete(inputs).where(mine))
            self._files.remove(connection, [blob])
        self._files.reap()


def _models(user: str) -> Any:
    return (
        select(models, blobs.c.bytes, blobs.c.sha256)
        .join(blobs, blobs.c.id == models.c.blob)
        .where(models.c.user == user)
    )


def _shown(row: Row, look: dict[str, Any] | None) -> dict[str, Any]:
    state = _STATES.get(look["state"], "refused") if look else "refused"
    error, found = (look["error"], look["report"]) if look else (None, None)
    making = False
    if look is not None and look["kind"] == "page":  # it is checked, whatever comes of the page
        making = look["state"] in ACTIVE
        if state == "refused" and found is not None:
            found = {**found, "no_page": error or "the job that makes it was cancelled"}
        state, error = "ready", None
    return {
        "id": row.id,
        "name": row.name,
        "bytes": row.bytes,
        "sha256": row.sha256,
        "created": row.created,
        "state": state,
        "error": error,
        "look": found,
        "look_job": look["id"] if look else None,
        "pages": {"explore": bool(look) and "explore" in look["files"], "making": making},
    }

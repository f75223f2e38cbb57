"""The owners of blobs: keeps the store and the table of its contents in step.

A blob is stored first and recorded after; it is removed from the table first and deleted after. So
a killed process leaves a blob that no table knows, which `sweep` deletes; never a row without its
blob.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from sqlalchemy import Connection, delete, func, insert, select

from ..errors import NotFoundError, QuotaError
from .blobs import Blobs
from .database import Database
from .schema import blobs as rows
from .schema import doomed, uploads, users

_YOUNG_SECONDS = 3600
"""The age, in seconds, below which unreferenced blobs are kept: they may be about to be referenced.
"""

_MANY = 500
"""The most rows of one statement; SQLite allows some thousand values."""


class Files:
    """Blobs with their owners and sizes."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self.blobs = blobs
        self._database = database

    def used(self, connection: Connection, user: str) -> int:
        """The bytes that a user occupies, including the announced size of running uploads."""
        stored = select(func.coalesce(func.sum(rows.c.bytes), 0)).where(rows.c.user == user)
        coming = select(func.coalesce(func.sum(uploads.c.bytes), 0)).where(
            uploads.c.user == user, uploads.c.made.is_(None)
        )
        return int(connection.scalar(stored) or 0) + int(connection.scalar(coming) or 0)

    def check_room(self, connection: Connection, user: str, more: int) -> None:
        """Raise QuotaError if a user has no room for `more` bytes.

        It locks the user's row until the transaction ends, so that concurrent requests count each
        other.
        """
        quota = connection.scalar(
            select(users.c.quota_bytes).where(users.c.id == user).with_for_update()
        )
        if quota is None:
            raise NotFoundError("there is no such user")
        used = self.used(connection, user)
        if used + more > quota:
            raise QuotaError(
                f"{more:,} bytes more than the {used:,} in use would exceed the quota of "
                f"{quota:,}: delete something"
            )

    def note(self, connection: Connection, user: str, id: str, bytes: int, sha256: str) -> None:
        """Record a stored blob."""
        row = {"id": id, "user": user, "bytes": bytes, "sha256": sha256, "created": time.time()}
        connection.execute(insert(rows).values(row))

    def remove(self, connection: Connection, ids: Iterable[str]) -> None:
        """Remove blobs without other references from the table; `reap` deletes them."""
        all = list(ids)
        for first in range(0, len(all), _MANY):
            some = all[first : first + _MANY]
            connection.execute(insert(doomed), [{"id": id} for id in some])
            connection.execute(delete(rows).where(rows.c.id.in_(some)))

    def remove_all(self, connection: Connection, user: str) -> None:
        """Remove all blobs of a user from the table."""
        self.remove(connection, connection.scalars(select(rows.c.id).where(rows.c.user == user)))

    def reap(self) -> None:
        """Delete removed blobs from the store. Raises NncError; the next call continues."""
        with self._database.read() as connection:
            ids = list(connection.scalars(select(doomed.c.id)))
        for id in ids:
            self.blobs.delete(id)
            with self._database.write() as connection:
                connection.execute(delete(doomed).where(doomed.c.id == id))

    def sweep(self) -> int:
        """Delete old blobs that no table knows; returns their number."""
        old = time.time() - _YOUNG_SECONDS
        found = [id for id, stored in self.blobs.identifiers() if stored < old]
        with self._database.read() as connection:
            known = set(connection.scalars(select(rows.c.id)))
            known.update(connection.scalars(select(uploads.c.id).where(uploads.c.made.is_(None))))
        strange = [id for id in found if id not in known]
        for id in strange:
            self.blobs.delete(id)
        return len(strange)

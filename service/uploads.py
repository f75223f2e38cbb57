"""Uploads that can be interrupted and resumed.

The bytes that have arrived are in a file of the server's folder, whose size is the offset: a killed
server resumes there. After the last byte, it becomes a model or an input file in the store.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from .errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    QuotaError,
    StoreFullError,
    TooLargeError,
)
from .limits import Limits
from .names import checked_file_name, checked_id
from .queue import Queue
from .storage.blobs import CHUNK, translated
from .storage.database import Database, new_id
from .storage.files import Files
from .storage.schema import inputs, models
from .storage.schema import uploads as rows

PURPOSES = {"model": models, "inputs": inputs}
"""The purposes of uploads, each with the table that the file is recorded in."""

_KEPT_SECONDS = 24 * 3600
"""How long the result of a finished upload is kept for a client that missed the answer."""

_DIGEST_DIGITS = 64


class Part:
    """The open file of an upload, for the bytes that arrive."""

    def __init__(self, handle: int, offset: int, bytes: int) -> None:
        self._handle = handle
        self._bytes = bytes
        self.offset = offset

    def write(self, content: bytes | bytearray) -> None:
        """Append bytes. Raises TooLargeError for too many, StoreFullError on a full disk."""
        if self.offset + len(content) > self._bytes:
            raise TooLargeError(f"more than the {self._bytes:,} bytes that were announced")
        view = memoryview(content)
        with translated("keep the upload"):
            while view:
                written = os.write(self._handle, view)
                self.offset += written
                view = view[written:]


class Uploads:
    """The running and just finished uploads of all users."""

    def __init__(
        self, database: Database, files: Files, queue: Queue, folder: Path, limits: Limits
    ) -> None:
        self._database = database
        self._files = files
        self._queue = queue
        self._folder = folder
        self._limits = limits
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def begin(
        self, user: str, name: str, bytes: int, digest: str | None = None, purpose: str = "model"
    ) -> dict[str, Any]:
        """Announce an upload: its size counts as used from now on.

        Raises InvalidError, TooLargeError, QuotaError, and StoreFullError if the disk has no room
        for it.
        """
        checked_file_name(name)
        if purpose not in PURPOSES:
            raise InvalidError(f"purpose is {' or '.join(PURPOSES)}, not '{purpose[:40]}'")
        if bytes < 1:
            raise InvalidError(f"bytes is at least 1, not {bytes}")
        if bytes > self._limits.upload_bytes:
            raise TooLargeError(f"a file has at most {self._limits.upload_bytes:,} bytes")
        if digest is not None and not _is_digest(digest):
            raise InvalidError(f"sha256 is {_DIGEST_DIGITS} hexadecimal digits")
        if shutil.disk_usage(self._folder).free < bytes + self._limits.free_bytes:
            raise StoreFullError("the disk of the service has no room for this file")
        now = time.time()
        row = {
            "id": new_id(),
            "user": user,
            "name": name,
            "purpose": purpose,
            "bytes": bytes,
            "sha256": digest.lower() if digest else None,
            "created": now,
            "touched": now,
            "made": None,
        }
        with self._database.write() as connection:
            self._files.check_room(connection, user, bytes)
            self._queue.check_room(connection, user, 1)
            opened = connection.scalar(
                select(func.count()).where(rows.c.user == user, rows.c.made.is_(None))
            )
            if (opened or 0) >= self._limits.open_uploads:
                raise QuotaError(f"{opened} uploads are under way: finish or delete some")
            connection.execute(insert(rows).values(row))
        return self._shown(row)

    def get(self, user: str, id: str) -> dict[str, Any]:
        """The offset of an upload, and what it became. Raises NotFoundError."""
        return self._shown(self._row(user, id)._mapping)

    def all(self, user: str) -> list[dict[str, Any]]:
        """The user's running uploads."""
        query = select(rows).where(rows.c.user == user, rows.c.made.is_(None))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(rows.c.created)).mappings().all()
        return [self._shown(row) for row in found]

    @contextmanager
    def writing(self, user: str, id: str, offset: int) -> Iterator[Part]:
        """The open file of an upload, for bytes from this offset on; one writer at a time.

        Raises NotFoundError, and ConflictError if the upload is at another offset or has a writer.
        """
        row = self._row(user, id)
        with self._alone(id):
            if row.made is not None:
                raise ConflictError("this upload is finished")
            path = self._folder / id
            with translated("keep the upload"):
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                at = self._offset(id)
                if at != offset:
                    raise ConflictError(f"the upload is at offset {at}, not {offset}")
                yield Part(handle, at, row.bytes)
            finally:
                os.close(handle)
                self._touch(id)

    def finish(self, user: str, id: str) -> dict[str, Any]:
        """Turn a complete upload into a model or input file; an incomplete one is returned as it
        is.

        It is idempotent, for clients that were interrupted. Raises NotFoundError, and InvalidError
        if the content is not what was announced, which deletes the upload.
        """
        row = self._row(user, id)
        with self._alone(id):
            row = self._row(user, id)
            if row.made is None and self._offset(id) == row.bytes:
                self._finish(row)
        return self.get(user, id)

    def remove(self, user: str, id: str) -> None:
        """Delete an upload; what it became stays.

        Raises NotFoundError, and ConflictError while it is being sent.
        """
        self._row(user, id)
        with self._alone(id):
            with self._database.write() as connection:
                connection.execute(delete(rows).where(rows.c.id == id, rows.c.user == user))
            (self._folder / id).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete idle uploads, and files without an upload."""
        now = time.time()
        idle = rows.c.made.is_(None) & (rows.c.touched < now - self._limits.idle_upload_seconds)
        told = rows.c.made.is_not(None) & (rows.c.touched < now - _KEPT_SECONDS)
        with self._lock:
            busy = set(self._busy)
        with self._database.write() as connection:
            connection.execute(delete(rows).where(idle & rows.c.id.not_in(busy) | told))
        with self._database.read() as connection:
            known = set(connection.scalars(select(rows.c.id)))
        for file in self._folder.iterdir():
            with self._lock:
                strange = file.name not in known and file.name not in self._busy
            if strange:
                file.unlink(missing_ok=True)

    def _finish(self, row: Row) -> None:
        path = self._folder / row.id
        with translated("read the upload"):
            arrived = path.exists() and path.stat().st_size == row.bytes  # else the store has it
            content = _parts(path) if arrived else self._files.blobs.read(row.id)
            digest = _digest(content)
        if row.sha256 not in (None, digest):
            self._drop(row.id)
            raise InvalidError(f"the content's SHA-256 is {digest}, not {row.sha256} as announced")
        if arrived:
            self._files.blobs.put(row.id, path)
        made = new_id()
        thing = {
            "id": made,
            "user": row.user,
            "name": row.name,
            "blob": row.id,
            "created": time.time(),
        }
        with self._database.write() as connection:
            still = connection.execute(select(rows.c.id).where(rows.c.id == row.id)).first()
            if still is not None:
                self._files.note(connection, row.user, row.id, row.bytes, digest)
                connection.execute(insert(PURPOSES[row.purpose]).values(thing))
                if row.purpose == "model":
                    self._queue.add_look(connection, row.user, made)
                connection.execute(
                    update(rows).where(rows.c.id == row.id).values(made=made, touched=time.time())
                )
        path.unlink(missing_ok=True)  # a store in a folder has moved it
        if still is None:  # the user was deleted meanwhile
            self._files.blobs.delete(row.id)
            raise NotFoundError("there is no such upload")

    def _drop(self, id: str) -> None:
        with self._database.write() as connection:
            connection.execute(delete(rows).where(rows.c.id == id))
        (self._folder / id).unlink(missing_ok=True)

    def _touch(self, id: str) -> None:
        with self._database.write() as connection:
            connection.execute(update(rows).where(rows.c.id == id).values(touched=time.time()))

    def _row(self, user: str, id: str) -> Row:
        checked_id(id, "upload")
        query = select(rows).where(rows.c.id == id, rows.c.user == user)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise NotFoundError("there is no such upload")
        return row

    def _offset(self, id: str) -> int:
        """The number of bytes that have arrived: all of them if the store has the file already."""
        try:
            return (self._folder / id).stat().st_size or self._files.blobs.size(id) or 0
        except FileNotFoundError:
            return self._files.blobs.size(id) or 0

    @contextmanager
    def _alone(self, id: str) -> Iterator[None]:
        with self._lock:
            if id in self._busy:
                raise ConflictError("somebody else is sending this upload right now")
            self._busy.add(id)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(id)

    def _shown(self, row: Any) -> dict[str, Any]:
        names = ("id", "name", "purpose", "bytes", "sha256", "created")
        shown = {name: row[name] for name in names}
        if row["made"] is not None:
            return {**shown, "offset": row["bytes"], row["purpose"]: row["made"]}
        return {**shown, "offset": self._offset(row["id"])}


def _is_digest(text: str) -> bool:
    return len(text) == _DIGEST_DIGITS and all(c in "0123456789abcdefABCDEF" for c in text)


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(CHUNK):
            yield part


def _digest(parts: Iterable[bytes]) -> str:
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()

"""The database of the service: SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, select, text, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from ...ir.diagnostics import NncError
from ..errors import StoreFullError
from .schema import METADATA, MIGRATIONS, SCHEMA_VERSION, meta

_BUSY_SECONDS = 60
"""The longest wait, in seconds, for SQLite's lock held by another process."""

_CONNECTIONS = 16
"""The size of the connection pool; under load it doubles."""


def new_id() -> str:
    """An identifier that nobody can guess: 128 random bits in 22 characters of URLs.

    None begins with `-`, which command lines would take for an option.
    """
    while (made := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return made


class Database:
    """Connections with the right isolation: `read()` for reading, `write()` for changes.

    A write is one transaction, done completely or not at all. SQLite admits one writer at a time;
    the lock is taken at the start, so that no write fails halfway for lack of it. PostgreSQL runs
    writers in parallel; one that decides on what it has read locks a row first (`with_for_update`).
    """

    def __init__(self, url: str) -> None:
        self.url = _checked_url(url)
        self.engine = _engine(self.url)
        self._is_sqlite = self.url.get_backend_name() == "sqlite"
        self._writer = threading.Lock()

    def prepare(self) -> None:
        """Create the tables, or migrate older ones to this version.

        Raises NncError if the database cannot be reached, or has a version that cannot be migrated:
        a newer one, or one that no nnc has written.
        """
        try:
            with self.write() as connection:
                if not self._is_sqlite:  # two servers that start at once
                    connection.execute(text("SELECT pg_advisory_xact_lock(6001)"))
                METADATA.create_all(connection, tables=[meta])
                found = connection.scalar(select(meta.c.value).where(meta.c.key == "version"))
                if found is None:
                    METADATA.create_all(connection)
                    row = {"key": "version", "value": str(SCHEMA_VERSION)}
                    connection.execute(insert(meta).values(row))
                else:
                    _migrate(connection, found, self.shown)
        except OperationalError as error:
            raise NncError(f"cannot open the database {self.shown}: {_reason(error)}") from None
        except DBAPIError as error:
            raise NncError(f"{self.shown} is not a database of nnc: {_reason(error)}") from None

    @property
    def shown(self) -> str:
        """The URL without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading only."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: committed at the end, rolled back by an exception.

        Raises StoreFullError if the disk of the database is full.
        """
        if not self._is_sqlite:
            with self.engine.begin() as connection, _full_disk():
                yield connection
            return
        with self._writer, _full_disk():
            writing = self.engine.execution_options(nnc_writes=True)
            with writing.begin() as connection:
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def _full_disk() -> Iterator[None]:
    """Turn the errors of both databases for a full disk into StoreFullError."""
    try:
        yield
    except DBAPIError as error:
        said = str(error.orig)
        if "disk is full" in said or "No space left" in said or "disk I/O error" in said:
            raise StoreFullError("the disk of the service is full") from error
        raise


def _checked_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise NncError(
            f"--database '{url}' is not a URL; expected sqlite:///FILE or postgresql://HOST/NAME"
        ) from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise NncError(f"--database {parsed.drivername}://..: only sqlite and postgresql are known")
    if parsed.drivername == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "postgresql":
            return create_engine(
                url, pool_size=_CONNECTIONS, max_overflow=_CONNECTIONS, pool_pre_ping=True
            )
        engine = create_engine(
            url,
            pool_size=_CONNECTIONS,
            max_overflow=_CONNECTIONS,
            connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
        )
    except (ImportError, NoSuchModuleError):
        raise NncError(
            "a PostgreSQL database needs psycopg: pip install 'nnc[serve-postgresql]'"
        ) from None
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # sqlite3 starts no transactions of its own: see below
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("nnc_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(connection: Connection, written: str | None, shown: str) -> None:
    try:
        found = int(written or "")
    except ValueError:
        raise NncError(f"{shown} is of no version that is a number: '{written}'") from None
    if found > SCHEMA_VERSION:
        raise NncError(
            f"{shown} is of version {found}, and this nnc knows {SCHEMA_VERSION}: use a newer nnc"
        )
    steps = range(found + 1, SCHEMA_VERSION + 1)
    if not MIGRATIONS.keys() >= set(steps):
        raise NncError(
            f"{shown} is of version {found}, of which this nnc makes no {SCHEMA_VERSION}: first "
            "start an nnc between the two"
        )
    for version in steps:
        MIGRATIONS[version](connection)
        connection.execute(update(meta).where(meta.c.key == "version").values(value=str(version)))


def _reason(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]

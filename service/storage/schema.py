"""The tables of the service, and migrations from older versions.

Times are seconds since 1970 (UTC), sizes bytes, identifiers 128 random bits in 22 characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

SCHEMA_VERSION = 1
"""The version of the tables below; a database stores its version in `meta`."""

METADATA = MetaData()

_ID = String(22)
_DIGEST = String(64)


def _user() -> Column:
    key = ForeignKey("users.id", ondelete="CASCADE")
    return Column("user", _ID, key, nullable=False, index=True)


def _name() -> Column:
    return Column("name", Text, nullable=False)


def _created() -> Column:
    return Column("created", Double, nullable=False)


def _blob() -> Column:
    return Column("blob", _ID, ForeignKey("blobs.id"), nullable=False)


meta = Table("meta", METADATA, Column("key", String(32), primary_key=True), Column("value", Text))

users = Table(
    "users",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    _created(),
    Column("operator", Boolean, nullable=False),
    Column("quota_bytes", BigInteger, nullable=False),
    Column("quota_jobs", Integer, nullable=False),
    Column("quota_seconds", Integer, nullable=False),
    Column("served", BigInteger, nullable=False, comment="grows with each job that is claimed"),
)

tokens = Table(
    "tokens",
    METADATA,
    Column("id", _ID, primary_key=True),
    _user(),
    Column("digest", _DIGEST, nullable=False, unique=True, comment="SHA-256 of the token"),
    _name(),
    Column("once", Boolean, nullable=False, comment="good for one session, and then gone"),
    _created(),
    Column("expires", Double),
    Column("used", Double),
)

sessions = Table(
    "sessions",
    METADATA,
    Column("digest", _DIGEST, primary_key=True, comment="SHA-256 of the cookie"),
    _user(),
    Column("token", _ID, ForeignKey("tokens.id", ondelete="CASCADE"), index=True),
    Column("expires", Double, nullable=False),
)

blobs = Table(
    "blobs",
    METADATA,
    Column("id", _ID, primary_key=True, comment="its name in the store"),
    _user(),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", _DIGEST, nullable=False),
    _created(),
)

doomed = Table("doomed", METADATA, Column("id", _ID, primary_key=True))
"""Blobs that no table refers to, still to be deleted from the store."""

uploads = Table(
    "uploads",
    METADATA,
    Column("id", _ID, primary_key=True),
    _user(),
    _name(),
    Column("purpose", String(16), nullable=False, comment="model or inputs"),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", _DIGEST, comment="as announced"),
    _created(),
    Column("touched", Double, nullable=False),
    Column("made", _ID, index=True, comment="the model or inputs file it became"),
)

models = Table(
    "models",
    METADATA,
    Column("id", _ID, primary_key=True),
    _user(),
    _name(),
    _blob(),
    _created(),
)

inputs = Table(
    "inputs",
    METADATA,
    Column("id", _ID, primary_key=True),
    _user(),
    _name(),
    _blob(),
    _created(),
)

orders = Table(
    "orders",
    METADATA,
    Column("id", _ID, primary_key=True),
    _user(),
    Column("model", _ID, ForeignKey("models.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("inputs", _ID, ForeignKey("inputs.id", ondelete="SET NULL")),
    Column("options", JSON, nullable=False),
    _created(),
)

jobs = Table(
    "jobs",
    METADATA,
    Column("id", _ID, primary_key=True),
    _user(),
    Column("model", _ID, ForeignKey("models.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("order", _ID, ForeignKey("orders.id", ondelete="CASCADE"), index=True),
    Column("kind", String(16), nullable=False),
    Column("rank", Integer, nullable=False, comment="of a user's jobs, a lower rank is first"),
    Column("number", BigInteger, nullable=False, comment="order in which jobs were queued"),
    Column("options", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("owner", String(200)),
    Column("lease", Double, comment="until when the owner has it"),
    Column("progress", JSON),
    Column("error", Text),
    Column("summary", JSON),
    _created(),
    Column("started", Double),
    Column("ended", Double),
    Index("jobs_by_state", "state", "user", "rank", "number"),
)

job_files = Table(
    "job_files",
    METADATA,
    Column("job", _ID, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(200), primary_key=True, comment="package, report, log, ..."),
    _blob(),
)

MIGRATIONS: Mapping[int, Callable[[Connection], None]] = {}
"""For each version n: the function that upgrades version n - 1, run in the transaction that stores
n."""

"""Users, their tokens, and the sessions of their browsers.

Tokens and cookies are 256 random bits; the database stores only their SHA-256, so that reading it
does not allow signing in.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from .errors import ConflictError, NotFoundError, QuotaError, UnauthorizedError
from .limits import Limits, Quota
from .names import checked_id, checked_name
from .storage.database import Database, new_id
from .storage.files import Files
from .storage.schema import inputs, jobs, models, sessions, tokens, uploads, users

_MOST_TOKENS = 100
_USED_SECONDS = 300
"""The resolution at which the time of a token's last use is stored. Units: seconds."""


@dataclass(frozen=True)
class User:
    """The user who makes a request."""

    id: str
    name: str
    operator: bool
    quota: Quota


class Accounts:
    """The users of the service, and how they are authenticated."""

    def __init__(self, database: Database, files: Files, limits: Limits) -> None:
        self._database = database
        self._files = files
        self._limits = limits

    def add(self, name: str, quota: Quota | None = None, *, operator: bool = False) -> User:
        """Add a user. Raises ConflictError if the name is taken, InvalidError if it is invalid."""
        quota = quota or self._limits.quota
        user = User(new_id(), checked_name(name, "the name of a user"), operator, quota)
        row = {
            "id": user.id,
            "name": user.name,
            "created": time.time(),
            "operator": operator,
            "quota_bytes": quota.bytes,
            "quota_jobs": quota.jobs,
            "quota_seconds": quota.seconds,
            "served": 0,
        }
        try:
            with self._database.write() as connection:
                connection.execute(insert(users).values(row))
        except IntegrityError:
            raise ConflictError(f"there is a user '{name}' already") from None
        return user

    def find(self, name: str) -> User:
        """The user of a name. Raises NotFoundError."""
        with self._database.read() as connection:
            row = connection.execute(select(users).where(users.c.name == name)).first()
        if row is None:
            raise NotFoundError(f"there is no user '{name}'")
        return _user(row)

    def all(self) -> list[User]:
        """All users, sorted by name."""
        with self._database.read() as connection:
            return [_user(row) for row in connection.execute(select(users).order_by(users.c.name))]

    def remove(self, user: User) -> None:
        """Delete a user with all of its data; running jobs end without a result."""
        with self._database.write() as connection:
            connection.execute(select(users.c.id).where(users.c.id == user.id).with_for_update())
            for table in (models, inputs, uploads):
                connection.execute(delete(table).where(table.c.user == user.id))
            self._files.remove_all(connection, user.id)
            connection.execute(delete(users).where(users.c.id == user.id))
        self._files.reap()

    def add_token(
        self, user: User, name: str, seconds: float | None = None, *, once: bool = False
    ) -> tuple[dict[str, Any], str]:
        """Add a token; returns its row, and its text, which is shown once and not stored.

        Raises QuotaError if the user has too many, InvalidError for its name.
        """
        token = f"nnc_{secrets.token_urlsafe(32)}"
        now = time.time()
        row = {
            "id": new_id(),
            "user": user.id,
            "digest": digest(token),
            "name": checked_name(name, "the name of a token"),
            "once": once,
            "created": now,
            "expires": None if seconds is None else now + seconds,
            "used": None,
        }
        with self._database.write() as connection:
            has = connection.scalar(select(func.count()).where(tokens.c.user == user.id))
            if (has or 0) >= _MOST_TOKENS:
                raise QuotaError(f"a user has at most {_MOST_TOKENS} tokens: delete some")
            try:
                connection.execute(insert(tokens).values(row))
            except IntegrityError:
                raise NotFoundError(f"there is no user '{user.name}'") from None
        return _shown_token(row), token

    def tokens(self, user: User) -> list[dict[str, Any]]:
        """The user's tokens, without their texts."""
        query = select(tokens).where(tokens.c.user == user.id).order_by(tokens.c.created)
        with self._database.read() as connection:
            return [_shown_token(row) for row in connection.execute(query).mappings()]

    def remove_token(self, user: User, id: str) -> None:
        """Delete a token, and end the sessions that it began. Raises NotFoundError."""
        checked_id(id, "token")
        with self._database.write() as connection:
            gone = connection.execute(
                delete(tokens).where(tokens.c.id == id, tokens.c.user == user.id)
            )
            if not gone.rowcount:
                raise NotFoundError("there is no such token")

    def by_token(self, token: str) -> User:
        """The user of a token. Raises UnauthorizedError where it is wrong, expired or deleted."""
        with self._database.read() as connection:
            found = _living_token(connection, token)
        if found is None or found.once:
            raise UnauthorizedError("this token is wrong, has expired or was deleted")
        if found.used is None or found.used < time.time() - _USED_SECONDS:
            with self._database.write() as connection:
                connection.execute(
                    update(tokens).where(tokens.c.id == found.token_id).values(used=time.time())
                )
        return _user(found)

    def sign_in(self, token: str) -> tuple[User, str]:
        """The user of a token, and the secret of a new session, for a cookie.

        Raises UnauthorizedError.
        """
        secret = secrets.token_urlsafe(32)
        now = time.time()
        with self._database.write() as connection:
            found = _living_token(connection, token)
            if found is None:
                raise UnauthorizedError("this token is wrong, has expired or was deleted")
            kept = None if found.once else found.token_id
            row = {
                "digest": digest(secret),
                "user": found.id,
                "token": kept,
                "expires": now + self._limits.session_seconds,
            }
            if found.once:
                gone = connection.execute(delete(tokens).where(tokens.c.id == found.token_id))
                if not gone.rowcount:  # somebody was faster
                    raise UnauthorizedError("this token is wrong, has expired or was deleted")
            connection.execute(insert(sessions).values(row))
        return _user(found), secret

    def by_session(self, secret: str) -> User:
        """The user of a session's secret. Raises UnauthorizedError if the session is over."""
        query = (
            select(users)
            .join(sessions, sessions.c.user == users.c.id)
            .where(sessions.c.digest == digest(secret), sessions.c.expires > time.time())
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise UnauthorizedError("this session is over: sign in again")
        return _user(row)

    def sign_out(self, secret: str) -> None:
        """End the session of a secret, if there is one."""
        with self._database.write() as connection:
            connection.execute(delete(sessions).where(sessions.c.digest == digest(secret)))

    def sweep(self) -> None:
        """Delete expired sessions and tokens."""
        now = time.time()
        with self._database.write() as connection:
            connection.execute(delete(sessions).where(sessions.c.expires < now))
            connection.execute(delete(tokens).where(tokens.c.expires < now))

    def shown(self, user: User) -> dict[str, Any]:
        """The user with quota and use, as shown to users."""
        active = select(func.count()).where(
            jobs.c.user == user.id, jobs.c.state.in_(("queued", "running"))
        )
        with self._database.read() as connection:
            used = self._files.used(connection, user.id)
            count = connection.scalar(active)
        quota = user.quota
        return {
            "user": user.name,
            "operator": user.operator,
            "quota": {
                "bytes": quota.bytes,
                "jobs_queued": quota.jobs,
                "seconds_per_job": quota.seconds,
            },
            "used": {"bytes": used, "jobs_queued": count},
        }


def digest(secret: str) -> str:
    """The digest under which the database stores a token or cookie."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _living_token(connection: Connection, token: str) -> Row | None:
    query = (
        select(users, tokens.c.id.label("token_id"), tokens.c.once, tokens.c.used)
        .join(tokens, tokens.c.user == users.c.id)
        .where(
            tokens.c.digest == digest(token),
            or_(tokens.c.expires.is_(None), tokens.c.expires > time.time()),
        )
    )
    return connection.execute(query).first()


def _user(row: Row) -> User:
    quota = Quota(row.quota_bytes, row.quota_jobs, row.quota_seconds)
    return User(row.id, row.name, bool(row.operator), quota)


_SHOWN: Sequence[str] = ("id", "name", "created", "expires", "used")


def _shown_token(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in _SHOWN}

"""The queue of jobs: their order, their owners, and their results.

    queued -> running -> done | failed
    queued | running -> cancelled
    running -> queued                   as a job of another kind: a look goes on as a page

A job is claimed for a time, its lease, which its owner renews. If the lease ends, the owner is
lost, and the job is queued again. Each claim is an attempt with a number; results of older attempts
are dropped, so a job is finished once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, delete, func, insert, null, select, update

from ..delivery.carrying.names import INPUTS, file_name
from .errors import ConflictError, NotFoundError, QuotaError
from .jobs import (
    ACTIVE,
    KINDS,
    SHOWN,
    Job,
    Wanted,
    claimed_job,
    held,
    new_row,
    next_job,
    places_in_queue,
    queued_for,
    shown_job,
)
from .limits import Limits
from .names import checked_id, storable
from .storage.blobs import copy_to
from .storage.database import Database
from .storage.files import Files
from .storage.files_of_results import stored_results
from .storage.schema import blobs, job_files, users
from .storage.schema import jobs as rows

_LONGEST_ERROR = 4000


class Queue:
    """The jobs of all users."""

    def __init__(self, database: Database, files: Files, limits: Limits) -> None:
        self._database = database
        self._files = files
        self._limits = limits

    # For users, who ask for jobs.

    def add_look(self, connection: Connection, user: str, model: str) -> None:
        """Queue the look at a model that was just uploaded."""
        connection.execute(insert(rows).values(new_row(user, model, "look", {})))

    def add(
        self,
        connection: Connection,
        user: str,
        model: str,
        kind: str,
        all_options: Sequence[Mapping[str, Any]],
        order: str | None = None,
    ) -> list[str]:
        """Queue a job for each of the options; `check_room` must have succeeded."""
        made = [
            new_row(user, model, kind, options, order, at) for at, options in enumerate(all_options)
        ]
        connection.execute(insert(rows), made)
        return [row["id"] for row in made]

    def check_room(self, connection: Connection, user: str, more: int) -> None:
        """Raise QuotaError if a user may not have `more` further jobs; see `Files.check_room`."""
        quota = connection.scalar(
            select(users.c.quota_jobs).where(users.c.id == user).with_for_update()
        )
        if quota is None:
            raise NotFoundError("there is no such user")
        active = connection.scalar(
            select(func.count()).where(rows.c.user == user, rows.c.state.in_(ACTIVE))
        )
        if (active or 0) + more > quota:
            raise QuotaError(
                f"{more} jobs more than the {active} that wait or run would exceed the quota of "
                f"{quota}"
            )

    def cancel(self, user: str, id: str) -> None:
        """End a job without a result.

        Raises NotFoundError, and ConflictError if it has ended.
        """
        checked_id(id, "job")
        mine = and_(rows.c.id == id, rows.c.user == user)
        change = {"state": "cancelled", "ended": time.time(), "owner": None, "lease": None}
        with self._database.write() as connection:
            changed = connection.execute(
                update(rows).where(mine, rows.c.state.in_(ACTIVE)).values(change)
            )
            if not changed.rowcount:
                state = connection.scalar(select(rows.c.state).where(mine))
                if state is None:
                    raise NotFoundError("there is no such job")
                raise ConflictError(f"this job is {state} already")

    # For dispatchers, which run jobs.

    def claim(self, owner: str, lease_seconds: float, wanted: Wanted | None = None) -> Job | None:
        """Claim the next of the wanted jobs for an owner, for that long; None if none waits. By
        default all are wanted.

        Users take turns. `owner` names a process that runs jobs, for instance `local:1`; see
        `release`.
        """
        now = time.time()
        self._take_back(rows.c.lease < now)
        while True:
            with self._database.write() as connection:
                next = connection.execute(next_job(wanted or Wanted())).first()
                if next is None:
                    return None
                # Users are locked before jobs everywhere, so that no two wait for each other.
                served = update(users).where(users.c.id == next.user)
                connection.execute(served.values(served=time.time_ns()))
                claimed = connection.execute(
                    update(rows)
                    .where(rows.c.id == next.id, rows.c.state == "queued")
                    .values(
                        state="running",
                        owner=owner,
                        lease=now + lease_seconds,
                        attempt=rows.c.attempt + 1,
                        started=now,
                        progress=None,
                    )
                )
                if claimed.rowcount:  # else another process was faster
                    return claimed_job(connection, next.id)

    def renew(self, job: Job, lease_seconds: float) -> bool:
        """Extend the lease of a job; False if it is no longer the owner's, who must stop it: it was
        cancelled, deleted, or taken back.
        """
        return self._change(job, {"lease": time.time() + lease_seconds})

    def progress(self, job: Job, progress: Mapping[str, Any]) -> bool:
        """Store a job's progress (`step`, `done` from 0 to 1, `text`); returns as `renew`."""
        return self._change(job, {"progress": storable(dict(progress))})

    def cancelled(self, job: Job) -> bool:
        """Whether the owner must stop this job; it does not renew the lease."""
        with self._database.read() as connection:
            return connection.scalar(select(rows.c.id).where(held(job))) is None

    def fetch(self, job: Job, folder: Path) -> dict[str, Path]:
        """Write the job's input files into a folder. Raises NncError.

        The model has the user's file name, as far as `file_name` keeps that.
        """
        names = {"model": file_name(job.model_name), "inputs": INPUTS}
        found = {}
        for kind, blob in job.blobs.items():
            found[kind] = folder / kind / names[kind]
            copy_to(self._files.blobs, blob, found[kind])
        return found

    def fetch_log(self, job: Job, path: Path) -> Path | None:
        """Write the log of a job's earlier kind to `path`; None if there is none.

        Raises NncError.
        """
        if job.summary is None:
            return None
        query = select(job_files.c.blob).where(job_files.c.job == job.id, job_files.c.name == "log")
        with self._database.read() as connection:
            blob = connection.scalar(query)
        if blob is None:
            return None
        copy_to(self._files.blobs, blob, path)
        return path

    def finish(
        self,
        job: Job,
        state: Literal["done", "failed"],
        summary: Any = None,
        files: Mapping[str, Path] | None = None,
        error: str | None = None,
    ) -> bool:
        """Commit the outcome of a job, completely or not at all; False if it is no longer wanted.

        `files` are moved into the store: `package`, `report`, `log`, `explore` are served by these
        names. Results that exceed the user's quota make it a failed job. Raises NncError if they
        cannot be stored; the job is then still running.
        """
        if state == "done" and isinstance(job.summary, dict):
            summary = {**job.summary, **(summary or {})}
        change = {
            "state": state,
            "summary": storable(job.summary if summary is None else summary),
            "error": storable((error or "")[:_LONGEST_ERROR]) or None,
            "ended": time.time(),
            "owner": None,
            "lease": None,
        }
        return self._commit(job, change, files or {})

    def go_on(self, job: Job, kind: str, summary: Any, files: Mapping[str, Path]) -> bool:
        """Queue a job again as one of another kind, and store its results so far. The arguments,
        the result and errors are as for `finish`.
        """
        change = {
            "state": "queued",
            "kind": kind,
            "rank": KINDS[kind],
            "summary": storable(summary),
            "progress": None,
            "owner": None,
            "lease": None,
        }
        return self._commit(job, change, files)

    def _commit(self, job: Job, change: dict[str, Any], files: Mapping[str, Path]) -> bool:
        """Change a job and store its files, completely or not at all; see `finish`."""
        if self.cancelled(job):
            return False
        with stored_results(self._files.blobs, files) as results:
            with self._database.write() as connection:
                try:
                    self._files.check_room(connection, job.user, results.bytes)
                except QuotaError as full:
                    change |= {"state": "failed", "error": f"its results: {full.message}"}
                    wanted = []
                except NotFoundError:
                    return False
                else:
                    wanted = results.all
                changed = connection.execute(update(rows).where(held(job)).values(change))
                if not changed.rowcount:
                    return False
                self._remove_files(connection, job, [result.name for result in wanted])
                for result in wanted:
                    self._files.note(connection, job.user, result.id, result.bytes, result.sha256)
                    row = {"job": job.id, "name": result.name, "blob": result.id}
                    connection.execute(insert(job_files).values(row))
            results.keep(wanted)
        return True

    def _remove_files(self, connection: Connection, job: Job, names: Sequence[str]) -> None:
        """Delete the files of these names that an earlier kind of the job has stored."""
        old = and_(job_files.c.job == job.id, job_files.c.name.in_(names))
        found = list(connection.scalars(select(job_files.c.blob).where(old)))
        connection.execute(delete(job_files).where(old))
        self._files.remove(connection, found)

    def waiting(self, targets: Sequence[str]) -> dict[str, float]:
        """The targets, of the given ones, that jobs wait for, each with the time since which its
        oldest job waits, in seconds of Unix time.
        """
        target = rows.c.options["target"].as_string()
        query = (
            select(target, func.min(rows.c.number))
            .where(rows.c.state == "queued", target.in_(targets))
            .group_by(target)
        )
        with self._database.read() as connection:
            return {name: number / 1e9 for name, number in connection.execute(query)}

    def explain(self, target: str, text: str) -> None:
        """Store why jobs of a target wait, as their progress."""
        note = {"step": "wait", "done": 0.0, "text": text}
        with self._database.write() as connection:
            connection.execute(update(rows).where(queued_for(target)).values(progress=note))

    def give_up(self, target: str, before: float, error: str) -> None:
        """Fail the jobs of a target that have waited since before a time."""
        old = and_(queued_for(target), rows.c.number < int(before * 1e9))
        change = {"state": "failed", "error": error, "ended": time.time(), "progress": None}
        with self._database.write() as connection:
            connection.execute(update(rows).where(old).values(change))

    def release(self, owner: str) -> None:
        """Queue the jobs again that an owner has claimed. A process calls this at its start: jobs
        of its name are left over from an earlier process.
        """
        self._take_back(rows.c.owner == owner)

    def _take_back(self, which: Any) -> None:
        lost = and_(rows.c.state == "running", which)
        with self._database.read() as connection:
            if connection.scalar(select(rows.c.id).where(lost).limit(1)) is None:
                return
        most = self._limits.attempts
        free = {"owner": None, "lease": None, "progress": None}
        reason = f"the machine that carried it out was lost, {most} times"
        with self._database.write() as connection:
            query = select(rows.c.id).where(lost).with_for_update(skip_locked=True)
            mine = rows.c.id.in_(list(connection.scalars(query)))
            connection.execute(
                update(rows)
                .where(mine, rows.c.attempt >= most)
                .values(state="failed", error=reason, ended=time.time(), **free)
            )
            connection.execute(update(rows).where(mine, lost).values(state="queued", **free))

    def _change(self, job: Job, values: Mapping[str, Any]) -> bool:
        with self._database.write() as connection:
            return bool(connection.execute(update(rows).where(held(job)).values(values)).rowcount)

    # For pages and metrics, which show jobs.

    def counts(self) -> dict[str, int]:
        """The number of jobs in each state."""
        query = select(rows.c.state, func.count().label("jobs")).group_by(rows.c.state)
        with self._database.read() as connection:
            return {row.state: row.jobs for row in connection.execute(query)}

    def get(self, user: str, id: str) -> dict[str, Any]:
        """A job as shown to users. Raises NotFoundError."""
        checked_id(id, "job")
        found = self.shown(user, rows.c.id == id)
        if not found:
            raise NotFoundError("there is no such job")
        return found[0]

    def shown(self, user: str, which: Any, *, reports: bool = True) -> list[dict[str, Any]]:
        """The user's jobs that fulfil a condition, in order, as shown to users.

        Reports can be large: without them they are null.
        """
        report = rows.c.summary if reports else null()
        columns = [rows.c[name] for name in SHOWN]
        query = select(*columns, report.label("report"))
        query = query.where(rows.c.user == user, which).order_by(rows.c.number)
        with self._database.read() as connection:
            found = connection.execute(query).all()
            ids = select(rows.c.id).where(rows.c.user == user, which)
            listed = connection.execute(
                select(job_files.c.job, job_files.c.name).where(job_files.c.job.in_(ids))
            ).all()
            waits = any(row.state == "queued" for row in found)
            places = places_in_queue(connection, user) if waits else {}
        names: dict[str, list[str]] = {}
        for job, name in listed:
            names.setdefault(job, []).append(name)
        return [shown_job(row, places.get(row.id), sorted(names.get(row.id, []))) for row in found]

    def file(self, user: str, job: str, name: str) -> Row:
        """The blob (`id`, `bytes`, `sha256`) of a job's file. Raises NotFoundError."""
        checked_id(job, "job")
        query = (
            select(blobs)
            .join(job_files, job_files.c.blob == blobs.c.id)
            .where(job_files.c.job == job, job_files.c.name == name, blobs.c.user == user)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            self.get(user, job)  # which says so where there is no such job
            raise NotFoundError(f"this job has no {name}")
        return row

    def remove(self, connection: Connection, which: Any) -> None:
        """Delete the jobs that fulfil a condition, with their results."""
        chosen = select(rows.c.id).where(which)
        results = list(
            connection.scalars(select(job_files.c.blob).where(job_files.c.job.in_(chosen)))
        )
        connection.execute(delete(rows).where(which))
        self._files.remove(connection, results)

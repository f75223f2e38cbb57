"""The service's limits: for all users together, and per user unless the account has others."""

from __future__ import annotations

from dataclasses import dataclass, field

_GB = 1_000_000_000


@dataclass(frozen=True)
class Quota:
    """The limits of one user: stored bytes, unfinished jobs, and the time of each job."""

    bytes: int = 10 * _GB
    """The storage of a user: models, inputs, results, and announced uploads."""
    jobs: int = 100
    """The most jobs of a user that wait or run."""
    seconds: int = 1800
    """The longest time of one job."""


@dataclass(frozen=True)
class Limits:
    """The limits of users, uploads, requests and sessions, as to number, size and time."""

    quota: Quota = field(default_factory=Quota)
    """The quota of users without one of their own."""
    upload_bytes: int = 4 * _GB
    """The largest uploaded file."""
    open_uploads: int = 100
    """The most unfinished uploads of one user."""
    idle_upload_seconds: float = 24 * 3600
    """How long an upload without new data is kept."""
    free_bytes: int = 1 * _GB
    """The disk space that must stay free; an upload that would leave less is refused at its start.
    """
    request_bytes: int = 1 << 20
    """The largest request body, except for uploads."""
    request_seconds: float = 30
    """The time in which a request's head, and such a body, must arrive."""
    idle_seconds: float = 30
    """The longest pause within an upload; the data received so far is kept."""
    least_rate: int = 1024
    """The least average rate of an upload after the first `idle_seconds`. Units: bytes per second.
    """
    jobs_of_order: int = 64
    """The most jobs of an order, which has one for each target and precision."""
    event_streams: int = 16
    """The most event streams that one user has open."""
    session_seconds: float = 7 * 24 * 3600
    """How long a browser stays signed in."""
    attempts: int = 5
    """The most attempts of a job whose machine is lost; then it has failed."""

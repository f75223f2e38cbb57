"""The service's limits: for all users together, and per user unless the account has others."""

from __future__ import annotations

from dataclasses import dataclass, field

_GB = 1_000_000_000


@dataclass(frozen=True)
class Quota:
    """The limits of one user at a time, and the longest time of one of the user's jobs."""

    bytes: int = 10 * _GB
    """Of models, inputs, results, and uploads as announced, together."""
    jobs: int = 100
    """Jobs that wait or run."""
    seconds: int = 1800
    """Of one job."""


@dataclass(frozen=True)
class Limits:
    """The limits of a request, and of its time."""

    quota: Quota = field(default_factory=Quota)
    """Of users whose account says nothing else."""
    upload_bytes: int = 4 * _GB
    """Of one file."""
    open_uploads: int = 100
    """Uploads of one user that are not finished."""
    idle_upload_seconds: float = 24 * 3600
    """After which an upload that nothing more arrives for is swept away."""
    free_bytes: int = 1 * _GB
    """Of the disk; an upload that would leave less is refused at its start."""
    request_bytes: int = 1 << 20
    """Of the body of a request that is no upload."""
    request_seconds: float = 30
    """In which such a body has arrived, and the head of any request."""
    idle_seconds: float = 30
    """In which the next bytes of an upload arrive; what has arrived is kept."""
    least_rate: int = 1024
    """Bytes a second that an upload reaches on average once `idle_seconds` have passed."""
    jobs_of_order: int = 64
    """Targets times precisions."""
    event_streams: int = 16
    """Streams of events that one user follows at a time."""
    session_seconds: float = 7 * 24 * 3600
    """After which a browser has to sign in again."""
    attempts: int = 5
    """How often a job is carried out whose machine was lost meanwhile, until it has failed."""

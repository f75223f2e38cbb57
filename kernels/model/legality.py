"""The error that all legality checks of schedules raise."""

from __future__ import annotations

from ...ir.core import Operation
from ...ir.diagnostics import NncError


class IllegalScheduleError(NncError):
    """A scheduling operation, or a whole schedule, would change what its kernel computes.

    Only legality checks raise it, so a search for schedules can catch it and go on.
    """


def illegal(op: Operation, message: str) -> IllegalScheduleError:
    """The error at an operation, in upstream's wording `'name' op message`."""
    return IllegalScheduleError(op.error(message).diagnostic)

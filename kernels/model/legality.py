"""What a schedule must not ask for: the one error that legality checks raise."""

from __future__ import annotations

from ...ir.core import Operation
from ...ir.diagnostics import NncError


class IllegalScheduleError(NncError):
    """A scheduling operation, or a whole schedule, that does not compute what its kernel says.

    Only checks of legality raise it: who looks for a schedule may take another one instead.
    """


def illegal(op: Operation, message: str) -> IllegalScheduleError:
    """The error at an operation, in upstream's wording `'name' op message`."""
    return IllegalScheduleError(op.error(message).diagnostic)

"""How long, and how often, a request is repeated."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server that has stopped answering. Units: seconds.

    There is a pause between tries: `first` seconds before the second try, then each one twice as
    long as the one before, but at most `longest`. A part of each is random, so that many clients do
    not come back at once. `seconds` limits the sum of the pauses.
    """

    seconds: float = 60.0
    first: float = 0.25
    longest: float = 10.0

    def tries(self) -> Tries:
        """A new budget of tries, for one request."""
        return Tries(self)


class Tries:
    """The remaining patience with one request."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self.renew()

    def renew(self) -> None:
        """Restore the whole patience after some progress."""
        self._left = self._patience.seconds
        self._pause = self._patience.first

    def again(self, asked: float | None = None) -> bool:
        """Pause, for the time that the server has `asked` for if any; False if patience is over."""
        pause = self._pause * random.uniform(0.5, 1.0) if asked is None else max(asked, 0.0)
        pause = max(pause, 1e-3)
        if pause > self._left:
            return False
        self._left -= pause
        self._pause = min(2 * self._pause, self._patience.longest)
        time.sleep(pause)
        return True

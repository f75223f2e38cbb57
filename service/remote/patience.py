"""How long, and how often, something is tried again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for that does not answer any more. All in seconds.

    Between two tries there is a pause, of `first` seconds before the second try, each one twice as
    long as the one before but at most `longest`. A part of each is left to chance, so that many
    clients do not come back at once. `seconds` is what the pauses may come to.
    """

    seconds: float = 60.0
    first: float = 0.25
    longest: float = 10.0

    def tries(self) -> Tries:
        """All of it, for one request."""
        return Tries(self)


class Tries:
    """What is left of the patience with one request."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self.renew()

    def renew(self) -> None:
        """Something has gone on: patience is whole again."""
        self._left = self._patience.seconds
        self._pause = self._patience.first

    def again(self, asked: float | None = None) -> bool:
        """Pause, as long as the server has `asked` for where it has; False where patience ends."""
        pause = self._pause * random.uniform(0.5, 1.0) if asked is None else max(asked, 0.0)
        pause = max(pause, 1e-3)
        if pause > self._left:
            return False
        self._left -= pause
        self._pause = min(2 * self._pause, self._patience.longest)
        time.sleep(pause)
        return True

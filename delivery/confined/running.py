"""Follows a confined command from outside: reads its output, cancels it, says how it ended."""

from __future__ import annotations

import json
import os
import selectors
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from .limits import Ended
from .supervisor import CANCEL

Say = Callable[[str], None]
"""Called with each line that a command writes to standard error."""

_LOOK = 0.2
"""Seconds between checks whether a command is cancelled."""
_LONGEST_LINE = 1 << 16


@dataclass
class _Reader:
    """Keeps the first bytes of a stream, and reports its lines."""

    most: int
    say: Say | None = None
    kept: bytearray = field(default_factory=bytearray)
    _line: bytearray = field(default_factory=bytearray)

    def take(self, part: bytes) -> None:
        self.kept += part[: max(0, self.most - len(self.kept))]
        if self.say is None:
            return
        self._line += part
        *lines, rest = self._line.split(b"\n")
        self._line = bytearray(rest[:_LONGEST_LINE])
        for line in lines:
            self.say(line[:_LONGEST_LINE].decode(errors="replace"))


class Pipes:
    """The four pipes of a command: `given` are the ends that the fork server gets."""

    def __init__(self) -> None:
        self._open = ExitStack()
        control, output, error, answer = (os.pipe() for _ in range(4))
        self.given = (control[0], output[1], error[1], answer[1])
        self._control, self._output = control[1], output[0]
        self._error, self._answer = error[0], answer[0]
        for one in (self._control, self._output, self._error, self._answer):
            self._open.callback(os.close, one)

    def sent(self) -> None:
        """Close the ends that the fork server has received."""
        for one in self.given:
            os.close(one)

    def follow(self, most: int, say: Say | None, cancelled: Callable[[], bool]) -> Ended:
        """Wait for the end of the command; at most `most` bytes of output and of error are kept."""
        output, error, answer = _Reader(most), _Reader(most, say), _Reader(1 << 16)
        asked = False
        with self._open, selectors.DefaultSelector() as waiting:
            for one, reader in (
                (self._output, output),
                (self._error, error),
                (self._answer, answer),
            ):
                waiting.register(one, selectors.EVENT_READ, reader)
            while waiting.get_map():
                for key, _ in waiting.select(_LOOK):
                    if part := os.read(key.fd, 1 << 16):
                        key.data.take(part)
                    else:
                        waiting.unregister(key.fd)
                if not asked and cancelled():
                    asked = True
                    with suppress(BrokenPipeError):
                        os.write(self._control, CANCEL)
        kept = bytes(output.kept), bytes(error.kept)
        try:
            return Ended(**json.loads(answer.kept), output=kept[0], error=kept[1])
        except (ValueError, TypeError):
            message = "its supervisor has ended"
            return Ended(-9, "lost", message, output=kept[0], error=kept[1])

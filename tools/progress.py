"""Reports progress: a bar on a terminal, a line for each step elsewhere, with the time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from .command import Streams

SHARES = {
    "import": 4,
    "simplify-graph": 8,
    "make-kernels": 1,
    "bufferize": 5,
    "schedule": 10,
    "loops": 10,
    "vectors": 9,
    "llvm": 20,
    "LLVM's text": 4,
    "LLVM's passes": 3,
    "machine code": 26,
}
"""What each step takes of the time of a compilation, in percent: rounded means of ResNet-50 and
SqueezeNet. A step is named by the beginning of its message."""

_SOONEST = 1.0
"""Seconds of work before the remaining time is estimated."""
_TICK = 0.2
"""Seconds between two updates of a progress bar."""


class Progress:
    """Reports steps by messages; for the steps in `SHARES`, also the remaining time.

    `tells_left` is false for commands whose remaining time is unknown: those that do not end with a
    compilation, or have several.
    """

    def __init__(
        self,
        streams: Streams,
        clock: Callable[[], float] = time.perf_counter,
        tells_left: bool = True,
    ) -> None:
        self._stream, self._clock, self._tells_left = streams.stderr, clock, tells_left
        self._started = clock()
        self._work_started: float | None = None
        self._step = ""
        has_bar = tells_left and streams.stderr.isatty()
        self._bar = _Bar(streams.stderr, self._fraction) if has_bar else None

    def __call__(self, message: str) -> None:
        """Report a step that begins."""
        now = self._clock()
        step = _step_of(message)
        if self._work_started is None and step:
            self._work_started = now
        self._step, self._step_started = step, now
        if self._bar is not None and step:
            self._bar.show(message)
            return
        self.end()
        left = self._left() if step and self._tells_left else None
        about = f" (about {left:.0f} s left)" if left is not None else ""
        line = f"[{now - self._started:6.1f} s] {message}{about}"
        print(line, file=self._stream, flush=True)

    def end(self) -> None:
        """Remove the bar, if there is one."""
        if self._bar is not None:
            self._bar.hide()

    def _left(self) -> float | None:
        """Seconds to the end of a compilation, estimated from earlier steps; None if unknown."""
        assert self._work_started is not None
        spent, done = self._clock() - self._work_started, _share_before(self._step)
        return spent * (1 - done) / done if spent > _SOONEST and done else None

    def _fraction(self) -> float:
        """The completed fraction, including the running step's expected progress."""
        if self._work_started is None or not self._step:
            return 0.0
        before, share = _share_before(self._step), SHARES[self._step] / sum(SHARES.values())
        if not before:
            return 0.0
        expected = (self._step_started - self._work_started) * share / before
        inside = (self._clock() - self._step_started) / max(expected, 1e-9)
        return before + share * min(0.95, inside)


def _step_of(message: str) -> str:
    """The compilation step that a message is about; empty if there is none."""
    return next((name for name in SHARES if message.startswith((f"{name}:", f"{name} "))), "")


def _share_before(step: str) -> float:
    names = list(SHARES)
    return sum(SHARES[name] for name in names[: names.index(step)]) / sum(SHARES.values())


class _Bar:
    """tqdm's bar that moves by itself; it appears with the first message."""

    def __init__(self, stream: TextIO, fraction: Callable[[], float]) -> None:
        self._stream, self._fraction = stream, fraction
        self._bar: Any = None
        self._lock = threading.Lock()

    def show(self, message: str) -> None:
        from tqdm import tqdm

        with self._lock:
            if self._bar is None:
                form = "{percentage:3.0f}%|{bar:24}| {elapsed}<{remaining} {desc}"
                stream = getattr(self._stream, "stream", self._stream)  # which may be commanded
                self._bar = tqdm(total=1.0, file=stream, leave=False, bar_format=form)
                self._bar.ncols = None
                self._bar.dynamic_ncols = True
                self._ended = threading.Event()
                threading.Thread(target=self._run, args=(self._ended,), daemon=True).start()
            self._bar.set_description_str(message.partition(":")[0][:60], refresh=False)
            self._move()

    def hide(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._ended.set()
                self._bar.close()
                self._bar = None

    def _run(self, ended: threading.Event) -> None:
        while not ended.wait(_TICK):
            with self._lock:
                if not ended.is_set():
                    self._move()

    def _move(self) -> None:
        self._bar.n = max(self._bar.n, self._fraction())
        self._bar.refresh()

"""A model in a WebAssembly engine, and runs that the engine times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...runtime.emulated import Emulated
from ...runtime.program import Program
from ...runtime.timed import TimedRuns

_PLACE, _RUN, _TAKE = -1, -2, -3
"""The requests to `wasm_runner.mjs`: set the inputs, run, return the outputs."""


class InEngine(Emulated):
    """A model whose calls go to an engine's process, one at a time."""

    def __init__(
        self,
        program: Program,
        command: Sequence[str],
        timing: Sequence[str],
        folder: TemporaryDirectory[str],
        threads: int,
    ) -> None:
        """`command` starts the engine on a module in the folder, which is removed at the end;
        `timing` starts one that has compiled its code fully before the first call.

        Raises NncError if it does not start.
        """
        super().__init__(program, command, folder, threads)
        self._program, self._timing = program, timing

    def timed_on(self, inputs: Mapping[str, Any]) -> TimedRuns:
        folder = TemporaryDirectory(prefix="nnc-")  # for what the process says
        return _RunsThere(_Timing(self._program, self._timing, folder, self.threads), inputs)


class _Timing(Emulated):
    """Another process on the same module, which keeps its inputs between runs."""

    def __init__(
        self,
        program: Program,
        command: Sequence[str],
        folder: TemporaryDirectory[str],
        threads: int,
    ) -> None:
        super().__init__(program, command, folder, threads)
        self._given: list[np.ndarray] = []

    def place(self, inputs: Mapping[str, Any]) -> None:
        """Send the inputs of all following runs. Raises NncError."""
        self._given = self._in_order((), inputs)
        with self._lock:
            self._say(_PLACE, 0)
            self._send(self._given)
            self._check_status(self._given)

    def time(self) -> int:
        """Run once; returns nanoseconds by the engine's clock. Raises NncError."""
        with self._lock:
            self._say(_RUN, 0)
            self._check_status(self._given)
            return self._numbers(1)[0]

    def taken(self) -> dict[str, Any]:
        """The outputs of the last run by name. Raises NncError."""
        with self._lock:
            self._say(_TAKE, 0)
            outputs = self._as_given(self._receive_all())
        return dict(zip(self.output_names, outputs, strict=True))


class _RunsThere(TimedRuns):
    """Runs that the engine times, without the transfer through pipes."""

    where = "in the engine"

    def __init__(self, process: _Timing, inputs: Mapping[str, Any]) -> None:
        self._process = process
        process.place(inputs)

    def run(self) -> int:
        return self._process.time()

    def outputs(self) -> Mapping[str, Any]:
        return self._process.taken()

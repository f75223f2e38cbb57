"""Programs with replaceable kernels that run in an engine of WebAssembly, or on a device."""

from __future__ import annotations

import ctypes
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from ...dialects.builtin import ModuleOp
from ...runtime.abi import DEVICE_ADD
from ...runtime.program import LinkedCode, Program
from ...runtime.replacing import Compared, GrowingCode, ReplacingModel
from ...targets.base import Target
from .checking import function_type
from .patched import Kernel, Patched, PatchedProgram
from .patching import CANDIDATE, CANDIDATE_NEEDS


def patched(program: Program, kernels: Mapping[str, Kernel], threads: int) -> Patched:
    """A loaded program whose kernels can be replaced at run time.

    Its class depends on what runs the program on this machine: this process, an engine such as
    Node, or a device. Raises NncError if it cannot be loaded.
    """
    target = program.target
    assert isinstance(target, Target)
    if (model := target.replacing(program, len(kernels))) is not None:
        return PatchedEngine(model, kernels)
    if target.caller is not target:
        return PatchedDevice(program, kernels, threads)
    return (PatchedProgram if target.has_clock else PatchedText)(program, kernels, threads)


class PatchedEngine(Patched):
    """A program with replaceable kernels in an engine, which numbers the candidates it loads."""

    def __init__(self, model: ReplacingModel, kernels: Mapping[str, Kernel]) -> None:
        super().__init__(model.signature)
        self._model, self._kernels = model, kernels

    @property
    def threads(self) -> int:
        return self._model.threads

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        return self._model._call(inputs)

    def compiled(self, part: ModuleOp) -> bytes:
        return self._model.compiled(part)

    def load_all(self, codes: Mapping[str, bytes]) -> dict[str, int]:
        self.use({})
        return dict(zip(codes, self._model.load(list(codes.values())), strict=True))

    def use(self, candidates: Mapping[str, int]) -> None:
        rows = {self._kernels[n].interface.number: number for n, number in candidates.items()}
        self._model.use(rows)

    @contextmanager
    def comparing(
        self, candidates: Mapping[str, int], say: Callable[[str], None] = lambda name: None
    ) -> Iterator[Callable[[], dict[str, str]]]:
        chosen = {n: b for n in candidates or self._kernels if (b := self._kernels[n].buffers)}
        names, found = list(chosen), dict.fromkeys(chosen, "")

        def differs(which: int, argument: int, wanted: bytes, got: bytes) -> None:
            name = names[which]
            pair = (np.frombuffer(one, np.uint8) for one in (wanted, got))
            found[name] = found[name] or chosen[name][argument].difference(*pair)

        self._model.told_of(lambda which: say(names[which]), differs)
        self._model.compare([self._compared(n, candidates.get(n, 0)) for n in names])
        try:
            yield lambda: found
        finally:
            self.use({})

    def _compared(self, name: str, candidate: int) -> Compared:
        kernel = self._kernels[name]
        assert kernel.buffers is not None
        one, buffers = kernel.interface, kernel.buffers
        count, written = len(buffers) + one.extra, [(b.bytes, b.bound is not None) for b in buffers]
        return Compared(one.number, candidate, count, one.returns_status, written)


class Clock:
    """A function that replaces a kernel, calls it, and measures the time of its calls."""

    def __init__(
        self, address: int, arguments: int, returns_status: bool, wait: Callable[[], None]
    ) -> None:
        """`wait` waits for all work that was begun before."""
        kind = function_type(arguments, returns_status)
        self._function, self._wait = kind(address), wait
        self._callback = kind(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        self.nanoseconds = 0.0

    def _call(self, *given: int | None) -> int | None:
        self._wait()
        before = time.perf_counter_ns()
        result = self._function(*given)
        self._wait()
        self.nanoseconds += time.perf_counter_ns() - before
        return result


class PatchedBeside(PatchedProgram):
    """A program whose code has no clock: calls through the table are timed in this process."""

    def __init__(
        self,
        program: Program,
        kernels: Mapping[str, Kernel],
        threads: int,
        exports: Sequence[str] = (),
    ) -> None:
        self._clocks: dict[str, Clock] = {}
        super().__init__(program, kernels, threads, exports)

    def wait(self) -> None:
        """Wait for all work that was begun before."""

    def times(self) -> Mapping[str, float]:
        return {name: one.nanoseconds for name, one in self._clocks.items()}

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        for one in self._clocks.values():
            one.nanoseconds = 0.0
        return super()._call(inputs)

    def use(self, candidates: Mapping[str, LinkedCode]) -> None:
        super().use(candidates)
        self._clocks = {}
        for name, kernel in self._kernels.items():
            if kernel.buffers is None:
                continue
            one = kernel.interface
            address = candidates[name][CANDIDATE] if name in candidates else self._default[name]
            count = len(kernel.buffers) + one.extra
            self._clocks[name] = Clock(address, count, one.returns_status, self.wait)
        self._fill(
            {
                **{name: one[CANDIDATE] for name, one in candidates.items()},
                **{name: one.address for name, one in self._clocks.items()},
            }
        )


class PatchedText(PatchedBeside):
    """A program of source text; a candidate is compiled to a library of its own."""

    shares_pool = False

    def load(self, name: str, code: bytes) -> LinkedCode:
        return self._target.load_built(code, (CANDIDATE,))


class PatchedDevice(PatchedBeside):
    """A program that launches a device's kernels; a candidate brings its own kernels."""

    _code: GrowingCode  # type: ignore[assignment]

    def __init__(self, program: Program, kernels: Mapping[str, Kernel], threads: int) -> None:
        super().__init__(program, kernels, threads, (DEVICE_ADD,))
        self.memory = self._code
        self._loaded: dict[bytes, LinkedCode] = {}

    def wait(self) -> None:
        self._code.wait()

    def compiled(self, part: ModuleOp) -> bytes:
        return pickle.dumps(self._target.apart(part))

    def load(self, name: str, code: bytes) -> LinkedCode:
        # It stays: the device knows constants by where the host has them.
        if (known := self._loaded.get(code)) is not None:
            return known
        around, text, rows = pickle.loads(code)
        first = self._code.add(text, rows) if rows else 0
        caller, given = self._target.caller, self._code.functions
        loaded = caller.load_beside(around, (CANDIDATE, CANDIDATE_NEEDS), given)
        needs = (ctypes.c_void_p * 3).from_address(loaded[CANDIDATE_NEEDS])
        needs[2] = first
        self._loaded[code] = loaded
        return loaded

"""A loaded program that calls its kernels through a table, so that candidates can replace them."""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...dialects.builtin import ModuleOp
from ...runtime.abi import PARALLEL_FOR
from ...runtime.executable import Executable
from ...runtime.model import Model
from ...runtime.program import LinkedCode, Program
from ...targets.base import Symbols, Target
from .checking import Buffer, Comparison, Memory, OwnMemory
from .patching import CANDIDATE, CANDIDATE_NEEDS, TABLE, Interface


@dataclass(frozen=True)
class Kernel:
    """A replaceable kernel: its fingerprint, and its calling convention.

    `buffers` are its arguments if their sizes and writes are known; else candidates are checked
    only by the model's outputs.
    """

    key: str
    interface: Interface
    buffers: tuple[Buffer, ...] | None


class Patched(Model):
    """The default program; each call uses the kernels that were chosen last."""

    def times(self) -> Mapping[str, float] | None:
        """Nanoseconds of all calls of each kernel in the last run; None if the program's code has a
        clock of its own, or nothing measures them.
        """
        return None

    @abstractmethod
    def compiled(self, part: ModuleOp) -> bytes:
        """The code of a module that holds a candidate. Raises NncError."""

    @abstractmethod
    def load_all(self, codes: Mapping[str, bytes]) -> dict[str, Any]:
        """The candidates, by kernel name, ready to be called; earlier ones may be unloaded.

        Raises NncError.
        """

    @abstractmethod
    def use(self, candidates: Mapping[str, Any]) -> None:
        """Use these candidates for the kernels of these names, and default code for all others."""

    @abstractmethod
    def comparing(
        self, candidates: Mapping[str, Any], say: Callable[[str], None] = lambda name: None
    ) -> AbstractContextManager[Callable[[], dict[str, str]]]:
        """Compare candidates with the default code at each call in this block; without candidates,
        all kernels with themselves. The context's function returns how each differs.

        `say` is called with the kernel's name before each call of a candidate.
        """


class PatchedProgram(Executable, Patched):
    """The default program in this process."""

    shares_pool = True
    """Whether the code has a function by which candidates start parallel loops."""

    def __init__(
        self,
        program: Program,
        kernels: Mapping[str, Kernel],
        threads: int,
        exports: Sequence[str] = (),
    ) -> None:
        exports = [TABLE, *(one.interface.symbol for one in kernels.values()), *exports]
        shares_pool = program.parallel and self.shares_pool
        exports += [PARALLEL_FOR] if shares_pool else []
        super().__init__(program, threads=threads, exports=exports)
        target = program.target
        assert isinstance(target, Target)
        self._target, self._kernels = target, kernels
        self.memory: Memory = OwnMemory()
        """Where the buffers of its kernels are allocated."""
        self._parallel_for = self._code[PARALLEL_FOR] if shares_pool else 0
        rows = ctypes.c_void_p * len(kernels)
        self._table = rows.from_address(self._code[TABLE])
        self._default = {n: self._code[k.interface.symbol] for n, k in kernels.items()}
        self.use({})

    def compiled(self, part: ModuleOp) -> bytes:
        return self._target.built(self._target.emit(part, Symbols()))

    def load(self, name: str, code: bytes) -> LinkedCode:
        """The code of a candidate, loaded so that this program can call it."""
        loaded = self._target.load(code, (CANDIDATE, CANDIDATE_NEEDS))
        needs = (ctypes.c_void_p * 2).from_address(loaded[CANDIDATE_NEEDS])
        pool = self._pool.borrow()
        self._pool.give_back(pool)
        needs[0], needs[1] = pool, self._parallel_for
        return loaded

    def load_all(self, codes: Mapping[str, bytes]) -> dict[str, LinkedCode]:
        return {name: self.load(name, code) for name, code in codes.items()}

    def use(self, candidates: Mapping[str, LinkedCode]) -> None:
        self._fill({name: one[CANDIDATE] for name, one in candidates.items()})
        self._used = dict(candidates)  # code is unloaded when nobody refers to it

    def _fill(self, addresses: Mapping[str, int]) -> None:
        for name, default in self._default.items():
            row = self._kernels[name].interface.number
            self._table[row] = addresses.get(name, default)

    @contextmanager
    def comparing(
        self, candidates: Mapping[str, LinkedCode], say: Callable[[str], None] = lambda name: None
    ) -> Iterator[Callable[[], dict[str, str]]]:
        found: dict[str, Comparison] = {}
        for name in candidates or self._kernels:
            kernel = self._kernels[name]
            if kernel.buffers is None:
                continue
            default, interface = self._default[name], kernel.interface
            other = candidates[name][CANDIDATE] if candidates else default
            found[name] = Comparison(
                kernel.buffers,
                interface.extra,
                default,
                other,
                interface.returns_status,
                partial(say, name),
                self.memory,
            )
        self._fill({name: one.address for name, one in found.items()})
        try:
            yield lambda: {name: one.fault for name, one in found.items()}
        finally:
            self._fill({})

"""A model in an engine that calls its kernels through a table, so that candidates can replace them.

Candidates are linked into one module that imports the model's memory and table. It has a region of
its own in both, which the process in the engine (`wasm_replacing.mjs`) allocates:

    model.wasm       memory: | stack | constants | weights, arena ..  | region |
    candidates.wasm                                                    constants, scratch, stack
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from tempfile import TemporaryDirectory

from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...runtime.emulated import Emulated
from ...runtime.program import Program
from ...runtime.replacing import Compared, ReplacingModel
from ..llvm.ir import llvm_ir
from ..llvm.target import LlvmTarget
from .linker import PAGE, STACK, Place, WasmToolchain

_PLACE, _LOAD, _USE, _COMPARE = -1, -2, -3, -4
_AT, _DIFFERS = -1, -2
_CANDIDATE = "@nnc_candidate"


class EngineModel(Emulated, ReplacingModel):
    """A model on one thread in an engine; calls use the candidates chosen last."""

    def __init__(
        self,
        target: LlvmTarget,
        tools: WasmToolchain,
        program: Program,
        command: Sequence[str],
        folder: TemporaryDirectory[str],
    ) -> None:
        """`command` starts the engine on a module in the folder, which is removed at the end.

        Raises NncError if it does not start.
        """
        super().__init__(program, command, folder, 1)
        self._target, self._tools, self._shared = target, tools, program.parallel
        self._tags = itertools.count()
        self._tag_of: dict[bytes, int] = {}
        self._region = (0, 0, 0)
        self._compared: Sequence[Compared] = ()
        self._at: Callable[[int], None] = lambda which: None
        self._differs: Callable[[int, int, bytes, bytes], None] = lambda *about: None

    def compiled(self, part: Operation) -> bytes:
        # All candidates are linked into one module, where each has a name of its own.
        tag = next(self._tags)
        code = self._target.object_of(llvm_ir(part).replace(_CANDIDATE, f"{_CANDIDATE}_{tag}"))
        self._tag_of[code] = tag
        return code

    def load(self, codes: Sequence[bytes]) -> list[int]:
        if not codes:
            return []
        distinct = list(dict.fromkeys(codes))
        tags = [self._tag_of[code] for code in distinct]
        module = self._linked(distinct, tags)
        with self._lock:
            self._say(_LOAD, len(tags), len(module), data=module)
            self._say(*tags)
            found = dict(zip(distinct, self._numbers(len(tags)), strict=True))
        return [found[code] for code in codes]

    def _linked(self, codes: Sequence[bytes], tags: Sequence[int]) -> bytes:
        """A module linked for a memory region that is large enough for it."""
        needed = STACK + 2 * sum(map(len, codes))
        while True:
            if self._region[1] < needed:
                with self._lock:
                    self._say(_PLACE, needed)
                    self._region = tuple(self._numbers(3))  # type: ignore[assignment]
            address, room, functions = self._region
            if not address:
                raise NncError(f"the engine has no memory for {needed:,} bytes of candidates")
            place = Place(address, functions)
            module = self._tools.linked_beside(codes, tags, place, self._shared)
            needed = PAGE * memory_pages_of(module) - address
            if needed <= room:
                return module

    def use(self, rows: Mapping[int, int]) -> None:
        with self._lock:
            self._say(_USE, len(rows), *itertools.chain(*rows.items()))

    def compare(self, kernels: Sequence[Compared]) -> None:
        words: list[int] = []
        for one in kernels:
            words += (one.row, one.candidate, one.parameters, one.returns_status, len(one.buffers))
            words += itertools.chain(*one.buffers)
        self._compared = kernels
        with self._lock:
            self._say(_COMPARE, len(kernels), *words)

    def told_of(
        self, at: Callable[[int], None], differs: Callable[[int, int, bytes, bytes], None]
    ) -> None:
        self._at, self._differs = at, differs

    def _status(self) -> int:
        while (status := super()._status()) < 0:
            (which,) = self._numbers(1)
            if status == _AT:
                self._at(which)
            elif status == _DIFFERS:
                (argument,) = self._numbers(1)
                size = self._compared[which].buffers[argument][0]
                self._differs(which, argument, self._read(size), self._read(size))
        return status


def memory_pages_of(module: bytes) -> int:
    """The least number of pages of the memory that a module imports; 0 if it imports none."""
    at = 8
    while at < len(module):
        section, at = module[at], at + 1
        size, at = _number(module, at)
        if section != _IMPORTS:
            at += size
            continue
        count, at = _number(module, at)
        for _ in range(count):
            for _name in range(2):
                length, at = _number(module, at)
                at += length
            kind, at = module[at], at + 1
            if kind == _MEMORY:
                return _number(module, at + 1)[0]
            at = _behind_import(module, kind, at)
        return 0
    return 0


_IMPORTS = 2
_FUNCTION, _TABLE, _MEMORY, _GLOBAL = range(4)


def _behind_import(module: bytes, kind: int, at: int) -> int:
    """The offset after the description of an import of this kind."""
    if kind == _FUNCTION:
        return _number(module, at)[1]
    if kind == _GLOBAL:
        return at + 2
    has_most = module[at + 1] & 1  # a table: the type of its elements, and its bounds
    at = _number(module, at + 2)[1]
    return _number(module, at)[1] if has_most else at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """The LEB128 number at `at`, and the offset after it."""
    found = shift = 0
    while True:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return found, at

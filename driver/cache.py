"""Compiled models kept on disk, so that the same model is compiled once.

An entry is a folder named after a digest of everything that the result depends on: the model's
file, or the module with its weights; nnc's own source, LLVM's version and the target. It
appears whole or not at all, by renaming, so any number of processes may read, add and remove
entries at once. Its weights are mapped, and so shared between the processes that run the model.
"""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from ..ir.cache_home import cache_home
from ..ir.checked_files import is_whole, mark, sums_from, sums_of
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.location import node_of
from ..ir.sealed_json import sealed, unsealed
from ..ir.types import ComplexType, FloatType, IndexType, IntegerType, ScalarType, TensorType
from ..runtime.memory import aligned_buffer
from ..runtime.program import Program, Signature
from ..targets.base import Target

LIMIT = 8 << 30
"""The most bytes of the cache; `NNC_CACHE_LIMIT` overrides it, 0 turns the cache off."""
_ABANDONED = 3600.0
"""Seconds after which an unfinished entry is removed."""
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@dataclass(frozen=True)
class Entry:
    """One compiled model on disk; `used` is the time of its last use, in seconds of Unix time."""

    path: Path
    bytes: int
    used: float


def limit() -> int:
    """The cache's size limit in bytes. Raises NncError if the setting is not a size."""
    text = os.environ.get("NNC_CACHE_LIMIT", "").strip()
    if not text:
        return LIMIT
    digits = text.rstrip("kKmMgG")
    unit = text[len(digits) :].lower()
    if not digits.isdecimal() or unit not in _UNITS:
        raise NncError(f"NNC_CACHE_LIMIT is a size such as 500M, 8G or 0, not '{text}'")
    return int(digits) * _UNITS[unit]


class ModelCache:
    """The compiled models in a folder; the least recently used are removed first."""

    def __init__(self, folder: Path | None = None, limit_bytes: int | None = None) -> None:
        self.folder = folder or cache_home() / "models"
        self.limit = limit() if limit_bytes is None else limit_bytes

    def find(self, key: str, target: Target) -> Program | None:
        """The program of a key made for this target; None if there is none or its files are
        damaged.
        """
        folder = self.folder / key
        with _thrown_away_if_damaged(folder):
            about = unsealed((folder / "model.json").read_bytes())
            code = (folder / "model.o").read_bytes()
            found = _signature(about["signature"])
            _check(sha256(code).hexdigest() == about["code"], "model.o")
            path = folder / "weights"
            weights = _mapped(path, found.weights_bytes, "r")
            if weights.size:
                _check(is_whole(path, weights, sums_from(about["weights"])), "weights")
            os.utime(folder)
            notes, elsewhere = tuple(about["notes"]), tuple(about["elsewhere"])
            return Program(
                found, code, weights, about["parallel"], target, notes=notes, elsewhere=elsewhere
            )
        return None

    def find_hosted(self, key: str) -> tuple[Operation, list[str]] | None:
        """The host's module of a model that was cut, and the keys of its parts; None if there is
        none or its files are damaged.
        """
        from ..ir.syntax.parser import parse_module

        folder = self.folder / key
        if not (folder / "parts.json").exists():
            return None
        with _thrown_away_if_damaged(folder):
            about = unsealed((folder / "parts.json").read_bytes())
            path = folder / "host.mlir"
            text = path.read_bytes()
            _check(sha256(text).hexdigest() == about["host"], path.name)
            module = parse_module(text.decode(), str(path), resources=folder)
            os.utime(folder)
            return module, about["parts"]
        return None

    @contextmanager
    def new_entry(self, key: str) -> Iterator[NewEntry | None]:
        """A new entry to compile into, published at the end of the block unless that raises.

        None if nothing can be written or the cache is off: then compile without it.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            folder = Path(mkdtemp(dir=self.folder, prefix=".new-"))
        except OSError:
            yield None
            return
        entry = NewEntry(folder, self.limit)
        try:
            yield entry
            # Where another process was faster, the folder exists and ours goes.
            if entry.complete:
                with suppress(OSError):
                    folder.rename(self.folder / key)
                self.trim()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, key: str, folder: Path) -> None:
        """Store a copy of a folder as the entry of a key, replacing an old one; store nothing if
        there is no room.
        """
        with suppress(OSError, shutil.Error):
            self.folder.mkdir(parents=True, exist_ok=True)
            made = Path(mkdtemp(dir=self.folder, prefix=".new-"))
            try:
                shutil.copytree(folder, made, dirs_exist_ok=True)
                shutil.rmtree(self.folder / key, ignore_errors=True)
                made.rename(self.folder / key)
                self.trim()
            finally:
                shutil.rmtree(made, ignore_errors=True)

    def copy(self, key: str, folder: Path) -> bool:
        """Copy the entry of a key to a new folder; returns whether there was an entry."""
        try:
            shutil.copytree(self.folder / key, folder)
            os.utime(self.folder / key)
        except (OSError, shutil.Error):  # none, or it was removed meanwhile
            shutil.rmtree(folder, ignore_errors=True)
            return False
        return True

    def entries(self) -> list[Entry]:
        """All entries, the most recently used first."""
        found: list[Entry] = []
        for path in _folders(self.folder):
            if path.name.startswith("."):
                continue
            with suppress(OSError):
                size = sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
                found.append(Entry(path, size, path.stat().st_mtime))
        return sorted(found, key=lambda entry: -entry.used)

    def trim(self) -> int:
        """Remove entries over the limit, and unfinished ones; returns the bytes freed."""
        for path in _folders(self.folder):
            with suppress(OSError):
                old = time.time() - path.stat().st_mtime > _ABANDONED
                if path.name.startswith(".new-") and old:
                    shutil.rmtree(path, ignore_errors=True)
        total = freed = 0
        for entry in self.entries():
            total += entry.bytes
            if total > self.limit:
                shutil.rmtree(entry.path, ignore_errors=True)
                freed += entry.bytes
        return freed

    def clear(self) -> int:
        """Remove all entries; returns the bytes freed."""
        freed = sum(entry.bytes for entry in self.entries())
        for path in _folders(self.folder):
            shutil.rmtree(path, ignore_errors=True)
        return freed


WRITTEN_AT_ONCE = 8 << 20
"""The bytes that are written at once."""


class NewEntry:
    """An entry that is being made."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self.complete = False
        self._folder = folder
        self._limit = limit_bytes

    def weights(self, size: int) -> np.ndarray:
        """A buffer for the weights; it maps the entry's file if the cache has room for it."""
        if size > self._limit:
            return aligned_buffer(size)
        try:
            return _mapped(self._folder / "weights", size, "w+")
        except OSError:
            return aligned_buffer(size)

    def store(self, program: Program) -> None:
        """Write the rest of the program; without room for it the entry stays incomplete."""
        weights = program.weights
        if weights.size and not isinstance(weights, np.memmap):
            return
        sums = sums_of([weights])
        about = {
            "signature": _described(program.signature),
            "code": sha256(program.code).hexdigest(),
            "weights": str(sums),
            "parallel": program.parallel,
            "notes": program.notes,
            "elsewhere": program.elsewhere,
        }
        with suppress(OSError):
            (self._folder / "model.o").write_bytes(program.code)
            (self._folder / "model.json").write_text(sealed(about))
            mark(self._folder / "weights", sums)
            self.complete = True

    def store_hosted(self, module: Operation, keys: Sequence[str]) -> None:
        """Write a module of host steps, and the cache keys of the compiled parts that it calls."""
        from ..ir.syntax.printer import print_op
        from ..ir.weights_file import write_module

        with suppress(OSError, NncError):
            path = self._folder / "host.mlir"
            write_module(module, path, print=partial(print_op, debuginfo=True))
            about = {"host": sha256(path.read_bytes()).hexdigest(), "parts": list(keys)}
            (self._folder / "parts.json").write_text(sealed(about))
            self.complete = True


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} was changed after it was written")


@contextmanager
def _thrown_away_if_damaged(folder: Path) -> Iterator[None]:
    """Remove an entry that the block fails to read, and warn of changed files in it.

    A missing file means that another process removed the entry.
    """
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, RecursionError, NncError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, OSError):
            text = f"the compiled model {folder} is damaged ({error}) and is made anew"
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def model_key(module: Operation, target: Target, *options: str) -> str | None:
    """A digest of everything that a module's program depends on; None if weights are missing."""
    from ..ir.resources import MissingBlob
    from ..ir.weights_file import collect_resources

    resources = collect_resources(module)
    if any(isinstance(r.blob.source(), MissingBlob) for r in resources.values()):
        return None
    digest = _digest(target, *options, str(module), *_places(module))
    for name, resource in sorted(resources.items()):
        digest.update(f"{len(name)}:{name}".encode())
        digest.update(np.ascontiguousarray(resource.blob.bytes()).data)
    return digest.hexdigest()


def _places(module: Operation) -> list[str]:
    """The names of the model's nodes, in order, which error messages of the program mention."""
    return [node_of(op.loc) for op in module.walk()]


def file_key(paths: Sequence[Path], target: Target, *options: str) -> str | None:
    """A digest of files and of everything else their program depends on; None if one is unreadable.

    Files that these refer to are not covered.
    """
    contents = []
    try:
        for path in paths:
            with path.open("rb") as file:
                contents.append(file_digest(file, "sha256").hexdigest())
    except OSError:
        return None
    return _digest(target, *options, *contents).hexdigest()


def choices_text(**choices: Mapping[str, Any]) -> str:
    """The user's choices for a model's inputs, as text for a key."""
    return repr(
        [
            (kind, name, _value_text(value))
            for kind, given in choices.items()
            for name, value in sorted(given.items())
        ]
    )


def _value_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        content = sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype}{value.shape} {content}"
    return f"{type(value).__name__} {value!r}"


def _digest(target: Target, *parts: str):
    """A digest of the compiler, the target and the parts, which can be extended."""
    digest = _compiler().copy()
    for part in (repr(target), *parts):
        digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return digest


_FLOORS = (
    *("ir", "dialects", "runtime", "artifacts", "targets", "passes", "kernels", "frontends"),
    *("memory", "lowering", "driver"),
)
"""The folders whose sources a compiled program depends on."""


@cache
def _compiler():
    """A digest that identifies the compiler: LLVM's version, each source file's size and time."""
    root = Path(__file__).parent.parent
    parts = [version("llvmlite")]
    for floor in _FLOORS:
        for path in sorted((root / floor).rglob("*")):
            if path.suffix in (".py", ".mlir", ".lark"):
                state = path.stat()
                parts.append(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}")
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass"))


def _mapped(path: Path, size: int, mode: str) -> np.ndarray:
    """A file mapped as bytes: `r` an existing one, `w+` a new one, filled with zeros.

    The zeros are written, not only mapped: otherwise a full disk would end the process at the first
    write. Also, written data lies in large pages of the page cache, data first touched through a
    map in small ones: reading 600 MB of weights took 26 ms in those, 19 in large ones.
    """
    if not size:
        return np.empty(0, np.uint8)
    if mode == "w+":
        zeros = memoryview(bytes(min(size, WRITTEN_AT_ONCE)))
        with path.open("wb", buffering=0) as file:
            left = size
            while left:
                left -= file.write(zeros[:left])
        return np.memmap(path, np.uint8, "r+", shape=(size,))
    if path.stat().st_size != size:
        raise ValueError(f"{path} has not {size} bytes")
    return np.memmap(path, np.uint8, "r", shape=(size,))


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _described(signature: Signature) -> dict[str, Any]:
    """The signature as JSON data."""
    return {
        key: [(list(type.shape), str(type.element_type)) for type in value]
        if key in _TYPES
        else value
        for key, value in vars(signature).items()
    }


def _signature(about: dict[str, Any]) -> Signature:
    given = dict(about)
    for key in _TYPES:
        given[key] = [TensorType(tuple(shape), _element(text)) for shape, text in given[key]]
    return Signature(**given)


_TYPES = ("input_types", "output_types")


def _element(text: str) -> ScalarType:
    """An element type from its text; MLIR's full parser would take longer to load."""
    if text.startswith("complex<"):
        return ComplexType(_element(text[8:-1]))
    sign, letter, width = text.partition("i")
    if letter and width.isdecimal() and sign in ("", "u", "s"):
        return IntegerType(int(width), sign)
    return IndexType() if text == "index" else FloatType(text)

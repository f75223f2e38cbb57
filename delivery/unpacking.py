"""Safely unpacks an archive that holds a folder, or a model with its files.

    python -m nnc.delivery.unpacking model.zip folder/

prints the path of the model in it as JSON. Names must be paths that stay inside, without links and
devices; the number and bytes of extracted files are limited as they are written, whatever the
archive's header says.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ..ir.diagnostics import NncError

SUFFIXES = (".zip", ".tar", ".tgz", ".gz")
"""The suffixes of archives. Model formats that are archives themselves have other suffixes."""

_PART = 1 << 20
_LONGEST_PART, _MOST_PARTS = 200, 32

# The suffixes of main files, in order of preference, of models that consist of several files.
_MAIN = (
    ".onnx", ".pt2", ".keras", ".h5", ".tflite", ".mlmodel", ".pb", ".param", ".cfg", ".prototxt",
    ".pdmodel", ".gguf", ".mlir", ".stablehlo", ".ubj", ".xml",
)  # fmt: skip


@dataclass(frozen=True)
class Most:
    """The limits of an archive's contents. Units: bytes."""

    entries: int = 10_000
    bytes: int = 4 << 30


@dataclass(frozen=True)
class _Entry:
    name: str
    folder: bool
    size: int
    handle: Any


def is_archive(path: Path) -> bool:
    """Whether a file is an archive, by its suffix."""
    return path.suffix.lower() in SUFFIXES


def unpack(archive: Path, folder: Path, most: Most | None = None) -> Path:
    """Unpack into a new folder; returns the path of the model in it. Raises NncError."""
    most = most or Most()
    try:
        folder.parent.mkdir(exist_ok=True)
        folder.mkdir()
        with _entries(archive, most) as (entries, opened):
            left = most.bytes
            for entry in entries:
                left -= _write(archive, entry, folder, opened, left)
    except NncError:
        raise
    except tarfile.ReadError:  # which says how each kind of compression was tried
        raise NncError(f"{archive.name}: no archive, or a damaged one") from None
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, ValueError, NotImplementedError) as why:
        raise NncError(f"{archive.name}: no archive that can be read ({_line(why)})") from None
    except (OSError, RuntimeError, KeyError, MemoryError, OverflowError) as why:
        text = getattr(why, "strerror", None) or _line(why)
        raise NncError(f"{archive.name}: cannot be unpacked: {text}") from None
    except Exception as why:  # zlib, lzma and their like have errors of their own
        raise NncError(f"{archive.name}: damaged ({_line(why)})") from None
    return model_in(folder, archive.name)


def _line(why: BaseException) -> str:
    return (str(why).splitlines() or [type(why).__name__])[0][:200]


@contextmanager
def _entries(archive: Path, most: Most) -> Iterator[tuple[Sequence[_Entry], Any]]:
    """The archive's entries, checked, and a function that opens one. Raises NncError."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as found:
            yield (
                _checked(archive, [_of_zip(archive, one) for one in found.infolist()], most),
                (lambda entry: found.open(entry.handle)),
            )
        return
    with tarfile.open(archive, "r:*") as tar:
        listed = []
        size = 0
        for one in tar:  # lazily: an endless list ends with the limit
            listed.append(_of_tar(archive, one))
            size += one.size
            if len(listed) > most.entries or size > most.bytes:
                break
        yield _checked(archive, listed, most), lambda entry: tar.extractfile(entry.handle)


def _of_zip(archive: Path, one: zipfile.ZipInfo) -> _Entry:
    mode = one.external_attr >> 16
    if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or not stat.S_IFMT(mode)):
        raise NncError(f"{archive.name}: '{_shown(one.filename)}' is not a plain file")
    if one.flag_bits & 1:
        raise NncError(f"{archive.name}: '{_shown(one.filename)}' is encrypted")
    return _Entry(one.filename, one.is_dir(), one.file_size, one)


def _of_tar(archive: Path, one: tarfile.TarInfo) -> _Entry:
    if not (one.isreg() or one.isdir()):
        raise NncError(f"{archive.name}: '{_shown(one.name)}' is not a plain file")
    return _Entry(one.name, one.isdir(), one.size, one)


def _checked(archive: Path, entries: Sequence[_Entry], most: Most) -> Sequence[_Entry]:
    """The entries, checked for paths that lead elsewhere and duplicates. Raises NncError."""
    total = sum(entry.size for entry in entries)
    if len(entries) > most.entries:
        raise NncError(f"{archive.name}: more than {most.entries} files")
    if total > most.bytes:
        raise NncError(f"{archive.name}: more than {most.bytes:,} bytes when unpacked")
    seen: set[str] = set()
    for entry in entries:
        name = entry.name.rstrip("/") if entry.folder else entry.name
        parts = PurePosixPath(name).parts
        bad = (
            not parts
            or name.startswith("/")
            or any(part in ("..", "/") or len(part.encode()) > _LONGEST_PART for part in parts)
            or len(parts) > _MOST_PARTS
            or any(ord(one) < 32 or one in "\\\x7f" for one in name)
            or ":" in parts[0]
        )
        if bad:
            raise NncError(f"{archive.name}: '{_shown(entry.name)}' is not a path inside of it")
        if not entry.folder:
            if str(PurePosixPath(name)) in seen:
                raise NncError(f"{archive.name}: '{_shown(entry.name)}' is there twice")
            seen.add(str(PurePosixPath(name)))
    return entries


def _shown(name: str) -> str:
    return name.encode("unicode_escape").decode()[:100]


def _write(archive: Path, entry: _Entry, folder: Path, opened: Any, left: int) -> int:
    """Write one entry; returns its bytes. Raises NncError if it is larger than `left`."""
    path = folder / entry.name
    if entry.folder:
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    source: IO[bytes] | None = opened(entry)
    if source is None:
        raise NncError(f"{archive.name}: '{_shown(entry.name)}' is not a plain file")
    with source, path.open("xb") as file:
        while part := source.read(_PART):
            written += len(part)
            if written > min(left, entry.size):
                raise NncError(f"{archive.name}: '{_shown(entry.name)}' is larger than it says")
            file.write(part)
    return written


def model_in(folder: Path, name: str) -> Path:
    """The model in a folder: the only entry, a main file, or the whole folder.

    Raises NncError if it is ambiguous or missing.
    """
    found = sorted(p for p in folder.iterdir() if not _ignored(p))
    while len(found) == 1 and found[0].is_dir() and found[0].suffix != ".mlpackage":
        folder = found[0]
        found = sorted(p for p in folder.iterdir() if not _ignored(p))
    if len(found) == 1:
        return found[0]
    if not found:
        raise NncError(f"{name}: there is nothing in it")
    files = {path.name for path in found}
    if files & {"saved_model.pb", "Manifest.json"}:
        return folder
    if {"predict_net.pb", "init_net.pb"} <= files:
        return folder / "predict_net.pb"
    if symbols := [path for path in found if path.name.endswith("-symbol.json")]:
        return _only(symbols, name)
    for suffix in _MAIN:
        if main := [path for path in found if path.suffix.lower() == suffix]:
            return _only(main, name)
    jsons = [path for path in found if path.suffix.lower() in (".json", ".txt")]
    if jsons:
        return _only(jsons, name)
    raise NncError(f"{name}: none of its files is known to be a model's")


def _only(found: Sequence[Path], name: str) -> Path:
    if len(found) > 1:
        listed = ", ".join(sorted(_shown(path.name) for path in found)[:5])
        raise NncError(f"{name}: several models are in it ({listed}); upload one alone")
    return found[0]


def _ignored(path: Path) -> bool:
    return path.name.startswith(".") or path.name in ("__MACOSX", "Thumbs.db")


def main() -> None:
    """Unpack; print the model's path, relative to the current folder, or one line of error."""
    archive, folder = map(Path, sys.argv[1:3])
    most = Most(*map(int, sys.argv[3:5]))
    try:
        found = unpack(archive, folder, most)
    except NncError as error:
        print(error.message, file=sys.stderr)
        sys.exit(1)
    print(json.dumps({"model": os.path.relpath(found)}))


if __name__ == "__main__":
    main()

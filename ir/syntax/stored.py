"""Keeps the language of the package's own dialects on disk, so that only dialects that a text
mentions are imported.

It is found by a fingerprint of the source files, and holds the parse tables and, by name, the
terminals of ops, types and attributes. Their classes are loaded when such a name is first met
(`registry`). All formats were checked when the language was built, so with a stored language the
format of an op is compiled only when it is first used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2s
from pathlib import Path

from ..cache_home import cache_home
from ..dialect import registry
from .tables import Tables, read_checked, write_checked

_FORMAT = 1
"""The version of the stored format; increase it with each change."""

_KEPT = 8
"""The number of versions of the sources whose results stay on disk."""


@dataclass(frozen=True)
class StoredLanguage:
    """The parts that `Language` is restored from: the terminals of names, and the tables."""

    ops: dict[str, str]
    bare: dict[str, str]
    types: dict[str, str]
    attributes: dict[str, str]
    keywords: dict[str, str]
    contributed: frozenset[str]
    text: str
    tables: Tables


@lru_cache(1)
def stored_language() -> StoredLanguage | None:
    """The stored language of the present sources, or None if there is none."""
    path = _path()
    found = read_checked(path) if path is not None else None
    if found is None:
        return None
    ops, bare, types, attributes, keywords, contributed, text, tables = found
    return StoredLanguage(
        ops, bare, types, attributes, keywords, frozenset(contributed), text, Tables.unpack(tables)
    )


def store(language: StoredLanguage) -> None:
    """Keep the language for the next start."""
    path = _path()
    if path is None:
        return
    write_checked(
        path,
        (
            language.ops,
            language.bare,
            language.types,
            language.attributes,
            language.keywords,
            sorted(language.contributed),
            language.text,
            language.tables.pack(),
        ),
        kept=_KEPT,
    )


def _path() -> Path | None:
    """The file for the language of the present sources; None if they are not files on disk."""
    package = sys.modules.get(registry.package)
    folders = [Path(__file__).parent.parent]
    if package is not None and package.__file__:
        folders.append(Path(package.__file__).parent)
    version = f"{_FORMAT} {sys.version_info[:3]} {sys.implementation.cache_tag}"
    try:
        files = "\n".join(line for folder in folders for line in _files(str(folder)))
    except OSError:
        return None
    key = blake2s(f"{version}\n{files}".encode(errors="surrogateescape")).hexdigest()
    return cache_home() / f"language-{key}.bin"


def _files(folder: str) -> Iterator[str]:
    """Every source file below a folder, with its size and time."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.endswith((".py", ".lark")):
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
        elif entry.is_dir() and not entry.name.startswith(("_", ".")):
            yield from _files(entry.path)

"""Blobs that a text refers to: given in the text itself, or in a weights file of its module."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from ..attributes import DenseResource
from ..diagnostics import NncError
from ..dialect import registry
from ..lazy import np
from ..resources import Blob, FileBlob, MemoryBlob, MissingBlob, SafetensorsFile
from .attribute_printer import key_text, quote


class TextBlob(Blob):
    """The blob of a key in a parsed text, found when it is first read."""

    def __init__(self, key: str, resources: TextResources) -> None:
        self.key = key
        self._resources = resources

    @property
    def text(self) -> str | None:
        return self._resources.inline_text(self.key)

    def source(self) -> Blob:
        """The blob with the data: a MemoryBlob, FileBlob or MissingBlob."""
        return self._resources.find(self.key)

    def bytes(self) -> np.ndarray:
        return self.source().bytes()


class TextResources:
    """The blobs of one parsed text by key, and the rest of its `{-# .. #-}` section.

    `of_dialects` has the hexadecimal text of each blob by dialect and key. `external` has what
    other tools keep there, by tool and key: strings, true or false.
    """

    def __init__(self) -> None:
        self.of_dialects: dict[str, dict[str, str]] = {}
        self.external: dict[str, dict[str, Any]] = {}
        self.files: list[SafetensorsFile] = []  # the later one wins
        self._blobs: dict[str, TextBlob] = {}
        self._found: dict[str, Blob] = {}

    def blob(self, key: str) -> TextBlob:
        return self._blobs.setdefault(key, TextBlob(key, self))

    def find(self, key: str) -> Blob:
        """The key's data in the text, else in the files, else a MissingBlob."""
        if key not in self._found:
            self._found[key] = self._find(key)
        return self._found[key]

    def inline_text(self, key: str) -> str | None:
        """The hexadecimal text of a blob that the text itself gives."""
        for blobs in self.of_dialects.values():
            if key in blobs:
                return blobs[key]
        return None

    def _find(self, key: str) -> Blob:
        text = self.inline_text(key)
        if text is not None:
            return MemoryBlob(decode_hex(key, text))
        for file in reversed(self.files):
            if file.path.exists() and key in file:
                return FileBlob(file, key)
        return MissingBlob(key, ", ".join(str(file.path) for file in self.files))


def decode_hex(key: str, text: str) -> np.ndarray:
    """The bytes of `0x<alignment, 8 digits><data>`. Raises NncError if it is not that."""
    try:
        raw = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raw = b""
    if not text.startswith("0x") or len(raw) < 4:
        raise NncError(f"resource '{key}': expected a string of hexadecimal digits, '0x..'")
    return np.frombuffer(raw, np.uint8, offset=4)


def weights_path(name: str, folder: Path) -> Path:
    """The weights file `name` in the folder. Raises NncError if it leads out of the folder."""
    pure = PurePosixPath(name)
    if not name or pure.is_absolute() or ".." in pure.parts or "\\" in name or ":" in name:
        raise NncError(
            f"{registry.weights_attribute} '{name}' must be a file in the IR file's folder or "
            "below it"
        )
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise NncError(f"{registry.weights_attribute} '{name}' leads out of the IR file's folder")
    return path


def file_section(
    resources: dict[str, DenseResource], read: TextResources | None, limit: int | None = None
) -> str:
    """The `{-# .. #-}` at the end of a file: its inline blobs, and the entries of other tools.

    `resources` are those that the file refers to, in its order; `read` is the section of the text
    that the module was read from. Values whose text is longer than `limit` are left out.
    """
    builtin = {}
    for key, attribute in resources.items():
        text = attribute.blob.text
        if text is not None:
            builtin[key] = text[:2] + text[2:].upper()
    others = {name: d for name, d in read.of_dialects.items() if name != "builtin"} if read else {}
    sections = {
        "dialect_resources": {"builtin": builtin, **others},
        "external_resources": read.external if read is not None else {},
    }
    if not any(any(groups.values()) for groups in sections.values()):
        return ""
    texts = [
        _block(name, [t for t in (_group(n, d, limit) for n, d in groups.items()) if t], "  ")
        for name, groups in sections.items()
    ]
    body = ",\n".join(text for text in texts if text)
    return f"\n\n{{-#\n{body}\n#-}}"


def _group(name: str, values: dict[str, Any], limit: int | None) -> str:
    lines = []
    for key, value in values.items():
        if isinstance(value, str):
            is_blob = value.startswith("0x")
            text = quote(f"0x{value[2:].upper()}" if is_blob else value)
        else:
            text = str(value).lower()
        if limit is None or len(text) <= limit:
            lines.append(f"      {key_text(key)}: {text}")
    return _block(name, lines, "    ")


def _block(name: str, lines: list[str], indent: str) -> str:
    if not lines:
        return ""
    body = ",\n".join(lines)
    return f"{indent}{name}: {{\n{body}\n{indent}}}"

"""Blobs that a text names: given in the text itself, or in the weights file of its module."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ..attributes import DenseResource
from ..diagnostics import NncError
from ..resources import Blob, FileBlob, MemoryBlob, MissingBlob, SafetensorsFile

if TYPE_CHECKING:
    import numpy as np


class TextBlob(Blob):
    """The blob of a key in a parsed text, found when it is first read."""

    def __init__(self, key: str, resources: TextResources) -> None:
        self.key = key
        self._resources = resources

    def source(self) -> Blob:
        """Where the data is: a MemoryBlob, FileBlob or MissingBlob."""
        return self._resources.find(self.key)

    def bytes(self) -> np.ndarray:
        return self.source().bytes()


class TextResources:
    """The blobs of one parsed text, one for each key."""

    def __init__(self) -> None:
        self.inline: dict[str, str] = {}
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

    def _find(self, key: str) -> Blob:
        if key in self.inline:
            return MemoryBlob(decode_hex(key, self.inline[key]))
        for file in reversed(self.files):
            if file.path.exists() and key in file:
                return FileBlob(file, key)
        return MissingBlob(key, ", ".join(str(file.path) for file in self.files))


def decode_hex(key: str, text: str) -> np.ndarray:
    """The bytes of `0x<alignment, 8 digits><data>`. Raises NncError if it is not that."""
    import numpy as np

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
            f"nn.weights_file '{name}' must be a file in the IR file's folder or below it"
        )
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise NncError(f"nn.weights_file '{name}' leads out of the IR file's folder")
    return path


def resource_section(resources: dict[str, DenseResource]) -> str:
    """`{-# dialect_resources: .. #-}` with the data of the resources, for the end of a file.

    `weights_file.collect_resources` finds those of a module.
    """
    from .attribute_printer import key_text

    if not resources:
        return ""
    lines = []
    for key, attribute in resources.items():
        alignment = max(1, attribute.type.element_type.byte_width)
        header = alignment.to_bytes(4, "little").hex().upper()
        data = attribute.blob.bytes().tobytes().hex().upper()
        lines.append(f'      {key_text(key)}: "0x{header}{data}"')
    body = ",\n".join(lines)
    return f"{{-#\n  dialect_resources: {{\n    builtin: {{\n{body}\n    }}\n  }}\n#-}}\n"

"""Universal Binary JSON: objects, arrays, texts and numbers; typed arrays are views of the data.

Source: https://ubjson.org, draft 12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError

NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
CONSTANTS = {"Z": None, "T": True, "F": False}
DEEPEST = 100


def parse(data: np.ndarray, error: Callable[[str], NncError]) -> Any:
    """The value in the data. Raises NncError."""
    try:
        return _Reader(data.tobytes()).value(0)
    except (IndexError, ValueError, OverflowError) as fault:
        raise error(f"broken UBJSON: {fault}") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count < 0 or self.at + count > len(self.data):
            raise ValueError(f"{count} bytes are missing at byte {self.at}")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def marker(self) -> str:
        """The next marker, after any padding."""
        found = "N"
        while found == "N":
            found = chr(self.take(1)[0])
        return found

    def number(self, marker: str) -> Any:
        """A number of the kind that a marker gives."""
        if marker not in NUMBERS:
            raise ValueError(f"'{marker}' at byte {self.at - 1}, expected a number")
        dtype = np.dtype(NUMBERS[marker])
        return np.frombuffer(self.take(dtype.itemsize), dtype)[0].item()

    def text(self) -> str:
        """A text, preceded by its length."""
        return self.take(self.count()).decode("utf-8")

    def count(self) -> int:
        """A length."""
        found = self.number(self.marker())
        if not isinstance(found, int):
            raise ValueError(f"the length at byte {self.at} is not an integer")
        return found

    def value(self, depth: int, marker: str = "") -> Any:
        """The next value; its kind is `marker`, or else follows."""
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        marker = marker or self.marker()
        match marker:
            case "{":
                return self.object(depth)
            case "[":
                return self.array(depth)
            case "S" | "H":
                return self.text()
            case "C":
                return chr(self.take(1)[0])
        return CONSTANTS[marker] if marker in CONSTANTS else self.number(marker)

    def header(self) -> tuple[str, int | None]:
        """The element type and count of a container, if they precede its elements."""
        kind, count = "", None
        if self.data[self.at : self.at + 1] == b"$":
            self.at += 1
            kind = chr(self.take(1)[0])
        if self.data[self.at : self.at + 1] == b"#":
            self.at += 1
            count = self.count()
        elif kind:
            raise ValueError(f"the number of elements is missing at byte {self.at}")
        return kind, count

    def array(self, depth: int) -> Any:
        """A list, or a NumPy array if the element type is given."""
        kind, count = self.header()
        if kind in NUMBERS and count is not None:
            dtype = np.dtype(NUMBERS[kind])
            raw = self.take(count * dtype.itemsize)
            return np.frombuffer(raw, dtype).astype(dtype.newbyteorder("="))
        if count is not None:
            if not 0 <= count <= len(self.data):
                raise ValueError(f"an array cannot have {count} elements")
            return [self.value(depth + 1, kind) for _ in range(count)]
        found = []
        while (marker := self.marker()) != "]":
            found.append(self.value(depth + 1, marker))
        return found

    def object(self, depth: int) -> dict[str, Any]:
        """The members of an object."""
        kind, count = self.header()
        found: dict[str, Any] = {}
        if count is not None:
            for _ in range(min(max(count, 0), len(self.data))):
                name = self.text()
                found[name] = self.value(depth + 1, kind)
            return found
        while (marker := self.marker()) != "}":
            name = self.take(int(self.number(marker))).decode("utf-8")
            found[name] = self.value(depth + 1)
        return found

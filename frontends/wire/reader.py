"""A sequential reader of numbers and bytes in a file."""

from __future__ import annotations

import struct
from typing import Any, ClassVar

import numpy as np

from ..common.source import Source


class ByteReader:
    """Reads the little-endian bytes of a model's file in sequence.

    `part` names their contents, for the message if the file ends too early.
    """

    part: ClassVar[str] = "contents"

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data = source.data
        self.at = 0

    @property
    def left(self) -> int:
        """The number of remaining bytes."""
        return len(self.data) - self.at

    def take(self, count: int) -> np.ndarray:
        """The next bytes. Raises NncError if there are fewer."""
        if count > self.left:
            raise self.source.error(
                f"the file ends within its {self.part} (it has {len(self.data)} bytes)"
            )
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form: str) -> Any:
        """The next number, in a format of Python's `struct`, such as "I" for a u32."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)).data)[0]

    def text(self, count: int) -> str:
        """The next bytes as text."""
        return str(self.take(count).data, "utf-8", "replace")

"""What a converter sees of an operator of Caffe2."""

from __future__ import annotations

from collections.abc import Sequence

from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.windows import Padding
from ..wire.protobuf import Record

rows = Rows(__package__ or "")


class Caffe2Layer(NodeLayer):
    """An operator that is being imported, and its arguments by name."""

    attributes: dict[str, Record]

    def has(self, name: str) -> bool:
        """Whether an argument is given."""
        return name in self.attributes

    def int(self, name: str, default: int = 0) -> int:
        """An argument of one integer."""
        return self.attributes[name].i if name in self.attributes else default

    def float(self, name: str, default: float = 0) -> float:
        """An argument of one number."""
        return self.attributes[name].f if name in self.attributes else default

    def text(self, name: str, default: str = "") -> str:
        """An argument of text."""
        if name not in self.attributes:
            return default
        return self.attributes[name].s.tobytes().decode("utf-8", "replace")

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """An argument of integers."""
        return tuple(self.attributes[name].ints) if name in self.attributes else tuple(default)

    def spatial(self, name: str, rank: int, default: int) -> tuple[int, ...]:
        """A number for each spatial dimension: `strides`, `stride`, or `stride_h` and `_w`."""
        found = self.ints(f"{name}s")
        if not found and self.has(f"{name}_h"):
            found = (self.int(f"{name}_h"), self.int(f"{name}_w"))
        if not found:
            found = (self.int(name, default),) * rank
        if len(found) != rank or min(found) < 0 or max(found) >= 1 << 31:
            raise self.error(f"argument '{name}' is {list(found)}, expected {rank} numbers")
        return found

    def padding(self, rank: int) -> Padding:
        """At all begins, then at all ends, or what the argument for old models says."""
        legacy = self.int("legacy_pad")
        if legacy in (1, 2):
            return "VALID" if legacy == 1 else "SAME_UPPER"
        found = self.ints("pads")
        if not found and self.has("pad_t"):
            found = tuple(self.int(f"pad_{side}") for side in "tlbr")
        found = found or (self.int("pad"),) * 2 * rank
        if len(found) != 2 * rank or max(map(abs, found)) >= 1 << 31:
            raise self.error(f"padding {list(found)}, expected {2 * rank} numbers")
        return found

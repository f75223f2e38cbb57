"""A converter's view of an operator of Caffe2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..common.fields import Ignored, IgnoredFields
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.windows import Padding
from ..wire.protobuf import Record

IGNORED = IgnoredFields(
    Ignored("engine cudnn_* *_search ws_nbytes_limit shared_buffer use_cudnn", "of other runtimes"),
    Ignored("net_position device_id convert_to_sequence __*", "of editors and converters"),
    Ignored("order", "the layout that nnc computes in", values=("NCHW",)),
    Ignored("momentum", "of the statistics that training keeps", "SpatialBN"),
    Ignored("ratio", "not asked for, where it infers", "Dropout"),
    Ignored("global_pooling", "not asked for", values=(0,)),
)
rows = Rows(__package__ or "", IGNORED)


class Caffe2Layer(NodeLayer):
    """An operator that is being imported, and its arguments by name."""

    attributes: Mapping[str, Record]

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The arguments that no converter has read, as Python has them."""
        return ((name, _plain(argument)) for name, argument in super().unread())

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

    def gives(self, name: str) -> bool:
        """Whether numbers for spatial dimensions are given, in a form that `spatial` reads."""
        return any(self.has(one) for one in (name, f"{name}s", f"{name}_h"))

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
        """The padding: all begins, then all ends, or the legacy argument's kind."""
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


def _plain(argument: Record) -> Any:
    """The value of an argument: a number, a text, or a list."""
    for name, value in argument.fields():
        if name == "s":
            return value.tobytes().decode("utf-8", "replace")
        if name != "name":
            return value if isinstance(value, int | float) else list(value)
    return 0

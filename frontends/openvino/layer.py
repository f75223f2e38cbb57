"""A converter's view of an operation of OpenVINO, whose attributes are all text."""

from __future__ import annotations

from ..common.fields import Ignored, IgnoredFields
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *
from .constants import TYPES
from .ports import Ports

IGNORED = IgnoredFields(
    Ignored("opset", "the version of an operation, where it makes no difference"),
    Ignored("auto_broadcast", "as in NumPy, or shapes are equal", values=("numpy", "none")),
    Ignored("index_element_type output_type count_element_type", "as the type of the output tells"),
    Ignored("rounding_type", "the default", values=("floor",)),
    Ignored("pads_begin pads_end", "padding that auto_pad tells"),
    Ignored("spatial_bins_x spatial_bins_y", "of interpolated regions", "PSROIPooling"),
    Ignored("mask num anchors", "told by the channels, or for who reads boxes", "RegionYolo"),
)
rows = Rows(__package__ or "", IGNORED)


class OpenvinoLayer(NodeLayer):
    """An operation; `attributes` are text, such as `"1, 2"`."""

    attributes: Mapping[str, Any]

    @property
    def opset(self) -> int:
        """The number of the opset that the operation is from; 0 for others than OpenVINO's."""
        text = self.attributes["opset"].removeprefix("opset")
        return int(text) if text.isdigit() else 0

    def text(self, name: str, default: str = "") -> str:
        """An attribute in lower case."""
        return self.attributes.get(name, default).lower()

    def flag(self, name: str, default: bool = False) -> bool:
        """Whether an attribute is true."""
        text = self.text(name, str(default))
        if text not in ("true", "false", "0", "1"):
            raise self.error(f"'{name}' is '{text}', expected true or false")
        return text in ("true", "1")

    def int(self, name: str, default: int | None = None) -> int:
        """An attribute that is an integer. Raises NncError if it is not, or if it is missing."""
        (number,) = self._numbers(name, default, int)
        return number

    def float(self, name: str, default: float | None = None) -> float:
        """An attribute that is a number. Raises NncError if it is not, or if it is missing."""
        (number,) = self._numbers(name, default, float)
        return number

    def ints(self, name: str, default: Sequence[int] = ()) -> list[int]:
        """An attribute that is a list of integers."""
        if not self.attributes.get(name, ""):
            return list(default)
        return self._numbers(name, None, int)

    def floats(self, name: str) -> list[float]:
        """An attribute that is a list of numbers; empty if it is missing."""
        return self._numbers(name, None, float) if self.attributes.get(name, "") else []

    def _numbers(self, name: str, default: Any, kind: Callable[[str], Any]) -> list[Any]:
        text = self.attributes.get(name)
        if text is None and default is not None:
            return [default]
        try:
            return [kind(word) for word in (text or "").split(",")]
        except ValueError:
            raise self.error(f"'{name}' is '{text}', expected numbers") from None

    def element(self, name: str, default: Type | None = None) -> Type:
        """An element type that an attribute names. Raises NncError for an unknown one."""
        text = self.attributes.get(name)
        found = default if text is None else TYPES.get(text)
        if found is None:
            raise self.error(f"elements of type '{text}' are not supported")
        return found

    def ports(self, body: str) -> Ports:
        """How the inputs and outputs belong to those of a body."""
        found = self.attributes.get(body)
        if not isinstance(found, Ports):
            raise self.error(f"it has no {body}")
        return found

    def axes(self, x: Value, axes: Value) -> tuple[int, ...]:
        """Axes of x that an operand tells, from the front. Raises NncError if they are unknown."""
        return normalize_axes(self, self.known_ints(axes, "axes"), x.type.rank)

    def axis(self, x: Value, axis: Value) -> int:
        """An axis of x that an operand tells, from the front."""
        return normalize_axis(self, self.known_int(axis, "an axis"), x.type.rank)

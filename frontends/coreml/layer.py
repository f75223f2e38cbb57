"""A converter's view of an operation or a layer of CoreML, and the table of converters.

The parameters of an operation's converter are named like the operation's inputs; inputs that it
does not name are attributes, which must be constant. Layers of neural networks go by the name of
their messages, `ConvolutionLayer`; their inputs have no names.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter, signature

from ..common.fields import Ignored, IgnoredFields
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *
from .types import element_type

_MISSING = object()

IGNORED = IgnoredFields(
    Ignored("pad pads", "of padding that is custom"),
    Ignored("padding_value", "of padding by a constant", values=(0,)),
    Ignored("coordinates_mode", "the only one", "affine", ("normalized_minus_one_to_one",)),
    Ignored("padding_mode", "the only one", "affine", ("constant",)),
    Ignored("sampling_mode", "the only one", "affine", ("bilinear",)),
    Ignored("num_splits", "not asked for, with sizes", "split"),
    Ignored("sort return_indices", "what the row does", "topk", (True,)),
    Ignored("validate_indices", "none are checked", values=(False,)),
    Ignored("end_mask", "as the update has its extents", "slice_update"),
    Ignored("dynamic_length grows", "read where the graph is made", "*list*"),
    Ignored("input(computed)", "read where the graph is made", "read_state"),
    Ignored("computeMeanVar", "as instances are normalized", "batchnorm", (True,)),
    Ignored("avgPoolExcludePadding", "of averages", "pooling"),
    Ignored("alpha", "of powers and thresholds", "unary", (1.0,)),
    Ignored("epsilon", "of logarithms and roots", "unary"),
    Ignored("offset", "of crops to another input", "crop", ([0, 0],)),
)
rows = Rows(__package__ or "", IGNORED)


class CoreMLLayer(NodeLayer):
    """An operation that is being imported; its attributes are inputs that are constants."""

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The attributes that no converter has read, except those it receives as values."""
        values = {name for name, _ in inputs_of(self.kind)}
        for name, value in super().unread():
            if name not in values:
                is_array = isinstance(value, np.ndarray | np.generic)
                yield name, value.tolist() if is_array else value

    def has(self, name: str) -> bool:
        """Whether an attribute is given."""
        return name in self.attributes

    def attribute(self, name: str, default: Any = _MISSING) -> Any:
        """An attribute: an array, text or a list. Raises NncError if it is missing without a
        default.
        """
        found = self.attributes.get(name, default)
        if found is _MISSING:
            raise self.error(f"'{name}' must be given as a constant")
        return found

    def value(self, name: str) -> Any:
        """An attribute of one element as a Python value; None if it is missing."""
        found = self.attributes.get(name)
        return found.item() if isinstance(found, np.ndarray | np.generic) else found

    def ints(self, name: str, default: Any = _MISSING) -> tuple[int, ...]:
        """An attribute of integers."""
        found = self.attribute(name, default)
        try:
            return tuple(int(v) for v in np.asarray(found).reshape(-1))
        except (TypeError, ValueError):
            raise self.error(f"'{name}' has no integers") from None

    def int(self, name: str, default: Any = _MISSING) -> int:
        """An attribute of one integer."""
        found = self.ints(name, default)
        if len(found) != 1:
            raise self.error(f"'{name}' has {len(found)} elements, expected one")
        return found[0]

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is true or false."""
        return bool(self.int(name, default))

    def flags(self, name: str, count: int) -> tuple[bool, ...]:
        """`count` flags of an attribute; all false if it is missing."""
        found = self.ints(name, (0,) * count)
        # coremltools writes five for slices of any rank.
        if len(found) < count or any(found[count:]):
            raise self.error(f"'{name}' has {len(found)} elements, expected {count}")
        return tuple(map(bool, found[:count]))

    def float(self, name: str, default: Any = _MISSING) -> float:
        """An attribute of one number."""
        found = self.attribute(name, default)
        try:
            return np.asarray(found).reshape(()).astype(np.float64).item()
        except (TypeError, ValueError):
            raise self.error(f"'{name}' is not one number") from None

    def text(self, name: str, default: Any = _MISSING, *choices: str) -> str:
        """A text attribute, which must be one of `choices` if these are given."""
        found = self.attribute(name, default)
        if not isinstance(found, str) or (choices and found not in choices):
            raise self.error(f"'{name}' is '{found}', expected {' or '.join(choices) or 'text'}")
        return found

    def element(self, name: str, default: Any = _MISSING) -> Type:
        """An attribute that names an element type, `fp16`."""
        return element_type(self, self.text(name, default))


def inputs_of(kind: str) -> list[tuple[str, bool]]:
    """(name, whether it is a list) of each input that the operation's converter takes."""
    convert = rows.find(kind)
    if convert is None:
        return []
    parameters = list(signature(convert).parameters.values())[1:]
    return [(one.name, one.kind is Parameter.VAR_POSITIONAL) for one in parameters]


def of_one_type(n: CoreMLLayer, *values: Value) -> list[Value]:
    """Values cast to one element type: older networks represent booleans and indices as floats."""
    kinds = {v.type.element_type for v in values}
    if len(kinds) == 1:
        return list(values)
    others = kinds - {i1}
    wanted = others.pop() if len(others) == 1 else f32
    return [n.cast(v, wanted) for v in values]

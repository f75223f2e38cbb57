"""What a converter sees of an operator of PaddlePaddle.

Values that PIR calls vectors are lists of values here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import IntegerType, Type, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.shapes import as_i64, normalize_axis, reshape
from .params import TYPES

_NAMED: dict[str, Type] = {
    "bool": i1,
    "uint8": IntegerType(8, "u"),
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
    "float16": f16,
    "bfloat16": bf16,
    "float32": f32,
    "float64": f64,
}


rows = Rows(__package__ or "")


class PaddleLayer(NodeLayer):
    """An operator; its attributes by name."""

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute as it is."""
        found = self.attributes.get(name)
        return default if found is None else found

    def int(self, name: str, default: int = 0) -> int:
        return int(self._number(name, default))

    def float(self, name: str, default: float = 0.0) -> float:
        return float(self._number(name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.get(name, default))

    def text(self, name: str, default: str = "") -> str:
        return str(self.get(name, default))

    def _number(self, name: str, default: Any) -> Any:
        value = self.get(name, default)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, int | float | bool):
            raise self.error(f"attribute '{name}' is {value!r}, expected a number")
        return value

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """A list of integers."""
        value = self.get(name, default)
        value = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(v, int | float) for v in value):
            raise self.error(f"attribute '{name}' is {value!r}, expected integers")
        return tuple(int(v) for v in value)

    def floats(self, name: str) -> tuple[float, ...]:
        """A list of numbers."""
        value = self.get(name, ())
        if not isinstance(value, list | tuple) or not all(
            isinstance(v, int | float) for v in value
        ):
            raise self.error(f"attribute '{name}' is {value!r}, expected numbers")
        return tuple(float(v) for v in value)

    def element(self, name: str, default: Type) -> Type:
        """An element type that an attribute names."""
        value = self.get(name)
        if isinstance(value, int):
            return TYPES.get(value, default)
        return _NAMED.get(str(value), default)

    def axis(self, x: Value, axis: int) -> int:
        return normalize_axis(self, axis, x.type.rank)

    def known_axes(self, value: Any, x: Value) -> tuple[int, ...]:
        """Axes that an operand holds, all where it has none."""
        axes = self.numbers(value, "axes") if value is not None else ()
        return tuple(self.axis(x, a) for a in axes) or tuple(range(x.type.rank))

    def numbers(self, value: Any, what: str) -> tuple[int, ...]:
        """The integers of an operand, a tensor or a vector of them, which must be known."""
        parts = value if isinstance(value, list | tuple) else [value]
        return tuple(number for part in parts for number in self.known_ints(part, what))

    def vector(self, value: Any) -> Value:
        """A 1-D tensor of i64, of a tensor or of a vector of tensors of one element."""
        if not isinstance(value, list | tuple):
            value = as_i64(self, value)
            return value if value.type.rank == 1 else reshape(self, value, [1])
        if not value:
            return self.constant(np.zeros(0, np.int64))
        parts = [reshape(self, as_i64(self, part), [1]) for part in value]
        return parts[0] if len(parts) == 1 else self(nn.Concat(parts, axis=0))

    def wanted(self, value: Any) -> tuple[Value, list[int | None]]:
        """A vector of extents, and those that are known."""
        vector = self.vector(value)
        known = self.extents(vector)
        if known is None:
            raise self.error("the number of extents must be known at import")
        return vector, list(known)

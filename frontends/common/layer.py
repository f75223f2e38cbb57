"""A converter's view of one layer of a model: its location, and where new ops are inserted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects import nn
from ...dialects.marks import IMPLIED
from ...ir.attributes import UnitAttr
from ...ir.conversions import is_small_float
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.location import Location
from ...ir.numpy_types import type_to_numpy
from ...ir.types import Dim, FloatType, IntegerType, TensorType, Type, f32
from .builder import Builder


class Layer:
    """A layer, node or operator that is being imported.

    Calling it with an nn op inserts the op and returns its value. `label` is its name in messages,
    `loc` its location in the model.
    """

    builder: Builder
    label: str
    loc: Location

    def __init__(self, builder: Builder, label: str, loc: Location) -> None:
        self.builder = builder
        self.label = label
        self.loc = loc

    def error(self, message: str) -> NncError:
        """An error that names the model and the layer."""
        return NncError(f"{self.label}: {message}", self.builder.loc)

    def warn(self, message: str) -> None:
        """Note that other runtimes are known to compute something else here."""
        text = f"{self.label}: {message}"
        if text not in self.builder.warnings:
            self.builder.warnings.append(text)

    # -- building -----------------------------------------------------------------------------

    def __call__(self, op: Operation) -> Any:
        """Insert the op, folding constants, and return its result, or a tuple of several."""
        values = self.builder.emit(op, self.loc)
        return values[0] if len(values) == 1 else tuple(values)

    def constant(self, value: Any, type: Type | None = None) -> Value:
        """A constant of an array or number; `type` is its element type."""
        dtype = None if type is None else type_to_numpy(type)
        if isinstance(value, float) and isinstance(type, IntegerType) and not value.is_integer():
            raise self.error(f"{value} is not a number of type {type}")
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                array = np.asarray(value, dtype)
        except (OverflowError, ValueError):
            raise self.error(f"{value} is not a number of type {type}") from None
        return self.builder.constant(array, self.loc)

    def scalar(self, value: Any, like: Value) -> Value:
        """A 0-d constant with the element type of the value `like`."""
        return self.constant(value, like.type.element_type)

    def cast(self, x: Value, element: Type, saturate: bool = True, round_mode: str = "up") -> Value:
        """x with another element type; x itself if it has that type already.

        For floats of 8 bits and less, `saturate` and `round_mode` are those of nn.cast.
        """
        if x.type.element_type is element:
            return x
        out = TensorType(x.type.shape, element)
        if not is_small_float(element):
            return self(nn.Cast(x, out=out))
        return self(nn.Cast(x, out=out, saturate=saturate, round_mode=round_mode))

    def compute_as(self, x: Value, element: Type) -> Value:
        """x in a type that only this computation has: a cast from 16-bit floats or to them is then
        no rounding that the model states.
        """
        if x.type.element_type is element:
            return x
        made = nn.Cast(x, out=TensorType(x.type.shape, element))
        if all(isinstance(type, FloatType) for type in (x.type.element_type, element)):
            made.attributes[IMPLIED] = UnitAttr()
        return self(made)

    def floating(self, x: Value) -> Value:
        """The value as floats: integers become f32."""
        return x if isinstance(x.type.element_type, FloatType) else self.cast(x, f32)

    # -- what is known at import --------------------------------------------------------------

    def known(self, value: Value | None) -> np.ndarray | None:
        """The elements of a small constant or of an empty tensor; None for other values."""
        if isinstance(value, Value) and 0 in getattr(value.type, "shape", ()):
            shape = tuple(d or 0 for d in value.type.shape)
            return np.zeros(shape, type_to_numpy(value.type.element_type))
        return None if value is None else self.builder.known.array(value)

    def array(self, value: Value | None) -> np.ndarray | None:
        """The elements of a constant of any size; None for other values."""
        if value is None:
            return None
        found = self.builder.known.array(value)
        if found is None and (op := value.defined_by(nn.Constant)) is not None:
            found = op.value.to_numpy()
        return found

    def extent(self, x: Value, axis: int) -> int:
        """An extent that has to be known. Raises NncError where it is not."""
        if not -x.type.rank <= axis < x.type.rank:
            raise self.error(f"an input is '{x.type}', expected a dimension {axis}")
        found = x.type.shape[axis]
        if found is None:
            raise self.error(f"dimension {axis} of '{x.type}' must be known at import")
        return found

    def known_ints(self, value: Value, what: str) -> tuple[int, ...]:
        """The elements of an operand that must be known. Raises NncError where it is not."""
        found = self.known(value)
        if found is None:
            raise self.error(f"{what} must be known at import, but it is computed at run time")
        return tuple(int(v) for v in found.reshape(-1))

    def known_int(self, value: Value, what: str) -> int:
        """The only element of an operand that must be known. Raises NncError where it is not."""
        found = self.known_ints(value, what)
        if len(found) != 1:
            raise self.error(f"{what} must be one number, but has {len(found)} elements")
        return found[0]

    def extents(self, value: Value) -> tuple[Dim, ...] | None:
        """The elements of a 1-D integer tensor that holds a shape; unknown ones are None.

        The result is None where not even the number of elements is known.
        """
        return self.builder.extents(value)

    def ranked(self, value: Value) -> tuple[Dim, ...]:
        """The extents of a shape. Raises NncError where not even their number is known."""
        found = self.extents(value)
        if found is None:
            raise self.error("the rank of a shape must be known at import")
        return found

"""What the converters of TensorFlow Lite's operators see of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, Type, i1
from ..common.importer import NodeLayer
from ..common.quantization import quantized, real_numbers
from ..wire import flexbuffers
from ..wire.flatbuffers import FlatbufferError, Table
from .model import Operator
from .tensors import element_type

ACTIVATIONS: dict[int, Callable[[Any, Any], Any]] = {
    1: lambda n, x: n(nn.Relu(x)),
    2: lambda n, x: n(nn.Clip(x, n.scalar(-1, x), n.scalar(1, x))),
    3: lambda n, x: n(nn.Clip(x, n.scalar(0, x), n.scalar(6, x))),
    4: lambda n, x: n(nn.Tanh(x)),
    5: lambda n, x: n(nn.Sign(x)),
}
"""The functions that operators may end with, by their numbers."""


class Complex:
    """Complex numbers as two tensors, which no value of the program is."""

    def __init__(self, real: Value, imaginary: Value) -> None:
        self.real = real
        self.imaginary = imaginary


class TfliteLayer(NodeLayer):
    """An operator with its options, and with the quantization of its tensors."""

    attributes: Operator

    @property
    def options(self) -> Table:
        return self.attributes.options

    def activated(self, x: Value, number: int | None = None) -> Value:
        """x after the activation that the options name."""
        number = self.options.activation if number is None else number
        if not number:
            return x
        if number not in ACTIVATIONS:
            raise self.error(f"activation {number} is not known")
        return ACTIVATIONS[number](self, x)

    def output_type(self, i: int = 0) -> Type:
        """The element type that the file declares for an output."""
        return element_type(self.attributes.outputs[i].type)

    def real(self, i: int, x: Value | None) -> Any:
        """Operand i as floats: what it stands for where it is quantized, else itself."""
        if x is None:
            return None
        tensor = self.attributes.inputs[i]
        scale = _scale(tensor)
        element = x.type.element_type
        if scale is None or not isinstance(element, IntegerType) or element is i1:
            return x
        assert tensor is not None
        size, zero = self._parameters(tensor, x.type.rank)
        return real_numbers(self, x, size, zero).value

    def quantized(self, i: int, x: Value) -> Value:
        """Floats as output i has them: quantized where it is."""
        tensor = self.attributes.outputs[i]
        element = element_type(tensor.type)
        if _scale(tensor) is None or not isinstance(element, IntegerType):
            return x
        if not isinstance(x.type.element_type, FloatType):
            return x
        size, zero = self._parameters(tensor, x.type.rank)
        return quantized(self, x, size, zero, element)

    def is_quantized(self, i: int) -> bool:
        """Whether operand i has a scale."""
        return _scale(self.attributes.inputs[i]) is not None

    def zero_point(self, i: int) -> int:
        """What stands for 0 in operand i."""
        tensor = self.attributes.inputs[i]
        if tensor is None or _scale(tensor) is None or not len(tensor.quantization.zero):
            return 0
        return int(tensor.quantization.zero[0])

    def same_steps(self, i: int, o: int = 0) -> bool:
        """Whether operand i and output o stand for the same numbers."""
        tensors = self.attributes.inputs[i], self.attributes.outputs[o]
        first, second = (_scale(tensor) for tensor in tensors)
        if first is None or second is None:
            return True
        zeros = [tensor.quantization.zero for tensor in tensors if tensor is not None]
        return np.array_equal(first, second) and np.array_equal(zeros[0], zeros[1])

    def flexible_options(self) -> dict[str, Any]:
        """The options of a custom operator, by name."""
        try:
            found = flexbuffers.read(self.attributes.custom.tobytes())
        except FlatbufferError as error:
            raise self.error(f"its options: {error}") from None
        if not isinstance(found, dict):
            raise self.error("its options have no names")
        return found

    def _parameters(self, tensor: Table, rank: int) -> tuple[Value, Value | None]:
        """The scale and the zero point of a tensor, such that they broadcast against it."""
        about = tensor.quantization
        if about.details_kind:
            raise self.error(f"tensor '{tensor.name}' is quantized in a way that is not supported")
        found = []
        for numbers in (about.scale, about.zero):
            array = np.asarray(numbers, np.float32)
            if array.size == 1:
                found.append(array.reshape(()))
                continue
            if array.size and not 0 <= about.axis < rank:
                raise self.error(f"tensor '{tensor.name}' has scales along axis {about.axis}")
            found.append(array.reshape([-1 if i == about.axis else 1 for i in range(rank)]))
        zero = self.constant(found[1]) if found[1].any() else None
        return self.constant(found[0]), zero


def _scale(tensor: Table | None) -> np.ndarray | None:
    """The scales of a tensor that has some."""
    if tensor is None or tensor.quantization is None or not len(tensor.quantization.scale):
        return None
    return tensor.quantization.scale


def real(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A converter of floats for quantized tensors too: real numbers go in, steps come out."""

    @wraps(convert)
    def converted(n: TfliteLayer, *inputs: Value | None) -> Any:
        results = convert(n, *(n.real(i, x) for i, x in enumerate(inputs)))
        if isinstance(results, Value):
            return n.quantized(0, results)
        return [
            n.quantized(i, x) if i < len(n.attributes.outputs) else x for i, x in enumerate(results)
        ]

    return converted


def moved(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A converter that only moves elements: of quantized tensors the steps, if they agree."""
    through_numbers = real(convert)

    @wraps(convert)
    def converted(n: TfliteLayer, *inputs: Value | None) -> Any:
        if any(isinstance(x, Complex) for x in inputs):
            parts = [
                convert(n, *(getattr(x, part) if isinstance(x, Complex) else x for x in inputs))
                for part in ("real", "imaginary")
            ]
            return [Complex(*parts)]
        ins, outs = range(len(inputs)), range(len(n.attributes.outputs))
        if all(n.same_steps(i, o) for i in ins for o in outs):
            return convert(n, *inputs)
        return through_numbers(n, *inputs)

    return converted

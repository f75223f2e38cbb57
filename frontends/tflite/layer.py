"""A converter's view of a TensorFlow Lite operator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, wraps

import ml_dtypes

from ..common.fields import Fields, remembered
from ..common.importer import NodeLayer
from ..common.quantization import quantized, real_numbers
from ..common.vocabulary import *
from ..wire import flexbuffers
from ..wire.flatbuffers import FlatbufferError, Table
from .integers.rows import INTEGERS
from .model import Operator
from .tensors import element_type

ACTIVATIONS: dict[int, Callable[[Any, Any], Any]] = {
    1: lambda n, x: n(nn.Relu(x)),
    2: lambda n, x: n(nn.Clip(x, n.scalar(-1, x), n.scalar(1, x))),
    3: lambda n, x: n(nn.Clip(x, n.scalar(0, x), n.scalar(6, x))),
    4: lambda n, x: n(nn.Tanh(x)),
    5: lambda n, x: n(nn.Sign(x)),
}
"""The fused activations, by their numbers."""


class Complex:
    """Complex numbers as two tensors; the program has no such value."""

    def __init__(self, real: Value, imaginary: Value) -> None:
        self.real = real
        self.imaginary = imaginary


class TfliteLayer(NodeLayer):
    """An operator with its options, and with the quantization of its tensors."""

    attributes: Operator

    @cached_property
    def options(self) -> Any:
        """The options, which record what is read of them."""
        return remembered(self.attributes.options)

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the options that no converter has read."""
        yield from self.options.unread()
        if "custom_options" in self.__dict__:  # else the row reads the bytes itself
            yield from self.custom_options.unread()

    def activated(self, x: Value, number: int | None = None) -> Value:
        """x after the activation that the options name."""
        number = self.options.activation if number is None else number
        if not number:
            return x
        if number not in ACTIVATIONS:
            raise self.error(f"activation {number} is not known")
        return ACTIVATIONS[number](self, x)

    def axes(self, x: Value, axes: Value) -> Value:
        """Axes of x, sorted; an axis that is named twice counts once, as in the kernels."""
        known = self.known(axes)
        if known is None:
            return axes
        found = (normalize_axis(self, int(v), x.type.rank) for v in known.reshape(-1))
        return self.constant(np.array(sorted(set(found)), np.int32))

    def output_type(self, i: int = 0) -> Type:
        """The element type that the file declares for an output."""
        return element_type(self.attributes.outputs[i].type)

    def real(self, i: int, x: Value | None) -> Any:
        """Operand i as floats: dequantized if it is quantized, else itself.

        Scales of blocks are rounded to bf16, as XNNPACK does, whose products are the only ones of
        LiteRT that read them.
        """
        if x is None:
            return None
        tensor = self.attributes.inputs[i]
        if i in self.attributes.blocks:
            blocks = self.attributes.blocks[i]
            scales = self.constant(blocks.scales.astype(ml_dtypes.bfloat16).astype(np.float32))
            return self._of_blocks(x, scales, blocks.size)
        scale = scales_of(tensor)
        element = x.type.element_type
        if scale is None or not isinstance(element, IntegerType) or element is i1:
            return x
        assert tensor is not None
        size, zero = self._parameters(tensor, x.type.rank)
        return real_numbers(self, x, size, zero).value

    def real_rows(self, i: int, table: Value, indices: Value) -> Value:
        """Rows of operand i, a quantized table, as floats."""
        rows = gathered(self, table, indices)
        tensor, blocks = self.attributes.inputs[i], self.attributes.blocks.get(i)
        if blocks is not None:
            scales = gathered(self, self.constant(blocks.scales), indices)
            return self._of_blocks(rows, scales, blocks.size)
        assert tensor is not None
        size, zero = self._parameters(tensor, table.type.rank)
        if tensor.quantization.axis == 0:
            size, zero = (
                v if v is None or not v.type.rank else gathered(self, v, indices)
                for v in (size, zero)
            )
        return real_numbers(self, rows, size, zero).value

    def _of_blocks(self, x: Value, scales: Value, size: int) -> Value:
        """The real numbers of x [.., columns] with scales [.., blocks of `size` columns]."""
        whole = dims(x)
        blocks = [*whole[:-1], x.type.shape[-1] // size]
        steps = Term(self, reshape(self, self.cast(x, f32), [*blocks, size]))
        return reshape(self, (steps * Term(self, scales).spread(0, 1)).value, whole)

    def quantized(self, i: int, x: Value) -> Value:
        """Floats quantized as output i, if that is quantized."""
        return self._as_tensor(self.attributes.outputs[i], x)

    def as_operand(self, i: int, x: Value) -> Value:
        """Floats quantized as operand i, if that is quantized."""
        tensor = self.attributes.inputs[i]
        return x if tensor is None else self._as_tensor(tensor, x)

    def _as_tensor(self, tensor: Table, x: Value) -> Value:
        element = element_type(tensor.type)
        if scales_of(tensor) is None or not isinstance(element, IntegerType):
            return x
        if not isinstance(x.type.element_type, FloatType):
            return x
        size, zero = self._parameters(tensor, x.type.rank)
        return quantized(self, x, size, zero, element)

    def is_quantized(self, i: int) -> bool:
        """Whether operand i has scales."""
        return scales_of(self.attributes.inputs[i]) is not None or i in self.attributes.blocks

    def is_hybrid(self, data: int, weights: int) -> bool:
        """Whether an operand is of floats and its weights are of 8 bits or less.

        Raises NncError for unsigned weights: LiteRT's kernels read their bytes as signed numbers
        and ignore the zero point.
        """
        x, weight = (self.attributes.inputs[i] for i in (data, weights))
        has_scales = scales_of(weight) is not None or weights in self.attributes.blocks
        if x is None or weight is None or not has_scales:
            return False
        element = element_type(weight.type)
        if not isinstance(element, IntegerType) or element_type(x.type) is not f32:
            return False
        if element.signedness == "u":
            raise self.error("floats that meet weights of uint8 are not supported")
        return element.width <= 8

    def computes_integers(self) -> bool:
        """Whether the results are quantized integers, or truth values from quantized operands."""
        outputs, inputs = self.attributes.outputs, self.attributes.inputs
        if any(_has_steps(tensor) for tensor in outputs):
            return True
        return self.output_type() is i1 and _has_steps(inputs[0])

    def zero_point(self, i: int) -> int:
        """The integer that stands for 0 in operand i."""
        tensor = self.attributes.inputs[i]
        if tensor is None or scales_of(tensor) is None or not len(tensor.quantization.zero):
            return 0
        return int(tensor.quantization.zero[0])

    def option(self, name: str, default: float | None = None) -> float:
        """An option of a custom operator that is a number."""
        found = self.custom_options.get(name, default)
        if not isinstance(found, int | float):
            raise self.error(f"option '{name}' is {found!r}, expected a number")
        if not math.isfinite(found):
            raise self.error(f"option '{name}' is {found}")
        return found

    @cached_property
    def custom_options(self) -> Fields:
        """The options of a custom operator, by name."""
        if not self.attributes.custom.size:
            return Fields({})
        try:
            found = flexbuffers.read(self.attributes.custom.tobytes())
        except FlatbufferError as error:
            raise self.error(f"its options: {error}") from None
        if not isinstance(found, dict):
            raise self.error("its options have no names")
        return Fields(found)

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


def scales_of(tensor: Table | None) -> np.ndarray | None:
    """The scales of a quantized tensor; None for others."""
    if tensor is None or tensor.quantization is None or not len(tensor.quantization.scale):
        return None
    return tensor.quantization.scale


def _has_steps(tensor: Table | None) -> bool:
    """Whether a tensor has quantized integers of 8 or 16 bits."""
    if tensor is None or scales_of(tensor) is None:
        return False
    element = element_type(tensor.type)
    return isinstance(element, IntegerType) and element.width in (8, 16)


def real(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A converter of floats that also supports quantized tensors.

    If the table of integer operators has a row, that row converts it, as the kernels compute. Else
    operands are dequantized, and results quantized.
    """

    @wraps(convert)
    def converted(n: TfliteLayer, *inputs: Value | None) -> Any:
        row = INTEGERS.find(n.kind) if n.computes_integers() else None
        if row is not None and (found := row(n, *inputs)) is not NotImplemented:
            return found
        results = convert(n, *(n.real(i, x) for i, x in enumerate(inputs)))
        if isinstance(results, Value):
            return n.quantized(0, results)
        return [
            n.quantized(i, x) if i < len(n.attributes.outputs) else x for i, x in enumerate(results)
        ]

    return converted


def moved(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A converter that only moves elements, and is applied to quantized integers as they are.

    As in the kernels, scales are ignored; if a result has another scale than the operand, it stands
    for other real numbers.
    """
    through_numbers = real(convert)

    @wraps(convert)
    def converted(n: TfliteLayer, *inputs: Value | None) -> Any:
        if any(isinstance(x, Complex) for x in inputs):
            parts = [
                convert(n, *(getattr(x, part) if isinstance(x, Complex) else x for x in inputs))
                for part in ("real", "imaginary")
            ]
            return [Complex(*parts)]
        ins = [t for t in n.attributes.inputs if t is not None and scales_of(t) is not None]
        if len({t.type for t in (*ins, *n.attributes.outputs)} if ins else ()) > 1 or (
            n.computes_integers() and INTEGERS.find(n.kind) is not None
        ):
            return through_numbers(n, *inputs)
        return convert(n, *inputs)

    return converted

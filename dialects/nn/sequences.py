"""Sequences (lists of values) and optionals (a value or nothing), which a host handles."""

from __future__ import annotations

from ...ir.declare import TYPE
from ...ir.types import none
from ..vocabulary import *
from .base import check_axis, tensor
from .host import HostOp
from .host_types import AnySequence, AnyValue, OptionalType, SequenceType, join


def _check_position(type) -> None:
    ints = isinstance(type.element_type, IntegerType) and type.element_type.width >= 32
    if not ints or type.rank > 1 or type.shape not in ((), (1,), (None,)):
        raise NncError(f"a position must be one integer, but got '{type}'")


def _place(position, count: int, end: int) -> int:
    """The position, counted from the front. Raises NncError if it is out of range
    or above `end`.
    """
    at = int(position.reshape(-1)[0])
    if not -count <= at <= end:
        raise NncError(f"position {at} is out of range for a sequence of {count}")
    return at + count if at < 0 else at


class SequenceConstruct(HostOp, name="nn.sequence_construct"):
    """The operands as a sequence. Source: ONNX SequenceConstruct-11, SequenceEmpty-11."""

    inputs: Operands = operands(AnyValue)
    out: Result = result(AnySequence)

    example = (
        "%s = nn.sequence_construct %a, %b : "
        "(tensor<4xf32>, tensor<2xf32>) -> !nn.sequence<tensor<?xf32>>"
    )

    @classmethod
    def infer(cls, types, attrs):
        element = none
        for type in types:
            element = join(element, type)
        return [SequenceType(element)]

    def evaluate(self, *inputs):
        return list(inputs)


class SequenceAt(HostOp, name="nn.sequence_at"):
    """An element of a sequence; a negative position counts from the end.

    Source: ONNX SequenceAt-11.
    """

    sequence: Operand = operand(AnySequence)
    position: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyValue)

    example = (
        "%x = nn.sequence_at %s, %i : (!nn.sequence<tensor<?xf32>>, tensor<i64>) -> tensor<?xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        sequence, position = types
        _check_position(position)
        if sequence.element is none:
            raise NncError("the sequence is empty")
        return [sequence.element]

    def evaluate(self, sequence, position):
        return sequence[_place(position, len(sequence), len(sequence) - 1)]


class SequenceInsert(HostOp, name="nn.sequence_insert"):
    """The sequence with a value inserted before `position`; without a position, at the end.

    Source: ONNX SequenceInsert-11.
    """

    sequence: Operand = operand(AnySequence)
    value: Operand = operand(AnyValue)
    position: OptionalOperand = optional_operand(AnyRankedTensor)
    out: Result = result(AnySequence)

    example = (
        "%t = nn.sequence_insert %s, %x : "
        "(!nn.sequence<tensor<?xf32>>, tensor<4xf32>) -> !nn.sequence<tensor<?xf32>>"
    )

    @classmethod
    def infer(cls, types, attrs):
        sequence, value, *position = types
        for type in position:
            _check_position(type)
        return [SequenceType(join(sequence.element, value))]

    def evaluate(self, sequence, value, position=None):
        count = len(sequence)
        at = count if position is None else _place(position, count, count)
        return [*sequence[:at], value, *sequence[at:]]


class SequenceErase(HostOp, name="nn.sequence_erase"):
    """The sequence without the element at `position`; without a position, without the last one.

    Source: ONNX SequenceErase-11.
    """

    sequence: Operand = operand(AnySequence)
    position: OptionalOperand = optional_operand(AnyRankedTensor)
    out: Result = result(AnySequence)

    example = (
        "%t = nn.sequence_erase %s, %i : "
        "(!nn.sequence<tensor<?xf32>>, tensor<i64>) -> !nn.sequence<tensor<?xf32>>"
    )

    @classmethod
    def infer(cls, types, attrs):
        for type in types[1:]:
            _check_position(type)
        return [types[0]]

    def evaluate(self, sequence, position=None):
        position = np.array(-1) if position is None else position
        at = _place(position, len(sequence), len(sequence) - 1)
        return [*sequence[:at], *sequence[at + 1 :]]


class SequenceLength(HostOp, name="nn.sequence_length"):
    """The number of elements of a sequence. Source: ONNX SequenceLength-11."""

    sequence: Operand = operand(AnySequence)
    out: Result = result(AnyRankedTensor)

    example = "%n = nn.sequence_length %s : (!nn.sequence<tensor<?xf32>>) -> tensor<i64>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor((), i64)]

    def evaluate(self, sequence):
        return np.array(len(sequence), np.int64)


class SequenceConcat(HostOp, name="nn.sequence_concat"):
    """The tensors of a sequence concatenated along the axis, or with `new_axis` stacked along a new
    one.

    Source: ONNX ConcatFromSequence-11.
    """

    sequence: Operand = operand(AnySequence)
    axis: int = attribute(I64)
    new_axis: bool = attribute(BOOL, default=False)
    out: Result = result(AnyValue)

    example = (
        "%x = nn.sequence_concat %s {axis = 0 : i64} : "
        "(!nn.sequence<tensor<?x4xf32>>) -> tensor<?x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        element = types[0].element
        if isinstance(element, UnrankedTensorType):
            return [element]
        if not isinstance(element, TensorType):
            raise NncError(f"a sequence of '{element}' cannot be concatenated")
        rank = element.rank + attrs.new_axis
        axis = check_axis(attrs.axis + (rank if attrs.axis < 0 else 0), rank)
        after = axis if attrs.new_axis else axis + 1
        shape = (*element.shape[:axis], None, *element.shape[after:])
        return [tensor(shape, element.element_type)]

    def evaluate(self, sequence):
        if not sequence:
            raise NncError("the sequence is empty")
        joined = np.stack if self.new_axis else np.concatenate
        return joined(sequence, axis=self.axis)


class SequenceSplit(HostOp, name="nn.sequence_split"):
    """A tensor split along the axis into a sequence of parts.

    `lengths` is a vector of the parts' lengths, or one length for all, of which the last part may
    have less. Without it, parts have length 1, and with `keep_dims` false they lose that dimension.
    Source: ONNX SplitToSequence-24.
    """

    x: Operand = operand(AnyRankedTensor)
    lengths: OptionalOperand = optional_operand(AnyRankedTensor)
    axis: int = attribute(I64)
    keep_dims: bool = attribute(BOOL, default=True)
    out: Result = result(AnySequence)

    example = (
        "%s = nn.sequence_split %x, %n {axis = 0 : i64} : "
        "(tensor<?x4xf32>, tensor<i64>) -> !nn.sequence<tensor<?x4xf32>>"
    )

    @classmethod
    def infer(cls, types, attrs):
        x, *lengths = types
        axis = check_axis(attrs.axis, x.rank)
        if any(type.rank > 1 for type in lengths):
            raise NncError(f"lengths must be one number or a vector, but got '{lengths[0]}'")
        kept = (None,) if lengths else (1,) if attrs.keep_dims else ()
        shape = (*x.shape[:axis], *kept, *x.shape[axis + 1 :])
        return [SequenceType(tensor(shape, x.element_type))]

    def evaluate(self, x, lengths=None):
        extent = x.shape[self.axis]
        sizes = np.array(1) if lengths is None else lengths
        if sizes.ndim == 0:
            if sizes < 1:
                raise NncError(f"the length of parts is {sizes}, expected at least 1")
            starts = range(0, extent, int(sizes))
        else:
            if sizes.sum() != extent or (sizes < 0).any():
                raise NncError(f"lengths {sizes.tolist()} do not add up to {extent}")
            starts = [0, *np.cumsum(sizes)[:-1]] if sizes.size else []
        ends = [*starts[1:], extent]
        parts = [
            np.take(x, range(start, end), self.axis)
            for start, end in zip(starts, ends, strict=False)
        ]
        if lengths is None and not self.keep_dims:
            return [part.squeeze(self.axis) for part in parts]
        return parts


# -- optionals -------------------------------------------------------------------------------------


class OptionalConstruct(HostOp, name="nn.optional_construct"):
    """An optional that holds the operand, or nothing. Source: ONNX Optional-15.

    `type_of_none` is the type of the value that could be there.
    """

    value: OptionalOperand = optional_operand(AnyValue)
    type_of_none: Any = attribute(TYPE, optional=True)
    out: Result = result(AnyValue)

    example = "%o = nn.optional_construct %x : (tensor<4xf32>) -> !nn.optional<tensor<4xf32>>"

    @classmethod
    def infer(cls, types, attrs):
        return [OptionalType(types[0] if types else attrs.type_of_none or none)]

    def evaluate(self, value=None):
        return value


class OptionalHasElement(HostOp, name="nn.optional_has_element"):
    """Whether an optional holds a value. Source: ONNX OptionalHasElement-18."""

    value: Operand = operand(AnyValue)
    out: Result = result(AnyRankedTensor)

    example = "%c = nn.optional_has_element %o : (!nn.optional<tensor<4xf32>>) -> tensor<i1>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor((), i1)]

    def evaluate(self, value):
        return np.array(value is not None)


class OptionalGetElement(HostOp, name="nn.optional_get_element"):
    """The value of an optional; an error if it holds none. Source: ONNX OptionalGetElement-18."""

    optional: Operand = operand(AnyValue)
    out: Result = result(AnyValue)

    example = "%x = nn.optional_get_element %o : (!nn.optional<tensor<4xf32>>) -> tensor<4xf32>"

    @classmethod
    def infer(cls, types, attrs):
        (type,) = types
        if not isinstance(type, OptionalType):
            return [type]
        if type.element is none:
            raise NncError("the optional has no value")
        return [type.element]

    def evaluate(self, optional):
        if optional is None:
            raise NncError("the optional has no value")
        return optional

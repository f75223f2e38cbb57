"""Small integer tensors whose elements are known at compile time, at least in part.

Shape arithmetic of exported models (shape_of, gather, concat, mul, ..) is followed element by
element, so that `concat(gather(shape_of %x), 64)` is [?, 64] even where a dimension of %x is
known only at run time.
"""

from __future__ import annotations

import math

from ...dialects import nn
from ...ir.attributes import DenseElements, DenseResource
from ...ir.core import Operation, Value
from ...ir.types import IntegerType, TensorType

LIMIT = 64
"""The most elements that are followed."""

Known = list[int | None]


def _quotient(a: int, b: int) -> int:
    """Rounded toward zero; 0 for a division by 0."""
    if not b:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_FUNCTIONS = {
    nn.Add: lambda a, b: a + b,
    nn.Sub: lambda a, b: a - b,
    nn.Mul: lambda a, b: a * b,
    nn.Div: lambda a, b: _quotient(a, b),
    nn.Max: max,
    nn.Min: min,
    nn.Equal: lambda a, b: int(a == b),
    nn.Less: lambda a, b: int(a < b),
    nn.Greater: lambda a, b: int(a > b),
}


class KnownValues:
    """What is known of values, computed when asked and remembered."""

    def __init__(self) -> None:
        self._found: dict[Value, Known | None] = {}

    def elements(self, value: Value) -> Known | None:
        """The elements in row-major order, None for an unknown one; None if nothing is known."""
        if value not in self._found:
            self._found[value] = None
            if _is_small(value.type) and (op := value.defining_op) is not None:
                self._found[value] = self._of(op)
        return self._found[value]

    def all(self, value: Value) -> list[int] | None:
        """The elements where all are known."""
        found = self.elements(value)
        if found is None or None in found:
            return None
        return found  # type: ignore[return-value]

    def forget(self, value: Value) -> None:
        """The value's type has changed."""
        self._found.pop(value, None)

    def _of(self, op: Operation) -> Known | None:
        match op:
            case nn.Constant():
                return _constant(op)
            case nn.ShapeOf():
                return list(op.x.type.shape)  # type: ignore[attr-defined]
            case nn.Reshape() | nn.Cast():
                return self.elements(op.x) if _is_small(op.x.type) else None
            case nn.ReshapeDynamic():
                return self.elements(op.x)
            case nn.Gather():
                return self._gather(op)
            case nn.Concat():
                return self._concat(op)
            case nn.Slice():
                return self._slice(op)
            case nn.SliceDynamic():
                return self._slice_dynamic(op)
            case nn.Where():
                return self._where(op)
            case nn.ReduceProd():
                found = self.all(op.x)
                return [math.prod(found)] if found is not None and op.x.type.rank == 1 else None  # type: ignore[attr-defined]
            case nn.Fill() | nn.BroadcastTo() | nn.FillDynamic() | nn.BroadcastDynamic():
                return self._repeated(op)
        if type(op) in _FUNCTIONS:
            return self._elementwise(op)
        return None

    def _gather(self, op: nn.Gather) -> Known | None:
        data, indices = self.elements(op.data), self.all(op.indices)
        if data is None or indices is None or op.data.type.rank != 1:  # type: ignore[attr-defined]
            return None
        if any(not -len(data) <= i < len(data) for i in indices):
            return None
        return [data[i] for i in indices]

    def _concat(self, op: nn.Concat) -> Known | None:
        parts = [self._padded(v) for v in op.inputs]
        if op.out.type.rank != 1 or None in parts:  # type: ignore[attr-defined]
            return None
        return [e for part in parts for e in part]  # type: ignore[union-attr]

    def _padded(self, value: Value) -> Known | None:
        """The elements; all of them unknown where only their number is known."""
        found = self.elements(value)
        if found is None and _is_small(value.type):
            return [None] * value.type.num_elements  # type: ignore[attr-defined]
        return found

    def _slice(self, op: nn.Slice) -> Known | None:
        data = self.elements(op.x)
        if data is None or op.x.type.rank != 1:  # type: ignore[attr-defined]
            return None
        (start,), (step,) = op.starts, op.steps or (1,)
        return [data[start + i * step] for i in range(op.out.type.num_elements)]  # type: ignore[attr-defined]

    def _slice_dynamic(self, op: nn.SliceDynamic) -> Known | None:
        data = self.elements(op.x)
        rest = [self.all(v) for v in (op.starts, op.ends, op.steps)]
        if data is None or op.x.type.rank != 1 or None in rest:  # type: ignore[attr-defined]
            return None
        (start,), (end,), (step,) = rest  # type: ignore[misc]
        return data[start:end:step] if step else None

    def _where(self, op: nn.Where) -> Known | None:
        condition = self.all(op.condition)
        sides = self._padded(op.lhs), self._padded(op.rhs)
        if condition is None or None in sides or not _same_length(condition, *sides):  # type: ignore[arg-type]
            return None
        lhs, rhs = sides
        return [
            lhs[i % len(lhs)] if c else rhs[i % len(rhs)]  # type: ignore[index, arg-type]
            for i, c in enumerate(_stretched(condition, lhs, rhs))  # type: ignore[arg-type]
        ]

    def _elementwise(self, op: Operation) -> Known | None:
        lhs, rhs = (self._padded(v) for v in op.operands)
        if lhs is None or rhs is None or not _same_length(lhs, rhs):
            return None
        count = max(len(lhs), len(rhs)) if lhs and rhs else 0
        function = _FUNCTIONS[type(op)]
        found: Known = []
        for i in range(count):
            a, b = lhs[i % len(lhs)], rhs[i % len(rhs)]
            found.append(None if a is None or b is None else function(a, b))
        return None if all(e is None for e in found) else found

    def _repeated(self, op: Operation) -> Known | None:
        operand = op.value if isinstance(op, nn.Fill | nn.FillDynamic) else op.x  # type: ignore[attr-defined]
        found = self.elements(operand)
        if found is None or len(found) != 1:
            return None
        return found * op.results[0].type.num_elements  # type: ignore[attr-defined]


def _is_small(type: object) -> bool:
    return (
        isinstance(type, TensorType)
        and isinstance(type.element_type, IntegerType)
        and type.rank <= 1
        and type.has_static_shape
        and type.num_elements <= LIMIT
    )


def _constant(op: nn.Constant) -> Known | None:
    value = op.value
    if isinstance(value, DenseResource):
        return [int(v) for v in value.to_numpy().reshape(-1)]
    if not isinstance(value, DenseElements) or value.strings is not None:
        return None
    numbers = value.values()
    return numbers * value.type.num_elements if value.is_splat else numbers


def _same_length(*lists: Known) -> bool:
    """Whether they broadcast, as tensors of rank 0 or 1."""
    lengths = {len(one) for one in lists if len(one) != 1}
    return len(lengths) <= 1


def _stretched(first: Known, *others: Known) -> Known:
    count = max(len(one) for one in (first, *others))
    return first * count if len(first) == 1 else first

"""The elements of small integer tensors, as polynomials of symbols for unknown extents."""

from __future__ import annotations

from math import prod

from ...ir.polynomial import Size, is_natural, quotient
from .. import nn
from ..vocabulary import *
from .known_values import MOVES, SPREADS, KnownValues, is_short


class SymbolicElements:
    """Finds the elements of values as polynomials; caches what it found."""

    def __init__(self, shapes: Any) -> None:
        self.known = KnownValues()
        self._shapes = shapes
        self._found: dict[Value, np.ndarray | None] = {}

    def array(self, value: Value) -> np.ndarray | None:
        """The elements: numbers, polynomials, and None if unknown; or None if all are unknown."""
        if value not in self._found:
            self._found[value] = None
            if isinstance(value, OpResult) and is_short(value.type):
                self._found[value] = self._computed(value)
        return self._found[value]

    def remember(self, value: Value, elements: Sequence[Size | None]) -> None:
        """Record the elements of a value."""
        self._found[value] = _objects(elements, value.type.shape)

    def _computed(self, value: OpResult) -> np.ndarray | None:
        op, shape = value.owner, value.type.shape
        numbers = self.known.array(value)
        if numbers is not None:
            return _objects([int(n) for n in numbers.reshape(-1)], shape)
        match op:
            case nn.ShapeOf():
                return _objects(self._shapes.of(op.x), shape)
            case nn.Cast():
                return self.array(op.x)
            case (
                nn.Add()
                | nn.Sub()
                | nn.Mul()
                | nn.Div()
                | nn.Min()
                | nn.Max()
                | nn.Equal()
                | nn.Where()
            ):
                operands = [self.array(v) for v in op.operands]
                if any(array is None for array in operands):
                    return None
                rows = zip(*(a.flat for a in np.broadcast_arrays(*operands)), strict=True)  # type: ignore[arg-type]
                return _objects([_element(op, *row) for row in rows], shape)
            case nn.ReduceProd():
                array = self.array(op.x)
                if array is None or None in array or np.ndim(array) > len(op.axes):
                    return None
                return _objects([prod(array.reshape(-1), start=1)], shape)
        if isinstance(op, nn.Concat):
            return self._moved(op, range(len(op.inputs)), value)
        if type(op) in MOVES:
            return self._moved(op, MOVES[type(op)], value)
        if type(op) in SPREADS:
            array = self.array(op.operands[SPREADS[type(op)]])
            if array is None:
                return None
            same = array.size == prod(shape)
            return array.reshape(shape) if same else np.broadcast_to(array, shape)
        return None

    def _moved(self, op: Any, moved: Iterable[int], value: OpResult) -> np.ndarray | None:
        """The elements of an op that only moves them, found by evaluating it on their indices."""
        held: list[Size | None] = []
        arrays = []
        for i, operand in enumerate(op.operands):
            if i not in moved:
                array = self.known.array(operand)
                if array is None:
                    return None
                arrays.append(array)
                continue
            if not is_short(operand.type):
                return None
            elements = self.array(operand)
            size = prod(operand.type.shape)
            arrays.append(np.arange(len(held), len(held) + size).reshape(operand.type.shape))
            held += [None] * size if elements is None else list(elements.reshape(-1))
        try:
            found = op.evaluate(*arrays)
        except (ValueError, IndexError):
            return None  # the op's run says what is wrong
        one = found[value.index] if isinstance(found, tuple) else found
        one = np.asarray(one)
        return _objects([held[int(n)] for n in one.reshape(-1)], one.shape)


def _objects(elements: Sequence[Any], shape: Sequence[int]) -> np.ndarray:
    found = np.empty(len(elements), object)
    for i, element in enumerate(elements):
        found[i] = element
    return found.reshape(tuple(shape))


def _element(op: Operation, *operands: Any) -> Size | None:
    """An elementwise op's result for elements that are polynomials; None where it is not known."""
    if isinstance(op, nn.Where):
        condition, yes, no = operands
        if yes is not None and yes == no:
            return yes
        return None if condition is None else yes if condition else no
    if None in operands:
        return None
    a, b = operands
    match op:
        case nn.Add():
            return a + b
        case nn.Sub():
            return a - b
        case nn.Mul():
            return a * b
        case nn.Div():
            return quotient(a, b)
        case nn.Equal():
            return int(a == b) if a == b or not is_natural(a) or not is_natural(b) else None
        case nn.Min() | nn.Max() if a == b:
            return a
        case nn.Min() if is_natural(a - b) or is_natural(b - a):
            return b if is_natural(a - b) else a
        case nn.Max() if is_natural(a - b) or is_natural(b - a):
            return a if is_natural(a - b) else b
    return None

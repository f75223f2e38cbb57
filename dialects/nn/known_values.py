"""The elements of small tensors that are known at compile time, perhaps only some of them.

Exported models compute shapes with small tensors (shape_of, gather, concat, mul, ..). These are
followed element by element: `concat(gather(shape_of %x), 64)` is [?, 64] even where that dimension
of %x is known only at run time. That makes the types of reshapes, slices and the like static.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects import nn
from ...ir.types import Dim
from ..vocabulary import *

LIMIT = 64
"""Larger tensors are not followed by default, in elements."""

SPREADS = {
    nn.BroadcastDynamic: 0,
    nn.BroadcastTo: 0,
    nn.Fill: 0,
    nn.FillDynamic: 1,
    nn.Reshape: 0,
    nn.ReshapeDynamic: 0,
}
"""Ops that only reshape or repeat one operand, with that operand's index."""

MOVES = {
    nn.Cast: (0,),
    nn.Gather: (0,),
    nn.Slice: (0,),
    nn.SliceDynamic: (0,),
    nn.Split: (0,),
    nn.Transpose: (0,),
    nn.Where: (1, 2),
}
"""Ops that only copy elements, with the indices of the operands they copy; nn.concat is another."""

_ARITHMETIC = (
    *(nn.Add, nn.Sub, nn.Mul, nn.Div, nn.Neg, nn.Max, nn.Min),
    *(nn.Equal, nn.Less, nn.Greater),
)
"""Elementwise ops of which single elements may be known."""


@dataclass(frozen=True)
class Partial:
    """The elements of a tensor of which some may be unknown.

    Where the mask `unknown` is set, what `elements` holds means nothing.
    """

    elements: np.ndarray
    unknown: np.ndarray

    @staticmethod
    def known(array: np.ndarray) -> Partial:
        """A Partial of which all elements are known."""
        return Partial(array, np.zeros(array.shape, np.bool_))

    @property
    def is_known(self) -> bool:
        return not self.unknown.any()


def is_short(type: Type) -> bool:
    """Whether the type may be that of a shape or extent: up to 64 integers, 0-d or 1-d."""
    return (
        isinstance(type, TensorType)
        and isinstance(type.element_type, IntegerType)
        and type.rank <= 1
        and type.has_static_shape
        and type.num_elements <= LIMIT
    )


class KnownValues:
    """Finds the elements of values that are known at compile time; caches what it found.

    `follows(type)` says whether to look at values of a type, whose shape must be static. With
    `mixes`, a tensor may have known and unknown elements; without it, all are known or none.
    """

    def __init__(self, follows: Callable[[Any], bool] = is_short, mixes: bool = True) -> None:
        self._found: dict[Value, Partial | None] = {}
        self._follows = follows
        self._mixes = mixes

    def partial(self, value: Value) -> Partial | None:
        """The known elements; None if none is known."""
        if value not in self._found:
            self._found[value] = None
            if isinstance(value, OpResult) and self._follows(value.type):
                results = self.results(value.owner)
                self._found[value] = results[value.index] if results is not None else None
        return self._found[value]

    def elements(self, value: Value) -> list[Dim] | None:
        """The integers in row-major order, with None for unknown ones; None if none is known."""
        found = self.partial(value)
        if found is None:
            return None
        pairs = zip(found.elements.reshape(-1), found.unknown.reshape(-1), strict=True)
        return [None if unknown else int(number) for number, unknown in pairs]

    def array(self, value: Value) -> np.ndarray | None:
        """The elements if all are known, else None."""
        found = self.partial(value)
        return found.elements if found is not None and found.is_known else None

    def all(self, value: Value) -> list[int] | None:
        """The integers in row-major order if all are known, else None."""
        array = self.array(value)
        return None if array is None else [int(number) for number in array.reshape(-1)]

    def remember(self, value: Value, known: Partial) -> None:
        """Record the known elements of a value."""
        self._found[value] = known

    def forget(self, value: Value) -> None:
        """Drop what was found for a value, because its type has changed."""
        self._found.pop(value, None)

    def results(self, op: Operation) -> list[Partial] | None:
        """The known elements of an op's results, computed from those of its operands."""
        match op:
            case nn.Constant():
                text = isinstance(op.value, DenseElements) and op.value.strings is not None
                if text and not nn.is_strings(op.out.type):
                    return None
                return [Partial.known(op.value.to_numpy())]
            case nn.ShapeOf():
                shape = op.x.type.shape
                extents = np.array([0 if d is None else d for d in shape], np.int64)
                return [Partial(extents, np.array([d is None for d in shape], np.bool_))]
        if not isinstance(op, nn.NnOp) or not op._operands:
            return None
        if not all(self._follows(t) for t in op.result_types):
            return None
        try:
            with np.errstate(all="ignore"):
                return self._spread(op) if type(op) in SPREADS else self._computed(op)
        except (NncError, ValueError, IndexError, OverflowError):
            return None  # the op's verifier, or its run, says what is wrong

    def _spread(self, op: nn.NnOp) -> list[Partial] | None:
        found = self.partial(op._operands[SPREADS[type(op)]])
        if found is None:
            return None
        shape: Any = op.result_types[0].shape
        if found.elements.size == math.prod(shape):
            return [Partial(found.elements.reshape(shape), found.unknown.reshape(shape))]
        both = found.elements, found.unknown
        return [Partial(*(np.broadcast_to(array, shape) for array in both))]

    def _computed(self, op: nn.NnOp) -> list[Partial] | None:
        operands = [self._operand(value) for value in op._operands]
        if None in operands:
            return None
        found: list[Any] = operands
        masks = _masks(op, found)
        if masks is None:
            return None
        values = _evaluated(op, [operand.elements for operand in found])
        return [Partial(value, mask) for value, mask in zip(values, masks, strict=True)]

    def _operand(self, value: Value) -> Partial | None:
        found = self.partial(value)
        if found is None and self._mixes and self._follows(value.type):
            shape: Any = value.type.shape
            dtype = type_to_numpy(value.type.element_type)
            return Partial(np.zeros(shape, dtype), np.ones(shape, np.bool_))
        return found


def _masks(op: nn.NnOp, operands: Sequence[Partial]) -> list[np.ndarray] | None:
    """For each result, which elements are unknown; None if that cannot be told."""
    if all(operand.is_known for operand in operands):
        return [np.zeros(type.shape, np.bool_) for type in op.result_types]
    if isinstance(op, _ARITHMETIC):
        masks = np.broadcast_arrays(*(operand.unknown for operand in operands))
        return [np.logical_or.reduce(masks)]
    moved = range(len(operands)) if isinstance(op, nn.Concat) else MOVES.get(type(op), ())
    arrays = []
    for i, operand in enumerate(operands):
        if i not in moved and not operand.is_known:
            return None
        mask = operand.unknown.astype(operand.elements.dtype)
        arrays.append(mask if i in moved else operand.elements)
    return [mask != 0 for mask in _evaluated(op, arrays)]


def _evaluated(op: nn.NnOp, arrays: list[np.ndarray]) -> list[np.ndarray]:
    results = op.evaluate(*arrays)
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]

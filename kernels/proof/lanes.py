"""The elements of index vectors, each as a form of the number of its lane.

    %s = vector.step : vector<8xindex>
    %b = vector.broadcast %i : index to vector<8xindex>
    %v = arith.addi %s, %b                                ->    v7 + b0, where 0 <= v7 < 8
    %c = arith.constant dense<[0, 4, 8]> : vector<3xindex>    ->    4*v8, where 0 <= v8 < 3

An element that is read from memory is a variable of which nothing is known; one that is read from
a constant of the module is in the constant's range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...dialects import arith, vector
from ...ir.attributes import DenseElements
from ...ir.core import Operation, Value
from ...ir.rewriting import constant_int, constant_value
from ...ir.types import VectorType
from .expressions import Form, added, number, scaled
from .forms import Forms

_LANEWISE = (
    *(arith.AddI, arith.SubI, arith.MulI, arith.MinSI, arith.MaxSI, arith.MinUI, arith.MaxUI),
    *(arith.IndexCast, arith.IndexCastUI, arith.Select, arith.CmpI, arith.RemSI, arith.RemUI),
)
"""Operations whose forms follow from those of one element of each operand."""


@dataclass
class Lanes:
    """The forms of elements of vectors, in terms of lanes along each dimension."""

    forms: Forms
    _known: dict[tuple[Value, tuple[Form, ...]], Form] = field(default_factory=dict)

    def of(self, value: Value, lanes: Sequence[Form]) -> Form:
        """The form of a vector's element at these lanes; of a scalar, its own."""
        if not isinstance(value.type, VectorType):
            return self.forms.of(value)
        key = value, tuple(lanes)
        if key not in self._known:
            self._known[key] = self._make(value, lanes)
        return self._known[key]

    def _make(self, value: Value, lanes: Sequence[Form]) -> Form:
        constant, op = constant_int(value), value.defining_op
        if constant is not None:
            return number(constant)
        match op:
            case vector.Step():
                return lanes[0]
            case arith.Constant():
                found = _listed(self.forms, value, lanes)
                if found is not None:
                    return found
            case vector.Gather() | vector.TransferRead():
                return self.forms.made(op)
            case vector.Broadcast() | vector.ShapeCast():
                found = _moved(op, lanes)
                if found is not None:
                    return self.of(op.operands[0], found)
            case Operation() if isinstance(op, _LANEWISE):
                for operand in op.operands:
                    self.forms.set(operand, self.of(operand, lanes))
                return self.forms.made(op)
        return self.forms.variable(exact=False)


def _listed(forms: Forms, value: Value, lanes: Sequence[Form]) -> Form | None:
    """The form of a constant's element, exact if it grows evenly along each dimension, as in
    [0, 4, 8]; else something from the least to the greatest. None if these are no integers.
    """
    dense = constant_value(value)
    if not isinstance(dense, DenseElements) or not all(isinstance(n, int) for n in dense.values()):
        return None
    elements = dense.to_numpy().astype(object)  # Python's integers, whose differences never wrap.
    form = number(int(elements.flat[0]))
    for along, lane in enumerate(lanes):
        steps = np.diff(elements, axis=along)
        if steps.size and (steps != steps.flat[0]).any():
            least, most = int(elements.min()), int(elements.max())
            return forms.variable(f"{least} <= @ <= {most}", exact=False)
        form = added(form, scaled(lane, int(steps.flat[0]) if steps.size else 0))
    return form


def _moved(op: Operation, lanes: Sequence[Form]) -> list[Form] | None:
    """The lanes of an operand of which an element is that of a result; None if that is not known.

    Extents of 1 may come and go; a broadcast repeats along leading dimensions and those of 1.
    """
    source = op.operands[0].type
    if not isinstance(source, VectorType):
        return []
    shape = op.results[0].type.shape  # type: ignore[attr-defined]
    if isinstance(op, vector.Broadcast):
        trailing = lanes[len(lanes) - source.rank :]
        return [number(0) if n == 1 else own for n, own in zip(source.shape, trailing, strict=True)]
    wide = [own for n, own in zip(shape, lanes, strict=True) if n != 1]
    if [n for n in source.shape if n != 1] != [n for n in shape if n != 1]:
        return None
    left = iter(wide)
    return [number(0) if n == 1 else next(left) for n in source.shape]

"""What is computed at import: small constants, and shapes of which a part is known.

Models spell out shape arithmetic with ordinary nodes (Shape, Gather, Concat, ..). Evaluating
it here is what makes the types of reshapes, slices and the like static.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IntegerType, TensorType

MOST_INTEGERS = 4096
"""Elements of an integer tensor that is still taken for a shape or for positions."""

MOST_FLOATS = 64

Partial = tuple[np.ndarray, np.ndarray]
"""Elements and a mask of those that are unknown, both int64."""

# These only copy elements of the operands in these positions (None: all).
_MOVES: dict[type, tuple[int, ...] | None] = {
    nn.Gather: (0,),
    nn.Concat: None,
    nn.Slice: (0,),
    nn.Reshape: (0,),
    nn.BroadcastTo: (0,),
    nn.Transpose: (0,),
    nn.Cast: (0,),
    nn.Where: (1, 2),
    nn.Split: (0,),
}
_ARITHMETIC = (nn.Add, nn.Sub, nn.Mul, nn.Div, nn.Neg)


def is_small(type: Any) -> bool:
    """Whether a tensor of this type is folded at import."""
    if not isinstance(type, TensorType) or not type.has_static_shape:
        return False
    element = type.element_type
    most = MOST_FLOATS if isinstance(element, FloatType) else MOST_INTEGERS
    return type.num_elements <= most


def fold(op: Operation, known: dict[Value, np.ndarray]) -> list[np.ndarray] | None:
    """The op's results where all operands are known and small, else None."""
    if not op.operands or not all(v in known for v in op.operands):
        return None
    if not all(is_small(t) for t in op.result_types):
        return None
    return _evaluate(op, [known[v] for v in op.operands])


def fold_partly(
    op: Operation, known: dict[Value, np.ndarray], partly: dict[Value, Partial]
) -> list[Partial] | None:
    """What is known of the op's results where something is known of its operands."""
    if not any(v in partly for v in op.operands):
        return None
    if not all(is_small(t) and isinstance(t.element_type, IntegerType) for t in op.result_types):
        return None
    operands = [_as_partial(v, known, partly) for v in op.operands]
    found = [operand for operand in operands if operand is not None]
    if len(found) < len(operands):
        return None
    values = _evaluate(op, [value for value, _ in found])
    masks = _masks(op, found, [known.get(v) for v in op.operands])
    if values is None or masks is None:
        return None
    return [
        (value.astype(np.int64), mask.astype(np.int64) != 0)
        for value, mask in zip(values, masks, strict=True)
    ]


def _as_partial(value: Value, known: dict, partly: dict) -> Partial | None:
    if value in known:
        array = known[value]
        return array, np.zeros(array.shape, np.bool_)
    found = partly.get(value)
    if found is None:
        return None
    from ...ir.numpy_types import type_to_numpy

    return found[0].astype(type_to_numpy(value.type.element_type)), found[1]


def _masks(op: Operation, operands: list[Partial], known: list) -> list[np.ndarray] | None:
    """Which elements of the results are unknown."""
    if isinstance(op, _ARITHMETIC):
        if isinstance(op, nn.Div) and (known[1] is None or not known[1].all()):
            return None
        shape = op.result_types[0].shape
        mask = np.zeros(shape, np.bool_)
        for _, unknown in operands:
            mask = mask | unknown
        return [mask]
    if type(op) not in _MOVES:
        return None
    moved = _MOVES[type(op)]
    arrays = []
    for i, (value, unknown) in enumerate(operands):
        if moved is None or i in moved:
            arrays.append(unknown.astype(value.dtype))
        elif known[i] is None:
            return None
        else:
            arrays.append(value)
    return _evaluate(op, arrays)


def _evaluate(op: Operation, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
    try:
        with np.errstate(all="ignore"):
            results = op.evaluate(*arrays)  # type: ignore[attr-defined]
    except (NncError, ValueError, IndexError, OverflowError):
        return None  # the op's verifier, or its run, says what is wrong
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]

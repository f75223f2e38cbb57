"""Inference of result types from operands, attributes and known values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...dialects import nn
from ...dialects.func import FuncOp, Return
from ...dialects.nn.base import broadcast_shapes
from ...dialects.nn.known_values import KnownValues
from ...dialects.nn.movement import slice_bounds
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import Pass, PassContext
from ...ir.types import Dim, FunctionType, TensorType

Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class InferShapes(
    Pass,
    name="infer-shapes",
    anchor="func.func",
    statistics={"types-refined": "Number of result types made more precise"},
):
    """Replace `?` in the result types of nn ops by extents that can be known.

    The function's result types follow; its argument types stay as they are.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Refine types in one walk in order, so that users see refined operands."""
        for block in op.regions[0].blocks:
            known = KnownValues()
            for inner in block:
                if isinstance(inner, nn.NnOp):
                    context.statistic("types-refined", refine(inner, known))
        if isinstance(op, FuncOp) and not op.is_declaration:
            update_signature(op)


def refine(op: nn.NnOp, known: KnownValues) -> int:
    """Make the types of an op's results more precise; returns how many changed."""
    count = 0
    for result, shape in zip(op.results, refined_shapes(op, known), strict=True):
        type = result.type
        if shape is None or not isinstance(type, TensorType) or shape == type.shape:
            continue
        # Other users may rely on the type as it is.
        if all(isinstance(user, nn.NnOp | Return) for user in result.users):
            result.type = TensorType(shape, type.element_type, type.encoding)
            known.forget(result)
            count += 1
    return count


def refined_shapes(op: nn.NnOp, known: KnownValues) -> list[Shape | None]:
    """For each result, the shape that is known now; None if nothing is."""
    current = [t.shape if isinstance(t, TensorType) else None for t in op.result_types]
    if not any(shape is not None and None in shape for shape in current):
        return [None] * len(current)
    if not all(isinstance(t, TensorType) for t in op.operand_types):
        return [None] * len(current)
    try:
        inferred: Any = op.inferred(op.operand_types, op.properties)
        shapes = [t.shape for t in inferred] if inferred is not None else list(current)
        more = _by_values(op, known)
    except NncError as error:
        raise op.error(error.message) if not str(error).count("' op ") else error from None
    found = []
    for i, shape in enumerate(current):
        if shape is None:
            found.append(None)
            continue
        known_shape = more if i == 0 or isinstance(op, nn.TopK) else None
        found.append(_merge(_merge(shape, shapes[i]), known_shape))
    return found


def _merge(a: Shape, b: Shape | None) -> Shape:
    """The extents known from either shape; where they differ, `a`'s, and the
    verifier reports it.
    """
    if b is None or len(a) != len(b):
        return a
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def _by_values(op: nn.NnOp, known: KnownValues) -> Shape | None:
    """The shape that known values of operands give, for ops whose operand types do not tell it."""
    rule = _RULES.get(type(op))
    return rule(op, known) if rule is not None else None


def _fill_dynamic(op: nn.FillDynamic, known: KnownValues) -> Shape | None:
    shape = known.elements(op.shape)
    return tuple(shape) if shape is not None else None


def _range(op: nn.Range, known: KnownValues) -> Shape | None:
    numbers = [known.all(v) for v in op.operands]
    if None in numbers:
        return None
    (start,), (limit,), (delta,) = numbers  # type: ignore[misc]
    return (max(0, math.ceil((limit - start) / delta)),) if delta else None


def _top_k(op: nn.TopK, known: KnownValues) -> Shape:
    k = known.all(op.k)
    shape = list(op.x.type.shape)
    shape[op.axis] = k[0] if k is not None else None
    return tuple(shape)


def _one_hot(op: nn.OneHot, known: KnownValues) -> Shape:
    depth = known.all(op.depth)
    shape = list(op.indices.type.shape)
    shape.insert(op.axis, depth[0] if depth is not None else None)
    return tuple(shape)


def _resize(op: nn.Resize) -> Shape | None:
    shape = op.x.type.shape
    return None if None in shape else op.result_shape(shape)


def _resize_dynamic(op: nn.ResizeDynamic, known: KnownValues) -> Shape:
    shape = list(op.x.type.shape)
    sizes = known.elements(op.sizes) or [None] * len(op.axes)
    for axis, size in zip(op.axes, sizes, strict=True):
        shape[axis] = size
    return tuple(shape)


def _fill_rest(shape: list[Dim], of: Shape) -> Shape:
    """The shape of a reshape's result with its one unknown extent computed from the number of
    elements.
    """
    if shape.count(None) == 1 and None not in of:
        rest = math.prod(d for d in shape if d is not None)
        if rest:
            shape[shape.index(None)] = math.prod(of) // rest  # type: ignore[arg-type]
    return tuple(shape)


def _reshape(wanted: list[Dim] | None, of: Shape) -> Shape | None:
    if wanted is None:
        return None
    shape = [None if d is None or d < 0 else d for d in wanted]
    return _fill_rest(shape, of)


def _broadcast(wanted: list[Dim] | None, of: Shape) -> Shape | None:
    if wanted is None:
        return None
    lead = len(wanted) - len(of)
    # An unknown extent stays unknown against 1, and gives way to any other.
    padded = (1,) * lead + of
    return broadcast_shapes(tuple(wanted), padded[-len(wanted) :]) if lead >= 0 else None


def _slice(op: nn.Slice) -> Shape:
    steps = op.steps or (1,) * op.x.type.rank
    return tuple(
        max(0, -(-(d - start) // step)) if d is not None and step > 0 else None
        for d, start, step in zip(op.x.type.shape, op.starts, steps, strict=True)
    )


def _slice_dynamic(op: nn.SliceDynamic, known: KnownValues) -> Shape | None:
    axes, steps = known.all(op.axes), known.all(op.steps)
    starts, ends = known.elements(op.starts), known.elements(op.ends)
    if axes is None:
        return None
    rank = op.x.type.rank
    shape: list[Dim] = list(op.x.type.shape)
    for i, axis in enumerate(axes):
        axis %= rank
        extent, step = shape[axis], steps[i] if steps is not None else None
        start = starts[i] if starts is not None else None
        end = ends[i] if ends is not None else None
        if None in (extent, step, start, end) or step == 0:
            whole = (start, step) == (0, 1) and end is not None and end >= 2**31 - 1
            shape[axis] = extent if whole else None
        else:
            shape[axis] = slice_bounds(start, end, step, extent)[0]  # type: ignore[arg-type]
    return tuple(shape)


def _pad(pads: list[Dim] | None, of: Shape) -> Shape | None:
    if pads is None:
        return None
    begin, end = pads[: len(of)], pads[len(of) :]
    return tuple(
        None if None in terms else max(0, sum(terms))  # type: ignore[arg-type]
        for terms in zip(of, begin, end, strict=True)
    )


_RULES: dict[type[nn.NnOp], Callable[[Any, KnownValues], Shape | None]] = {
    nn.BroadcastDynamic: lambda op, known: _broadcast(known.elements(op.shape), op.x.type.shape),
    nn.Cast: lambda op, known: op.x.type.shape,
    nn.FillDynamic: _fill_dynamic,
    nn.OneHot: _one_hot,
    nn.PadDynamic: lambda op, known: _pad(known.elements(op.pads), op.x.type.shape),
    nn.Range: _range,
    nn.Reshape: lambda op, known: _fill_rest(list(op.out.type.shape), op.x.type.shape),
    nn.ReshapeDynamic: lambda op, known: _reshape(known.elements(op.shape), op.x.type.shape),
    nn.Resize: lambda op, known: _resize(op),
    nn.ResizeDynamic: _resize_dynamic,
    nn.Slice: lambda op, known: _slice(op),
    nn.SliceDynamic: _slice_dynamic,
    nn.TopK: _top_k,
}
"""How the values of operands give the shape of an op's first result."""


def update_signature(function: FuncOp) -> None:
    """Give the function the result types of its return."""
    type = function.function_type
    for block in function.body.blocks:
        last = block.last
        if isinstance(last, Return):
            results = tuple(v.type for v in last.operands)
            if results != type.results:
                function.function_type = FunctionType(type.inputs, results)
            return

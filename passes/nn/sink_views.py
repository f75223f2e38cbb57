"""Views moved to where they do not prevent fusion.

A reshape is free, but between a product and elementwise ops on its result it puts these into
different kernels, because their shapes differ. Elementwise ops work in any shape, so they move
before the reshape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.traits import Broadcasting, Fusion
from ...dialects.nn.views import copied_axes, is_reshape
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import Rewriter, apply_greedily, rewrite
from ...ir.types import Dim, TensorType
from .building import element_of, on_operands, reshape, shape_of
from .decompose_graph import split_into_slices

Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class SinkViews(
    Pass,
    name="sink-views",
    anchor="func.func",
    statistics={"reshapes-sunk": "Number of reshapes moved below an elementwise op"},
):
    """Move reshapes below the elementwise ops that follow a product, and above slices.

        %0 = nn.matmul ..                               %0 = nn.matmul ..
        %1 = nn.reshape %0 : (16x64) -> 1x16x64    ->   %1 = nn.relu %0 : (16x64) -> 16x64
        %2 = nn.relu %1                                 %2 = nn.reshape %1

    A split becomes slices, each of which can be fused into the ops that read it.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Move the reshapes above slices; then walk once, in order, so that chains
        sink completely.
        """
        apply_greedily(
            op, (split_into_slices, reshape_before_slice), fold=False, trace=context.trace
        )
        for block in op.regions[0].blocks:
            from_product: set[Value] = set()
            for inner in block:
                if nn.fusion_of(inner) is Fusion.PRODUCT:
                    from_product.update(inner.results)
                elif isinstance(inner, nn.Reshape) and inner.x in from_product:
                    from_product.add(inner.out)
                elif inner.has_trait(Broadcasting):
                    context.statistic("reshapes-sunk", sink(inner, from_product))


def sink(op: Operation, from_product: set[Value]) -> int:
    """Compute the op in the shape that its operand had before a reshape. Returns 1
    if done, else 0.
    """
    result = op.results[0]
    source = next(
        (
            view.x
            for value in op.operands
            if value in from_product
            and shape_of(value) == shape_of(result)
            and (view := value.defined_by(nn.Reshape))
        ),
        None,
    )
    while source is not None and (inner_view := source.defined_by(nn.Reshape)) is not None:
        if inner_view.x not in from_product:
            break
        source = inner_view.x
    if source is None:
        if any(value in from_product for value in op.operands):
            from_product.update(op.results)
        return 0
    shape = shape_of(source)
    if not all(_fits(value, shape, shape_of(result)) for value in op.operands):
        return 0
    b = Builder.before_op(op)
    operands = [_seen_as(b, value, shape, shape_of(result)) for value in op.operands]
    inner = on_operands(op, operands, TensorType(shape, element_of(result)))
    b.insert(inner)
    view = b.insert(nn.Reshape(inner.results[0], out=result.type))
    from_product.update((inner.results[0], view.out))
    op.replace_with(view.out)
    return 1


def _fits(value: Value, shape: Shape, old: Shape) -> bool:
    """Whether an operand of an op of shape `old` can be reshaped for the op in shape `shape`."""
    own = shape_of(value)
    if own == old:
        return shape.count(None) <= 1 or _is_inverse(shape, old)
    if math.prod(d or 0 for d in own) == 1:
        return True
    return _regrouped(own, shape, old) is not None


def _is_inverse(shape: Shape, old: Shape) -> bool:
    """Whether a reshape to `shape` undoes one to `old`, though several extents are unknown."""
    back = {of: axis for axis, of in copied_axes(shape, old).items()}
    return is_reshape(old, shape) and copied_axes(old, shape) == back


def _regrouped(own: Shape, shape: Shape, old: Shape) -> Shape | None:
    """The shape of an operand if `old`'s dimensions are split and joined to `shape`'s: [N] to [N /
    16, 16].

    Among dimensions that are split or joined together, the operand must have all, or broadcast in
    all. None if it does not.
    """
    if len(own) > len(old):
        return None
    own = (1,) * (len(old) - len(own)) + own
    i, j = len(old), len(shape)
    found: Shape = ()
    while any(d != 1 for d in own[:i]):
        i_end, j_end = i, j
        theirs = ours = 1
        while i == i_end or j == j_end or theirs != ours:
            takes_old = i == i_end or (j < j_end and theirs < ours)
            extent = (old[:i] if takes_old else shape[:j])[-1:]
            if not extent or extent[0] is None:
                return None
            if takes_old:
                i, theirs = i - 1, theirs * extent[0]
            else:
                j, ours = j - 1, ours * extent[0]
        mine = own[i:i_end]
        if mine == old[i:i_end]:
            found = shape[j:j_end] + found
        elif all(d == 1 for d in mine):
            found = (1,) * (j_end - j) + found
        else:
            return None
    return found


def _seen_as(b: Builder, value: Value, shape: Shape, old: Shape) -> Value:
    own = shape_of(value)
    if own == old:
        view = value.defined_by(nn.Reshape)
        if view is not None and shape_of(view.x) == shape:
            return view.x
        return reshape(b, value, shape)
    if math.prod(d or 0 for d in own) == 1:
        return reshape(b, value, ()) if len(own) > len(shape) else value
    regrouped = _regrouped(own, shape, old)
    assert regrouped is not None
    return reshape(b, value, regrouped)


@rewrite(nn.Reshape)
def reshape_before_slice(op: nn.Reshape, rewriter: Rewriter) -> None:
    """reshape(slice(x)) -> slice(reshape(x)), if only the sliced dimension is split"""
    part = op.x.defined_by(nn.Slice)
    if part is None or not part.out.has_one_use or set(part.steps or ()) - {1}:
        return
    whole, cut, out = shape_of(part.x), shape_of(part.out), shape_of(op.out)
    axes = [d for d in range(len(whole)) if whole[d] != cut[d]]
    if len(axes) != 1:
        return
    (axis,) = axes
    after = len(cut) - axis - 1
    inner = out[axis : len(out) - after]
    if (
        None in (whole[axis], *inner)
        or len(inner) < 2
        or out[:axis] != cut[:axis]
        or out[len(out) - after :] != cut[axis + 1 :]
    ):
        return
    step = math.prod(inner[1:])
    start, extent = part.starts[axis], whole[axis]
    if not step or start % step or extent % step:
        return
    split = (*out[:axis], extent // step, *inner[1:], *out[len(out) - after :])
    if not is_reshape(whole, split) or any(part.starts[d] for d in range(len(cut)) if d != axis):
        return
    view = reshape(rewriter, part.x, split)
    starts = [start // step if d == axis else 0 for d in range(len(out))]
    rewriter.replace(op, nn.Slice(view, starts, out=op.out.type))

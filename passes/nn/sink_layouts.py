"""Changes of layout sink through ops for which it does not matter where channels
are, and cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...dialects import nn
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.rewriting import Pattern, Rewriter, rewrite
from ...ir.types import Dim, TensorType
from .building import arranged, element_of, on_operands, reshape, shape_of
from .simplify_movement import merge_reshapes, merge_transposes, reshape_nothing, transpose_nothing


def plain(b: Builder, x: Value, shape: Sequence[Dim]) -> Value:
    """x [N, C / B, D.., B] as [N, C, D..]; the latter is given as `shape`."""
    rank = len(shape_of(x))
    order = (0, 1, rank - 1, *range(2, rank - 1))
    return reshape(b, b.insert(nn.Transpose(x, order)), shape)


def blocked_source(value: Value) -> Value | None:
    """The blocked tensor from which `plain` made this value; None if it did not."""
    view = value.defined_by(nn.Reshape)
    moved = view.x.defined_by(nn.Transpose) if view is not None else None
    if moved is None:
        return None
    rank = len(moved.permutation)
    if rank < 4 or moved.permutation != (0, 1, rank - 1, *range(2, rank - 1)):
        return None
    N, blocks, *spatial, block = shape_of(moved.x)
    if blocks is None or block is None or shape_of(value) != (N, blocks * block, *spatial):
        return None
    return moved.x


@rewrite(nn.elementwise.ElementwiseOp)
def elementwise_on_blocks(op: Operation, rewriter: Rewriter) -> None:
    """relu(plain(x)) -> plain(relu(x)); other operands must be blocked alike, or constant"""
    result = op.results[0]
    shape = shape_of(result)
    sources = [s for v in op.operands if shape_of(v) == shape and (s := blocked_source(v))]
    if not sources:
        return
    into = shape_of(sources[0])
    found = [_on_blocks(v, shape, into) for v in op.operands]
    if None in found:
        return
    operands = [make(rewriter) for make in found]  # type: ignore[misc]
    inner = on_operands(op, operands, TensorType(into, element_of(result)))
    rewriter.insert(inner)
    rewriter.replace(op, plain(rewriter, inner.results[0], shape))


def _on_blocks(value: Value, shape: tuple[Dim, ...], into: tuple[Dim, ...]):
    """A function that rearranges an operand for the blocked shape `into`; None if that is
    impossible.

    `shape` is the plain shape of the op's result.
    """
    own = shape_of(value)
    source = blocked_source(value)
    if source is not None and shape_of(source) == into:
        return lambda b: source
    if all(d == 1 for d in own):
        return lambda b: reshape(b, value, ())
    spatial = len(shape) - 2
    N, C, *extents = (1,) * (len(shape) - len(own)) + own
    if any(d != 1 for d in extents) or (N != 1 and C == 1):
        # A whole tensor is worth a change of layout only where it is one already.
        return None
    images = () if N == 1 else (N,)
    return lambda b: reshape(b, value, (*images, into[1], *(1,) * spatial, into[-1]))


@rewrite(nn.pooling.PoolingOp)
def pool_on_blocks(op: nn.pooling.PoolingOp, rewriter: Rewriter) -> None:
    """max_pool(plain(x)) -> plain(max_pool(x)), whose window is 1 along the block's dimension"""
    source = blocked_source(op.x)
    if source is None or len(op.results) != 1:
        return
    N, C, *extents = shape_of(op.out)
    out = TensorType((*shape_of(source)[:2], *extents, shape_of(source)[-1]), element_of(op.out))
    inner: Any = rewriter(op.clone())
    inner.operands = [source]
    inner.kernel = (*op.kernel, 1)
    if op.strides is not None:
        inner.strides = (*op.strides, 1)
    if op.dilations is not None:
        inner.dilations = (*op.dilations, 1)
    if op.pads is not None:
        half = len(op.kernel)
        inner.pads = (*op.pads[:half], 0, *op.pads[half:], 0)
    inner.results[0].type = out
    rewriter.replace(op, plain(rewriter, inner.results[0], (N, C, *extents)))


@rewrite(nn.reductions.ReductionOp)
def reduce_on_blocks(op: nn.reductions.ReductionOp, rewriter: Rewriter) -> None:
    """reduce_mean(plain(x)) -> reduce_mean(x) over all spatial dimensions"""
    source = blocked_source(op.x)
    rank = len(shape_of(op.x))
    if source is None or set(op.axes) != set(range(2, rank)):
        return
    N, blocks, *_, block = shape_of(source)
    kept = (1,) * (rank - 2) if op.keep_dims else ()
    inner = rewriter(op.clone())
    inner.operands = [source]
    inner.results[0].type = TensorType((N, blocks, *kept, block), element_of(op.out))
    # With the spatial dimensions gone, blocks lie in the plain order.
    rewriter.replace(op, reshape(rewriter, inner.results[0], shape_of(op.out)))


@rewrite(nn.Concat)
def concat_on_blocks(op: nn.Concat, rewriter: Rewriter) -> None:
    """concat(plain(x), plain(y)) on channels -> plain(concat(x, y)), if blocks are equal

    If all users bring the result into these blocks anyway, operands in plain order are blocked too.
    """
    found = [blocked_source(v) for v in op.inputs]
    sizes = {shape_of(s)[-1] for s in found if s is not None}
    if op.axis != 1 or len(sizes) != 1:
        return
    (block,) = sizes
    if None in found and not _becomes_blocks(op.out, block):
        return
    if any(
        s is None and (shape_of(v)[1] or 1) % block for s, v in zip(found, op.inputs, strict=True)
    ):
        return
    sources = [
        arranged(rewriter, v, "n (c b) d.. -> n c d.. b", {"b": block}) if s is None else s
        for s, v in zip(found, op.inputs, strict=True)
    ]
    inner = rewriter(nn.Concat(sources, 1)).result
    rewriter.replace(op, plain(rewriter, inner, shape_of(op.out)))


def _becomes_blocks(value: Value, block: int) -> bool:
    """Whether all users of a value [N, C, D..] first make it [N, C / block, D.., block]."""
    shape = shape_of(value)
    if None in shape:
        return False
    into = (shape[0], shape[1] // block, block, *shape[2:])
    order = (0, 1, *range(3, len(into)), 2)
    views = list(value.users)
    return bool(views) and all(
        isinstance(view, nn.Reshape)
        and shape_of(view.out) == into
        and all(isinstance(u, nn.Transpose) and u.permutation == order for u in view.out.users)
        for view in views
    )


@rewrite(nn.Reshape)
def interleave_on_blocks(op: nn.Reshape, rewriter: Rewriter) -> None:
    """interleave(plain(x)) -> plain(interleave(x)), if each phase is whole blocks of channels

    Interleaving, as for a transposed convolution, makes [N, M, D * S..] of phases [N, S.., M, D..].
    The reshape of plain(x) to phases is merged with the one to its blocks.
    """
    moved = op.x.defined_by(nn.Transpose)
    phases = moved.x.defined_by(nn.Reshape) if moved is not None else None
    turned = phases.x.defined_by(nn.Transpose) if phases is not None else None
    if moved is None or phases is None or turned is None or None in shape_of(turned.x):
        return
    N, blocks, *extents, block = shape_of(turned.x)
    spatial = len(extents)
    pairs = (d for i in range(spatial) for d in (2 + spatial + i, 1 + i))
    order = (0, 1 + spatial, *pairs)
    apart = shape_of(phases.out)
    M = apart[1 + spatial] if len(apart) == len(order) else 0
    if (
        turned.permutation != (0, 1, spatial + 2, *range(2, spatial + 2))
        or moved.permutation != order
        or (apart[0], *apart[2 + spatial :]) != (N, *extents)
        or M % block
    ):
        return
    strides = apart[1 : 1 + spatial]
    wide = [d * s for d, s in zip(extents, strides, strict=True)]
    if blocks * block != M * prod(strides) or shape_of(op.out) != (N, M, *wide):
        return
    found = reshape(rewriter, turned.x, (N, *strides, M // block, *extents, block))
    found = rewriter(nn.Transpose(found, (*order, len(order)))).result
    found = reshape(rewriter, found, (N, M // block, *wide, block))
    rewriter.replace(op, plain(rewriter, found, shape_of(op.out)))


@rewrite(nn.Split)
def split_on_blocks(op: nn.Split, rewriter: Rewriter) -> None:
    """split(plain(x)) -> plain(split(x)), if parts are whole blocks"""
    source = blocked_source(op.x)
    if source is None:
        return
    N, _, *extents, block = shape_of(source)
    channels = [shape_of(out)[1] for out in op.outs]
    if op.axis != 1 or any(count % block for count in channels):
        return
    outs = [TensorType((N, c // block, *extents, block), element_of(op.x)) for c in channels]
    parts = rewriter(nn.Split(source, 1, outs=outs)).results
    pairs = zip(parts, op.outs, strict=True)
    rewriter.replace(op, [plain(rewriter, part, shape_of(out)) for part, out in pairs])


@rewrite(nn.Slice)
def slice_on_blocks(op: nn.Slice, rewriter: Rewriter) -> None:
    """slice(plain(x)) -> plain(slice(x)), if the part is whole blocks"""
    source = blocked_source(op.x)
    if source is None:
        return
    block = shape_of(source)[-1]
    N, C, *extents = shape_of(op.out)
    first, steps = op.starts[1], op.steps
    if first % block or C % block or (steps is not None and steps[1] != 1):
        return
    starts = (op.starts[0], first // block, *op.starts[2:], 0)
    out = TensorType((N, C // block, *extents, block), element_of(op.out))
    inner = rewriter(nn.Slice(source, starts, None if steps is None else (*steps, 1), out=out))
    rewriter.replace(op, plain(rewriter, inner.result, (N, C, *extents)))


@rewrite(nn.Pad)
def pad_on_blocks(op: nn.Pad, rewriter: Rewriter) -> None:
    """pad(plain(x)) -> plain(pad(x)) where the padding is spatial"""
    source = blocked_source(op.x)
    rank = len(shape_of(op.x))
    begin, end = op.pads[:rank], op.pads[rank:]
    if source is None or any((*begin[:2], *end[:2])):
        return
    inner = rewriter(nn.Pad(source, op.value, pads=(*begin, 0, *end, 0), mode=op.mode)).result
    rewriter.replace(op, plain(rewriter, inner, shape_of(op.out)))


@rewrite(nn.Resize)
def resize_on_blocks(op: nn.Resize, rewriter: Rewriter) -> None:
    """resize(plain(x)) -> plain(resize(x)) where the channels stay"""
    source = blocked_source(op.x)
    if source is None or op.roi is not None or shape_of(op.x)[1] != shape_of(op.out)[1]:
        return
    if op.scales is not None and op.scales[1] != 1.0:
        return
    N, C, *extents = shape_of(op.out)
    inner = rewriter(op.clone())
    inner.operands = [source]
    if op.scales is not None:
        inner.scales = (*op.scales, 1.0)
    into = shape_of(source)
    inner.results[0].type = TensorType((N, into[1], *extents, into[-1]), element_of(op.out))
    rewriter.replace(op, plain(rewriter, inner.results[0], (N, C, *extents)))


@rewrite(nn.ResizeDynamic)
def resize_dynamic_on_blocks(op: nn.ResizeDynamic, rewriter: Rewriter) -> None:
    """resize_dynamic(plain(x)) -> plain(resize_dynamic(x)) where the channels stay"""
    source = blocked_source(op.x)
    if source is None or 1 in op.axes:
        return
    N, C, *extents = shape_of(op.out)
    inner = rewriter(op.clone())
    inner.set_operand(0, source)
    into = shape_of(source)
    inner.results[0].type = TensorType((N, into[1], *extents, into[-1]), element_of(op.out))
    rewriter.replace(op, plain(rewriter, inner.results[0], (N, C, *extents)))


@rewrite(nn.Transpose)
def merge_around_reshape(op: nn.Transpose, rewriter: Rewriter) -> None:
    """transpose(reshape(transpose(x))) -> transpose(reshape(x)) where dimensions are split
    transpose(reshape(transpose(x))) -> reshape(transpose(x)) where they are merged

    Changes from blocks to the plain layout are left as they are, so that they can sink further.
    """
    view = op.x.defined_by(nn.Reshape)
    inner = view.x.defined_by(nn.Transpose) if view is not None else None
    if view is None or inner is None:
        return
    if any(isinstance(user, nn.Reshape) and blocked_source(user.out) for user in op.out.users):
        return
    groups = _regrouped(shape_of(view.x), shape_of(view.out))
    if not groups:
        return
    if all(len(old) == 1 for old, _ in groups):
        split = [groups[inner.permutation.index(d)][1] for d in range(len(groups))]
        order = [d for dims in split for d in dims]
        shape = [shape_of(view.out)[d] for d in order]
        apart = reshape(rewriter, inner.x, shape)
        permutation = tuple(order.index(d) for d in op.permutation)
        rewriter.replace(op, nn.Transpose(apart, permutation, out=op.out.type))
    elif all(len(new) == 1 for _, new in groups):
        moved = [d for place in op.permutation for d in groups[place][0]]
        whole = rewriter(nn.Transpose(inner.x, tuple(inner.permutation[d] for d in moved))).result
        rewriter.replace(op, reshape(rewriter, whole, shape_of(op.out)))


def _regrouped(before: Sequence[Dim], after: Sequence[Dim]) -> list[tuple[list[int], list[int]]]:
    """A reshape's dimensions in the smallest groups that hold the same elements, before and after.

    [256, 3136] to [16, 16, 56, 56] gives ([0], [0, 1]) and ([1], [2, 3]). [] if extents are
    unknown.
    """
    groups: list[tuple[list[int], list[int]]] = []
    if None in (*before, *after) or 0 in before:
        return groups
    old, new = list(range(len(before)))[::-1], list(range(len(after)))[::-1]
    while old and new:
        group = ([old.pop()], [new.pop()])
        while (n := prod(before[d] for d in group[0])) != (m := prod(after[d] for d in group[1])):  # type: ignore[misc]
            group[n > m].append((new if n > m else old).pop())
        groups.append(group)
    for rest, side in ((old, 0), (new, 1)):  # of extent 1
        if rest and groups:
            groups[-1][side].extend(rest[::-1])
    return groups


PATTERNS: tuple[Pattern, ...] = (
    merge_reshapes,
    reshape_nothing,
    merge_transposes,
    merge_around_reshape,
    transpose_nothing,
    elementwise_on_blocks,
    pool_on_blocks,
    reduce_on_blocks,
    concat_on_blocks,
    interleave_on_blocks,
    split_on_blocks,
    slice_on_blocks,
    pad_on_blocks,
    resize_on_blocks,
    resize_dynamic_on_blocks,
)

"""Movements of elements that cancel, can be merged, or are views."""

from __future__ import annotations

from ...dialects import nn
from ...dialects.nn.elementwise import BinaryOp
from ...dialects.nn.known_values import KnownValues
from ...dialects.nn.movement import slice_bounds
from ...dialects.nn.reductions import ReductionOp
from ...dialects.nn.views import copied_axes, is_reshape
from ...ir.core import Operation, Value
from ...ir.rewriting import Rewriter, constant_number, rewrite
from ...ir.types import Dim, TensorType, is_told_by_count
from .building import changed, element_of, shape_of
from .constants import constant_array


def replace_same(rewriter: Rewriter, op: Operation, value: Value) -> None:
    """Replace the op by a value of the same type; do nothing if the type differs."""
    if value.type is op.results[0].type:
        rewriter.replace(op, value)


@rewrite(nn.Transpose)
def merge_transposes(op: nn.Transpose, rewriter: Rewriter) -> None:
    """transpose(transpose(x, p), q) -> transpose(x, q∘p)"""
    if inner := op.x.defined_by(nn.Transpose):
        order = tuple(inner.permutation[i] for i in op.permutation)
        rewriter.replace(op, nn.Transpose(inner.x, order, out=op.out.type))


@rewrite(nn.Transpose)
def transpose_nothing(op: nn.Transpose, rewriter: Rewriter) -> None:
    """transpose(x, 0..n) -> x"""
    if list(op.permutation) == list(range(len(op.permutation))):
        replace_same(rewriter, op, op.x)


@rewrite(nn.Transpose)
def transpose_of_ones(op: nn.Transpose, rewriter: Rewriter) -> None:
    """transpose(x) -> reshape(x) where only dimensions of extent 1 change their place"""
    shape = shape_of(op.x)
    moved = [d for d in op.permutation if shape[d] != 1]
    if moved == sorted(moved) and list(op.permutation) != sorted(op.permutation):
        _reshape(rewriter, op, op.x)


def _reshape(rewriter: Rewriter, op: Operation, x: Value) -> None:
    """Replace the op by a reshape of x to the op's shape, if one can express it."""
    out = op.results[0].type
    assert isinstance(out, TensorType)
    if out is x.type:
        rewriter.replace(op, x)
    elif _keeps_extents(op, x) and element_of(x) is out.element_type:
        rewriter.replace(op, nn.Reshape(x, out=out))


def _keeps_extents(op: Operation, x: Value) -> bool:
    """Whether x in the op's shape has the same extents, if several of them are unknown."""
    out, between = shape_of(op.results[0]), shape_of(op.operands[0])
    if out.count(None) <= 1:
        return True
    if not is_reshape(shape_of(x), out):
        return False
    if x is op.operands[0]:
        return True
    first, then = copied_axes(shape_of(x), between), copied_axes(between, out)
    return copied_axes(shape_of(x), out) == {axis: first.get(of) for axis, of in then.items()}


@rewrite(nn.Reshape)
def merge_reshapes(op: nn.Reshape, rewriter: Rewriter) -> None:
    """reshape(reshape(x)) -> reshape(x)"""
    if inner := op.x.defined_by(nn.Reshape):
        _reshape(rewriter, op, inner.x)


@rewrite(nn.Reshape)
def reshape_nothing(op: nn.Reshape, rewriter: Rewriter) -> None:
    """reshape(x) -> x if the shape is the same"""
    replace_same(rewriter, op, op.x)


@rewrite(nn.BroadcastTo)
def broadcast_nothing(op: nn.BroadcastTo, rewriter: Rewriter) -> None:
    """broadcast_to(x) -> x if the shape is the same"""
    replace_same(rewriter, op, op.x)


@rewrite(BinaryOp, nn.Where)
def broadcast_implied(op: Operation, rewriter: Rewriter) -> None:
    """add(broadcast_to(x), y) -> add(x, y) where y has the shape of the result"""
    out = op.results[0].type
    for i, value in enumerate(op.operands):
        wide = value.defined_by(nn.BroadcastTo)
        if wide is None or not out.has_static_shape:
            continue
        others = [v for j, v in enumerate(op.operands) if j != i]
        if any(shape_of(v) == out.shape for v in others):
            rewriter.set_operand(op, i, wide.x)


@rewrite(nn.Concat)
def merge_concats(op: nn.Concat, rewriter: Rewriter) -> None:
    """concat(concat(x, y), z) -> concat(x, y, z) on one axis; operands of extent 0 are dropped"""
    parts: list[Value] = []
    for value in op.inputs:
        inner = value.defined_by(nn.Concat)
        merges = inner is not None and inner.axis == op.axis and value.has_one_use
        parts += inner.inputs if merges else [value]  # type: ignore[union-attr]
    parts = [v for v in parts if shape_of(v)[op.axis] != 0] or parts[:1]
    if len(parts) == 1 and parts[0].type is op.out.type:
        rewriter.replace(op, parts[0])
    elif parts != list(op.inputs):
        rewriter.replace(op, nn.Concat(parts, op.axis, out=op.out.type))


@rewrite(nn.Concat)
def join_neighbours(op: nn.Concat, rewriter: Rewriter) -> None:
    """concat(x[0:2], x[2:4], y) -> concat(x[0:4], y)"""
    values: list[Value] = []
    for value in op.inputs:
        joined = _joined(rewriter, values[-1], value, op.axis) if values else None
        values[-1:] = [joined] if joined is not None else [*values[-1:], value]
    if len(values) < len(op.inputs):
        rewriter.replace(op, nn.Concat(values, op.axis, out=op.out.type))


def _joined(rewriter: Rewriter, left: Value, right: Value, axis: int) -> Value | None:
    """A slice that replaces two adjacent ones, or the tensor itself if they are all of it; else
    None.
    """
    one, two = left.defined_by(nn.Slice), right.defined_by(nn.Slice)
    extents = shape_of(left)[axis], shape_of(right)[axis]
    if one is None or two is None or one.x is not two.x or None in extents:
        return None
    if set(one.steps or ()) | set(two.steps or ()) > {1}:
        return None
    starts = list(one.starts)
    starts[axis] += extents[0]
    if starts != list(two.starts):
        return None
    shape = list(shape_of(left))
    shape[axis] = sum(extents)
    if tuple(shape) == shape_of(one.x) and not any(one.starts):
        return one.x
    return rewriter(nn.Slice(one.x, one.starts, out=TensorType(tuple(shape), element_of(left)))).out


@rewrite(nn.Slice)
def slice_nothing(op: nn.Slice, rewriter: Rewriter) -> None:
    """slice(x) -> x where everything is taken in order"""
    if not any(op.starts) and set(op.steps or ()) <= {1}:
        replace_same(rewriter, op, op.x)


@rewrite(nn.Slice)
def merge_slices(op: nn.Slice, rewriter: Rewriter) -> None:
    """slice(slice(x)) -> slice(x)"""
    inner, extents = op.x.defined_by(nn.Slice), shape_of(op.out)
    if inner is None or 0 in extents:
        return
    ones = (1,) * len(extents)
    within, steps = inner.steps or ones, op.steps or ones
    taken = zip(extents, op.starts, steps, strict=True)
    if any(extent is None and (start, step) != (0, 1) for extent, start, step in taken):
        return
    starts = [a + b * s for a, b, s in zip(inner.starts, op.starts, within, strict=True)]
    merged = [
        1 if extent == 1 else a * b for extent, a, b in zip(extents, within, steps, strict=True)
    ]
    rewriter.replace(op, nn.Slice(inner.x, starts, merged, out=op.out.type))


@rewrite(nn.Split)
def split_nothing(op: nn.Split, rewriter: Rewriter) -> None:
    """split(x) into one part -> x"""
    if len(op.results) == 1:
        replace_same(rewriter, op, op.x)


@rewrite(nn.Pad)
def pad_nothing(op: nn.Pad, rewriter: Rewriter) -> None:
    """pad(x, 0..) -> x"""
    if not any(op.pads):
        replace_same(rewriter, op, op.x)


@rewrite(nn.Pad)
def merge_pads(op: nn.Pad, rewriter: Rewriter) -> None:
    """pad(pad(x)) -> pad(x) for one constant and nothing removed"""
    inner = op.x.defined_by(nn.Pad)
    if inner is None or op.mode != "constant" or inner.mode != "constant":
        return
    fills = [0 if p.value is None else constant_number(p.value) for p in (op, inner)]
    if fills[0] is None or fills[0] != fills[1] or min((*op.pads, *inner.pads), default=0) < 0:
        return
    pads = [a + b for a, b in zip(op.pads, inner.pads, strict=True)]
    rewriter.replace(op, nn.Pad(inner.x, op.value, pads=pads, out=op.out.type))


@rewrite(nn.Conv)
def pad_into_conv(op: nn.Conv, rewriter: Rewriter) -> None:
    """conv(pad(x, 0)) -> conv(x) with more padding, if only spatial dimensions are padded"""
    pad = op.x.defined_by(nn.Pad)
    if pad is None or pad.mode != "constant" or not pad.x.type.rank >= 3:
        return
    if pad.value is not None and constant_number(pad.value) != 0:
        return
    rank = pad.x.type.rank
    begin, end = pad.pads[:rank], pad.pads[rank:]
    if any((*begin[:2], *end[:2])) or min((*begin, *end)) < 0:
        return
    window = op.window(op.operand_types, op)
    pads = [
        a + b for a, b in zip((*begin[2:], *end[2:]), (*window.begin, *window.end), strict=True)
    ]
    rewriter.replace(op, changed(op, x=pad.x, pads=pads))


@rewrite(nn.Tile)
def tile_once(op: nn.Tile, rewriter: Rewriter) -> None:
    """tile(x, 1..) -> x"""
    if set(op.repeats) <= {1}:
        replace_same(rewriter, op, op.x)


@rewrite(nn.Resize)
def resize_nothing(op: nn.Resize, rewriter: Rewriter) -> None:
    """resize(x) -> x where no dimension is resampled"""
    shape = op.x.type.shape
    if None not in shape and not any(op.samples(axis, shape) for axis in range(len(shape))):
        replace_same(rewriter, op, op.x)


@rewrite(ReductionOp)
def reduce_ones(op: ReductionOp, rewriter: Rewriter) -> None:
    """reduce_sum(x) -> reshape(x) where all reduced extents are 1"""
    plain = (nn.ReduceSum, nn.ReduceMean, nn.ReduceMax, nn.ReduceMin, nn.ReduceProd)
    if isinstance(op, plain) and all(shape_of(op.x)[axis] == 1 for axis in op.axes):
        _reshape(rewriter, op, op.x)


@rewrite(nn.Gather)
def gather_in_order(op: nn.Gather, rewriter: Rewriter) -> None:
    """gather(x, [a, a + 1, ..]) -> slice(x), and of one index reshape(slice(x))"""
    indices = constant_array(op.indices)
    shape: tuple[Dim, ...] = shape_of(op.data)
    extent = shape[op.axis]
    if indices is None or indices.ndim > 1 or extent is None or not 0 < indices.size <= extent:
        return
    flat = [int(i) for i in indices.reshape(-1)]
    first = flat[0] + extent if flat[0] < 0 else flat[0]
    if flat != list(range(flat[0], flat[0] + len(flat))) or not 0 <= first <= extent - len(flat):
        return
    if indices.ndim == 0 and shape_of(op.out).count(None) > 1:
        return
    starts = [first if d == op.axis else 0 for d in range(len(shape))]
    taken = (*shape[: op.axis], len(flat), *shape[op.axis + 1 :])
    out = TensorType(taken, element_of(op.data))
    if indices.ndim == 0:
        part = rewriter(nn.Slice(op.data, starts, out=out)).result
        rewriter.replace(op, nn.Reshape(part, out=op.out.type))
    elif out is op.out.type:  # else after `infer-shapes`, which knows the extent
        rewriter.replace(op, nn.Slice(op.data, starts, out=out))


# -- what became static -----------------------------------------------------------------------


@rewrite(nn.ReshapeDynamic)
def reshape_to_known(op: nn.ReshapeDynamic, rewriter: Rewriter) -> None:
    """reshape_dynamic(x, shape) -> reshape(x) where at most one extent is unknown"""
    if is_told_by_count(op.out.type.shape):
        rewriter.replace(op, nn.Reshape(op.x, out=op.out.type))


@rewrite(nn.BroadcastDynamic)
def broadcast_to_known(op: nn.BroadcastDynamic, rewriter: Rewriter) -> None:
    """broadcast_dynamic(x, shape) -> broadcast_to(x) where the shape is known

    An unknown extent of x may turn out at run time to be 1, or that of the shape.
    """
    shape = op.out.type.shape
    own = shape_of(op.x)
    pairs = zip(own, shape[len(shape) - len(own) :], strict=True)
    if op.out.type.has_static_shape and all(d is not None or w == 1 for d, w in pairs):
        rewriter.replace(op, nn.BroadcastTo(op.x, out=op.out.type))


@rewrite(nn.FillDynamic)
def fill_known(op: nn.FillDynamic, rewriter: Rewriter) -> None:
    """fill_dynamic(shape, v) -> fill(v) where the shape is known"""
    if op.out.type.has_static_shape:
        rewriter.replace(op, nn.Fill(op.value, out=op.out.type))


@rewrite(nn.SliceDynamic)
def slice_known(op: nn.SliceDynamic, rewriter: Rewriter) -> None:
    """slice_dynamic(x, starts, ..) -> slice(x) where all of them are known"""
    known = KnownValues()
    numbers = [known.all(v) for v in (op.starts, op.ends, op.axes, op.steps)]
    if None in numbers:
        return
    shape = shape_of(op.x)
    starts, steps, sizes = [0] * len(shape), [1] * len(shape), list(shape)
    for start, end, axis, step in zip(*numbers, strict=True):
        axis %= len(shape)
        extent = shape[axis]
        if extent is None:
            if start < 0 or step < 1 or end < 2**31 - 1:
                return
            starts[axis], steps[axis] = start, step
        elif step:
            sizes[axis], starts[axis] = slice_bounds(start, end, step, extent)
            steps[axis] = step
    if list(op.out.type.shape) == sizes:
        rewriter.replace(op, nn.Slice(op.x, starts, steps, out=op.out.type))


@rewrite(nn.PadDynamic)
def pad_known(op: nn.PadDynamic, rewriter: Rewriter) -> None:
    """pad_dynamic(x, pads) -> pad(x) where the pads are known"""
    pads = KnownValues().all(op.pads)
    if pads is None or len(pads) != 2 * len(shape_of(op.x)):
        return
    ends = zip(shape_of(op.x), pads[: len(pads) // 2], pads[len(pads) // 2 :], strict=True)
    wanted = tuple(None if d is None else d + b + e for d, b, e in ends)
    if wanted == op.out.type.shape:
        rewriter.replace(op, nn.Pad(op.x, op.value, pads=pads, mode=op.mode, out=op.out.type))


@rewrite(nn.ResizeDynamic)
def resize_known(op: nn.ResizeDynamic, rewriter: Rewriter) -> None:
    """resize_dynamic(x, scales, sizes) -> resize(x) where scales and extents are known"""
    scales = constant_array(op.scales)
    roi = None if op.roi is None else constant_array(op.roi)
    shape = shape_of(op.x)
    moving = [d for axis in op.axes for d in (shape[axis], op.out.type.shape[axis])]
    if scales is None or None in moving or (roi is None) != (op.roi is None):
        return
    factors, begin, end = ([neutral] * len(shape) for neutral in (1.0, 0.0, 1.0))
    for i, axis in enumerate(op.axes):
        factors[axis] = float(scales[i])
        if roi is not None:
            begin[axis], end[axis] = float(roi[i]), float(roi[i + len(op.axes)])
    rewriter.replace(
        op,
        nn.Resize(
            op.x,
            mode=op.mode,
            coordinate_transform=op.coordinate_transform,
            nearest_mode=op.nearest_mode,
            scales=factors,
            roi=None if roi is None else (*begin, *end),
            cubic_coeff_a=op.cubic_coeff_a,
            exclude_outside=op.exclude_outside,
            antialias=op.antialias,
            cubic_steps=op.cubic_steps,
            extrapolation_value=op.extrapolation_value,
            out=op.out.type,
        ),
    )


PATTERNS = (
    merge_transposes,
    transpose_nothing,
    transpose_of_ones,
    merge_reshapes,
    reshape_nothing,
    broadcast_nothing,
    broadcast_implied,
    merge_concats,
    join_neighbours,
    slice_nothing,
    merge_slices,
    split_nothing,
    pad_nothing,
    merge_pads,
    pad_into_conv,
    tile_once,
    resize_nothing,
    reduce_ones,
    gather_in_order,
    reshape_to_known,
    broadcast_to_known,
    fill_known,
    slice_known,
    pad_known,
    resize_known,
)

"""Image resampling, grid sampling, and windows as columns (unfold)."""

from __future__ import annotations

from ...common.grids import grid_sample
from ...common.regions import DeformableWindows, deformable_convolution
from ...common.vocabulary import *
from ...common.windows import check_fit, padded
from ..layer import NcnnLayer, rows
from .convolution import DILATION, KERNEL, STRIDE, extents_of, padding_of
from .elementwise import activated
from .movement import evaluated


@rows("Interp")
def interp(n: NcnnLayer, x: Value, like: Value | None = None) -> Value:
    if x.type.rank == 2:  # a value for each channel
        x = reshape(n, x, [(x, 0), (x, 1), 1, 1])
    modes, rank = {1: "nearest", 2: "linear", 3: "cubic"}, x.type.rank
    if n.int(0) not in modes or not 3 <= rank <= 4:
        raise n.error(f"resampling of type {n.int(0)} of {rank - 1} dimensions")
    mode, wanted = modes[n.int(0)], [n.int(3), n.int(4)]
    if n.text(9):
        inputs = [x] if like is None else [x, like]
        wanted = [*evaluated(n, n.text(9), inputs), 1][1::-1]
    elif n.int(5) and like is not None:
        wanted = [d or 0 for d in like.type.shape[-2:]]
        if 0 in wanted:
            raise n.error("it needs inputs of known extents")
    if 0 in wanted:  # a width without a height does not count either
        wanted = [0, 0]
    axes = (2,) if rank == 3 else (2, 3)
    wanted, factors = (v[-len(axes) :] for v in (wanted, [n.float(1, 1.0), n.float(2, 1.0)]))
    how = {"mode": mode, "coordinate_transform": "half_pixel"}
    if mode == "nearest":
        how |= {"coordinate_transform": "asymmetric", "nearest_mode": "floor"}
    elif n.int(6):
        how["coordinate_transform"] = "align_corners"
    if 0 in wanted:
        return resized_by_scales(n, x, n.constant(np.array(factors, np.float32)), axes, how)
    return resized(n, x, n.constant(np.array(wanted, np.int64)), axes, how)


@rows("GridSample")
def sampled(n: NcnnLayer, x: Value, grid: Value) -> Value:
    modes, paddings = ("linear", "nearest", "cubic"), ("zeros", "border", "reflection")
    if n.int(0, 1) not in (1, 2, 3) or n.int(1, 1) not in (1, 2, 3):
        raise n.error(f"sampling of type {n.int(0)} with padding {n.int(1)}")
    if n.int(3):  # the coordinates stand first
        grid = n(nn.Transpose(grid, permutation=(0, *range(2, grid.type.rank), 1)))
    mode, padding = modes[n.int(0, 1) - 1], paddings[n.int(1, 1) - 1]
    return grid_sample(n, x, grid, mode=mode, padding=padding, corners=bool(n.int(2)))


# -- windows ---------------------------------------------------------------------------------------


def _windows(n: NcnnLayer) -> tuple[list[int], list[int], list[int], Padding]:
    """Kernel, strides, dilations and padding."""
    kernel, strides, dilations = (extents_of(n, v, 2) for v in (KERNEL, STRIDE, DILATION))
    return kernel, strides, dilations, padding_of(n, 2)


@rows("Unfold")
def unfold(n: NcnnLayer, x: Value) -> Value:
    """The windows as columns: [channels * kernel, positions]."""
    kernel, strides, dilations, padding = _windows(n)
    operand = padded(n, x, kernel, strides, dilations, padding)
    pads, x = operand.pads, operand.x
    check_fit(n, x, [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)], pads)
    if fill := n.float(18):
        x = padded_by(n, x, (0, 0, *pads[:2], 0, 0, *pads[2:]), fill)
        pads = (0,) * 4
    return unfolded(n, x, kernel, strides, dilations, pads)


@rows("Fold")
def fold(n: NcnnLayer, x: Value) -> Value:
    kernel, strides, dilations, padding = _windows(n)
    extents = [n.int(21, n.int(20)), n.int(20)]
    if isinstance(padding, str):
        raise n.error("padding by the size of a kernel is not supported")
    return folded(n, x, extents, kernel, strides, dilations, padding)


@rows("DeformableConv2D")
def deformable(n: NcnnLayer, x: Value, offset: Value, mask: Value | None = None) -> Value:
    kernel, strides, dilations, padding = _windows(n)
    if isinstance(padding, str):
        raise n.error("padding by the size of a kernel is not supported")
    windows = DeformableWindows(kernel, strides, dilations, padding)
    args = n.weight("weight"), offset, n.optional("bias"), mask
    return activated(n, deformable_convolution(n, n.image(x, 2), *args, windows))

"""Image operators: convolutions, poolings, normalizations, resampling."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from operator import lt

from ....dialects.nn.resize import scaled
from ....ir.numpy_types import type_to_numpy
from ...common.grids import affine_grid, grid_sample
from ...common.pooling import in_planes
from ...common.regions import DeformableWindows, deformable_convolution
from ...common.vocabulary import *
from ...common.windows import same_padding
from ..layer import PaddleLayer, rows

_LAST = ("NHWC", "NLC", "NDHWC", "AnyLayout_last")


def _has_channels_last(n: PaddleLayer) -> bool:
    """Whether the layout has channels last."""
    return n.text("data_format", n.text("data_layout", "NCHW")) in _LAST


def _channels_first(convert: Callable[..., Value]) -> Callable:
    """A converter for both layouts, from one for channels first."""

    @wraps(convert)
    def either(n: PaddleLayer, x: Value, *rest: Any) -> Value:
        if not _has_channels_last(n):
            return convert(n, x, *rest)
        return channels_last(n, convert(n, channels_first(n, x), *rest))

    return either


def _padding(n: PaddleLayer, dims: int) -> Padding:
    """The padding: given as one number, one per dimension, one per side, or for all ranks."""
    algorithm = n.text("padding_algorithm", "EXPLICIT")
    if algorithm in ("SAME", "VALID"):
        return "SAME_UPPER" if algorithm == "SAME" else "VALID"
    given = n.ints("paddings", (0,) * dims)
    if len(given) == 2 * dims + 4:
        given = given[4:] if not _has_channels_last(n) else given[2:-2]
    if len(given) == 1:
        given *= dims
    if len(given) == dims:
        return (*given, *given)
    if len(given) != 2 * dims:
        raise n.error(f"paddings {list(given)} for {dims} dimensions")
    return (*given[::2], *given[1::2])


def _each(n: PaddleLayer, name: str, dims: int) -> tuple[int, ...]:
    given = n.ints(name, (1,) * dims)
    given = given * dims if len(given) == 1 else given
    if len(given) != dims or min(given) < 1:
        raise n.error(f"attribute '{name}' is {list(given)}, expected {dims} positive numbers")
    return given


def _dilations(n: PaddleLayer, dims: int) -> tuple[int, ...]:
    """The dilations of a convolution; Paddle ignores them if the padding is SAME."""
    given = _each(n, "dilations", dims)
    return (1,) * dims if n.text("padding_algorithm") == "SAME" else given


def _same_padding(
    n: PaddleLayer, x: Value, kernel: Sequence[Any], strides: Sequence[int]
) -> tuple[int, ...]:
    """SAME padding: all begins, then all ends. A transposed convolution has that of its input's
    extents.
    """
    known = [n.extent(x, axis) for axis in range(2, x.type.rank)]
    sides: Any = map(same_padding, known, kernel, strides, ["SAME_UPPER"] * len(known))
    begins, ends = zip(*sides, strict=True)
    return (*begins, *ends)


def _convolved(n: PaddleLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    dims = x.type.rank - 2
    groups = n.int("groups", 1)
    if n.kind.startswith("depthwise") and n.get("groups") is None:
        groups = x.type.shape[1] or 1
    return convolution(
        n,
        x,
        weight,
        bias,
        strides=_each(n, "strides", dims),
        dilations=_dilations(n, dims),
        padding=_padding(n, dims),
        groups=groups,
    )


rows.add(dict.fromkeys(("conv2d", "depthwise_conv2d", "conv3d"), _channels_first(_convolved)))


def _transposed(n: PaddleLayer, x: Value, weight: Value, *sizes: Any) -> Value:
    dims = x.type.rank - 2
    wanted = n.numbers(sizes[0], "output_size") if sizes and sizes[0] is not None else ()
    wanted = wanted or n.ints("output_size")
    extra, padding = n.ints("output_padding"), _padding(n, dims)
    if padding == "SAME_UPPER":
        padding = _same_padding(n, x, weight.type.shape[2:], _each(n, "strides", dims))
    return transposed_convolution(
        n,
        x,
        weight,
        strides=_each(n, "strides", dims),
        dilations=_dilations(n, dims),
        padding=padding,
        output_padding=extra or None,
        groups=n.int("groups", 1),
        extents=wanted or None,
    )


_turned = _channels_first(_transposed)
rows.add(
    {
        "conv2d_transpose": _turned,
        "depthwise_conv2d_transpose": _turned,
        "conv3d_transpose": _turned,
    }
)


# -- pooling ---------------------------------------------------------------------------------------


def _pooled(n: PaddleLayer, x: Value, size: Any = None) -> Value:
    dims = x.type.rank - 2
    kernel = n.numbers(size, "kernel_size") if size is not None else n.ints("kernel_size")
    kernel = kernel * dims if len(kernel) == 1 else kernel
    largest = n.text("pooling_type", "max") == "max"
    if n.flag("global_pooling"):
        return pooled_whole(n, x, largest)
    if n.flag("adaptive"):
        return adaptive_pooled(n, x, kernel, largest)
    windows, exclusive = _windows_of(n, x, kernel), n.flag("exclusive", True)
    if _begin_behind(n, x, windows):
        return _pooled_with_padding(n, x, windows, largest, exclusive)
    if not largest and not exclusive and windows.padding != "VALID":
        pads = windows.padding
        if isinstance(pads, str):
            pads = _same_padding(n, x, kernel, windows.strides)
        if tuple(pads[:dims]) != tuple(pads[dims:]):
            windows = replace(windows, padding=pads)
            return _pooled_with_padding(n, x, windows, largest, exclusive)
    return pooled(n, x, windows, largest, counts_padding=not exclusive)


def _pooled_with_padding(
    n: PaddleLayer, x: Value, windows: Windows, largest: bool, exclusive: bool
) -> Value:
    """Pooling of the padded input, also by windows that begin behind it.

    Those have the lowest finite number as largest element, and the mean 0 / 0 where they have no
    elements. If means count padding, Paddle counts as much of it behind the input as lies before.
    """
    dims, pads = x.type.rank - 2, windows.padding
    assert not isinstance(pads, str)
    ends, counts = [], np.ones((1,) * dims)
    for i, size in enumerate(windows.kernel):
        extent, begin = n.extent(x, 2 + i), pads[i]
        starts = np.array(windows.starts(i, extent))
        ends.append(max(int(starts[-1]) + size - extent - begin, 0))
        if exclusive:
            counted = np.minimum(starts + size - begin, extent) - np.maximum(starts - begin, 0)
        else:
            counted = np.minimum(starts + size, extent + 2 * begin) - starts
        counts = counts * counted.reshape([-1 if j == i else 1 for j in range(dims)])
    lowest = np.finfo(type_to_numpy(x.type.element_type)).min if largest else 0.0
    sides = (0, 0, *pads[:dims], 0, 0, *ends)
    wide = padded_by(n, x, sides, n.scalar(float(lowest), x))
    plain = Windows(windows.kernel, windows.strides, (0,) * (2 * dims))
    if largest:
        return max_pooled(n, wide, plain)
    sums = Term(n, sum_pooled(n, wide, plain))
    return (sums / constant(n, counts, x.type.element_type)).value


def _windows_of(n: PaddleLayer, x: Value, kernel: Sequence[int]) -> Windows:
    """A pooling's windows. SAME with extents rounded up is the padding that SAME has."""
    dims = x.type.rank - 2
    strides, pads, ceil = _each(n, "strides", dims), _padding(n, dims), n.flag("ceil_mode")
    if ceil and pads == "SAME_UPPER" and any(map(lt, kernel, strides)):
        pads = _same_padding(n, x, kernel, strides)
    return Windows(kernel, strides, pads, ceil=ceil)


def _begin_behind(n: PaddleLayer, x: Value, windows: Windows) -> bool:
    """Whether a window begins behind the input, as Paddle has them if extents are rounded up."""
    kernel, pads, dims = windows.kernel, windows.padding, x.type.rank - 2
    if not windows.ceil or isinstance(pads, str):
        return False
    return any(
        kernel[i] <= stride - 1 + pads[dims + i]
        and windows.starts(i, n.extent(x, 2 + i))[-1] >= n.extent(x, 2 + i) + pads[i]
        for i, stride in enumerate(windows.strides)
    )


def _pooling_windows(n: PaddleLayer, x: Value, kernel: Sequence[int]) -> Windows:
    """A pooling's windows. Raises NncError if one begins behind the input."""
    windows = _windows_of(n, x, kernel)
    if _begin_behind(n, x, windows):
        raise n.error(f"windows of {list(kernel)} that begin behind the input are not supported")
    return windows


rows.add(dict.fromkeys(("pool2d", "pool3d"), _channels_first(_pooled)))


def _lp_pooled(n: PaddleLayer, x: Value) -> Value:
    """The roots of the sums of powers in windows; unlike norms, without absolute values."""
    power, kernel = n.float("norm_type"), n.ints("kernel_size", n.ints("ksize"))
    if (
        n.text("pooling_type", "lp") != "lp"
        or n.flag("global_pooling")
        or n.flag("adaptive")
        or power == 0
    ):
        raise n.error(f"powers of {power}, of the whole image or adaptive, are not supported")
    windows = _pooling_windows(n, x, kernel)
    sums = Term(n, sum_pooled(n, (Term(n, x) ** power).value, windows))
    return (sums ** (1 / power)).value


rows.add({"lp_pool2d": _channels_first(_lp_pooled)})


@rows("max_pool2d_with_index", "max_pool3d_with_index")
def pool_with_index(n: PaddleLayer, x: Value) -> list[Value | None]:
    dims, kernel = x.type.rank - 2, n.ints("kernel_size", n.ints("ksize"))
    if n.flag("global_pooling") or n.flag("adaptive"):
        wanted = (1,) * dims if n.flag("global_pooling") else kernel
        return [adaptive_pooled(n, x, wanted, True), None]
    windows = _pooling_windows(n, x, kernel)
    if not n.wants(1):
        return [max_pooled(n, x, windows)]
    out, places = max_pooled_with_indices(n, x, windows)
    return [out, n.cast(in_planes(n, places, x), i32)]


# -- normalization ---------------------------------------------------------------------------------


_EPSILON = ("epsilon", 1e-5)


def _uses_running_statistics(n: PaddleLayer) -> bool:
    """Whether running statistics are used; training mode uses those of the batch."""
    is_test = n.flag("is_test", True) and not n.flag("trainable_statistics")
    return n.flag("use_global_stats") or is_test


_BATCH_NORM = batch_norm_row(
    "x mean var scale? bias?", eps=_EPSILON, inference=_uses_running_statistics
)
rows.add(dict.fromkeys(("batch_norm", "batch_norm_"), _channels_first(_BATCH_NORM)))
rows.add({"instance_norm": instance_norm_row("x scale? bias?", eps=_EPSILON)})


@rows("layer_norm")
def layer_norm(
    n: PaddleLayer, x: Value, scale: Value | None = None, bias: Value | None = None
) -> Value:
    axes = range(n.axis(x, n.int("begin_norm_axis", 1)), x.type.rank)
    return layer_normed(n, x, scale, bias, axes, n.float(*_EPSILON))


@rows("rms_norm")
def rms_norm(n: PaddleLayer, x: Value, *rest: Value) -> Value:
    given = [v for v in rest if v is not None]
    if not given:
        raise n.error("it has no scale")
    axes = range(n.axis(x, n.int("begin_norm_axis", -1)), x.type.rank)
    return rms_normed(n, x, given[-1], axes, n.float(*_EPSILON))


def _group_norm(
    n: PaddleLayer, x: Value, scale: Value | None = None, bias: Value | None = None
) -> Value:
    return group_normed(n, x, scale, bias, n.int("groups", 1), n.float(*_EPSILON))


rows.add({"group_norm": _channels_first(_group_norm)})


# -- resampling and channels -----------------------------------------------------------------------

BEFORE_FIRST = -0.75 / 8
"""The weight of the second element at the place -1/2, by cubic convolution with a = -3/4; all other
weights are of the first, which repeats before it."""

_MODES = {
    "nearest_interp": "nearest",
    "bilinear_interp": "linear",
    "linear_interp": "linear",
    "trilinear_interp": "linear",
    "bicubic_interp": "cubic",
}


def _interpolated(n: PaddleLayer, x: Value, *rest: Any) -> Value:
    """x resized to extents from operands or attributes, or by a scale."""
    out_size, sizes, scales = (*rest, None, None, None)[:3]
    dims = x.type.rank - 2
    attributes = [n.int(name, -1) for name in ("out_d", "out_h", "out_w")][-dims:]
    mode, corners = _MODES[n.kind], n.flag("align_corners", True)
    coordinates = "align_corners" if corners else "half_pixel"
    nearest = "round_prefer_ceil" if corners else "floor"
    if not corners and (mode == "nearest" or (n.int("align_mode", 1) == 1 and mode == "linear")):
        coordinates = "asymmetric"
    how = {"mode": mode, "coordinate_transform": coordinates, "nearest_mode": nearest}
    axes = list(range(2, x.type.rank))
    wanted = sizes if sizes else out_size
    if wanted is None and min(attributes) > 0:
        wanted = n.constant(np.array(attributes, np.int64))
    if wanted is not None:
        vector = n.vector(wanted)
        if coordinates == "half_pixel":
            x = _only(n, x, n.extents(vector) or (), axes, mode)
        return resized(n, x, vector, axes, how)
    given = n.get("scale", [])
    factors = [float(v) for v in (given if isinstance(given, list) else [given])]
    if scales is None:
        factors = factors * dims if len(factors) == 1 else factors
        if len(factors) != dims:
            raise n.error(f"{len(factors)} scales for {dims} dimensions")
        scales = n.constant(np.array(factors, np.float32))
    known = n.known(scales)
    if coordinates == "half_pixel" and known is not None:
        own, factors = [x.type.shape[axis] for axis in axes], known.reshape(-1).tolist()
        wanted = [d and scaled(d, factor) for d, factor in zip(own, factors, strict=True)]
        x = _only(n, x, wanted, axes, mode)
        stays = [x.type.shape[axis] == d for axis, d in zip(axes, own, strict=True)]
        scales = n.constant(np.where(stays, factors, 1).astype(np.float32))
    return resized_by_scales(n, x, scales, axes, how)


def _only(
    n: PaddleLayer, x: Value, wanted: Sequence[int | None], axes: Sequence[int], mode: str
) -> Value:
    """x with one element along each axis that is resized to one element.

    Paddle takes it at the place -1/2, whatever the extent was; `linear_interp` and
    `trilinear_interp` take the middle.
    """
    if n.kind in ("linear_interp", "trilinear_interp"):
        return x
    for axis, extent in zip(axes, wanted, strict=False):
        if extent != 1 or x.type.shape[axis] == 1:
            continue
        first = Term(n, x).part(axis, 0, 1)
        if mode == "cubic":
            n.extent(x, axis)
            first = first * (1 - BEFORE_FIRST) + Term(n, x).part(axis, 1, 2) * BEFORE_FIRST
        x = first.value
    return x


rows.add({name: _channels_first(_interpolated) for name in _MODES})


def _shuffled(n: PaddleLayer, x: Value) -> Value:
    return channels_shuffled(n, x, n.int("groups", 1))


rows.add(
    {"channel_shuffle": _channels_first(_shuffled), "shuffle_channel": _channels_first(_shuffled)}
)


def _temporal_shift(n: PaddleLayer, x: Value) -> Value:
    """x [B * T, C, H, W] with some channels from the previous frame, and as many from the next."""
    steps, channels = n.int("seg_num", 1), n.extent(x, 1)
    if steps < 1:
        raise n.error(f"a shift of {steps} frames")
    ratio = n.float("shift_ratio", 0.25)
    first, second = int(channels * ratio), int(channels * 2 * ratio)
    frames = reshape(n, x, [n.extent(x, 0) // steps, steps, *dims(x)[1:]])
    sizes = [first, second - first, channels - second]
    before, behind, rest = split_into(n, frames, 2, sizes)
    none = (0, 0, 0)
    before = padded_by(n, slice_axis(n, before, 1, 0, -1), (0, 1, *none, 0, 0, *none))
    behind = padded_by(n, slice_axis(n, behind, 1, 1, FAR), (0, 0, *none, 0, 1, *none))
    return reshape(n, concat(n, [before, behind, rest], 2), dims(x))


rows.add({"temporal_shift": _channels_first(_temporal_shift)})


@rows("maxout")
def maxout(n: PaddleLayer, x: Value) -> Value:
    """The maximum over each group of neighbouring channels."""
    axis, groups = n.axis(x, n.int("axis", 1)), n.int("groups", 1)
    channels = n.extent(x, axis)
    if groups < 1 or channels % groups:
        raise n.error(f"{channels} channels do not split into groups of {groups}")
    own = dims(x)
    apart = reshape(n, x, [*own[:axis], channels // groups, groups, *own[axis + 1 :]])
    return reduced(n, apart, nn.ReduceMax, (axis + 1,))


# -- columns, grids, deformable convolutions -------------------------------------------------------


def _windows(n: PaddleLayer) -> tuple[Sequence[int], ...]:
    """Kernel, strides, dilations and pads; these are of all begins, then of all ends."""
    kernel, strides, dilations = (_each(n, k, 2) for k in ("kernel_sizes", "strides", "dilations"))
    pads = n.ints("paddings", (0, 0))
    pads = (*pads, *pads) if len(pads) == 2 else pads
    if len(pads) != 4:
        raise n.error(f"attribute 'paddings' is {list(pads)}, expected 2 or 4 numbers")
    return kernel, strides, dilations, pads


@rows("unfold")
def unfold(n: PaddleLayer, x: Value) -> Value:
    return unfolded(n, x, *_windows(n))


@rows("fold")
def fold(n: PaddleLayer, x: Value) -> Value:
    return folded(n, x, n.ints("output_sizes"), *_windows(n))


@rows("grid_sample")
def sampled(n: PaddleLayer, x: Value, grid: Value) -> Value:
    modes = {"bilinear": "linear", "nearest": "nearest"}
    mode, padding = modes.get(n.text("mode", "bilinear")), n.text("padding_mode", "zeros")
    if mode is None or padding not in ("zeros", "border", "reflection"):
        raise n.error(f"mode '{n.text('mode')}' with padding '{padding}'")
    corners = n.flag("align_corners", True)
    return grid_sample(n, x, grid, mode=mode, padding=padding, corners=corners)


@rows("affine_grid")
def grid_of(n: PaddleLayer, theta: Value, shape: Any) -> Value:
    size, known = n.wanted(shape)
    return affine_grid(n, theta, size, len(known) - 2, n.flag("align_corners", True))


@rows("deformable_conv")
def deformable(
    n: PaddleLayer, x: Value, offset: Value, weight: Value, mask: Value | None = None
) -> Value:
    pads = n.ints("paddings", (0, 0))
    windows = DeformableWindows(
        [d or 0 for d in weight.type.shape[2:]],
        _each(n, "strides", 2),
        _each(n, "dilations", 2),
        (*pads, *pads),
        n.int("groups", 1),
        n.int("deformable_groups", 1),
    )
    return deformable_convolution(n, x, weight, offset, None, mask, windows)


def _pixels(n: PaddleLayer, x: Value) -> Value:
    return n(nn.DepthToSpace(x, block=n.int("upscale_factor", 1), mode="CRD"))


rows.add({"pixel_shuffle": _channels_first(_pixels)})


@rows("pad3d", "pad")
def pad(n: PaddleLayer, x: Value, amounts: Any = None) -> Value:
    rank = x.type.rank
    known = None if amounts is None or n.kind == "pad3d" else n.known(amounts)
    if n.kind == "pad" or amounts is None:
        given = n.ints("paddings")
    else:
        given = n.numbers(amounts, "paddings")
    begins, ends = [0] * rank, [0] * rank
    if n.kind == "pad" or len(given) == 2 * rank:
        begins, ends = list(given[::2]), list(given[1::2])
    else:  # the innermost dimension first
        first = rank - 2 if _has_channels_last(n) else rank - 1
        for i in range(len(given) // 2):
            begins[first - i], ends[first - i] = given[2 * i : 2 * i + 2]
    if n.text("mode") == "circular" and min(begins + ends) < 0:
        raise n.error(f"padding {list(given)} around, which leaves elements out")
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    mode = names.get(n.text("mode", "constant"))
    if mode is None or len(begins) != rank or len(ends) != rank:
        raise n.error(
            f"padding {list(given)} of mode '{n.text('mode')}' of '{x.type}' is not supported"
        )
    fill = n.float("value", n.float("pad_value")) if known is None else float(known.reshape(-1)[0])
    fill = fill if isinstance(x.type.element_type, FloatType) else int(fill)
    return padded_by(n, x, (*begins, *ends), fill, mode)

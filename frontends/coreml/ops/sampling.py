"""Resizing, cropping and sampling of images."""

from __future__ import annotations

from ...common.grids import affine_grid, grid_sample
from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows

_SAMPLING = {
    "STRICT_ALIGN_CORNERS": "align_corners",
    "ALIGN_CORNERS": "align_corners",
    "UNALIGN_CORNERS": "half_pixel",
    "DEFAULT": "asymmetric",
}
_NEAREST: dict[str, Any] = {
    "mode": "nearest",
    "coordinate_transform": "asymmetric",
    "nearest_mode": "floor",
}


def _resized(n: CoreMLLayer, x: Value, sizes: Sequence[Dim], how: Mapping[str, Any]) -> Value:
    """x resized to other extents of its last dimensions; `how` gives the coordinate convention."""
    if None in sizes:
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
    middle = n.text("sampling_mode", "") == "ALIGN_CORNERS"
    axes = range(x.type.rank - len(sizes), x.type.rank)
    for axis, size in zip(axes, sizes, strict=True):
        if middle and size == 1:  # which the operation takes from the first element
            x = _middle(n, x, axis)
    return resized(n, x, n.constant(np.array(sizes, np.int64)), axes, how)


def _middle(n: CoreMLLayer, x: Value, axis: int) -> Value:
    """The middle element of an axis, or the mean of the middle two."""
    extent = n.extent(x, axis)
    low, high = (extent - 1) // 2, extent // 2
    first, second = (Term(n, slice_axis(n, x, axis, at, at + 1)) for at in (low, high))
    return first.value if low == high else ((first + second) * 0.5).value


def _scaled(n: CoreMLLayer, x: Value, **how: Any) -> Value:
    scales = [n.float(f"scale_factor_{side}", 1) for side in ("height", "width")]
    height, width = x.type.shape[-2:]
    if height is None or width is None:
        axes = range(x.type.rank - 2, x.type.rank)
        return resized_by_scales(n, x, n.constant(np.array(scales)), axes, how)
    return _resized(n, x, [int(height * scales[0]), int(width * scales[1])], how)


@rows("upsample_nearest_neighbor")
def upsample_nearest(n: CoreMLLayer, x: Value) -> Value:
    return _scaled(n, x, **_NEAREST)


@rows("upsample_bilinear")
def upsample_bilinear(n: CoreMLLayer, x: Value) -> Value:
    corners = n.flag("align_corners", True)
    half = n.flag("half_pixel_centers", not corners)
    kind = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    return _scaled(n, x, mode="linear", coordinate_transform=kind)


def _how(n: CoreMLLayer, nearest: bool) -> Mapping[str, Any]:
    if nearest:
        return _NEAREST
    mode = n.text("sampling_mode", "DEFAULT", *_SAMPLING)
    return {"mode": "linear", "coordinate_transform": _SAMPLING[mode]}


@rows("resize_nearest_neighbor", "resize_bilinear")
def resize_to(n: CoreMLLayer, x: Value) -> Value:
    sizes = [n.int(f"target_size_{side}", 1) for side in ("height", "width")]
    return _resized(n, x, sizes, _how(n, n.kind != "resize_bilinear"))


@rows("resize")
def resize(n: CoreMLLayer, x: Value) -> Value:
    count = n.int("resized_dims")
    wanted = n.ints("shape")[-count:]
    sizes = [size or x.type.shape[i - count] for i, size in enumerate(wanted)]
    mode = n.text("interpolation_mode", "LINEAR", "LINEAR", "NEAREST_NEIGHBOR")
    return _resized(n, x, sizes, _how(n, mode != "LINEAR"))


_PADDINGS = {
    "constant": "zeros",
    "border": "border",
    "reflection": "reflect",
    "symmetric": "symmetric",
}


@rows("resample")
def resample(n: CoreMLLayer, x: Value, coordinates: Value) -> Value:
    """Images x [B, C, H, W] sampled at coordinates [B, P, Q, 2], x then y: [B, C, P, Q]."""
    units = n.text("coordinates_mode", "unnormalized").lower()
    grid = Term(n, coordinates).cast(f32)
    if units == "normalized_zero_to_one":
        grid = grid * 2.0 - 1.0
    mode = n.text("sampling_mode", "bilinear").lower()
    padding = n.text("padding_mode", "constant").lower()
    if mode not in ("bilinear", "nearest") or padding not in _PADDINGS:
        raise n.error(f"sampling '{mode}' with padding '{padding}' is not supported")
    # What lies outside has one value: 0 after it is taken away.
    fill = n.float("padding_value", 0)
    fill = fill if padding == "constant" else 0.0
    found = grid_sample(
        n,
        (Term(n, x) - fill).value if fill else x,
        grid.value,
        mode=mode.removeprefix("bi"),
        padding=_PADDINGS[padding],
        corners=n.flag("align_corners", True),
        pixels=units == "unnormalized",
    )
    return (Term(n, found) + fill).value if fill else found


@rows("affine")
def affine(n: CoreMLLayer, x: Value, transform_matrix: Value) -> Value:
    """Images sampled at positions in [-1, 1] transformed by affine matrices [D, 6], one for all
    images or one each.
    """
    matrix = Term(n, transform_matrix).reshape((transform_matrix, 0), 2, 3)
    corners, count = n.flag("align_corners", True), shape_vector(n, [(transform_matrix, 0)])
    sizes = [1, n.int("output_height"), n.int("output_width")]
    size = joined([Term(n, count), constant(n, np.array(sizes))], 0)
    grid = affine_grid(n, matrix.value, size.value, 2, corners)
    wide = broadcast(n, grid, [(x, 0), *((grid, i) for i in range(1, 4))])
    return grid_sample(n, x, wide, corners=corners)


@rows("crop_resize")
def crop_resize(
    n: CoreMLLayer,
    x: Value,
    roi: Value | None = None,
    boxes: Value | None = None,
    box_indices: Value | None = None,
) -> Value:
    """Regions of images [B, C, H, W], bilinearly: a product with interpolation weights per
    dimension.

    Either roi [N, 1, 4, 1, 1] of all images, roi [N, 1, 5, 1, 1] with the image's index, or boxes
    [N, 4].
    """
    given = boxes if boxes is not None else roi
    assert given is not None
    count = given.type.shape[0]
    if None in (*x.type.shape[1:], count):
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents, and of the boxes too")
    rows = Term(n, given).cast(f32).reshape(count, given.type.shape[2 if boxes is None else 1])
    index = None if box_indices is None else Term(n, box_indices)
    if rows.shape[1] == 5:
        index, rows = rows.column(0), rows.part(1, 1, 5)
    elif boxes is not None and index is None:
        index = constant(n, arange(count))
    images = Term(n, x).spread(1, 0)
    if index is not None:
        images = Term(n, x).gather(index.cast(i64)).reshape(count, 1, *x.type.shape[1:])
    sides = []
    for d, side in enumerate(("height", "width")):
        size, whole = n.int(f"target_{side}", 1), x.type.shape[2 + d]
        at = _sample_positions(n, rows, d, whole, size)
        apart = at.spread(0, 1) - constant(n, np.arange(whole, dtype=np.float32))
        weights = (1.0 - apart.function(nn.Abs)).max(0.0).reshape(count, 1, 1, size, whole)
        inside = (at >= 0.0) & (at <= float(whole - 1))
        sides.append((weights, inside.reshape(count, 1, 1, *((1, size) if d else (size, 1)))))
    (down, upright), (across, level) = sides
    found = down @ images.cast(f32) @ across.transpose(0, 1, 2, 4, 3)
    filled = (upright & level).choose(found, n.float("pad_value", 0)).cast(x.type.element_type)
    return filled.value if boxes is None else squeezed(n, filled.value, 1)


def _sample_positions(n: CoreMLLayer, boxes: Term, d: int, extent: int, count: int) -> Term:
    """The sample positions of boxes [N, 4] along a dimension: [N, count]"""
    kind = n.text("box_coordinate_mode", "CORNERS_HEIGHT_FIRST")
    column = 1 - d if kind.endswith("WIDTH_FIRST") else d
    scale = n.float("spatial_scale", 1) * (extent - 1 if n.flag("normalized_coordinates") else 1)
    first, last = (boxes.column(i).spread(0, 1) * scale for i in (column, column + 2))
    if kind.startswith("CENTER_SIZE"):
        first, last = first - last * 0.5, first + last * 0.5
    length, i = last - first, constant(n, np.arange(count, dtype=np.float32))
    mode = n.text("sampling_mode", "DEFAULT", "OFFSET_CORNERS", *_SAMPLING)
    if mode.endswith("ALIGN_CORNERS") and mode != "UNALIGN_CORNERS":
        middle = 0.5 if count == 1 and mode == "ALIGN_CORNERS" else 0.0
        return first + length * (i / float(max(count - 1, 1)) + middle)
    if mode == "OFFSET_CORNERS":
        at = length.max(1.0) * ((i + 0.5) / float(count))
    else:
        at = (length + 1.0) * ((i + (0.5 if mode == "UNALIGN_CORNERS" else 0.0)) / float(count))
        at = at - 0.5 if mode == "UNALIGN_CORNERS" else at
    return first + at.max(0.0).min(length)


@rows("crop")
def crop(n: CoreMLLayer, x: Value) -> Value:
    (top, bottom), (left, right) = n.ints("crop_height"), n.ints("crop_width")
    x = slice_axis(n, x, x.type.rank - 2, top, n.extent(x, -2) - bottom)
    return slice_axis(n, x, x.type.rank - 1, left, n.extent(x, -1) - right)


@rows("crop_like")
def crop_like(n: CoreMLLayer, x: Value, ref_tensor: Value) -> Value:
    """A crop to the size of another image, from an offset on. In networks only."""
    for i, begin in enumerate(n.ints("offset")):
        end = begin + n.extent(ref_tensor, i - 2)
        x = slice_axis(n, x, x.type.rank - 2 + i, begin, end)
    return x

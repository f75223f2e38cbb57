"""Images in functional models: colors, borders, patches, blurring, coordinates of transforms."""

from __future__ import annotations

from ...common import images
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .convolution import on_channels_first
from .functions import operand
from .reshaping import is_channels_first

FILLS = {"constant": "zeros", "nearest": "border", "reflect": "symmetric"}
"""The padding mode of `grid_sample` for each fill mode of Keras."""


def _last(n: KerasLayer, work: Callable[[Term], Term]) -> Value:
    """Apply `work` with channels last, to a batch of images or a single one."""
    x = n.tensor()
    if not is_channels_first(n):
        return work(Term(n, x)).value
    lead = tuple(range(x.type.rank - 3))
    rank = len(lead)
    moved = Term(n, x).transpose(*lead, rank + 1, rank + 2, rank)
    return work(moved).transpose(*lead, rank + 2, rank, rank + 1).value


def _batched(n: KerasLayer, work: Callable[[Value], Value]) -> Value:
    """Apply `work` with channels first, to a batch of images or a single one."""
    x = n.tensor()
    if x.type.rank != 3:
        return on_channels_first(n, x, work)
    whole = Term(n, x).spread(1, 0).value
    return Term(n, on_channels_first(n, whole, work)).column(0, 0).value


@layer("ops.RGBToHSV")
def rgb_to_hsv(n: KerasLayer) -> Value:
    return _last(n, lambda x: joined([v.spread(0, 1) for v in images.hsv_of(x)], -1))


@layer("ops.HSVToRGB")
def hsv_to_rgb(n: KerasLayer) -> Value:
    return _last(n, lambda x: images.rgb_of(*(x.column(i) for i in range(3))))


def _sides(n: KerasLayer, x: Value, axis: int, begin: str, end: str, target: str) -> list[int]:
    """The elements to add or cut at both sides of an axis; a missing one follows from `target`."""
    sides = [n.option(begin, None), n.option(end, None)]
    if None in sides:
        own, wanted = x.type.shape[axis], n.option(target, None)
        if own is None or not isinstance(wanted, int):
            raise n.error(f"'{begin}', '{end}' and '{target}' do not tell the size")
        rest = abs(wanted - own) - sum(v or 0 for v in sides)
        sides = [rest if v is None else v for v in sides]
    return [int(v) for v in sides]


@layer("ops.PadImages", "ops.CropImages")
def bordered(n: KerasLayer) -> Value:
    x, word = n.tensor(), "padding" if n.kind == "ops.PadImages" else "cropping"
    row = x.type.rank - (2 if is_channels_first(n) else 3)
    high = _sides(n, x, row, f"top_{word}", f"bottom_{word}", "target_height")
    wide = _sides(n, x, row + 1, f"left_{word}", f"right_{word}", "target_width")
    if word == "cropping":
        for axis, (begin, end) in ((row, high), (row + 1, wide)):
            x = slice_axis(n, x, axis, begin, -end if end else FAR)
        return x
    pads = [[0] * x.type.rank for _ in range(2)]
    for side in range(2):
        pads[side][row : row + 2] = [high[side], wide[side]]
    return padded_by(n, x, [*pads[0], *pads[1]])


@layer("ops.ExtractPatches")
def patches(n: KerasLayer) -> Value:
    """Windows as channels, by a convolution that selects their elements."""
    count = n.tensor().type.rank - 2 + (n.tensor().type.rank == 3)
    size = n.integers("size", count)
    strides = n.integers("strides", count, size) if n.option("strides", None) else size

    def picked(x: Value) -> Value:
        channels = x.type.shape[1]
        if channels is None:
            raise n.error("the number of channels must be known")
        total = math.prod(size) * channels
        kernel = np.eye(total).reshape(total, *size, channels)
        return convolution(
            n, x, n.constant(np.moveaxis(kernel, -1, 1), x.type.element_type),
            strides=strides,
            dilations=n.integers("dilation_rate", count, 1),
            padding={"valid": "VALID", "same": "SAME_UPPER"}[n.option("padding", "valid")],
        )  # fmt: skip

    return _batched(n, picked)


@layer("ops.GaussianBlur")
def gaussian_blur(n: KerasLayer) -> Value:
    size = n.integers("kernel_size", 2, (3, 3))
    sigma = np.broadcast_to(n.option("sigma", 1.0), 2)

    def bell(count: int, width: float) -> np.ndarray:
        weights = np.exp(-0.5 * ((np.arange(count) - (count - 1) / 2) / width) ** 2)
        return weights / weights.sum()

    # Keras multiplies the second size's weights, as rows, with the first one's, and gives the
    # product the first size's rows.
    window = np.outer(bell(size[1], sigma[1]), bell(size[0], sigma[0])).reshape(size)

    def blurred(x: Value) -> Value:
        channels = x.type.shape[1]
        if channels is None:
            raise n.error("the number of channels must be known")
        kernel = n.constant(np.broadcast_to(window, (channels, 1, *size)), x.type.element_type)
        return convolution(
            n, x, kernel, strides=(1, 1), dilations=(1, 1), padding="SAME_UPPER", groups=channels
        )

    return _batched(n, blurred)


@layer("ops.AffineTransform")
def affine_transform(n: KerasLayer) -> Value:
    transform = operand(n, n.argument(1, "transform"), f32)
    transform = transform if transform.rank == 2 else transform.spread(1, 0)
    how = n.choice("interpolation", "bilinear", "nearest", default="bilinear")
    padding = FILLS[n.choice("fill_mode", *FILLS, default="constant")]
    fill = n.number("fill_value", 0) if padding == "zeros" else 0.0
    mode = "linear" if how == "bilinear" else how

    def turned(x: Term) -> Term:
        single = x.rank == 3
        x = Term(n, n.floating((x.spread(1, 0) if single else x).value))
        height, width = x.shape[1:3]
        if height is None or width is None:
            raise n.error("the size of the images must be known")
        value = (x - fill).value if fill else x.value
        found = Term(n, images.projected(n, value, transform, (height, width), mode, padding))
        found = found + fill if fill else found
        return found.column(0, 0) if single else found

    return n.cast(_last(n, turned), n.tensor().type.element_type)


@layer("ContrastLimitedAdaptiveHistogramEqualization")
def equalized_by_tiles(n: KerasLayer) -> Value:
    """Adaptive histogram equalization: each level becomes its cumulative share in a tile of the
    image, interpolated between tiles; frequent levels are clipped at a limit.
    """
    low, high = (float(v) for v in n.option("value_range", (0, 255)))
    grid = n.integers("tile_grid_size", 2, (8, 8))
    limit = n.number("clip_limit", 4.0)

    def equalized(x: Term) -> Term:
        single = x.rank == 3
        x = Term(n, n.floating((x.spread(1, 0) if single else x).value))
        height, width, channels = (n.extent(x.value, i) for i in (1, 2, 3))
        scaled = (x - low) * (255 / (high - low))
        tile = [-(-size // count) for size, count in zip((height, width), grid, strict=True)]
        whole = scaled
        for axis, size in ((1, height), (2, width)):
            more = tile[axis - 1] * grid[axis - 1] - size
            if more:
                places = np.pad(np.arange(size), (0, more), mode="symmetric")
                whole = whole.gather(constant(n, places), axis)
        levels = whole.cast(i32).max(0).min(255)
        shares = _shares(levels, grid, tile, channels, limit)
        found = _between_tiles(levels, shares, grid, tile, channels)
        found = found.part(1, 0, height).part(2, 0, width) * ((high - low) / 255) + low
        return found.column(0, 0) if single else found

    return n.cast(_last(n, equalized), n.tensor().type.element_type)


def _shares(
    levels: Term, grid: Sequence[int], tile: Sequence[int], channels: int, limit: float
) -> Term:
    """The new value of each level in each tile: [B, rows, columns, C, 256]"""
    n, count = levels.n, tile[0] * tile[1]
    parts = levels.reshape((levels.value, 0), grid[0], tile[0], grid[1], tile[1], channels)
    tiles = parts.transpose(0, 1, 3, 5, 2, 4).reshape((levels.value, 0), *grid, channels, count)
    counts = tiles.spread(0, 1).equals(constant(n, np.arange(256), i32)).cast(f32).sum(4)
    if limit > 0:
        kept = counts.min(limit * count / 256)
        counts = kept + (counts - kept).sum(4, keep=True) * (1 / 256)
    sums = counts.made(nn.Cumsum(counts.value, axis=4))
    least = -((-sums).largest(4, keep=True))
    rest = float(count) - least
    found = (sums - least) * 255.0 / rest.equals(0.0).choose(1.0, rest)
    return found.max(0.0).min(255.0)


def _between_tiles(
    levels: Term, shares: Term, grid: Sequence[int], tile: Sequence[int], channels: int
) -> Term:
    """Levels mapped by the four tiles around each pixel, weighted by distance."""
    n, places, weights = levels.n, [], []
    for count, size in zip(grid, tile, strict=True):
        at = (np.arange(count * size, dtype=np.float32) - size / 2) / size + 1
        first = np.floor(at)
        both = [np.clip(first + i, 0, count + 1).astype(np.int64) - 1 for i in (0, 1)]
        places.append([np.clip(place, 0, count - 1) for place in both])
        weights.append([1 - (at - first), at - first])
    flat = shares.flattened(1)
    total: Term | None = None
    for i in range(2):
        for j in range(2):
            tiles = places[0][i][:, None] * grid[1] + places[1][j]
            own = (tiles[..., None] * channels + np.arange(channels)) * 256
            index = levels.cast(i64) + constant(n, own)
            weight = weights[0][i][:, None, None] * weights[1][j][:, None]
            seen = Term(n, gathered(n, flat.value, index.value, 1, 1))
            part = seen * constant(n, weight, f32)
            total = part if total is None else total + part
    assert total is not None
    return total

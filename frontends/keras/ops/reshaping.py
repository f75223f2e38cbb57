"""Layers that move elements: shapes, orders, padding, cropping, repetition."""

from __future__ import annotations

from ...common.resampling import covered, sampled, weighted
from ...common.shapes import product
from ...common.tensorflow import CUBIC_STEPS
from ...common.vocabulary import *
from ..layer import KerasLayer, layer


def merged_batch(n: KerasLayer, x: Value) -> Value:
    """[B, T, ..] as [B * T, ..]"""
    return merge(n, x, ((0, 2), *((i, i + 1) for i in range(2, x.type.rank))))


def split_batch(n: KerasLayer, y: Value, x: Value) -> Value:
    """[B * T, ..] as [B, T, ..], which are the first extents of x."""
    return reshape(n, y, [(x, 0), (x, 1), *((y, i) for i in range(1, y.type.rank))])


def is_channels_first(n: KerasLayer) -> bool:
    """Whether channels stand behind the batch and not last."""
    formats = ("channels_last", "channels_first", None)
    found = n.option("data_format", None)
    if found not in formats:
        raise n.error(f"'data_format' is {found!r}, expected channels_last or channels_first")
    return found == "channels_first"


@layer("Reshape")
def reshape_layer(n: KerasLayer) -> Value:
    x = n.tensor()
    target = n.option("target_shape")
    wanted = [-1 if d is None else d for d in target]
    if not all(isinstance(d, int) for d in wanted) or wanted.count(-1) > 1:
        raise n.error(f"'target_shape' is {target!r}, expected integers")
    have, want = product(x.type.shape[1:]), product([d for d in wanted if d != -1])
    fits = have == want or (-1 in wanted and bool(want) and have is not None and not have % want)
    if have is not None and not fits:
        raise n.error(f"{have} elements do not fit shape {list(target)}")
    return reshape_by(n, x, shape_of(n, x), [(x, 0), *wanted])


@layer("Flatten")
def flatten_(n: KerasLayer) -> Value:
    x = n.tensor()
    rank = x.type.rank
    if rank > 2 and is_channels_first(n):
        x = n(nn.Transpose(x, permutation=(0, *range(2, rank), 1)))
    return merge(n, x, ((0, 1), (1, rank))) if rank > 1 else reshape(n, x, [(x, 0), 1])


@layer("Permute")
def permute(n: KerasLayer) -> Value:
    x = n.tensor()
    dims = n.integers("dims", x.type.rank - 1)
    return n(nn.Transpose(x, permutation=(0, *dims)))


@layer("RepeatVector")
def repeat_vector(n: KerasLayer) -> Value:
    x, count = n.tensor(), n.integer("n")
    row = reshape(n, x, [(x, 0), 1, (x, 1)])
    return broadcast(n, row, [(x, 0), count, (x, 1)])


def _pairs(n: KerasLayer, name: str, count: int) -> list[tuple[int, int]]:
    """What stands before and behind each dimension: one number, one for each, or two for each."""
    given = n.option(name)
    listed = [given] * count if isinstance(given, int) else list(given)
    if count == 1 and len(listed) == 2 and all(isinstance(v, int) for v in listed):
        listed = [listed]
    pairs = [(v, v) if isinstance(v, int) else tuple(v) for v in listed]
    if len(pairs) != count or not all(len(pair) == 2 for pair in pairs):
        raise n.error(f"'{name}' is {given!r}, expected two numbers for each of {count} dimensions")
    return pairs  # type: ignore[return-value]


@layer("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(n: KerasLayer) -> Value:
    x = n.tensor()
    first = 2 if is_channels_first(n) else 1
    pads = np.zeros((2, x.type.rank), np.int64)
    for i, pair in enumerate(_pairs(n, "padding", x.type.rank - 2)):
        pads[:, first + i] = pair
    return padded_by(n, x, pads.reshape(-1).tolist())


@layer("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(n: KerasLayer) -> Value:
    x = n.tensor()
    first = 2 if is_channels_first(n) else 1
    for i, (begin, end) in enumerate(_pairs(n, "cropping", x.type.rank - 2)):
        x = slice_axis(n, x, first + i, begin, -end if end else FAR)
    return x


@layer("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(n: KerasLayer) -> Value:
    x = n.tensor()
    count = x.type.rank - 2
    first = 2 if count > 1 and is_channels_first(n) else 1
    axes = tuple(range(first, first + count))
    times, how = n.integers("size", count, 2), n.option("interpolation", "nearest")
    if how in ("lanczos3", "lanczos5") and count == 2:
        own = _extents(n, x)[1]
        return _resampled(n, x, [a * b for a, b in zip(own, times, strict=True)], how, False)
    scales = n.constant(np.array(times, np.float32))
    return resized_by_scales(n, x, scales, axes, interpolation(n, how))


def interpolation(n: KerasLayer, name: str) -> dict:
    """How images are sampled: with half pixels, as in TensorFlow."""
    match str(name).lower():
        case "nearest":
            return {"mode": "nearest", "nearest_mode": "round_prefer_ceil"}
        case "bilinear":
            return {"mode": "linear", "exclude_outside": False}
        case "bicubic":
            how = {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": True}
            return how | {"cubic_steps": CUBIC_STEPS}
    raise n.error(f"interpolation '{name}' is not supported, expected nearest, bilinear or bicubic")


@layer("Resizing")
def resizing(n: KerasLayer) -> Value:
    return resized_in_ratio(n, [n.integer("height"), n.integer("width")])


def resized_in_ratio(n: KerasLayer, size: list[int]) -> Value:
    """Images in a size, cropped or padded to its ratio before, where the layer says so."""
    x = in_ratio(n, n.tensor(), size)
    how, smooth = n.option("interpolation", "bilinear"), n.option("antialias", False)
    if how in ("nearest", "bilinear", "bicubic") and (not smooth or how == "nearest"):
        return resized_image(n, x, size, how)
    return _resampled(n, x, size, how, bool(smooth))


def in_ratio(n: KerasLayer, x: Value, size: Sequence[int]) -> Value:
    """Images cropped or padded to the ratio of a size, where the layer says so."""
    crops = bool(n.option("crop_to_aspect_ratio", False))
    if not crops and not n.option("pad_to_aspect_ratio", False):
        return x
    return with_aspect(n, x, size, crops)


def _extents(n: KerasLayer, x: Value) -> tuple[int, list[int]]:
    """The axis of an image's rows, and its height and width."""
    first = x.type.rank - (2 if is_channels_first(n) else 3)
    known = [d for d in x.type.shape[first : first + 2] if d is not None]
    if len(known) != 2:
        raise n.error("the height and the width of the images must be known; give the shape")
    return first, known


def with_aspect(n: KerasLayer, x: Value, size: Sequence[int], crops: bool) -> Value:
    """Images in the ratio of a size, by rows or columns taken away or added at both sides."""
    first, own = _extents(n, x)
    for axis, (have, other, here, there) in enumerate(
        zip(own, own[::-1], size, size[::-1], strict=True), first
    ):
        want = int(np.float32(other * here) / np.float32(there))
        if crops:
            want = max(min(have, want), 1)
            begin = (have - want) // 2
            x = slice_axis(n, x, axis, begin, begin + want)
        elif want > have + 1:
            pads = [(want - have) // 2 if i == axis else 0 for i in range(x.type.rank)]
            fill = n.scalar(n.option("fill_value", 0.0), x)
            x = padded_by(n, x, [*pads, *pads], fill)
    return x


SMOOTH = {"bilinear": "triangle", "bicubic": "keyscubic"}
"""What an interpolation is with antialiasing; others are called as they are."""


def _resampled(n: KerasLayer, x: Value, size: Sequence[int], how: str, smooth: bool) -> Value:
    """Images by weights of their rows and columns, as `tf.image.resize` has them."""
    _, own = _extents(n, x)
    kind = SMOOTH.get(how, how)
    if x.type.rank != 4 or kind not in (*SMOOTH.values(), "lanczos3", "lanczos5", "area"):
        raise n.error(f"interpolation '{how}' of '{x.type}' is not supported")
    pairs = list(zip(own, size, strict=True))
    if kind == "area":
        weights = [covered(*pair) for pair in pairs]
    else:
        weights = [sampled(a, b, b / a, 0, kind, smooth) for a, b in pairs]
    return in_last(n, x, lambda images: weighted(n, images, *weights))


def in_last(n: KerasLayer, x: Value, work: Callable[[Value], Value]) -> Value:
    """What is done on images [N, H, W, C], wherever the layer has their channels."""
    if not is_channels_first(n):
        return work(x)
    return channels_first(n, work(channels_last(n, x)))


def resized_image(n: KerasLayer, x: Value, size: Sequence[int], how: str, **more) -> Value:
    """Images [.., H, W, C] or [.., C, H, W] in another size."""
    first = x.type.rank - (2 if is_channels_first(n) else 3)
    sizes = n.constant(np.array(size, np.int64))
    return resized(n, x, sizes, (first, first + 1), interpolation(n, how) | more)


@layer("CenterCrop")
def center_crop(n: KerasLayer) -> Value:
    x = n.tensor()
    size = [n.integer("height"), n.integer("width")]
    first, extents = _extents(n, x)
    if any(d < s for d, s in zip(extents, size, strict=True)):
        n.keeps_types = True
        return n.cast(resized_image(n, with_aspect(n, x, size, crops=True), size, "bilinear"), f32)
    for axis, (have, want) in enumerate(zip(extents, size, strict=True), first):
        begin = (have - want) // 2
        x = slice_axis(n, x, axis, begin, begin + want)
    return x

"""Layers that resize images, also of extents known only at run time."""

from __future__ import annotations

from ...common.quantization import saturated
from ...common.resampling import covered, sampled, sampled_late, weighted
from ...common.tensorflow import CUBIC_STEPS
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .reshaping import is_channels_first


@layer("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(n: KerasLayer) -> Value:
    x = n.tensor()
    count = x.type.rank - 2
    first = 2 if count > 1 and is_channels_first(n) else 1
    axes = tuple(range(first, first + count))
    times, how = n.integers("size", count, 2), n.option("interpolation", "nearest")
    if how in ("lanczos3", "lanczos5") and count == 2:
        return _resampled(n, x, [d * by for d, by in zip(_sizes(n, x)[1], times, strict=True)], how)
    scales = n.constant(np.array(times, np.float32))
    return resized_by_scales(n, x, scales, axes, interpolation(n, how))


def interpolation(n: KerasLayer, name: str) -> dict:
    """The sampling options of nn.resize: with half pixels, as in TensorFlow."""
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
    """Images of the layer's size; those of integers are rounded to even, and saturated."""
    x, size = n.tensor(), [n.integer("height"), n.integer("width")]
    element = x.type.element_type
    if not isinstance(element, IntegerType):
        return resized_in_ratio(n, x, size)
    return saturated(n, resized_in_ratio(n, n.cast(x, f32), size), None, element)


def resized_in_ratio(n: KerasLayer, x: Value, size: list[int]) -> Value:
    """Resized images, first cropped or padded to the target's aspect ratio if requested."""
    x = in_ratio(n, x, size)
    how, smooth = n.option("interpolation", "bilinear"), n.option("antialias", False)
    if how in ("nearest", "bilinear", "bicubic") and (not smooth or how == "nearest"):
        return resized_image(n, x, size, how)
    return _resampled(n, x, size, how, bool(smooth))


def in_ratio(n: KerasLayer, x: Value, size: Sequence[int]) -> Value:
    """Images cropped or padded to the aspect ratio of a size, if the layer requests it."""
    crops = bool(n.option("crop_to_aspect_ratio", False))
    if not crops and not n.option("pad_to_aspect_ratio", False):
        return x
    return with_aspect(n, x, size, crops)


def _sizes(n: KerasLayer, x: Value) -> tuple[int, list[Any]]:
    """The axis of image rows, and height and width, as terms if one is unknown."""
    first = x.type.rank - (2 if is_channels_first(n) else 3)
    known = x.type.shape[first : first + 2]
    if None in known:
        return first, [extent(n, (x, first + i)) for i in range(2)]
    return first, list(known)


def with_aspect(n: KerasLayer, x: Value, size: Sequence[int], crops: bool) -> Value:
    """Images with the aspect ratio of a size, by rows or columns cut or added on both sides."""
    first, own = _sizes(n, x)
    for axis, (have, want) in enumerate(zip(own, _in_aspect(own, size), strict=True), first):
        if crops:
            x = _middle(n, x, axis, have, _most(_least(want, have), 1))
        else:
            side = _most(want - have, 0)
            x = _padded(n, x, axis, side // 2 if isinstance(side, int) else side / 2)
    return x


def _in_aspect(own: Sequence[Any], size: Sequence[int]) -> list[Any]:
    """[height, width], each computed from the other one and the aspect ratio of `size`."""
    found = []
    for other, here, there in zip(own[::-1], size, size[::-1], strict=True):
        if isinstance(other, int):
            found.append(int(np.float32(other * here) / np.float32(there)))
        else:
            found.append(((other * here).cast(f32) / float(there)).cast(i64))
    return found


def _least(a: Any, b: Any) -> Any:
    """The smaller of two numbers, of which the first may be a term."""
    return a.min(b) if isinstance(a, Term) else min(a, b)


def _most(a: Any, b: Any) -> Any:
    """The larger of two numbers, of which the first may be a term."""
    return a.max(b) if isinstance(a, Term) else max(a, b)


def _middle(n: KerasLayer, x: Value, axis: int, have: Any, want: Any) -> Value:
    """The `want` middle elements of an axis."""
    if isinstance(want, int) and isinstance(have, int):
        begin = (have - want) // 2
        return slice_axis(n, x, axis, begin, begin + want)
    begin = (have - want) / 2
    return slice_axis(n, x, axis, begin.value, (begin + want).value)


def _padded(n: KerasLayer, x: Value, axis: int, side: Any) -> Value:
    """Both sides of an axis padded by `side` elements."""
    rank, fill = x.type.rank, n.scalar(n.option("fill_value", 0.0), x)
    own = constant(n, np.array([side])) if isinstance(side, int) else side.reshape(1)
    none = constant(n, np.zeros(1, np.int64))
    pads = joined([own if i % rank == axis else none for i in range(2 * rank)], 0)
    return x if side == 0 else pad_by_vector(n, x, pads.value, fill)


SMOOTH = {"bilinear": "triangle", "bicubic": "keyscubic"}
"""The name of an interpolation with antialiasing, if it differs from Keras' name."""


def _resampled(
    n: KerasLayer, x: Value, size: Sequence[Any], how: str, smooth: bool = False
) -> Value:
    """Images resized by weights of rows and columns, as in `tf.image.resize`."""
    kind = SMOOTH.get(how, how)
    if x.type.rank != 4 or kind not in (*SMOOTH.values(), "lanczos3", "lanczos5", "area"):
        raise n.error(f"interpolation '{how}' of '{x.type}' is not supported")
    pairs = list(zip(_sizes(n, x)[1], size, strict=True))
    if isinstance(pairs[0][0], Term):
        weights = [sampled_late(own, count, kind, smooth) for own, count in pairs]
    elif kind == "area":
        weights = [covered(*pair) for pair in pairs]
    else:
        weights = [sampled(a, b, b / a, 0, kind, smooth) for a, b in pairs]
    return in_last(n, x, lambda images: weighted(n, images, *weights))


def in_last(n: KerasLayer, x: Value, work: Callable[[Value], Value]) -> Value:
    """Apply `work` to images [N, H, W, C], whatever the layer's layout."""
    if not is_channels_first(n):
        return work(x)
    return channels_first(n, work(channels_last(n, x)))


def resized_image(n: KerasLayer, x: Value, size: Sequence[int], how: str, **more) -> Value:
    """Images [.., H, W, C] or [.., C, H, W] resized."""
    first = x.type.rank - (2 if is_channels_first(n) else 3)
    sizes = n.constant(np.array(size, np.int64))
    return resized(n, x, sizes, (first, first + 1), interpolation(n, how) | more)


@layer("RandomCrop")
def random_crop(n: KerasLayer) -> Value:
    """x unchanged in Keras 3, which crops in training only; Keras 2 resizes the largest part in
    the target's aspect ratio.
    """
    x = n.tensor()
    version = n.builder.graph.producer
    if not version.startswith(("1.", "2.")):
        return x
    if version.startswith(("1.", *(f"2.{minor}." for minor in range(7)))):
        raise n.error(f"Keras {version} resizes before it crops, which is not supported")
    size = [n.integer("height"), n.integer("width")]
    x = with_aspect(n, n.cast(x, n.element), size, crops=True)
    return resized_image(n, x, size, "bilinear")


@layer("CenterCrop")
def center_crop(n: KerasLayer) -> Value:
    """The middle of images; of smaller ones the largest fitting part, resized, in f32."""
    x, size = n.tensor(), [n.integer("height"), n.integer("width")]
    first, own = _sizes(n, x)
    if isinstance(own[0], Term):
        return _late_center(n, x, first, size)
    if any(have < want for have, want in zip(own, size, strict=True)):
        n.keeps_types = True
        return n.cast(resized_image(n, with_aspect(n, x, size, crops=True), size, "bilinear"), f32)
    for axis, (have, want) in enumerate(zip(own, size, strict=True), first):
        x = _middle(n, x, axis, have, want)
    return x


def _late_center(n: KerasLayer, x: Value, first: int, size: Sequence[int]) -> Value:
    """`center_crop` for images of unknown extents, which resizes the fitting part if needed."""
    if n.result is not f32:
        raise n.error("the type of the result depends on the images' extents; give the shape")
    _, own = _sizes(n, x)
    fits = (own[0] >= size[0]) & (own[1] >= size[1])
    wanted = [
        fits.choose(constant(n, count, i64), _most(_least(part, have), 1))
        for have, count, part in zip(own, size, _in_aspect(own, size), strict=True)
    ]
    for axis, (have, want) in enumerate(zip(own, wanted, strict=True), first):
        x = _middle(n, x, axis, have, want)
    return resized_image(n, x, size, "bilinear")

"""Layers of single elements and of images."""

from __future__ import annotations

from ...common.blocks import reorganized
from ...common.vocabulary import *
from ...common.windows import check_fit
from ..layer import DarknetLayer, image, of_images, rows
from .activations import activated
from .weighted import blurred, normalized

# -- single elements -------------------------------------------------------------------------------


rows.formulas(
    {
        "dropout cost contrastive empty silence": lambda n, x, *rest: x,
        "activation": lambda n, x: activated(n, x, n.text("activation", "linear")),
        "logistic": lambda n, x: activated(n, x, "logistic"),
    }
)


@of_images("local_avgpool", "local_avg")
def local_mean(n: DarknetLayer, x: Value) -> Value:
    return average_pooled(n, x, _windows(n, x)[0])


@of_images("avgpool", "avg")
def mean(n: DarknetLayer, x: Value) -> Value:
    return reduced(n, x, nn.ReduceMean, (2, 3), keep=True)


@rows("l2norm")
def of_length_one(n: DarknetLayer, x: Value) -> Value:
    """Channels divided by their Euclidean norm."""
    term = Term(n, x)
    return (term / (term * term).sum(1, keep=True).function(nn.Sqrt)).value


@rows("batchnorm")
def batchnorm(n: DarknetLayer, x: Value) -> Value:
    count = n.extent(x, 1)
    bias, *statistics = (n.matrix(v, count) for v in ("bias", "scale", "mean", "variance"))
    return normalized(n, x, bias, statistics)


@rows("softmax", "soft")
def softmax(n: DarknetLayer, x: Value) -> Value:
    """Softmax over all elements of an image, or over those of each group."""
    if n.text("tree"):
        raise n.error("a tree of classes is not supported")
    groups, temperature = n.int("groups", 1), n.float("temperature", 1.0)
    scaled = x if temperature == 1 else (Term(n, x) / temperature).value
    flat = flatten(n, scaled, 1)
    size = n.extent(flat, 1)
    if groups < 1 or size % groups:
        raise n.error(f"{size} elements do not split into {groups} groups")
    parts = reshape(n, flat, [(flat, 0), groups, size // groups])
    return reshape(n, n(nn.Softmax(parts, axis=2)), dims(x))


@of_images("shortcut")
def shortcut(n: DarknetLayer, *inputs: Value) -> Value:
    """The last layer plus others, cropped to its channels and extents."""
    *others, x = inputs
    if n.float("beta"):
        raise n.error("option 'beta' is not supported")
    alpha, count = n.float("alpha", 1.0), n.extent(x, 1)
    shares = _shares(n, len(inputs), count)
    total = Term(n, x) if alpha == 1 else Term(n, x) * alpha
    total = total * shares[0] if shares else total
    for i, other in enumerate(others, 1):
        for axis in (2, 3):  # of larger images, every second or so element
            here, there = x.type.shape[axis], other.type.shape[axis]
            if here and there and there > here:
                other = slice_axis(n, other, axis, 0, there // here * here, there // here)
        have = n.extent(other, 1)
        if have > count:
            other = slice_axis(n, other, 1, 0, count)
        elif have < count:
            other = padded_by(n, other, (0, 0, 0, 0, 0, count - have, 0, 0))
        total = total + (Term(n, other) * shares[i] if shares else Term(n, other))
    return activated(n, total.value, n.text("activation", "linear"))


def _shares(n: DarknetLayer, inputs: int, channels: int) -> list[Term]:
    """The factors of the inputs, the section's own first: a number, or one per channel."""
    kind, how = n.text("weights_type", "none"), n.text("weights_normalization", "none")
    if kind == "none":
        return []
    counts = {"per_feature": 1, "per_layer": 1, "per_channel": channels}
    if kind not in counts or how not in ("none", "relu", "avg_relu", "softmax"):
        raise n.error(f"weights '{kind}', normalized by '{how}', are not supported")
    weights = Term(n, n.matrix("weight", inputs, 1, counts[kind], 1, 1))
    if how == "softmax":
        weights = (weights - weights.largest(0, keep=True)).function(nn.Exp)
    if how != "none":
        weights = weights.max(0.0)
        weights = weights / (weights.sum(0, keep=True) + 1e-4)
    return [weights.column(i, axis=0) for i in range(inputs)]


@rows("shift_channels")
def shifted(n: DarknetLayer, other: Value, x: Value) -> Value:
    return activated(n, n(nn.Add(*_alike(n, (other, x)))), n.text("activation", "linear"))


@rows("scale_channels", "sam", "control_channels")
def scaled(n: DarknetLayer, other: Value, x: Value) -> Value:
    return activated(n, n(nn.Mul(*_alike(n, (other, x)))), n.text("activation", "linear"))


@of_images("lrn", "normalization")
def lrn(n: DarknetLayer, x: Value) -> Value:
    """x over a power of the sum of squares of nearby channels.

    As trained nets expect, the sum starts without the last channels of the first window and never
    adds them, but subtracts them when they would leave it.
    """
    count, size = n.extent(x, 1), n.int("size", 5)
    if count > 4096 or size < 1:
        raise n.error(f"{count} channels in windows of {size}")
    near = np.zeros((count, count), np.float32)
    near[0, : size // 2] = 1
    for k in range(1, count):
        near[k] = near[k - 1]
        before, behind = k - (size - 1) // 2 - 1, k + size // 2
        near[k, before : before + 1] -= before >= 0
        near[k, behind : behind + 1] += 1
    squares = (Term(n, x) * Term(n, x)).value
    weight = n.constant(near.reshape(count, count, 1, 1) * np.float32(n.float("alpha", 1e-4)))
    total = Term(n, convolution(n, squares, weight)) + n.float("kappa", 1.0)
    return (Term(n, x) * total ** -n.float("beta", 0.75)).value


# -- images ----------------------------------------------------------------------------------------


@of_images("crop")
def crop(n: DarknetLayer, x: Value) -> Value:
    """The middle of images, scaled to [-1, 1]."""
    for axis, name in ((2, "crop_height"), (3, "crop_width")):
        extent, wanted = n.extent(x, axis), n.int(name, 1)
        if not 0 < wanted <= extent:
            raise n.error(f"{wanted} of {extent} elements")
        begin = (extent - wanted) // 2
        x = slice_axis(n, x, axis, begin, begin + wanted)
    return x if n.int("noadjust") else (Term(n, x) * 2.0 - 1.0).value


def _windows(n: DarknetLayer, x: Value) -> tuple[Windows, tuple[int, int]]:
    """The windows, and the strides of the blur after them, which replace the section's."""
    stride = n.int("stride", 1)
    size, strides = n.int("size", stride), (n.int("stride_y", stride), n.int("stride_x", stride))
    padding = n.int("padding", size - 1)
    if size < 1 or min(strides) < 1:
        raise n.error(f"windows of {size} at strides {list(strides)}")
    small, large = padding // 2, padding - padding // 2
    pads = small, small, large, large
    check_fit(n, x, (size, size), pads)
    inner = (1, 1) if n.int("antialiasing") else strides
    return Windows((size, size), inner, pads), strides


@of_images("maxpool", "max")
def maxpool(n: DarknetLayer, x: Value) -> Value:
    if n.int("maxpool_depth"):
        return _of_channels(n, x, n.int("out_channels", 1))
    windows, strides = _windows(n, x)
    found, blurs = max_pooled(n, x, windows), n.int("antialiasing")
    return blurred(n, found, strides, blurs) if blurs else found


def _of_channels(n: DarknetLayer, x: Value, wanted: int) -> Value:
    """The largest of each group of `wanted` channels; missing ones are ignored."""
    count = n.extent(x, 1)
    if wanted < 1 or x.type.rank != 4:
        raise n.error(f"{count} channels as {wanted}")
    more = -count % wanted
    x = padded_by(n, x, (0, 0, 0, 0, 0, more, 0, 0), -np.inf)
    own = [(x, i) for i in range(4)]
    apart = Term(n, x).reshape(own[0], (count + more) // wanted, wanted, *own[2:])
    return apart.largest(1).value


def _alike(n: DarknetLayer, inputs: Sequence[Value]) -> list[Value]:
    """The inputs, all as images if one is an image."""
    ranks = {x.type.rank for x in inputs}
    return list(inputs) if len(ranks) == 1 else [image(n, x) for x in inputs]


@rows("route")
def route(n: DarknetLayer, *inputs: Value) -> Value:
    groups, group = n.int("groups", 1), n.int("group_id")
    parts = _alike(n, inputs)
    if groups != 1:
        counts = [n.extent(x, 1) for x in parts]
        if groups < 1 or not 0 <= group < groups or any(c % groups for c in counts):
            raise n.error(f"group {group} of {groups} in layers of {counts} channels")
        sizes = [count // groups for count in counts]
        parts = [
            slice_axis(n, x, 1, size * group, size * (group + 1))
            for x, size in zip(parts, sizes, strict=True)
        ]
    return concat(n, parts, 1)


@of_images("upsample")
def upsample(n: DarknetLayer, x: Value) -> Value:
    stride = n.int("stride", 2)
    if stride < 1:
        raise n.error(f"a stride of {stride}")
    how = {"mode": "nearest", "coordinate_transform": "asymmetric", "nearest_mode": "floor"}
    scales = n.constant(np.full(2, stride, np.float32))
    found = resized_by_scales(n, x, scales, (2, 3), how)
    factor = n.float("scale", 1.0)
    return found if factor == 1 else (Term(n, found) * factor).value


@of_images("reorg")
def reorg(n: DarknetLayer, x: Value) -> Value:
    s = n.int("stride", 1)
    if n.int("reverse"):
        return n(nn.DepthToSpace(x, block=s, mode="DCR"))
    return reorganized(n, x, s)


@of_images("reorg3d")
def squares(n: DarknetLayer, x: Value) -> Value:
    """Squares of pixels as channels, the position in a square outermost."""
    if n.int("reverse"):
        raise n.error("option 'reverse' is not supported")
    return n(nn.SpaceToDepth(x, block=n.int("stride", 1)))

"""Dense layers, embeddings, masks, and layers without effect at inference."""

from __future__ import annotations

from ...common.vocabulary import *
from ..functions import activated
from ..layer import ROWS, KerasLayer, called, element_type, layer
from .quantized import kernel_shape, product, tables_of, weights_of
from .reshaping import merged_batch, split_batch

IDENTITIES = (
    "ActivityRegularization", "AlphaDropout", "AugMix", "Dropout", "CutMix", "MaxNumBoundingBoxes",
    "GaussianDropout", "GaussianNoise", "Identity", "MixUp", "RandAugment", "RandomBrightness",
    "RandomColorDegeneration", "RandomColorJitter", "RandomContrast", "RandomElasticTransform",
    "RandomErasing", "RandomFlip", "RandomGaussianBlur", "RandomGrayscale", "RandomHue",
    "RandomInvert", "RandomPerspective", "RandomPosterization", "RandomRotation",
    "RandomSaturation", "RandomSharpness", "RandomShear", "RandomTranslation", "RandomZoom",
    "Solarization", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "StochasticDepth",
    "ops.StopGradient", "ops.Copy", "ops.ConvertToTensor", "ops.Identity",
    "tf.identity", "tf.stop_gradient", "TFDIdentity",
)  # fmt: skip
"""Layers that are the identity except in training."""

ROWS.add(dict.fromkeys(IDENTITIES, called(lambda n: n.tensor())))


@layer("AutoContrast")
def auto_contrast(n: KerasLayer) -> Value:
    """Each channel stretched from its own range to the full range of values."""
    low, high = map(float, n.option("value_range", (0, 255)))
    x = Term(n, n.tensor())
    axes = (x.rank - 3, x.rank - 2)
    least = -(-x).largest(*axes, keep=True)
    span = x.largest(*axes, keep=True) - least
    y = ((x - least) / span).max(0.0).min(1.0) * (high - low) + low
    return y.equals(y).choose(y, x).value


@layer("Lambda")
def function(n: KerasLayer) -> Value:
    raise n.error(
        "its function is Python code, which is never executed; write it with layers or keras.ops"
    )


@layer("Dense")
def dense(n: KerasLayer) -> Value:
    kernel, bias, scale = weights_of(n, bool(n.option("use_bias", True)))
    x = n.tensor()
    if x.type.shape[-1] not in (None, kernel.type.shape[0]):
        raise n.error(f"the input is '{x.type}', but the kernel has {kernel.type.shape[0]} rows")
    if scale is None:
        y = n(nn.Matmul(x, kernel))
    else:
        letters = "abcdefgh"[: x.type.rank - 1]
        y = product(n, f"{letters}y,yz->{letters}z", x, kernel, scale)
    for value in bias:
        y = n(nn.Add(y, value))
    return activated(n, y, n.option("activation", None))


@layer("EinsumDense")
def einsum_dense(n: KerasLayer) -> Value:
    equation, x = n.option("equation"), n.tensor()
    shape = kernel_shape(n, equation, x) if n.quantization else None
    kernel, bias, scale = weights_of(n, bool(n.option("bias_axes", None)), shape)
    y = product(n, equation, x, kernel, scale)
    for value in bias:
        y = n(nn.Add(y, value))
    return activated(n, y, n.option("activation", None))


@layer("Embedding")
def embedding(n: KerasLayer) -> list[Value]:
    if n.quantization == "int8":
        table, _, scale = weights_of(n, bias=False)
        return _looked_up(n, table, scale)
    (table, *_), _ = tables_of(n)
    return _looked_up(n, table)


def _looked_up(n: KerasLayer, table: Value, scale: Value | None = None) -> list[Value]:
    """Rows of a table, divided by their scales, if any; and the mask that the layer makes."""
    given = n.tensor()
    indices = n.cast(given, i32)
    found = gathered(n, table, indices)
    if scale is not None:
        steps = Term(n, scale).gather(Term(n, indices))
        found = (Term(n, found).cast(n.element) / steps.spread(0, 1)).value
    if not n.option("mask_zero", False):
        return [found]
    return [found, n(nn.Not(n(nn.Equal(given, n.scalar(0, given)))))]


@layer("ReversibleEmbedding")
def reversible_embedding(n: KerasLayer) -> Value | list[Value]:
    """Rows of a table at indices; with `reverse`, the products of x and the table's rows."""
    (table, *more), scale = tables_of(n)
    x, cap, named = n.tensor(), n.option("logit_soft_cap", None), n.option("reverse_dtype", None)
    if not n.argument(1, "reverse", False):
        return _looked_up(n, table)
    across = more[0] if more else n(nn.Transpose(table, permutation=(1, 0)))
    wide = n.element if named is None else element_type(named) or f32
    letters = "abcdefgh"[: x.type.rank - 1]
    equation = f"{letters}y,yz->{letters}z"
    logits = Term(n, product(n, equation, n.cast(x, wide), n.cast(across, wide), scale))
    n.keeps_types = True
    return (logits if not cap else (logits / cap).function(nn.Tanh) * cap).value


@layer("Masking")
def masking(n: KerasLayer) -> list[Value]:
    x = n.tensor()
    counts = n(nn.Not(n(nn.Equal(x, n.scalar(n.number("mask_value", 0.0), x)))))
    last = (x.type.rank - 1,)
    some = reduced(n, n.cast(counts, IntegerType(8, "u")), nn.ReduceMax, last, keep=True)
    steps = Term(n, some) > 0
    mask = reshape(n, steps.value, [(x, i) for i in range(x.type.rank - 1)])
    return [steps.choose(Term(n, x), 0.0).value, mask]


@layer("TimeDistributed")
def time_distributed(n: KerasLayer) -> Value:
    """The nested layer on all steps of all sequences at once.

    Raises NncError for a quantized layer: Keras calls its function of floats, without the scales.
    """
    policy = n.config["layer"]["config"].get("dtype")
    mode = (policy.get("config") or {}).get("mode") if isinstance(policy, dict) else None
    if mode:
        raise n.error(f"Keras ignores that the layer inside is quantized ({mode}), and its scales")
    x, mask = n.tensor(), n.mask
    (y,) = n.graph("layer", *(merged_batch(n, v) for v in (x, mask) if v is not None))
    return split_batch(n, y, x)


@layer("CategoryEncoding")
def category_encoding(n: KerasLayer) -> Value:
    x, weights = n.tensor(), n.argument(1, "count_weights")
    found = encoded(n, x, n.integer("num_tokens"), n.option("output_mode", "multi_hot"), weights)
    n.keeps_types = weights is None  # results have the type of variables, but of weighted counts
    return n.cast(found, n.element) if n.keeps_types else found


def categories(n: KerasLayer, x: Value, depth: int) -> Value:
    """Category indices for `nn.one_hot`, in which negative ones do not count from the end."""
    number = Term(n, n.cast(x, i64))
    return (number < 0).choose(depth, number).value


def encoded(n: KerasLayer, x: Value, depth: int, mode: str, weights: Value | None = None) -> Value:
    """Category numbers in Keras' encoding `mode`: as vectors of `depth` elements for one_hot,
    multi_hot and count, unchanged for int.
    """
    if mode == "int":
        return x
    if mode not in ("one_hot", "multi_hot", "count"):
        raise n.error(f"'output_mode' is '{mode}', expected one_hot, multi_hot, count or int")
    if mode == "one_hot" and x.type.shape[-1] == 1 and x.type.rank > 1:
        x = reshape(n, x, [(x, i) for i in range(x.type.rank - 1)])
    rank = x.type.rank
    values = n.constant(np.array([0, 1], np.float32))
    hot = one_hot(n, categories(n, x, depth), n.constant(depth, i64), values, rank)
    if mode == "one_hot":
        return hot
    if weights is not None:
        column = reshape(n, weights, [*((weights, i) for i in range(weights.type.rank)), 1])
        hot = n(nn.Mul(hot, n.cast(column, hot.type.element_type)))
    reduce = nn.ReduceMax if mode == "multi_hot" else nn.ReduceSum
    axes = (min(1, rank - 1),)
    found = reduced(n, hot, reduce, axes) if rank else hot
    may_be_empty = rank and x.type.shape[axes[0]] in (None, 0)
    # The largest of nothing, as of a text without words, is the least number of the type.
    return n(nn.Max(found, n.scalar(0, found))) if may_be_empty and mode == "multi_hot" else found


@layer("Discretization")
def discretization(n: KerasLayer) -> Value:
    given = n.option("bin_boundaries")
    if given is None:
        raise n.error("it has no bounds: it was not adapted")
    bounds = np.sort(np.asarray(given, np.float32))
    x = n.tensor()
    column = Term(n, n.cast(x, f32)).reshape(*((x, i) for i in range(x.type.rank)), 1)
    below = column < Term(n, n.constant(bounds, f32))
    bins = (~below).cast(i32).sum(column.rank - 1)
    found = encoded(n, bins.value, len(bounds) + 1, n.option("output_mode", "int"))
    is_whole = found.type.element_type is i32 and not n.is_old
    return found if is_whole else n.cast(found, n.result)

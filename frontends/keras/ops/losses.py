"""Losses of `keras.ops`, image similarities, and further operations of matrices and images."""

from __future__ import annotations

from ...common import linear_algebra
from ...common.loops import Iteration, while_loop
from ...common.vocabulary import *
from ..functions import sparsemax
from ..layer import KerasLayer, layer
from .functions import add, operand, two

LEAST = 1e-7
"""The least probability of which a logarithm is taken."""
FAR_BELOW = -1e30
"""Stands for the logarithm of 0."""


def _pair(n: KerasLayer) -> tuple[Term, Term]:
    """The targets and the predictions, as floats."""
    target, output = (Term(n, n.floating(v.value)) for v in two(n))
    return target, output


@layer("ops.BinaryCrossentropy")
def binary_crossentropy(n: KerasLayer) -> Value:
    target, x = _pair(n)
    if n.option("from_logits", False):
        rest = (-x.function(nn.Abs)).function(nn.Exp).function(nn.Log1p)
        return (x.max(0.0) - x * target + rest).value
    p = x.max(LEAST).min(1 - LEAST)
    no = 1.0 - p
    return (-(target * p.function(nn.Log) + (1.0 - target) * no.function(nn.Log))).value


def _logs(n: KerasLayer, x: Term, axis: int, whole: bool) -> Term:
    """Log-probabilities, from logits or from probabilities."""
    if n.option("from_logits", False):
        return x.made(nn.LogSoftmax(x.value, axis=axis))
    share = x / x.sum(axis, keep=True) if whole else x
    return share.max(LEAST).min(1 - LEAST).function(nn.Log)


@layer("ops.CategoricalCrossentropy")
def crossentropy(n: KerasLayer) -> Value:
    target, x = _pair(n)
    axis = normalize_axis(n, n.integer("axis", -1), x.rank)
    return (-(target * _logs(n, x, axis, whole=True)).sum(axis)).value


@layer("ops.SparseCategoricalCrossentropy")
def sparse_crossentropy(n: KerasLayer) -> Value:
    """The cross entropy with class indices as targets."""
    target, x = Term(n, n.cast(n.tensor(), i64)), Term(n, n.floating(n.tensor(1)))
    axis = normalize_axis(n, n.integer("axis", -1), x.rank)
    logs = _logs(n, x, axis, whole=False)
    if not n.option("from_logits", False):
        logs = logs.made(nn.LogSoftmax(logs.value, axis=axis))
    if target.rank == x.rank:
        target = target.column(0, axis)
    classes = constant(n, np.arange(n.extent(x.value, axis)))
    order = [i for i in range(x.rank) if i != axis]
    logs = logs.transpose(*order, axis)
    return (-target.spread(0, 1).equals(classes).choose(logs, 0.0).sum(x.rank - 1)).value


@layer("ops.PSNR")
def noise_ratio(n: KerasLayer) -> Value:
    """The peak signal-to-noise ratio in decibels."""
    a, b = _pair(n)
    apart = (a - b).flat()
    mean = (apart * apart).mean(0)
    scale = 10 / math.log(10)
    return (-(mean.function(nn.Log) * scale) + 20 * math.log10(n.number("max_val"))).value


@layer("ops.CTCLoss")
def ctc_loss(n: KerasLayer) -> Value:
    """-log(probability that the steps spell the labels): labels [B, L], scores [B, T, C] -> [B]

    By running sums over the labels with a blank around each. Source: Graves et al., "Connectionist
    temporal classification" (2006).
    """
    labels, x, label_count, step_count = (
        Term(n, n.argument(i, name))
        for i, name in enumerate(("target", "output", "target_length", "output_length"))
    )
    labels, label_count, step_count = (v.cast(i64) for v in (labels, label_count, step_count))
    count, classes = n.extent(labels.value, 1), n.extent(x.value, 2)
    blank = n.integer("mask_index", 0) % classes
    logs = x.made(nn.LogSoftmax(n.floating(x.value), axis=2))
    blanks = labels.spread(0, 1) * 0 + blank
    pairs = joined([blanks, labels.spread(0, 1)], 2).reshape((labels.value, 0), 2 * count)
    places = joined([pairs, blanks.column(0, 1)], 1)
    seen = Term(n, gathered(n, logs.value, places.value, 2, 1)).transpose(1, 0, 2)
    index = constant(n, np.arange(2 * count + 1))
    far = constant(n, FAR_BELOW, f32)

    def back(v: Term, by: int, fill: Term) -> Term:
        moved = padded_by(n, v.value, [0, by, 0, 0], fill.value)
        return Term(n, moved).part(1, 0, 2 * count + 1)

    jumps = ~places.equals(blank) & ~places.equals(back(places, 2, constant(n, blank, i64)))

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        sums, at = Term(n, states[0]), Term(n, number) + 1
        three = [sums, back(sums, 1, far), jumps.choose(back(sums, 2, far), far)]
        most = three[0].max(three[1]).max(three[2])
        parts = [(v - most).function(nn.Exp) for v in three]
        after = most + (parts[0] + parts[1] + parts[2]).function(nn.Log) + seen.gather(at)
        return Iteration([(at < step_count).spread(0, 1).choose(after, sums).value])

    first = (index < 2).choose(seen.column(0, 0), far)
    steps = extent(n, (x.value, 1)) - 1
    (last,), _ = while_loop(n, step, [first.value], steps.value)
    ends = (label_count * 2).spread(0, 1)
    ends = index.equals(ends) | index.equals(ends - 1)
    found = ends.choose(Term(n, last), far)
    return n(nn.Neg(reduced(n, found.value, nn.ReduceLogSumExp, (1,))))


@layer("ops.CTCDecode")
def ctc_decode(n: KerasLayer) -> list[Value]:
    """The best class of each step, without repetitions and blanks.

    inputs [B, T, C], lengths [B] -> [1, B, T] padded with -1, and scores [B, 1]
    """
    if n.option("strategy", "greedy") != "greedy":
        raise n.error("only the strategy 'greedy' is supported")
    x, lengths = Term(n, n.floating(n.tensor())), Term(n, n.cast(n.tensor(1), i64))
    steps, classes = n.extent(x.value, 1), n.extent(x.value, 2)
    mask = n.integer("mask_index", 0) % classes
    index = constant(n, np.arange(steps))
    here = index < lengths.spread(0, 1)
    best = x.argmax(2)
    kept = here & ~best.equals(mask)
    if n.option("merge_repeated", True):
        before = Term(n, padded_by(n, best.part(1, 0, steps - 1).value, [0, 1, 0, 0]))
        same = best.equals(before) & (index > 0)
        kept = kept & ~same
    place = Term(n, n(nn.Cumsum(kept.cast(i64).value, axis=1))) - 1
    moved = place.spread(1, 0).reshape((x.value, 0), 1, steps).equals(index.spread(0, 1))
    moved = moved & kept.reshape((x.value, 0), 1, steps)
    found = moved.choose(best.reshape((x.value, 0), 1, steps) + 1, 0).sum(2) - 1
    score = (-here.choose(x.largest(2), 0.0).sum(1)).spread(0, 1)
    return [found.cast(i32).spread(1, 0).value, score.value]


# -- matrices --------------------------------------------------------------------------------------


def _matrix(n: KerasLayer, place: int = 0) -> Term:
    return Term(n, n.floating(n.tensor(place)))


def _least(n: KerasLayer, a: Term, largest: Term, given: object) -> Term:
    """The threshold below which singular values count as 0, for each matrix."""
    sizes = [n.extent(a.value, i) for i in (-2, -1)]
    share = max(sizes) * float(np.finfo(np.float32).eps) if given is None else given
    return largest * float(share)  # type: ignore[arg-type]


def _inverse_of(n: KerasLayer, a: Term) -> Term:
    """The Moore-Penrose pseudo-inverse."""
    u, values, v = linear_algebra.svd(a)
    given = n.option("rcond", None)
    kept = values > _least(n, a, values.largest(values.rank - 1, keep=True), given)
    inverse = kept.choose(1.0 / kept.choose(values, 1.0), 0.0)
    column = inverse.spread(0, 1)
    return v @ (column * u.mT)


@layer("ops.MatrixRank")
def rank_of(n: KerasLayer) -> Value:
    a, given = _matrix(n), n.option("tol", None)
    _, values, _ = linear_algebra.svd(a)
    most = values.largest(values.rank - 1, keep=True)
    least = _least(n, a, most, None) if given is None else most * 0.0 + float(given)
    return (values > least).cast(i32).sum(values.rank - 1).value


@layer("ops.Lstsq")
def least_squares(n: KerasLayer) -> Value:
    a, b = _matrix(n), _matrix(n, 1)
    vector = b.rank == a.rank - 1
    found = _inverse_of(n, a) @ (b.spread(0, 1) if vector else b)
    return (found.column(0) if vector else found).value


@layer("ops.LuFactor")
def lu_factor(n: KerasLayer) -> list[Value]:
    """L and U in one matrix, and the row permutation."""
    found = linear_algebra.lu(_matrix(n))
    return [found.both.value, found.order.cast(i32).value]


def _cholesky_inverse(n: KerasLayer) -> Value:
    a = _matrix(n)
    turned = a.mT
    whole = turned @ a if n.option("upper", False) else a @ turned
    return linear_algebra.solve(whole, linear_algebra.identity_like(whole)).value


add({
    "Pinv": lambda n: _inverse_of(n, _matrix(n)).value,
    "CholeskyInverse": _cholesky_inverse,
    "Sparsemax": lambda n: sparsemax(n, n.tensor(), n.integer("axis", -1)),
})  # fmt: skip


# -- images ----------------------------------------------------------------------------------------


def _pairs(n: KerasLayer, name: str, default: object = None) -> list[int]:
    given = n.option(name, default)
    return [given] * 2 if isinstance(given, int) else [int(v) for v in given]


@layer("ops.Unfold", "ops.Fold")
def windows(n: KerasLayer) -> Value:
    """Windows of images as columns (Unfold), or columns summed to images (Fold); channels first."""
    names = (("stride", 1), ("dilation", 1), ("padding", 0))
    strides, dilations, pads = (_pairs(n, name, default) for name, default in names)
    how = (_pairs(n, "kernel_size"), strides, dilations, [*pads, *pads])
    if n.kind == "ops.Unfold":
        return unfolded(n, n.tensor(), *how)
    return folded(n, n.tensor(), _pairs(n, "output_size"), *how)


@layer("ops.SobelEdges")
def edges(n: KerasLayer) -> Value:
    """Sobel gradients of images, downwards and to the right: a new last dimension of two."""
    x = _matrix(n)
    first = n.config.get("data_format") == "channels_first"
    axes = (x.rank - 2, x.rank - 1) if first else (x.rank - 3, x.rank - 2)
    pads = [int(i in axes) for i in range(x.rank)] * 2
    whole = Term(n, padded_by(n, x.value, pads, mode="reflect"))
    found = []
    for down in (0, 1):
        along, across = axes[down], axes[1 - down]
        own, other = n.extent(x.value, along), n.extent(x.value, across)
        slope = whole.part(along, 2, own + 2) - whole.part(along, 0, own)
        parts = [slope.part(across, i, other + i) for i in range(3)]
        found.append((parts[0] + parts[1] * 2.0 + parts[2]).spread(0, 1))
    return joined(found, x.rank).value


@layer("ops.SSIM")
def structural_similarity(n: KerasLayer) -> Value:
    """The structural similarity: the mean over Gaussian windows, one number for each image."""
    images = [operand(n, v, f32).value for v in n.args[:2]]
    if n.config.get("data_format") != "channels_first":
        images = [channels_first(n, x) for x in images]
    a, b = (Term(n, x) for x in images)
    size, channels = n.integer("filter_size", 11), n.extent(a.value, 1)
    apart = np.arange(size) - (size - 1) / 2
    bell = np.exp(-(apart**2) / (2 * n.number("filter_sigma", 1.5) ** 2))
    window = np.outer(bell, bell)
    weight = np.broadcast_to(window / window.sum(), (channels, 1, size, size))
    kernel = n.constant(weight.astype(np.float32))

    def seen(x: Term) -> Term:
        return Term(n, convolution(n, x.value, kernel, groups=channels))

    c1, c2 = (
        (n.number(name, d) * n.number("max_val", 1.0)) ** 2
        for name, d in (("k1", 0.01), ("k2", 0.03))
    )
    means, both = (seen(a), seen(b)), seen(a * b)
    product, squares = means[0] * means[1], means[0] * means[0] + means[1] * means[1]
    light = (product * 2.0 + c1) / (squares + c1)
    spread = seen(a * a + b * b) - squares
    shape = ((both - product) * 2.0 + c2) / (spread + c2)
    return reduced(n, (light * shape).value, nn.ReduceMean, (1, 2, 3))

"""Sparse tensors: indices [K, R], values [K], shape [R]; losses; stitching and partitioning."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.formulas import assured
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..ragged import moved_up


@rows("SparseToDense")
def to_dense(n: TfLayer, indices: Value, shape: Value, values: Value, default: Value) -> Value:
    whole = tf.fill(n, shape, default)
    places = Term(n, as_i64(n, tf.from_begin(n, indices)))
    if places.rank < 2:
        places = places.spread(0, 1) if places.rank else places.reshape(1, 1)
    if values.type.rank == 0:
        values = Term(n, values).filled(Term(n, n.constant(np.array([places.shape[0] or 1])))).value
    return n(nn.ScatterNd(whole, places.value, values, reduction="none"))


@rows("SparseTensorDenseMatMul")
def dense_product(n: TfLayer, indices: Value, values: Value, shape: Value, dense: Value) -> Value:
    """[M, K] @ [K, N], as sums of the dense matrix's rows times values."""
    if n.flag("adjoint_b"):
        dense = n(nn.Transpose(dense, permutation=(1, 0)))
    turned = n.flag("adjoint_a")
    row, column = (Term(n, indices).column(int(i != turned)) for i in range(2))
    scaled = Term(n, dense).gather(column) * Term(n, values).spread(0, 1)
    count = Term(n, as_i64(n, shape)).column(int(turned), 0)
    return tf.segments(n, scaled.value, row.value, count.value, "add")


@rows("SparseReduceSum", "SparseReduceMax")
def reduced(n: TfLayer, indices: Value, values: Value, shape: Value, axes: Value) -> Value:
    """A reduction of the dense tensor, in which missing elements are 0."""
    if n.kind == "SparseReduceMax":
        raise n.error("not supported")
    zeros = tf.fill(n, shape, n.scalar(0, values))
    places = as_i64(n, tf.from_begin(n, indices))
    whole = n(nn.ScatterNd(zeros, places, values, reduction="add"))
    return tf.reduction(n, whole, axes, nn.ReduceSum, n.flag("keep_dims"))


@rows("DynamicStitch", "ParallelDynamicStitch")
def stitch(n: TfLayer, *given: Value) -> Value:
    """The rows of several tensors as one tensor, each at its index; inputs: indices, then data."""
    count = len(given) // 2
    if any(n.known(place) is None for place in given[:count]):
        return _stitched(n, given[:count], given[count:])
    places = [np.asarray(n.known_ints(v, "positions")) for v in given[:count]]
    parts = []
    for place, data in zip(given[:count], given[count:], strict=True):
        rest = [(data, i) for i in range(place.type.rank, data.type.rank)]
        size = int(np.prod(place.type.shape))  # type: ignore[arg-type]
        parts.append(Term(n, reshape(n, data, [size, *rest])))
    order = np.concatenate(places)
    last = {int(at): i for i, at in enumerate(order)}
    if sorted(last) != list(range(len(last))):
        raise n.error(f"the positions {sorted(last)} leave out some below the largest")
    source = np.array([last[i] for i in range(len(last))], np.int64)
    return joined(parts, 0).gather(constant(n, source)).value


def _stitched(n: TfLayer, places: Sequence[Value], parts: Sequence[Value]) -> Value:
    """Rows placed at indices known at run time: the last one of an index counts; 0 for none.

    There are as many rows as the largest index requires.
    """
    flat = []
    for place, data in zip(places, parts, strict=True):
        lead = place.type.rank
        groups = [(0, lead), *((i, i + 1) for i in range(lead, data.type.rank))]
        flat.append(Term(n, merge(n, data, groups)) if lead != 1 else Term(n, data))
    order = joined([Term(n, as_i64(n, place)).flat() for place in places], 0)
    order = assured(order, order >= 0, "a position is negative")
    rest = [(flat[0].value, i) for i in range(1, flat[0].rank)]
    count = order.largest(0).max(-1) + 1
    shape = [count.reshape(1), *(extent(n, one).reshape(1) for one in rest)]
    zeros = Term(n, n.scalar(0, parts[0])).filled(joined(shape, 0))
    rows = joined(flat, 0)
    return n(nn.ScatterNd(zeros.value, order.spread(0, 1).value, rows.value, reduction="none"))


@rows("DynamicPartition")
def partition(n: TfLayer, x: Value, numbers: Value) -> list[Value]:
    """The rows with each partition number."""
    if numbers.type.rank != 1:
        lead = numbers.type.rank
        x = merge(n, x, [(0, lead), *((i, i + 1) for i in range(lead, x.type.rank))])
        numbers = Term(n, numbers).flat().value
    count, given, found = n.int("num_partitions"), Term(n, numbers), []
    given = assured(given, (given >= 0) & (given < count), "the number of a part is out of range")
    for i in range(count):
        here = Term(n, n(nn.NonZero(given.equals(i).value))).column(0, 0)
        found.append(Term(n, x).gather(here).value)
    return found


@rows("DataFormatVecPermute")
def permute_format(n: TfLayer, x: Value) -> Value:
    """The numbers for each dimension, [dims] or [dims, 2], in the order of another layout."""
    source, target = n.text("src_format", "NHWC"), n.text("dst_format", "NCHW")
    if x.type.shape[0] == len(source) - 2:
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    if sorted(source) != sorted(target) or x.type.shape[0] != len(source):
        raise n.error(f"cannot permute {x.type.shape[0]} elements from '{source}' to '{target}'")
    order = np.array([source.index(c) for c in target], np.int64)
    return Term(n, x).gather(constant(n, order)).value


rows.add({
    "SpaceToBatch": lambda n, x, pads: tf.space_to_batch_nd(n, x, _block(n), pads),
    "BatchToSpace": lambda n, x, crops: tf.batch_to_space_nd(n, x, _block(n), crops),
})  # fmt: skip


def _block(n: TfLayer) -> Value:
    return n.constant(np.full(2, n.int("block_size"), np.int64))


# -- losses ----------------------------------------------------------------------------------------


@rows("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def cross_entropy(n: TfLayer, x: Value, labels: Value) -> list[Value]:
    """The cross entropy of each row, and its gradient by the scores: x [B, C] -> [B], [B, C]"""
    target = Term(n, labels)
    if n.kind.startswith("Sparse"):
        count, label = extent(n, (x, 1)), Term(n, as_i64(n, labels))
        inside = (label >= 0) & (label < count)
        numbers = assured(label, inside, "a label is not a class").spread(0, 1)
        target = numbers.equals(counting(n, count)).cast(x.type.element_type)
    scores = Term(n, n(nn.LogSoftmax(x, axis=1)))
    kept = target.equals(0.0).choose(0.0, -(target * scores))
    return [kept.sum(1).value, (scores.function(nn.Exp) - target).value]


# -- steps of numbers ------------------------------------------------------------------------------


@rows("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
def quantized(n: TfLayer, x: Value, low: Value, high: Value, bits: Value | None = None) -> Value:
    """x quantized and dequantized; the scale fits the larger bound of its range.

    Along an axis, each place has a range of its own.
    """
    axis, is_given = n.int("axis", -1), n.flag("range_given", n.kind.endswith("V3"))
    if axis != -1 and not n.kind.endswith("V3"):
        raise n.error("an axis is not supported")
    width = n.int("num_bits", 8) if bits is None else n.known_int(bits, "the bits")
    signed, narrow = n.flag("signed_input", True), n.flag("narrow_range")
    most = 2 ** (width - 1) - 1 if signed else 2**width - 1
    least = (-most if narrow else -most - 1) if signed else 0
    given, a, b = Term(n, x), Term(n, low), Term(n, high)
    if not is_given:
        axes = tuple(i for i in range(given.rank) if i != axis)
        a, b = -(-given).largest(*axes), given.largest(*axes)
    if axis != -1:
        a, b = (end.spread(0, given.rank - 1 - axis) for end in (a, b))
    by_low = (a < 0.0).choose(a.made(nn.Div(a.other(least), (a < 0.0).choose(a, -1.0).value)), 3e38)
    by_high = (b > 0.0).choose(b.made(nn.Div(b.other(most), (b > 0.0).choose(b, 1.0).value)), 3e38)
    scale = by_low.min(by_high) if least else by_high
    if is_given:
        given = given.max(float(least) / scale).min(float(most) / scale)
    scaled = given * scale
    mode = n.text("round_mode", "HALF_TO_EVEN")
    steps = scaled.function(nn.Round) if mode != "HALF_UP" else (scaled + 0.5).function(nn.Floor)
    return (steps / scale).value


@rows("PopulationCount")
def population(n: TfLayer, x: Value) -> Value:
    """The number of 1 bits."""
    element: Any = x.type.element_type
    wide = Term(n, x).cast(i64)
    total = wide & 1
    for i in range(1, element.width):
        total = total + ((wide >> i) & 1)
    return total.cast(IntegerType(8, "u")).value


@rows("CTCGreedyDecoder")
def greedy_labels(n: TfLayer, x: Value, lengths: Value) -> list[Value]:
    """The most likely label of each step of x [T, B, C], without blanks, and once where it repeats.

    A sparse tensor [B, labels], and the negative sum of the scores that were taken: [B, 1].
    """
    given = Term(n, x).transpose(1, 0, 2)
    steps, classes = extent(n, (x, 0)), extent(n, (x, 2))
    inside = counting(n, steps) < Term(n, as_i64(n, lengths)).spread(0, 1)
    best, blank = given.argmax(2), n.int("blank_index", -1)
    kept = inside & ~best.equals(classes + blank if blank < 0 else blank)
    if n.flag("merge_repeated"):
        first = best.part(1, 0, 1) * 0 - 1
        before = joined([first, best], 1).gather(counting(n, steps), 1)
        kept &= ~best.equals(before)
    taken = inside.choose(given.largest(2), 0.0).sum(1, keep=True)
    return [*moved_up(n, best, kept), (-taken).value]

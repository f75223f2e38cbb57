"""Writes the files of `files/` with numbers at the edges: negative ids, tables, orders of outputs.

python test/frontends/tensorflow/make_edges.py      # needs TensorFlow
"""

import shutil

import keras
import make
import numpy as np
import tensorflow as tf

F32 = np.float32


def segments(x, ids):
    """x [5, 3], ids [5] of which some are negative, and are dropped"""
    reduce = tf.math
    return (
        *(reduce.unsorted_segment_sum(x, ids, 4), reduce.unsorted_segment_max(x, ids, 4)),
        *(reduce.unsorted_segment_min(x, ids, 4), reduce.unsorted_segment_prod(x, ids, 4)),
        *(reduce.unsorted_segment_mean(x, ids, 4), reduce.unsorted_segment_sqrt_n(x, ids, 4)),
        reduce.unsorted_segment_sum(x, [-1, 0, 0, -2, 1], 3),
        *(tf.one_hot(ids, 3), reduce.in_top_k(ids, x, 1)),
    )


def resized(x, size):
    """x [1, H, W, 2], by weights of a table; with antialiasing not."""
    legacy = tf.raw_ops.ResizeBicubic
    return (
        tf.image.resize(x, [9, 13], "bicubic"),
        tf.image.resize(x, size, "bicubic"),
        legacy(images=x, size=[9, 13]),
        legacy(images=x, size=size, align_corners=True),
        tf.image.resize(x, [4, 3], "bicubic", antialias=True),
        tf.image.resize(x, [9, 13], "bicubic", antialias=True),
    )


def resampled(x):
    """x [N, H, W, 3] of open extents."""
    kinds = ("lanczos3", "gaussian", "mitchellcubic", "bicubic", "area", "bilinear")
    scaled = tf.raw_ops.ScaleAndTranslate
    return (
        *(tf.image.resize(x, [7, 9], kind, antialias=True) for kind in kinds),
        tf.image.resize(x, tf.shape(x)[1:3] * 3 // 2, "lanczos5"),
        scaled(images=x, size=[9, 11], scale=[0.6, 1.3], translation=[2.0, -3.0],
               kernel_type="box", antialias=True),
    )  # fmt: skip


def odd_transposed(x):
    """x [2, H, W, 3] of open extents; the result is smaller or larger than strides times these."""
    _, h, w, _ = tf.unstack(tf.shape(x))
    wide, narrow = make.normal(4, 3, 2, 3), make.normal(1, 2, 2, 3)
    sizes = [[2, 2 * h, 3 * w, 2], [2, 2 * h - 1, 3 * w - 2, 2]]
    found = [tf.nn.conv2d_transpose(x, k, s, [2, 3]) for k in (wide, narrow) for s in sizes]
    sizes = [[2, 2 * h + 2, 3 * w, 2], [2, 2 * h + 3, 3 * w + 2, 2]]
    found += [tf.nn.conv2d_transpose(x, wide, s, [2, 3], "VALID") for s in sizes]
    sizes = [[2, 2 * h - 1, 3 * w - 1, 2], [2, 2 * h, 3 * w, 2]]
    return found + [tf.nn.conv2d_transpose(x, narrow, s, [2, 3], "VALID") for s in sizes]


def diagonals(x, y):
    """x [2, 3] and y [2, 3, 4], of which diagonals beside the main one are meant."""
    several = tf.stack([x, x * 2, x * 3], 1)
    lib = tf.linalg
    return (
        *(lib.diag(x, k=-1), lib.diag(x, k=2, padding_value=7), lib.diag(x, k=1, num_rows=3)),
        lib.diag(x, num_rows=3, num_cols=5, padding_value=-1),
        *(lib.diag(y, k=(-1, 1)), lib.diag(y, k=(-2, 0), align="LEFT_RIGHT")),
        lib.diag(y[:, :2], k=(1, 2), num_cols=7, align="LEFT_LEFT", padding_value=2),
        *(lib.diag_part(y, k=k) for k in (1, -2, (-2, 3))),
        lib.diag_part(y, k=(0, 2), align="LEFT_RIGHT", padding_value=5),
        lib.diag_part(y, k=(-1, 1), align="RIGHT_RIGHT"),
        *(lib.set_diag(y, x, k=1), lib.set_diag(y, x[:, :2], k=-1)),
        *(lib.set_diag(y, several, k=(-1, 1), align=a) for a in ("RIGHT_LEFT", "LEFT_RIGHT")),
    )


def out_of_range(x, i, which):
    """Kinds of lookups, one of which runs."""
    picked = [
        lambda: tf.gather(x, i),
        lambda: tf.gather_nd(x, i[:, None]),
        lambda: tf.scatter_nd(i[:, None], x, [3, 2]),
        lambda: tf.tensor_scatter_nd_add(x, i[:, None], x),
        lambda: x + tf.nn.sparse_softmax_cross_entropy_with_logits(i, tf.ones([3, 3]))[:, None],
        lambda: tf.nn.embedding_lookup(x, i),
        lambda: x + tf.reshape(tf.dynamic_partition(x, i, 3)[0], [-1])[0],
    ]
    return tf.switch_case(which, picked)


def complex_numbers(z, w):
    """z [2, N], w [N] of complex numbers, as they come in and as they go out."""
    return z * w, tf.signal.fft(z), tf.math.conj(z) - w, tf.abs(z), tf.math.imag(z + 2.0)


def integer_norms(*xs):
    """xs [5, 7] of a type each, whose squares wrap around; the root may be one of less than 0."""
    return [
        tf.raw_ops.EuclideanNorm(input=x, axis=axes) for x in xs for axes in ([0], [1], [0, 1], [])
    ]


def open_parts(x, by, axis_by):
    """x [N, M], parts of it and turns of it, by numbers that are computed."""
    return (
        *tf.split(x, 3, axis=1),
        *tf.split(x, 2),
        tf.roll(x, by, 1),
        tf.roll(x, axis_by, [0, 1]),
        tf.roll(x, -by, -1),
    )


def grown(x):
    """x [N, 3], into arrays that begin empty: by a counter, until a break, some rows, and read."""
    every, until, some = (tf.TensorArray(tf.float32, 0, dynamic_size=True) for _ in range(3))
    sums = tf.TensorArray(tf.float32, 1, dynamic_size=True, clear_after_read=False)
    sums = sums.write(0, x[0])
    count = 0
    for i in tf.range(tf.shape(x)[0]):
        every = every.write(i, x[i] * tf.cast(i, tf.float32))
        if x[i, 0] > 0:
            some = some.write(count, x[i])
            count += 1
    for i in tf.range(tf.shape(x)[0]):
        if x[i, 1] < -1:
            break
        until = until.write(i, x[i] + 1)
    for i in tf.range(1, tf.shape(x)[0]):
        sums = sums.write(i, sums.read(i - 1) * 0.5 + x[i])
    return every.stack(), until.stack(), some.stack(), sums.stack(), count


def special(x, a, b):
    """Functions of all kinds of numbers, and shares of integrals of positive ones."""
    op = tf.raw_ops
    ops = [op.BesselI0, op.BesselI1e, op.BesselJ0, op.BesselJ1, op.BesselK0, op.BesselK1e]
    ops += [op.BesselY0, op.BesselY1, op.Lgamma, op.Digamma]
    finite = tf.where(x == x, x, 0.0)
    following = op.NextAfter(x1=finite, x2=a), op.NextAfter(x1=b, x2=finite[:, None])
    return (
        *(tf.bitcast(one, tf.int32) for one in following),
        *(one(x=x) for one in ops),
        *(op.Igamma(a=a, x=b), op.Igammac(a=a, x=b[:1]), op.Igamma(a=x, x=b)),
        *(op.Betainc(a=a, b=b, x=tf.sigmoid(x)), op.Betainc(a=a, b=b, x=x)),
        *(op.SigmoidGrad(y=x, dy=a), op.EluGrad(gradients=a, outputs=x)),
        *(op.ReluGrad(gradients=x, features=-b), op.TruncateDiv(x=x, y=a)),
    )


def zetas(order, x, derivative):
    """x, an order for each, and the order of a derivative of digamma for each"""
    return tf.raw_ops.Zeta(x=order, q=x), tf.raw_ops.Polygamma(a=derivative, x=x)


def zeta_numbers():
    """All pairs of orders and numbers, of all kinds."""
    x = [0, -0.0, 0.5, -0.5, -1, -2, -3.3, -8.7, -9.5, -1000.25, 1e10, 1e-10, 3, np.inf, np.nan]
    orders = [1, 0.5, 2, 3, 2.5, -1, 40, 1.0001, np.inf, np.nan]
    derivatives = [0, 1, 2, 3, -1, 0.5, -0.0, 8, np.inf, np.nan]
    pairs = np.meshgrid(range(len(orders)), x, indexing="ij")
    at = pairs[0].ravel()
    return np.array(orders)[at], pairs[1].ravel(), np.array(derivatives)[at]


def normalized(x, c):
    """x [N, H, W, 3] by the statistics of the batch, and by given ones"""
    norm = tf.raw_ops.FusedBatchNormV3
    given = {"x": x, "scale": c, "offset": c, "epsilon": 1e-3}
    return (
        *norm(mean=[], variance=[], is_training=True, **given)[:3],
        *norm(mean=c, variance=c, is_training=True, exponential_avg_factor=0.3, **given)[:3],
        norm(mean=c, variance=c, is_training=False, **given)[0],
    )


def limited(x, low):
    """x [5] with NaN, by limits of which the lower one is above, and on a diagonal among sevens"""
    clip = tf.raw_ops.ClipByValue
    return (
        clip(t=x, clip_value_min=2.0, clip_value_max=-1.0),
        clip(t=x, clip_value_min=low, clip_value_max=-low),
        tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 2.0]),
        tf.linalg.diag(x[:3], padding_value=7.0),
    )


def of_odd_numbers(x, y, half, small, text):
    """x and y [6], all pairs of zeros, infinities and no numbers; and other rules of edges"""
    op, z = tf.raw_ops, tf.complex(x[:, None], y)
    image, pads = tf.reshape(tf.range(18.0), [1, 3, 6, 1]), [0, 0, 1, 2, 0, 1, 0, 0]
    how = {"strides": [1, 1, 3, 1], "padding": "EXPLICIT", "explicit_paddings": pads}
    weight = tf.ones([2, 2, 1, 1])
    return (
        *(f(y=x[:, None] + 0 * y, dy=0 * x[:, None] + y) for f in (op.InvGrad, op.SqrtGrad)),
        op.RsqrtGrad(y=x[:, None] + 0 * y, dy=0 * x[:, None] + y),
        *(op.ClipByValue(t=x, clip_value_min=y, clip_value_max=tf.ones([6])), tf.exp(z)),
        op.ClipByValue(t=x, clip_value_min=-np.float32(2), clip_value_max=y),
        op.ApproximateEqual(x=y, y=y + 2.0, tolerance=2.0),
        *(op.Unique(x=half)[0], op.Unique(x=half)[1], op.Unique(x=x)[1]),
        *(op.AsString(input=small, fill=fill) for fill in (" ", "+", "-")),
        *op.StringSplitV2(input=text, sep="", maxsplit=2),
        op.RaggedBincount(
            splits=[0, 3, 3, 5],
            values=[2, 0, 4, 5, 7],
            size=6,
            weights=[0.0, -2, 5, 1, 1],
            binary_output=True,
        ),
        op.Conv2DBackpropInput(input_sizes=[1, 1, 17, 1], filter=weight, out_backprop=image, **how),
        op.Conv2DBackpropInput(
            input_sizes=[1, tf.size(small) - 2, 17, 1], filter=weight, out_backprop=image, **how
        ),
    )


def factors(x):
    """x [3, 3]: of operators that have several results the later ones, in a function"""
    op, y = tf.raw_ops, x @ tf.transpose(x)
    singular, left, right = op.Svd(input=x, compute_uv=True)
    values, vectors = op.SelfAdjointEigV2(input=y, compute_v=True)
    return tf.concat(
        [
            *(tf.abs(op.Qr(input=x)[1]), left @ (singular * right) @ tf.transpose(right)),
            *(left @ tf.linalg.diag(singular) @ tf.transpose(right), tf.abs(vectors)),
            op.LogMatrixDeterminant(input=x)[1] + values[:, None] + tf.zeros([3, 3]),
        ],
        0,
    )


def odd_extremes(x, rows):
    """x [N, 6] with NaN and infinities, by segments of which some have one row; rolled by 7"""
    op = tf.raw_ops
    return (
        *(op.ArgMax(input=x, dimension=1), op.ArgMin(input=x, dimension=1)),
        *(op.SegmentMax(data=x, segment_ids=rows), op.SegmentMin(data=x, segment_ids=rows)),
        *(tf.roll(x, 7, 0), tf.roll(x, -4, 0), op.EnsureShape(input=x, shape=[None, 6])),
        *(tf.linalg.band_part(x, 1, -1), tf.linalg.diag_part(x), tf.linalg.set_diag(x, x[:, 0])),
    )


def of_none(x, i):
    """x [N, 3] and i [N], which both have no rows"""
    op = tf.raw_ops
    return (
        *tf.dynamic_partition(x, i, 2),
        op.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=i)[0],
        op.DenseBincount(input=i, size=4, weights=tf.zeros([0])),
        op.DenseBincount(input=tf.cast(x, tf.int32), size=4, weights=x),
        op.ReverseSequence(input=x, seq_lengths=i, seq_dim=1),
    )


def rows_of_texts(x):
    """x [2, 3]: texts are joined along one axis after the other"""
    join = tf.raw_ops.ReduceJoin
    orders = [[0, 1], [1, 0], [1], []]
    return tuple(join(inputs=x, reduction_indices=tf.constant(v, tf.int32)) for v in orders)


def placed(x, begin, pads, count):
    """x [4, 6, 2], by numbers that are known at run time only, also how many"""
    op = tf.raw_ops
    return (
        *(tf.slice(x, begin, [2, 3, 1]), tf.pad(x, pads)),
        *(op.LinSpace(start=-1.0, stop=2.0, num=count), op.NthElement(input=x, n=count - 3)),
        op.SpaceToBatchND(input=x[None], block_shape=[2, 3], paddings=pads[:2] * 2),
    )


def of_open_ranks(x, pads, indices, rows):
    """x [N, M], pads [2, 2], indices [K, L] of L = 1 number, rows [K, M]"""
    op = tf.raw_ops
    one = tf.ensure_shape(indices, [None, 1])
    return (
        op.MirrorPad(input=x, paddings=pads, mode="SYMMETRIC"),
        op.TensorScatterAdd(tensor=x, indices=indices, updates=rows),
        op.TensorScatterUpdate(tensor=x, indices=indices, updates=rows),
        op.ScatterNd(indices=indices, updates=rows, shape=tf.add(tf.shape(x), [1, 0])),
        op.ScatterNd(indices=one, updates=rows, shape=tf.boolean_mask(tf.shape(x), x[0, :2] < 9)),
    )


def counting():
    """A SavedModel of Keras with dropout that is on, whose seed is a state of two numbers."""
    x = keras.Input((4,))
    model = keras.Model(x, keras.layers.Dropout(0.5, seed=3)(x))
    archive = keras.export.ExportArchive()
    archive.track(model)
    spec = tf.TensorSpec([2, 4])
    archive.add_endpoint("serve", lambda x: model(x, training=True), input_signature=[spec])
    path = make.FILES / "seeded"
    shutil.rmtree(path, ignore_errors=True)
    archive.write_out(path, verbose=False)
    (path / "fingerprint.pb").unlink()
    shutil.rmtree(path / "assets")
    run = tf.saved_model.load(path).signatures["serve"]
    x = np.ones((2, 4), F32)
    found = [run(tf.constant(x))["output_0"].numpy() for _ in range(3)]
    np.savez_compressed(make.FILES / "seeded_runs.npz", x=x, found=found)


def main():
    counting()
    ids = np.array([1, -1, 0, 1, -7], np.int32)
    make.graph("segments", segments, make.normal(5, 3), ids)
    size = np.array([11, 4], np.int32)
    make.graph("tables_of_bicubic", resized, make.normal(1, 7, 5, 2), size)
    one = (make.normal(3, 2), np.array([0, 1, 2], np.int32), np.array(0, np.int32))
    make.graph("out_of_range", out_of_range, *one)

    rows = make.normal(6, 3)
    rows[:, 1], rows[4, 1] = 0, -2
    make.graph("grown", tf.autograph.experimental.do_not_convert(tf.function(grown)), rows,
               shapes=[[None, 3]])  # fmt: skip
    odd = np.array([-np.inf, -2, -1.5, 0, 0.5, 2, 30, np.inf, np.nan, 1], F32)
    positive = make.rng.uniform(0.1, 9, (2, 10)).astype(F32)
    make.graph("special", special, odd, *positive)
    odd = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1], F32)
    few = (
        odd.astype(np.float16),
        np.array([0, 4, 255], np.uint8),
        np.array(["a", "a b", "a b c "]),
    )
    make.graph("of_odd_numbers", of_odd_numbers, odd, odd[::-1].copy(), *few)
    make.graph("zetas", zetas, *zeta_numbers())
    make.graph("normalized", normalized, make.normal(2, 4, 5, 3), np.array([0.5, 1, 2], F32))

    make.folder("factors", factors, make.normal(3, 3))
    odd = make.normal(5, 6)
    odd[0, [1, 3]], odd[1], odd[2] = (np.nan, np.inf), -np.inf, np.nan
    odd[3, 0], odd[4, [2, 4]] = np.nan, 9
    segments_of = np.array([0, 1, 3, 4, 5], np.int32)
    make.graph("odd_extremes", odd_extremes, odd, segments_of, shapes=[[None, None], [None]])
    none = (np.zeros((0, 3), F32), np.zeros(0, np.int32))
    make.graph("of_none", of_none, *none, shapes=[[None, 3], [None]])
    texts = np.array([["a", "b", "c"], ["d", "e", "f"]], "S")
    make.graph("rows_of_texts", rows_of_texts, texts)
    numbers = (np.array([1, 2, 0], np.int32), np.array(4, np.int32))
    pads = np.array([[0, 0], [0, 0], [1, 0]], np.int32)
    shapes = [[None, None, 2], [None], [None, None], []]
    make.graph("placed", placed, make.normal(4, 6, 2), numbers[0], pads, numbers[1], shapes=shapes)

    pads = np.array([[2, 1], [0, 3]], np.int32)
    given = (
        np.arange(12, dtype=F32).reshape(4, 3),
        pads,
        np.array([[2], [0]], np.int32),
        np.ones((2, 3), F32),
    )
    make.graph("of_open_ranks", of_open_ranks, *given, shapes=[[None, None]] * 4)
    parts = make.normal(2, 6), make.normal(6)
    waves = [(x[..., :3] + 1j * x[..., 3:]).astype(np.complex64) for x in parts]
    make.graph("complex_numbers", complex_numbers, *waves, shapes=[[2, None], [None]])

    shifts = np.array(-4, np.int32), np.array([3, 11], np.int32)
    shapes = [[None, None], [], [2]]
    make.graph("open_parts", open_parts, make.normal(4, 6), *shifts, shapes=shapes)
    types = [np.int8, np.uint8, np.int32, np.int64, np.uint64]
    ranges = [(t, np.iinfo(t), most) for t in types for most in (4, np.iinfo(t).max)]
    integers = [
        make.rng.integers(max(about.min, -most), most, (5, 7), t, endpoint=True)
        for t, about, most in ranges
    ]
    make.graph("integer_norms", integer_norms, *integers)

    odd = np.array([1, -3, 5, np.nan, -9], F32)
    make.graph("limited", limited, odd, np.array(2, F32))
    spec = tf.TensorSpec([2])
    holder = tf.Module()
    holder.run = tf.function(
        lambda zoom, angle: [zoom * i - angle for i in range(12)], input_signature=[spec, spec]
    )
    path = make.FILES / "many_outputs"
    shutil.rmtree(path, ignore_errors=True)
    tf.saved_model.save(holder, path, signatures=holder.run)
    shutil.rmtree(path / "assets")
    (path / "fingerprint.pb").unlink()
    make.graph("resampled", resampled, make.normal(1, 13, 8, 3), shapes=[[None, None, None, 3]])
    make.graph("diagonals", diagonals, make.normal(2, 3), make.normal(2, 3, 4))
    make.graph(
        "odd_transposed", odd_transposed, make.normal(2, 4, 5, 3), shapes=[[2, None, None, 3]]
    )


if __name__ == "__main__":
    main()

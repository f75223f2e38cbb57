"""Writes `files/`: models of TensorFlow 2.21, with inputs and what TensorFlow makes of them.

    python test/frontends/tensorflow/make.py

Graphs are frozen, with functions for branches and loops, and also with Switch and Merge for those
whose names end in `_v1`. Folders are SavedModels.
"""

import os
import shutil
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # its QuantizeV2 differs from TensorFlow's own

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

FILES = Path(__file__).parent / "files"
F32 = tf.float32
rng = np.random.default_rng(0)


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def expected(name, function, inputs):
    found = function(*(tf.constant(x) for x in inputs))
    found = found if isinstance(found, tuple | list) else [found]
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"out{i}": np.asarray(v) for i, v in enumerate(found)}
    arrays = {k: v.astype("S") if v.dtype == object else v for k, v in arrays.items()}
    np.savez_compressed(FILES / f"{name}.npz", **arrays)


def graph(name, function, *inputs, shapes=None, v1=False):
    """A frozen graph; with `shapes`, its inputs have these."""
    specs = [
        tf.TensorSpec(
            x.shape if shapes is None else s,
            tf.string if x.dtype.kind == "S" else x.dtype,
            name=f"x{i}",
        )
        for i, (x, s) in enumerate(zip(inputs, shapes or inputs, strict=True))
    ]
    compiled = tf.function(lambda *xs: function(*xs), input_signature=specs)
    concrete = compiled.get_concrete_function()
    for suffix, lower in (("", False), ("_v1", True)) if v1 else (("", False),):
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lower)
        data = frozen.graph.as_graph_def().SerializeToString()
        (FILES / f"{name}{suffix}.pb").write_bytes(data)
        expected(f"{name}{suffix}", compiled, inputs)


def folder(name, module, *inputs, shapes=None):
    """A SavedModel of a module's `__call__`."""
    specs = [
        tf.TensorSpec(x.shape if shapes is None else s, x.dtype, name=f"x{i}")
        for i, (x, s) in enumerate(zip(inputs, shapes or inputs, strict=True))
    ]
    holder = tf.Module()
    holder.module = module
    holder.run = tf.function(lambda *xs: {"y": module(*xs)}, input_signature=specs)
    shutil.rmtree(FILES / name, ignore_errors=True)
    tf.saved_model.save(holder, FILES / name, signatures=holder.run)
    for part in ("assets", "fingerprint.pb"):
        path = FILES / name / part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    expected(name, lambda *xs: holder.run(*xs)["y"], inputs)


def trained(model):
    """The model with statistics that make outputs vary."""
    for weight in model.weights:
        low, high = (0.5, 1.5) if "variance" in weight.name or "gamma" in weight.name else (-1, 1)
        scale = 1 if weight.ndim == 1 else np.sqrt(1.5 / np.prod(weight.shape[:-1]))
        weight.assign(rng.uniform(low, high, weight.shape) * scale)
    return model


# -- operators -------------------------------------------------------------------------------------


def arithmetic(x, y):
    i = tf.cast(x * 10, tf.int32)
    return (
        *(x // y, x % y, tf.truncatediv(i, 3), i // 3, i % 3, i // -3, tf.truncatemod(i, 4)),
        *(tf.atan2(x, y), tf.minimum(x, y), tf.math.squared_difference(x, y), tf.pow(x * x, y)),
        *(tf.math.divide_no_nan(x, tf.nn.relu(y)), tf.add_n([x, y, x]), tf.cast(x > y, F32)),
        *(tf.math.logical_xor(x > 0, y > 0), tf.where(x > 0, x, y), tf.math.is_finite(x)),
        *(tf.math.xlogy(tf.nn.relu(x), tf.abs(y)), tf.clip_by_value(x, -0.5, 0.5), x != y),
        *(
            tf.bitwise.bitwise_and(i, 5),
            tf.bitwise.left_shift(i, 2),
            tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 1.0]),
        ),
    )


def activations(x):
    return (
        *(tf.nn.gelu(x), tf.nn.gelu(x, approximate=True), tf.nn.silu(x), tf.nn.elu(x)),
        *(tf.nn.selu(x), tf.nn.leaky_relu(x), tf.nn.softplus(x), tf.round(x * 3), tf.sign(x)),
        *(tf.math.erf(x), tf.math.log1p(tf.abs(x)), tf.math.expm1(x), tf.nn.relu6(x * 6)),
        *(tf.math.rsqrt(tf.abs(x)), tf.nn.crelu(x), tf.nn.softmax(x), tf.nn.log_softmax(x)),
        tf.quantization.fake_quant_with_min_max_args(x, -1.0, 2.0),
        tf.quantization.fake_quant_with_min_max_vars(x, -1.3, 0.7, narrow_range=True),
    )


def reductions(x):
    values, indices = tf.math.top_k(x, 2)
    return (
        *(tf.reduce_sum(x, [0, 2]), tf.reduce_mean(x, -1, keepdims=True), values, indices),
        *(tf.reduce_logsumexp(x), tf.argmax(x, 1), tf.argmin(x, 2, tf.int32)),
        *(tf.reduce_any(x > 1, 1), tf.reduce_all(x > -1, 1), tf.cumsum(x, 1, exclusive=True)),
        *(tf.math.cumprod(x, 2, reverse=True), tf.nn.l2_normalize(x, -1), tf.nn.l2_loss(x)),
        *(tf.math.reduce_std(x), tf.reduce_prod(x, 1), tf.reduce_max(x, [1, 2])),
        *(tf.norm(x, axis=1), tf.math.unsorted_segment_max(x, [1, 0], 3), tf.where(x > 0)),
    )


def slices(x):
    return (
        *(x[:, 1:-1:2, ..., tf.newaxis, 0], x[..., ::-1], x[-1, :, 2], x[1:, tf.newaxis, -2:]),
        tf.strided_slice(x, [0, 0, 0], [2, 3, 4], [1, 2, 2]),
        tf.slice(x, [0, 1, 0], [-1, 2, 3]),
        tf.reshape(x, [tf.shape(x)[0], -1]),
        tf.tile(x, [1, tf.shape(x)[0], 2]),
        tf.reverse(x, [1]),
        tf.broadcast_to(x[:, :1], tf.shape(x)),
        tf.zeros(tf.shape(x)[:2]) + 1,
    )


def movement(x, i):
    return (
        *(tf.gather(x, i, axis=1), tf.gather(x, i, batch_dims=1, axis=2)),
        *(tf.gather_nd(x, [[0, 1], [1, 2]]), tf.one_hot(i, 5), tf.one_hot([-1, 2], 3, 4.0, -1.0)),
        *(tf.stack([x[0], x[1]], 1), *tf.split(x, [1, 3], 1), tf.unstack(x, axis=1)[2]),
        *(tf.transpose(x, [2, 0, 1]), tf.expand_dims(x, -1), tf.squeeze(x[:, :1], 1)),
        *(tf.roll(x, [1, 2], [1, 2]), tf.reverse_sequence(x, [2, 3], 1, 0)),
        *(tf.scatter_nd([[1], [3], [1]], x[0, :3], [5, 5]), tf.linalg.band_part(x, 1, 0)),
        *(tf.tensor_scatter_nd_add(x, [[0, 1]], x[1, :1]), tf.linalg.diag(x[0])),
        *(tf.pad(x, [[0, 0], [1, 2], [2, 1]], m, 0.5) for m in ("CONSTANT",)),
        *(tf.pad(x, [[0, 0], [1, 2], [2, 1]], m) for m in ("REFLECT", "SYMMETRIC")),
        *(tf.einsum("bij,bkj->bik", x, x), tf.matmul(x, x, transpose_b=True), tf.range(5)),
        *(tf.linspace(0.0, 1.0, 5), tf.fill([2, 3], x[0, 0, 0]), tf.sequence_mask([1, 3], 4)),
    )


def images(x):
    old = tf.compat.v1.image
    return (
        *(tf.image.resize(x, [7, 9]), tf.image.resize(x, [3, 3], method="nearest")),
        *(old.resize_bilinear(x, [9, 9], align_corners=True), old.resize_bilinear(x, [4, 7])),
        *(old.resize_nearest_neighbor(x, [9, 4]), old.resize_nearest_neighbor(x, [12, 12])),
        old.resize_nearest_neighbor(x, [9, 4], align_corners=True),
        *(tf.nn.depth_to_space(x, 2), tf.nn.space_to_depth(x, 2), tf.image.flip_left_right(x)),
        tf.nn.space_to_batch(x, [2, 2], [[0, 0], [1, 1]]),
        tf.nn.local_response_normalization(x),
        *(tf.image.per_image_standardization(x), tf.image.central_crop(x, 0.5)),
        *(tf.image.resize_with_pad(x, 10, 8), tf.image.rgb_to_grayscale(x[..., :3])),
    )


def bicubic(x):
    return tf.image.resize(x, [12, 5], method="bicubic")


def boxes(places, scores, image):
    first = tf.image.non_max_suppression(places, scores, 5, 0.5, score_threshold=0.1)
    second, own = tf.image.non_max_suppression_with_scores(places, scores, 5, 0.5)
    third, count = tf.raw_ops.NonMaxSuppressionV4(
        boxes=places,
        scores=scores,
        max_output_size=9,
        iou_threshold=0.3,
        score_threshold=0.2,
        pad_to_max_output_size=True,
    )
    return (
        *(first, tf.gather(places, first), second, own, third, count),
        tf.image.crop_and_resize(image, places[:3], [0, 1, 0], [4, 5]),
        tf.image.crop_and_resize(image, places[:2] - 0.4, [0, 1], [3, 1], "nearest", 7.0),
    )


def convolutions(x):
    w, depthwise, narrow = normal(3, 3, 4, 6), normal(3, 3, 4, 2), normal(3, 3, 2, 6)
    back, cube = normal(3, 3, 5, 4), normal(2, 2, 2, 3, 4)
    nn = tf.nn
    return (
        *(nn.conv2d(x, w, 2, "SAME"), nn.conv2d(x, w, 1, "VALID", dilations=2)),
        nn.conv2d(x, w, [1, 2, 1, 1], [[0, 0], [1, 2], [0, 1], [0, 0]]),
        *(nn.conv2d_transpose(x, back, [2, 2 * n, 2 * n, 5], 2, "SAME") for n in (8,)),
        *(nn.conv2d_transpose(x, back, [2, n, n, 5], 2, "SAME") for n in (15,)),
        nn.conv2d_transpose(x, back, [2, 17, 18, 5], 2, "VALID"),
        *(nn.conv2d(x, narrow, 1, "SAME"), nn.depthwise_conv2d(x, depthwise, [1, 2, 2, 1], "SAME")),
        *(nn.max_pool2d(x, 3, 2, "SAME"), nn.avg_pool2d(x, 3, 2, "SAME")),
        nn.conv3d(x[:, tf.newaxis, ..., :3] + tf.zeros([2, 3, 1, 1, 1]), cube, [1] * 5, "VALID"),
        nn.bias_add(x, [1.0, 2.0, 3.0, 4.0]),
    )


# -- branches and loops ----------------------------------------------------------------------------


def branches(x, i):
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2 + 1, lambda: tf.nn.relu(x) - 3)
    z = tf.switch_case(i, [lambda: x + 1, lambda: x * 2, lambda: tf.exp(x)])
    return y, z


def until(x):
    """Only the run tells the number of iterations."""
    return tf.while_loop(
        lambda i, v: tf.reduce_sum(v) < 100.0, lambda i, v: (i + 1, v * 1.5 + 1), [0, x]
    )


def nested(x):
    def body(i, v):
        v = tf.cond(tf.equal(i % 2, 0), lambda: v + 1.0, lambda: v * tf.reduce_mean(v))
        _, v = tf.while_loop(
            lambda j, w: j < 3, lambda j, w: (j + 1, w + tf.cast(j, F32) * 0.1), [0, v]
        )
        return i + 1, v

    return tf.while_loop(lambda i, v: i < 4, body, [0, x])[1]


def rows(x):
    """A list that a loop writes."""

    def body(i, total, found):
        total = total + tf.tanh(x[i])
        return i + 1, total, found.write(i, total * 2)

    count = tf.shape(x)[0]
    found = tf.TensorArray(F32, size=count)
    _, total, found = tf.while_loop(lambda i, *_: i < count, body, [0, tf.zeros([4]), found])
    return found.stack(), total, tf.map_fn(lambda row: tf.nn.softmax(row * 2), x)


def remembered(x):
    """A list that a loop writes and reads."""
    found = tf.TensorArray(F32, size=60, element_shape=[4], clear_after_read=False)
    return tf.while_loop(
        lambda i, _: i < 60,
        lambda i, a: (i + 1, a.write(i, a.read(i - 1) * 0.5 + x[i % 6])),
        [1, found.write(0, x[0])],
    )[1].stack()


class Network(tf.Module):
    """Convolutions, statistics and pooling as Keras writes them."""

    def __init__(self):
        super().__init__()
        layers = keras.layers
        self.model = trained(keras.Sequential([
            layers.Input((16, 16, 3)),
            layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.DepthwiseConv2D(3, padding="same"),
            layers.ReLU(6.0),
            layers.MaxPooling2D(),
            layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
            layers.AveragePooling2D(2, 1, padding="same"),
            layers.Flatten(),
            layers.Dense(5),
        ]))  # fmt: skip

    def __call__(self, x):
        return self.model(x, training=False)


class Recurrent(tf.Module):
    def __init__(self):
        super().__init__()
        layers = keras.layers
        self.model = trained(keras.Sequential([
            layers.Input((None, 6)), layers.LSTM(4, return_sequences=True), layers.GRU(3),
        ]))  # fmt: skip

    def __call__(self, x):
        return self.model(x, training=False)


class Counter(tf.Module):
    """What it writes comes out, also from branches and loops."""

    def __init__(self):
        super().__init__()
        self.total = tf.Variable([0.0, 0.0, 0.0], name="total")
        self.runs = tf.Variable(1, name="runs")
        self.scale = tf.Variable([2.0, 3.0, 4.0])

    def add(self, x):
        self.total.assign_add(x * self.scale)

    def set(self, x):
        self.total.assign(x)

    def __call__(self, x):
        before = self.total.read_value()
        self.add(x)
        self.runs.assign_add(1)
        tf.cond(tf.reduce_sum(x) > 0, lambda: self.add(x), lambda: self.set(x))
        tf.while_loop(lambda i: i < 3, lambda i: (self.add(tf.cast(i, F32)), i + 1)[1:], [0])
        return self.total - before + tf.cast(self.runs, F32)


def different(x, i, image):
    """Each element once, and where the largest ones are."""
    pool = tf.nn.max_pool_with_argmax
    return (
        *(*tf.unique(x), *tf.unique_with_counts(i)),
        *(*pool(image, 2, 2, "SAME"), *pool(image, 3, 1, "VALID", include_batch_in_index=True)),
    )


def detections(shared, own, scores):
    """Boxes that all classes share or that each has, of an open number of images."""
    best, soft = tf.image.combined_non_max_suppression, tf.image.non_max_suppression_with_scores
    return (
        *best(shared, scores, 3, 10, iou_threshold=0.3),
        *best(shared, scores, 3, 30, 0.3, score_threshold=0.4, pad_per_class=True),
        *best(own, scores, 3, 60, 0.3, score_threshold=0.2, clip_boxes=False),
        *best(own, scores, 3, 4, 0.3, score_threshold=2.0),
        *soft(own[0, :, 1], scores[0, :, 1], 8, score_threshold=0.1, soft_nms_sigma=0.5),
    )


def fused(name):
    """What TensorFlow's optimizer makes of products and what follows them."""
    graph = tf.compat.v1.GraphDef()
    weight, bias, matrix = normal(3, 3, 4, 4), normal(4), normal(4, 4)
    statistics = [normal(4), normal(4), normal(4), np.abs(normal(4)) + 0.5]
    with tf.Graph().as_default() as made:
        tf.compat.v1.placeholder(F32, [2, 6, 6, 4], "x0")
        for i, value in enumerate([weight, bias, matrix, *statistics]):
            tf.constant(value, name=f"c{i}")
        graph.CopyFrom(made.as_graph_def())

    def node(kind, name, inputs, fused=(), **attributes):
        one = graph.node.add(op=kind, name=name, input=inputs)
        one.attr["T"].type = 1
        for key, value in {"epsilon": 1e-3, **attributes}.items():
            field = {bytes: "s", float: "f", int: "i"}[type(value)]
            setattr(one.attr[key], field, value)
        if fused:
            one.attr["fused_ops"].list.s.extend(fused)
            one.attr["num_args"].i = len(inputs) - 2
        if kind == "_FusedConv2D":
            one.attr["strides"].list.i.extend([1, 2, 2, 1])
            one.attr["TArgs"].list.type.extend([1] * (len(inputs) - 2))

    same = {"padding": b"SAME"}
    node("_FusedConv2D", "a", ["x0", "c0", "c1"], [b"BiasAdd", b"Relu6"], **same)
    normed = [b"FusedBatchNorm", b"LeakyRelu"]
    node("_FusedConv2D", "b", ["x0", "c0", "c3", "c4", "c5", "c6"], normed,
         leakyrelu_alpha=0.3, **same)  # fmt: skip
    graph.node.add(op="Reshape", name="rows", input=["x0", "shape"]).attr["T"].type = 1
    shape = graph.node.add(op="Const", name="shape")
    shape.attr["dtype"].type = 3
    shape.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.array([72, 4], np.int32)))
    node("_FusedMatMul", "c", ["rows", "c2", "c1"], [b"BiasAdd", b"Relu"])
    given = normal(2, 6, 6, 4)
    with tf.Graph().as_default():
        tf.import_graph_def(graph, name="")
        with tf.compat.v1.Session() as session:
            found = session.run([f"{n}:0" for n in "abc"], {"x0:0": given})
    (FILES / f"{name}.pb").write_bytes(graph.SerializeToString())
    outputs = {f"out{i}": value for i, value in enumerate(found)}
    np.savez_compressed(FILES / f"{name}.npz", in0=given, **outputs)


def spectra(x, sound):
    """Complex numbers: x [2, 240], sound [400, 1]."""
    short = tf.signal.stft(x, 64, 32)
    power = tf.raw_ops.AudioSpectrogram(
        input=sound, window_size=160, stride=80, magnitude_squared=True
    )
    wide = tf.signal.fft2d(tf.complex(x, x * 2))
    return (
        tf.abs(short),
        tf.signal.inverse_stft(short, 64, 32),
        tf.math.real(wide * tf.math.conj(wide + 1)),
        tf.math.imag(tf.signal.ifft(tf.cast(x, tf.complex64))),
        power,
        tf.raw_ops.Mfcc(spectrogram=power, sample_rate=8000, dct_coefficient_count=7),
    )


def matrices(a, b):
    """a [2, 4, 4], b [2, 4, 3]"""
    whole = tf.matmul(a, a, transpose_b=True) + 4 * tf.eye(4)
    lower = tf.linalg.cholesky(whole)
    q, r = tf.linalg.qr(b)
    sign, size = tf.linalg.slogdet(a)
    return (
        lower, tf.linalg.inv(whole), tf.linalg.det(a), tf.linalg.solve(whole, b, adjoint=True),
        tf.linalg.triangular_solve(lower, b), tf.linalg.triangular_solve(lower, b, adjoint=True),
        q, r, sign, size, tf.linalg.eigvalsh(whole), tf.linalg.svd(b, compute_uv=False),
        tf.linalg.diag_part(b), tf.linalg.set_diag(b, a[:, 0, :3]), tf.linalg.cross(b, b[:, ::-1]),
        tf.math.lgamma(b), tf.math.digamma(b), tf.math.erfinv(tf.tanh(b)),
        tf.math.cumulative_logsumexp(b, axis=1, reverse=True),
    )  # fmt: skip


def quantized(x):
    """x [3, 8] as integers of all modes, and back."""
    found = []
    forms = (("MIN_COMBINED", tf.qint8), ("MIN_FIRST", tf.quint8), ("SCALED", tf.qint8))
    for i, (mode, kind) in enumerate((*forms, ("SCALED", tf.quint8), ("SCALED", tf.qint8))):
        away, own = "HALF_AWAY_FROM_ZERO", {"narrow_range": i == 4, "mode": mode}
        rounding = "HALF_TO_EVEN" if i == 3 else away
        found += tf.raw_ops.QuantizeV2(
            input=x, min_range=-2.0, max_range=1.5 + i, T=kind, round_mode=rounding, **own
        )
        whole, low, high = found[-3:]
        found[-3] = tf.cast(whole, tf.int32)
        found.append(tf.raw_ops.Dequantize(input=whole, min_range=low, max_range=high, **own))
    ends = tf.fill([8], -1.0), tf.linspace(0.5, 2.0, 8)
    whole, *ends = tf.quantization.quantize(x, *ends, tf.qint8, mode="SCALED", axis=1)
    return *found, tf.quantization.dequantize(whole, *ends, mode="SCALED", axis=1)


def parts(a, x):
    """Factors and diagonals of a [2, 4, 4], and lists of parts of x [5, 3]."""
    raw, own = tf.raw_ops, {"element_shape": [3], "element_dtype": F32}
    split = raw.TensorListSplit(tensor=x, element_shape=[-1, 3], lengths=np.int64([1, 3, 1]))
    rows = raw.TensorListFromTensor(tensor=x, element_shape=[3])
    some = raw.TensorListScatterV2(tensor=x[:2], indices=[3, 1], element_shape=[3], num_elements=4)
    lists = (some, raw.TensorListResize(input_handle=rows, size=6),
             raw.TensorListResize(input_handle=rows, size=2),
             raw.TensorListConcatLists(input_a=rows, input_b=some, element_dtype=F32))  # fmt: skip
    whole = raw.TensorListConcatV2(
        input_handle=split, element_shape=[-1, 3], leading_dims=np.int64([]), element_dtype=F32
    )[0]
    item = raw.TensorListGetItem(
        input_handle=split, index=1, element_shape=[-1, 3], element_dtype=F32
    )
    return (
        *tf.linalg.lu(a), tf.linalg.tensor_diag(x), tf.linalg.tensor_diag_part(a[:, :2, :2, None] @
        x[None, None, :1, :2]), whole, item,
        *(raw.TensorListStack(input_handle=one, **own) for one in lists),
    )  # fmt: skip


def combined(x, ids, i):
    """Segments and sparse tensors: x [5, 3], ids [5] ascending, i [12]."""
    indices, values = np.array([[0, 1], [0, 3], [2, 0]], np.int64), x[:3, 0]
    sparse = tf.SparseTensor(indices, values, [3, 5])
    names = ("sum", "mean", "max", "min", "prod")
    return (
        *(getattr(tf.math, f"segment_{name}")(x, ids) for name in names),
        tf.sparse.segment_mean(x, [0, 2, 3], [0, 0, 2]),
        tf.sparse.segment_sqrt_n(x, [0, 2, 3], [0, 0, 2]),
        tf.sparse.to_dense(sparse), tf.sparse.sparse_dense_matmul(sparse, x),
        tf.math.bincount(i, minlength=6, maxlength=6), tf.searchsorted(tf.sort(x), x, "right"),
        tf.dynamic_stitch([[0, 2], [1, 3, 4]], [x[:2], x[2:]]),
        *tf.dynamic_partition(x, ids, 3), tf.raw_ops.NthElement(input=x, n=1),
        tf.raw_ops.PopulationCount(x=i), tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x),
        tf.nn.sparse_softmax_cross_entropy_with_logits(ids, x),
        tf.quantization.quantize_and_dequantize_v2(x, -2.0, 2.0, range_given=True),
    )  # fmt: skip


def pictures(x):
    """x [2, 8, 6, 3] between 0 and 1"""
    turn = np.array([[0.9, 0.1, 0.5, -0.1, 1.1, 0.3, 0.01, 0]], np.float32)
    kernel = np.linspace(-0.3, 0.3, 27, dtype=np.float32).reshape(3, 3, 3)
    return (
        tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(x), tf.image.adjust_contrast(x, 2.0),
        tf.image.adjust_hue(x, 0.2), tf.image.adjust_saturation(x, 1.5),
        tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 2, 1, 1], "SAME"),
        tf.nn.dilation2d(x, kernel, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        tf.nn.erosion2d(x, kernel, [1, 1, 1, 1], "VALID", "NHWC", [1, 2, 1, 1]),
        tf.image.resize(x, (5, 9), "area"), tf.image.resize(x, (5, 9), "lanczos3", antialias=True),
        tf.image.resize(x, (5, 9), "mitchellcubic"), tf.image.resize(x, (5, 9), antialias=True),
        tf.raw_ops.ImageProjectiveTransformV3(
            images=x, transforms=turn, output_shape=[7, 6], fill_value=0.0, interpolation="BILINEAR"
        ),
    )  # fmt: skip


def numbered(x, positions, data):
    """What tells positions and orders at run time: x [6], positions [5] below 8, data [5, 2]."""
    numbers = tf.constant([-0.0, -1, -2, -0.5, 1, 2, 3.5, 0.3, 9, np.inf])
    kinds = tf.cast(positions % 2, tf.int32)
    parts = tf.dynamic_partition(data, kinds, 2)
    places = tf.dynamic_partition(positions, kinds, 2)
    op = tf.raw_ops
    return (
        tf.dynamic_stitch(places, parts), tf.dynamic_stitch([positions], [data[:, 0]]),
        tf.histogram_fixed_width(x, [-1.0, 1.0], 5),
        tf.histogram_fixed_width(x, [x[0], x[0] + 2], 3, tf.int64),
        *(op.Zeta(x=n + 0 * x[0], q=numbers) for n in (0.5, 1.0, 2.0, 3.5, 4.0, 30.0)),
        *(op.Polygamma(a=n + 0 * x[0], x=numbers) for n in (0.0, 1.0, 2.0, 5.0, 1.5, -1.0)),
    )  # fmt: skip


def open_windows(x):
    """x [N, H, W, 2], of any size"""
    kernel = np.linspace(-0.3, 0.3, 18, dtype=np.float32).reshape(3, 3, 2)
    return (
        tf.nn.dilation2d(x, kernel, [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 2, 1]),
        tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], "SAME", "NHWC", [1, 2, 1, 1]),
        tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 1, 1], "VALID"),
    )


def complex_matrices(z, x):
    """z [2, N, 3] complex, x [3, 2] real with an infinite element"""
    wide = tf.cast(x, tf.complex64)
    return (
        tf.matmul(z, z, adjoint_b=True), tf.matmul(z, z, adjoint_a=True), tf.matmul(z, z, transpose_a=True),
        tf.matmul(z[0], z[1], transpose_b=True), tf.sqrt(z), tf.shape(z), tf.size(z), tf.rank(z),
        tf.signal.fftshift(z, axes=[-1]), tf.math.imag(wide), tf.math.real(wide),
    )  # fmt: skip


def eigenvalues(a):
    """As what has an order and a scale."""
    values, vectors = tf.linalg.eig(a)
    sizes = tf.abs(vectors)
    order = tf.argsort(tf.abs(values))
    first = tf.gather(sizes, order, axis=2, batch_dims=1)
    return tf.sort(tf.abs(tf.linalg.eigvals(a))), tf.sort(tf.math.real(values)), first


def further():
    graph("spectra", spectra, normal(2, 240), normal(400, 1))
    graph("quantized", quantized, normal(3, 8))
    graph("parts", parts, normal(2, 4, 4), normal(5, 3))
    graph("matrices", matrices, normal(2, 4, 4), normal(2, 4, 3))
    ids, numbers = np.array([0, 0, 1, 2, 2], np.int32), rng.integers(0, 6, 12).astype(np.int32)
    graph("combined", combined, normal(5, 3), ids, numbers)
    graph("pictures", pictures, rng.uniform(0, 1, (2, 8, 6, 3)).astype(np.float32))


def signatures(name):
    """A SavedModel of two functions."""
    holder = tf.Module()
    spec = [tf.TensorSpec([3], F32, name="x")]
    double = tf.function(lambda x: {"y": x * 2}, input_signature=spec)
    square = tf.function(lambda x: {"y": x * x}, input_signature=spec)
    named = {"serving_default": double, "square": square}
    tf.saved_model.save(holder, FILES / name, signatures=named)
    for part in ("assets", "fingerprint.pb", "variables"):
        path = FILES / name / part
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def radius(x):
    """The kernel's ends lie on elements, as far as rounding goes."""
    return tf.image.resize(x, (17, 7), "gaussian"), tf.image.resize(x, (5, 4), "lanczos3")


def main():
    FILES.mkdir(exist_ok=True)
    signatures("signatures")
    image = normal(2, 5, 6, 3)
    numbers = rng.integers(0, 5, (2, 12))
    graph("different", different, numbers[0].astype(np.float32), numbers[1], image)
    low = rng.uniform(0, 0.8, (2, 12, 4, 2)).astype(np.float32)
    own = np.concatenate([low, low + rng.uniform(0.1, 0.5, low.shape).astype(np.float32)], 3)
    scores = rng.uniform(0, 1, (2, 12, 4)).astype(np.float32)
    open_ = [[None, 12, 1, 4], [None, 12, 4, 4], [None, 12, 4]]
    graph("detections", detections, own[:, :, :1], own, scores, shapes=open_)
    fused("fused")
    graph("arithmetic", arithmetic, normal(3, 4), normal(3, 4))
    graph("activations", activations, normal(3, 4))
    graph("reductions", reductions, normal(2, 4, 5))
    graph("slices", slices, normal(3, 5, 6))
    graph("slices_open", slices, normal(3, 5, 6), shapes=[[None, None, None]])
    graph("movement", movement, normal(2, 4, 5), np.array([[0, 1], [2, 3]], np.int32))
    graph("images", images, normal(2, 6, 6, 4))
    graph("radius", radius, normal(1, 10, 12, 2))
    graph("bicubic", bicubic, normal(1, 6, 7, 2))
    corners = np.abs(normal(20, 2))
    places = np.concatenate([corners, corners + np.abs(normal(20, 2))], 1) / 2
    graph("boxes", boxes, places, np.abs(normal(20)), normal(2, 8, 9, 3))
    graph("convolutions", convolutions, normal(2, 8, 8, 4))
    graph("branches", branches, normal(3, 4), np.int32(1), v1=True)
    graph("until", until, normal(3, 4), v1=True)
    graph("nested", nested, normal(3, 4), v1=True)
    graph("rows", rows, normal(5, 4), shapes=[[None, 4]], v1=True)
    graph("remembered", remembered, normal(6, 4))
    folder("network", Network(), normal(2, 16, 16, 3), shapes=[[None, 16, 16, 3]])
    graph("recurrent", Recurrent(), normal(2, 7, 6), shapes=[[None, None, 6]], v1=True)
    inputs = [normal(3) for _ in range(4)]
    folder("counter", Counter(), inputs[0])
    (FILES / "counter.npz").unlink()
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    counter = Counter()
    for i, x in enumerate(inputs):
        arrays[f"out{i}"] = counter(tf.constant(x)).numpy()
        arrays[f"total{i}"] = counter.total.numpy()
    np.savez_compressed(FILES / "counter_runs.npz", **arrays)
    further()
    places = np.array([4, 0, 7, 2, 0], np.int32)
    graph("numbered", numbered, normal(6), places, normal(5, 2))
    graph("open_windows", open_windows, normal(2, 7, 9, 2), shapes=[[None, None, None, 2]])
    z, x = (normal(2, 4, 3) + 1j * normal(2, 4, 3)).astype(np.complex64), normal(3, 2)
    x[1, 0] = np.inf
    graph("complex_matrices", complex_matrices, z, x, shapes=[[2, None, 3], [3, 2]])
    graph("eigenvalues", eigenvalues, np.random.default_rng(0).normal(size=(2, 3, 3)).astype(F32))


if __name__ == "__main__":
    main()

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
from operators import (
    activations,
    arithmetic,
    bicubic,
    boxes,
    combined,
    complex_matrices,
    eigenvalues,
    images,
    matrices,
    movement,
    numbered,
    open_windows,
    parts,
    pictures,
    projections,
    quantized,
    radius,
    reductions,
    slices,
    spectra,
    unravelled,
    updates,
)
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


def further():
    graph("spectra", spectra, normal(2, 240), normal(400, 1))
    graph("quantized", quantized, normal(3, 8))
    graph("parts", parts, normal(2, 4, 4), normal(5, 3))
    graph("matrices", matrices, normal(2, 4, 4), normal(2, 4, 3))
    ids, numbers = np.array([0, 0, 1, 2, 2], np.int32), rng.integers(0, 6, 12).astype(np.int32)
    graph("combined", combined, normal(5, 3), ids, numbers)
    graph("pictures", pictures, rng.uniform(0, 1, (2, 8, 6, 3)).astype(np.float32))
    starts, any_shape = np.array([1, 2], np.int32), [None, None]
    graph("updates", updates, normal(4, 5), normal(2, 3), starts)
    open_ = [any_shape, any_shape, [2]]
    graph("updates_open", updates, normal(4, 5), normal(2, 3), starts, shapes=open_)


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
    graph("projections", projections, normal(2, 6, 7, 2), shapes=[[None, None, None, 2]])
    graph("unravelled", unravelled, np.array([0, 59, 23, 20, 4]), shapes=[[None]])


if __name__ == "__main__":
    main()

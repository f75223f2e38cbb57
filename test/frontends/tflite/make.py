"""Writes the models of `files/` and what TensorFlow Lite's own kernels make of them.

python make.py FOLDER [NAME ..]    (needs tensorflow 2.21)
"""

import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

MODELS = {}
L = keras.layers


def model(*signature, **options):
    """Register a function of tensors that is converted; shapes of inputs, or specs."""

    def register(function):
        specs = [tf.TensorSpec(s, tf.float32) if isinstance(s, list) else s for s in signature]

        def build():
            concrete = tf.function(function, input_signature=specs).get_concrete_function()
            return converted(tf.lite.TFLiteConverter.from_concrete_functions([concrete]), **options)

        MODELS[function.__name__] = build
        return function

    return register


def converted(converter, kind="", shapes=()):
    if kind:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "f16":
        converter.target_spec.supported_types = [tf.float16]
    if kind in ("i8", "i16"):
        rng = np.random.default_rng(1)
        converter.representative_dataset = lambda: (
            [rng.standard_normal(s).astype(np.float32) for s in shapes] for _ in range(32)
        )
        ops = {
            "i8": tf.lite.OpsSet.TFLITE_BUILTINS_INT8,
            "i16": tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
        }[kind]
        converter.target_spec.supported_ops = [ops]
        converter.inference_input_type = tf.int8 if kind == "i8" else tf.int16
        converter.inference_output_type = converter.inference_input_type
    return converter.convert()


def int32(*shape):
    return tf.TensorSpec(shape, tf.int32)


@model([2, 3, 4], [3, 1])
def arithmetic(x, y):
    p = tf.abs(x) + 0.5
    return [
        tf.nn.relu(x + y), tf.nn.relu6(x * 3 - y), x / p, x % p, tf.floor(x), tf.math.ceil(x),
        tf.round(x * 4), tf.sign(x), tf.maximum(x, y), tf.minimum(x, y), p ** tf.abs(y),
        tf.math.squared_difference(x, y), tf.math.floordiv(x, p), tf.sqrt(p), tf.math.rsqrt(p),
        tf.exp(x), tf.math.log(p), tf.sin(x), tf.cos(x), tf.tanh(x), tf.sigmoid(x), tf.abs(x), -x,
        tf.square(x), tf.atan2(x, tf.cos(x)), tf.add_n([x, x * 2, x]), tf.math.l2_normalize(x, -1),
    ]  # fmt: skip


@model([2, 6])
def activations(x):
    return [
        tf.nn.elu(x), tf.nn.leaky_relu(x, 0.3), tf.nn.gelu(x, True),
        tf.nn.softmax(x), tf.nn.softmax(x * 2.5), tf.nn.log_softmax(x), tf.nn.relu(x), tf.nn.relu6(x * 5),
        x * tf.nn.relu6(x + 3) / 6, tf.nn.selu(x), tf.nn.softplus(x), tf.clip_by_value(x, -1, 1),
    ]  # fmt: skip


@model(int32(2, 3), int32(2, 3))
def integers(x, y):
    d = y * y + 1
    return [
        x + y, x - y, x * y, tf.math.floordiv(x, d), tf.math.floordiv(x, -d), tf.math.floormod(x, d),
        tf.maximum(x, y), tf.cast(x, tf.float32) / 2, tf.bitwise.bitwise_xor(x, y),
        tf.bitwise.right_shift(x, tf.abs(y) % 3), tf.cast(x > y, tf.int32), tf.cumsum(x, 1),
        tf.cumsum(x, 0, exclusive=True, reverse=True), tf.cast(x, tf.int64) * 2,
    ]  # fmt: skip


@model([3, 4], [3, 4])
def comparisons(x, y):
    a, b = x > y, x + 1 < y
    return [
        a, b, x >= y, x <= y, tf.equal(x, x), tf.not_equal(x, y), a & b, a | b, ~a,
        tf.where(a, x, y), tf.where(a, x, tf.zeros([4])), tf.reduce_any(b, 1), tf.reduce_all(a, 0),
        tf.where(a), tf.zeros_like(x), tf.cast(a, tf.float32),
    ]  # fmt: skip


@model([2, 6, 4])
def movement(x):
    a, b, c = tf.split(x, [1, 2, 3], 1)
    return [
        tf.reshape(x, [3, -1]), tf.transpose(x, [2, 0, 1]), tf.concat([x, x * 2], 1), tf.stack([x, x], 1),
        tf.unstack(x, axis=2)[1], tf.split(x, 3, 1)[2], b, c, a, x[:, 1:5:2, ::-1], x[1, ..., tf.newaxis, -1],
        x[:, -2], tf.slice(x, [0, 2, 1], [2, -1, 2]), tf.pad(x, [[0, 0], [1, 2], [0, 1]]),
        tf.pad(x, [[0, 0], [1, 2], [0, 1]], constant_values=2.5), tf.pad(x, [[0, 1], [2, 1], [0, 3]], "REFLECT"),
        tf.pad(x, [[1, 0], [2, 6], [0, 3]], "SYMMETRIC"), tf.tile(x, [1, 2, 3]), tf.reverse(x, [1, 2]),
        tf.broadcast_to(x[:1], [4, 2, 6, 4])[1:2], tf.squeeze(x[:1]), tf.expand_dims(x, 1),
        tf.fill([2, 3], x[0, 0, 0]), tf.range(x[0, 0, 0] * 0, 3.0, 0.5), tf.shape(x), tf.rank(x),
        tf.reverse_sequence(x, [3, 5], seq_axis=1, batch_axis=0),
    ]  # fmt: skip


@model([4, 6, 8, 3])
def blocks(x):
    return [
        tf.nn.space_to_depth(x, 2), tf.nn.depth_to_space(tf.concat([x, x[..., :1]], 3), 2),
        tf.space_to_batch(x, [2, 3], [[0, 0], [1, 0]]), tf.batch_to_space(x, [2, 2], [[1, 0], [0, 2]]),
    ]  # fmt: skip


@model([3, 5, 4], int32(2, 3), int32(3, 2))
def indexing(x, at, each):
    places = tf.stack([at % 3, at % 5], -1)
    return [
        tf.gather(x, at % 3), tf.gather(x, at % 5, axis=1), tf.gather(x, each % 5, axis=1, batch_dims=1),
        tf.gather(x, each % 4, axis=2, batch_dims=1), tf.gather_nd(x, places),
        tf.scatter_nd(places, tf.ones([2, 3, 4]), [3, 5, 4]), tf.one_hot(at, 4), tf.one_hot(at, 3, 2.0, -1.0, axis=0),
        tf.math.top_k(x, 2)[0], tf.math.top_k(x, 3)[1], tf.argmax(x, 1), tf.argmin(x, -1, tf.int32),
        tf.linalg.diag(x[0]), tf.linalg.set_diag(x, x[:, 0, :4]),
        tf.math.unsorted_segment_sum(x, at[0] % 4, 4), tf.math.unsorted_segment_max(x, at[1] % 3, 3),
        tf.tensor_scatter_nd_update(x, [[1], [2]], x[:2] * 2), tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 1], [2, 3]], [1.5, 2.5], [3, 4])),
    ]  # fmt: skip


@model([2, 3, 4])
def reductions(x):
    return [
        tf.reduce_sum(x, 1), tf.reduce_mean(x, [0, 2], keepdims=True), tf.reduce_max(x, -1), tf.reduce_min(x),
        tf.reduce_prod(x, [1]), tf.reduce_logsumexp(x, 1), tf.math.reduce_std(x, 2), tf.norm(x, axis=1),
    ]  # fmt: skip


def weights(*shape, seed=0, scale=0.5):
    return tf.constant(
        np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * scale
    )


@model([2, 9, 8, 4])
def convolution(x):
    w = weights(3, 3, 4, 6)
    return [
        tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + 0.3), tf.nn.conv2d(x, w, [2, 3], "VALID"),
        tf.nn.conv2d(x, w, 2, "SAME"), tf.nn.conv2d(x, w, 1, "SAME", dilations=[2, 2]),
        tf.nn.conv2d(x, weights(3, 2, 2, 6), 1, "SAME"),
        tf.nn.relu6(tf.nn.depthwise_conv2d(x, weights(3, 3, 4, 2), [1, 2, 2, 1], "SAME")),
        tf.nn.depthwise_conv2d(x, weights(2, 2, 4, 1), [1, 1, 1, 1], "VALID", dilations=[2, 2]),
        tf.nn.conv2d_transpose(x, weights(3, 3, 5, 4), [2, 18, 16, 5], 2, "SAME"),
        tf.nn.conv2d_transpose(x, weights(3, 4, 5, 4), [2, 19, 18, 5], 2, "VALID"),
        tf.nn.conv3d(x[:, :, :, :, None], weights(2, 3, 2, 1, 3), [1, 1, 2, 1, 1], "SAME"),
        tf.nn.max_pool2d(x, 3, 2, "SAME"), tf.nn.avg_pool2d(x, [3, 2], [2, 1], "SAME"),
        tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.avg_pool2d(x, 2, 1, "VALID"),
        tf.nn.local_response_normalization(x, 1, 1.5, 0.7, 0.6),
    ]  # fmt: skip


@model([2, 3, 5], [2, 5, 4])
def products(x, y):
    w = weights(5, 7)
    return [
        tf.matmul(x, y), tf.matmul(y, x, transpose_a=True, transpose_b=True), tf.matmul(x, w) + weights(7),
        tf.nn.relu(tf.matmul(tf.reshape(x, [6, 5]), w)), tf.einsum("bij,bjk->bki", x, y),
    ]  # fmt: skip


@model([1, 5, 6, 2])
def resizing(x):
    v1 = tf.compat.v1.image
    return [
        v1.resize_bilinear(x, [9, 7]), v1.resize_bilinear(x, [3, 4], half_pixel_centers=True),
        v1.resize_bilinear(x, [9, 11], align_corners=True), v1.resize_nearest_neighbor(x, [9, 7]),
        v1.resize_nearest_neighbor(x, [3, 13], half_pixel_centers=True),
        v1.resize_nearest_neighbor(x, [9, 11], align_corners=True),
    ]  # fmt: skip


@model([2, 16])
def frequencies(x):
    found = tf.signal.rfft(x)
    return [
        tf.abs(found),
        tf.math.real(found),
        tf.math.imag(found),
        tf.math.real(tf.signal.rfft2d(x)),
    ]


@model([3], int32())
def control(x, count):
    def loop(i, v):
        return i + 1, v * 1.5 + tf.cast(i, tf.float32)

    _, looped = tf.while_loop(lambda i, v: (i < count) & (v[0] < 100.0), loop, [0, x])
    chosen = tf.cond(count > 2, lambda: x * 2, lambda: tf.sin(x))
    return [looped, chosen]


@model(tf.TensorSpec([None, 4], tf.float32))
def open_shapes(x):
    return [
        tf.reshape(x, [-1, 2, 2]),
        x @ weights(4, 3),
        tf.shape(x)[0] * 2,
        tf.reduce_mean(x, 0),
        x[1:],
    ]


def keras_model(name, layers, shape, **options):
    def build():
        keras.utils.set_random_seed(2)
        net = keras.Sequential([L.Input(shape[1:], batch_size=shape[0]), *layers()])
        for v in net.variables:
            if "seed" not in v.path:
                noise = np.random.default_rng(len(v.path)).standard_normal(v.shape)
                v.assign(np.abs(noise) + 0.5 if "var" in v.path else noise * 0.4)
        return converted(tf.lite.TFLiteConverter.from_keras_model(net), shapes=[shape], **options)

    MODELS[name] = build


def net():
    return [
        L.Conv2D(8, 3, 2, "same"), L.BatchNormalization(), L.ReLU(6), L.DepthwiseConv2D(3, padding="same"),
        L.ReLU(), L.Conv2D(6, 1), L.LeakyReLU(), L.MaxPooling2D(2), L.AveragePooling2D(2), L.Flatten(),
        L.Dense(10, activation="tanh"), L.Dense(5, activation="sigmoid"),
    ]  # fmt: skip


for kind in ("f16", "dynamic", "i8", "i16"):
    keras_model(f"net_{kind}", net, [1, 16, 16, 3], kind=kind)
keras_model("lstm", lambda: [L.LSTM(5, return_sequences=True), L.LSTM(4)], [2, 7, 3])
keras_model("gru", lambda: [L.GRU(5, return_sequences=True), L.SimpleRNN(4)], [2, 7, 3])
keras_model(
    "bidirectional", lambda: [L.Bidirectional(L.LSTM(4, return_sequences=True))], [2, 40, 3]
)


@model([2, 6, 6, 4], [2, 6, 6, 4], kind="i8", shapes=[[2, 6, 6, 4]] * 2)
def quantized_ops(x, y):
    return [
        y * x, y + x, tf.nn.conv2d(x, weights(3, 3, 4, 4), 1, "SAME"), tf.maximum(x, y), tf.concat([x, y], 3), tf.reduce_mean(y, [1, 2]), tf.nn.softmax(y), tf.sigmoid(y),
        tf.tanh(y), tf.image.resize(y, [9, 9]), tf.pad(y, [[0, 0], [1, 1], [2, 0], [0, 0]]), tf.transpose(y, [0, 3, 1, 2]),
        tf.nn.leaky_relu(y), tf.reduce_max(y, 3), tf.nn.avg_pool2d(y, 2, 1, "SAME"), y[:, 1:3], tf.nn.relu(x - y),
        tf.nn.conv2d_transpose(x, weights(3, 3, 5, 4), [2, 12, 12, 5], 2, "SAME"), tf.argmax(y, 3),
    ]  # fmt: skip


class Streaming(tf.Module):
    """A filter that remembers the last inputs and counts."""

    def __init__(self, start):
        self.line = tf.Variable(start, name="line")

    @tf.function(input_signature=[tf.TensorSpec([1, 1, 3], tf.float32)])
    def __call__(self, x):
        line = tf.concat([self.line[:, 1:], x], 1)
        self.line.assign(line)
        return tf.reduce_sum(line * weights(4, 3), [1])


def streaming(start):
    made = Streaming(start)
    concrete = made.__call__.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], made)
    converter.experimental_enable_resource_variables = True
    return converter.convert()


MODELS["streaming"] = lambda: streaming(tf.fill([1, 4, 3], 0.5))
MODELS["streaming_begun"] = lambda: streaming(weights(1, 4, 3))


class Inside(tf.Module):
    """Variables in a branch and in a loop: one of both, and one of a branch only."""

    def __init__(self):
        self.sum, self.turns = tf.Variable(tf.zeros([3])), tf.Variable(weights(3))

    @tf.function(input_signature=[tf.TensorSpec([3], tf.float32)])
    def __call__(self, x):
        def turned():
            self.turns.assign(-self.turns)
            return self.sum.read_value() * 2.0

        def step(i):
            self.sum.assign_add(x * 0.5)
            return i + 1

        found = tf.cond(tf.reduce_sum(self.sum) > 1.0, turned, lambda: self.sum.assign_add(x) - 1.0)
        tf.while_loop(lambda i: i < 2, step, [0])
        return found + self.turns, self.sum.read_value()


def variables_inside():
    made = Inside()
    concrete = made.__call__.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], made)
    converter.experimental_enable_resource_variables = True
    return converter.convert()


MODELS["variables_inside"] = variables_inside
STEPS = {"streaming": 4, "streaming_begun": 4, "variables_inside": 5}


def tables():
    """Tables of text by numbers, and of numbers by text."""
    lookup, holder = tf.lookup, tf.Module()
    numbers, words = tf.constant([0, 1, 9], tf.int64), ["none", "één", "nine"]
    back = lookup.KeyValueTensorInitializer(["één", "?"], tf.constant([30, -7], tf.int64))
    holder.words = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(numbers, words), "?")
    holder.numbers = lookup.StaticHashTable(back, -1)

    @tf.function(input_signature=[int32(6)])
    def run(x):
        text = holder.words.lookup(tf.cast(x, tf.int64))
        return text, holder.numbers.lookup(text), holder.words.size() + 0 * tf.cast(x[0], tf.int64)

    concrete = run.get_concrete_function()
    return converted(tf.lite.TFLiteConverter.from_concrete_functions([concrete], holder))


@model([3, 6])
def randoms(x):
    draw = tf.random
    return draw.uniform([7], seed=5), draw.normal([2, 3], seed=9), draw.categorical(x, 4, seed=3)


MODELS["tables"] = tables


def inputs(details):
    rng = np.random.default_rng(7)
    found = []
    for d in details:
        shape = (
            [3 if s == -1 else s for s in d["shape_signature"]]
            if len(d["shape_signature"])
            else d["shape"]
        )
        kind = np.dtype(d["dtype"])
        if kind.kind == "f":
            found.append(rng.standard_normal(shape).astype(kind))
        else:
            low, high = (-100, 100) if kind.itemsize < 4 else (0, 7)
            found.append(rng.integers(low, high, shape).astype(kind))
    return found


def expected(data, steps=1, delegated=False):
    """Inputs and outputs of its own kernels, or with XNNPACK where it is `delegated`; outputs of several steps on top of another."""
    resolvers = tf.lite.experimental.OpResolverType
    kernels = resolvers.AUTO if delegated else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(model_content=data, experimental_op_resolver_type=kernels)
    details = interpreter.get_input_details()
    given = inputs(details)
    for d, x in zip(details, given, strict=True):
        interpreter.resize_tensor_input(d["index"], x.shape)
    interpreter.allocate_tensors()
    rows = []
    for _ in range(steps):
        for d, x in zip(details, given, strict=True):
            interpreter.set_tensor(d["index"], x)
        interpreter.invoke()
        rows.append([interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()])
    scales = [d["quantization"][0] for d in interpreter.get_output_details()]
    names = [d["name"] for d in interpreter.get_output_details()]
    found = {f"in{i}": x for i, x in enumerate(given)} | {
        "scales": np.array(scales),
        "names": np.array(names),
    }
    outs = [np.stack(column) for column in zip(*rows, strict=True)]
    return found | {
        f"out{i}": v.astype("S") if v.dtype == object else v for i, v in enumerate(outs)
    }


def main(folder, *names):
    for name in names or MODELS:
        data = MODELS[name]()
        Path(folder, f"{name}.tflite").write_bytes(data)
        found = expected(data, STEPS.get(name, 1), delegated=name == "net_dynamic")
        np.savez_compressed(Path(folder, f"{name}.npz"), **found)
        print(
            name,
            len(data),
            [v.shape for k, v in found.items() if k.startswith("out")][:4],
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

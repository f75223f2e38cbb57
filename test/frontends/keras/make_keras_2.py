"""Writes models of Keras 2 whose semantics or files differ from those of Keras 3.

    python make_keras_2.py FOLDER       # needs tf_keras 2.21

Each `NAME.h5` has its inputs and Keras's outputs in `NAME.h5.npz`.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
import tf_keras as keras

L = keras.layers
rng = np.random.default_rng(5)
MODELS = {}


def model(*inputs):
    """Register a function from inputs to outputs; an input is a shape, or an array for one."""

    def register(function):
        MODELS[function.__name__] = (inputs, function)
        return function

    return register


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def with_gaps(*ends):
    """Sequences of 5 steps, of which those from an end on are zeros."""
    x = normal(len(ends), 5, 4)
    for one, end in zip(x, ends, strict=True):
        one[end:] = 0
    return x


@model(with_gaps(3, 4, 5), with_gaps(2, 5, 3))
def masks_of_2(a, b):
    """Merged masks are intersections; layers of preprocessing pass none on."""
    x, y = L.Masking()(a), L.Masking()(b)
    merged = [L.Add()([x, y]), L.Multiply()([x, b]), L.Maximum()([a, y, b])]
    merged += [L.Concatenate()([x, y]), L.Concatenate()([x, b]), L.Concatenate(axis=1)([x, y])]
    merged += [L.Rescaling(2.0)(x), L.Normalization(mean=0.1, variance=2.0)(x), L.Identity()(x)]
    return [L.GRU(2)(one) for one in merged]


@model(normal(2, 5), normal(2, 4))
def by_name_of_2(a, b):
    """Models that are called by name, and whose results have names, counted in their order."""
    p, q = L.Input((5,), name="zz"), L.Input((4,), name="aa")
    results = {"o2": L.Dense(3)(p), "o1": L.Dense(3)(q), "a": [L.Dense(3)(p), L.Dense(3)(q)]}
    inner = keras.Model({"zz": p, "aa": q}, results)
    listed = keras.Model([p, q], results)
    found = [inner({"aa": b, "zz": a}), listed({"aa": b, "zz": a}), listed([a, b])]
    return [part for one in found for part in (one["o2"], one["o1"], one["a"][1], one["a"][0])]


@model(normal(2, 6, 6, 4))
def kinds_of_2(x):
    """Layers whose configuration has groups, which they do not use."""
    rows, cube = L.Reshape((36, 4))(x), L.Reshape((6, 3, 2, 4))(x)
    return [
        L.Conv2DTranspose(3, 3, 2, "same")(x),
        L.SeparableConv2D(3, 3, depth_multiplier=2)(x),
        L.SeparableConv1D(3, 3)(rows),
        L.Conv1DTranspose(2, 3, 2)(rows),
        L.Conv3DTranspose(2, 2)(cube),
    ]


@model(normal(3, 4, 4, 4), np.int32([[1, 0, -1], [3, 4, 2], [-5, 7, 1]]))
def functions_of_2(x, i):
    """TensorFlow's functions on tensors of a model."""
    shape, flat = tf.shape(x), x[:, 0, 0]
    return [
        tf.transpose(x, [0, 2, 1, 3]),
        tf.pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]]),
        *(tf.gather(x, [3, 1], axis=2), tf.squeeze(x[:, :1], 1)),
        tf.reshape(x, [shape[0], shape[1] * shape[2], 4]),
        tf.broadcast_to(x[:, :1], shape),
        tf.image.resize(x, (5, 6)),
        *(tf.nn.depth_to_space(x, 2), tf.nn.space_to_depth(x, 2)),
        *(tf.unstack(x, axis=-1)[2], tf.ones_like(x) - tf.zeros_like(x)),
        *(tf.argmax(flat, 1), tf.math.argmin(flat, -1), *tf.math.top_k(flat, 2)),
        tf.math.cumprod(flat, 1, exclusive=True, reverse=True),
        *(tf.cumsum(flat, -1, reverse=True), tf.reverse(x, [1, -1])),
        *(tf.reduce_prod(flat, 1), tf.math.reduce_std(x, [1, 2]), tf.math.reduce_variance(x, 0)),
        *(tf.reduce_any(x > 0.8, -1), tf.reduce_all(x > -0.8, [1, 2], keepdims=True)),
        tf.one_hot(i, 4, on_value=3.0, off_value=-1.0, axis=1),
        *(i // 2, i % 3, flat // 0.3, flat % 0.7),
        tf.logical_and(flat > 0, tf.logical_not(flat >= 1.0)),
        *(tf.where(flat >= 0.0, flat, 0.5), tf.norm(x, axis=-1), tf.norm(x)),
        *(tf.nn.l2_normalize(flat, axis=1), tf.math.squared_difference(flat, 0.5)),
        tf.linalg.matmul(x, x, transpose_b=True),
        *(tf.math.log1p(x * x), tf.math.sign(flat), tf.math.round(flat), tf.math.softplus(flat)),
    ]


@model(normal(3, 2))
def bins_of_2(x):
    return L.Discretization([-1.0, 0.0, 0.5])(x)


@model(normal(2, 9, 7, 3), normal(2, 3, 4, 3))
def cropped_at_inference(x, small):
    """The largest part of the asked ratio, resized."""
    return [L.RandomCrop(*size)(y) for y in (x, small) for size in ((4, 5), (5, 4), (9, 7))]


@model(normal(3, 4))
def shared_in_order(x):
    """The second model has a layer of the first, which its archive does not count."""
    shared = L.Dense(4, "tanh", name="d")
    first, second = L.Input((4,)), L.Input((4,))
    first = keras.Model(first, L.Dense(4)(shared(first)), name="first")
    second = keras.Model(second, shared(L.Dense(4)(second)), name="second")
    return [first(second(x)), shared(x)]


IN_ARCHIVES = ("shared_in_order",)
"""Models that are also written as `.keras`."""


def write(folder, name, inputs, function):
    """A model with random weights, and what it makes of its inputs."""
    heads = [keras.Input(x.shape[1:], dtype=x.dtype.name) for x in inputs]
    net = keras.Model(heads, function(*heads))
    for weight in net.weights:
        if (
            weight.dtype.is_floating
            and "variance" not in weight.name
            and "count" not in weight.name
        ):
            weight.assign(rng.normal(size=weight.shape) * 0.5)
    if name in IN_ARCHIVES:
        net.save(folder / f"{name}.keras")
    net.save(folder / f"{name}.h5")
    found = [
        np.asarray(y) for y in tf.nest.flatten(net([*map(tf.constant, inputs)], training=False))
    ]
    arrays = {f"in:{head.name}": x for head, x in zip(heads, inputs, strict=True)}
    arrays |= {f"out:{i:02}": y for i, y in enumerate(found)}
    types = np.array([y.dtype.name for y in found])
    np.savez_compressed(folder / f"{name}.h5.npz", types=types, **arrays)
    if name in IN_ARCHIVES:
        np.savez_compressed(folder / f"{name}.keras.npz", types=types, **arrays)


if __name__ == "__main__":
    for name, (inputs, function) in MODELS.items():
        if name in (sys.argv[2:] or MODELS):
            write(Path(sys.argv[1]), name, inputs, function)

"""Writes the files of `files/` with complex numbers, gradients, and writes to parts of variables.

python test/frontends/tensorflow/make_gradients.py      # needs TensorFlow
"""

import keras
import make
import numpy as np
import tensorflow as tf

lib, raw = tf.linalg, tf.raw_ops


def complex_normal(*shape):
    return (make.normal(*shape) + 1j * make.normal(*shape)).astype(np.complex64)


def complex_functions(x, y):
    """x [N], y [N] of complex numbers, where no two are equal and one is 0"""
    one = (
        *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Exp", "Expm1"),
        *("Log1p", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh"),
    )
    two = ("Sub", "Mul", "MulNoNan", "DivNoNan", "SquaredDifference", "Pow", "Xdivy")
    return (
        *(getattr(raw, name)(x=x) for name in one),
        *(getattr(raw, name)(x=y) for name in ("Log", "Reciprocal", "Inv", "Rsqrt")),
        *(getattr(raw, name)(x=x, y=y) for name in two),
        *(raw.Equal(x=x, y=x * 1), raw.NotEqual(x=x, y=y), raw.RealDiv(x=x, y=y)),
        *(raw.Div(x=x, y=y), raw.Xlogy(x=x, y=y), raw.Xlog1py(x=x, y=y)),
        *(
            x + tf.constant([1j], x.dtype),
            tf.concat([x, tf.constant([2j, 1], x.dtype)], 0),
            tf.ones_like(x),
        ),
    )


def complex_systems(a, b):
    """a [2, N, N], b [2, N, 2]"""
    hermitian = a @ lib.adjoint(a)
    return (
        *(lib.inv(a), lib.inv(a, adjoint=True), lib.solve(a, b), lib.solve(a, b, adjoint=True)),
        *(lib.cholesky(hermitian), lib.triangular_solve(a, b)),
        lib.triangular_solve(a, b, lower=False, adjoint=True),
        *(tf.einsum("bij,bjk->bik", a, b), tf.einsum("bij->ji", a)),
        *(tf.reduce_mean(a, 1), tf.cumsum(b, 1), lib.diag(b[0, 0]), lib.band_part(a, 0, 1)),
        *(tf.tensor_scatter_nd_add(b, [[0, 1]], b[0, :1]), tf.fill([2], b[0, 0, 0])),
        *(tf.math.segment_sum(b, [0, 0]), tf.one_hot([0, 1], 2, b[0, 0, 0], b[0, 0, 1])),
    )


def complex_loops(x, k):
    """x [N] of complex numbers, k iterations"""
    many = tf.while_loop(lambda i, a, b: i < k, lambda i, a, b: (i + 1, a * x + 1, b), [0, x, x])
    few = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x])
    return *many[1:], few[1], tf.cond(k > 3, lambda: x * 2, lambda: x / 3)


def distinct(rows, axis):
    return raw.UniqueWithCountsV2(x=tf.round(rows), axis=[axis])


def others(x, y, rows):
    """x [N], y [M] of int32, rows [6, 2, 2]"""
    three = tf.stack([rows[:, 0, 0], tf.abs(rows[:, 0, 1]) + 4, rows[:, 1, 0]])
    square = rows[0] @ tf.transpose(rows[0]) + tf.eye(2)
    return (
        *raw.ListDiff(x=x, y=y),
        *raw.ListDiff(x=tf.constant([1, 5, 2]), y=[5, 7]),
        *(part for axis in range(3) for part in distinct(rows, axis)),
        lib.tridiagonal_solve(three, rows[:, 0]),
        lib.tridiagonal_matmul(three, rows[:, 0]),
        lib.lstsq(rows[:, 0], rows[:, 1], fast=False),
        raw.MatrixSolveLs(matrix=rows[:, 0], rhs=rows[:, 1], l2_regularizer=0.1),
        raw.MatrixSolveLs(matrix=tf.transpose(rows[:, 0]), rhs=rows[0], l2_regularizer=0.1),
        lib.sqrtm(square),
    )


def gradient(function, *operands):
    with tf.GradientTape() as tape:
        tape.watch(operands)
        total = tf.reduce_sum(function(*operands) ** 2)
    return tape.gradient(total, operands)


def gradients_of_images(x, w):
    """x [N, H, W, 4] of open extents, w [3, 2, 4, 2]"""
    half = w[:, :, :2]
    sides = [[0, 0], [1, 0], [0, 2], [0, 0]]
    return (
        *gradient(lambda x, w: tf.nn.conv2d(x, w, [2, 1], "SAME"), x, w),
        *gradient(lambda x, w: tf.nn.conv2d(x, w, 1, "VALID", dilations=2), x, w),
        *gradient(lambda x, w: tf.nn.conv2d(x, w, [1, 2], sides), x, w),
        *gradient(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), x, half),
        *gradient(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"), x, w),
        *gradient(lambda x: tf.nn.max_pool2d(x, [3, 2], [2, 1], "SAME"), x),
        *gradient(lambda x: tf.nn.avg_pool2d(x, [3, 2], [2, 1], "SAME"), x),
        *gradient(lambda x: tf.nn.avg_pool2d(x, 3, 2, "VALID"), x),
        *(gradient(lambda x, m=m: tf.image.resize(x, [5, 9], m), x)[0] for m in MODES),
        *gradient(lambda x: tf.nn.lrn(x, 1, 1.5, 0.3, 0.7), x),
        *gradient(lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 3], [0, 0]], "REFLECT"), x),
        *gradient(lambda x: tf.pad(x, [[0, 1], [1, 2], [0, 3], [0, 0]], "SYMMETRIC"), x),
        *gradient(lambda x: x[1:, ::-2, tf.newaxis, 0, ..., 1:3], x),
        *gradient(normalized, x, w[0, 0, :, 0], w[0, 0, :, 1]),
        *gradient(lambda x, b: tf.nn.leaky_relu(tf.nn.bias_add(x, b), 0.3), x, w[0, 0, :, 0]),
        *gradient(lambda x, b: tf.nn.softsign(x + b), x, w[0, 0, :, 0]),
    )


MODES = ("bilinear", "nearest", "bicubic")


def normalized(x, scale, offset):
    trained = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, epsilon=0.01)[0]
    mean, variance = offset * 0.1, tf.abs(scale) + 0.1
    fixed = (mean, variance, 0.01, "NHWC", False)
    return trained + tf.compat.v1.nn.fused_batch_norm(x, scale, offset, *fixed)[0]


def gradients_of_volumes(x, w):
    """x [2, 5, 6, 4, 2], w [3, 2, 3, 2, 3]"""
    return (
        *gradient(lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 2, 1], "SAME"), x, w),
        *gradient(lambda x: tf.nn.max_pool3d(x, 2, 2, "SAME"), x),
        *gradient(lambda x: tf.nn.avg_pool3d(x, 2, 2, "SAME"), x),
    )


class RecurrentStep(tf.Module):
    """The gradients of a recurrent network's weights."""

    def __init__(self):
        super().__init__()
        layers = keras.layers
        lstm = layers.LSTM(4, return_sequences=True)
        self.network = keras.Sequential([layers.Input((5, 3)), lstm, layers.GRU(3)])

    def __call__(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.network(x, training=True) ** 2)
        found = tape.gradient(loss, self.network.trainable_variables)
        return tf.concat([tf.reshape(v, [-1]) for v in found], 0)


class Assigned(tf.Module):
    """Parts of a variable, written in each of the ways; the results after each."""

    def __init__(self):
        super().__init__()
        self.rows = tf.Variable(np.arange(1, 13, dtype=np.float32).reshape(4, 3))

    def __call__(self, at, by):
        rows, found = self.rows, []
        part = tf.IndexedSlices(by, at)
        ways = ("sub", "max", "min", "mul", "div", "update", "add")
        steps = [lambda way=way: getattr(rows, f"scatter_{way}")(part) for way in ways]
        steps += [
            lambda way=way: getattr(rows, f"scatter_nd_{way}")(at[:, None], by)
            for way in ("update", "add", "sub")
        ]
        steps += [lambda: rows[1:3, ::2].assign(by[:2, :2]), lambda: rows[0].assign(by[0])]
        for step in steps:
            step()
            found.append(rows.read_value())
        return tf.stack(found)


class Stepped(tf.Module):
    """Rounded to steps of ranges; SavedModels leave out attributes that have their defaults."""

    def __call__(self, x):
        ends = {"input_min": -1.0, "input_max": 2.0}
        many = {"input_min": [-1.0, -2.0, -0.5], "input_max": [2.0, 1.0, 3.0], "axis": 1}
        third = raw.QuantizeAndDequantizeV3
        return tf.stack([
            raw.QuantizeAndDequantizeV2(input=x, **ends),
            raw.QuantizeAndDequantizeV2(input=x, range_given=True, **ends),
            raw.QuantizeAndDequantizeV4(input=x, range_given=True, **ends),
            third(input=x, num_bits=4, **ends),
            third(input=x, num_bits=4, range_given=False, **ends),
            third(input=x, num_bits=4, **many),
            third(input=x, num_bits=4, range_given=False, narrow_range=True, **many),
        ])  # fmt: skip


class Optimized(tf.Module):
    """A variable written by an operator that nnc does not have."""

    def __init__(self):
        super().__init__()
        self.rows = tf.Variable(np.ones(3, np.float32))

    def __call__(self, slope):
        raw.ResourceApplyGradientDescent(var=self.rows.handle, alpha=0.5, delta=slope)
        return self.rows.read_value()


def main():
    x = np.array([0, 1j, -1j, 1 + 2j, -3 + 0.5j, -0.3 - 0.2j, 1e-5 + 1e-6j, 3 + 8j], np.complex64)
    make.graph("complex_functions", complex_functions, x, x[[4, 5, 3, 7, 1, 2, 4, 5]])
    operands = complex_normal(2, 3, 3), complex_normal(2, 3, 2)
    make.graph("complex_systems", complex_systems, *operands)
    count = np.array(7, np.int32)
    make.graph("complex_loops", complex_loops, x[5:] / 9, count, shapes=[[None], []])
    numbers = (np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32), np.array([1, 9, 7], np.int32))
    shapes = [[None], [None], [6, 2, 2]]
    make.graph("others", others, *numbers, make.normal(6, 2, 2), shapes=shapes)
    images, weights = make.normal(2, 7, 8, 4), make.normal(3, 2, 4, 2)
    shapes = [[None, None, None, 4], [3, 2, 4, 2]]
    make.graph("gradients_of_images", gradients_of_images, images, weights, shapes=shapes)
    volumes = make.normal(2, 5, 6, 4, 2), make.normal(3, 2, 3, 2, 3)
    make.graph("gradients_of_volumes", gradients_of_volumes, *volumes)
    make.folder("recurrent_step", RecurrentStep(), make.normal(2, 5, 3))
    where, by = np.array([0, 2, 3], np.int32), np.abs(make.normal(3, 3)) + 1
    make.folder("assigned", Assigned(), where, by)
    make.folder("stepped", Stepped(), make.normal(5, 3) * 3)
    make.folder("optimized", Optimized(), make.normal(3))


if __name__ == "__main__":
    main()

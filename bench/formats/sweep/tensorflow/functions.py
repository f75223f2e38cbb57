"""Functions of TensorFlow's modules that consist of several operators: branches, loops, arrays,
layers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import FLOATS, Given, Room, numbers, tf

room = Room()
SHAPES = [[4, 3], [1, 3], [0, 3]]


def _loop(x: Any) -> Any:
    return tf.while_loop(
        lambda i, v: i < tf.shape(x)[0], lambda i, v: (i + 1, v * 0.5 + x[i]), (0, x[0] * 0)
    )


def _array(x: Any, size: int, breaks: bool) -> Any:
    """A TensorArray whose rows are written one by one in a loop."""
    count = tf.shape(x)[0]
    array = tf.TensorArray(
        x.dtype, size if size >= 0 else count, dynamic_size=size >= 0, element_shape=x.shape[1:]
    )

    def going(i: Any, rows: Any) -> Any:
        inside = i < count
        return tf.logical_and(inside, x[tf.minimum(i, count - 1), 0] < 3) if breaks else inside

    _, array = tf.while_loop(going, lambda i, rows: (i + 1, rows.write(i, x[i] * 2)), (0, array))
    return array.stack()


FUNCTIONS: dict[str, Any] = {
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1, lambda: x * 2),
    "cond shapes": lambda x: tf.cond(tf.shape(x)[0] > 2, lambda: x[:1], lambda: x),
    "case": lambda x: tf.case(
        [(tf.shape(x)[0] > 3, lambda: x), (tf.shape(x)[0] > 0, lambda: -x)], lambda: x * 3
    ),
    "switch": lambda x: tf.switch_case(tf.shape(x)[0], [lambda: x, lambda: x + 1, lambda: x - 1]),
    "while": _loop,
    "while by value": lambda x: tf.while_loop(
        lambda v: tf.reduce_sum(tf.abs(v)) > 1, lambda v: [v * 0.5], [x]
    ),
    "map": lambda x: tf.map_fn(lambda row: row * tf.reduce_sum(row), x),
    "map pairs": lambda x: tf.map_fn(
        lambda row: (row + 1, tf.reduce_max(row)), x, fn_output_signature=(x.dtype, x.dtype)
    ),
    "scan": lambda x: tf.scan(lambda a, row: a + row, x),
    "scan back": lambda x: tf.scan(lambda a, row: a * 0.5 + row, x, x[0] * 0, reverse=True),
    "fold": lambda x: tf.foldl(lambda a, row: a + row, x),
    "vectorized": lambda x: tf.vectorized_map(lambda row: row * tf.reduce_sum(row), x),
    "array": lambda x: _array(x, -1, False),
    "growing array": lambda x: _array(x, 0, False),
    "growing array, break": lambda x: _array(x, 0, True),
    "unstack": lambda x: tf.TensorArray(x.dtype, tf.shape(x)[0]).unstack(x).gather([0, 0]),
    "function": lambda x: tf.function(lambda v: tf.function(lambda w: w + 1)(v) * 2)(x),
    "recompute": lambda x: tf.recompute_grad(lambda v: v * 3)(x),
    "moments": lambda x: tf.nn.moments(x, [0]),
    "normalize": lambda x: tf.linalg.normalize(x, axis=-1),
    "l2": lambda x: tf.math.l2_normalize(x, -1),
    "gelu": lambda x: [tf.nn.gelu(x), tf.nn.gelu(x, True)],
    "silu": lambda x: tf.nn.silu(x),
    "crelu": lambda x: tf.nn.crelu(x),
    "swish": lambda x: tf.nn.swish(x, 0.7),
    "logsumexp": lambda x: tf.reduce_logsumexp(x, -1),
    "std": lambda x: tf.math.reduce_std(x, 0),
    "variance": lambda x: tf.math.reduce_variance(x, -1),
    "argsort": lambda x: tf.argsort(x, stable=True),
    "sort": lambda x: tf.sort(x, direction="DESCENDING"),
    "searchsorted": lambda x: tf.searchsorted(tf.sort(x), x),
    "boolean mask": lambda x: tf.boolean_mask(x, x[:, 0] > 0),
    "where 3": lambda x: tf.where(x > 0, x, 0),
    "meshgrid": lambda x: tf.meshgrid(x[0], x[0][:2]),
    "repeat": lambda x: tf.repeat(x, [1, 0, 2], 1),
    "repeat all": lambda x: tf.repeat(x, 3, 0),
    "roll": lambda x: tf.roll(x, [1, -1], [0, 1]),
    "eye": lambda x: tf.eye(tf.shape(x)[0], 3) + 0 * x[:1, :1],
    "tensordot": lambda x: tf.tensordot(x, x, [[1], [1]]),
    "diag part": lambda x: tf.linalg.diag_part(x),
    "trace": lambda x: tf.linalg.trace(x),
    "band part": lambda x: tf.linalg.band_part(x, 1, 0),
    "histogram": lambda x: tf.histogram_fixed_width(x, [-2.0, 2.0], 5),
    "confusion": lambda x: tf.math.confusion_matrix(tf.argmax(x, 1), tf.argmin(x, 1), 3),
    "in top": lambda x: tf.math.in_top_k(tf.argmax(x, 1), x, 2),
    "cumulative": lambda x: tf.math.cumulative_logsumexp(x, 1),
    "unique": lambda x: tf.unique(tf.reshape(tf.round(x), [-1])),
    "norm": lambda x: [tf.norm(x), tf.norm(x, 1, -1), tf.norm(x, np.inf, 0)],
    "sequence mask": lambda x: tf.sequence_mask(tf.cast(tf.abs(x[:, 0]), tf.int32), 5),
    "one hot": lambda x: tf.one_hot(tf.argmax(x, -1), 5),
    "embedding": lambda x: tf.nn.embedding_lookup(x, [[0], [0]]),
    "losses": lambda x: [
        tf.nn.sigmoid_cross_entropy_with_logits(x, x),
        tf.nn.log_poisson_loss(x, x),
        tf.nn.l2_loss(x),
    ],
    "weighted": lambda x: tf.nn.weighted_cross_entropy_with_logits(x, x, 0.3),
    "scale": lambda x: tf.math.zero_fraction(x),
    "dropout": lambda x: tf.nn.experimental.stateless_dropout(x, 0.4, [3, 5]),
    "clip": lambda x: tf.clip_by_norm(x, 1.5, [-1]),
    "global clip": lambda x: tf.clip_by_global_norm([x, x + 1], 2.0)[0],
    "nan": lambda x: tf.math.is_non_decreasing(x),
    "polyval": lambda x: tf.math.polyval([1.0, x, 0.5], x),
    "ldexp": lambda x: tf.math.divide_no_nan(x, tf.round(x)),
    "expand": lambda x: x[:, tf.newaxis, ..., ::-1],
    "strides": lambda x: x[1:, -1],
    "late slice": lambda x: x[: tf.shape(x)[0] // 2],
    "segments": lambda x: tf.math.segment_mean(x, tf.cumsum(tf.ones_like(x[:, 0], tf.int32)) // 2),
    "gradient": lambda x: tf.gradients(tf.reduce_sum(tf.tanh(x) * x), x),
    "ensure": lambda x: tf.debugging.check_numerics(x, "x"),
    "assert": lambda x: tf.debugging.assert_all_finite(x, "x"),
    "py shape": lambda x: tf.reshape(x, [tf.size(x) // 3, 3]),
    "convolution 1d": lambda x: tf.nn.conv1d(x[None], tf.ones([2, 3, 2], x.dtype), 1, "SAME"),
    "pool 1d": lambda x: tf.nn.max_pool1d(x[None], 2, 1, "SAME"),
    "pool": lambda x: tf.nn.pool(x[None], [2], "AVG", padding="VALID"),
    "atrous": lambda x: tf.nn.convolution(
        x[None], tf.ones([2, 3, 2], x.dtype), padding="SAME", dilations=2
    ),
    "batch norm": lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [0]), 0.5, 2.0, 1e-3),
    "bias": lambda x: tf.nn.bias_add(x, x[0]),
    "top k": lambda x: tf.math.top_k(x, 2),
    "bessel": lambda x: [tf.math.bessel_i0(x), tf.math.special.bessel_j0(x)],
    "betainc": lambda x: tf.math.betainc(tf.abs(x) + 1, 2.0 + 0 * x, tf.sigmoid(x)),
    "igamma": lambda x: tf.math.igamma(tf.abs(x) + 1, tf.abs(x)),
    "lbeta": lambda x: tf.math.lbeta(tf.abs(x) + 1),
}


@room("functions", function=list(FUNCTIONS), type=["float32", "float64"], shape=SHAPES)
def functions(rng: Any, op: Any, function: str, type: str, shape: list[int]) -> Given:
    x = numbers(rng, shape, type)
    return FUNCTIONS[function], [np.clip(x, -3.0, 3.0).astype(x.dtype)]


@room("functions_of_halves", function=list(FUNCTIONS), type=[t for t in FLOATS if "16" in t])
def functions_of_halves(rng: Any, op: Any, function: str, type: str) -> Given:
    x = numbers(rng, [4, 3], type)
    return FUNCTIONS[function], [np.clip(x, -3.0, 3.0).astype(x.dtype)]


subjects = room.subjects

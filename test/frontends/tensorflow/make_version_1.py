"""Writes graphs as TensorFlow 1 builds and freezes them: `NAME.pb` and `NAME.npz`.

    TF_USE_LEGACY_KERAS=1 python test/frontends/tensorflow/make_version_1.py [NAME ..]

Needs TensorFlow 2.21 with tf_keras.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
FILES = Path(__file__).parent / "files"
rng = np.random.default_rng(3)
GRAPHS = {}


def graph(*inputs):
    """Register a function from placeholders to outputs."""

    def register(function):
        GRAPHS[function.__name__] = (inputs, function)
        return function

    return register


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


@graph(normal(3), np.array(True), np.array(False))
def constants_of_branches(x, yes, no):
    """Branches whose results are constants, or computed from constants alone."""
    found = []
    for one in (yes, no):
        a, b = v1.cond(one, lambda: (tf.constant(1.0), x * 2), lambda: (tf.constant(2.0), x * 3))
        c = v1.cond(one, lambda: tf.constant([1.0, 2.0]), lambda: tf.constant([3.0, 4.0]))
        d = v1.cond(one, lambda: v1.cond(no, lambda: tf.fill([2], x[0]), lambda: c + 1), lambda: c)
        found += [a * b, c * 2, d * 3]
    return found


@graph(normal(2, 5, 3), np.array([2, 3], np.int32))
def lengths(x, count):
    """A recurrent layer ends after the longest sequence; what follows is zero."""
    cell = v1.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3, cell_clip=0.5)
    y, state = v1.nn.dynamic_rnn(cell, x, sequence_length=count, dtype=tf.float32)
    return [y * 1.0, *(part * 1.0 for part in state)]


@graph(normal(2, 4, 4, 3))
def defaults(x):
    """A flag of training that is off unless somebody gives it."""
    training = v1.placeholder_with_default(False, [], name="training")
    y = v1.layers.batch_normalization(x, training=training)
    y = v1.layers.dropout(v1.layers.flatten(y), 0.5, training=training)
    return [v1.layers.dense(y, 4) * v1.placeholder_with_default([2.0], [None], name="scale")]


@graph(normal(3, 4, 4, 3))
def defaults_v2(x):
    """Branches that also return values for gradients, which nothing uses."""
    training = v1.placeholder_with_default(True, [], name="training")
    return [v1.layers.batch_normalization(x, training=training) * 1.0]


@graph(normal(2, 6))
def last_results(x):
    """Nodes at the end of a graph with several results."""
    return [*tf.split(x * 2, 3, 1), *tf.nn.top_k(x, 3), *tf.unstack(x, axis=1)]


@graph(np.array([1.5, 2.5], np.float32), np.array(True), np.array(False))
def merges(x, yes, no):
    """Which input a merge takes, where they stand in either order or are the same value twice."""
    found = []
    for one in (yes, no):
        off, on = tf.raw_ops.Switch(data=x, pred=one)
        for inputs in ([off - 1, on * 2], [on * 3, off]):
            merged = tf.raw_ops.Merge(inputs=inputs)
            found += [merged.output * 1.0, merged.value_index + 10]
    return found


@graph(np.array([[0.5, -2, 3], [1, 7, -50]], np.float32))
def logarithms_of_sums(x):
    """Of all that stand before or behind an element, with and without it."""
    return [
        tf.math.cumulative_logsumexp(x, axis, exclusive, backward) * 1.0
        for axis in (0, 1)
        for exclusive in (False, True)
        for backward in (False, True)
    ]


def scores(*shape):
    """Scores in which labels repeat and blanks win in places."""
    x = normal(*shape)
    x[1:3], x[4, ..., -1] = x[0], 5
    return x


@graph(scores(7, 3, 5), np.array([7, 0, 4], np.int32))
def greedy(x, count):
    """The labels of the best path, with a blank of either place, and repeated ones."""
    found = []
    for merge, blank in ((True, None), (False, None), (True, 1)):
        (labels,), score = tf.nn.ctc_greedy_decoder(x, count, merge, blank)
        found += [labels.indices * 1, labels.values + 0, labels.dense_shape * 1, score * 1.0]
    return found


def write(name, inputs, function):
    """The frozen graph with random weights, with inputs and results."""
    with tf.Graph().as_default() as own, v1.Session() as session:
        v1.set_random_seed(3)
        heads = [v1.placeholder(x.dtype, [None, *x.shape[1:]] if x.ndim else [], f"x{i}")
                 for i, x in enumerate(inputs)]  # fmt: skip
        found = function(*heads)
        session.run(v1.global_variables_initializer())
        for variable in v1.global_variables():
            low = 0.5 if "variance" in variable.name or "gamma" in variable.name else -0.5
            variable.load(rng.uniform(low, low + 1, variable.shape).astype(np.float32), session)
        results = session.run(found, dict(zip(heads, inputs, strict=True)))
        ends = list(dict.fromkeys(value.op.name for value in found))
        frozen = v1.graph_util.convert_variables_to_constants(session, own.as_graph_def(), ends)
    (FILES / f"{name}.pb").write_bytes(frozen.SerializeToString())
    names = [value.name.removesuffix(":0") for value in found]
    order = sorted(range(len(found)), key=lambda i: (len(names[i]), names[i]))
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"out{at}": results[i] for at, i in enumerate(order)}
    np.savez_compressed(FILES / f"{name}.npz", **arrays)


if __name__ == "__main__":
    v1.disable_eager_execution()
    for name, (inputs, function) in GRAPHS.items():
        if name not in (sys.argv[1:] or GRAPHS):
            continue
        (v1.enable_control_flow_v2 if name.endswith("_v2") else v1.disable_control_flow_v2)()
        write(name, inputs, function)

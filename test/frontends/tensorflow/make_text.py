"""Writes the files of `files/` that handle text, rows of different lengths, tables, random numbers.

python test/frontends/tensorflow/make_text.py
"""

from pathlib import Path

import keras
import make
import numpy as np
import tensorflow as tf

FILES = make.FILES
S, I64 = tf.string, tf.int64
TEXTS = np.array(["The  cat, sat! ", "\tÉté à  Paris-2024", "", "一二 abc"])


def encoded(texts):
    """Text as bytes, which a file of arrays holds."""
    return np.char.encode(texts, "utf-8")


def expected(name, function, inputs):
    found = function(*(tf.constant(x) for x in inputs))
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    for i, value in enumerate(found):
        array = np.asarray(value)
        arrays[f"out{i}"] = array.astype("S") if array.dtype == object else array
    np.savez_compressed(FILES / f"{name}.npz", **arrays)


def graph(name, function, *inputs):
    """A frozen graph whose inputs are open in their first dimension."""
    specs = [
        tf.TensorSpec([None, *x.shape[1:]], tf.as_dtype(S if x.dtype.kind == "S" else x.dtype))
        for x in inputs
    ]
    specs = [tf.TensorSpec(s.shape, s.dtype, name=f"x{i}") for i, s in enumerate(specs)]
    concrete = tf.function(lambda *xs: function(*xs), input_signature=specs)
    concrete = concrete.get_concrete_function()
    frozen = make.convert_variables_to_constants_v2(concrete)
    (FILES / f"{name}.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    expected(name, concrete, inputs)


def texts(x, numbers):
    strings, replace = tf.strings, tf.strings.regex_replace
    counts = tf.cast(numbers * 100, tf.int32)
    return (
        strings.lower(x), strings.upper(x), strings.lower(x, "utf-8"), strings.upper(x, "utf-8"),
        strings.strip(x), strings.length(x), strings.length(x, "UTF8_CHAR"),
        strings.substr(x, 0, 3), strings.substr(x, 0, 3, "UTF8_CHAR"), strings.substr(x, -0, -1),
        replace(x, r"[^[:alpha:]\s]+", "_"), replace(x, r"(\w)(\w)", r"\2\1\\", False),
        replace(x, r"\p{L}*", "<>"), replace(x, r"(?i)É|\bc", "\\0."), replace(x, r"\s$", "|"),
        strings.regex_full_match(x, r".*\pN+"), strings.join([x, "=", x], "·"),
        strings.reduce_join(tf.stack([x, x]), 0), strings.reduce_join(x, separator=","),
        strings.as_string(numbers), strings.as_string(counts), strings.as_string(numbers > 1),
        strings.as_string(numbers, precision=2, width=9, fill="0"),
        strings.as_string(numbers, scientific=True), strings.as_string(numbers, shortest=True),
        strings.as_string(counts, width=6, fill="-"),
        strings.to_number(strings.as_string(numbers)),
        strings.to_number(strings.as_string(counts), tf.int64),
        strings.to_hash_bucket_fast(x, 1000), strings.to_hash_bucket_strong(x, 1000, [3, 5]),
        tf.where(x == "", "nothing", x), tf.gather(x, [2, 0]), tf.reshape(x, [2, -1]),
    )  # fmt: skip


def words(x):
    split = tf.strings.split(x)
    commas = tf.strings.split(x, ",", maxsplit=1)
    old = tf.raw_ops.StringSplit(input=x, delimiter=", ", skip_empty=True)
    every = tf.raw_ops.StringSplit(input=x, delimiter="-", skip_empty=False)
    points, starts = tf.strings.unicode_decode_with_offsets(x, "UTF-8")
    grams = tf.strings.ngrams(split, [2, 1], pad_values=("<", ">"))
    return (
        split.values, split.row_splits, split.to_tensor("-"), split.to_sparse().indices,
        commas.to_tensor(), *old, *every, points.values, points.row_splits, starts.to_tensor(-1),
        tf.strings.unicode_encode(points + 1, "UTF-8"), grams.to_tensor(),
        tf.strings.unicode_split(x, "UTF-8").to_tensor(),
        tf.strings.ngrams(split, 3, preserve_short_sequences=True).to_tensor(),
        tf.strings.bytes_split(x).to_tensor(),
    )  # fmt: skip


def ragged(x, splits, ids):
    """x [7, 2], splits [5], ids [3]"""
    one = tf.RaggedTensor.from_row_splits(x, splits)
    flat = tf.RaggedTensor.from_row_splits(x[:, 0], splits)
    nested = tf.RaggedTensor.from_row_splits(flat, [0, 3, 3, 4])
    steps = tf.ragged.range([0, 3, 9], [5, 3, 2], [2, 1, -3])
    counts = tf.cast(tf.abs(flat) * 2, tf.int32)
    return (
        one.to_tensor(0.5), flat.to_tensor(7.0, shape=[None, 2]), nested.to_tensor(shape=[4, 2, None]),
        nested.to_sparse().indices, nested.to_sparse().dense_shape, one.to_sparse().values,
        one.to_sparse().indices, tf.gather(flat, ids).to_tensor(), steps.values, steps.row_splits,
        tf.reduce_sum(flat, 1), tf.reduce_max(one, 1), tf.reduce_prod(one, [1, 2]),
        flat.bounding_shape(), tf.concat([flat, flat], 1).to_tensor(), flat.value_rowids(),
        tf.math.bincount(counts, minlength=4, maxlength=4, axis=-1),
        tf.math.bincount(counts, maxlength=4, minlength=4, axis=-1, binary_output=True),
        tf.ragged.map_flat_values(tf.square, flat).to_tensor(), one.with_row_splits_dtype(tf.int32).to_tensor(),
    )  # fmt: skip


def sparse(x):
    """x [4, 6]"""
    own = tf.sparse.from_dense(tf.nn.relu(x) * [[1.0], [0.0], [1.0], [1.0]])
    turned = tf.sparse.reshape(own, [-1, 3])
    full, empty = tf.sparse.fill_empty_rows(own, -1.0)
    both, part = tf.sparse.concat(1, [own, own]), tf.sparse.slice(own, [1, 1], [3, 3])
    ids = tf.sparse.map_values(lambda v: tf.cast(v * 2, I64), own)
    table = tf.reshape(tf.range(24.0), [8, 3])
    tensors = (turned, full, both, part, tf.sparse.reorder(turned))
    return (
        *(t for one in tensors for t in (one.indices, one.values, one.dense_shape)), empty,
        tf.nn.safe_embedding_lookup_sparse(table, ids, combiner="mean"),
        tf.nn.embedding_lookup_sparse(table, full_ids(ids), None, combiner="sqrtn"),
        tf.math.bincount(ids.values, minlength=5, maxlength=5), tf.sparse.to_dense(turned),
        tf.sparse.reduce_sum(own, 1),
    )  # fmt: skip


def full_ids(ids):
    return tf.sparse.fill_empty_rows(ids, tf.constant(1, I64))[0]


def randoms(seed, logits, n):
    """seed [2], logits [3, 6], n [1] is 5"""
    draw, each, f64 = tf.random, tf.random.experimental, tf.float64
    cut, raw = draw.stateless_truncated_normal, tf.raw_ops
    return (
        draw.stateless_uniform([n[0], 3], seed, dtype=f64),
        draw.stateless_uniform([5], seed, dtype=tf.half),
        draw.stateless_uniform([3, 3], seed, -n[0], 9, tf.int32),
        draw.stateless_uniform([5], seed, None, None, tf.uint64), draw.stateless_normal([9], seed),
        cut([3, 7], seed), cut([5], seed, dtype=f64), draw.stateless_categorical(logits, 4, seed),
        draw.uniform([5], seed=7), draw.uniform([5], -3, 9, tf.int64, seed=2),
        raw.StatelessRandomUniform(shape=[5], seed=seed),
        *tf.unstack(each.stateless_split(seed, 2)),
    )  # fmt: skip


class Tables(tf.Module):
    """Tables of constants, of a text file, and of a checkpoint."""

    def __init__(self, path):
        super().__init__()
        lookup = tf.lookup
        path.write_text("a\t7\nb\t8\nhello\t9\n")
        own = lookup.KeyValueTensorInitializer(["a", "hello"], tf.constant([3, 5], I64))
        self.numbers = lookup.StaticHashTable(own, -1)
        whole, line = lookup.TextFileIndex.WHOLE_LINE, lookup.TextFileIndex.LINE_NUMBER
        lines = lookup.TextFileInitializer(str(path), S, 0, I64, line)
        self.words = lookup.StaticVocabularyTable(lines, 3)
        columns = lookup.TextFileInitializer(str(path), I64, 1, S, whole)
        self.lines = lookup.StaticHashTable(columns, "?")
        back = lookup.KeyValueTensorInitializer(tf.constant([7, 8], I64), ["seven", "eight"])
        self.back = lookup.StaticHashTable(back, "none")
        self.written = lookup.experimental.MutableHashTable(S, tf.float32, [0.5, 0.0])
        self.written.insert(tf.constant(["x", "b"]), tf.constant([[1.5, 2.0], [2.5, 3.0]]))

    def __call__(self, x):
        places = self.words.lookup(x)
        return (
            self.numbers.lookup(x), places, self.lines.lookup(places + 7), self.words.size(),
            self.back.lookup(places + 6), self.written.lookup(x), self.numbers.size(),
        )  # fmt: skip


def tables_v1(x):
    """A graph of TensorFlow 1 with what fills its table."""
    whole, v1 = tf.Graph(), tf.compat.v1
    with whole.as_default():
        given = v1.placeholder(S, [None], name="x0")
        own = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([3, 5], I64))
        found = tf.lookup.StaticHashTable(own, -1).lookup(given)
        tf.identity(found, name="Identity")
    (FILES / "tables_v1.pb").write_bytes(whole.as_graph_def().SerializeToString())
    arrays = {"in0": x, "out0": np.array([{b"a": 3, b"b": 5}.get(key, -1) for key in x])}
    np.savez_compressed(FILES / "tables_v1.npz", **arrays)


def folder(name, holder, function, *inputs):
    """A SavedModel, with its assets."""
    specs = [tf.TensorSpec([None], S, name=f"x{i}") for i in range(len(inputs))]

    def results(*xs):
        return {f"y{i:02}": y for i, y in enumerate(function(*xs))}

    holder.run = tf.function(results, input_signature=specs)
    make.shutil.rmtree(FILES / name, ignore_errors=True)
    tf.saved_model.save(holder, FILES / name, signatures=holder.run)
    (FILES / name / "fingerprint.pb").unlink()
    expected(name, function, inputs)


def vectors():
    """Keras's layer of text in a SavedModel."""
    layer = keras.layers.TextVectorization(max_tokens=12, output_sequence_length=5)
    layer.adapt(["the cat sat", "a cat 一二 abc", "the été paris2024"])
    counts = keras.layers.TextVectorization(output_mode="tf_idf", ngrams=2)
    counts.adapt(["the cat sat", "a cat 一二 abc"])
    holder = tf.Module()
    holder.layers = [layer, counts]
    folder("vectors", holder, lambda x: (layer(x), counts(x)), encoded(TEXTS))


def main():
    numbers = np.array([1.5, -2.25, 3e5, 0], np.float32)
    graph("texts", texts, encoded(TEXTS), numbers)
    graph("words", words, encoded(TEXTS))
    splits, ids = np.array([0, 2, 2, 6, 7], np.int64), np.array([2, 0, 2], np.int64)
    graph("ragged", ragged, make.normal(7, 2), splits, ids)
    graph("sparse", sparse, make.normal(4, 6))
    seed, size = np.array([12345, -6789], np.int32), np.array([5], np.int32)
    graph("randoms", randoms, seed, make.normal(3, 6), size)
    path = Path("/tmp/words.txt")
    tables = Tables(path)
    folder("tables", tables, tables, encoded(np.array(["a", "b", "x", "hello", "zebra"])))
    path.unlink()
    vectors()
    tables_v1(np.array([b"b", b"c", b"", b"a"]))


if __name__ == "__main__":
    main()

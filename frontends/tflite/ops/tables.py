"""Lookups in tables and in sorted keys, weighted sums of rows, and random numbers."""

from __future__ import annotations

from ....ir.types import row_major_strides
from ...common import tensorflow as tf
from ...common.philox import Stream, classes, normal, uniform
from ...common.random import seed_of_name
from ...common.vocabulary import *
from ..layer import TfliteLayer
from ..rows import ROWS

ROWS.add(
    {
        "HASHTABLE_FIND": lambda n, keys, default: n.attributes.table.find(n, keys, default),
        "HASHTABLE_SIZE": lambda n: n.constant([len(n.attributes.table.filled(n).keys)], i64),
    }
)


@ROWS("HASHTABLE_LOOKUP")
def sorted_lookup(n: TfliteLayer, x: Value, keys: Value, values: Value) -> list[Value]:
    """The rows of `values` for the keys in x, zeros for unknown keys; and which keys are known.

    x [N], keys [K], values [K, ..]
    """
    same = Term(n, x).spread(0, 1).equals(Term(n, keys).spread(1, 0)).cast(i64)
    hit, place = same.sum(1), same.argmax(1)
    found = Term(n, values).gather(place)
    kept = (hit > 0).spread(0, values.type.rank - 1).choose(found, 0)
    return [kept.value, (hit > 0).cast(IntegerType(8, "u")).value]


@ROWS("EMBEDDING_LOOKUP_SPARSE")
def sparse_embedding(
    n: TfliteLayer, ids: Value, indices: Value, shape: Value, weights: Value, table: Value
) -> Value:
    """Weighted rows of a table, summed at sparse positions.

    By the combiner, a sum is divided by the sum of its weights, or by the root of the sum of their
    squares.
    """
    extents = n.known_ints(shape, "the shape")[:-1]
    strides = np.array(row_major_strides(extents), np.int64)
    place = (Term(n, as_i64(n, indices)).part(1, 0, len(extents)) * strides).sum(1)
    weight, count = Term(n, weights), n.constant(math.prod(extents), i64)
    rest = table.type.rank - 1
    rows = Term(n, table).gather(Term(n, ids)) * weight.spread(0, rest)
    sums = Term(n, tf.segments(n, rows.value, place.value, count, "add"))
    if n.options.combiner:
        parts = weight if n.options.combiner == 1 else weight * weight
        total = Term(n, tf.segments(n, parts.value, place.value, count, "add"))
        total = total if n.options.combiner == 1 else total.function(nn.Sqrt)
        total = total.spread(0, rest)
        sums = total.equals(0.0).choose(0.0, sums / total.equals(0.0).choose(1.0, total))
    return sums.reshape(*extents, *((table, i) for i in range(1, rest + 1))).value


def _stream(n: TfliteLayer) -> Stream:
    """The stream of random numbers for the seeds in the options, or for one made from the name."""
    seeds = n.options.seed, n.options.seed2
    return (
        Stream.of_numbers(n, seeds[0], 0, seeds[1])
        if any(seeds)
        else Stream.of_numbers(n, seed_of_name(n.node.name), 0, 0)
    )


@ROWS("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
def random(n: TfliteLayer, shape: Value) -> Value:
    draw = uniform if n.kind == "RANDOM_UNIFORM" else normal
    return draw(_stream(n), Term(n, as_i64(n, shape)), n.output_type()).value


@ROWS("MULTINOMIAL")
def multinomial(n: TfliteLayer, logits: Value, count: Value) -> Value:
    number = Term(n, as_scalar(n, as_i64(n, count)))
    return classes(_stream(n), Term(n, logits), number, n.output_type()).value

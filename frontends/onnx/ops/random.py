"""Random numbers: the same ones in each run, and others for each node.

Element i of a node is a function of i and the node's key, which comes from its attribute `seed`,
else from the name of its first output. The function is the generator `squares` of four rounds
(Widynski, "Squares: a fast counter-based RNG", 2020), so that elements are computed apart.
"""

from __future__ import annotations

import math
import struct
import zlib

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import IntegerType, Type, f32, f64, i64
from ..node import Node
from ..registry import converter
from ..shapes import shape_of
from ..tensors import element_type
from ..terms import Term, constant, counting, joined

_U64 = IntegerType(64, "u")


@converter("RandomUniform", "RandomNormal")
def of_shape(n: Node) -> Value:
    shape = constant(n, np.array(n.ints("shape") or (), np.int64))
    return _distributed(n, shape, element_type(n.int("dtype", 1)))


@converter("RandomUniformLike", "RandomNormalLike")
def like(n: Node, x: Value) -> Value:
    element = element_type(n.int("dtype")) if n.has("dtype") else x.type.element_type
    return _distributed(n, Term(n, shape_of(n, x)), element)


def _distributed(n: Node, shape: Term, element: Type) -> Value:
    wide = f64 if element is f64 else f32
    if n.op_type.startswith("RandomUniform"):
        low, high = n.float("low", 0.0), n.float("high", 1.0)
        return (uniform(n, shape, wide) * (high - low) + low).cast(element).value
    # Box and Muller's transform; 1 - u is never 0.
    radius = ((1.0 - uniform(n, shape, wide)).function(nn.Log) * -2.0).function(nn.Sqrt)
    angle = uniform(n, shape, wide, stream=1) * (2 * math.pi)
    normal = radius * angle.function(nn.Cos)
    return (normal * n.float("scale", 1.0) + n.float("mean", 0.0)).cast(element).value


@converter("Bernoulli")
def bernoulli(n: Node, chances: Value) -> Value:
    """1 with the chance that each element says, else 0."""
    element = element_type(n.int("dtype")) if n.has("dtype") else chances.type.element_type
    wide = Term(n, chances).cast(f64 if chances.type.element_type is f64 else f32)
    drawn = uniform(n, Term(n, shape_of(n, chances)), wide.element)
    return (drawn < wide).cast(element).value


@converter("Multinomial")
def multinomial(n: Node, logits: Value) -> Value:
    """Classes drawn by their logarithmic probabilities: where the running sum passes a number.

    logits [B, C] -> [B, samples]
    """
    weights = Term(n, n(nn.Softmax(n.cast(logits, f32), axis=1)))
    sums = weights.made(nn.Cumsum(weights.value, axis=1))
    batch = Term(n, shape_of(n, logits)).part(0, 0, 1)
    samples = constant(n, np.array([n.int("sample_size", 1)], np.int64))
    drawn = uniform(n, joined([batch, samples], 0), f32)
    passed = (drawn.spread(0, 1) >= sums.reshape((sums.value, 0), 1, (sums.value, 1))).cast(i64)
    last = Term(n, shape_of(n, logits)).column(1) - 1
    return passed.sum(2).min(last).cast(element_type(n.int("dtype", 6))).value


def uniform(n: Node, shape: Term, element: Type, stream: int = 0) -> Term:
    """Numbers evenly in [0, 1): multiples of 2**-24 in f32, of 2**-53 in f64."""
    count = shape.made(nn.ReduceProd(shape.value, axes=(0,)))
    places = counting(n, count).cast(_U64)
    if element is f64:
        high = (_squares(places, _key(n, 2 * stream)) >> 6) << 27
        bits = high | (_squares(places, _key(n, 2 * stream + 1)) >> 5)
        scale = 2.0**-53
    else:
        bits, scale = _squares(places, _key(n, 2 * stream)) >> 8, 2.0**-24
    return (bits.cast(i64).cast(element) * scale).shaped(shape)


def _squares(counter: Term, key: int) -> Term:
    """32 random bits for each count, as u64."""

    def turned(x: Term) -> Term:
        return (x >> 32) | (x << 32)

    y = counter * key
    z = y + key
    x = turned(y * y + y)
    x = turned(x * x + z)
    x = turned(x * x + y)
    return (x * x + z) >> 32


def _key(n: Node, stream: int) -> int:
    """An odd number of well mixed bits (the finalizer of splitmix64, Steele et al., 2014)."""
    name = next((name for name in n.outputs if name), "")
    seed = zlib.crc32(name.encode())
    if n.has("seed"):
        kind = n.attributes["seed"]
        seed = kind.i if kind.HasField("i") else struct.unpack("<I", struct.pack("<f", kind.f))[0]
    mask = (1 << 64) - 1
    x = (seed + (stream + 1) * 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return (x ^ (x >> 31)) | 1


@converter("Dropout", since=12)
def dropout(
    n: Node, x: Value, ratio: Value | None = None, training: Value | None = None
) -> list[Value | None]:
    """Elements set to 0 by chance and the others scaled, where the mode is training."""
    shape = Term(n, shape_of(n, x))
    all_true = constant(n, True)
    active = None if training is None else n.known(training)
    if training is None or (active is not None and not active.any()):
        return [x, all_true.filled(shape).value if n.wants(1) else None]
    data = Term(n, x)
    wide = f64 if data.element is f64 else f32
    rate = constant(n, 0.5, wide) if ratio is None else Term(n, ratio).cast(wide).reshape()
    kept = (uniform(n, shape, wide) >= rate) | ~Term(n, training).reshape()
    rate = Term(n, training).reshape().choose(rate, 0.0)
    scaled = kept.choose(data.cast(wide) / (1.0 - rate), 0.0).cast(data.element)
    return [scaled.value, kept.value]

"""Pooling of integers, which keeps the quantization."""

from __future__ import annotations

from ....common.vocabulary import *
from ...layer import TfliteLayer
from ...ops.convolution import pool_windows
from ..rows import INTEGERS
from ..steps import limited


@INTEGERS("MAX_POOL_2D")
def max_pool(n: TfliteLayer, x: Value) -> Value:
    out = channels_last(n, max_pooled(n, channels_first(n, x), pool_windows(n, x)))
    return limited(n, Term(n, out).cast(i32), n.options.activation) if n.options.activation else out


@INTEGERS("AVERAGE_POOL_2D")
def average_pool(n: TfliteLayer, x: Value) -> Value:
    """The mean of each window's elements in x, rounded, halves away from 0."""
    windows = pool_windows(n, x)
    data = Term(n, channels_first(n, x)).cast(i32)
    sums = Term(n, sum_pooled(n, data.value, windows))
    ones = Term(n, n.constant(1, i32)).filled(Term(n, shape_of(n, data.value)))
    counts = Term(n, sum_pooled(n, ones.value, windows))
    half = counts / 2
    found = (sums > 0).choose(sums + half, sums - half) / counts
    return limited(n, Term(n, channels_last(n, found.value)), n.options.activation)

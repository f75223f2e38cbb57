"""Convolutions whose results are added compute the same as one, by the reference semantics."""

from itertools import product

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.passes.nn.merge_convolutions import MergeConvolutions

from .graphs import graph, interpret, names, same, transform, value_of

WINDOWS = {
    "equal": [(3, 1, 1, 1), (3, 1, 1, 1)],
    "point": [(1, 1, 0, 0), (3, 1, 1, 1)],
    "dilated": [(3, 2, 2, 2), (1, 1, 0, 0)],
    "one side": [(2, 3, 3, 0), (1, 1, 0, 0)],
    "nested": [(5, 2, 4, 4), (3, 2, 2, 2)],
    "cropped": [(3, 1, 0, 0), (1, 1, -1, -1)],
}
"""The kernel, its dilation, and the pads of two convolutions with equally many results."""


def conv(b, random, x, window, stride, groups, bias):
    kernel, dilation, begin, end = window
    weight = value_of(b, random.standard_normal((4, 4 // groups, kernel, 1), np.float32))
    operands = [weight, value_of(b, random.standard_normal(4, np.float32))] if bias else [weight]
    return b(
        nn.Conv(
            x,
            *operands,
            strides=(stride, 1),
            dilations=(dilation, 1),
            pads=(begin, 0, end, 0),
            groups=groups,
        )
    ).result


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("dynamic", [(), (0, 2)], ids=["static", "open"])
def test_sums(windows, dynamic):
    random = np.random.default_rng(0)
    for size, stride, groups, biases in product((8, 9), (1, 2), (1, 2, 4), ((0, 1), (1, 1))):
        x = random.standard_normal((2, 4, size, 3), np.float32)

        def build(b, value, stride=stride, groups=groups, biases=biases):
            one, two = (
                conv(b, random, value, window, stride, groups, bias)
                for window, bias in zip(WINDOWS[windows], biases, strict=True)
            )
            return b(nn.Add(one, two))

        module = graph(build, x, dynamic=dynamic)
        expected = interpret(module, x)
        transform(module, MergeConvolutions())
        assert names(module).count("nn.conv") == 1
        same(interpret(module, x), expected)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_multiples_of_the_input(groups):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 4, 8, 3), np.float32)
    for scaled, shifted, minus in product((False, True), repeat=3):

        def build(b, value, scaled=scaled, shifted=shifted, minus=minus):
            term = value
            if scaled:
                term = b(nn.Mul(term, value_of(b, random.standard_normal((4, 1, 1), np.float32))))
            if shifted:
                term = b(nn.Add(term, value_of(b, random.standard_normal((4, 1, 1), np.float32))))
            made = conv(b, random, value, (3, 1, 1, 1), 1, groups, bias=True)
            return b(nn.Sub(made, term)) if minus else b(nn.Add(term, made))

        module = graph(build, x)
        expected = interpret(module, x)
        transform(module, MergeConvolutions())
        assert names(module).count("nn.conv") == 1
        assert names(module)[-1] == "nn.conv"
        same(interpret(module, x), expected)

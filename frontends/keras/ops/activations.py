"""Layers that are a function of each element."""

from __future__ import annotations

from ...common.vocabulary import *
from ..functions import activated, leaky_relu, relu, softmax
from ..layer import KerasLayer, layer


@layer("Activation")
def activation_layer(n: KerasLayer) -> Value:
    return activated(n, n.tensor(), n.option("activation"))


@layer("ReLU")
def relu_layer(n: KerasLayer) -> Value:
    return relu(n, n.tensor(), n.config)


@layer("LeakyReLU")
def leaky_relu_layer(n: KerasLayer) -> Value:
    return leaky_relu(n, n.tensor(), n.config)


@layer("ELU")
def elu(n: KerasLayer) -> Value:
    return activation(n, "elu", n.floating(n.tensor()), n.number("alpha", 1.0))


@layer("ThresholdedReLU")
def thresholded_relu(n: KerasLayer) -> Value:
    return activation(n, "thresholdedrelu", n.floating(n.tensor()), n.number("theta", 1.0))


@layer("PReLU")
def prelu(n: KerasLayer) -> Value:
    (slope,) = n.weights(1)
    return n(nn.Prelu(n.floating(n.tensor()), reshape(n, slope, [1, *slope.type.shape])))


@layer("Softmax")
def softmax_layer(n: KerasLayer) -> Value:
    x, mask = n.tensor(), n.argument(1, "mask") or n.mask
    axes = n.option("axis", -1)
    axes = [axes] if isinstance(axes, int) else list(axes)
    return softmax(n, x, list(normalize_axes(n, axes, x.type.rank)), mask)

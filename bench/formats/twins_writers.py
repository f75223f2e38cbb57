"""Writes the networks of `twins` with each framework, in that framework's usual style."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from twins_nets import (  # type: ignore[import-not-found]
    NETWORKS,
    conv_weight,
    dense_weights,
    norm_weights,
    shape_of,
)

EPSILON = 1e-5


# -- PyTorch, and what is converted from it -------------------------------------------------------


class TorchBuilder:
    """Layers of `torch.nn`, made at the first call and reused afterwards."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.layers = torch.nn.ModuleDict()

    def layer(self, name: str, make: Any, **weights: np.ndarray) -> Any:
        name = name.replace(".", "_")
        if name not in self.layers:
            made = make()
            state = {k: self.torch.from_numpy(w.copy()) for k, w in weights.items()}
            made.load_state_dict(state, strict=False)
            self.layers[name] = made.eval()
        return self.layers[name]

    def conv(self, x, name, taken, made, side, stride, groups=1):
        nn, w = self.torch.nn, conv_weight(name, taken, made, side, groups)

        def make() -> Any:
            return nn.Conv2d(taken, made, side, stride, side // 2, groups=groups, bias=False)

        return self.layer(f"{name}.conv", make, weight=w)(x)

    def norm(self, x, name, count):
        scale, shift, mean, variance = norm_weights(name, count)
        numbers = {"weight": scale, "bias": shift, "running_mean": mean, "running_var": variance}
        make = lambda: self.torch.nn.BatchNorm2d(count, EPSILON)  # noqa: E731
        return self.layer(f"{name}.norm", make, **numbers)(x)

    def relu(self, x):
        return self.torch.nn.functional.relu(x)

    def relu6(self, x):
        return self.torch.nn.functional.relu6(x)

    def gelu(self, x):
        return self.torch.nn.functional.gelu(x)

    def add(self, x, y):
        return x + y

    def pool(self, x):
        return self.torch.nn.functional.max_pool2d(x, 3, 2, 1)

    def mean(self, x):
        return x.mean((2, 3))

    def dense(self, x, name, taken, made):
        kernel, bias = dense_weights(name, taken, made)
        make = lambda: self.torch.nn.Linear(taken, made)  # noqa: E731
        return self.layer(name, make, weight=kernel.T, bias=bias)(x)

    def layer_norm(self, x, name, count):
        scale, shift, _, _ = norm_weights(name, count)
        make = lambda: self.torch.nn.LayerNorm(count, EPSILON)  # noqa: E731
        return self.layer(name, make, weight=scale, bias=shift)(x)

    def attention(self, x, name, width, heads):
        def split(part: str) -> Any:
            y = self.dense(x, f"{name}.{part}", width, width)
            return y.view(1, -1, heads, width // heads).transpose(1, 2)

        scores = self.torch.nn.functional.scaled_dot_product_attention(*map(split, "qkv"))
        mixed = scores.transpose(1, 2).reshape(1, -1, width)
        return self.dense(mixed, f"{name}.o", width, width)


def torch_network(name: str) -> tuple[Any, Any]:
    """A module and its input."""
    import torch

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.builder = TorchBuilder()
            self.layers = self.builder.layers

        def forward(self, x: Any) -> Any:
            return NETWORKS[name](self.builder, x)

    module, x = Network().eval(), torch.zeros(shape_of(name))
    with torch.no_grad():
        module(x)
    return module, x


def write_torch(folder: Path, name: str) -> None:
    """Write files of ONNX and of torch.export."""
    import torch

    module, x = torch_network(name)
    torch.onnx.export(module, (x,), str(folder / f"{name}.onnx"), dynamo=False)
    torch.export.save(torch.export.export(module, (x,)), str(folder / f"{name}.pt2"))


def write_coreml(folder: Path, name: str) -> None:
    """Write an ML program in single precision."""
    import coremltools as ct  # type: ignore[import-not-found]
    import torch

    module, x = torch_network(name)
    with torch.no_grad():
        traced = torch.jit.trace(module, x)
    made = ct.convert(
        traced,
        inputs=[ct.TensorType(shape=tuple(x.shape))],
        convert_to="mlprogram",
        compute_precision=ct.precision.FLOAT32,
        minimum_deployment_target=ct.target.iOS18,
    )
    target = folder / f"{name}.mlpackage"
    shutil.rmtree(target, ignore_errors=True)
    made.save(str(target))  # type: ignore[union-attr]


# -- Keras, TensorFlow, TensorFlow Lite -----------------------------------------------------------


class KerasBuilder:
    """Layers of Keras, channels last; for stride 2, padding is a layer of its own, as in Keras'
    models.
    """

    def __init__(self) -> None:
        import keras  # type: ignore[import-not-found]

        self.layers: Any = keras.layers
        self.weights: list[tuple[Any, list[np.ndarray]]] = []

    def made(self, layer: Any, x: Any, *weights: np.ndarray) -> Any:
        self.weights.append((layer, list(weights)))
        return layer(x)

    def conv(self, x, name, taken, made, side, stride, groups=1):
        padding = "same"
        if stride > 1 and side > 1:
            x, padding = self.layers.ZeroPadding2D(side // 2)(x), "valid"
        kernel = conv_weight(name, taken, made, side, groups).transpose(2, 3, 1, 0)
        how = {"strides": stride, "padding": padding, "use_bias": False}
        if groups > 1:
            layer = self.layers.DepthwiseConv2D(side, **how)
            return self.made(layer, x, kernel.transpose(0, 1, 3, 2))
        return self.made(self.layers.Conv2D(made, side, **how), x, kernel)

    def norm(self, x, name, count):
        layer = self.layers.BatchNormalization(epsilon=EPSILON)
        return self.made(layer, x, *norm_weights(name, count))

    def relu(self, x):
        return self.layers.ReLU()(x)

    def relu6(self, x):
        return self.layers.ReLU(6.0)(x)

    def gelu(self, x):
        return self.layers.Activation("gelu")(x)

    def add(self, x, y):
        return self.layers.Add()([x, y])

    def pool(self, x):
        return self.layers.MaxPooling2D(3, 2)(self.layers.ZeroPadding2D(1)(x))

    def mean(self, x):
        return self.layers.GlobalAveragePooling2D()(x)

    def dense(self, x, name, taken, made):
        return self.made(self.layers.Dense(made), x, *dense_weights(name, taken, made))

    def layer_norm(self, x, name, count):
        layer = self.layers.LayerNormalization(epsilon=EPSILON)
        return self.made(layer, x, *norm_weights(name, count)[:2])

    def attention(self, x, name, width, heads):
        each = width // heads
        layer = self.layers.MultiHeadAttention(heads, each)
        weights = []
        for part in "qkvo":
            kernel, bias = dense_weights(f"{name}.{part}", width, width)
            split = (heads, each, width) if part == "o" else (width, heads, each)
            weights += [kernel.reshape(split), bias if part == "o" else bias.reshape(heads, each)]
        self.weights.append((layer, weights))
        return layer(x, x)


def write_keras(folder: Path, name: str) -> None:
    """Write a Keras file, a SavedModel, and a TensorFlow Lite file."""
    import keras  # type: ignore[import-not-found]
    import tensorflow as tf  # type: ignore[import-not-found]

    keras.backend.clear_session()
    builder, shape = KerasBuilder(), shape_of(name)
    shape = (shape[2], shape[3], shape[1]) if len(shape) == 4 else shape[1:]
    x = keras.Input(shape, batch_size=1)
    model = keras.Model(x, NETWORKS[name](builder, x))
    for layer, weights in builder.weights:
        layer.set_weights(weights)
    model.save(folder / f"{name}.keras")
    model.export(folder / f"{name}.savedmodel")
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / f"{name}.savedmodel"))
    (folder / f"{name}.tflite").write_bytes(converter.convert())


# -- JAX ------------------------------------------------------------------------------------------


class JaxBuilder:
    """Functions of jax.lax and jax.nn, channels last as in Flax; norms as Flax computes them."""

    def __init__(self) -> None:
        import jax  # type: ignore[import-not-found]

        self.jax = jax
        self.np = jax.numpy

    def conv(self, x, name, taken, made, side, stride, groups=1):
        return self.jax.lax.conv_general_dilated(
            x,
            conv_weight(name, taken, made, side, groups).transpose(2, 3, 1, 0),
            (stride, stride),
            [(side // 2, side // 2)] * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    def norm(self, x, name, count):
        scale, shift, mean, variance = norm_weights(name, count)
        factor = self.jax.lax.rsqrt(self.np.asarray(variance) + EPSILON) * scale
        return (x - mean) * factor + shift

    def relu(self, x):
        return self.jax.nn.relu(x)

    def relu6(self, x):
        return self.jax.nn.relu6(x)

    def gelu(self, x):
        return self.jax.nn.gelu(x, approximate=False)

    def add(self, x, y):
        return x + y

    def pool(self, x):
        pads = ((0, 0), (1, 1), (1, 1), (0, 0))
        window = (1, 3, 3, 1), (1, 2, 2, 1), pads
        return self.jax.lax.reduce_window(x, -self.np.inf, self.jax.lax.max, *window)

    def mean(self, x):
        return self.np.mean(x, (1, 2))

    def dense(self, x, name, taken, made):
        kernel, bias = dense_weights(name, taken, made)
        return self.np.dot(x, kernel) + bias

    def layer_norm(self, x, name, count):
        scale, shift, _, _ = norm_weights(name, count)
        mean = self.np.mean(x, -1, keepdims=True)
        square = self.np.mean(self.jax.lax.square(x), -1, keepdims=True)
        variance = self.np.maximum(0.0, square - self.jax.lax.square(mean))
        return (x - mean) * (self.jax.lax.rsqrt(variance + EPSILON) * scale) + shift

    def attention(self, x, name, width, heads):
        each = width // heads
        parts = [self.dense(x, f"{name}.{part}", width, width) for part in "qkv"]
        q, k, v = (part.reshape(1, -1, heads, each) for part in parts)
        scores = self.np.einsum("bqhd,bkhd->bhqk", q / np.sqrt(each).astype(np.float32), k)
        mixed = self.np.einsum("bhqk,bkhd->bqhd", self.jax.nn.softmax(scores), v)
        return self.dense(mixed.reshape(1, -1, width), f"{name}.o", width, width)


def write_jax(folder: Path, name: str) -> None:
    """Write StableHLO text."""
    import jax  # type: ignore[import-not-found]

    shape = shape_of(name)
    shape = (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape
    function = jax.jit(lambda x: NETWORKS[name](JaxBuilder(), x))
    lowered = function.lower(jax.ShapeDtypeStruct(shape, np.float32))
    (folder / f"{name}.mlir").write_text(lowered.as_text())


# -- PaddlePaddle ---------------------------------------------------------------------------------


class PaddleBuilder(TorchBuilder):
    """Layers of `paddle.nn`, which resemble PyTorch's."""

    def __init__(self) -> None:
        import paddle  # type: ignore[import-not-found]

        self.paddle = paddle
        self.nn = paddle.nn
        self.layers = paddle.nn.LayerDict()

    def layer(self, name: str, make: Any, **weights: np.ndarray) -> Any:
        name = name.replace(".", "_")
        if name not in self.layers:
            made = make()
            made.set_state_dict({k: self.paddle.to_tensor(w) for k, w in weights.items()})
            made.eval()
            self.layers[name] = made
        return self.layers[name]

    def conv(self, x, name, taken, made, side, stride, groups=1):
        def make() -> Any:
            how = {"groups": groups, "bias_attr": False}
            return self.nn.Conv2D(taken, made, side, stride, side // 2, **how)

        weight = conv_weight(name, taken, made, side, groups)
        return self.layer(f"{name}.conv", make, weight=weight)(x)

    def norm(self, x, name, count):
        scale, shift, mean, variance = norm_weights(name, count)
        numbers = {"weight": scale, "bias": shift, "_mean": mean, "_variance": variance}
        make = lambda: self.nn.BatchNorm2D(count, epsilon=EPSILON)  # noqa: E731
        return self.layer(f"{name}.norm", make, **numbers)(x)

    def relu(self, x):
        return self.nn.functional.relu(x)

    def relu6(self, x):
        return self.nn.functional.relu6(x)

    def gelu(self, x):
        return self.nn.functional.gelu(x)

    def pool(self, x):
        return self.nn.functional.max_pool2d(x, 3, 2, 1)

    def mean(self, x):
        return x.mean([2, 3])

    def dense(self, x, name, taken, made):
        kernel, bias = dense_weights(name, taken, made)
        make = lambda: self.nn.Linear(taken, made)  # noqa: E731
        return self.layer(name, make, weight=kernel, bias=bias)(x)

    def layer_norm(self, x, name, count):
        scale, shift, _, _ = norm_weights(name, count)
        make = lambda: self.nn.LayerNorm(count, EPSILON)  # noqa: E731
        return self.layer(name, make, weight=scale, bias=shift)(x)

    def attention(self, x, name, width, heads):
        each = width // heads

        def split(part: str) -> Any:
            y = self.dense(x, f"{name}.{part}", width, width)
            return y.reshape([1, -1, heads, each]).transpose([0, 2, 1, 3])

        q, k, v = map(split, "qkv")
        scores = self.nn.functional.softmax(self.paddle.matmul(q * each**-0.5, k, False, True))
        mixed = self.paddle.matmul(scores, v).transpose([0, 2, 1, 3]).reshape([1, -1, width])
        return self.dense(mixed, f"{name}.o", width, width)


def write_paddle(folder: Path, name: str) -> None:
    """Write an inference model by paddle.jit."""
    import paddle  # type: ignore[import-not-found]
    import twins_nets  # type: ignore[import-not-found]

    paddle.jit.ignore_module([twins_nets, np])

    class Network(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.builder = PaddleBuilder()
            self.layers = self.builder.layers

        def forward(self, x: Any) -> Any:
            return NETWORKS[name](self.builder, x)

    module, shape = Network(), list(shape_of(name))
    module.eval()
    module(paddle.zeros(shape))
    spec = paddle.static.InputSpec(shape, "float32", "x")
    paddle.jit.save(module, str(folder / name), input_spec=[spec])


WRITERS = {
    "torch": write_torch,
    "coreml": write_coreml,
    "keras": write_keras,
    "jax": write_jax,
    "paddle": write_paddle,
}

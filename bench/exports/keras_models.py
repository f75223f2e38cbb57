"""Keras models, which tf2onnx converts; each is made by a function of TensorFlow's
`keras` module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Build = Callable[[Any], Any]


def application(name: str, **options: Any) -> Build:
    """A network of keras.applications, with random weights."""
    return lambda keras: getattr(keras.applications, name)(
        weights=None, classes=10, classifier_activation=None, **options
    )


def stack(*layers: tuple[str, tuple[Any, ...], dict[str, Any]], shape: tuple[int, ...]) -> Build:
    """A sequential model of layers, each given by its name, arguments and options."""

    def build(keras: Any) -> Any:
        made = [getattr(keras.layers, name)(*args, **options) for name, args, options in layers]
        return keras.Sequential([keras.layers.Input(shape), *made])

    return build


def layer(
    name: str, *arguments: Any, **options: Any
) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name, arguments and options of a layer for `stack`."""
    return name, arguments, options


def recurrent(kind: str, shape: tuple[int, ...], keras: Any) -> Any:
    """A bidirectional recurrent layer, followed by one whose last state is the output."""
    x = entry = keras.layers.Input(shape)
    make = getattr(keras.layers, kind)
    x = keras.layers.Bidirectional(make(12, return_sequences=True))(x)
    return keras.Model(entry, keras.layers.Dense(5)(make(8)(x)))


def unet(shape: tuple[int, ...], keras: Any) -> Any:
    """A U-Net: downsampling, then upsampling by a transposed convolution and by resizing, with
    skips.
    """
    layers = keras.layers
    entry = layers.Input(shape)
    first = layers.Conv2D(8, 3, padding="same", activation="relu")(entry)
    down = layers.Conv2D(16, 3, strides=2, padding="same", activation="swish")(first)
    deep = layers.SeparableConv2D(16, 3, padding="same")(layers.AveragePooling2D(2)(down))
    up = layers.UpSampling2D(2, interpolation="bilinear")(deep)
    up = layers.Concatenate()([up, down])
    up = layers.Conv2DTranspose(8, 3, strides=2, padding="same")(up)
    return keras.Model(entry, layers.Conv2D(3, 1)(layers.Concatenate()([up, first])))


def attention(shape: tuple[int, ...], keras: Any) -> Any:
    """A transformer block made of Keras layers."""
    layers = keras.layers
    entry = layers.Input(shape)
    heads = layers.MultiHeadAttention(2, 8)(entry, entry, use_causal_mask=True)
    x = layers.LayerNormalization()(layers.Add()([entry, heads]))
    inner = layers.Dense(shape[-1])(layers.Dense(32, activation="silu")(x))
    return keras.Model(entry, layers.LayerNormalization()(layers.Add()([x, inner])))


_IMAGE = (32, 32, 3)
KERAS: dict[str, tuple[Build, tuple[int, ...]]] = {
    "tf_dense": (
        stack(layer("Dense", 16, "selu"), layer("Dense", 3, "softmax"), shape=(12,)),
        (12,),
    ),
    "tf_conv1d": (
        stack(
            layer("Conv1D", 8, 5, strides=2, padding="causal"),
            layer("LeakyReLU"),
            layer("MaxPooling1D", 2),
            layer("Flatten"),
            layer("Dense", 4, "sigmoid"),
            shape=(48, 6),
        ),
        (48, 6),
    ),
    "tf_conv3d": (
        stack(
            layer("Conv3D", 4, 3, activation="elu"),
            layer("MaxPooling3D", 2),
            layer("GlobalAveragePooling3D"),
            shape=(8, 12, 12, 2),
        ),
        (8, 12, 12, 2),
    ),
    "tf_lstm": (partial(recurrent, "LSTM", (9, 6)), (9, 6)),
    "tf_gru": (partial(recurrent, "GRU", (9, 6)), (9, 6)),
    "tf_unet": (partial(unet, _IMAGE), _IMAGE),
    "tf_attention": (partial(attention, (10, 16)), (10, 16)),
    "tf_mobilenet_v2": (application("MobileNetV2", input_shape=_IMAGE, alpha=0.35), _IMAGE),
    "tf_efficientnet_b0": (application("EfficientNetB0", input_shape=_IMAGE), _IMAGE),
    "tf_densenet121": (application("DenseNet121", input_shape=_IMAGE), _IMAGE),
}

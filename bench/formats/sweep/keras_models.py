"""Whole models of Keras: shared layers and models, propagated masks, mixed element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras

from .cases import Config, Subject
from .keras_base import COMMON, OPEN, Inputs, L, subject
from .sampled import SampledSubject

ops = keras.ops


def siamese(config: Config, inputs: Inputs) -> Any:
    """A model called twice on different inputs, and the distance of its results."""
    image = keras.Input((None, None, 3) if config["open"] else (8, 8, 3))
    y = L.BatchNormalization()(L.Conv2D(4, 3, activation="relu")(image))
    y = L.GlobalAveragePooling2D()(L.MaxPooling2D()(y))
    tower = keras.Model(image, L.UnitNormalization()(L.Dense(5)(y)), name="tower")
    one, two = tower(inputs.floats(8, 8, 3)), tower(inputs.floats(8, 8, 3))
    if config["variant"] == 0:
        return L.Dot(1)([one, two]), L.Subtract()([one, two])
    if config["variant"] == 1:
        return L.Dense(2)(ops.abs(one - two)), tower(inputs.tensors[0] * 2)
    return L.Concatenate()([L.Maximum()([one, two]), one * two])


def shared(config: Config, inputs: Inputs) -> Any:
    """Layers called several times, on tensors of different extents and with different masks."""
    tokens, others = inputs.integers(6), inputs.integers(4)
    words = L.Embedding(5, 8, mask_zero=config["variant"] != 1)
    unit = L.Bidirectional(L.GRU(3, return_sequences=config["variant"] == 2))
    dense, norm = L.Dense(6), L.LayerNormalization()
    found = [norm(dense(unit(words(one)))) for one in (tokens, others)]
    if config["variant"] == 2:
        return [L.GlobalAveragePooling1D()(one) for one in found]
    return L.Add()(found), dense(L.Concatenate()(found)[:, :6])


def masked(config: Config, inputs: Inputs) -> Any:
    """A mask that passes through layers that keep, change or drop it."""
    tokens = inputs.integers(6)
    x = L.Embedding(5, 8, mask_zero=True)(tokens)
    x = L.Dropout(0.3)(L.LayerNormalization()(x))
    if config["variant"] == 0:
        y = L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
        y = L.Add()([x, y])
        return L.LSTM(5)(y), L.GlobalAveragePooling1D()(L.Dense(3)(y))
    if config["variant"] == 1:
        y = L.Concatenate(axis=1)([x, L.Activation("tanh")(x)])
        return L.GRU(4, return_sequences=True, go_backwards=True)(y), L.Masking(0.0)(y)
    y = L.TimeDistributed(keras.Sequential([L.Dense(4, "relu"), L.Dropout(0.5), L.Dense(3)]))(x)
    return L.SimpleRNN(4, return_sequences=True)(L.RepeatVector(3)(L.LSTM(4)(y))), y


def typed(config: Config, inputs: Inputs) -> Any:
    """Layers whose element types differ from the model's policy."""
    x = inputs.floats(6, 8)
    y = L.Dense(8, dtype="float32" if config["variant"] else "mixed_float16")(x)
    y = L.Conv1D(
        4, 3, padding="causal", dtype="mixed_bfloat16" if config["variant"] == 2 else None
    )(y)
    y = L.BatchNormalization(dtype="float32")(y)
    y = L.GRU(4, return_sequences=True, dtype="float32" if config["variant"] == 1 else None)(y)
    if config["variant"] == 2:
        y = ops.cast(y, "float32") * 1e-3 + ops.cast(ops.arange(4), "float32")
    return L.Activation("softmax", dtype="float32")(L.Flatten()(L.Dense(3)(y)[:, :2]))


def residual(config: Config, inputs: Inputs) -> Any:
    """Convolutions with shortcuts, with layers in training mode and not."""
    x = inputs.floats(9, 8, 4)
    y = L.ZeroPadding2D(((0, 1), (0, 1)))(x)
    y = L.DepthwiseConv2D(3, 2 if config["variant"] else 1, padding="valid", use_bias=False)(y)
    y = L.ReLU(6.0)(L.BatchNormalization(epsilon=1e-3, scale=config["variant"] != 1)(y))
    gate = L.Dense(4, "hard_sigmoid")(L.GlobalAveragePooling2D(keepdims=True)(y))
    y = L.Multiply()([y, gate])
    if config["variant"] == 1:
        side = L.AveragePooling2D(2, 2, "same")(L.Conv2D(4, 1)(x))
        y = y if config["open"] else L.Add()([y, side[:, : y.shape[1], : y.shape[2]]])
    y = L.SpatialDropout2D(0.2)(L.SeparableConv2D(6, 3, padding="same")(y))
    return L.GlobalMaxPooling2D()(y), L.UpSampling2D(2, interpolation="bilinear")(y)


def u_net(config: Config, inputs: Inputs) -> Any:
    """A U-Net: downsampling and upsampling with skip connections."""
    x = inputs.floats(8, 12, 3)
    a = L.LeakyReLU(0.1)(L.Conv2D(4, 3, padding="same")(x))
    b = L.PReLU(shared_axes=[1, 2])(L.Conv2D(6, 3, 2, padding="same")(a))
    if config["variant"] == 0:
        y = L.Conv2DTranspose(4, 3, 2, padding="same")(b)
    elif config["variant"] == 1:
        y = L.Conv2D(4, 1)(L.UpSampling2D(2)(b))
    else:
        y = L.Conv2DTranspose(4, 2, 2, output_padding=0)(L.GroupNormalization(2)(b))
    if config["open"]:
        return L.Conv2D(2, 1, activation="sigmoid")(y), a[:, 2:-2, 1:]
    return L.Conv2D(2, 1, activation="sigmoid")(L.Concatenate()([a, y]))


def transformer(config: Config, inputs: Inputs) -> Any:
    """Patches or tokens with positional embeddings, attention and gated products."""
    x = inputs.floats(6, 8)
    if config["variant"] == 1:
        x = x + L.Embedding(32, 8)(ops.arange(ops.shape(x)[1], dtype="int32"))
    y = L.LayerNormalization(epsilon=1e-6)(x)
    y = (
        L.GroupQueryAttention(4, 4, 2)(y, y)
        if config["variant"] == 2
        else L.MultiHeadAttention(2, 4)(y, y)
    )
    y = L.Add()([x, y])
    z = L.Dense(16, activation="gelu")(L.RMSNormalization()(y))
    z = z[..., :8] * ops.silu(z[..., 8:])
    return ops.mean(y + z, axis=1), ops.max(z, axis=-1, keepdims=True)


def nested(config: Config, inputs: Inputs) -> Any:
    """Models inside models, with several inputs and outputs."""
    a, b = keras.Input((8,)), keras.Input((4,))
    inner = keras.Model([a, b], [L.Dense(6)(a), L.Dense(6)(L.Concatenate()([a, b]))], name="inner")
    block = keras.Sequential(
        [L.Dense(6, "swish"), L.LayerNormalization(), L.Dropout(0.1)], name="block"
    )
    x, y = inputs.floats(8), inputs.floats(4)
    first, second = inner([x, y])
    if config["variant"] == 0:
        return block(first), block(second)
    if config["variant"] == 1:
        third, _ = inner([L.Dense(8)(first), y])
        return {"sum": L.Add()([third, block(second)]), "first": first}
    outer = keras.Model([c := keras.Input((6,))], block(L.Rescaling(0.5, 0.1)(c)), name="outer")
    return outer(outer(first)), L.Average()([first, second])


def seq2seq(config: Config, inputs: Inputs) -> Any:
    """An encoder whose states initialize a decoder, and attention to the encoder's outputs."""
    source, target = inputs.integers(5, least=1), inputs.integers(4)
    words = L.Embedding(5, 6, mask_zero=config["variant"] == 1)
    if config["variant"] == 0:
        every, h, c = L.LSTM(6, return_sequences=True, return_state=True)(words(source))
        y = L.LSTM(6, return_sequences=True)(words(target), initial_state=[h, c])
    else:
        every, h = L.GRU(6, return_sequences=True, return_state=True)(words(source))
        y = L.GRU(6, return_sequences=True, reset_after=False)(words(target), initial_state=h)
    seen = (
        L.AdditiveAttention()([y, every]) if config["variant"] == 2 else L.Attention()([y, every])
    )
    return L.Dense(5, "softmax")(L.Concatenate()([y, seen]))


MODELS: Mapping[str, Callable[[Config, Inputs], Any]] = {
    "siamese": siamese, "shared": shared, "masked": masked, "typed": typed, "residual": residual,
    "u-net": u_net, "transformer": transformer, "nested": nested, "seq2seq": seq2seq,
}  # fmt: skip


def subjects() -> Iterator[Subject]:
    """A subject for each model."""
    for name, build in MODELS.items():
        made = subject(f"model: {name}", build, {"variant": [0, 1, 2]}, common=COMMON | OPEN)
        yield SampledSubject(made.name, made.choices, made.make, made.allowed, single=6, pairs=6)

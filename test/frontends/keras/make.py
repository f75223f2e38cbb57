"""Writes the models of this folder's tests and what Keras computes with them.

Needs Keras 3 and, for the files of Keras 2, tf_keras:

    python make.py FOLDER            # .keras and .h5 of Keras 3
    python make.py FOLDER --legacy   # .h5 of Keras 2

Every model stands for a family of layers. Weights are scaled such that outputs vary.
"""

import sys
from pathlib import Path

import numpy as np
from maker import LEGACY, L, keras, model, write_all

# -- layers of one tensor ----------------------------------------------------------------------


@model((8, 7, 3))
def convolutions(x):
    a = L.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x)
    b = L.Conv2D(4, (3, 2), dilation_rate=2, groups=1, use_bias=False)(x)
    c = L.DepthwiseConv2D(3, depth_multiplier=2, padding="same")(x)
    d = L.SeparableConv2D(4, 3, depth_multiplier=2, strides=2, padding="valid")(x)
    e = L.Conv2DTranspose(4, 3, strides=2, padding="same")(a)
    f = L.Conv2DTranspose(4, 2, strides=3, padding="valid")(a)
    g = L.Conv2DTranspose(2, 4, strides=2, padding="same", output_padding=1)(a)
    h = L.Conv2D(4, 1, groups=2)(a)
    return [a, b, c, d, e, f, g, h]


@model((10, 4))
def convolutions_1d(x):
    a = L.Conv1D(6, 3, padding="causal", dilation_rate=2)(x)
    b = L.SeparableConv1D(4, 3, padding="same")(x)
    c = L.DepthwiseConv1D(3, strides=2)(x)
    d = L.Conv1DTranspose(3, 3, strides=2, padding="same")(x)
    e = L.ZeroPadding1D((1, 2))(x)
    f = L.Cropping1D((2, 1))(x)
    g = L.UpSampling1D(3)(x)
    h = L.MaxPooling1D(3, strides=2, padding="same")(x)
    i = L.AveragePooling1D(2)(x)
    j = L.GlobalAveragePooling1D()(x)
    k = L.GlobalMaxPooling1D(keepdims=True)(x)
    return [a, b, c, d, e, f, g, h, i, j, k]


@model((4, 5, 4, 2))
def volumes(x):
    a = L.Conv3D(3, 2, padding="same", strides=(1, 2, 1))(x)
    b = L.Conv3DTranspose(2, 2, strides=2)(a)
    c = L.MaxPooling3D(2)(x)
    d = L.AveragePooling3D(2, padding="same")(x)
    e = L.ZeroPadding3D(((1, 0), (0, 1), (2, 1)))(x)
    f = L.Cropping3D(1)(x)
    g = L.UpSampling3D((1, 2, 1))(x)
    h = L.GlobalAveragePooling3D()(x)
    return [a, b, c, d, e, f, g, h, L.GlobalMaxPooling3D()(x)]


@model((7, 5, 2))
def images(x):
    a = L.MaxPooling2D(3, strides=2, padding="same")(x)
    b = L.AveragePooling2D((2, 3), padding="same")(x)
    c = L.ZeroPadding2D(((1, 2), (0, 3)))(x)
    d = L.Cropping2D(((1, 2), (0, 3)))(x)
    e = L.UpSampling2D((2, 3))(x)
    f = L.UpSampling2D(2, interpolation="bilinear")(x)
    g = L.Resizing(5, 12)(x)
    h = L.CenterCrop(4, 3)(x)
    i = L.Rescaling(1 / 3.0, offset=-0.5)(x)
    j = L.GlobalAveragePooling2D(keepdims=True)(x)
    k = L.GlobalMaxPooling2D()(x)
    m = L.RandomFlip()(L.SpatialDropout2D(0.5)(L.GaussianNoise(0.5)(x)))
    return [a, b, c, d, e, f, g, h, i, j, k, m]


@model((3, 8, 6))
def channels_first(x):
    how = {"data_format": "channels_first"}
    a = L.Conv2D(4, 3, padding="same", **how)(x)
    b = L.BatchNormalization(axis=1)(a)
    c = L.MaxPooling2D(2, **how)(b)
    d = L.Flatten(**how)(c)
    e = L.ZeroPadding2D(1, **how)(c)
    f = L.UpSampling2D(2, **how)(c)
    g = L.GlobalAveragePooling2D(**how)(e)
    return [b, c, d, f, g, L.DepthwiseConv2D(2, **how)(x)]


@model((6, 8))
def normalizations(x):
    a = L.BatchNormalization()(x)
    b = L.BatchNormalization(scale=False, epsilon=1e-2)(x)
    c = L.BatchNormalization(center=False, axis=1)(x)
    d = L.LayerNormalization()(x)
    e = L.LayerNormalization(axis=1 if LEGACY else (1, 2))(x)
    f = L.LayerNormalization(axis=1, scale=False)(x)
    g = L.GroupNormalization(4)(x)
    h = L.UnitNormalization()(x)
    outs = [a, b, c, d, e, f, g, h]
    n = L.Normalization(mean=[1.0] * 8, variance=[2.0] * 8)(x)
    if not LEGACY:
        outs += [L.RMSNormalization()(x), L.SpectralNormalization(L.Dense(3))(x)]
    return [*outs, n]


@model((7,), legacy=True)
def activations(x):
    names = ["relu", "elu", "selu", "gelu", "softmax", "softplus", "softsign", "tanh"]
    names += ["sigmoid", "exponential", "hard_sigmoid", "swish", "linear", "mish"]
    if not LEGACY:
        names += ["relu6", "silu", "hard_silu", "celu", "leaky_relu", "log_softmax", "log_sigmoid"]
        names += ["hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink", "squareplus"]
        names += ["sparse_plus", "sparse_sigmoid"]
    if LEGACY:
        names = ["hard_sigmoid", "swish", "gelu", "softmax"]
    found = [L.Activation(name)(x) for name in names]
    found += [L.LeakyReLU()(x), L.ELU(0.5)(x), L.PReLU()(x), L.Softmax()(x)]
    found += [L.ReLU(max_value=1.0, negative_slope=0.1, threshold=0.2)(x), L.ReLU(6.0)(x)]
    return found


@model((4, 6))
def shapes(x):
    a = L.Reshape((3, -1, 2))(x)
    b = L.Permute((3, 1, 2))(a)
    c = L.Flatten()(b)
    d = L.RepeatVector(3)(c)
    e = L.Dense(5, activation="relu")(x)
    f = L.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d")(x)
    g = L.TimeDistributed(L.Dense(2))(x)
    i = L.TimeDistributed(L.TimeDistributed(L.Dense(2)))(L.Reshape((2, 2, 6))(x))
    return [a, b, c, d, e, f, g, i, L.Dropout(0.5)(x)]


@model((5, 4), (5, 4), (4,))
def merging(x, y, z):
    a = L.Add()([x, y])
    b = L.Subtract()([x, y])
    c = L.Multiply()([x, y, x])
    d = L.Average()([x, y, x])
    e = L.Maximum()([x, y])
    f = L.Minimum()([x, y])
    g = L.Concatenate(axis=1)([x, y])
    h = L.Dot(axes=(2, 2))([x, y])
    i = L.Dot(axes=1, normalize=True)([z, z])
    j = L.Dot(axes=(1, 2))([z, x])
    return [a, b, c, d, e, f, g, h, i, j, L.concatenate([x, y])]


@model((400, 2))
def spectra(x):
    how = {"frame_length": 50, "frame_step": 25, "fft_length": 64}
    a = L.STFTSpectrogram(**how)(x)
    b = L.STFTSpectrogram(mode="stft", padding="same", expand_dims=True, **how)(x)
    first = L.Permute((2, 1))(x)
    d = L.MelSpectrogram(
        fft_length=128, sequence_stride=64, sampling_rate=8000, num_mel_bins=20, max_freq=4000
    )(first)
    c = L.STFTSpectrogram(mode="psd", data_format="channels_first", **how)(first)
    real, imaginary = keras.ops.rfft(first, 20)
    return [a, b, c, d, real, imaginary, keras.ops.irfft((real, imaginary))]


@model((8, 6, 3))
def image_operations(x):
    images, turn = keras.ops.image, np.array([1, 0.1, 0.5, -0.1, 0.9, 0.3, 0, 0], np.float32)
    x = keras.ops.sigmoid(x)
    return [
        images.rgb_to_hsv(x),
        images.hsv_to_rgb(x),
        images.pad_images(x, 1, None, 2, 3, target_width=10),
        images.crop_images(x, 1, 2, target_height=4, target_width=3),
        images.extract_patches(x, (3, 2), strides=(2, 1), padding="same"),
        images.gaussian_blur(x, (3, 3), (1.0, 2.0)),
        images.affine_transform(x, turn, "nearest", "reflect"),
    ]


@model((8, 6, 4))
def network_operations(x):
    ops, weight = keras.ops, np.linspace(-1, 1, 144, dtype=np.float32).reshape(3, 3, 4, 4)
    classes = ops.cast(ops.abs(x[:, 0]) * 2, "int32")
    return [
        ops.conv(x, weight, strides=2, padding="same"),
        ops.depthwise_conv(x, weight[:, :, :, :2], dilation_rate=2, padding="same"),
        ops.separable_conv(x, weight[:, :, :, :1], weight[:1, :1]),
        ops.max_pool(x, 3, 2, "same"),
        ops.average_pool(x, 2),
        ops.layer_normalization(x, weight[0, 0, 0], weight[0, 1, 0]),
        ops.rms_normalization(x, weight[0, 0, 0]),
        ops.batch_normalization(x, weight[0, 0, 0], ops.abs(weight[0, 1, 0]), -1),
        ops.dot_product_attention(x, x[..., :2, :], x[..., :2, :]),
        ops.dot_product_attention(x, x, x, is_causal=True, scale=0.3),
        ops.multi_hot(classes, 3),
    ]


# -- sequences ---------------------------------------------------------------------------------


@model((5, 3))
def recurrent(x):
    a = L.LSTM(4)(x)
    b = L.LSTM(4, return_sequences=True, go_backwards=True, use_bias=False)(x)
    c = L.GRU(4, return_sequences=True)(x)
    d = L.GRU(4, reset_after=False, recurrent_activation="relu")(x)
    e = L.SimpleRNN(4, return_sequences=True, activation="relu")(x)
    f = L.Bidirectional(L.LSTM(3, return_sequences=True))(x)
    g = L.Bidirectional(L.GRU(3), merge_mode="sum")(x)
    h, s, t = L.LSTM(4, return_state=True, return_sequences=True)(x)
    i = L.LSTM(4)(h, initial_state=[s, t])
    j = L.RNN([L.LSTMCell(3), L.GRUCell(4)], return_sequences=True)(x)
    return [a, b, c, d, e, f, g, h, s, t, i, j]


@model((40, 2))
def long_sequence(x):
    return [L.LSTM(3, return_sequences=True)(x), L.Bidirectional(L.GRU(2))(x)]


@model((6,), legacy=True, ints=(4,))
def masks(x):
    e = L.Embedding(4, 5, mask_zero=True)(x)
    a = L.LSTM(3, return_sequences=True)(e)
    b = L.Bidirectional(L.GRU(3, return_sequences=True))(e)
    c = L.GlobalAveragePooling1D()(L.Dense(3)(e))
    d = L.GRU(3)(a)
    f = L.MultiHeadAttention(2, 3)(e, e)
    g = L.LSTM(2)(L.Masking(0.5)(L.Reshape((6, 1))(L.Rescaling(0.5)(x))))
    return [a, b, c, d, f, g]


@model((5, 8), (3, 8))
def attention(x, y):
    a = L.MultiHeadAttention(2, 3)(x, y)
    b = L.MultiHeadAttention(2, 3, value_dim=5, use_bias=False)(x, x, use_causal_mask=True)
    c = L.Attention(use_scale=True)([x, y])
    d = L.AdditiveAttention()([x, y])
    e, f = L.MultiHeadAttention(2, 4)(x, y, return_attention_scores=True)
    outs = [a, b, c, d, e, f]
    if not LEGACY:
        outs.append(L.GroupQueryAttention(3, 4, 2)(x, x))
        outs.append(L.Attention(score_mode="concat")([x, y, y]))
    return outs


@model((3, 6, 5, 2))
def convolutional_memory(x):
    a = L.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(x)
    b, c, d = L.ConvLSTM2D(2, 2, strides=2, return_state=True)(x)
    return [a, b, c, d]


@model((3, 4), (3, 4))
def numbers(x, y):
    """Operations that Keras 3 has."""
    if LEGACY:
        return [x]
    ops, whole = keras.ops, keras.ops.cast(x * 4, "int32")
    pairs = ("arctan2", "hypot", "logaddexp", "logaddexp2", "divide_no_nan", "heaviside", "fmax",
             "fmod", "isclose")  # fmt: skip
    alone = ("cbrt", "deg2rad", "exp2", "trunc", "signbit", "sinc", "isfinite", "nan_to_num",
             "nanmean", "nanmax", "sort", "argsort", "flipud")  # fmt: skip
    found = [getattr(ops, name)(x, y) for name in pairs] + [getattr(ops, n)(x) for n in alone]
    square = ops.matmul(x, ops.swapaxes(x, 1, 2)) + 4 * ops.eye(3)
    found += [
        ops.median(x, axis=1), ops.quantile(x, [0.2, 0.7], axis=-1), ops.diff(x, 2, axis=1),
        ops.average(x, axis=1, weights=np.array([1.0, 2, 3], "float32")), *ops.moments(x, [1]),
        ops.rot90(x, 3, axes=(1, 2)), ops.diagonal(x, axis1=1, axis2=2), ops.tile(x, (1, 2, 1)),
        ops.digitize(x, np.array([-1.0, 0, 1])), *ops.array_split(x, 3, axis=2),
        ops.threshold(x, 0.1, 2.0), ops.cross(x[..., :3], y[..., 1:]), ops.inner(x[:, 0], y[0, 0]),
        ops.bitwise_and(whole, -whole), ops.cholesky(square),
        ops.inv(square), ops.det(square), ops.solve(square, x), *ops.qr(square),
        L.IntegerLookup(vocabulary=[1, 3, -5])(whole),
        L.IntegerLookup(vocabulary=[1, 3], mask_token=0, num_oov_indices=2)(whole),
        L.IntegerLookup(vocabulary=[1, 3], output_mode="multi_hot")(whole[:, 0]),
    ]  # fmt: skip
    return found


@model((8, 7, 3))
def preprocessing(x):
    if LEGACY:
        return [x]
    crop, steps = L.RandomCrop(5, 4), L.Pipeline([L.Rescaling(2.0), L.RandomFlip()])
    return [crop(x), steps(x), L.AdaptiveAveragePooling2D((3, 2))(x),
            L.AdaptiveMaxPooling2D((3, 2))(x), keras.ops.image.rgb_to_grayscale(x)]  # fmt: skip


# -- structure ---------------------------------------------------------------------------------


@model((8, 6, 2))
def aspects(x):
    return [
        L.Resizing(5, 5, crop_to_aspect_ratio=True)(x),
        L.Resizing(4, 6, pad_to_aspect_ratio=True, fill_value=0.5)(x),
        L.Resizing(6, 2, pad_to_aspect_ratio=True)(x),
        L.CenterCrop(10, 4)(x),
    ]


@model((4, 4))
def matrix_operations(x):
    ops = keras.ops
    sound = ops.matmul(x, ops.swapaxes(x, 1, 2)) + 4 * np.eye(4, dtype=np.float32)
    return [
        *ops.slogdet(x),
        ops.logdet(sound),
        ops.svd(x, compute_uv=False),
        ops.slice_update(x, (0, 1, 1), np.ones((1, 2, 3), np.float32)),
        ops.nanstd(ops.where(x > 0.5, np.nan, x), axis=-1),
        ops.nanvar(ops.where(x > 0.5, np.nan, x), axis=(1, 2)),
    ]


@model((6,), ints=(20,), policy="float16")
def half_floats(x):
    y = L.Embedding(20, 8)(x)
    y = L.Conv1D(4, 3, activation="relu")(L.LayerNormalization()(y))
    return [L.Dense(5)(y), L.Rescaling(0.5)(x)]


@model((6,), ints=(20,), policy="bfloat16")
def brain_floats(x):
    return L.Dense(5, activation="relu")(L.Embedding(20, 8)(x))


@model((6,), ints=(20,), quantized="int8")
def integer_weights(x):
    y = L.EinsumDense("abc,cde->abde", output_shape=(None, 3, 2), bias_axes="de")(
        L.Embedding(20, 8)(x)
    )
    z = L.EinsumDense("abde,dec->abc", (None, 5))(y)
    return [L.Dense(4, activation="tanh")(y), z, L.MultiHeadAttention(2, 3)(z, z)]


if not LEGACY:
    blocks = keras.quantizers.Int4QuantizationConfig(block_size=4)
    columns = keras.quantizers.Int4QuantizationConfig(
        block_size=None, activation_quantizer=keras.quantizers.AbsMaxQuantizer(axis=-1)
    )

    def packed(x, ties):
        """Layers whose weights can be quantized; their odd extents leave half a byte."""
        table = L.ReversibleEmbedding(11, 7, tie_weights=ties)
        y = L.EinsumDense("abc,cde->abde", output_shape=(None, 3, 3), bias_axes="de")(table(x))
        y = L.EinsumDense("abde,dec->abc", output_shape=(None, 7))(y)
        return [L.Dense(5)(L.Embedding(11, 7)(x)), table(y, reverse=True)]

    @model((4,), ints=(11,), quantized=blocks, h5=True)
    def packed_weights(x):
        return packed(x, False)

    @model((4,), ints=(11,), quantized=columns)
    def packed_columns(x):
        return packed(x, True)

    @model((6,), quantized="float8")
    def float_weights(x):
        return L.EinsumDense("ab,bc->ac", output_shape=4, bias_axes="c")(L.Dense(5)(x))


@model((4,), legacy=True, h5=True)
def nested(x):
    """Models in models, a layer that is called three times, a model that is called twice."""
    shared = L.Dense(4, activation="tanh", name="shared")
    given = keras.Input((4,))
    inner = keras.Model(given, [L.BatchNormalization()(given), L.Dense(2)(given)])
    first, second = inner(shared(shared(x)))
    third, _ = inner(shared(first))
    body = keras.Sequential([L.Dense(4), keras.Sequential([L.Dense(3), L.BatchNormalization()])])
    other = keras.Sequential([keras.Input((2,)), L.Dense(3), L.ReLU()])
    return [body(third), L.TimeDistributed(other)(L.Reshape((1, 2))(second))]


if not LEGACY:
    from keras import ops

    @model((4, 6), (4, 6))
    def operations(x, y):
        a = (x + y) * 2.0 - y / 3.0 + 1.0
        b = ops.mean(a, axis=1, keepdims=True) + ops.var(a, axis=(1, 2), keepdims=True)
        c = ops.concatenate([x[:, 1:, ::2], y[:, :-1, 3:]], axis=-1)
        d = ops.reshape(ops.transpose(x, (0, 2, 1)), (-1, 12, 2))
        e = ops.where(x > y, ops.sqrt(ops.abs(x)), ops.exp(-ops.square(y)))
        f = ops.matmul(x, ops.swapaxes(y, 1, 2))
        g = ops.einsum("bij,bkj->bik", x, y)
        h = ops.softmax(ops.stack([x, y], axis=1), axis=1)
        i = ops.clip(ops.expand_dims(x, -1)[:, 0], -0.5, 0.5)
        j, k = ops.split(x, 2, axis=2)
        m = ops.cast(ops.argmax(x, axis=-1), "float32")
        n = ops.pad(x, [[0, 0], [1, 2], [0, 1]])
        o = ops.maximum(ops.cumsum(x, axis=1), ops.roll(y, 2, axis=2))
        p = ops.gelu(x) + ops.relu(y) ** 2 + ops.silu(x) + ops.leaky_relu(y)
        q = ops.repeat(ops.flip(x, axis=2), 2, axis=1)
        r = ops.top_k(x, 2)[0] + ops.logsumexp(x, axis=-1, keepdims=True)
        s = ops.take(x, [2, 0], axis=1) + ops.max(y, axis=1, keepdims=True)
        t = ops.squeeze(ops.sum(x, axis=2, keepdims=True), -1) + ops.std(x, axis=-1)
        u = ops.normalize(x) + ops.norm(y, axis=2, keepdims=True) + ops.log1p(ops.abs(x))
        return [a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u]

    @model((9, 6, 3))
    def image_sizes(x):
        a = L.Resizing(4, 5, crop_to_aspect_ratio=True)(x)
        b = L.Resizing(4, 5, pad_to_aspect_ratio=True, fill_value=0.5)(x)
        c = [L.Resizing(4, 8, interpolation=i) for i in ("lanczos3", "lanczos5", "area")]
        d = [L.Resizing(4, 8, interpolation=i, antialias=True) for i in ("bilinear", "bicubic")]
        e = L.UpSampling2D((1, 2), interpolation="lanczos3")(x)
        f = L.CenterCrop(12, 4)(x)
        g = L.AutoContrast((-2.0, 2.0))(x)
        h = L.LayerNormalization(rms_scaling=True)(x)
        return [a, b, e, f, g, h, *(layer(x) for layer in c + d), L.Activation("sparsemax")(x)]

else:
    import tensorflow as tf

    @model((4, 6), legacy=True)
    def operations(x):
        y = tf.nn.relu(x + 1.0) * 2.0 - x
        return [y[:, 1:, ::2], tf.reduce_mean(y, axis=1), tf.concat([x, y], axis=2), 1.0 - y, 2 / y]


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))

"""Layers of images, volumes and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from .cases import Config, Subject
from .keras_base import BATCHES, COMMON, FORMS, OPEN, Inputs, L, arguments, subject

YES = [False, True]
PLACES = (9, 10, 7)
"""The extents of images. None equals a number of channels, as Keras 3.15 may then add a bias along
the wrong dimension.
"""
FORMATS = {"data_format": ["channels_last", "channels_first"]}
ACTIVATIONS = [
    None, "relu", "relu6", "elu", "selu", "gelu", "softmax", "softplus", "softsign", "tanh",
    "sigmoid", "exponential", "hard_sigmoid", "silu", "hard_silu", "celu", "leaky_relu", "mish",
    "log_softmax", "log_sigmoid", "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink",
    "squareplus", "sparse_plus", "sparse_sigmoid", "sparsemax", "glu",
]  # fmt: skip


def images(config: Config, inputs: Inputs, rank: int, channels: int = 4) -> Any:
    """An input of images with `rank` spatial dimensions, 1 to 3."""
    places = PLACES[:rank]
    first = config.get("data_format") == "channels_first"
    return inputs.floats(*((channels, *places) if first else (*places, channels)))


def _numbers(config: Config, *names: str, rank: int) -> dict[str, Any]:
    """Arguments that are one number for all dimensions, or a list of one for each."""
    found = {}
    for name in names:
        value = config[name]
        found[name] = tuple(value[:rank]) if isinstance(value, list) else value
    return found


def _convolution(config: Config, inputs: Inputs) -> Any:
    rank = config["rank"]
    how = _numbers(config, "kernel_size", "strides", "dilation_rate", rank=rank)
    how |= arguments(config, "padding", "data_format", "use_bias", "activation", "groups")
    return getattr(L, f"Conv{rank}D")(4, **how)(images(config, inputs, rank))


def _conv_may_be(config: Config) -> bool:
    wide = config["strides"] != 1 and config["dilation_rate"] != 1
    if config["activation"] == "softmax" and config["policy"] == "mixed_bfloat16":
        return False  # of a sum that Keras rounds to 8 bits, twice
    return not wide and (config["padding"] != "causal" or config["rank"] == 1)


def _transposed(config: Config, inputs: Inputs) -> Any:
    rank = config["rank"]
    how = _numbers(config, "kernel_size", "strides", "output_padding", rank=rank)
    how |= arguments(config, "padding", "data_format", "use_bias", "dilation_rate")
    return getattr(L, f"Conv{rank}DTranspose")(3, **how)(images(config, inputs, rank))


def _transposed_may_be(config: Config) -> bool:
    return config["strides"] == 1 or config["dilation_rate"] == 1


def _by_channel(config: Config, inputs: Inputs) -> Any:
    rank = config["rank"]
    how = _numbers(config, "kernel_size", "dilation_rate", rank=rank)
    how |= arguments(config, "padding", "data_format", "use_bias", "depth_multiplier", "strides")
    x = images(config, inputs, rank)
    if config["separable"]:
        return getattr(L, f"SeparableConv{rank}D")(3, **how)(x)
    return getattr(L, f"DepthwiseConv{rank}D")(**how)(x)


def _pooling(config: Config, inputs: Inputs) -> Any:
    rank = config["rank"]
    how = _numbers(config, "pool_size", "strides", rank=rank)
    how |= arguments(config, "padding", "data_format")
    return getattr(L, f"{config['kind']}Pooling{rank}D")(**how)(images(config, inputs, rank))


def _global(config: Config, inputs: Inputs) -> Any:
    x = images(config, inputs, config["rank"])
    how = arguments(config, "keepdims", "data_format")
    return getattr(L, f"Global{config['kind']}Pooling{config['rank']}D")(**how)(x)


def _adaptive(config: Config, inputs: Inputs) -> Any:
    x = images(config, inputs, config["rank"])
    kind = f"Adaptive{config['kind']}Pooling{config['rank']}D"
    return getattr(L, kind)(config["size"], data_format=config["data_format"])(x)


def _borders(config: Config, inputs: Inputs) -> Any:
    rank, width = config["rank"], config["width"]
    if isinstance(width, list):
        width = tuple(map(tuple, width[:rank])) if rank > 1 else tuple(width[0])
    x = images(config, inputs, rank)
    more = (
        {} if rank == 1 and config["kind"] == "Cropping" else {"data_format": config["data_format"]}
    )
    return getattr(L, f"{config['kind']}{rank}D")(width, **more)(x)


def _upsampling(config: Config, inputs: Inputs) -> Any:
    rank, x = config["rank"], images(config, inputs, config["rank"])
    size = config["size"]
    if rank == 1:
        return L.UpSampling1D(size if isinstance(size, int) else size[0])(x)
    size = tuple(size[:rank]) if isinstance(size, list) else size
    more = {"interpolation": config["interpolation"]} if rank == 2 else {}
    return getattr(L, f"UpSampling{rank}D")(size, data_format=config["data_format"], **more)(x)


def _resizing(config: Config, inputs: Inputs) -> Any:
    how = arguments(config, "interpolation", "crop_to_aspect_ratio", "pad_to_aspect_ratio",
                    "fill_mode", "fill_value", "antialias", "data_format")  # fmt: skip
    return L.Resizing(*config["size"], **how)(images(config, inputs, 2, 3))


def _resize(config: Config, inputs: Inputs) -> Any:
    how = arguments(config, "interpolation", "crop_to_aspect_ratio", "pad_to_aspect_ratio",
                    "fill_mode", "fill_value", "antialias", "data_format")  # fmt: skip
    return keras.ops.image.resize(images(config, inputs, 2, 3), tuple(config["size"]), **how)


def _resize_may_be(config: Config) -> bool:
    return not (config["crop_to_aspect_ratio"] and config["pad_to_aspect_ratio"])


def _crop(config: Config, inputs: Inputs) -> Any:
    return L.CenterCrop(*config["size"], data_format=config["data_format"])(
        images(config, inputs, 2, 3)
    )


def _normalization(config: Config, inputs: Inputs) -> Any:
    kind, axis = config["kind"], config["axis"]
    axes = tuple(axis) if isinstance(axis, list) else axis
    x = inputs.floats(*(6, 5, 8)[3 - config["rank"] :])
    match kind:
        case "BatchNormalization":
            layer = L.BatchNormalization(
                axis=axes, **arguments(config, "epsilon", "center", "scale")
            )
        case "LayerNormalization":
            layer = L.LayerNormalization(
                axis=axes, **arguments(config, "epsilon", "center", "scale")
            )
        case "GroupNormalization":
            layer = L.GroupNormalization(
                config["groups"], axis=axes, **arguments(config, "epsilon", "center", "scale")
            )
        case "RMSNormalization":
            layer = L.RMSNormalization(axis=axes, epsilon=config["epsilon"])
        case "UnitNormalization":
            layer = L.UnitNormalization(axis=axes, order=config["order"])
        case _:
            layer = L.SpectralNormalization(L.Dense(3, use_bias=config["center"]))
    return layer(x)


def _normalize(config: Config, inputs: Inputs) -> Any:
    shape, axis = (3, 4), config["axis"]
    kept = [shape[a - 1 if a > 0 else a] for a in ([axis] if isinstance(axis, int) else axis or ())]
    mean = np.linspace(-1, 1, int(np.prod(kept)) if kept else 1).reshape(kept or ()).tolist()
    variance = np.linspace(0.5, 2, int(np.prod(kept)) if kept else 1).reshape(kept or ()).tolist()
    axis = tuple(axis) if isinstance(axis, list) else axis
    return L.Normalization(axis, mean, variance, invert=config["invert"])(inputs.floats(*shape))


def _vector(config: Config, inputs: Inputs) -> Any:
    x = inputs.floats(*(2, 3, 4, 6)[4 - config["rank"] :])
    match config["kind"]:
        case "Dense":
            return L.Dense(5, config["activation"] if config["activation"] != "glu" else None,
                           use_bias=config["use_bias"])(x)  # fmt: skip
        case "Activation":
            return L.Activation(config["activation"] or "linear")(x)
        case "softmax":
            return L.Softmax(axis=(-1, -2) if config["rank"] > 1 and config["use_bias"] else -1)(x)
        case "prelu":
            shared = [1] if config["rank"] > 1 and config["use_bias"] else None
            return L.PReLU(shared_axes=shared)(x)
        case "relu":
            return L.ReLU(max_value=2.0 if config["use_bias"] else None, negative_slope=0.2,
                          threshold=0.3)(x)  # fmt: skip
        case "leaky":
            return L.LeakyReLU(0.1)(x)
        case "elu":
            return L.ELU(0.7)(x)
        case "rescaling":
            return L.Rescaling(0.5, [1.0, 2, 3, 4, 5, 6] if config["use_bias"] else -1)(x)
    return L.Flatten()(x)


def _einsum(config: Config, inputs: Inputs) -> Any:
    equation, shape, axes = config["equation"]
    x = inputs.floats(3, 4) if equation.split(",")[0] in ("abc", "...x") else inputs.floats(2, 3, 4)
    layer = L.EinsumDense(equation, tuple(shape), bias_axes=axes if config["bias"] else None,
                          activation=config["activation"])  # fmt: skip
    return layer(x)


EQUATIONS = [
    ["abc,cd->abd", [None, 5], "d"], ["abcd,cde->abe", [None, 5], "e"],
    ["abcd,de->abce", [None, 3, 5], "ce"], ["...x,xy->...y", [3, 5], "y"],
    ["abc,bcd->ad", [5], "d"], ["abc,cde->abde", [None, 2, 5], "de"],
]  # fmt: skip


def _shapes(config: Config, inputs: Inputs) -> Any:
    x = inputs.floats(4, 3, 2) if config["kind"] != "RepeatVector" else inputs.floats(6)
    match config["kind"]:
        case "Reshape":
            return L.Reshape(tuple(config["target"]))(x)
        case "Permute":
            return L.Permute(tuple(config["order"]))(x)
        case "Flatten":
            return L.Flatten(data_format=config["data_format"])(x)
        case "RepeatVector":
            return L.RepeatVector(config["count"])(x)
    return L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5], output_mode="int")(x)


def _embedding(config: Config, inputs: Inputs) -> Any:
    x = inputs.integers(*(3, 4)[: config["rank"]], dtype=config["dtype"])
    how = {"mask_zero": config["mask_zero"]}
    if config["kind"] == "Embedding":
        return L.Embedding(5, 3, **how)(x)
    layer = L.ReversibleEmbedding(
        5, 3, tie_weights=config["tie"], logit_soft_cap=config["cap"],
        reverse_dtype=config["reverse_dtype"], **how,
    )  # fmt: skip
    return layer(layer(x), reverse=True)


def _categories(config: Config, inputs: Inputs) -> Any:
    shape = {0: (), 1: (1,), 2: (4,), 3: (3, 4)}[config["rank"]]
    mode, dtype = config["output_mode"], config["dtype"]
    match config["kind"]:
        case "CategoryEncoding":
            weights = config["weights"] and mode == "count"
            x = inputs.integers(*shape, dtype=dtype)
            more = {"count_weights": inputs.floats(*shape)} if weights else {}
            return L.CategoryEncoding(6, output_mode="one_hot" if mode == "int" else mode)(
                x, **more
            )
        case "Discretization":
            x = inputs.floats(*shape)
            return L.Discretization([-0.5, 0.0, 1.0], output_mode=mode)(x)
        case "Hashing":
            x = inputs.integers(*shape, most=9, dtype=dtype)
            mask = 0 if config["mask"] else None
            return L.Hashing(5, mask_value=mask, output_mode=mode, salt=config["salt"])(x)
        case "IntegerLookup":
            x = inputs.integers(*shape, most=9, dtype=dtype)
            oov = config["oov"]
            return L.IntegerLookup(
                vocabulary=[3, 5, 1, 7], num_oov_indices=oov, output_mode=mode,
                mask_token=0 if config["mask"] else None,
            )(x)  # fmt: skip
    x, y = (inputs.integers(*(shape or (1,))[:1], dtype=dtype) for _ in range(2))
    return L.HashedCrossing(6, output_mode="one_hot" if mode != "int" else "int")([x, y])


RANDOM = [
    "RandomFlip", "RandomRotation", "RandomZoom", "RandomContrast", "RandomBrightness",
    "RandomTranslation", "RandomShear", "RandomHue", "RandomSaturation", "RandomColorJitter",
    "RandomGrayscale", "RandomPosterization", "RandomSharpness", "RandomInvert", "RandomErasing",
    "RandomGaussianBlur", "RandomElasticTransform", "RandomPerspective", "AugMix", "RandAugment",
    "CutMix", "MixUp", "Solarization", "AutoContrast", "Equalization", "RandomCrop",
    "RandomColorDegeneration", "Dropout", "SpatialDropout2D", "GaussianNoise", "GaussianDropout",
    "AlphaDropout", "ActivityRegularization", "Identity",
]  # fmt: skip
FACTORS = {"RandomShear": {"x_factor": 0.1}, "RandomCrop": {"height": 9, "width": 8},
           "RandomTranslation": {"height_factor": 0.1, "width_factor": 0.1},
           "RandomFlip": {}, "RandomZoom": {"height_factor": 0.1}, "AugMix": {}, "RandAugment": {},
           "CutMix": {}, "MixUp": {}, "AutoContrast": {}, "Equalization": {}, "Identity": {},
           "RandomGrayscale": {}, "RandomInvert": {}, "RandomGaussianBlur": {},
           "RandomElasticTransform": {}, "RandomPerspective": {}, "RandomErasing": {},
           "ActivityRegularization": {}, "RandomColorJitter": {}, "Solarization": {},
           "Dropout": {"rate": 0.5}, "SpatialDropout2D": {"rate": 0.5},
           "GaussianNoise": {"stddev": 0.5}, "GaussianDropout": {"rate": 0.5},
           "AlphaDropout": {"rate": 0.5}, "RandomPosterization": {"factor": 4},
           "RandomHue": {"factor": 0.2}, "RandomSaturation": {"factor": 0.2},
           "RandomSharpness": {"factor": 0.2},
           "RandomColorDegeneration": {"factor": 0.2}}  # fmt: skip


def _random(config: Config, inputs: Inputs) -> Any:
    kind = config["kind"]
    x = images(config, inputs, 2, 3) * 40.0 + 128.0
    layer = getattr(L, kind)(**FACTORS.get(kind, {"factor": 0.1}))
    return layer(x)


def _sounds(config: Config, inputs: Inputs) -> Any:
    if config["kind"] == "mel":
        how = arguments(config, "fft_length", "num_mel_bins", "min_power", "mag_exp")
        layer = L.MelSpectrogram(sequence_stride=64, sampling_rate=8000, max_freq=4000, **how)
        return layer(inputs.floats(700))
    how = arguments(config, "mode", "padding", "scaling", "periodic", "window", "expand_dims")
    x = inputs.floats(400, 2) if config["data_format"] == "channels_last" else inputs.floats(2, 400)
    return L.STFTSpectrogram(
        frame_length=50, frame_step=25, fft_length=64, data_format=config["data_format"], **how
    )(x)


def _dot(config: Config, inputs: Inputs) -> Any:
    x, y = inputs.floats(4, 4), inputs.floats(4, 4)
    axes = tuple(config["axes"]) if isinstance(config["axes"], list) else config["axes"]
    return L.Dot(axes=axes, normalize=config["normalize"])([x, y])


def _merging(config: Config, inputs: Inputs) -> Any:
    first, second = config["shapes"]
    given = [inputs.floats(*first), inputs.floats(*second)]
    if config["three"] and config["kind"] != "Subtract":
        given.append(inputs.floats(*first))
    more = {"axis": config["axis"]} if config["kind"] == "Concatenate" else {}
    return getattr(L, config["kind"])(**more)(given)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    kernel = {"rank": [2, 1, 3], "kernel_size": [3, 1, [2, 3, 2]], "padding": ["valid", "same"]}
    more = {"use_bias": [True, False]} | FORMATS
    yield subject(
        "Conv", _convolution,
        kernel | {"padding": ["valid", "same", "causal"], "strides": [1, 2, [2, 1, 3]],
                  "dilation_rate": [1, 2, [1, 2, 3]], "groups": [1, 2, 4],
                  "activation": [None, "relu", "softmax"]} | more | OPEN,
        _conv_may_be,
    )  # fmt: skip
    yield subject(
        "ConvTranspose", _transposed,
        kernel | {"strides": [1, 2, [2, 3, 1]], "output_padding": [None, 1, [0, 1, 0]],
                  "dilation_rate": [1, 2]} | more | OPEN,
        _transposed_may_be,
    )  # fmt: skip
    yield subject(
        "by channel", _by_channel,
        kernel | {"rank": [2, 1], "strides": [1, 2], "dilation_rate": [1, 2],
                  "depth_multiplier": [1, 2], "separable": YES} | more | OPEN,
        lambda c: c["strides"] == 1 or c["dilation_rate"] == 1,
    )  # fmt: skip
    yield subject(
        "Pooling", _pooling,
        {"rank": [2, 1, 3], "kind": ["Max", "Average"], "pool_size": [2, 3, [1, 3, 2]],
         "strides": [None, 1, 2, [2, 1, 3]], "padding": ["valid", "same"]} | FORMATS | OPEN,
    )  # fmt: skip
    kinds = {"rank": [2, 1, 3], "kind": ["Max", "Average"]}
    yield subject("GlobalPooling", _global, kinds | {"keepdims": YES} | FORMATS | OPEN)
    yield subject("AdaptivePooling", _adaptive, kinds | {"size": [3, 1, 4]} | FORMATS | OPEN)
    widths = [1, 2, [[1, 2], [0, 3], [2, 0]]]
    yield subject(
        "borders", _borders,
        {"rank": [2, 1, 3], "kind": ["ZeroPadding", "Cropping"], "width": widths} | FORMATS | OPEN,
    )  # fmt: skip
    ways = ["bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"]
    yield subject(
        "UpSampling", _upsampling,
        {"rank": [2, 1, 3], "size": [2, 3, [2, 3, 1], [1, 2, 2]], "interpolation": ways}
        | FORMATS | OPEN,
    )  # fmt: skip
    resize = {
        "size": [[5, 12], [18, 16], [9, 8], [4, 3], [1, 1]], "interpolation": ways,
        "crop_to_aspect_ratio": YES, "pad_to_aspect_ratio": YES, "antialias": YES,
        "fill_mode": ["constant"], "fill_value": [0.0, 2.0],
    } | FORMATS | OPEN  # fmt: skip
    yield subject("Resizing", _resizing, resize, _resize_may_be)
    yield subject("image.resize", _resize, resize, _resize_may_be)
    yield subject(
        "CenterCrop", _crop, {"size": [[4, 3], [9, 8], [12, 20], [5, 10]]} | FORMATS | OPEN
    )
    yield subject(
        "Normalizations", _normalization,
        {"kind": ["BatchNormalization", "LayerNormalization", "GroupNormalization",
                  "RMSNormalization", "UnitNormalization", "SpectralNormalization"],
         "axis": [-1, 1, [1, 2], [-1, -2]], "rank": [3, 2, 1], "epsilon": [1e-3, 0.5],
         "center": [True, False], "scale": [True, False], "groups": [2, 1, -1], "order": [2, 1, 3]}
        | OPEN,
    )  # fmt: skip
    yield subject(
        "Normalization", _normalize, {"axis": [-1, None, 1, [1, 2]], "invert": YES} | OPEN
    )
    yield subject(
        "vectors", _vector,
        {"kind": ["Dense", "Activation", "softmax", "prelu", "relu", "leaky", "elu", "rescaling",
                  "Flatten"],
         "activation": ACTIVATIONS, "use_bias": [True, False], "rank": [1, 2, 3, 4]} | OPEN,
    )  # fmt: skip
    yield subject(
        "EinsumDense", _einsum,
        {"equation": EQUATIONS, "bias": [True, False], "activation": [None, "relu"]} | OPEN,
    )  # fmt: skip
    yield subject(
        "shapes", _shapes,
        {"kind": ["Reshape", "Permute", "Flatten", "RepeatVector", "Discretization"],
         "target": [[6, 4], [-1], [2, -1, 3], [24, 1]],
         "order": [[1, 2, 3], [3, 1, 2], [2, 1, 3]], "count": [1, 3]} | FORMATS | OPEN,
    )  # fmt: skip
    yield subject(
        "Embedding", _embedding,
        {"kind": ["Embedding", "ReversibleEmbedding"], "rank": [1, 2], "mask_zero": YES,
         "dtype": ["int32", "int64", "float32", "uint8"], "tie": [True, False],
         "cap": [None, 2.0], "reverse_dtype": [None, "float32"]} | OPEN,
    )  # fmt: skip
    yield subject(
        "categories", _categories,
        {"kind": ["CategoryEncoding", "Discretization", "Hashing", "IntegerLookup",
                  "HashedCrossing"],
         "rank": [2, 1, 3, 0], "output_mode": ["multi_hot", "one_hot", "count", "int"],
         "dtype": ["int32", "int64", "uint8"], "weights": YES, "mask": YES, "oov": [1, 2],
         "salt": [None, 7]} | OPEN,
        # Its file says f32 whatever the policy was.
        lambda c: c["kind"] != "Discretization" or not c["policy"].startswith("mixed"),
    )  # fmt: skip
    yield subject("random", _random, {"kind": RANDOM} | FORMATS, common=FORMS | BATCHES)
    yield subject(
        "sounds", _sounds,
        {"kind": ["stft", "mel"], "mode": ["log", "magnitude", "psd", "real", "imag", "angle",
                                              "stft"],
         "padding": ["valid", "same"], "scaling": ["density", "spectrum", None],
         "periodic": YES, "window": ["hann", "hamming", None], "expand_dims": YES,
         "fft_length": [128, 256], "num_mel_bins": [20, 8], "min_power": [1e-10, 0.1],
         "mag_exp": [1.0, 2.0]} | FORMATS,
        lambda c: c["kind"] != "stft" or c["batch"] > 0,  # Keras gives an empty batch back
    )  # fmt: skip
    yield subject("Dot", _dot, {"axes": [1, 2, -1, [1, 2], [2, 1]], "normalize": YES} | OPEN)
    shapes = [[[4, 3], [4, 3]], [[4, 3], [1, 3]], [[2, 4, 3], [4, 3]], [[3], [4, 3]]]
    yield subject(
        "merging", _merging,
        {"kind": ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"],
         "shapes": shapes, "three": YES, "axis": [-1, 1, 2]} | OPEN, common=COMMON,
    )  # fmt: skip

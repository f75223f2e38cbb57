"""Keras of either version, and how its models are described and written."""

import os
import sys
import zipfile

import numpy as np

LEGACY = "--legacy" in sys.argv
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
if LEGACY:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tf_keras as keras
else:
    import keras


L = keras.layers
rng = np.random.default_rng(7)
MODELS = {}


def model(*shapes, legacy=False, ints=(), h5=False, policy=None, quantized=None):
    """Register a function from inputs to outputs."""

    def register(function):
        MODELS[function.__name__] = (shapes, function, legacy, ints, h5, policy, quantized)
        return function

    return register


def block(x, *layers):
    for layer in layers:
        x = layer(x)
    return x


def randomized(net):
    """The model with weights and statistics such that outputs vary."""
    for layer in net.weights:
        value = np.asarray(layer)
        if value.dtype.kind != "f":
            continue
        spread = 1.5 / np.sqrt(max(1, np.prod(value.shape[:-1]))) if value.ndim > 1 else 0.4
        found = rng.normal(0, spread, value.shape)
        if any(word in layer.name for word in ("variance", "gamma", "scale")):
            found = rng.uniform(0.5, 1.5, value.shape)
        layer.assign(found.astype(value.dtype))
    return net


def compress(path):
    """The same archive with its members deflated."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def write(folder, name, net, given, suffix):
    path = folder / f"{name}{suffix}"
    net.save(path)
    if suffix == ".keras" and name != "nested":
        compress(path)
    expected = net.predict(given if len(given) > 1 else given[0], verbose=0)
    expected = expected if isinstance(expected, list | tuple) else [expected]
    arrays = {f"in:{i.name.split(':')[0]}": v for i, v in zip(net.inputs, given, strict=True)}
    expected = [v if v.dtype.kind != "V" else v.astype(np.float32) for v in expected]
    arrays |= {f"out:{i:03}": v for i, v in enumerate(expected)}
    np.savez_compressed(path.with_name(path.name + ".npz"), **arrays)


def write_all(folder):
    """Write the models that were described, with inputs and what Keras computes."""
    for name, (shapes, function, legacy, ints, h5, policy, quantized) in MODELS.items():
        if LEGACY and not legacy:
            continue
        keras.backend.clear_session()
        inputs = [keras.Input(shape, name=f"x{i}") for i, shape in enumerate(shapes)]
        if policy:
            keras.config.set_dtype_policy(policy)
        outputs = function(*inputs)
        if policy:
            keras.config.set_dtype_policy("float32")
        net = randomized(keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs))
        if quantized:
            mode = quantized if isinstance(quantized, str) else quantized.mode
            net.quantize(mode, config=None if mode is quantized else quantized)
        given = [rng.normal(0, 1, (2, *shape)).astype(np.float32) for shape in shapes]
        if ints:
            given = [rng.integers(0, ints[0], v.shape).astype(np.float32) for v in given]
            given[0][:, 0] = 1
        if LEGACY:
            write(folder, f"{name}_2", net, given, ".h5")
        else:
            write(folder, name, net, given, ".keras")
            if h5:
                write(folder, name, net, given, ".h5")

"""Writes models of layers with masks, states, gates, open images and policies, as `make.py` does.

    python make_layers.py FOLDER [NAME ..]      # needs Keras 3.15

Each is written in the forms that are named, with its runs: `NAME.npz`, `NAME.1.npz`, ..
"""

import sys
from pathlib import Path

import keras
import numpy as np
from maker import compress, randomized

L, ops = keras.layers, keras.ops
rng = np.random.default_rng(11)
MODELS = {}
BOTH = (".keras", ".h5")


def model(*inputs, forms=(".keras",), policy="float32", runs=1, batch=None):
    """Register a function from inputs to outputs; an input is a shape, or a shape and a type."""

    def register(function):
        MODELS[function.__name__] = (inputs, function, forms, policy, runs, batch)
        return function

    return register


def words(x, width=4):
    """Vectors with a mask: 0 is no word."""
    return L.Embedding(9, width, mask_zero=True)(x)


WORDS = ((6,), "int32")


# -- recurrence ------------------------------------------------------------------------------------


@model(WORDS, forms=BOTH)
def masked_both_ways(x):
    x = words(x)
    found = [L.Bidirectional(kind(3))(x) for kind in (L.GRU, L.LSTM, L.SimpleRNN)]
    inner = L.Bidirectional(L.GRU(2, return_sequences=True))(x)
    found += [L.Bidirectional(L.LSTM(2))(inner), L.Bidirectional(L.GRU(2, return_state=True))(x)]
    for mode in ("sum", None):
        found.append(L.Bidirectional(L.SimpleRNN(3), merge_mode=mode)(x))
    return found


@model(WORDS, ((3,), "float32"), ((3,), "float32"), forms=BOTH)
def masked_states(x, h, c):
    x, states = words(x), {L.GRU: [h], L.LSTM: [h, c], L.SimpleRNN: [h]}
    found = []
    for kind, given in states.items():
        for how in (
            {},
            {"go_backwards": True, "return_state": True},
            {"return_sequences": True, "zero_output_for_mask": True, "unroll": True},
        ):
            found.append(kind(3, **how)(x, initial_state=given))
        found.append(L.Bidirectional(kind(3))(x, initial_state=[*given, *given]))
    return found


@model(WORDS, ((5, 3), "float32"), forms=BOTH)
def backward_layers(x, y):
    forward, back = {"go_backwards": False}, {"go_backwards": True}
    return [
        L.Bidirectional(first(3, **own), backward_layer=second(3, **other))(sequence)
        for first, second, sequence in ((L.LSTM, L.LSTM, words(x)), (L.GRU, L.SimpleRNN, y))
        for own, other in ((forward, back), (back, forward))
    ]


@model(((4, 6, 2), "float32"), ((4,), "bool"))
def convolutional_memory_both_ways(x, seen):
    whole, last = {"return_sequences": True}, {"return_state": True}
    first, second = L.ConvLSTM1D(3, 2), L.ConvLSTM1D(3, 2, go_backwards=True)
    found = [
        L.Bidirectional(L.ConvLSTM1D(2, 3, padding="same", **whole))(x),
        *L.Bidirectional(L.ConvLSTM1D(2, 2, strides=2, **last), merge_mode="sum")(x),
        L.Bidirectional(first, backward_layer=second, merge_mode="mul")(x),
        L.Bidirectional(L.ConvLSTM1D(2, 3, padding="same", **whole))(x, mask=seen),
    ]
    return [*found, L.Bidirectional(L.ConvLSTM1D(2, 2))(x, mask=seen)]


@model(((4, 3), "float32"), batch=2, runs=2)
def stateful(x):
    y = L.GRU(3, stateful=True, return_sequences=True, name="first")(x)
    return [y, L.LSTM(2, stateful=True, name="second")(y)]


@model(((2, 6), "int32"))
def masks_of_steps(x):
    x = words(x)
    return [
        L.TimeDistributed(L.LSTM(3))(x), L.TimeDistributed(L.Bidirectional(L.GRU(2)))(x),
        L.TimeDistributed(L.GlobalAveragePooling1D())(x),
        L.TimeDistributed(keras.Sequential([L.Dense(3), L.GRU(2)]))(x),
    ]  # fmt: skip


# -- attention -------------------------------------------------------------------------------------


@model(WORDS, WORDS, forms=BOTH)
def gated_attention(x, y):
    x, y = words(x), words(y)
    found = []
    for gate in (True, False):
        for layer in (L.MultiHeadAttention(2, 3, use_gate=gate),
                      L.GroupQueryAttention(3, 4, 2, use_gate=gate)):  # fmt: skip
            for query, value in ((x, y), (x, y + 1.0), (x + 1.0, y)):
                found.append(layer(query, value))
    return found


@model(WORDS, ((6,), "bool"), ((6,), "bool"))
def given_masks(x, seen, known):
    x = words(x)
    masks = {"query_mask": seen, "value_mask": known}
    return [
        L.MultiHeadAttention(2, 3)(x, x + 1.0, **masks),
        L.GroupQueryAttention(3, 4, 2)(x, x + 1.0, **masks),
        L.GroupQueryAttention(3, 4, 2)(x + 1.0, x, **masks),
    ]


@model(((3, 4, 6), "float32"), ((3, 4, 3, 4), "bool"), ((4, 4), "bool"))
def attention_axes(x, both, one):
    y = x * 0.5 + 1.0
    return [
        L.MultiHeadAttention(2, 3, attention_axes=(1, 2))(x, y),
        L.MultiHeadAttention(2, 3, attention_axes=(1, 2))(x, y, attention_mask=both),
        L.MultiHeadAttention(2, 3, attention_axes=2)(x, y, attention_mask=one),
        L.MultiHeadAttention(2, 3, attention_axes=(1,))(x, y),
        *L.MultiHeadAttention(2, 3, attention_axes=(1, 2))(x, y, return_attention_scores=True),
    ]


# -- images ----------------------------------------------------------------------------------------


@model(((9, 8, 3), "float32"))
def bicubic(x):
    first = L.Permute((3, 1, 2))(x)
    return [
        *(L.Resizing(*size, interpolation="bicubic", antialias=smooth)(x)
          for size in ((5, 12), (18, 16), (4, 3)) for smooth in (False, True)),
        L.UpSampling2D((2, 3), interpolation="bicubic")(x),
        L.Resizing(7, 11, interpolation="bicubic", data_format="channels_first")(first),
        L.Resizing(6, 6, interpolation="bicubic", crop_to_aspect_ratio=True)(x),
    ]  # fmt: skip


@model(((None, None, 3), "float32"), runs=3)
def open_images(x):
    return [
        L.Resizing(5, 12)(x), L.Resizing(6, 5, crop_to_aspect_ratio=True)(x),
        L.Resizing(6, 5, pad_to_aspect_ratio=True, fill_value=0.5)(x), L.CenterCrop(4, 6)(x),
        L.UpSampling2D(2, interpolation="bilinear")(x),
        L.UpSampling2D((2, 3), interpolation="lanczos3")(x),
        *(L.Resizing(5, 6, interpolation=how, antialias=True)(x) for how in ("bilinear", "bicubic")),
        L.Resizing(5, 6, interpolation="area")(x), L.Resizing(5, 6, interpolation="lanczos5")(x),
    ]  # fmt: skip


# -- other layers ----------------------------------------------------------------------------------


@model(((6, 4), "float32"), ((4, 3, 2), "float32"), WORDS, forms=BOTH)
def spatial_dropout(x, y, z):
    return [
        L.SpatialDropout1D(0.5)(x), L.SpatialDropout2D(0.5)(y),
        L.GRU(3)(L.SpatialDropout1D(0.5)(words(z))),
    ]  # fmt: skip


@model(((5, 4), "float32"), ((6, 5, 2), "float32"), WORDS)
def spectral_normalization(x, y, z):
    wrapped = L.SpectralNormalization
    masked = wrapped(L.Dense(3))(words(z))
    return [
        wrapped(L.Dense(3))(x), wrapped(L.Conv2D(3, 2, activation="relu"))(y),
        wrapped(L.Conv1D(2, 2, use_bias=False))(x), masked, L.GRU(2)(masked),
    ]  # fmt: skip


@model(((4,), "int32"), ((3, 4), "int32"), ((1,), "int32"))
def categories(x, y, z):
    modes = ("multi_hot", "count", "one_hot")
    return [L.CategoryEncoding(9, output_mode=mode)(v) for mode in modes for v in (x, y, z)]


@model(((3,), "int32"), ((3,), "float32"))
def merged_types(x, y):
    """Layers that merge categories, which are integers, with numbers."""
    merging = (L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum, L.Concatenate)
    return [*(layer()([x, y]) for layer in merging), L.Dot(1)([x, y])]


@model(((5, 3), "float32"), ((3,), "float32"))
def norms(x, y):
    """Of rows that are nearly 0 too; bits in other widths; places of NaN and negative numbers."""
    small, edges = ops.where(ops.abs(y) > 0.5, y * 1e-8, 0.0), np.array([-0.5, 0.5], np.float32)
    steep = ops.where(x > 0.5, float("nan"), x)
    return [
        *(ops.normalize(v, axis=-1, order=order) for v in (x, small) for order in (1, 2, 3)),
        ops.view(ops.cast(x[:, :4], "float16"), "int8"), ops.view(x, "uint16"),
        ops.view(ops.cast(x[:, :, :2], "float16"), "int32"),
        ops.digitize(steep, edges), L.Discretization([-0.5, 0.5])(steep),
        ops.one_hot(ops.cast(x * 2, "int32"), 3, axis=1), ops.pad(x, [[0, 0], [1, 2], [2, 1]], "symmetric"),
    ]  # fmt: skip


def of_all_kinds(x, y):
    """Layers whose results have the type that the policy computes in."""
    z = L.LayerNormalization()(L.Dense(6, activation="relu")(x))
    return [
        z, L.LSTM(3)(z), L.MultiHeadAttention(2, 3)(z, z), L.BatchNormalization()(z),
        L.Conv2D(3, 2)(y), L.GlobalAveragePooling2D()(y), L.MaxPooling2D()(y), L.Softmax()(z),
        L.Resizing(4, 4)(y), L.Rescaling(0.5)(x), L.Add()([z, z]), z * 2.0, L.Flatten()(z),
        L.Dense(2, dtype="float32", activation="softmax")(z), L.CategoryEncoding(3)(L.Flatten()(z) * 0),
    ]  # fmt: skip


GIVEN = ((5, 4), "float32"), ((6, 5, 2), "float32")


@model(*GIVEN, policy="mixed_float16")
def mixed_float16(x, y):
    return of_all_kinds(x, y)


@model(*GIVEN, policy="mixed_bfloat16")
def mixed_bfloat16(x, y):
    return of_all_kinds(x, y)


# -- files -----------------------------------------------------------------------------------------


@model(*[((4,), "int32")] * 2, *[((4,), "uint8")] * 2, ((4,), "int64"), forms=BOTH)
def merged_integers(a, b, c, d, e):
    """Averages are floats, of 64 bits where integers have 32 or more."""
    kinds = L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum
    return [kind()(pair) for pair in ([a, b], [c, d], [e, a]) for kind in kinds]


@model(((4, 6), "int32"))
def activated_integers(x):
    """What Keras gives with JAX: floats. TensorFlow refuses some."""
    names = (
        "celu elu exponential gelu hard_shrink hard_sigmoid hard_silu leaky_relu log_sigmoid "
        "log_softmax mish selu soft_shrink softmax softplus softsign sparse_plus sparsemax "
        "squareplus tanh tanh_shrink"
    )
    found = [L.Activation(name)(x) for name in names.split()]
    found += [getattr(ops, name)(x) for name in ("gelu", "log_softmax", "softmax", "softsign")]
    found += [kind()(x) for kind in (L.ELU, L.LeakyReLU, L.Softmax, L.GlobalAveragePooling1D)]
    return [*found, L.PReLU(alpha_initializer="ones")(x)]


# -- layers and models that several models share ----------------------------------------------------


@model(((4,), "float32"), forms=BOTH)
def shared_models(x):
    """In models and models in models, where an archive has their weights once."""
    small = keras.Sequential([L.Input((4,)), L.Dense(4, "tanh", name="d")], name="small")
    middle = keras.Sequential([L.Input((4,)), small, L.Dense(4)], name="middle")
    outer = keras.Sequential([L.Input((4,)), middle, small, L.Dense(4)], name="outer")
    return [outer(x), middle(x), small(x)]


@model(((4,), "float32"), ((3, 4), "float32"))
def shared_layers(x, y):
    shared, norm = L.Dense(4, "tanh", name="d"), L.BatchNormalization(name="norm")
    first, second, small = (L.Input((4,)) for _ in range(3))
    first = keras.Model(first, norm(L.Dense(4)(shared(first))), name="first")
    second = keras.Model(second, shared(L.Dense(4)(second)), name="second")
    small = keras.Model(small, L.Dense(2, name="e")(small), name="small")
    return [first(second(x)), norm(shared(x)), L.TimeDistributed(small)(y), small(x)]


@model(((4,), "int32"), forms=BOTH)
def normalized_integers(x):
    """Keras cuts what it normalizes off to integers."""
    x = x * x
    return [
        *(L.LayerNormalization()(x), L.LayerNormalization(scale=False, dtype="float64")(x)),
        *(L.RMSNormalization()(x), L.LayerNormalization(dtype="mixed_float16")(x)),
        L.BatchNormalization()(x),
    ]


def numbers(shape, dtype):
    """Random ones; words end with zeros, and one row has none at all."""
    if dtype == "float32":
        return rng.normal(0, 1, shape).astype(np.float32)
    if dtype == "bool":
        return rng.random(shape) < 0.6
    found = rng.integers(1, 9, shape)
    ends = rng.integers(1, shape[-1] + 1, (*shape[:-1], 1))
    found = np.where(np.arange(shape[-1]) < ends, found, 0)
    found[-1:] = 0
    return found.astype(dtype)


def run(net, given):
    """What Keras gives, what its stateful layers had before, and the types of results."""
    arrays = {f"in:{i.name}": v for i, v in zip(net.inputs, given, strict=True)}
    layers = [layer for layer in net.layers if getattr(layer, "stateful", False)]
    states = [(f"in:{layer.name}.state_{i}", state)
              for layer in layers for i, state in enumerate(layer.states)]  # fmt: skip
    arrays |= {name: np.array(state) for name, state in states}
    found = keras.tree.flatten(net([ops.convert_to_tensor(v) for v in given], training=False))
    found = [np.array(y) for y in (*found, *(state for _, state in states))]
    arrays["types"] = np.array([v.dtype.name for v in found])
    return arrays | {
        f"out:{i:03}": v.astype(np.float32) if v.dtype.name == "bfloat16" else v
        for i, v in enumerate(found)
    }


def main():
    folder = Path(sys.argv[1])
    for name, (inputs, function, forms, policy, runs, batch) in MODELS.items():
        if name not in (sys.argv[2:] or MODELS):
            continue
        keras.backend.clear_session()
        keras.config.set_dtype_policy(policy)
        tensors = [keras.Input(shape, batch, dtype, name=f"x{i}")
                   for i, (shape, dtype) in enumerate(inputs)]  # fmt: skip
        net = randomized(keras.Model(tensors, keras.tree.flatten(function(*tensors))))
        for form in forms:
            net.save(folder / f"{name}{form}")
        if ".keras" in forms:
            compress(folder / f"{name}.keras")
        for i in range(runs):
            sizes = iter([(5, 7), (9, 4), (3, 3)][i % 3])
            shapes = [[next(sizes) if d is None else d for d in shape] for shape, _ in inputs]
            given = [numbers((3 if batch is None else batch, *shape), dtype)
                     for shape, (_, dtype) in zip(shapes, inputs, strict=True)]  # fmt: skip
            arrays = run(net, given)
            np.savez_compressed(folder / f"{name}{f'.{i}' * bool(i)}.npz", **arrays)


if __name__ == "__main__":
    main()

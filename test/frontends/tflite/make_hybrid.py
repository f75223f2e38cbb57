"""Writes `files/hybrid/`: floats that meet weights of 8 bits, and what LiteRT makes of them.

PYTHONPATH=. python test/frontends/tflite/make_hybrid.py      # needs ai-edge-litert, flatbuffers

The results are those of the interpreter as it is by default, with XNNPACK.
"""

from pathlib import Path

import numpy as np

from bench.formats.sweep.tflite_files import DEFAULT, Writer, kernels, schema

FOLDER = Path(__file__).parent / "files" / "hybrid"
REFUSED = FOLDER.parent / "refused"
rng = np.random.default_rng(12)


def store(name, w, out, steps=1):
    """A file, its inputs and its results after some steps of its state."""
    data = w.data([out])
    w.graph.tensors[out].shape = list(kernels(data, w.given)[0].shape)
    data = w.data([out])
    found = [kernels(data, w.given, step, DEFAULT)[0] for step in range(1, steps + 1)]
    (FOLDER / f"{name}.tflite").write_bytes(data)
    arrays = {f"in{i}": x for i, x in enumerate(w.given)}
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays, out=np.stack(found))


def data(*shape):
    """Rows of different ranges that do not lie around 0, one of them of zeros."""
    x = rng.standard_normal(shape) + 0.7
    x.reshape(shape[0], -1)[1] *= 5
    x.reshape(shape[0], -1)[-1] = 0
    return x


def halves(*shape):
    """Numbers of which many lie in the middle between two steps of 2."""
    x = rng.integers(-130, 381, shape)
    x[..., :2] = -130, 380
    return x


def weight(w, *shape, axis=0, channels=0, kind="i8"):
    scale = rng.uniform(0.003, 0.02, channels or 1)
    return w.constant(rng.integers(-127, 128, shape), kind, scale=scale, axis=axis)


def bias(w, count):
    return w.constant(rng.standard_normal(count), "f32")


def products():
    """Dense layers and products of matrices: whatever is asked, XNNPACK moves the zero point."""
    for asked in (False, True):
        for name, value, fields in (
            ("dense", data(4, 20), {}),
            ("dense_halves", halves(4, 20), {}),
            ("dense_tanh", data(4, 20) / 5, {"fusedActivationFunction": 4}),
            ("dense_tanh_halves", halves(4, 20) / 128, {"fusedActivationFunction": 4}),
        ):
            w = Writer()
            operands = [w.input(value, "f32"), weight(w, 6, 20, channels=6), bias(w, 6)]
            fields["asymmetricQuantizeInputs"] = asked
            out = w.tensor(())
            w.operator("FULLY_CONNECTED", operands, [out], "FullyConnectedOptions", 9, **fields)
            store(f"{name}_{int(asked)}", w, out)
        w = Writer()
        operands = [w.input(data(3, 4, 5), "f32", (0,)), weight(w, 3, 4, 6)]
        fields = {"adjX": True, "adjY": False, "asymmetricQuantizeInputs": asked}
        out = w.tensor(())
        w.operator("BATCH_MATMUL", operands, [out], "BatchMatMulOptions", 4, **fields)
        store(f"matrices_{int(asked)}", w, out)


def images():
    """A scale for each image; for each pixel where XNNPACK multiplies rows by a matrix."""
    for name, kernel, stride, groups, channels in (
        ("conv", 3, 1, 1, 6),
        ("conv_one_scale", 3, 1, 1, 0),
        ("conv_rows", 1, 1, 1, 6),
        ("conv_strided", 1, 2, 1, 6),
        ("conv_groups", 1, 1, 2, 6),
    ):
        w = Writer()
        x = w.input(data(3, 5, 5, 4), "f32", (0,))
        filters = weight(w, 6, kernel, kernel, 4 // groups, channels=channels)
        out, fields = w.tensor(()), {"padding": 1, "strideW": stride, "strideH": stride}
        w.operator("CONV_2D", [x, filters, bias(w, 6)], [out], "Conv2DOptions", 5, **fields)
        store(name, w, out)
    fields = {"padding": 1, "strideW": 1, "strideH": 1}
    for name, value in (("depthwise", data(3, 5, 5, 4)), ("depthwise_halves", halves(2, 5, 5, 4))):
        w = Writer()
        operands = [w.input(value, "f32"), weight(w, 1, 3, 3, 4, axis=3, channels=4), bias(w, 4)]
        out, options = w.tensor(()), "DepthwiseConv2DOptions"
        w.operator("DEPTHWISE_CONV_2D", operands, [out], options, 6, depthMultiplier=1, **fields)
        store(name, w, out)
    w = Writer()
    x, out = w.input(data(3, 5, 5, 4), "f32"), w.tensor(())
    operands = [w.constant(np.array([3, 7, 7, 6])), weight(w, 6, 3, 3, 4, channels=6), x]
    w.operator("TRANSPOSE_CONV", operands, [out], "TransposeConvOptions", 2, **fields)
    store("transposed", w, out)


def recurrent():
    """Sequences and steps, whose zero point moves where the file asks for it."""
    cells, size = 7, 5
    for asked in (False, True):
        fields = {"fusedActivationFunction": 4, "asymmetricQuantizeInputs": asked}
        w = Writer()
        x = w.input(data(3, 4, size), "f32")
        inputs = [weight(w, cells, size) for _ in range(4)]
        carried = [weight(w, cells, 6) for _ in range(4)]
        looking = [weight(w, cells) for _ in range(3)]
        biases = [bias(w, cells) for _ in range(4)]
        shrunk = [weight(w, 6, cells), bias(w, 6)]
        states = [w.tensor((3, n), variable=True) for n in (6, cells)]
        operands = [x, *inputs, *carried, *looking, *biases, *shrunk, *states]
        out, options = w.tensor(()), "UnidirectionalSequenceLSTMOptions"
        w.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [out], options, **fields)
        store(f"lstm_{int(asked)}", w, out)
        for kind, shape in (("UNIDIRECTIONAL_SEQUENCE_RNN", (3, 4, size)), ("RNN", (3, size))):
            w = Writer()
            operands = [w.input(data(*shape), "f32"), weight(w, cells, size)]
            operands += [weight(w, cells, cells), bias(w, cells)]
            operands += [w.tensor((3, cells), variable=True)]
            out, options = w.tensor(()), "RNNOptions" if kind == "RNN" else "SequenceRNNOptions"
            w.operator(kind, operands, [out], options, 3, **fields)
            store(f"{kind.lower()}_{int(asked)}", w, out, 3 if kind == "RNN" else 1)
        w = Writer()
        operands = [w.input(data(3, size), "f32"), weight(w, 8, size), weight(w, 8, 4)]
        operands += [bias(w, 4), w.tensor((3, 32), variable=True)]
        out = w.tensor(())
        w.operator("SVDF", operands, [out], "SVDFOptions", 3, rank=2, **fields)
        store(f"svdf_{int(asked)}", w, out, 3)


def of_four_bits():
    """Convolutions of weights of 4 bits, which XNNPACK leaves to LiteRT's own kernels."""
    for name, channels in (("each", 6), ("one_scale", 1)):
        w, steps = Writer(), rng.integers(-7, 8, (6, 1, 1, 4))
        scale = rng.uniform(0.003, 0.02, channels)
        filters = w.constant(steps[..., ::2] & 15 | steps[..., 1::2] << 4, "i8", scale=scale)
        w.graph.tensors[filters].shape = list(steps.shape)
        w.graph.tensors[filters].type = schema.TensorType.INT4
        out, fields = w.tensor(()), {"padding": 1, "strideW": 1, "strideH": 1}
        operands = [w.input(halves(2, 3, 3, 4), "f32"), filters, bias(w, 6)]
        w.operator("CONV_2D", operands, [out], "Conv2DOptions", 5, **fields)
        store(f"conv_int4_{name}", w, out)


def of_few_bits(w, steps, scales):
    """A matrix of 4 bits, with a scale for each row, or for each block of a row."""
    pairs = steps[:, ::2] & 15 | steps[:, 1::2] << 4
    by_row = scales.shape[1] == 1
    number = w.constant(pairs, "i8", scale=scales[:, 0] if by_row else None)
    made = w.graph.tensors[number]
    made.shape, made.type = list(steps.shape), schema.TensorType.INT4
    if not by_row:
        about = made.quantization = schema.QuantizationParametersT()
        about.detailsType = schema.QuantizationDetails.BlockwiseQuantization
        about.details = schema.BlockwiseQuantizationT()
        about.details.scales, about.details.zeroPoints = w.constant(scales, "f16"), -1
        about.details.blockSize = steps.shape[1] // scales.shape[1]
    return number


def blocks_and_rows():
    """Scales of blocks, which XNNPACK rounds to bf16, and of a table's rows, which go with them."""
    own = np.random.default_rng(3)
    for name, blocks in (("rows", 1), ("blocks", 2)):
        w, steps = Writer(), own.integers(-7, 8, (6, 64))
        scales = own.uniform(0.01, 0.1, (6, blocks))
        if blocks > 1:
            x, out = w.input(data(3, 64), "f32"), w.tensor(())
            operands = [x, of_few_bits(w, steps, scales), bias(w, 6)]
            w.operator("FULLY_CONNECTED", operands, [out], "FullyConnectedOptions", 12)
            store(f"dense_{name}", w, out)
        w = Writer()
        indices, out = w.input(np.array([3, 0, 5, 5, 1, 2]), "i32"), w.tensor(())
        w.operator("EMBEDDING_LOOKUP", [indices, of_few_bits(w, steps, scales)], [out], version=4)
        store(f"table_of_{name}", w, out)


def of_own_kernels():
    """Dense layers that XNNPACK leaves: their rows of 4 or 2 bits begin within bytes, or those of
    2 bits have one scale.
    """
    own = np.random.default_rng(5)
    for bits, size, kind, channels in (
        (4, 7, "INT4", 6),
        (2, 10, "INT2", 6),
        (2, 12, "INT2", 1),
        (2, 12, "INT2", 6),
    ):
        steps, count = own.integers(1 - 2 ** (bits - 1), 2 ** (bits - 1), 6 * size), 8 // bits
        parts = np.append(steps & 2**bits - 1, np.zeros(-len(steps) % count, int))
        packed = (parts.reshape(-1, count) << bits * np.arange(count)).sum(1)
        w = Writer()
        number = w.constant(packed, "i8", scale=own.uniform(0.1, 0.3, channels))
        made = w.graph.tensors[number]
        made.shape, made.type = [6, size], getattr(schema.TensorType, kind)
        operands, out = [w.input(data(3, size), "f32"), number, bias(w, 6)], w.tensor(())
        w.operator("FULLY_CONNECTED", operands, [out], "FullyConnectedOptions", 12)
        store(f"dense_{kind.lower()}_{size}_{channels}", w, out)


def of_integers():
    """SVDF of 8 bits, whose kernel takes RELU only, and applies none."""
    w, size = Writer(), 9
    operands = [w.input(rng.integers(-128, 128, (3, size)), "i8", scale=0.03, zero=11)]
    operands += [
        weight(w, 8, size),
        w.constant(rng.integers(-32767, 32768, (8, 4)), "i16", scale=2**-15),
    ]
    operands += [w.constant(rng.integers(-9000, 9000, 4), "i32", scale=2**-25)]
    operands += [w.tensor((3, 32), "i16", scale=2**-10, variable=True)]
    out = w.tensor((3, 4), "i8", scale=0.04, zero=-7)
    w.operator("SVDF", operands, [out], "SVDFOptions", 3, rank=2, fusedActivationFunction=1)
    store("svdf_integers", w, out, 4)


def without_sign():
    """A dense layer of weights that LiteRT reads as bytes with a sign; it is refused."""
    w, steps = Writer(), np.arange(24).reshape(3, 8) * 10
    operands = [w.input(np.ones((1, 8)), "f32"), w.constant(steps, "u8", scale=0.01, zero=100)]
    out = w.tensor((1, 3))
    w.operator("FULLY_CONNECTED", operands, [out], "FullyConnectedOptions", 1)
    (REFUSED / "uint8_weights.tflite").write_bytes(w.data([out]))


for folder in (FOLDER, REFUSED):
    folder.mkdir(parents=True, exist_ok=True)
MODELS = (products, images, recurrent, of_four_bits, blocks_and_rows, of_integers, without_sign)
MODELS += (of_own_kernels,)
for write in MODELS:
    write()

"""Models of operators that the converter does not write, in the manner of `make.py`.

python make_by_hand.py FOLDER [NAME ..]    (needs tensorflow 2.21)
"""

import sys
from pathlib import Path

import flatbuffers
import numpy as np
from flatbuffers import flexbuffers
from make import expected
from tensorflow.lite.python import schema_py_generated as schema

KINDS = {
    "float32": schema.TensorType.FLOAT32, "int8": schema.TensorType.INT8, "uint8": schema.TensorType.UINT8,
    "int32": schema.TensorType.INT32, "int16": schema.TensorType.INT16,
}  # fmt: skip
rng = np.random.default_rng(5)


class Model:
    """A graph that is being written."""

    def __init__(self):
        self.model, self.graph = schema.ModelT(), schema.SubGraphT()
        self.model.version = 3
        self.model.subgraphs, self.model.buffers, self.model.operatorCodes = (
            [self.graph],
            [schema.BufferT()],
            [],
        )
        self.graph.tensors, self.graph.operators, self.graph.inputs, self.graph.outputs = (
            [],
            [],
            [],
            [],
        )

    def tensor(
        self,
        shape,
        kind="float32",
        data=None,
        scale=None,
        zero=0,
        axis=0,
        variable=False,
        sparsity=None,
    ):
        made = schema.TensorT()
        made.name, made.shape, made.type = f"t{len(self.graph.tensors)}", list(shape), KINDS[kind]
        made.isVariable, made.sparsity = variable, sparsity
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            made.buffer = len(self.model.buffers) - 1
        if scale is not None:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale = list(np.atleast_1d(scale))
            made.quantization.zeroPoint = list(
                np.broadcast_to(np.atleast_1d(zero), np.shape(np.atleast_1d(scale)))
            )
            made.quantization.quantizedDimension = axis
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def weight(self, *shape, scale=0.4):
        return self.constant((rng.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, data, **about):
        return self.tensor(data.shape, data.dtype.name, data, **about)

    def input(self, *shape, **about):
        self.graph.inputs.append(self.tensor(shape, **about))
        return self.graph.inputs[-1]

    def operator(self, name, inputs, outputs, options=None, custom=None, version=1, **fields):
        code = schema.OperatorCodeT()
        code.version = version
        if custom is not None:
            code.builtinCode, code.customCode = schema.BuiltinOperator.CUSTOM, name
        else:
            code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        self.model.operatorCodes.append(code)
        made = schema.OperatorT()
        made.opcodeIndex = len(self.model.operatorCodes) - 1
        made.inputs, made.outputs = list(inputs), list(outputs)
        if custom is not None:
            made.customOptions = np.frombuffer(custom, np.uint8)
        if options:
            made.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            made.builtinOptions = getattr(schema, options + "T")()
            for key, value in fields.items():
                setattr(made.builtinOptions, key, value)
        self.graph.operators.append(made)
        return outputs[0]

    def data(self, *outputs):
        self.graph.outputs = list(outputs)
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def lstm_weights(m, size, cells, given, *, coupled=False, peep=False, norm=False, project=False):
    """The operands of a full LSTM without its input: 17 weights."""
    gates = range(4)
    here = [None if coupled and g == 0 else m.weight(cells, size) for g in gates]
    here += [None if coupled and g == 0 else m.weight(cells, given) for g in gates]
    here += [m.weight(cells) if peep and not (coupled and g == 0) else None for g in range(3)]
    here += [None if coupled and g == 0 else m.weight(cells) for g in gates]
    here += [m.weight(given, cells), m.weight(given)] if project else [None, None]
    norms = [m.weight(cells, scale=1) if norm and not (coupled and g == 0) else None for g in gates]
    return here, norms


def numbered(operands):
    return [-1 if i is None else i for i in operands]


def sequence_lstms():
    m, found = Model(), []
    x = m.input(2, 6, 3)
    for options in (
        {"peep": True},
        {"coupled": True, "peep": True, "project": True},
        {"norm": True},
        {"coupled": True, "norm": True, "project": True},
    ):
        cells, given = 4, 3 if options.get("project") else 4
        own, norms = lstm_weights(m, 3, cells, given, **options)
        states = [m.tensor((2, given), variable=True), m.tensor((2, cells), variable=True)]
        out = m.tensor((2, 6, given))
        operands = [x, *own, *states, *(norms if options.get("norm") else [])]
        m.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", numbered(operands), [out], "UnidirectionalSequenceLSTMOptions",
                   fusedActivationFunction=4, cellClip=0.7, projClip=0.4)  # fmt: skip
        found.append(out)
    return m.data(*found)


def bidirectional():
    m = Model()
    x = m.input(5, 2, 3)
    own = [*lstm_weights(m, 3, 4, 4)[0], *lstm_weights(m, 3, 4, 4)[0]]
    states = [m.tensor((2, 4), variable=True) for _ in range(4)]
    out = m.tensor((5, 2, 8))
    operands = [x, *own, *states, *[None] * 9]
    m.operator("BIDIRECTIONAL_SEQUENCE_LSTM", numbered(operands), [out], "BidirectionalSequenceLSTMOptions",
               fusedActivationFunction=4, mergeOutputs=True, timeMajor=True)  # fmt: skip
    rnn = [m.weight(4, 3), m.weight(4, 4), m.weight(4)]
    both = [m.tensor((5, 2, 4)), m.tensor((5, 2, 4))]
    weights = [*rnn, m.tensor((2, 4), variable=True), m.weight(4, 3), m.weight(4, 4), m.weight(4)]
    operands = [x, *weights, m.tensor((2, 4), variable=True), -1, -1, -1]
    m.operator("BIDIRECTIONAL_SEQUENCE_RNN", operands, both, "BidirectionalSequenceRNNOptions",
               fusedActivationFunction=1, timeMajor=True)  # fmt: skip
    return m.data(out, *both)


def steps():
    """Operators of one step, whose states live between runs."""
    m = Model()
    x = m.input(2, 3)
    filters, out = m.tensor((2, 8 * 5), variable=True), m.tensor((2, 4))
    m.operator("SVDF", [x, m.weight(8, 3), m.weight(8, 5), m.weight(4), filters], [out], "SVDFOptions",
               rank=2, fusedActivationFunction=1)  # fmt: skip
    simple = m.tensor((2, 4))
    operands = [x, m.weight(4, 3), m.weight(4, 4), m.weight(4), m.tensor((2, 4), variable=True)]
    m.operator("RNN", operands, [simple], "RNNOptions", fusedActivationFunction=4)
    full = m.tensor((2, 4))
    own, _ = lstm_weights(m, 3, 4, 4)
    states = [m.tensor((2, 4), variable=True), m.tensor((2, 4), variable=True)]
    m.operator(
        "LSTM", numbered([x, *own, *states]), [full], "LSTMOptions", fusedActivationFunction=4
    )
    return m.data(out, simple, full)


def detections(regular):
    def build():
        m = Model()
        boxes, scores = m.input(1, 24, 4), m.input(1, 24, 4)
        anchors = m.constant(
            np.column_stack([rng.random((24, 2)), np.full((24, 2), 0.4)]).astype(np.float32)
        )
        outs = [m.tensor(s) for s in ((1, 6, 4), (1, 6), (1, 6), (1,))]
        options = {
            "max_detections": 6, "max_classes_per_detection": 1, "detections_per_class": 3, "num_classes": 3,
            "use_regular_nms": regular, "nms_score_threshold": 0.2, "nms_iou_threshold": 0.3,
            "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
        }  # fmt: skip
        raw = bytes(flexbuffers.Dumps(options))
        m.operator("TFLite_Detection_PostProcess", [boxes, scores, anchors], outs, custom=raw)
        return m.data(*outs)

    return build


def suppression():
    m, found = Model(), []
    corners = rng.random((30, 2))
    boxes = m.constant(np.column_stack([corners, corners + 0.3]).astype(np.float32))
    scores = m.input(30)
    most, overlap, least, sigma = (
        m.constant(np.array(v, k)) for v, k in ((9, "i4"), (0.3, "f4"), (0.1, "f4"), (0, "f4"))
    )
    found = [m.tensor((9,), "int32"), m.tensor((), "int32")]
    m.operator("NON_MAX_SUPPRESSION_V4", [boxes, scores, most, overlap, least], found)
    more = [m.tensor((9,), "int32"), m.tensor((9,)), m.tensor((), "int32")]
    m.operator("NON_MAX_SUPPRESSION_V5", [boxes, scores, most, overlap, least, sigma], more)
    return m.data(*found, *more)


def unsigned():
    """The older 8-bit kind, with zero points of its own for weights."""
    m = Model()
    x = m.input(1, 6, 6, 3, kind="uint8", scale=0.05, zero=120)
    weight = m.constant(rng.integers(0, 255, (4, 3, 3, 3)).astype(np.uint8), scale=0.02, zero=131)
    bias = m.constant(rng.integers(-500, 500, 4).astype(np.int32), scale=0.05 * 0.02)
    y = m.tensor((1, 6, 6, 4), "uint8", scale=0.11, zero=100)
    m.operator(
        "CONV_2D",
        [x, weight, bias],
        [y],
        "Conv2DOptions",
        strideW=1,
        strideH=1,
        fusedActivationFunction=3,
    )
    pooled = m.tensor((1, 3, 3, 4), "uint8", scale=0.11, zero=100)
    m.operator(
        "MAX_POOL_2D",
        [y],
        [pooled],
        "Pool2DOptions",
        strideW=2,
        strideH=2,
        filterWidth=2,
        filterHeight=2,
    )
    dense = m.constant(rng.integers(0, 255, (5, 36)).astype(np.uint8), scale=0.01, zero=127)
    z = m.tensor((1, 5), "uint8", scale=0.15, zero=128)
    m.operator("FULLY_CONNECTED", [pooled, dense, -1], [z], "FullyConnectedOptions")
    real = m.tensor((1, 5))
    m.operator("DEQUANTIZE", [z], [real])
    return m.data(y, pooled, z, real)


def sparse():
    """A matrix of which blocks of 1 by 4 are stored."""
    m = Model()
    dense = np.zeros((6, 8), np.float32)
    places = [(0, 1), (2, 0), (2, 1), (5, 0)]
    values = rng.standard_normal((4, 4)).astype(np.float32)
    for (row, column), block in zip(places, values, strict=True):
        dense[row, 4 * column : 4 * column + 4] = block
    about = schema.SparsityParametersT()
    about.traversalOrder, about.blockMap = [0, 1, 2], [1]
    rows, columns, inner = (schema.DimensionMetadataT() for _ in range(3))
    rows.format, rows.denseSize = 0, 6
    columns.format = 1
    columns.arraySegmentsType = columns.arrayIndicesType = schema.SparseIndexVector.Uint8Vector
    columns.arraySegments, columns.arrayIndices = schema.Uint8VectorT(), schema.Uint8VectorT()
    columns.arraySegments.values = np.array([0, 1, 1, 3, 3, 3, 4], np.uint8)
    columns.arrayIndices.values = np.array([1, 0, 1, 0], np.uint8)
    inner.format, inner.denseSize = 0, 4
    about.dimMetadata = [rows, columns, inner]
    x = m.input(2, 8)
    stored = m.tensor((6, 8), data=values, sparsity=about)
    weight, y = m.tensor((6, 8)), m.tensor((2, 6))
    m.operator("DENSIFY", [stored], [weight])
    m.operator("FULLY_CONNECTED", [x, weight, -1], [y], "FullyConnectedOptions")
    return m.data(y)


def stablehlo():
    """Operators of StableHLO that TensorFlow Lite computes."""
    m = Model()
    x, y = m.input(3, 4), m.input(3, 4)
    outs = []
    for name in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
        outs.append(m.tensor((3, 4)))
        m.operator(f"STABLEHLO_{name}", [x, y], [outs[-1]])
    return m.data(*outs)


MODELS = {
    "sequence_lstms": sequence_lstms,
    "bidirectional_by_hand": bidirectional,
    "steps": steps,
    "detections": detections(False),
    "detections_by_class": detections(True),
    "suppression": suppression,
    "unsigned": unsigned,
    "sparse": sparse,
    "stablehlo": stablehlo,
}
STEPS = {"steps": 4}


def main(folder, *names):
    for name in names or MODELS:
        data = MODELS[name]()
        Path(folder, f"{name}.tflite").write_bytes(data)
        found = expected(data, STEPS.get(name, 1))
        np.savez_compressed(Path(folder, f"{name}.npz"), **found)
        print(name, len(data), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

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
    "int32": schema.TensorType.INT32, "int16": schema.TensorType.INT16, "bool": schema.TensorType.BOOL,
}  # fmt: skip
rng = np.random.default_rng(5)


class Model:
    """A graph that is being written."""

    def __init__(self, outer=None):
        """A model, or one more graph of another one."""
        self.graph = schema.SubGraphT()
        self.model = outer.model if outer else schema.ModelT()
        if not outer:
            self.model.version = 3
            self.model.subgraphs, self.model.buffers = [], [schema.BufferT()]
            self.model.operatorCodes = []
        self.number = len(self.model.subgraphs)
        self.model.subgraphs.append(self.graph)
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

    def operator(self, kind, inputs, outputs, options=None, custom=None, version=1, **fields):
        code = schema.OperatorCodeT()
        code.version = version
        if custom is not None:
            code.builtinCode, code.customCode = schema.BuiltinOperator.CUSTOM, kind
        else:
            code.builtinCode = getattr(schema.BuiltinOperator, kind)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        self.model.operatorCodes.append(code)
        made = schema.OperatorT()
        made.opcodeIndex = len(self.model.operatorCodes) - 1
        made.inputs, made.outputs = list(inputs), list(outputs)
        if custom is not None:
            made.customOptions = np.frombuffer(custom, np.uint8)
        if options:
            second = "2" if options.lower().startswith("stablehlo") else ""
            number = getattr(getattr(schema, f"BuiltinOptions{second}"), options)
            about = getattr(schema, options + "T")()
            setattr(made, f"builtinOptions{second}Type", number)
            setattr(made, f"builtinOptions{second}", about)
            for key, value in fields.items():
                setattr(about, key, value)
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


def lookups():
    """Rows by keys that ascend, and sums of rows at places of a sparse tensor."""
    m, found = Model(), []
    x = m.constant(np.array([5, 1, 4], np.int32))
    keys = m.constant(np.array([1, 3, 5], np.int32))
    values = m.input(3, 4)
    outs = [m.tensor((3, 4)), m.tensor((3,), "uint8")]
    m.operator("HASHTABLE_LOOKUP", [x, keys, values], outs)
    ids, shape = (m.constant(np.array(v, np.int32)) for v in ([2, 0, 1, 1], [2, 3, 2]))
    places = m.constant(np.array([[0, 0, 0], [0, 0, 1], [1, 2, 0], [1, 1, 0]], np.int32))
    weights = m.constant(np.array([0.5, 2, -1.5, 1], np.float32))
    for combiner in range(3):
        found.append(m.tensor((2, 3, 4)))
        m.operator("EMBEDDING_LOOKUP_SPARSE", [ids, places, shape, weights, values], [found[-1]],
                   "EmbeddingLookupSparseOptions", combiner=combiner)  # fmt: skip
    return m.data(*outs, *found)


def inner(m, kind):
    """A graph that applies an operator to two numbers; a comparison is that of a sort."""
    own = Model(m)
    pair = [own.input(), own.input()]
    compares = kind == "STABLEHLO_COMPARE"
    about = {"options": "StablehloCompareOptions", "comparisonDirection": 5} if compares else {}
    out = own.tensor((), "bool" if compares else "float32")
    own.graph.outputs = [own.operator(kind, pair, [out], **about)]
    return own.number


def stablehlo_places():
    """Operators of StableHLO with options, of which TensorFlow Lite has kernels."""
    m, found = Model(), []
    x, updates = m.input(3, 4), m.input(2, 4)
    fill = m.constant(np.array(0.5, np.float32))

    def add(name, operands, shape, options, **about):
        found.append(m.tensor(shape))
        m.operator(f"STABLEHLO_{name}", operands, [found[-1]], f"Stablehlo{options}", **about)

    add("PAD", [x, fill], (6, 6), "PadOptions", edgePaddingLow=[1, -1],
        edgePaddingHigh=[0, 0], interiorPadding=[1, 1])  # fmt: skip
    places = m.constant(np.array([[2, 1], [0, 9]], np.int32))
    add("GATHER", [x, places], (2, 1, 2), "GatherOptions", offsetDims=[1, 2], sliceSizes=[1, 2],
        collapsedSliceDims=[], startIndexMap=[0, 1], indexVectorDim=1)  # fmt: skip
    rows = m.constant(np.array([[2], [0]], np.int32))
    add("SCATTER", [x, rows, updates], (3, 4), "ScatterOptions", updateWindowDims=[1],
        insertedWindowDims=[0], scatterDimsToOperandDims=[0], indexVectorDim=1,
        updateComputationSubgraphIndex=inner(m, "STABLEHLO_ADD"))  # fmt: skip
    add("REDUCE_WINDOW", [x, fill], (2, 3), "ReduceWindowOptions", windowDimensions=[2, 2],
        windowStrides=[1, 1], baseDilations=[1, 1], windowDilations=[1, 1],
        padding=[0, 0, 0, 0], bodySubgraphIndex=inner(m, "STABLEHLO_MAXIMUM"))  # fmt: skip
    own = Model(m)
    a, b = own.input(3, 4), own.input(3, 4)
    own.graph.outputs = [own.operator("STABLEHLO_MULTIPLY", [a, b], [own.tensor((3, 4))])]
    found.append(m.tensor((3, 4)))
    m.operator("STABLEHLO_COMPOSITE", [x, x], [found[-1]], "StableHLOCompositeOptions",
               name="mine.square", decompositionSubgraphIndex=own.number)  # fmt: skip
    return m.data(*found)


def stablehlo_others():
    """Operators of StableHLO of which TensorFlow Lite has no kernels; see `computed`."""
    m, found = Model(), []
    x, y = m.input(3, 4), m.input(3, 4)
    half, one = (m.constant(np.array(v, np.float32)) for v in (0.5, 1))
    start = m.constant(np.array(2, np.int32))
    zero = m.constant(np.array(0, np.int32))
    window = m.constant(np.ones((2, 3, 1, 2), np.float32))

    def add(name, operands, shape, options=None, kind="float32", **about):
        found.append(m.tensor(shape, kind))
        about = (f"Stablehlo{options}", about) if options else (None, {})
        m.operator(f"STABLEHLO_{name}", operands, [found[-1]], about[0], **about[1])
        return found[-1]

    add("DIVIDE", [x, y], (3, 4))
    add("REMAINDER", [x, y], (3, 4))
    add("CLAMP", [half, x, one], (3, 4))
    less = add("COMPARE", [x, y], (3, 4), "CompareOptions", "bool", comparisonDirection=5)
    add("SELECT", [less, x, y], (3, 4))
    add("CONVERT", [x], (3, 4), kind="int32")
    add("CBRT", [x], (3, 4))
    add("RESHAPE", [x], (2, 6))
    add("CONCATENATE", [x, y], (3, 8), "ConcatenateOptions", dimension=1)
    add("BROADCAST_IN_DIM", [x], (3, 2, 4), "BroadcastInDimOptions", broadcastDimensions=[0, 2])
    add("SLICE", [x], (2, 2), "SliceOptions", startIndices=[0, 1], limitIndices=[3, 4],
        strides=[2, 2])  # fmt: skip
    add("DYNAMIC_SLICE", [x, start, zero], (2, 4), "DynamicSliceOptions", sliceSizes=[2, 4])
    corner = add("SLICE", [y], (1, 2), "SliceOptions", startIndices=[0, 0], limitIndices=[1, 2],
                 strides=[1, 1])  # fmt: skip
    add("DYNAMIC_UPDATE_SLICE", [x, corner, start, start], (3, 4))
    add("IOTA", [], (3, 2), "IotaOptions", "int32", iotaDimension=0)
    add("TRANSPOSE", [x], (4, 3), "TransposeOptions", permutation=[1, 0])
    add("REDUCE", [x, half], (4,), "ReduceOptions", dimensions=[0],
        bodySubgraphIndex=inner(m, "STABLEHLO_ADD"))  # fmt: skip
    add("SORT", [x], (3, 4), "SortOptions", dimension=1, isStable=True,
        comparatorSubgraphIndex=inner(m, "STABLEHLO_COMPARE"))  # fmt: skip
    add("DOT_GENERAL", [x, y], (3, 3), "DotGeneralOptions", lhsBatchingDimensions=[],
        rhsBatchingDimensions=[], lhsContractingDimensions=[1],
        rhsContractingDimensions=[1])  # fmt: skip
    image = add("RESHAPE", [x], (1, 3, 2, 2))
    add("CONVOLUTION", [image, window], (1, 3, 2, 1), "ConvolutionOptions", windowStrides=[1, 1],
        padding=[1, 0, 1, 1], lhsDilation=[1, 1], rhsDilation=[1, 1], inputBatchDimension=0,
        inputFeatureDimension=3, inputSpatialDimensions=[1, 2], kernelInputFeatureDimension=3,
        kernelOutputFeatureDimension=2, kernelSpatialDimensions=[0, 1], outputBatchDimension=0,
        outputFeatureDimension=3, outputSpatialDimensions=[1, 2], featureGroupCount=1,
        batchGroupCount=1)  # fmt: skip
    going, body = Model(m), Model(m)
    state = going.input(3, 4)
    total = going.tensor(())
    going.operator("STABLEHLO_REDUCE", [state, m_constant(going, 0)], [total],
                   "StablehloReduceOptions", dimensions=[0, 1],
                   bodySubgraphIndex=inner(m, "STABLEHLO_MAXIMUM"))  # fmt: skip
    flag = going.tensor((), "bool")
    options = {"comparisonDirection": 5}
    going.operator("STABLEHLO_COMPARE", [total, m_constant(going, 50)], [flag],
                   "StablehloCompareOptions", **options)  # fmt: skip
    going.graph.outputs = [flag]
    state = body.input(3, 4)
    body.graph.outputs = [body.operator("STABLEHLO_ADD", [state, state], [body.tensor((3, 4))])]
    add("WHILE", [x], (3, 4), "WhileOptions", condSubgraphIndex=going.number,
        bodySubgraphIndex=body.number)  # fmt: skip
    add("CASE", [zero, x, y], (3, 4), "CaseOptions",
        branchSubgraphIndices=[inner(m, "STABLEHLO_SUBTRACT"), inner(m, "STABLEHLO_ADD")])  # fmt: skip
    return m.data(*found)


def m_constant(m, value):
    return m.constant(np.array(value, np.float32))


def computed(x, y):
    """What `stablehlo_others` gives, by NumPy."""
    dynamic, large, image = x.copy(), x.copy(), np.pad(x.reshape(3, 2, 2), ((1, 0), (1, 1), (0, 0)))
    dynamic[2, 2:] = y[0, :2]
    while large.max() < 50:
        large = large + large
    sums = np.add.reduce([image[i : i + 3, j : j + 2] for i in range(2) for j in range(3)])
    return (
        x / y, np.fmod(x, y), np.clip(x, 0.5, 1), x < y, np.where(x < y, x, y),
        x.astype(np.int32), np.cbrt(x), x.reshape(2, 6), np.concatenate([x, y], 1),
        np.repeat(x[:, None], 2, 1), x[::2, 1::2], x[1:], y[:1, :2], dynamic,
        np.repeat(np.arange(3, dtype=np.int32)[:, None], 2, 1), x.T, x.sum(0) + 0.5,
        np.sort(x, 1), x @ y.T, x.reshape(1, 3, 2, 2), sums.sum(2)[None, ..., None], large, x - y,
    )  # fmt: skip


def by_numpy():
    given = [rng.standard_normal((3, 4)).astype(np.float32) for _ in range(2)]
    outs = computed(*given)
    about = {"scales": np.zeros(len(outs)), "names": np.array([""] * len(outs))}
    arrays = {f"in{i}": x for i, x in enumerate(given)}
    return about | arrays | {f"out{i}": np.asarray(v)[None] for i, v in enumerate(outs)}


MODELS = {
    "lookups": lookups,
    "stablehlo_others": stablehlo_others,
    "stablehlo_places": stablehlo_places,
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
        without_kernels = name == "stablehlo_others"
        found = by_numpy() if without_kernels else expected(data, STEPS.get(name, 1))
        np.savez_compressed(Path(folder, f"{name}.npz"), **found)
        print(name, len(data), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

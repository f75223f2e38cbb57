"""Models and inputs on which they can be run, on which they cannot, and which no memory holds."""

import numpy as np
from onnx import TensorProto, helper


def model(nodes, inputs, outputs):
    """A model of nodes (op, inputs, outputs, attributes), named as their first outputs."""
    kinds = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL}

    def values(given):
        return [helper.make_tensor_value_info(n, kinds[k], s) for n, (k, s) in given.items()]

    made = [
        helper.make_node(op, list(ins), list(outs), name=outs[0], **attributes)
        for op, ins, outs, attributes in nodes
    ]
    graph = helper.make_graph(made, "g", values(inputs), values(outputs))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def one(op, inputs, output, **attributes):
    """A model of one node."""
    return model([(op, list(inputs), ["y"], attributes)], inputs, {"y": output})


def ints(*values):
    return np.array(values, np.int64)


def floats(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def floats32(*values):
    """Scalars."""
    return [np.array(value, np.float32) for value in values]


SCALAR = ("i", [])
ANY1, ANY2 = ("f", [None]), ("f", [None, None])
LARGE = "there is not enough memory for a tensor"

MODELS = {
    "div": one("Div", {"a": ("i", ["n"]), "b": ("i", ["n"])}, ("i", [None])),
    "mod": one("Mod", {"a": ("i", ["n"]), "b": ("i", [])}, ("i", [None])),
    "expand": one("Expand", {"x": ("f", [1, 3]), "s": ("i", [2])}, ANY2),
    "fill": one("ConstantOfShape", {"s": ("i", [2])}, ANY2),
    "reshape": one("Reshape", {"x": ("f", [3, "n"]), "s": ("i", [2])}, ANY2),
    "tile": one("Tile", {"x": ("f", [2, 3]), "r": ("i", [2])}, ANY2),
    "slice": one(
        "Slice",
        {"x": ("f", [2, 3]), **{name: ("i", [1]) for name in ("start", "end", "axis", "step")}},
        ANY2,
    ),
    "range": one("Range", {"a": SCALAR, "b": SCALAR, "c": SCALAR}, ("i", [None])),
    "floats": one("Range", {"a": ("f", []), "b": ("f", []), "c": ("f", [])}, ANY1),
    "add": one("Add", {"a": ("f", ["n"]), "b": ("f", ["m"])}, ANY1),
    "where": one("Where", {"c": ("b", ["k"]), "a": ("f", ["n"]), "b": ("f", ["m"])}, ANY1),
    "matmul": one("MatMul", {"a": ("f", [2, "n"]), "b": ("f", ["m", 5])}, ("f", [2, 5])),
    "concat": one("Concat", {"a": ("f", [2, "n"]), "b": ("f", [1, "m"])}, ANY2, axis=0),
    "conv": one("Conv", {"x": ("f", [1, 2, "h"]), "w": ("f", [3, 2, 3])}, ("f", [1, 3, None])),
    "gather": one("Gather", {"x": ("f", ["n", 2]), "i": ("i", [3])}, ("f", [3, 2])),
    "elements": one("GatherElements", {"x": ("f", [3, 2]), "i": ("i", [1, 2])}, ("f", [1, 2])),
    "nd": one("GatherND", {"x": ("f", [3, 2]), "i": ("i", ["n", 2])}, ANY1),
    "scatter": one(
        "ScatterElements", {"x": ("f", [4]), "i": ("i", [2]), "u": ("f", [2])}, ("f", [4])
    ),
    "scatter_nd": one(
        "ScatterND", {"x": ("f", [3, 2]), "i": ("i", [2, 1]), "u": ("f", [2, 2])}, ("f", [3, 2])
    ),
    "elements_open": one(
        "GatherElements", {"x": ("f", ["a", "b"]), "i": ("i", ["c", "d"])}, ANY2, axis=0
    ),
    "scatter_open": one(
        "ScatterElements",
        {"x": ("f", ["a", "b"]), "i": ("i", ["c", "d"]), "u": ("f", ["e", "f"])},
        ANY2,
    ),
    "scatter_nd_open": one(
        "ScatterND", {"x": ("f", ["a", 2]), "i": ("i", ["n", 1]), "u": ("f", ["m", "k"])}, ANY2
    ),
    "nd_batch": one("GatherND", {"x": ("f", ["a", 2]), "i": ("i", ["b", 1])}, ANY1, batch_dims=1),
    "fixed": one("Expand", {"x": ("f", [2, 3]), "s": ("i", [2])}, ANY2),
    "row": one("Reshape", {"x": ("f", ["n", 2]), "s": ("i", [1])}, ANY1),
    "split": model(
        [("Split", ["x", "s"], ["y", "z"], {})],
        {"x": ("f", ["n"]), "s": ("i", [2])},
        {"y": ANY1, "z": ANY1},
    ),
    "sum": one("ReduceSum", {"x": ("f", [2, 3]), "a": ("i", [1])}, ANY2),
    "running": one("CumSum", {"x": ("f", [2, 3]), "a": ("i", [])}, ("f", [2, 3])),
    "squeeze": one("Squeeze", {"x": ("f", ["n", 3]), "a": ("i", [1])}, ANY1),
    "unsqueeze": one("Unsqueeze", {"x": ("f", ["n", 3]), "a": ("i", [1])}, ("f", [None] * 3)),
    "onehot": one("OneHot", {"i": ("i", [2]), "d": SCALAR, "v": ("f", [2])}, ("f", [2, None])),
    "top": model(
        [("TopK", ["x", "k"], ["y", "at"], {})],
        {"x": ("f", ["n"]), "k": ("i", [1])},
        {"y": ANY1, "at": ("i", [None])},
    ),
}

GOOD = [
    ("expand", floats(1, 3), ints(4, 3)),
    ("expand", floats(1, 3), ints(0, 1)),
    ("expand", floats(1, 3), ints(1, 1)),
    ("fill", ints(2, 3)),
    ("fill", ints(0, 3)),
    ("reshape", floats(3, 4), ints(2, 6)),
    ("reshape", floats(3, 4), ints(-1, 2)),
    ("reshape", floats(3, 4), ints(0, -1)),
    ("reshape", floats(3, 0), ints(0, 0)),
    ("reshape", floats(3, 0), ints(-1, 5)),
    ("tile", floats(2, 3), ints(2, 1)),
    ("tile", floats(2, 3), ints(0, 2)),
    ("slice", floats(2, 3), ints(1), ints(9), ints(-1), ints(1)),
    ("slice", floats(2, 3), ints(-1), ints(-9), ints(1), ints(-1)),
    ("range", np.array(2), np.array(9), np.array(3)),
    ("range", np.array(9), np.array(2), np.array(-3)),
    ("range", np.array(9), np.array(2), np.array(3)),
    ("floats", *floats32(1, 2, 0.25)),
    ("floats", *floats32(1, -2, 0.25)),
    ("add", floats(3), floats(3)),
    ("add", floats(1), floats(3)),
    ("add", floats(1), floats(0)),
    ("where", np.array([True]), floats(3), floats(1)),
    ("matmul", floats(2, 3), floats(3, 5)),
    ("matmul", floats(2, 0), floats(0, 5)),
    ("concat", floats(2, 3), floats(1, 3)),
    ("conv", floats(1, 2, 4), floats(3, 2, 3)),
    ("div", ints(7, -8), ints(2, 3)),
    ("mod", ints(7, -8), ints(3).reshape(())),
    ("gather", floats(4, 2), ints(0, -4, 3)),
    ("elements", floats(3, 2), ints([2, -3])),
    ("nd", floats(3, 2), ints([2, -2], [-3, 1])),
    ("nd", floats(3, 2), np.zeros((0, 2), np.int64)),
    ("scatter", floats(4), ints(-4, 3), floats(2)),
    ("scatter_nd", floats(3, 2), ints([-3], [2]), floats(2, 2)),
    ("elements_open", floats(3, 2), ints([2, -3], [0, 1], [1, 1], [0, 0])),
    ("elements_open", floats(3, 2), ints([2])),
    ("scatter_open", floats(3, 2), ints([2, -3]), floats(1, 2)),
    ("scatter_nd_open", floats(3, 2), ints([2], [0]), floats(2, 2)),
    ("nd_batch", floats(3, 2), ints([1], [0], [-1])),
    ("fixed", floats(2, 3), ints(1, 3)),
    ("row", floats(3, 2), ints(6)),
    ("row", floats(3, 2), ints(-1)),
    ("split", floats(5), ints(5, 0)),
    ("sum", floats(2, 3), ints(-2)),
    ("running", floats(2, 3), np.array(1)),
    ("squeeze", floats(1, 3), ints(-2)),
    ("unsqueeze", floats(2, 3), ints(-1)),
    ("onehot", ints(1, -1), np.array(3), floats(2)),
    ("top", floats(4), ints(4)),
    ("top", floats(4), ints(0)),
]

BAD = [
    ("expand", "an extent is negative", floats(1, 3), ints(-1, 3)),
    ("expand", "its operand does not fit extent 1 of the shape", floats(1, 3), ints(2, 4)),
    ("fill", "an extent is negative", ints(2, -3)),
    ("fill", "an extent is negative", ints(-(2**63), 0)),
    ("reshape", "the shape does not hold as many", floats(3, 4), ints(5, 2)),
    ("reshape", "the shape does not hold as many", floats(3, 4), ints(-1, 5)),
    ("reshape", "the shape does not hold as many", floats(3, 4), ints(-1, -1)),
    ("reshape", "the shape does not hold as many", floats(3, 4), ints(0, 6)),
    ("reshape", "the shape does not hold as many", floats(3, 0), ints(1, 5)),
    ("reshape", "an extent is less than -1", floats(3, 4), ints(-2, -6)),
    ("tile", "an extent is negative", floats(2, 3), ints(2, -1)),
    ("slice", "a step is 0", floats(2, 3), ints(1), ints(9), ints(1), ints(0)),
    ("slice", "an axis is not one", floats(2, 3), ints(1), ints(9), ints(2), ints(1)),
    ("slice", "an axis is not one", floats(2, 3), ints(1), ints(9), ints(-3), ints(1)),
    ("range", "delta is 0", np.array(2), np.array(9), np.array(0)),
    ("floats", "delta is 0", *floats32(1, 2, 0)),
    ("floats", "too many elements, or", *floats32(1, np.nan, 1)),
    ("add", "extent 0 of an operand does not fit", floats(3), floats(4)),
    ("add", "extent 0 of an operand does not fit", floats(4), floats(3)),
    ("add", "extent 0 of an operand does not fit", floats(3), floats(0)),
    ("where", "extent 0 of an operand", np.array([True, False]), floats(3), floats(1)),
    ("matmul", "extent 0 of an operand does not fit", floats(2, 3), floats(4, 5)),
    ("concat", "its operands differ in extent 1", floats(2, 3), floats(1, 4)),
    ("conv", "an extent of its result is negative", floats(1, 2, 1), floats(3, 2, 3)),
    ("div", "an integer is divided by 0", ints(7, 8), ints(2, 0)),
    ("mod", "an integer is divided by 0", ints(7, 8), ints(0).reshape(())),
    ("gather", "an index is out of range", floats(4, 2), ints(0, 4, 1)),
    ("gather", "an index is out of range", floats(4, 2), ints(0, 1, -5)),
    ("gather", "an index is out of range", floats(0, 2), ints(0, 0, 0)),
    ("elements", "an index is out of range", floats(3, 2), ints([0, 3])),
    ("nd", "an index is out of range", floats(3, 2), ints([2, 1], [0, 2])),
    ("nd", "an index is out of range", floats(3, 2), ints([-4, 1], [0, 1])),
    ("scatter", "an index is out of range", floats(4), ints(0, 4), floats(2)),
    ("scatter_nd", "an index is out of range", floats(3, 2), ints([0], [-4]), floats(2, 2)),
    ("elements_open", "its indices are more than the data along 1", floats(3, 2), ints([2, 1, 0])),
    ("scatter_open", "its indices are more", floats(3, 2), ints([2, 1, 0]), floats(1, 3)),
    ("scatter_open", "extent 0 of its updates", floats(3, 2), ints([2, 1], [0, 0]), floats(1, 2)),
    ("scatter_open", "extent 1 of its updates", floats(3, 2), ints([2, 1]), floats(1, 1)),
    ("scatter_nd_open", "extent 0 of its updates", floats(3, 2), ints([2], [0]), floats(1, 2)),
    ("scatter_nd_open", "extent 1 of its updates", floats(3, 2), ints([2]), floats(1, 1)),
    ("nd_batch", "its indices do not fit extent 0", floats(3, 2), ints([1], [0])),
    ("fixed", "its operand does not fit the shape", floats(2, 3), ints(4, 3)),
    ("fixed", "its operand does not fit the shape", floats(2, 3), ints(2, -3)),
    ("row", "the shape does not hold as many", floats(3, 2), ints(5)),
    ("split", "the sizes of the parts do not add up", floats(5), ints(3, 3)),
    ("split", "the sizes of the parts do not add up", floats(5), ints(-1, 6)),
    ("sum", "an axis is not one of the 2", floats(2, 3), ints(2)),
    ("sum", "an axis is not one of the 2", floats(2, 3), ints(-3)),
    ("running", "an axis is not one of the 2", floats(2, 3), np.array(2)),
    ("squeeze", "an axis is not one of the 2", floats(1, 3), ints(2)),
    ("squeeze", "an axis to remove", floats(2, 3), ints(0)),
    ("unsqueeze", "an axis is not one of the 3", floats(2, 3), ints(3)),
    ("onehot", "an extent is negative", ints(1, 0), np.array(-3), floats(2)),
    ("top", "k is more than there are elements along axis 0", floats(4), ints(5)),
    ("top", "an extent is negative", floats(4), ints(-1)),
]

TOO_LARGE = [
    # ONNX Runtime is not asked: it would try.
    ("expand", LARGE, floats(1, 3), ints(2**50, 3)),
    ("expand", LARGE, floats(1, 3), ints(2**62, 3)),
    ("fill", LARGE, ints(2**31, 2**31)),
    ("fill", LARGE, ints(2**32, 2**32)),
    ("fill", LARGE, ints(2**62, 4)),
    ("fill", LARGE, ints(2**63 - 1, 2**63 - 1)),
    ("fill", LARGE, ints(1, 2**62)),
    ("fill", LARGE, ints(2**62, 0)),
    ("reshape", "the shape does not hold as many", floats(3, 4), ints(2**32, 2**32)),
    ("reshape", "the shape does not hold as many", floats(3, 4), ints(2**62, 12)),
    ("tile", LARGE, floats(2, 3), ints(2**50, 1)),
    ("tile", LARGE, floats(2, 3), ints(2**31, 2**31)),
    ("range", LARGE, np.array(0), np.array(2**62), np.array(1)),
    ("range", "too many elements", np.array(-(2**62)), np.array(2**62), np.array(1)),
    ("range", "too many elements", np.array(2**62), np.array(-(2**62)), np.array(-1)),
    ("floats", "too many elements", *floats32(0, 1e30, 1)),
    ("floats", LARGE, *floats32(0, 2**61, 1)),
    ("onehot", LARGE, ints(1, 0), np.array(2**61), floats(2)),
]

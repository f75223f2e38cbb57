"""What a model says of inputs that it cannot be run on: compiled here, as a library, interpreted."""

import ctypes
import json
import subprocess
from pathlib import Path

import nnc
import numpy as np
import onnx
import onnxruntime
import onnxruntime.capi.onnxruntime_pybind11_state as peer_errors
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter
from nnc.runtime.abi import FIRST_FAILURE
from nnc.tools import nnc as nnc_tool
from onnx import TensorProto, helper

from ..processor import runnable


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


PEER_ERRORS = tuple(
    getattr(peer_errors, name) for name in ("Fail", "InvalidArgument", "RuntimeException")
)


class MadeOnce(dict):
    """What is made of a model of `MODELS`, by its name, when it is first asked for."""

    def __init__(self, make):
        super().__init__()
        self._make = make

    def __missing__(self, name):
        self[name] = self._make(MODELS[name])
        return self[name]


@pytest.fixture(scope="module")
def compiled():
    return MadeOnce(nnc.compile)


@pytest.fixture(scope="module")
def peers():
    onnxruntime.set_default_logger_severity(4)
    return MadeOnce(
        lambda model: onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    )


@pytest.fixture(scope="module")
def lowered():
    """Modules with the loops of the models' kernels."""
    return MadeOnce(lambda model: run_stages(load_module(model), last="loops"))


def tuple_of(found):
    return found if isinstance(found, tuple) else (found,)


def run_peer(session, inputs):
    return session.run(None, dict(zip([i.name for i in session.get_inputs()], inputs, strict=True)))


def interpret(module, executable, inputs):
    """A module of the loop level, called as its caller would."""
    static = [
        np.zeros(t.shape, np.int64 if str(t.element_type) == "i64" else np.float32)
        for t in executable.output_types
        if t.has_static_shape
    ]
    found = executable.signature
    memory = [np.zeros(n, np.int8) for n in (found.arena_bytes - found.heap_bytes, 0)]
    results = Interpreter(module).call("main", [*map(np.asarray, inputs), *static, *memory])
    return results or static


def identifier(case):
    return case[0] + str(
        [v.tolist() if v.size < 4 else list(v.shape) for v in case[1:] if hasattr(v, "size")]
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", GOOD, ids=identifier)
def test_legal_sizes_and_indices(case, compiled, peers, lowered):
    name, *inputs = case
    expected = run_peer(peers[name], inputs)
    for found in (
        tuple_of(compiled[name](*inputs)),
        interpret(lowered[name], compiled[name], inputs),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", BAD, ids=identifier)
def test_what_onnx_forbids_is_an_error(case, compiled, peers, lowered):
    """Of the node, compiled and interpreted; and the model can be called again."""
    name, text, *inputs = case
    with pytest.raises(PEER_ERRORS):
        run_peer(peers[name], inputs)
    check_refusal(name, text, inputs, compiled, lowered)


@pytest.mark.parametrize("case", TOO_LARGE, ids=identifier)
def test_what_no_memory_holds_is_an_error(case, compiled, lowered):
    name, text, *inputs = case
    check_refusal(name, text, inputs, compiled, lowered)


def check_refusal(name, text, inputs, compiled, lowered):
    good = next(case for case in GOOD if case[0] == name)[1:]
    before = tuple_of(compiled[name](*good))
    with pytest.raises(NncError, match=rf"^error: node 'y' \(\w+\): .*({text})"):
        compiled[name](*inputs)
    for one, other in zip(tuple_of(compiled[name](*good)), before, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(NncError, match=rf"y \(\w+\): error: .*({text})"):
        interpret(lowered[name], compiled[name], inputs)


@pytest.mark.parametrize("count", [1, 5, 37, 64])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_one_wrong_index_among_many_is_found(count, width):
    """Wherever it stands, and in each column against the extent of its own."""
    extents = [3, 5, 2][:width]
    inputs = {"x": ("f", extents), "i": ("i", ["n", width])}
    run = nnc.compile(one("GatherND", inputs, ANY1))
    x = floats(*extents)
    right = np.stack([np.arange(count) % (2 * n) - n for n in extents], axis=1)
    np.testing.assert_array_equal(run(x, right), x[tuple(right.T)])
    for row in sorted({0, count // 2, count - 1}):
        for column, extent in enumerate(extents):
            for index in (extent, -extent - 1):
                wrong = right.copy()
                wrong[row, column] = index
                with pytest.raises(NncError, match="an index is out of range"):
                    run(x, wrong)


# -- which node it was -----------------------------------------------------------------------------


def test_nodes_that_share_a_kernel_are_told_apart():
    any2 = ("f", [None, None])
    nodes = [
        ("Add", ["a", "b"], ["first"], {}),
        ("Relu", ["first"], ["bent"], {}),
        ("MatMul", ["bent", "c"], ["product"], {}),
        ("Add", ["product", "d"], ["second"], {}),
        ("Relu", ["second"], ["y"], {}),
    ]
    run = nnc.compile(model(nodes, dict.fromkeys("abcd", any2), {"y": any2}))
    a, b, c, d = (np.ones((2, 2), np.float32) for _ in range(4))
    assert run(a, b, c, d).tolist() == [[5, 5], [5, 5]]
    wrong = np.ones((3, 2), np.float32)
    for inputs, node in (
        ((a, wrong, c, d), "first"),
        ((a, b, c, wrong), "second"),
        ((a, b, wrong, d), "product"),
    ):
        with pytest.raises(
            NncError, match=rf"^error: node '{node}' \(\w+\): extent 0 of an operand"
        ):
            run(*inputs)


# -- nothing is left over --------------------------------------------------------------------------


class _Use(ctypes.Structure):
    """What glibc's mallinfo2 gives."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    )


def bytes_in_use() -> int:
    function = ctypes.CDLL(None).mallinfo2
    function.restype = _Use
    use = function()
    return use.uordblks + use.hblkhd


@pytest.mark.parametrize("threads", [1, 2])
def test_buffers_are_freed_where_a_later_node_fails(threads):
    """Two buffers of 4 MB are alive when the shape is refused; neither stays."""
    nodes = [
        ("Expand", ["x", "s"], ["wide"], {}),
        ("Softmax", ["wide"], ["soft"], {"axis": 0}),
        ("Add", ["soft", "wide"], ["sum"], {}),
        ("Reshape", ["sum", "r"], ["flat"], {}),
        ("Add", ["flat", "b"], ["y"], {}),
    ]
    inputs = {"x": ("f", [1, 1]), "s": ("i", [2]), "r": ("i", [2]), "b": ("f", ["n"])}
    run = nnc.compile(model(nodes, inputs, {"y": ANY2}), threads=threads)
    x, s = floats(1, 1), ints(1024, 1024)

    def call(rows, extent):
        return run(x, s, ints(rows, 512), np.zeros(extent, np.float32))

    def fails():
        with pytest.raises(NncError, match="node 'flat'"):
            call(2047, 512)
        with pytest.raises(NncError, match="node 'y'"):
            call(2048, 3)

    assert call(2048, 512).shape == (2048, 512)
    fails()
    before = bytes_in_use()
    for _ in range(5):
        fails()
    assert bytes_in_use() - before < 1 << 20


# -- parallel loops, nested calls, and functions without an entry ------------------------------------

PARALLEL = """
func.func private @kernel(%n: index, %m: memref<64xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %x = memref.load %m[%i] : memref<64xi64>
    %zero = arith.constant 0 : i64
    %positive = arith.cmpi sge, %x, %zero : i64
    cf.assert %positive, "a number is negative"
    %size = arith.index_cast %x : i64 to index
    %t = memref.alloc(%size) : memref<?xi64>
    %some = arith.cmpi sgt, %size, %c0 : index
    scf.if %some {
      %last = arith.subi %size, %c1 : index
      memref.store %x, %t[%c0] : memref<?xi64>
      memref.store %x, %t[%last] : memref<?xi64>
      %same = memref.load %t[%c0] : memref<?xi64>
      memref.store %same, %m[%i] : memref<64xi64>
    }
    memref.dealloc %t : memref<?xi64>
    scf.reduce
  }
  return
}
func.func @main(%m: memref<64xi64>, %out: memref<1xi64>) attributes {
    nn.entry, nn.inputs = [tensor<64xi64>], nn.outputs = [tensor<1xi64>]} {
  %c0 = arith.constant 0 : index
  %x = memref.load %m[%c0] : memref<64xi64>
  %seven = arith.constant 7 : i64
  %fine = arith.cmpi ne, %x, %seven : i64
  cf.assert %fine, "seven"
  func.call @kernel(%c0, %m) : (index, memref<64xi64>) -> ()
  memref.store %x, %out[%c0] : memref<1xi64>
  return
}
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_checks_in_parallel_loops(threads):
    run = nnc.compile(parse_module(PARALLEL, "m.mlir"), threads=threads)
    numbers = np.arange(64) % 5
    assert run(numbers) == 0
    for place, value, text in (
        (63, -1, "a number is negative"),
        (0, -9, "a number is negative"),
        (40, 2**62, "there is not enough memory for a tensor<[?]xi64>"),
        (0, 7, "seven"),
    ):
        wrong = numbers.copy()
        wrong[place] = value
        for _ in range(3):
            with pytest.raises(NncError, match=rf"line \d+, column \d+: {text}"):
                run(wrong)
        assert run(numbers) == 0


def test_a_loop_that_fails_midway_leaves_nothing():
    text = """
func.func @main(%m: memref<64xi64>, %out: memref<1xi64>) attributes {
    nn.entry, nn.inputs = [tensor<64xi64>], nn.outputs = [tensor<1xi64>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %size = arith.constant 1000000 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %m[%i] : memref<64xi64>
    %t = memref.alloc(%size) : memref<?xi64>
    memref.store %x, %t[%c0] : memref<?xi64>
    %positive = arith.cmpi sge, %x, %zero : i64
    cf.assert %positive, "a number is negative"
    memref.dealloc %t : memref<?xi64>
  }
  memref.store %zero, %out[%c0] : memref<1xi64>
  return
}
"""
    run = nnc.compile(parse_module(text, "m.mlir"))
    assert run(np.arange(64)) == 0

    def fails():
        with pytest.raises(NncError, match="a number is negative"):
            run(np.where(np.arange(64) == 40, -1, 1))

    fails()
    before = bytes_in_use()
    for _ in range(5):
        fails()
    assert bytes_in_use() - before < 1 << 20


# -- the library -----------------------------------------------------------------------------------

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

int main(void) {
    nnc_context *context;
    if (nnc_create(&context, NULL, 1)) return 2;
    float x[3] = {1, 2, 3};
    int64_t bad[][2] = {{-1, 3}, {(int64_t)1 << 40, (int64_t)1 << 40}, {2, 4}}, good[2] = {2, 1};
    int64_t shape[2] = {5, 5};
    nnc_tensor inputs[2] = {{x, NULL}, {NULL, NULL}}, output = {x, shape};
    for (int i = 0; i < 3; i++) {
        inputs[1].data = bad[i];
        const int32_t status = nnc_call(context, inputs, &output);
        if (status < NNC_FIRST_FAILURE) return 3;
        if (output.data != x || shape[0] != 5) return 4;
        if (strcmp(nnc_message(status), nnc_failure(status))) return 5;
        puts(nnc_message(status));
    }
    inputs[1].data = good;
    if (nnc_call(context, inputs, &output)) return 6;
    const float *y = output.data;
    printf("%d x %d, %g %g\n", (int)shape[0], (int)shape[1], y[0], y[5]);
    free(output.data);
    if (nnc_failure(0) || nnc_failure(NNC_FIRST_FAILURE - 1) || nnc_failure(1000)) return 7;
    puts(nnc_message(1000));
    nnc_destroy(context);
    return 0;
}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("targets", [["host"], runnable("x86-64", "x86-64-v2")])
def test_library_says_what_failed_and_leaks_nothing(targets: list[str], tmp_path: Path):
    """For one target as for several levels."""
    if not targets:
        pytest.skip("the levels are those of x86")
    onnx.save(MODELS["expand"], tmp_path / "m.onnx")
    arguments = ["compile", str(tmp_path / "m.onnx"), "--quiet", "-o", str(tmp_path / "model.so")]
    arguments += ["--target", ",".join(targets)]
    assert nnc_tool.main(arguments) == 0
    (tmp_path / "main.c").write_text(MAIN)
    build = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address"]
    subprocess.run([*build, "main.c", "./model.so", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    start = "node 'y' (Expand): "
    assert done.stdout.splitlines() == [
        f"{start}an extent is negative",
        f"{start}its operand does not fit extent 1 of the shape",
        f"{start}its operand does not fit extent 1 of the shape",
        "2 x 3, 1 3",
        "unknown status",
    ]
    about = json.loads((tmp_path / "model.json").read_text())["failures"]
    assert [one["status"] for one in about] == [FIRST_FAILURE + i for i in range(len(about))]
    assert f"{start}{LARGE}<?x3xf32>" in [one["message"] for one in about]


def test_command_line_names_the_model(tmp_path: Path, capsys):
    onnx.save(MODELS["expand"], tmp_path / "m.onnx")
    files = []
    for name, array in (("x", floats(1, 3)), ("s", ints(-1, 3))):
        np.save(tmp_path / f"{name}.npy", array)
        files += ["--input", f"{name}={tmp_path}/{name}.npy"]
    arguments = ["run", str(tmp_path / "m.onnx"), "--quiet", *files]
    assert nnc_tool.main(arguments) == 1
    said = capsys.readouterr().err
    assert said == (
        f"{tmp_path}/m.onnx: error: node 'y' (Expand): an extent is negative\n"
        "note: input 's' is [-1, 3]\n"
    )


def test_the_inputs_are_told(compiled):
    """Shapes that contradict each other, and the values that shapes are made of."""
    for name, inputs, told in (
        ("add", (floats(3), floats(4)), ["input 'a' has shape [3]", "input 'b' has shape [4]"]),
        ("expand", (floats(1, 3), ints(2, 4)), ["input 's' is [2, 4]"]),
    ):
        with pytest.raises(NncError) as caught:
            compiled[name](*inputs)
        assert [note.message for note in caught.value.diagnostic.notes] == told


def test_a_model_that_cannot_fail_has_no_table(tmp_path: Path):
    static = one("Relu", {"x": ("f", [4])}, ("f", [4]))
    module = run_stages(load_module(static))
    assert "nn.failures" not in module.attributes
    assert not any("failure" in str(op.properties.get("sym_name")) for op in module.body_block)


@pytest.mark.parametrize("suffix", ["", ".onnx", ".mlir"])
@pytest.mark.parametrize(
    ("name", "said"),
    [("x" * 5000, "cannot read"), ("a\0b", "cannot read"), ("module {\n}\n", "nnc.parse")],
    ids=["long", "nul", "text"],
)
def test_a_string_that_is_no_path(name, said, suffix):
    with pytest.raises(NncError, match=said):
        nnc.compile(name + suffix)

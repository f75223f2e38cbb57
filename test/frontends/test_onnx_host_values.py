"""Strings, sequences, optionals and maps, compiled, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import nnc
import numpy as np
import onnx
import pytest
from nnc.runtime.hosted import Hosted
from onnx import TensorProto, helper

from .models import initializer, node

STRING, INT64, FLOAT, BOOL = (
    TensorProto.STRING,
    TensorProto.INT64,
    TensorProto.FLOAT,
    TensorProto.BOOL,
)
ML = "ai.onnx.ml"


def text(*words: str) -> np.ndarray:
    found = np.empty(len(words), object)
    found[:] = words
    return found


WORDS = text("a", "bb", "", "dé", "e", "a", "A", "bb", "a", "e", "a b", "bb").reshape(3, 4)
NUMBERS = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def model_of(nodes, inputs: dict, outputs: dict, weights: dict | None = None, opset=21):
    """A model of nodes; inputs are arrays, outputs element types or value infos."""

    def info(name: str, array: Any) -> onnx.ValueInfoProto:
        if isinstance(array, onnx.ValueInfoProto):
            return array
        kind = STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, array.shape)

    outs = [
        kind
        if isinstance(kind, onnx.ValueInfoProto)
        else helper.make_tensor_value_info(name, kind, None)
        for name, kind in outputs.items()
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [info(*one) for one in inputs.items()],
        outs,
        [initializer(*one) for one in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def runtime(model: onnx.ModelProto, inputs: dict) -> list:
    """ONNX Runtime's results."""
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)


def compiled(model: onnx.ModelProto, inputs: dict) -> tuple:
    found = nnc.compile(model, cache=False)(inputs)
    return found if isinstance(found, tuple) else (found,)


def agree(found: Any, want: Any) -> None:
    if isinstance(want, list):
        assert isinstance(found, list)
        for one, other in zip(found, want, strict=True):
            agree(one, other)
    elif isinstance(want, dict):
        assert found.keys() == want.keys()
        np.testing.assert_allclose([found[key] for key in want], list(want.values()), rtol=1e-6)
    elif np.asarray(want).dtype.kind in "OU":
        assert found.dtype == object and found.shape == want.shape
        assert found.tolist() == want.tolist()
    else:
        assert (found.dtype, found.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(found, want, rtol=1e-6)


def same(nodes, inputs: dict, outputs: dict, weights: dict | None = None, opset=21) -> None:
    model = model_of(nodes, inputs, outputs, weights, opset)
    for found, want in zip(compiled(model, inputs), runtime(model, inputs), strict=True):
        agree(found, want)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


MOVEMENTS = {
    "reshape": (["Reshape", "x", "s"], {}, {"s": ints(4, 3)}),
    "transpose": (["Transpose", "x"], {"perm": [1, 0]}, {}),
    "concat": (["Concat", "x", "x"], {"axis": 1}, {}),
    "gather": (["Gather", "x", "i"], {"axis": 1}, {"i": ints(0, -1, 2)}),
    "gather elements": (["GatherElements", "x", "i"], {}, {"i": ints(0, 2, 1, 0)[None]}),
    "gather nd": (["GatherND", "x", "i"], {}, {"i": np.array([[0, 1], [2, 3]])}),
    "slice": (
        ["Slice", "x", "b", "e", "a", "s"],
        {},
        {"b": ints(3), "e": ints(-5), "a": ints(1), "s": ints(-2)},
    ),
    "split": (["Split", "x"], {"axis": 1, "num_outputs": 1}, {}),
    "unsqueeze": (["Unsqueeze", "x", "a"], {}, {"a": ints(1)}),
    "tile": (["Tile", "x", "r"], {}, {"r": ints(2, 1)}),
    "expand": (["Expand", "x", "s"], {}, {"s": ints(2, 3, 4)}),
    "where": (["Where", "c", "x", "w"], {}, {"c": np.arange(4) % 2 == 0, "w": text("?")}),
    "scatter nd": (["ScatterND", "x", "i", "u"], {}, {"i": np.array([[0, 1]]), "u": text("new")}),
    "scatter elements": (
        ["ScatterElements", "x", "i", "u"],
        {},
        {"i": ints(2, 0)[None], "u": text("new", "newer")[None]},
    ),
    "compress": (["Compress", "x", "c"], {"axis": 0}, {"c": np.array([True, False, True])}),
    "flatten": (["Flatten", "x"], {}, {}),
    "identity": (["Identity", "x"], {}, {}),
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_movements_of_strings(name):
    (operator, *names), attributes, weights = MOVEMENTS[name]
    same([node(operator, names, ["y"], **attributes)], {"x": WORDS}, {"y": STRING}, weights)


def test_numbers_of_strings():
    nodes = [
        node("Equal", ["x", "w"], ["e"]),
        node("Shape", ["x"], ["s"]),
        node("Size", ["x"], ["n"]),
    ]
    outputs = {"e": BOOL, "s": INT64, "n": INT64}
    same(nodes, {"x": WORDS}, outputs, {"w": text("a", "bb", "", "e")})


def test_unique_strings():
    outputs = {"y": STRING, "i": INT64, "j": INT64, "c": INT64}
    same([node("Unique", ["x"], list(outputs))], {"x": WORDS.reshape(-1)}, outputs)


def test_constants_of_strings():
    nodes = [
        node("Constant", [], ["a"], value_strings=["p", "q"]),
        node("Constant", [], ["b"], value_string="r"),
        node("Concat", ["a", "x"], ["y"], axis=0),
    ]
    same(nodes, {"x": WORDS[0]}, {"y": STRING, "b": STRING})


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (np.array([0.1, 1, 1e20, -1e-7, np.inf, -np.inf, np.nan, 3.14159265], np.float32), STRING),
        (np.array([0.5, -12.25, 1e300, 1 / 3, 123456789, 0.00012345678912]), STRING),
        (np.array([1234567, 1e7, 99999999, 1e15, 1e-4, 1e-45, -0.0], np.float32), STRING),
        (np.array([0.1, 1 / 3, 6e4, 6e-8], np.float16), STRING),
        (ints(1, -3, 2**62), STRING),
        (np.array([True, False]), STRING),
        (text("1.5", "-INF", "NaN", " 2", "1e-3"), FLOAT),
        (text("15", "-3", "1.9"), INT64),
    ],
)
def test_casts(x, kind):
    model = model_of([node("Cast", ["x"], ["y"], to=kind)], {"x": x}, {"y": kind})
    (found,), (want,) = compiled(model, {"x": x}), runtime(model, {"x": x})
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("most", [{}, {"maxsplit": 0}, {"maxsplit": 1}])
def test_white_space_at_the_ends_is_not_kept(most):
    """Not behind the last split either, where Python's `split` keeps it."""
    outputs = {"y": STRING, "n": INT64}
    inputs = {"x": text("  a  b ", "", " ", "c d e ")}
    same([node("StringSplit", ["x"], ["y", "n"], **most)], inputs, outputs)


def test_text_that_is_no_number():
    inputs = {"x": text("1", "one")}
    model = model_of([node("Cast", ["x"], ["y"], "read", to=INT64)], inputs, {"y": INT64})
    with pytest.raises(
        nnc.NncError, match=r"node 'read' \(Cast\): 'one' is not a number of type int"
    ):
        compiled(model, inputs)


POOL = {
    "ngram_counts": [0, 3, 7],
    "ngram_indexes": [2, 0, 1, 4, 3, 6],
    "weights": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("length", [1, 2, 20])
def test_n_grams(mode, length):
    tokens = np.random.default_rng(0).integers(1, 5, (3, length))
    options = dict(POOL, mode=mode, min_gram_length=1, max_gram_length=3, max_skip_count=3)
    pool = [1, 2, 3, 1, 2, 3, 3, 1, 2, 3]
    same(
        [node("TfIdfVectorizer", ["x"], ["y"], pool_int64s=pool, **options)],
        {"x": tokens},
        {"y": FLOAT},
    )
    same(
        [
            node(
                "TfIdfVectorizer",
                ["x"],
                ["y"],
                pool_strings=["abc"[i - 1] for i in pool],
                **options,
            )
        ],
        {"x": np.array(list(" abcd"), object)[tokens]},
        {"y": FLOAT},
    )


def test_an_n_gram_of_a_place_too_far():
    options = dict(POOL, mode="TF", min_gram_length=1, max_gram_length=3, max_skip_count=3)
    options["ngram_indexes"] = [2, 0, 1, 4, 1 << 62, 6]
    nodes = [node("TfIdfVectorizer", ["x"], ["y"], pool_int64s=list(range(10)), **options)]
    inputs = {"x": np.arange(6)}
    with pytest.raises(nnc.NncError, match=r"'ngram_indexes' has 4611686018427387904, expected"):
        compiled(model_of(nodes, inputs, {"y": FLOAT}), inputs)


# -- sequences -------------------------------------------------------------------------------------


def sequence(name: str, kind: int = FLOAT, shape: Any = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_sequence_value_info(name, kind, shape)


ROWS = [NUMBERS[:2], NUMBERS[:1], NUMBERS]


def test_a_sequence_at_positions_of_run_time():
    nodes = [
        node("SequenceErase", ["q", "i"], ["p"]),
        node("SequenceInsert", ["p", "x", "j"], ["r"]),
        node("SequenceLength", ["r"], ["n"]),
        node("SequenceAt", ["r", "k"], ["e"]),
        node("Exp", ["e"], ["y"]),
        node("ConcatFromSequence", ["r"], ["all"], axis=0),
        node("Relu", ["all"], ["z"]),
    ]
    inputs = {"q": sequence("q", FLOAT, (None, 4)), "x": NUMBERS}
    inputs |= {name: np.array(0) for name in "ijk"}
    outputs = {"y": FLOAT, "z": FLOAT, "n": INT64, "r": sequence("r")}
    model = model_of(nodes, inputs, outputs)
    compiled = nnc.compile(model, cache=False)
    # Both functions of elements wait for one call.
    assert isinstance(compiled, Hosted) and len(compiled.parts) == 1
    for i, j, k in ((1, 0, -1), (-1, 2, 1), (0, -1, 0)):
        given = {"q": ROWS, "x": NUMBERS, "i": np.array(i), "j": np.array(j), "k": np.array(k)}
        for found, want in zip(compiled(given), runtime(model, given), strict=True):
            agree(found, want)
    given["k"] = np.array(3)
    with pytest.raises(nnc.NncError, match=r"position 3 is out of range for a sequence of 3"):
        compiled(given)
    with pytest.raises(
        nnc.NncError, match=r"input 'q': expected !nn.sequence<.*got float32 \(4,\)"
    ):
        compiled(given | {"q": [NUMBERS[0]]})


def test_a_known_sequence_needs_no_host():
    nodes = [
        node("SequenceConstruct", ["x", "x"], ["q"]),
        node("SequenceInsert", ["q", "x"], ["r"]),
        node("SequenceAt", ["r", "i"], ["y"]),
    ]
    inputs = {"x": NUMBERS, "i": np.array(1)}
    model = model_of(nodes, inputs, {"y": FLOAT})
    found = nnc.compile(model, cache=False)
    assert not isinstance(found, Hosted)
    agree(found(inputs), NUMBERS)


@pytest.mark.parametrize("split", [np.array(2), ints(1, 2)])
@pytest.mark.parametrize("at_run_time", [False, True])
def test_parts_as_a_sequence(split, at_run_time):
    nodes = [node("SplitToSequence", ["x", "s"], ["q"], axis=0)]
    inputs: dict[str, Any] = {"x": NUMBERS}
    weights = {}
    (inputs if at_run_time else weights)["s"] = split
    same(nodes, inputs, {"q": sequence("q")}, weights)


def test_parts_of_one_element_each():
    """PyTorch's older exporter repeats elements so: the rank of a shape depends on the parts'."""
    nodes = [
        node("Shape", ["r"], ["n"]),
        node("ConstantOfShape", ["n"], ["ones"], value=helper.make_tensor("", INT64, (1,), [1])),
        node("SplitToSequence", ["r", "ones"], ["q"], axis=0),
        node("SequenceAt", ["q", "i"], ["e"]),
        node("Concat", ["two", "e"], ["s"], axis=0),
        node("Expand", ["x", "s"], ["y"]),
    ]
    for i in (0, 2, -1):
        inputs = {"x": NUMBERS[:2, :1], "r": ints(2, 0, 3), "i": np.array(i)}
        same(nodes, inputs, {"y": FLOAT}, {"two": ints(2)})


@pytest.mark.parametrize("declared", [3, None])
def test_parts_that_do_not_add_up(declared):
    rows = helper.make_tensor_value_info("x", FLOAT, (declared, 4))
    nodes = [
        node("SplitToSequence", ["x", "lengths"], ["q"]),
        node("SequenceAt", ["q", "i"], ["y"]),
    ]
    for lengths in (ints(1, 1), ints(2)):
        given = {"x": rows}, {"y": FLOAT}, {"lengths": lengths, "i": np.array(0)}
        with pytest.raises(nnc.NncError, match=r"add up|3 elements do not split"):
            compiled(model_of(nodes, *given), {"x": NUMBERS})


def body(nodes, inputs, outputs) -> onnx.GraphProto:
    return helper.make_graph(nodes, "body", inputs, outputs)


def scalar(name: str, kind: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, ())


def test_a_loop_that_fills_a_sequence():
    """As frameworks write a list that a loop appends to: the rank is found on the way."""
    step = body(
        [
            node("Cast", ["i"], ["f"], to=FLOAT),
            node("Mul", ["x", "f"], ["scaled"]),
            node("SequenceInsert", ["q", "scaled"], ["r"]),
            node("Identity", ["c"], ["d"]),
        ],
        [scalar("i", INT64), scalar("c", BOOL), sequence("q")],
        [scalar("d", BOOL), sequence("r")],
    )
    nodes = [
        node("SequenceEmpty", [], ["none"], dtype=FLOAT),
        node("Loop", ["n", "", "none"], ["all"], body=step),
        node("ConcatFromSequence", ["all"], ["joined"], axis=1),
        node("Relu", ["joined"], ["y"]),
    ]
    for n in (1, 3):
        same(nodes, {"x": NUMBERS, "n": np.array(n)}, {"y": FLOAT})


def test_branches_of_other_lengths():
    def branch(count: int) -> onnx.GraphProto:
        made = node("SequenceConstruct", ["x"] * count, ["q"])
        return body([made], [], [sequence("q")])

    nodes = [
        node("If", ["c"], ["q"], then_branch=branch(2), else_branch=branch(3)),
        node("SequenceLength", ["q"], ["n"]),
    ]
    for c in (True, False):
        given = {"c": np.array(c), "x": NUMBERS}
        same(nodes, given, {"q": sequence("q"), "n": INT64})


def test_a_map_over_sequences():
    step = body(
        [node("Add", ["e", "t"], ["s"]), node("Shape", ["s"], ["n"])],
        [helper.make_tensor_value_info(n, FLOAT, None) for n in ("e", "t")],
        [
            helper.make_tensor_value_info("s", FLOAT, None),
            helper.make_tensor_value_info("n", INT64, None),
        ],
    )
    nodes = [node("SequenceMap", ["q", "x"], ["y", "n"], body=step)]
    inputs = {"q": sequence("q", FLOAT, (None, 4)), "x": NUMBERS[:1]}
    model = model_of(nodes, inputs, {"y": sequence("y"), "n": sequence("n", INT64)})
    given = {"q": ROWS, "x": NUMBERS[:1]}
    for found, want in zip(compiled(model, given), runtime(model, given), strict=True):
        agree(found, want)


def test_optionals():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, (None, 4)))
    x = helper.make_value_info("x", kind)
    nodes = [
        node("OptionalHasElement", ["x"], ["has"]),
        node(
            "If",
            ["has"],
            ["y"],
            then_branch=body(
                [node("OptionalGetElement", ["x"], ["e"]), node("Exp", ["e"], ["t"])],
                [],
                [helper.make_tensor_value_info("t", FLOAT, (None, 4))],
            ),
            else_branch=body(
                [node("Constant", [], ["z"], value=initializer("", NUMBERS))],
                [],
                [helper.make_tensor_value_info("z", FLOAT, (None, 4))],
            ),
        ),
    ]
    model = nnc.compile(model_of(nodes, {"x": x}, {"has": BOOL, "y": FLOAT}), cache=False)
    has, y = model(NUMBERS[:2])
    assert has
    np.testing.assert_allclose(y, np.exp(NUMBERS[:2]), rtol=1e-6)
    has, y = model(None)
    assert not has
    np.testing.assert_array_equal(y, NUMBERS)


def test_no_element():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, (4,)))
    nodes = [node("OptionalGetElement", ["x"], ["e"], "get"), node("Exp", ["e"], ["y"])]
    model = model_of(nodes, {"x": helper.make_value_info("x", kind)}, {"y": FLOAT})
    with pytest.raises(nnc.NncError, match=r"node 'get' \(OptionalGetElement\): .* has no value"):
        nnc.compile(model, cache=False)(None)


# -- ai.onnx.ml ------------------------------------------------------------------------------------


def maps(name: str, key: int) -> onnx.ValueInfoProto:
    value = helper.make_tensor_type_proto(FLOAT, ())
    return helper.make_value_info(
        name, helper.make_sequence_type_proto(helper.make_map_type_proto(key, value))
    )


@pytest.mark.parametrize(
    ("attributes", "key"),
    [
        ({"classlabels_strings": list("abcd")}, STRING),
        ({"classlabels_int64s": [3, 1, 4, 5]}, INT64),
    ],
)
def test_maps_of_rows(attributes, key):
    nodes = [
        node("Softmax", ["x"], ["p"]),
        node("ZipMap", ["p"], ["y"], domain=ML, **attributes),
    ]
    same(nodes, {"x": NUMBERS}, {"y": maps("y", key)})


@pytest.mark.parametrize(
    ("operator", "attributes", "key", "given", "kind"),
    [
        ("DictVectorizer", {"string_vocabulary": ["b", "c"]}, STRING, {"a": 1.0, "b": 2.5}, FLOAT),
        ("DictVectorizer", {"int64_vocabulary": [7, 1]}, INT64, {1: 1.0, 2: 2.5}, FLOAT),
        ("CastMap", {}, INT64, {3: 1.5, 1: 2.5}, FLOAT),
        ("CastMap", {"cast_to": "TO_INT64"}, INT64, {3: 1.0, 1: 2.0}, INT64),
        ("CastMap", {"map_form": "SPARSE", "max_map": 4}, INT64, {3: 1.5, 1: 2.5}, FLOAT),
    ],
)
def test_rows_of_maps(operator, attributes, key, given, kind):
    value = helper.make_tensor_type_proto(FLOAT, ())
    x = helper.make_value_info("x", helper.make_map_type_proto(key, value))
    model = model_of([node(operator, ["x"], ["y"], domain=ML, **attributes)], {"x": x}, {"y": kind})
    for found, want in zip(
        compiled(model, {"x": given}), runtime(model, {"x": given}), strict=True
    ):
        agree(found, want)


@pytest.mark.parametrize(
    ("operator", "attributes", "x", "kind"),
    [
        ("CategoryMapper", {"cats_strings": ["a", "e"], "cats_int64s": [5, 6]}, WORDS, INT64),
        ("CategoryMapper", {"cats_strings": ["a", "e"], "cats_int64s": [5, 6]}, ints(6, 7), STRING),
        ("LabelEncoder", {"keys_strings": ["a", "e"], "values_strings": ["x", "y"]}, WORDS, STRING),
        ("LabelEncoder", {"keys_strings": ["a", "e"], "values_floats": [1.0, 2.0]}, WORDS, FLOAT),
        ("LabelEncoder", {"keys_int64s": [1, 2], "values_strings": ["x", "y"]}, ints(2, 9), STRING),
        ("OneHotEncoder", {"cats_strings": ["a", "e"]}, WORDS, FLOAT),
    ],
)
def test_encoders(operator, attributes, x, kind):
    same([node(operator, ["x"], ["y"], domain=ML, **attributes)], {"x": x}, {"y": kind})


def test_labels_that_are_strings():
    linear = node(
        "LinearClassifier",
        ["x"],
        ["y", "p"],
        domain=ML,
        coefficients=[float(i % 5) - 2 for i in range(12)],
        intercepts=[0.5, 0.25, -0.5],
        classlabels_strings=["red", "green", "blue"],
        post_transform="SOFTMAX",
    )
    same([linear], {"x": NUMBERS}, {"y": STRING, "p": FLOAT})

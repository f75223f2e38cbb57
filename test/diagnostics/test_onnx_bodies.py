"""What the importer says of loops, scans, functions and whole models, each by a model."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper

HEAD = '<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1, "me" : 1]>'
# A loop whose trip count, condition and body are given, and bodies for it
INNER = "(int64 i, bool c, float[2] s) => (bool d, float[2] t, float[2] r)"
LOOP = (
    "(float[2] x, {more}) => (float[2] y, float[N,2] z) <{values}> "
    "{{ y, z = Loop({given}, x) <body = {body}> }}"
)
KEEP = f"b {INNER} {{ d = Identity(c) t = Neg(s) r = Abs(s) }}"
SHORT = "b (int64 i, bool c) => (bool d) { d = Identity(c) }"
OTHER = f"b {INNER} {{ d = Identity(c) t = Cast<to=6>(s) r = Abs(s) }}"
SEQUENCE = (
    "b (int64 i, bool c, float[2] s) => (bool d, float[2] t, seq(float[2]) r) "
    "{ d = Identity(c) t = Neg(s) r = SequenceConstruct(s) }"
)
SCAN = (
    "(float[2] s, float[{shape}] x) => (float[N] y, float[N] z) "
    "{{ y, z = Scan<num_scan_inputs = {count}{more}, "
    "body = b (float[2] s, float[2] e) => (float[2] t, float[2] r) "
    "{{ t = Add(s, e) r = Abs(t) }}>(s, x) }}"
)


def loop(more: str, values: str, given: str, body: str) -> str:
    return LOOP.format(more=more, values=values, given=given, body=body)


def scan(shape: str, count: int = 1, more: str = "") -> str:
    return SCAN.format(shape=shape, count=count, more=more)


# a graph, as ONNX's own text; message; opset where not 21
GRAPHS = [
    (loop("bool k", "int64 n = {3}", "n, ", SHORT), "the body has 2 inputs and 1 outputs"),
    (loop("bool k", "int64 n = {3}", ", ", KEEP), "nothing ends the loop"),
    (loop("int64 n", "int64 k = {3}", "n, ", OTHER), "'tensor<2xf32>' or 'tensor<2xi32>' by what"),
    (loop("int64 n", "int64 k = {3}", "n, ", SEQUENCE), "must return tensors of known rank"),
    (loop("bool k", "int64 n = {2}", "n, ", SEQUENCE), "gives a sequence, expected a tensor"),
    (scan("3,2", count=3), "3 scan inputs of 2, body with 2"),
    (scan("3,2", more=", scan_input_axes = [0, 1]"), "'scan_input_axes' has 2 elements"),
    (
        "(float[2] x) => (float y) { y = BatchNormalization<training_mode = 1>(x, x, x, x, x) }",
        "input 'X' has rank 1, expected at least 2",
    ),
    (
        "(float[2,3] x) => (float y) <int64[2] s = {0, 7}> { y = Reshape<allowzero = 1>(x, s) }",
        "6 elements do not fit shape",
    ),
    (
        "(float[1,1,4,4] x) => (float y) <float[4] s = {1, 1, 2, 2}> "
        '{ y = Resize<mode = "linear", coordinate_transformation_mode = "tf_half_pixel_for_nn">'
        "(x, , s) }",
        "is supported with mode nearest and nearest_mode floor only",
    ),
    (
        "(float[2] x) => (float y) <int64 p = {1}> "
        "{ s = SequenceConstruct(x) y = SequenceAt(s, p) }",
        "position 1 is out of range for a sequence of 1",
    ),
    (
        "(float[2] x, float[2] l) => (float y) { y = Clip(x, l) }",
        "expected one number, found a tensor of shape",
    ),
    (
        "(float[2,3] x, float[3] s) => (float y, float m) "
        "{ y, m = BatchNormalization(x, s, s, s, s) }",
        "output 1 .'m'. is not supported",
        9,
    ),
    (
        "(float[2,2] x) => (float y) { y = com.microsoft.FusedMatMul<transA = 1.5>(x, x) }",
        "attribute 'transA' is of type FLOAT, expected INT",
    ),
    (
        "(int32[2,2] x) => (int32[2,2] y) { y = Gemm<alpha = 1e30>(x, x) }",
        "1.* is not a number of type",
    ),
    (
        "(float[1,2,3,4] x) => (float y) { y = Attention<softmax_precision = 99>(x, x, x) }",
        "attribute 'softmax_precision' is 99",
        23,
    ),
    (
        "(float[2] x) => (float y) { s = SequenceConstruct(x) "
        "r = SequenceMap<body = b (float a, float e) => (float q) { q = Add(a, e) }>(s) "
        "y = ConcatFromSequence<axis = 0>(r) }",
        "its definition cannot be made",
    ),
]


def model(text: str, opset: int = 21) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{HEAD.format(opset=opset)} g {text}")


@pytest.mark.parametrize("case", GRAPHS, ids=[case[1] for case in GRAPHS])
def test_graph(case: tuple) -> None:
    text, message, opset = (*case, 21)[:3]
    with pytest.raises(NncError, match=message):
        import_model(model(text, opset))


def test_a_loop_without_end() -> None:
    with pytest.raises(NncError, match="nothing ends the loop"):
        import_model(model(loop("bool k", "bool on = {1}", ", on", KEEP)))


# -- functions and models --------------------------------------------------------------------------


def chain(count: int) -> str:
    """A model of functions that call each other, one inside another."""
    head = HEAD.format(opset=21)
    text = [f"{head} g (float[2] x) => (float y) {{ y = me.f0(x) }}"]
    opsets = '<domain: "me", opset_import: ["" : 21, "me" : 1]>'
    for i in range(count):
        call = f"b = me.f{i + 1}(a)" if i + 1 < count else "b = Neg(a)"
        text.append(f"{opsets} f{i} (a) => (b) {{ {call} }}")
    return "\n".join(text)


OUT = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
LEAF = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [], [OUT])


def nested(count: int) -> onnx.ModelProto:
    """A model of conditions in each other's branches."""
    source = onnx.ModelProto(ir_version=10, opset_import=[helper.make_opsetid("", 21)])
    graph = source.graph
    graph.initializer.append(helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]))
    for _ in range(count):
        graph.output.append(OUT)
        node = graph.node.add(op_type="If", input=["c"], output=["y"])
        node.attribute.append(helper.make_attribute("else_branch", LEAF))
        inner = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH)
        graph = inner.g
    graph.CopyFrom(LEAF)
    return source


def test_functions_nested_too_deep() -> None:
    with pytest.raises(NncError, match="function calls are nested more than 50 deep"):
        import_model(onnx.parser.parse_model(chain(60)))


def test_graphs_nested_too_deep() -> None:
    with pytest.raises(NncError, match="nested more than 100 deep"):
        import_model(nested(120))


def test_a_branch_with_an_input() -> None:
    source = nested(1)
    branch = source.graph.node[0].attribute[1].g
    branch.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, [2]))
    with pytest.raises(NncError, match=r"node of output 'y' \(If\): 0 inputs, expected 1"):
        import_model(source)


def test_as_many_graphs_inside_each_other_as_may_be() -> None:
    assert "nn.neg" in str(import_model(nested(100)))


def test_a_function_that_uses_what_is_not_there() -> None:
    source = onnx.parser.parse_model(chain(1))
    source.functions[0].node[0].input[0] = "nothing"
    with pytest.raises(NncError, match=r"in the body of function 'f0': .*nothing"):
        import_model(source)


def test_a_function_defined_twice() -> None:
    source = onnx.parser.parse_model(chain(2))
    source.functions[1].name = "f0"
    with pytest.raises(NncError, match="function 'f0' is defined twice"):
        import_model(source)


def test_no_graph() -> None:
    with pytest.raises(NncError, match="not an ONNX model: it has no graph"):
        import_model(onnx.ModelProto(ir_version=10))


def test_a_negative_extent() -> None:
    source = model("(float[N] x) => (float y) { y = Neg(x) }")
    with pytest.raises(NncError, match="dimension 'N' cannot be -1"):
        import_model(source, dims={"N": -1})


def test_an_attribute_of_another_kind_in_a_function() -> None:
    source = onnx.parser.parse_model(chain(1))
    source.functions[0].node[0].CopyFrom(helper.make_node("Elu", ["a"], ["b"]))
    alpha = source.functions[0].node[0].attribute.add(name="alpha", ref_attr_name="scale")
    alpha.type = onnx.AttributeProto.FLOAT
    source.functions[0].attribute.append("scale")
    source.graph.node[0].attribute.append(helper.make_attribute("scale", 3))
    with pytest.raises(NncError, match="attribute 'alpha' is of type INT, expected FLOAT"):
        import_model(source)


def test_external_data_that_cannot_be_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped = np.memmap

    def refused(path: Path, *rest: object) -> object:
        if path.name == "weights.bin":
            raise PermissionError(13, "Permission denied")
        return mapped(path, *rest)

    monkeypatch.setattr(np, "memmap", refused)
    source = model("(float[2] x) => (float y) <float[2] w = {1, 2}> { y = Add(x, w) }")
    tensor = source.graph.initializer[0]
    for field in ("raw_data", "float_data"):
        tensor.ClearField(field)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    (tmp_path / "m.onnx").write_bytes(source.SerializeToString())
    (tmp_path / "weights.bin").write_bytes(bytes(8))
    with pytest.raises(
        NncError, match=r"cannot read external data file 'weights\.bin': Permission denied"
    ):
        import_model(tmp_path / "m.onnx")

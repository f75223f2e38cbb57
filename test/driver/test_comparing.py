"""Finding the first node at which two ways to run a model differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from nnc.driver.comparing.bisect import Bisection, first_common
from nnc.driver.comparing.difference import Tolerance, difference
from nnc.driver.comparing.sides import OnnxRuntimeSide, Side
from nnc.frontends.onnx.cutting import CutGraph
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

F = TensorProto.FLOAT


class Reference(Side):
    """onnx.reference, which is off by `error` in what some nodes give, where they are together."""

    def __init__(self, *wrong: str, error: float = 1.0) -> None:
        self.name = "reference"
        self.wrong, self.error = set(wrong), error
        self.nodes_run = 0

    def run(self, model: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        proto = onnx.ModelProto()
        proto.CopyFrom(model)
        names = {node.name for node in proto.graph.node}
        self.nodes_run += len(names)
        if self.wrong and self.wrong <= names:
            last = next(n for n in reversed(proto.graph.node) if n.name in self.wrong)
            kept = list(proto.graph.node)
            at = kept.index(last)
            changed = onnx.NodeProto()
            changed.CopyFrom(last)
            changed.output[0] = "before"
            added = helper.make_node("Add", ["before", "error"], [last.output[0]])
            del proto.graph.node[:]
            proto.graph.node.extend([*kept[:at], changed, added, *kept[at + 1 :]])
            error = numpy_helper.from_array(np.float32(self.error), "error")
            proto.graph.initializer.append(error)
        for output in proto.graph.output:
            output.type.tensor_type.elem_type = F
        outputs = [output.name for output in proto.graph.output]
        return dict(zip(outputs, ReferenceEvaluator(proto).run(None, dict(inputs)), strict=True))


def ladder(steps: int = 12) -> onnx.ModelProto:
    """Two rows of nodes that meet at each step: a0 = x + w, b0 = x * w, a1 = a0 + b0, .."""
    nodes, a, b = [], "x", "w"
    for i in range(steps):
        nodes.append(helper.make_node("Add", [a, b], [f"a{i}"], name=f"add{i}"))
        nodes.append(helper.make_node("Tanh", [f"a{i}"], [f"b{i}"], name=f"tanh{i}"))
        a, b = f"a{i}", f"b{i}"
    nodes.append(helper.make_node("Mul", [a, b], ["y"], name="last"))
    graph = helper.make_graph(
        nodes,
        "ladder",
        [helper.make_tensor_value_info("x", F, [2, 3])],
        [helper.make_tensor_value_info("y", F, [2, 3])],
        [numpy_helper.from_array(np.full((2, 3), 0.5, np.float32), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def culprit(model: onnx.ModelProto, ours: Side, outputs=("y",), reference=None, **inputs):
    said: list[str] = []
    inputs = inputs or {"x": np.ones((2, 3), np.float32)}
    cut = CutGraph(model, outputs)
    reference = reference or Reference()
    found = Bisection(cut, ours, reference, inputs, Tolerance(), said.append).culprit()
    return found, said


@pytest.mark.parametrize("name", ["add0", "tanh0", "add5", "tanh7", "last"])
def test_one_node(name):
    ours = Reference(name)
    found, said = culprit(ladder(), ours)
    assert found is not None and len(found.nodes) == 1
    assert f"'{name}'" in found.nodes[0]
    (one,) = [d for d in found.differences if d.differs]
    assert one.ours - one.theirs == pytest.approx(1, abs=1e-6)
    assert len(said) <= 11
    # The whole, then halves and perhaps the other halves: not a prefix for each step.
    assert ours.nodes_run <= 4 * 25


def test_nodes_that_differ_together_only():
    """A pass that fuses them wrongly, say."""
    found, _ = culprit(ladder(), Reference("tanh4", "add6"))
    assert found is not None
    named = [node.split("'")[1] for node in found.nodes]
    assert named[0] == "tanh4" and named[-1] == "add6" and len(named) <= 5


def test_no_culprit_where_all_nodes_agree():
    assert culprit(ladder(), Reference())[0] is None


def test_errors_that_grow():
    """No node is at fault where the error is within the tolerance at each."""
    nodes = [
        helper.make_node("Mul", ["x", "big"], ["m"], name="mul"),
        helper.make_node("Sub", ["m", "big"], ["y"], name="sub"),
    ]
    graph = helper.make_graph(
        nodes,
        "grow",
        [helper.make_tensor_value_info("x", F, [1])],
        [helper.make_tensor_value_info("y", F, [1])],
        [numpy_helper.from_array(np.float32(1e6), "big")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    ours = Reference("mul", error=10.0)
    found, _ = culprit(model, ours, x=np.float32([1.0]))
    assert found is not None and [n.split("'")[1] for n in found.nodes] == ["mul", "sub"]


def test_inside_the_branch_that_is_taken():
    inner = ladder(3).graph
    otherwise = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["e"])],
        "else",
        [],
        [helper.make_tensor_value_info("e", F, [2, 3])],
    )
    then = helper.make_graph(inner.node, "then", [], inner.output, inner.initializer)
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0, name="sum"),
        helper.make_node("Greater", ["s", "zero"], ["c"], name="greater"),
        helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=otherwise, name="if"),
        helper.make_node("Neg", ["r"], ["z"], name="neg"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", F, [2, 3])],
        [helper.make_tensor_value_info("z", F, [2, 3])],
        [numpy_helper.from_array(np.float32(0), "zero")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])

    class Inside(Reference):
        def run(self, model, inputs):
            found = super().run(model, inputs)
            if any(node.op_type == "If" for node in model.graph.node):
                found = {name: value + 1 for name, value in found.items()}
            return found

    found, _ = culprit(model, Inside("tanh1"), outputs=("z",))
    assert found is not None
    (node,) = found.nodes
    assert node == "node 'if' (If), in its branch node 'tanh1' (Tanh)"


class WrongInside(OnnxRuntimeSide):
    """ONNX Runtime, which is off in each Max with `when`."""

    def __init__(self, when: float) -> None:
        super().__init__()
        self.when = when

    def run(self, model, inputs):
        proto = onnx.ModelProto()
        proto.CopyFrom(model)
        self.change(proto.graph)
        return super().run(proto, inputs)

    def change(self, graph):
        for node in list(graph.node):
            for attribute in node.attribute:
                self.change(attribute.g)
            if node.op_type == "Max":
                node.output[0], out = "right", node.output[0]
                graph.initializer.append(
                    numpy_helper.from_array(np.array(self.when, np.float32), "when")
                )
                added = [
                    helper.make_node("Equal", [node.input[1], "when"], ["equal"]),
                    helper.make_node("Cast", ["equal"], ["error"], to=F),
                    helper.make_node("Add", ["right", "error"], [out]),
                ]
                kept = list(graph.node)
                at = kept.index(node) + 1
                del graph.node[:]
                graph.node.extend([*kept[:at], *added, *kept[at:]])


LOOP = """
<ir_version: 10, opset_import: ["" : 18]>
agraph (float[3] x, int64 n) => (float[3] y, float[K,3] z) {
    go = Constant<value = bool {1}>()
    [the_loop] y, z = Loop(n, go, x) <body = b (int64 i, bool c, float[3] s)
        => (bool d, float[3] u, float[3] u2) {
        t = Cast<to = 1>(i)
        a = Add(s, t)
        [wrong] h = Max(a, t)
        u = Add(h, s)
        u2 = Identity(u)
        seven = Constant<value = float {7}>()
        d = Less(t, seven)
    }>
}"""
SCAN = """
<ir_version: 10, opset_import: ["" : 18]>
agraph (float[3] x, float[3,N] ts) => (float[3] y, float[K,3] z) {
    [the_scan] y, z = Scan(x, ts) <num_scan_inputs = 1, scan_input_axes = [1], DIRECTION
        body = b (float[3] s, float[3] r) => (float[3] u, float[3] u2) {
        t = ReduceMax<keepdims = 0>(r)
        a = Add(s, r)
        [wrong] h = Max(a, t)
        u = Add(h, s)
        u2 = Identity(u)
    }>
}"""


@pytest.mark.parametrize("iteration", [0, 1, 5, 8])
@pytest.mark.parametrize("outputs", [("y",), ("y", "z"), ("z",)])
def test_in_an_iteration_of_a_loop(iteration, outputs):
    x = np.array([0.1, 0.2, 0.3], np.float32)
    # It stops by its condition, after the one of number 7.
    model = onnx.parser.parse_model(LOOP)
    ours = WrongInside(iteration)
    found, said = culprit(model, ours, outputs, OnnxRuntimeSide(), x=x, n=np.array(1000))
    if iteration == 8:
        assert found is None
        return
    assert found is not None and len(said) < 20
    place = f"node 'the_loop' (Loop), in iteration {iteration} node 'wrong' (Max)"
    assert found.nodes == (place,)
    (one,) = found.differences
    assert one.ours - one.theirs == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("direction", ["", "scan_input_directions = [1],"])
@pytest.mark.parametrize("number", [0, 3, 6])
def test_in_an_iteration_of_a_scan(number, direction):
    x = np.array([0.1, 0.2, 0.3], np.float32)
    ts = np.arange(7, dtype=np.float32) - np.array([[0], [1], [2]], np.float32)
    model = onnx.parser.parse_model(SCAN.replace("DIRECTION", direction))
    found, _ = culprit(model, WrongInside(number), ("y", "z"), OnnxRuntimeSide(), x=x, ts=ts)
    assert found is not None
    iteration = 6 - number if direction else number
    assert found.nodes == (f"node 'the_scan' (Scan), in iteration {iteration} node 'wrong' (Max)",)


def test_inside_a_function_of_the_model():
    body = [
        helper.make_node("Exp", ["a"], ["e"], name="exp"),
        helper.make_node("Tanh", ["e"], ["b"], name="tanh"),
    ]
    function = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", 18)])
    graph = helper.make_graph(
        [helper.make_node("F", ["x"], ["y"], domain="own", name="call")],
        "g",
        [helper.make_tensor_value_info("x", F, [2, 3])],
        [helper.make_tensor_value_info("y", F, [2, 3])],
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=imports, functions=[function])

    class Inside(Reference):
        def run(self, model, inputs):
            found = super().run(model, inputs)
            wrong = any(node.op_type == "Tanh" for node in model.graph.node)
            return {name: value + wrong for name, value in found.items()}

    found, _ = culprit(model, Inside())
    assert found is not None
    (node,) = found.nodes
    assert node.endswith("(Tanh)")


def test_two_models_by_the_names_of_values(tmp_path):
    for name in ("a.onnx", "b.onnx"):
        onnx.save(ladder(4), tmp_path / name)
    inputs = ({"x": np.ones((2, 3), np.float32)},) * 2
    paths = str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx")
    found = first_common(*paths, Reference("tanh2"), Reference(), inputs, Tolerance())
    assert found is not None and "'tanh2'" in found.nodes[0]


@pytest.mark.parametrize(
    "ours,theirs,wrong,index",
    [
        ([1.0, np.nan], [1.0, np.nan], 0, None),
        ([1.0, np.inf, -np.inf], [1.0, np.inf, -np.inf], 0, None),
        ([1.0, np.nan, 2.0], [1.0, 1.0, 2.0], 1, (1,)),
        ([np.inf, 1.0], [-np.inf, 1.0], 1, (0,)),
        ([1000.0, 0.05], [1000.0, 0.0], 0, None),  # 1e-4 of 1000
        ([1000.0, 0.2, 0.3], [1000.0, 0.0, 0.0], 2, (2,)),
        (np.array([5, 7]), np.array([5, 8]), 1, (1,)),
        (np.array([10**7, 1]), np.array([10**7 + 1, 1]), 1, (0,)),  # integers are exact
        (np.array([True]), np.array([False]), 1, (0,)),
        (np.array([1 + 1j]), np.array([1 - 1j]), 1, (0,)),
        (np.array(["a", "b"]), np.array(["a", "c"]), 1, (1,)),
        (np.zeros((0, 3)), np.zeros((0, 3)), 0, None),
    ],
)
def test_difference(ours, theirs, wrong, index):
    found = difference("y", np.asarray(ours), np.asarray(theirs), Tolerance())
    assert found.wrong == wrong and found.differs == bool(wrong)
    if index is not None:
        assert found.index == index


def test_shapes_that_differ():
    found = difference("y", np.zeros((2, 3)), np.zeros(6), Tolerance())
    assert found.differs and found.fault == "shape [2, 3], but [6]"

"""Scopes that front ends know: of functions, of metadata, of modules."""

from pathlib import Path

import onnx
import pytest
from nnc.driver.compile import load_module
from nnc.explorer.compilation import compile_traced
from nnc.explorer.graph import Graph, graph_of, scopes_of
from nnc.explorer.tracing import Trace
from nnc.frontends.common.graph import relative_names
from nnc.ir.location import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    in_scopes,
    node_scopes,
)
from onnx import TensorProto, helper

FILE = FileLineColLoc("model.onnx", 0, 0)


def graph_in(path: Path | onnx.ModelProto) -> Graph:
    module = load_module(path)
    return graph_of(module, Trace(module).line_of)


def scopes_by_name(graph: Graph) -> dict[str, tuple[str, ...]]:
    return {node.name: node.scopes for node in graph.nodes if node.kind not in ("input", "output")}


def model_of(nodes, functions=()) -> onnx.ModelProto:
    given, made = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 8]) for n in ("x", "y"))
    graph = helper.make_graph(nodes, "g", [given], [made])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)


def test_scopes_are_callers_of_a_location() -> None:
    loc = NameLoc("conv (Conv)", in_scopes(FILE, ("layer1", "0", "conv")))
    assert node_scopes(loc) == ("layer1", "0", "conv")
    assert loc.describe() == "model.onnx: conv (Conv)"
    assert in_scopes(FILE, ()) is FILE
    assert node_scopes(FusedLoc((NameLoc("a (A)", FILE), loc))) == ("layer1", "0", "conv")
    # What a person's program called is no scope: such callers are places in files.
    assert node_scopes(NameLoc("f", CallSiteLoc(FILE, NameLoc("g", FILE)))) == ()
    assert node_scopes(CallSiteLoc(FILE, FILE)) == ()


@pytest.mark.parametrize(
    ("name", "known", "scopes", "rest"),
    [
        ("layer1.0.conv.conv2d_3", ("layer1", "0", "conv"), ("layer1", "0", "conv"), "conv2d_3"),
        ("a/b/Conv", ("a", "b"), ("a", "b"), "Conv"),
        ("node_conv", ("a.b", "c"), ("a.b", "c"), "node_conv"),
        ("a.", ("a",), ("a",), "a."),
        ("a/b/Conv", (), ("a", "b"), "Conv"),
    ],
)
def test_known_scopes_come_before_those_of_names(name, known, scopes, rest) -> None:
    assert scopes_of(name, known) == (scopes, rest)


def test_paths_are_relative_to_those_around() -> None:
    assert relative_names(["", "a", "a.b", "a.b", "a.b.c"], ".") == ("a", "b", "c")
    assert relative_names(["a.b", "other"], ".") == ("a.b", "other")


def test_metadata_of_pytorchs_exporter() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="node_relu"),
        helper.make_node("Exp", ["a"], ["b"], name="node_exp"),
        helper.make_node("Neg", ["b"], ["y"], name="node_neg"),
    ]
    texts = ("['', 'layer1', \"layer1.it's\", 'relu']", "['exp']", "no list " * 3000)
    for node, text in zip(nodes, texts, strict=True):
        entry = node.metadata_props.add()
        entry.key, entry.value = "pkg.torch.onnx.name_scopes", text
    found = scopes_by_name(graph_in(model_of(nodes)))
    assert found == {"node_relu": ("layer1", "it's"), "node_exp": (), "node_neg": ()}


def test_bodies_of_functions_are_scopes(tmp_path: Path) -> None:
    """Each call is one of its own, though the nodes in it are called the same."""
    inner = helper.make_function(
        "own", "Inner", ["a"], ["c"],
        [helper.make_node("Exp", ["a"], ["b"], name="e"), helper.make_node("Neg", ["b"], ["c"], name="n")],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    outer = helper.make_function(
        "own", "Outer", ["a"], ["c"],
        [helper.make_node("Inner", ["a"], ["c"], domain="own", name="in")],
        [helper.make_opsetid("own", 1)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Outer", ["x"], ["m"], domain="own", name="first"),
        helper.make_node("Relu", ["m"], ["k"], name="between"),
        helper.make_node("Inner", ["k"], ["y"], domain="own"),
    ]
    onnx.save(model_of(nodes, [inner, outer]), tmp_path / "model.onnx")
    graph = graph_in(tmp_path / "model.onnx")
    found = [(n.scopes, n.name, n.kind) for n in graph.nodes[1:-1]]
    assert found == [
        (("first", "in"), "e", "Exp"),
        (("first", "in"), "n", "Neg"),
        ((), "between", "Relu"),
        (("y",), "e", "Exp"),
        (("y",), "n", "Neg"),
    ]
    made = compile_traced("model", load_module(tmp_path / "model.onnx"), target="x86-64")
    assert [node.scopes for node in made.graph.nodes] == [node.scopes for node in graph.nodes]


@pytest.mark.slow
def test_modules_of_pytorch_are_scopes() -> None:
    torch = pytest.importorskip("torch", reason="the `models` extra is not installed")

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, x):
            return torch.relu(self.linear(x))

    model = torch.nn.Sequential(Block(), Block()).eval()
    exported = torch.export.export(model, (torch.zeros(2, 8),))
    found = {(n.scopes, n.kind) for n in graph_in(exported).nodes if n.scopes}
    assert {(("0",), "relu"), (("1",), "relu")} <= found
    assert {(("0", "linear"), "linear"), (("1", "linear"), "linear")} <= found

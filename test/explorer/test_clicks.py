"""From a node to its kernel, schedule, loops and instructions, and back, in two clicks each."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from nnc.driver.compile import load_module
from nnc.explorer.explore import Source, explore
from onnx import TensorProto, helper, numpy_helper

from .test_page import in_chromium

MANY = 5000

_CLICKS = """
      const input = document.querySelector("input[type=search]");
      input.value = NAME; input.dispatchEvent(new Event("input"));
      const node = await until(() => all(".tree .row").find((one) => one.querySelector(".dot") && NAME.endsWith(one.querySelector(".name").textContent)));
      const click = (element) => element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      const tab = (name) => until(() => document.querySelector(`#tab-${name}`));
      const column = (at) => all(".column").at(at);
      const stage = (at) => column(at).querySelector("select").selectedOptions[0].textContent;
      const linked = async (name, at) => {
        await until(() => document.querySelector(`#tab-${name}[aria-selected=true]`) && all(".column").length > 1 && column(at).querySelector(".row.linked"));
        return [...column(at).querySelectorAll(".row.linked")];
      };
      const lines = (at) => {
        const { hits, rows, text } = explorer.details.code.columns.at(at);
        return hits.map((row) => text.lines[rows[row]]);
      };
      const texts = (rows) => rows.map((one) => one.textContent);
      const path = () => [document.querySelector(".details .path")?.textContent, document.querySelector(".details h2")?.textContent].join(" ");

      // The first click: the node, with its kernel. The second: the texts of that, at the node's lines.
      click(node);
      const found = { node: await until(() => document.querySelector(".details h2") && path()), kernels: texts(all(".details .chip[aria-pressed=true]")) };
      click(await tab("schedule"));
      await linked("schedule", 0); await linked("schedule", 1);
      Object.assign(found, { schedule: lines(0), loops: lines(1) });
      found.stages = [stage(0), stage(1)];
      click(await tab("code"));
      const code = await linked("code", -1);
      found.code = lines(-1); found.stages.push(stage(-1));

      // Back, the first click: an instruction, which names its nodes. The second: the node.
      click(code.at(-1));
      const links = await until(() => all(".origin .link").length && all(".origin .link"));
      found.links = texts(links);
      explorer.details.node = -1;
      click(links.find((one) => NAME.endsWith(one.textContent)) ?? links[0]);
      found.back = await until(() => explorer.details.node >= 0 && path());
      found.nodes = explorer.compilation.graph.nodes.length;
      await say(found);
"""


def model(
    nodes: list[onnx.NodeProto],
    input: list[int],
    weights: dict[str, tuple[int, ...]],
) -> onnx.ModelProto:
    """Random weights, so that no two are the same constant."""
    rng = np.random.default_rng(0)
    made = [
        numpy_helper.from_array(0.1 * rng.normal(size=shape).astype(np.float32), name)
        for name, shape in weights.items()
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "model",
        [value("x", TensorProto.FLOAT, input)],
        [value(nodes[-1].output[0], TensorProto.FLOAT, None)],
        made,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def resnet_like() -> onnx.ModelProto:
    """A residual block behind a stem, then a mean and a product."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "stem"], ["a"], "/stem/Conv", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"], "/stem/Relu"),
        node("Conv", ["b", "w1"], ["c"], "/layer1/conv1/Conv", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["d"], "/layer1/Relu"),
        node("Conv", ["d", "w2"], ["e"], "/layer1/conv2/Conv", pads=[1, 1, 1, 1]),
        node("Add", ["e", "b"], ["f"], "/layer1/Add"),
        node("Relu", ["f"], ["g"], "/layer1/Relu_1"),
        node("GlobalAveragePool", ["g"], ["h"], "/pool/GlobalAveragePool"),
        node("Flatten", ["h"], ["i"], "/Flatten"),
        node("MatMul", ["i", "fc"], ["y"], "/fc/MatMul"),
    ]
    weights = {
        "stem": (16, 3, 3, 3), "w1": (16, 16, 3, 3), "w2": (16, 16, 3, 3), "fc": (16, 10),
    }  # fmt: skip
    return model(nodes, [1, 3, 16, 16], weights)


def bert_like() -> onnx.ModelProto:
    """Two layers of attention with one head, residual, normalization, and products with a GELU."""
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, tuple[int, ...]] = {}
    value = "x"

    def add(kind: str, inputs: list[str], name: str, **more: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [name], f"/{name}", **more))
        return name

    def product(value: str, name: str, rows: int, columns: int) -> str:
        weights[f"{name}.weight"] = (rows, columns)
        return add("MatMul", [value, f"{name}.weight"], f"{name}/MatMul")

    for layer in range(2):
        at = f"layer.{layer}/attention"
        query, key, values = (
            product(value, f"{at}/{n}", 32, 32) for n in ("query", "key", "value")
        )
        turned = add("Transpose", [key], f"{at}/Transpose", perm=[0, 2, 1])
        scores = add("MatMul", [query, turned], f"{at}/MatMul")
        shares = add("Softmax", [scores], f"{at}/Softmax", axis=-1)
        mixed = add("MatMul", [shares, values], f"{at}/MatMul_1")
        added = add("Add", [mixed, value], f"layer.{layer}/Add")
        weights |= {f"scale.{layer}": (32,), f"shift.{layer}": (32,)}
        normal = add(
            "LayerNormalization",
            [added, f"scale.{layer}", f"shift.{layer}"],
            f"layer.{layer}/LayerNorm",
        )
        wide = product(normal, f"layer.{layer}/intermediate", 32, 64)
        gelu = add("Mul", [add("Erf", [wide], f"layer.{layer}/Erf"), wide], f"layer.{layer}/Mul")
        value = product(gelu, f"layer.{layer}/output", 64, 32)
    return model(nodes, [1, 16, 32], weights)


def of_many_nodes() -> onnx.ModelProto:
    """Blocks of elementwise nodes that end in a maximum of each row."""
    nodes, value = [], "x"
    for block in range(MANY // 50):
        for i in range(49):
            kind = ("Relu", "Neg", "Abs", "Sqrt", "Tanh")[i % 5]
            nodes.append(
                helper.make_node(kind, [value], [f"v{len(nodes)}"], f"/b{block}/{kind}{i}")
            )
            value = nodes[-1].output[0]
        made = f"v{len(nodes)}"
        nodes.append(
            helper.make_node("ReduceMax", [value], [made], f"/b{block}/Max", axes=[1], keepdims=1)
            if block % 2 == 0
            else helper.make_node("Concat", [value] * 8, [made], f"/b{block}/Concat", axis=1)
        )
        value = made
    return model(nodes, [8, 8], {})


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("make", "node", "instruction"),
    [
        (resnet_like, "layer1/conv2/Conv", r"\bv(fmadd|add|sub)\w*ps\b"),
        (bert_like, "layer.1/intermediate/MatMul", r"\bvfmadd\w*ps\b"),
        (of_many_nodes, "b98/Sqrt3", r"\bvsqrtps\b"),
    ],
)
def test_two_clicks_lead_from_a_node_to_its_instructions(
    tmp_path: Path, make: Callable[[], onnx.ModelProto], node: str, instruction: str
) -> None:
    made = make()
    onnx.save(made, tmp_path / "model.onnx")
    source = Source("model.onnx", lambda: load_module(tmp_path / "model.onnx"))
    page = explore([source], ["x86-64-v3"], measured=False)
    found = in_chromium(page, f"const NAME = {json.dumps(node)};" + _CLICKS, tmp_path)
    assert found["nodes"] >= len(made.graph.node)
    assert found["node"].endswith(node.rpartition("/")[2])
    (kernel,) = found["kernels"]
    assert found["stages"][:2] == ["schedule", "loops"] and found["stages"][2].startswith("code")
    assert found["schedule"] and found["loops"]
    assert any(re.search(instruction, line) for line in found["code"]), (kernel, found["code"])
    assert any(node.endswith(link) for link in found["links"])
    assert found["back"] == found["node"]

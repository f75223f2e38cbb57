"""The page: what is in its text, what Chromium makes of it, and what its kernels compute."""

import base64
import hashlib
import json
import re
import subprocess
import zlib
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx
import pytest
from nnc.driver.compile import load_module
from nnc.explorer.compilation import compile_traced
from nnc.explorer.explore import Source, explore
from nnc.explorer.trials import trial_of
from nnc.tools.nnc import main
from onnx import TensorProto, helper

from ..conftest import skip_unless_ci
from ..targets.emulated import require_emulator

MODEL = """
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %a = nn.matmul %x, %y : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %b = nn.relu %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}
"""
HOSTILE = (
    "</script><script>globalThis.hacked = 1</script>",
    '"><img src=x onerror="globalThis.hacked = 1">',
    "${globalThis.hacked = 1}{{7 * 7}}",
    "\u202eevil\u2028名前 🚀",
    "scope/" * 300 + "deep",
    "x" * 100_000,
    "<!--",
    "]]>",
    "__proto__",
    "constructor",
)


def page_of(text: str, targets: Sequence[str], folder: Path, measured: bool = False) -> str:
    (folder / "model.mlir").write_text(text)
    source = Source("model", lambda: load_module(folder / "model.mlir"))
    return explore([source], targets, measured=measured)


def hostile_model() -> onnx.ModelProto:
    """A chain of nodes whose names are not meant well."""
    nodes, value = [], "<b>in</b>"
    for i, name in enumerate(HOSTILE):
        kind = ("Relu", "Exp", "Neg")[i % 3]
        nodes.append(helper.make_node(kind, [value], [f"{i}{name[:40]}"], name=name))
        value = f"{i}{name[:40]}"
    given, made = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8])
        for name in ("<b>in</b>", value)
    )
    graph = helper.make_graph(nodes, "</title>", [given], [made])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


class Elements(HTMLParser):
    """The elements of a page, the text of its scripts, its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if not self.tags:
            return
        tag, attributes = self.tags[-1]
        key = attributes.get("id") or tag
        self.texts[key] = self.texts.get(key, "") + data

    def table(self) -> dict:
        return json.loads(zlib.decompress(base64.b64decode(self.texts["table"]), -15))

    def chunk(self, number: int) -> dict:
        packed = base64.b64decode(self.texts[f"chunk-{number}"])
        return json.loads(zlib.decompress(packed, -15))


def test_hostile_names_stay_data(tmp_path: Path) -> None:
    name = "</title><script>1<.onnx".replace("/", "")
    onnx.save(hostile_model(), tmp_path / name)
    output = tmp_path / "page.html"
    assert (
        main(
            [
                "explore",
                str(tmp_path / name),
                "-q",
                "--no-measure",
                "-o",
                str(output),
                "--target",
                "x86-64",
            ]
        )
        == 0
    )
    found = Elements(output.read_text())
    tags = [tag for tag, _ in found.tags]
    assert {*tags} == {
        "html",
        "head",
        "meta",
        "link",
        "title",
        "style",
        "body",
        "noscript",
        "p",
        "div",
        "script",
    }
    scripts = [attributes.get("type") for tag, attributes in found.tags if tag == "script"]
    assert scripts == ["text/plain", "module", "text/plain"]
    nodes = [row[0] for row in found.table()["models"][0]["nodes"]]
    for wanted in ("</script><script>globalThis.hacked = 1<", "]]>", "__proto__", "constructor"):
        assert any(wanted.partition("/")[0] in one for one in nodes), wanted
    assert max(map(len, nodes)) < 3000 and not any("\u202e" in one for one in nodes)


def test_the_policy_allows_nothing_but_the_pages_own_script(tmp_path: Path) -> None:
    text = page_of(MODEL, ["x86-64"], tmp_path)
    found = Elements(text)
    (script,) = re.findall(r'<script type="module" async>(.*?)</script>', text, re.S)
    policy = next(
        a["content"]
        for tag, a in found.tags
        if tag == "meta" and "content" in a and "http-equiv" in a
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{digest}' 'wasm-unsafe-eval';" in policy
    assert policy.startswith("default-src 'none';") and "http" not in policy
    assert "import " not in "".join(line[:7] for line in script.splitlines(True))


def test_the_table_has_what_why_says(tmp_path: Path) -> None:
    from nnc.driver.explaining.explain import explain

    table = Elements(page_of(MODEL, ["x86-64-v3", "wasm32-simd"], tmp_path)).table()
    assert [one["target"] for one in table["compilations"]] == ["x86-64-v3", "wasm32-simd"]
    for one in table["compilations"]:
        (kernel,) = one["kernels"]
        (wanted,) = explain(
            "model", load_module(tmp_path / "model.mlir"), target=one["target"]
        ).kernels
        assert kernel["kernel"] == wanted.kernel and kernel["microseconds"] == wanted.microseconds
        assert [c["taken"] for c in kernel["choices"]] == [c.taken for c in wanted.choices]
        assert kernel["operations"] == 2 * 8 * 16 * 8 + 8 * 8
        assert kernel["bytes"] == 4 * (8 * 16 + 16 * 8 + 8 * 8)


@pytest.mark.parametrize("target", ["c-cortex-a76", "opencl-cpu", "webgpu", "hls-u50"])
def test_targets_of_other_kinds(tmp_path: Path, target: str) -> None:
    """Each has its own stages and its own text of code."""
    found = Elements(page_of(MODEL, [target], tmp_path))
    (one,) = found.table()["compilations"]
    texts = found.chunk(one["parts"][0]["text"])
    (kernel,) = one["kernels"]
    for stage in (texts["stages"][-2], texts["code"]):
        mine = [name for name in stage["functions"] if name.startswith(kernel["kernel"])]
        lines = stage["text"].split("\n")
        assert mine and all(name in lines[stage["functions"][name][0]] for name in mine)
    if target in ("opencl-cpu", "webgpu"):
        assert f"{kernel['kernel']}_0" in texts["code"]["functions"]


# -- on the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.onnx", "-o", "page.html"], "no such file"),
        (["broken.onnx", "-o", "page.html"], "broken.onnx"),
        (["model.mlir", "-o", "none/page.html"], "there is no folder"),
        (["model.mlir", "-o", "folder"], "folder"),
        (["model.mlir", "-o", "page.html", "--target", "x86-65"], "no target is named 'x86-65'"),
        (["model.mlir", "other.mlir", "-o", "page.html", "--target", "x86-64,wasm32"], "are 4 compilations"),
        (["model.mlir", "broken.onnx", "-o", "page.html", "--no-measure"], "broken.onnx"),
        (["lowered.mlir", "-o", "page.html", "--target", "x86-64"], "foo.bar"),
    ],
)  # fmt: skip
def test_bad_input_is_one_error(tmp_path: Path, monkeypatch, capsys, arguments, message) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("model.mlir", "other.mlir"):
        (tmp_path / name).write_text(MODEL)
    (tmp_path / "lowered.mlir").write_text(
        MODEL.replace("nn.relu", '"foo.bar"').replace("%a :", "(%a) :")
    )
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x09no model")
    (tmp_path / "folder").mkdir()
    (tmp_path / "page.html").write_text("what was there")
    assert main(["explore", *arguments, "-q"]) == 1
    errors = capsys.readouterr().err
    assert message in errors and errors.count("error:") == 1 and "Traceback" not in errors
    assert (tmp_path / "page.html").read_text() == "what was there"


def test_without_a_linker_the_page_says_that_it_times_nothing(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr("nnc.targets.wasm.linker.find_spec", lambda name: None)
    (tmp_path / "model.mlir").write_text(MODEL)
    command = [
        "explore",
        str(tmp_path / "model.mlir"),
        "-q",
        "-o",
        str(tmp_path / "p.html"),
        "--target",
        "x86-64",
    ]
    assert main(command) == 0
    assert (
        "the page will not time kernels: a module of WebAssembly needs a linker"
        in capsys.readouterr().err
    )
    table = Elements((tmp_path / "p.html").read_text()).table()
    assert len(table["compilations"]) == 1 and "nnc[cross]" in table["notes"][0]


# -- in engines ------------------------------------------------------------------------------------


@pytest.mark.emulated
def test_kernels_of_the_page_compute_what_the_model_does(tmp_path: Path) -> None:
    """Called alone, with the addresses of their buffers."""
    require_emulator("wasm32-simd")
    (tmp_path / "model.mlir").write_text(MODEL)
    made = compile_traced("model", load_module(tmp_path / "model.mlir"), target="wasm32-simd")
    (part,) = made.parts
    trial = trial_of(part)
    assert trial is not None
    (name,) = trial.pools
    arguments = part.kernels[name].arguments
    assert arguments is not None and [a.bytes for a in arguments] == [512, 512, 256]
    (tmp_path / "kernel.wasm").write_bytes(trial.made.code)
    x, y = (np.arange(128, dtype=np.float32).reshape(s) % 7 - 3 for s in ((8, 16), (16, 8)))
    script = f"""
        const memory = new WebAssembly.Memory({{ initial: 1024, maximum: 65536 }});
        const env = {{ memory, sleeps: () => 0, spawn: () => 1 }};
        const bytes = require("fs").readFileSync({json.dumps(str(tmp_path / "kernel.wasm"))});
        const code = new WebAssembly.Instance(new WebAssembly.Module(bytes), {{ env }}).exports;
        const [x, y, z] = [512, 512, 256].map((size) => code.nnc_allocate(size));
        new Float32Array(memory.buffer, x, 128).set({x.ravel().tolist()});
        new Float32Array(memory.buffer, y, 128).set({y.ravel().tolist()});
        code[{json.dumps(name)}](x, y, z{", 0" if trial.pools[name] else ""});
        console.log(JSON.stringify([...new Float32Array(memory.buffer, z, 64)]));"""
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    found = np.reshape(json.loads(done.stdout), (8, 8))
    np.testing.assert_allclose(found, np.maximum(x @ y, 0), rtol=1e-6)


_SCRIPT = """
const say = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
const until = async (what) => { for (let i = 0; i < 1500; i++) { const found = what(); if (found) return found; await new Promise((r) => setTimeout(r, 20)); } throw new Error("waited for " + what); };
const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const all = (selector) => [...document.querySelectorAll(selector)];
try {
  await until(() => globalThis.explorer);
  %s
} catch (error) { await say({ failure: String(error.stack) }); }
"""


def in_chromium(page: str, script: str, folder: Path) -> dict:
    """What a script in the page says, which its policy then allows, and an address to say it to."""
    from bench.browser import find_chromium, serving, showing
    from bench.explore import with_script

    if find_chromium() is None:
        skip_unless_ci("Chromium is not installed")
    page = with_script(page, _SCRIPT % script)
    (folder / "site").mkdir()
    (folder / "site" / "page.html").write_text(page)
    with (
        serving({"site": folder / "site"}, {}) as server,
        showing(f"{server.address}/site/page.html"),
    ):
        found = server.posted(300)
    assert "failure" not in found, found["failure"]
    assert not server.missed, "the page asked for something"
    return found


@pytest.mark.emulated
def test_from_a_node_to_its_instructions_and_back(tmp_path: Path) -> None:
    """Two clicks: a node, a tab. A line of code leads back to the node; a kernel is timed."""
    require_emulator("wasm32-simd")
    page = page_of(MODEL, ["x86-64-v4"], tmp_path, measured=True)
    found = in_chromium(page, """
      const row = (text) => all(".tree .row").find((one) => one.textContent.includes(text));
      await until(() => row("matmul"));
      explorer.show("kernels");
      const columns = await until(() => all(".kernels th").length && all(".kernels th").map((one) => one.textContent));
      explorer.show("graph");
      row("matmul").click();
      (await until(() => document.querySelector("#tab-code"))).click();
      const linked = await until(() => { const rows = all(".column:last-child .row.linked"); return rows.length && rows.map((one) => one.textContent); });
      row("relu").click();
      const relu = await until(() => { const rows = all(".column:last-child .row.linked"); return rows.some((one) => /max/.test(one.textContent)) && rows; });
      relu.find((one) => /v?maxps/.test(one.textContent)).click();
      const back = await until(() => { const links = all(".origin .link"); return links.length && links.map((one) => one.textContent); });
      document.querySelector("#tab-measure").click();
      (await until(() => document.querySelector(".measuring .primary"))).click();
      await until(() => explorer.times.size && !explorer.busy);
      const times = [...explorer.times.values()];
      // By keyboard: up an edge of the graph, from the node that is chosen, and the details close.
      const canvas = document.querySelector("canvas[role=application]");
      canvas.focus(); key(canvas, "ArrowUp"); key(canvas, "Enter");
      const chosen = await until(() => document.querySelector(".details h2")?.textContent);
      key(document.body, "Escape");
      const closed = !document.querySelector(".frame.has-details");
      const input = document.querySelector("input[type=search]");
      input.value = "vmaxps"; input.dispatchEvent(new Event("input"));
      const hits = await until(() => all(".tree code").length && all(".tree code").map((one) => one.textContent));
      explorer.compare(explorer.table.compilations[1]); explorer.show("compare");
      const badge = await until(() => document.querySelector(".compare .badge")?.textContent.replace("…", ""));
      await say({ columns, linked, back, times, chosen, closed, hits, badge, limits: explorer.limits.get("wasm") });
    """, tmp_path)  # fmt: skip
    assert any("vfmadd" in line for line in found["linked"])
    assert not any("vmaxps" in line for line in found["linked"])
    assert found["back"] == ["nn.relu"]
    assert "Nodes" in found["columns"] and "Measured here" not in found["columns"]  # no browser's
    (time,) = found["times"]
    assert 0 < time["low"] <= time["median"] <= time["high"]
    assert found["limits"]["gflops"] > 0 and len(found["limits"]["levels"]) == 4
    assert "matmul" in found["chosen"] and found["closed"]
    assert found["hits"] and all("vmaxps" in hit for hit in found["hits"])
    assert found["badge"] == "schedule differs"


@pytest.mark.emulated
def test_hostile_names_do_nothing_in_chromium(tmp_path: Path) -> None:
    onnx.save(hostile_model(), tmp_path / "model.onnx")
    source = Source(
        "<img src=x onerror='globalThis.hacked=1'>", lambda: load_module(tmp_path / "model.onnx")
    )
    page = explore([source], ["x86-64"], measured=False)
    found = in_chromium(page, """
      const shown = [];
      for (const node of explorer.compilation.graph.nodes) {
        explorer.openNode(node.id);
        for (const tab of ["why", "stages", "measure"]) await explorer.details.choose(tab);
        shown.push(document.querySelector(".details h2").textContent);
      }
      for (const view of ["kernels", "roofline", "compare", "graph"]) explorer.show(view);
      await say({ shown, hacked: globalThis.hacked ?? null, images: document.images.length, title: document.querySelector("h1").textContent });
    """, tmp_path)  # fmt: skip
    assert found["hacked"] is None and found["images"] == 0
    assert found["title"] == source.name
    assert len(found["shown"]) == len(HOSTILE) + 2
    assert any("globalThis.hacked = 1" in one for one in found["shown"])

"""Modules of WebAssembly in a page of a browser."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.targets.base import target
from nnc.targets.llvm.ir import llvm_ir

from ..conftest import skip_unless_ci
from ..models.test_small_models import inputs_of, wide_cnn
from .emulated import require_emulator
from .test_wasm import compiled

_SCRIPT = """
const warnings = [];
console.warn = (...values) => warnings.push(values.join(" "));
const post = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
try {
  const { load } = await import("/model/model.mjs");
  const states = [];
  const model = await load(undefined, { threads: 2, progress: (one) => states.push(one) });
  const x = new Float32Array(await (await fetch("/model/x.bin")).arrayBuffer());
  let data;
  for (let i = 0; i < 5; i++) [{ data }] = Object.values(await model.run({ [model.inputs[0].name]: x }));
  await post({ threads: model.threads, data: [...data], warnings, last: states.at(-1) });
} catch (error) {
  await post({ failure: String(error.stack) });
}
"""


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("isolated", "element"),
    [
        (True, '<script type="module" src="script.mjs">'),
        (False, '<script type="module" src="script.mjs">'),
        (True, '<script>new Worker("script.mjs", { type: "module" })'),
    ],
    ids=["isolated", "alone", "worker"],
)
def test_a_page(tmp_path: Path, isolated: bool, element: str):
    """Two threads where the page has shared memory; elsewhere one, and it says why."""
    from bench.browser import ISOLATED, find_chromium, serving, showing

    require_emulator("wasm32-simd")
    if find_chromium() is None:
        skip_unless_ci("Chromium is not installed")
    model = wide_cnn()
    path = compiled(tmp_path, model)
    (values,) = inputs_of(model).values()
    (tmp_path / "x.bin").write_bytes(values.tobytes())
    (tmp_path / "script.mjs").write_text(_SCRIPT)
    (tmp_path / "page.html").write_text(f"<!doctype html>{element}</script>")
    headers = ISOLATED if isolated else {}
    with (
        serving({"model": tmp_path}, headers) as server,
        showing(f"{server.address}/model/page.html"),
    ):
        found = server.posted(120)
    assert "failure" not in found, found["failure"]
    import nnc

    want = np.asarray(nnc.compile(model)(values))
    np.testing.assert_allclose(np.reshape(found["data"], want.shape), want, rtol=1e-4, atol=1e-5)
    assert found["threads"] == (2 if isolated else 1)
    size = path.with_suffix(".wasm").stat().st_size
    assert found["last"] == {"loaded": size, "total": size}
    if isolated:
        assert not found["warnings"]
    else:
        (said,) = found["warnings"]
        assert said.startswith("model.wasm: 1 thread instead of 2: the page has no shared memory")


_PICTURE = """<script type="module">
const post = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
try {
  while (!globalThis.classify) await new Promise((resolve) => setTimeout(resolve, 20));
  const found = [];
  for (const color of ["#ff0000", "#00ff00", "#0000ff"]) {
    const canvas = new OffscreenCanvas(50, 40), context = canvas.getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, 50, 40);
    found.push(await classify(await canvas.convertToBlob()));
  }
  const at = (id) => document.getElementById(id);
  const state = at("state").textContent;
  const dataTransfer = { files: [new File(["text"], "notes.txt")] };
  document.ondrop({ preventDefault() {}, dataTransfer });
  while (at("state").textContent === state) await new Promise((resolve) => setTimeout(resolve, 20));
  const fault = at("state").textContent;
  const shown = [!!at("drop").querySelector("img"), at("results").children.length];
  await post({ found, state, fault, shown, progress: at("progress").value, asks: !!at("file") });
} catch (error) {
  await post({ failure: String(error.stack) });
}
</script>"""


def most_of_a_color():
    """A classifier that tells red, green and blue pictures: it takes means."""
    from ..models.small_models import GraphMaker

    g = GraphMaker(0)
    means = g.op("Flatten", g.op("GlobalAveragePool", "x"))
    return g.model({"x": (1, 3, 24, 32)}, g.op("Softmax", g.op("Mul", means, means), axis=-1))


@pytest.mark.emulated
def test_the_demo(tmp_path: Path):
    """The page of examples/web with a model of its own: pictures in, labels out."""
    import sys

    import onnx

    from bench.browser import find_chromium, serving, showing

    require_emulator("wasm32-simd")
    if find_chromium() is None:
        skip_unless_ci("Chromium is not installed")
    onnx.save(most_of_a_color(), tmp_path / "model.onnx")
    about = {"title": "Colors", "text": "", "labels": ["red", "green", "blue"], "shares": True}
    about |= {"mean": [0, 0, 0], "scale": [1, 1, 1], "fit": "stretch"}
    (tmp_path / "about.json").write_text(json.dumps(about))
    script = Path(__file__).parents[2] / "examples" / "web" / "build.py"
    command = [sys.executable, str(script), "model.onnx", "--about", "about.json", "-o", "site"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    index = tmp_path / "site" / "index.html"
    index.write_text(index.read_text() + _PICTURE)
    with (
        serving({"site": tmp_path / "site"}) as server,
        showing(f"{server.address}/site/index.html"),
    ):
        found = server.posted(120)
    assert "failure" not in found, found["failure"]
    assert [best[0][1] for best in found["found"]] == ["red", "green", "blue"]
    want = np.exp(1) / (np.exp(1) + 2)
    np.testing.assert_allclose([best[0][0] for best in found["found"]], want, rtol=1e-5)
    assert found["progress"] == 1 and "ms on" in found["state"]
    assert found["fault"] == "notes.txt is not a picture that this browser reads"
    assert found["shown"] == [False, 0], "the picture before, or what was found in it, stays"
    assert found["asks"]  # still: for another file
    assert not server.missed


def test_loads_take_offsets(tmp_path: Path):
    """In a product's loop, rows and columns lie at an offset that the load itself adds."""
    path = tmp_path / "product.mlir"
    path.write_text("""
        func.func @main(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
          %w = nn.constant dense<1.0> : tensor<64x64xf32>
          %y = nn.matmul %x, %w : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
          return %y : tensor<32x64xf32>
        }""")
    module = load_module(path)
    run_stages(module, target="wasm32-simd")
    text = target("wasm32-simd").assembly_of(llvm_ir(module))
    loops = re.findall(r"\tloop((?:(?!\tloop).)*?)\tend_loop", text, re.S)
    inner = next(loop for loop in loops if loop.count("f32x4.mul") >= 4)
    loads = re.findall(r"\tv128\.load(?:32_splat)?\t(\d+)", inner)
    assert len(set(loads)) >= 4, inner
    assert inner.count("i32.add") <= 3, inner

"""The page as a server sends it, where schedules are tried, and kernels on a GPU."""

import base64
import json
import re
import zlib
from pathlib import Path

import pytest
from nnc.driver.compile import load_module
from nnc.explorer.explore import Source, explore
from nnc.explorer.served import served_page
from nnc.ir.diagnostics import NncError
from nnc.tools.nnc import main

from ..conftest import skip_unless_ci
from ..targets.emulated import require_emulator

MODEL = """
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %a = nn.matmul %x, %y : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %b = nn.relu %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}
"""
KERNEL = "matmul_relu_0"
ADDRESS = "/api/v1/models/abc"


def page_of(folder: Path, target: str = "x86-64", measured: bool = False) -> str:
    (folder / "model.mlir").write_text(MODEL)
    source = Source("model.mlir", lambda: load_module(folder / "model.mlir"))
    return explore([source], [target], measured=measured)


def in_chromium(page: str, script: str, folder: Path, answers=None, flags=()) -> dict:
    """What a script in the page says, whose server answers so."""
    from bench.browser import find_chromium, serving, showing
    from bench.explore import with_script

    if find_chromium() is None:
        skip_unless_ci("Chromium is not installed")
    (folder / "site").mkdir()
    (folder / "site" / "page.html").write_text(with_script(page, _SCRIPT % script))
    with (
        serving({"site": folder / "site"}, {}, answers) as server,
        showing(f"{server.address}/site/page.html", *flags),
    ):
        found = server.posted(300)
    assert "failure" not in found, found["failure"]
    assert not server.missed
    return found


_SCRIPT = """
const say = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
const until = async (what) => { for (let i = 0; i < 2000; i++) { const found = what(); if (found) return found; await new Promise((r) => setTimeout(r, 20)); } throw new Error("waited for " + what); };
const text = (selector) => document.querySelector(selector)?.textContent ?? "";
try {
  await until(() => globalThis.explorer);
  %s
} catch (error) { await say({ failure: String(error.stack) }); }
"""


# -- what a server sends ---------------------------------------------------------------------------


def test_a_server_sends_the_pages_data_and_nothing_else_of_it(tmp_path: Path) -> None:
    """What has read a model may have been taken over: no markup that it wrote is sent."""
    page = page_of(tmp_path)
    hostile = page.replace("</body>", "<script>hacked()</script></body>")
    hostile = hostile.replace("<title>", "<title>hacked").replace("style-src ", "style-src hacked ")
    found = served_page(hostile, ADDRESS, "<b>my model</b>")
    assert "hacked" not in found.text
    assert "<title>&lt;b&gt;my model&lt;/b&gt;: nnc explore</title>" in found.text
    texts = re.compile(r'<script type="text/plain" id="(.*?)">(.*?)</script>')
    assert texts.findall(found.text) == texts.findall(page)
    assert f'<meta name="nnc-server" content="{ADDRESS}">' in found.text


def test_only_a_served_page_may_connect_and_to_its_server_alone(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert "connect-src" not in page.partition("</head>")[0]
    assert '<meta name="nnc-server"' not in page.partition("</head>")[0]
    found = served_page(page, ADDRESS, "model")
    assert "connect-src 'self'; " in found.policy and found.policy in found.text
    assert found.policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in found.policy and "http" not in found.policy


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r'content="nnc [^"]*"', 'content="nnc 0.0.1"', "is of nnc 0.0.1"),
        (r'<meta name="generator"[^>]*>', "", "is damaged"),
        ('id="chunk-0"', 'id="chunk-7"', "a part of its data is missing"),
        ('id="table"', 'id="other"', "a part of its data is missing"),
    ],
)
def test_a_page_that_cannot_be_trusted_is_refused(tmp_path: Path, old, new, message) -> None:
    page = re.sub(old, new, page_of(tmp_path), count=1)
    with pytest.raises(NncError, match=message):
        served_page(page, ADDRESS, "model")


def test_an_address_is_a_path(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        served_page(page_of(tmp_path), '"><script>', "model")


# -- in Chromium -----------------------------------------------------------------------------------


@pytest.mark.emulated
def test_a_schedule_is_edited_tried_and_its_fault_shown(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    """By keyboard; what the server answers is what `nnc try` says."""
    asked = []

    def experiment(body, headers):
        assert headers["X-NNC"] == "1"
        asked.append(body)
        if len(asked) == 3:
            return 429, {"error": "your queue is full"}
        return 201, {"id": "j", "state": "queued", "place": 2}

    def job(body, headers):
        (tmp_path / "edited.mlir").write_text(asked[-1]["schedule"])
        options = ["--kernel", asked[-1]["kernel"], "--target", asked[-1]["target"], "--json"]
        options += ["--seconds", "0.1", "--schedule", str(tmp_path / "edited.mlir")]
        capsys.readouterr()
        status = main(["try", str(tmp_path / "model.mlir"), "-q", *options])
        said = capsys.readouterr()
        if status:
            return 200, {"id": "j", "state": "failed", "error": said.err}
        return 200, {"id": "j", "state": "done", "summary": json.loads(said.out)}

    page = served_page(page_of(tmp_path, "host"), ADDRESS, "model").text
    answers = {f"{ADDRESS}/experiments": experiment, "/api/v1/jobs/j": job}
    found = in_chromium(page, """
      explorer.openKernel(explorer.compilation.kernels[0]);
      await explorer.details.choose("edit");
      const area = await until(() => document.querySelector(".edit-text"));
      const first = area.value;
      const put = (value) => { area.value = value; area.dispatchEvent(new Event("input")); };
      const run = () => area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
      const lines = first.split("\\n");
      const at = lines.findIndex((line) => line.includes("schedule.loops"));
      put([...lines.slice(0, at + 1), "  schedule.unroll %none", ...lines.slice(at + 1)].join("\\n"));
      run();
      await until(() => document.querySelector(".edit-lines .at-fault"));
      const fault = { line: text(".edit-lines .at-fault"), state: text(".edit-state"), invalid: area.getAttribute("aria-invalid"), expected: at + 2 };
      document.querySelector(".edit-state .link").click();
      fault.chosen = area.value.slice(area.selectionStart, area.selectionEnd);
      put(first); run();
      await until(() => explorer.editors.drafts.values().next().value.attempts.length === 2);
      run();
      await until(() => explorer.editors.drafts.values().next().value.attempts.length === 3);
      const rows = [...document.querySelectorAll(".editing tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
      await say({ first, fault, rows });
    """, tmp_path, answers)  # fmt: skip
    assert found["first"].startswith(f"schedule.for @{KERNEL} {{\n")
    assert found["fault"]["line"] == str(found["fault"]["expected"])
    assert found["fault"]["invalid"] == "true" and "%none" in found["fault"]["state"]
    assert found["fault"]["chosen"] == "  schedule.unroll %none"
    third, second, first = found["rows"]
    assert third[1] == "failed: your queue is full"
    assert second[1].startswith("right") and all(second[2:])
    assert first[1].startswith(f"not legal: line {found['fault']['expected']}: ")
    assert [one["target"] for one in asked] == ["host"] * 3
    assert asked[1]["schedule"] == found["first"]


@pytest.mark.emulated
def test_a_page_without_a_server_says_the_command(tmp_path: Path) -> None:
    found = in_chromium(page_of(tmp_path), """
      explorer.openKernel(explorer.compilation.kernels[0]);
      await explorer.details.choose("edit");
      await until(() => document.querySelector(".edit-text"));
      await say({ command: text(".command"), buttons: [...document.querySelectorAll(".editing button")].map((one) => one.textContent) });
    """, tmp_path)  # fmt: skip
    assert found["command"] == (
        f"nnc try model.mlir --schedule edited.mlir --kernel {KERNEL} --target x86-64"
    )
    assert found["buttons"][0] == "Save as edited.mlir"


@pytest.mark.emulated
def test_kernels_are_timed_on_a_gpu(tmp_path: Path) -> None:
    """By the driver for processors that Chromium has."""
    from bench.browser import GPU_FLAGS

    require_emulator("wasm32-simd")
    page = page_of(tmp_path, measured=True)
    found = in_chromium(page, """
      const gpu = explorer.table.compilations.find((one) => explorer.meter.engineOf(one) === "gpu");
      explorer.openKernel(explorer.compilation.kernels[0]);
      await explorer.details.choose("measure");
      const buttons = [...document.querySelectorAll(".measuring .primary")].map((one) => one.textContent);
      await explorer.measure(gpu.kernels);
      await say({ target: gpu.target, buttons, times: gpu.kernels.map((one) => explorer.times.get(one)), limits: explorer.limitsOf(gpu) });
    """, tmp_path, flags=GPU_FLAGS)  # fmt: skip
    (time,) = found["times"]
    assert 0 < time["low"] <= time["median"] <= time["high"]
    assert found["limits"]["gflops"] > 0 and found["limits"]["launch"] > 0
    assert found["buttons"] == ["▶ Measure on this machine", "▶ Measure on this machine's GPU"]


def test_the_page_has_what_a_gpu_needs(tmp_path: Path) -> None:
    """The text of each launch alone, and functions that launch them."""
    require_emulator("wasm32-simd")
    page = page_of(tmp_path, measured=True)
    texts = dict(re.findall(r'<script type="text/plain" id="(.*?)">(.*?)</script>', page))

    def unpacked(name: str) -> bytes:
        return zlib.decompress(base64.b64decode(texts[name]), -15)

    compilations = json.loads(unpacked("table"))["compilations"]
    assert [one["target"] for one in compilations] == ["x86-64", "wasm32-simd", "webgpu-browser"]
    (part,) = compilations[-1]["parts"]
    device = json.loads(unpacked(f"chunk-{part['device']}"))
    names = [row.split(" ")[0] for row in device["rows"]]
    assert len(names) == len(device["texts"])
    assert all(f"fn {name}(" in text for name, text in zip(names, device["texts"], strict=True))
    code = unpacked(f"chunk-{part['trial']}")
    assert code.startswith(b"\0asm") and KERNEL.encode() in code and b"nnc_device_launch" in code
    assert compilations[1]["parts"][0]["device"] is None

"""The whole way as a person goes it: the real `nnc serve`, real jobs, a real compiler of C."""

import json
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import which

import httpx
import numpy as np
import onnxruntime
import pytest

from ...conftest import skip_unless_ci
from .served import serious, small_network

pytestmark = pytest.mark.service

PATIENCE = 240_000
"""Milliseconds for a job on a machine that does much else."""


@pytest.fixture
def link(tmp_path) -> Iterator[str]:
    """The link that the first start of a service prints."""
    command = [
        sys.executable,
        "-m",
        "nnc.tools.nnc",
        "serve",
        str(tmp_path / "service"),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            lines = (
                re.search(r"(http\S+)/sign-in#\S+", line)
                for line in iter(server.stdout.readline, "")
            )
            found = next(filter(None, lines))
            wait_until_ready(found[1])
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def wait_until_ready(url: str) -> None:
    for _ in range(600):
        with suppress(httpx.TransportError):
            httpx.get(f"{url}/healthz")
            return
        time.sleep(0.2)
    raise AssertionError("the service does not begin to answer")


def test_from_a_model_to_a_program_that_uses_it(link, chromium, tmp_path) -> None:
    """Upload, look, choose, watch, compare, download, build the example, equal numbers."""
    if which("cc") is None:
        skip_unless_ci("there is no compiler of C")
    model = small_network(tmp_path / "net.onnx")
    values = np.arange(3 * 8 * 8) % 10 / 10  # those that the example makes up
    images = values.astype(np.float32).reshape(1, 3, 8, 8)
    np.savez(tmp_path / "mine.npz", x=images)
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()

    page.goto(link)
    page.get_by_text("No models yet").wait_for()
    page.set_input_files(".zone input[type=file]", model)
    page.get_by_text("Ready", exact=True).wait_for(timeout=PATIENCE)
    page.get_by_role("link", name="net.onnx").click()
    page.get_by_role("heading", name="What is in it").wait_for()
    assert "f32[1, 3, 8, 8]" in page.inner_text("main")
    page.get_by_role("button", name="Show it here").click()
    page.frame_locator("iframe").get_by_role("button", name="Kernels").wait_for()
    page.get_by_role("button", name="Close it").click()

    page.get_by_role("group", name="Compare with").wait_for()
    assert page.get_by_label("ONNX Runtime").count() and not page.get_by_label("XGBoost").count()
    assert re.search(r", \d+ cores? \(", page.inner_text("main"))  # this machine
    for engine in page.locator("input[name=engines]:enabled").all():
        engine.set_checked(engine.get_attribute("value") in ("nnc", "onnxruntime"))
    page.get_by_role("group", name="Search").get_by_label("None").check()
    page.get_by_label("My own").check()
    page.get_by_label("File of inputs").set_input_files(tmp_path / "mine.npz")
    page.get_by_text("is uploaded and will be used").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="Start").click()
    page.get_by_text("1 of 1 package finished").wait_for(timeout=PATIENCE)
    page.get_by_role("heading", name="Recommendation").wait_for()
    assert serious(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    # The picture is drawn anew for another width, a frame later.
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    shown = page.get_by_role("region", name="All figures").locator("tbody tr").all_inner_texts()
    label = page.locator(".chart svg").get_attribute("aria-label")
    command = page.locator(".command code").first.inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the package").click()
    folder = tmp_path / "package"
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(folder)
    context.close()

    (root,) = {path.parent for path in folder.rglob("report.json")}
    report = json.loads((root / "report.json").read_text())
    rows = {row["name"]: row for row in report["engines"]}
    assert set(rows) == {"nnc", "onnxruntime"}
    for row in rows.values():
        assert row["failed"] is None
        assert any(row["title"] in line for line in shown)
        assert f"{row['median_ms']:.3g}".rstrip("0") in label
    assert command in [row["command"] for row in rows.values()]
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": images})
    with np.load(root / "inputs.npz") as given, np.load(root / "outputs.npz") as made:
        np.testing.assert_array_equal(given["x"], images)
        outputs = made["y"]
    np.testing.assert_allclose(outputs, expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose([printed(root / "library" / "c")], outputs, rtol=1e-4, atol=1e-5)


def printed(folder: Path) -> list[float]:
    """What the example of a package says, built and run as its README says."""
    commands = re.search(r"```sh\n(.*?)\n```", (folder / "README.md").read_text(), re.DOTALL)
    assert commands is not None
    build, run = commands[1].split("\n")
    subprocess.run(build, shell=True, cwd=folder, check=True, capture_output=True)
    said = subprocess.run(run, shell=True, cwd=folder, check=True, capture_output=True, text=True)
    return [float(value) for value in said.stdout.split("]:")[1].split()]

"""What a page of `nnc explore` is and does: its size, how long it takes to open, its times.

    python -m bench.explore resnet50.onnx [--shape x=1,3,224,224]

Makes the page, opens it in headless Chromium, and times all kernels there.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
import tempfile
import time
from pathlib import Path

from nnc.tools.nnc import main as nnc

from .browser import find_chromium, serving, showing

_SCRIPT = """
const say = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
try {
  while (!globalThis.explorer) await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const opened = performance.now();
  const timeable = ({ kernels }) => kernels.filter((one) => !explorer.meter.obstacle(one));
  const one = explorer.table.compilations.find((each) => timeable(each).length);
  const kernels = timeable(one);
  await explorer.measure(kernels);
  const rows = kernels.map((kernel) => [kernel.kernel, kernel.calls, explorer.times.get(kernel)]);
  await say({ opened, target: one.target, all: one.kernels.length, rows, limits: explorer.limits });
} catch (error) { await say({ failure: String(error.stack) }); }
"""


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; 1 where Chromium is missing or the page fails."""
    parser = argparse.ArgumentParser(description="What a page of `nnc explore` is and does.")
    parser.add_argument("model")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--minutes", type=float, default=20.0, help="to wait for the times")
    args = parser.parse_args(arguments)
    if find_chromium() is None:
        print("Chromium is not installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "page.html"
        shapes = [word for shape in args.shape for word in ("--shape", shape)]
        started = time.perf_counter()
        if nnc(["explore", args.model, "-o", str(page), "-q", *shapes]):
            return 1
        print(f"made in {time.perf_counter() - started:.1f} s, {page.stat().st_size / 1e6:.2f} MB")
        page.write_text(with_script(page.read_text(encoding="utf-8"), _SCRIPT), encoding="utf-8")
        with (
            serving({"site": Path(name)}, {}) as server,
            showing(f"{server.address}/site/page.html"),
        ):
            found = server.posted(60 * args.minutes)
    if "failure" in found:
        print(found["failure"], file=sys.stderr)
        return 1
    _tell(found)
    return 0


def with_script(page: str, script: str) -> str:
    """The page with a script that its policy allows, and an address to say what it finds to."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    page = page.replace("img-src data:", "img-src data:; connect-src 'self'", 1)
    return page.replace("</body>", f'<script type="module">{script}</script></body>')


def _tell(found: dict) -> None:
    print(f"opened after {found['opened']:.0f} ms")
    rows = [(name, calls, one) for name, calls, one in found["rows"] if "median" in one]
    for name, calls, one in sorted(rows, key=lambda row: -row[1] * row[2]["median"]):
        spread = f"{one['low']:.1f} to {one['high']:.1f}"
        print(
            f"{calls * one['median']:12.1f} us  {calls:3} x {one['median']:.1f} ({spread})  {name}"
        )
    total = sum(calls * one["median"] for _, calls, one in rows) / 1000
    print(
        f"{total:.2f} ms for {len(rows)} of {found['all']} kernels of {found['target']}, 1 thread"
    )


if __name__ == "__main__":
    sys.exit(main())

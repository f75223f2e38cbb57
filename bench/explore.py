"""What a page of `nnc explore` is and does: its size, how long it takes to open, its times.

    python -m bench.explore resnet50.onnx [--shape x=1,3,224,224]
    python -m bench.explore resnet50.onnx --beside
    python -m bench.explore mobilenet_v2.onnx --gpu

Makes the page, opens it in headless Chromium, and times all kernels there. With `--beside` the
whole model runs in the same browser too, before and after, with a clock around each of its kernels:
the table then has what a kernel takes in the page and in the run, and marks those that are more
than 20 % apart. Where the two runs of the model are further apart than that, the machine is
disturbed, and the table says nothing. With `--gpu` the kernels' WGSL is timed, by Chromium's WebGPU
for processors; `--adapter default` takes the machine's GPU.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nnc.explorer.trials import ENGINE, GPU_ENGINE
from nnc.tools.nnc import main as nnc

from .browser import GPU_FLAGS, find_chromium, serving, showing
from .web.in_run import WholeModel

_SCRIPT = """
const say = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
try {
  while (!globalThis.explorer) await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const opened = performance.now();
  const timeable = ({ kernels }) => kernels.filter((one) => !explorer.meter.obstacle(one));
  const { compilations, notes } = explorer.table;
  const one = compilations.find((each) => each.target === ENGINE && timeable(each).length);
  if (!one) throw new Error(`nothing can be timed for ${ENGINE}: ${notes.join("; ")}`);
  const kernels = timeable(one);
  await explorer.measure(kernels);
  const rows = kernels.map((each) => [each.kernel, each.calls, explorer.times.get(each)]);
  const limits = explorer.limitsOf(one);
  await say({ opened, target: one.target, all: one.kernels.length, rows, limits });
} catch (error) { await say({ failure: String(error.stack) }); }
"""
APART = 0.2
"""From which part on two times of a kernel differ."""


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; 1 where Chromium is missing or the page fails."""
    parser = argparse.ArgumentParser(description="What a page of `nnc explore` is and does.")
    parser.add_argument("model")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--minutes", type=float, default=20.0, help="to wait for the times")
    parser.add_argument("--beside", action="store_true", help="kernels in a run of the model, too")
    parser.add_argument("--seconds", type=float, default=10.0, help="of runs, with --beside")
    parser.add_argument("--gpu", action="store_true", help="time the WGSL of kernels")
    parser.add_argument("--adapter", choices=["swiftshader", "default"], default="swiftshader")
    args = parser.parse_args(arguments)
    if find_chromium() is None:
        print("Chromium is not installed", file=sys.stderr)
        return 1
    if args.beside and args.gpu:
        parser.error("--beside is for WebAssembly")
    with tempfile.TemporaryDirectory() as name:
        try:
            return _measure(args, Path(name))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1


def _measure(args: argparse.Namespace, folder: Path) -> int:
    page = folder / "site" / "page.html"
    page.parent.mkdir()
    shapes = [word for shape in args.shape for word in ("--shape", shape)]
    gpu = [] if args.gpu else ["--no-gpu"]
    started = time.perf_counter()
    if nnc(["explore", args.model, "-o", str(page), "-q", *shapes, *gpu]):
        return 1
    print(f"made in {time.perf_counter() - started:.1f} s, {page.stat().st_size / 1e6:.2f} MB")
    whole = None
    if args.beside:
        given = {n: [int(d) for d in s.split(",")] for n, _, s in map(_parted, args.shape)}
        whole = WholeModel(args.model, given, ENGINE, folder / "whole", args.seconds)
    before = whole.times() if whole is not None else {}
    found = _in_page(page, args)
    after = whole.times() if whole is not None else {}
    _tell(found)
    for line in beside(found["rows"], before, after) if whole is not None else ():
        print(line)
    return 0


def _parted(shape: str) -> tuple[str, str, str]:
    return shape.rpartition("=")


def _in_page(page: Path, args: argparse.Namespace) -> dict[str, Any]:
    """What the page finds. Raises RuntimeError."""
    engine = GPU_ENGINE if args.gpu else ENGINE
    flags = GPU_FLAGS if args.gpu and args.adapter == "swiftshader" else ()
    script = _SCRIPT.replace("ENGINE", json.dumps(engine))
    page.write_text(with_script(page.read_text(encoding="utf-8"), script), encoding="utf-8")
    with (
        serving({"site": page.parent}) as server,
        showing(f"{server.address}/site/page.html", *flags),
    ):
        found = server.posted(60 * args.minutes)
    if "failure" in found:
        raise RuntimeError(found["failure"])
    return found


def with_script(page: str, script: str) -> str:
    """The page with a script that its policy allows, and an address to say what it finds to."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    if "connect-src" not in page.partition("</head>")[0]:
        page = page.replace("img-src data:", "img-src data:; connect-src 'self'", 1)
    return page.replace("</body>", f'<script type="module">{script}</script></body>')


def _tell(found: dict[str, Any]) -> None:
    print(f"opened after {found['opened']:.0f} ms")
    for name, _, one in found["rows"]:
        if "median" not in one:
            print(f"not timed: {name}: {one['state']}")
    limits = found["limits"]
    read = ", ".join(f"{speed:.1f} GB/s from the {where}" for _, speed, where in limits["levels"])
    print(f"at most {limits['gflops']:.1f} billion operations a second, {read}")
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


def beside(
    rows: Sequence[tuple[str, int, Mapping[str, Any]]],
    before: Mapping[str, float],
    after: Mapping[str, float],
) -> Iterator[str]:
    """A table of what kernels take in the page and in runs of the model before and after.

    The fastest batch of the page and the fastest quarter of the runs, which others disturb least.
    """
    yield ""
    yield f"{'page, us':>12}{'run, us':>12}{'page/run':>10}{'after/before':>14}  kernel"
    sums, apart, disturbed, listed = [0.0, 0.0], 0, 0, []
    for name, calls, one in rows:
        if "low" not in one or name not in before or name not in after:
            continue
        page, run = calls * one["low"], (before[name] + after[name]) / 2
        sums[0] += page
        sums[1] += run
        listed.append((page, run, after[name] / max(before[name], 1e-9), name))
    for page, run, again, name in sorted(listed, key=lambda row: -row[1]):
        ratio = page / max(run, 1e-9)
        is_disturbed = not 1 / (1 + APART) < again < 1 + APART
        is_apart = not 1 / (1 + APART) < ratio < 1 + APART and not is_disturbed
        apart, disturbed = apart + is_apart, disturbed + is_disturbed
        mark = "  <- apart" if is_apart else "  (disturbed)" if is_disturbed else ""
        yield f"{page:12.1f}{run:12.1f}{ratio:10.2f}{again:14.2f}  {name}{mark}"
    yield (
        f"{sums[0]:12.1f}{sums[1]:12.1f}{sums[0] / max(sums[1], 1e-9):10.2f}{'':14}  "
        f"all {len(listed)} kernels; {apart} apart, {disturbed} disturbed"
    )


if __name__ == "__main__":
    sys.exit(main())

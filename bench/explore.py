"""Measures a page of `nnc explore`: its size, the time to open it, and the kernel times it shows.

    python -m bench.explore resnet50.onnx [--shape x=1,3,224,224]
    python -m bench.explore resnet50.onnx --beside
    python -m bench.explore mobilenet_v2.onnx --gpu

Makes the page, opens it in headless Chromium, and times all kernels there. With `--beside` the
whole model runs in the same browser too, with a clock around each of its kernels, in turns with the
page: the table then has each kernel's time in the page and in the run, and marks those that are
more than 20 % apart. If the runs of the model differ as much from each other, the machine is
disturbed, and the difference says nothing. `--file` uses the clock of a page that was opened as a
file, which is 20 times as coarse. With `--gpu` the kernels' WGSL is timed, by Chromium's WebGPU for
processors; `--adapter default` uses the machine's GPU.
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
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from nnc.explorer.trials import ENGINE, GPU_ENGINE
from nnc.tools.nnc import main as nnc

from .browser import GPU_FLAGS, ISOLATED, find_chromium, serving, showing
from .web.in_run import InRun, WholeModel

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
"""The relative difference from which on two times of a kernel count as different."""
SHORT = 50.0
"""Kernels that take less than this in a run are counted separately, as the clock is coarse. Units:
microseconds.
"""


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; returns 1 if Chromium is missing or the page fails."""
    parser = argparse.ArgumentParser(description="What a page of `nnc explore` is and does.")
    parser.add_argument("model")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--minutes", type=float, default=20.0, help="to wait for the times")
    parser.add_argument("--beside", action="store_true", help="kernels in a run of the model, too")
    parser.add_argument("--seconds", type=float, default=10.0, help="of runs, with --beside")
    parser.add_argument("--turns", type=int, default=3, help="of page and runs, with --beside")
    parser.add_argument("--file", action="store_true", help="with the clock of a page in a file")
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
    text = page.read_text(encoding="utf-8")
    if not args.beside:
        _tell(_in_page(text, page, args))
        return 0
    given = {n: [int(d) for d in s.split(",")] for n, _, s in map(_parted, args.shape)}
    whole = WholeModel(args.model, given, ENGINE, folder / "whole", args.seconds)
    pages, runs = [], [whole.times()]
    for _ in range(args.turns):
        pages.append(_in_page(text, page, args))
        runs.append(whole.times())
    _tell(pages[-1])
    for line in beside([found["rows"] for found in pages], runs):
        print(line)
    return 0


def _parted(shape: str) -> tuple[str, str, str]:
    return shape.rpartition("=")


def _in_page(text: str, page: Path, args: argparse.Namespace) -> dict[str, Any]:
    """The data that a page posts when opened; its text is written to the file `page`. Raises
    RuntimeError.
    """
    engine = GPU_ENGINE if args.gpu else ENGINE
    flags = GPU_FLAGS if args.gpu and args.adapter == "swiftshader" else ()
    script = _SCRIPT.replace("ENGINE", json.dumps(engine))
    page.write_text(with_script(text, script), encoding="utf-8")
    with (
        serving({"site": page.parent}, {} if args.file else ISOLATED) as server,
        showing(f"{server.address}/site/page.html", *flags),
    ):
        found = server.posted(60 * args.minutes)
    if "failure" in found:
        raise RuntimeError(found["failure"])
    return found


def with_script(page: str, script: str) -> str:
    """The page's text with a script added, which its content security policy is
    changed to allow.
    """
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
        spread = f"{one['low']:.1f} to {one['high']:.1f}{', alone' if one.get('alone') else ''}"
        print(
            f"{calls * one['median']:12.1f} us  {calls:3} x {one['median']:.1f} ({spread})  {name}"
        )
    total = sum(calls * one["median"] for _, calls, one in rows) / 1000
    print(
        f"{total:.2f} ms for {len(rows)} of {found['all']} kernels of {found['target']}, 1 thread"
    )


def beside(
    pages: Sequence[Sequence[tuple[str, int, Mapping[str, Any]]]],
    runs: Sequence[Mapping[str, InRun]],
) -> Iterator[str]:
    """The lines of a table of kernel times in pages and in runs of the model, which took turns.

    Both are compared by their fastest blocks, which are disturbed least, and by the medians.
    """
    kernels = [_beside(name, pages, runs) for name, *_ in pages[0]]
    listed = sorted((one for one in kernels if one is not None), key=lambda one: -one.run)
    yield ""
    heads = ("page, us", "run, us", "page/run", "by medians", "runs differ")
    yield "".join(f"{head:>13}" for head in heads) + "  kernel"
    for one in listed:
        mark = "  (disturbed)" if one.is_disturbed else "  <- apart" if one.is_apart else ""
        ratios = "".join(f"{ratio:13.2f}" for ratio in (one.ratio, one.of_medians, one.again))
        yield f"{one.page:13.1f}{one.run:13.1f}{ratios}  {one.name}{mark}"
    page, run = sum(one.page for one in listed), sum(one.run for one in listed)
    medians = [sum(each[i] for each in (one.medians for one in listed)) for i in range(2)]
    yield (
        f"{page:13.1f}{run:13.1f}{page / max(run, 1e-9):13.2f}"
        f"{medians[0] / max(medians[1], 1e-9):13.2f}{'':13}  all {len(listed)} kernels"
    )
    yield _counted([one for one in listed if one.run >= SHORT], f"from {SHORT:.0f} us on")
    yield _counted([one for one in listed if one.run < SHORT], "shorter")


@dataclass(frozen=True)
class _Beside:
    """The times of all calls of a kernel, in microseconds: the fastest in pages and in runs, and
    the medians of both; `again` is how much the fastest blocks of the runs differ.
    """

    name: str
    page: float
    run: float
    medians: tuple[float, float]
    again: float

    @property
    def ratio(self) -> float:
        return self.page / max(self.run, 1e-9)

    @property
    def of_medians(self) -> float:
        return self.medians[0] / max(self.medians[1], 1e-9)

    @property
    def is_disturbed(self) -> bool:
        return _differ(self.ratio) and _differ(self.again)

    @property
    def is_apart(self) -> bool:
        return _differ(self.ratio) and not _differ(self.again)


def _differ(ratio: float) -> bool:
    return not 1 / (1 + APART) < ratio < 1 + APART


def _beside(
    name: str,
    pages: Sequence[Sequence[tuple[str, int, Mapping[str, Any]]]],
    runs: Sequence[Mapping[str, InRun]],
) -> _Beside | None:
    """The times of a kernel; None if it was not timed in all pages and runs."""
    rows = [(calls, one) for rows in pages for other, calls, one in rows if other == name]
    if not all("low" in one for _, one in rows) or not all(name in run for run in runs):
        return None
    lows = [run[name].low for run in runs]
    return _Beside(
        name,
        min(calls * one["low"] for calls, one in rows),
        min(lows),
        (
            median(calls * one["median"] for calls, one in rows),
            median(run[name].median for run in runs),
        ),
        max(lows) / max(min(lows), 1e-9),
    )


def _counted(mine: Sequence[_Beside], which: str) -> str:
    """A line that says how many kernels have times that differ."""
    return (
        f"{len(mine)} kernels {which}: {sum(one.is_apart for one in mine)} apart, "
        f"{sum(one.is_disturbed for one in mine)} disturbed; by medians "
        f"{sum(_differ(one.of_medians) for one in mine)} apart"
    )


if __name__ == "__main__":
    sys.exit(main())

"""nnc's modules for browsers beside onnxruntime-web, in Node and in Chromium, in turns.

    npm install onnxruntime-web
    python -m bench.web resnet18.onnx squeezenet.onnx --ort node_modules/onnxruntime-web
    python -m bench.web resnet18.onnx --threads 1 2 --in node chromium --json all.json
    python -m bench.web squeezenet.onnx --first 5
    python -m bench.web squeezenet.onnx --target webgpu --in chromium --ort ..

With `--target webgpu` both run by WebGPU on Chromium's adapter for processors, onnxruntime-web by
its provider `webgpu`; `--adapter default` uses the machine's GPU.

Prints a table: the least milliseconds of each runtime and number of threads, how many times as
fast as onnxruntime-web (one thread) nnc on one is, the largest error relative to the output's
largest value, and the size of what a page has to download. With `--first` instead the time from a
page's start to its first result, the least of so many pages each.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from nnc.artifacts.options import PREPARE_MILLISECONDS
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages

from ..browser import GPU_FLAGS, serving, showing
from ..command import model_file, run
from ..compare import write_inputs

HERE = Path(__file__).parent
_PATIENCE = 600
"""The time limit of a page. Units: seconds."""
_PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
import {{ compare, firstResult }} from "/bench/compare.mjs";
const read = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());
const post = (body) => fetch("/", {{ method: "POST", body: JSON.stringify(body) }});
try {{
  const {{ ort: path, cases, job }} = {case};
  const ort = path && (await import(path));
  const run = {{ compare, firstResult }}[job];
  for (const one of cases) await post(await run(ort, one, read));
}} catch (error) {{
  await post({{ failure: String(error?.stack ?? error) }});
}}
</script>"""


def prepare(models: list[Path], target: str, folder: Path) -> list[dict[str, Any]]:
    """Compile models into the folder; returns a case for each, with relative paths."""
    cases = []
    for path in map(model_file, models):
        home = folder / path.stem
        home.mkdir()
        module = load_module(path)
        if target == "webgpu":
            run_stages(module, target="webgpu-browser")
            write_artifact(module, home / "model.mjs")
        else:
            run_stages(module, target=target, prepare_milliseconds=PREPARE_MILLISECONDS)
            write_artifact(module, home / "model.wasm")
        shutil.copyfile(path, home / "model.onnx")
        write_inputs(path, home / "inputs.npz", None)
        inputs = []
        for name, array in np.load(home / "inputs.npz").items():
            (home / f"{len(inputs)}.bin").write_bytes(array.tobytes())
            kind = {"float32": "f32", "int64": "i64"}[str(array.dtype)]
            inputs.append(
                {
                    "name": name,
                    "type": kind,
                    "dims": list(array.shape),
                    "file": f"{len(inputs)}.bin",
                }
            )
        cases.append({"name": path.stem, "inputs": inputs})
    return cases


def placed(case: dict[str, Any], base: str) -> dict[str, Any]:
    """The case with its files' paths below a base path or URL."""
    home = f"{base}/{case['name']}"
    inputs = [one | {"file": f"{home}/{one['file']}"} for one in case["inputs"]]
    return case | {"ours": f"{home}/model.mjs", "onnx": f"{home}/model.onnx", "inputs": inputs}


def in_node(
    cases: list[dict[str, Any]], ort: Path | None, folder: Path
) -> Iterator[dict[str, Any]]:
    """The results of all cases in Node, each in its own process."""
    for case in cases:
        about = folder / "case.json"
        path = ort and str(ort / "dist" / "ort.node.min.mjs")
        about.write_text(json.dumps({"ort": path, "cases": [placed(case, str(folder))]}))
        command = ["node", str(HERE / "compare.mjs"), str(about)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        yield json.loads(done.stdout)


def in_page(
    case: dict[str, Any], ort: Path | None, folder: Path, job: str, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The result of one case in a page of Chromium. Raises RuntimeError if it failed."""
    path = ort and f"/ort/dist/ort.{case['provider']}.min.mjs"
    about = json.dumps({"ort": path, "cases": [placed(case, "/models")], "job": job})
    (folder / "page.html").write_text(_PAGE.format(case=about))
    folders = {"models": folder, "bench": HERE} | ({"ort": ort} if ort else {})
    with serving(folders) as server, showing(f"{server.address}/models/page.html", *flags):
        found = server.posted(_PATIENCE)
    if "failure" in found:
        raise RuntimeError(found["failure"])
    return found


def table(where: str, rows: list[dict[str, Any]], folder: Path) -> Iterator[str]:
    """The lines of a Markdown table."""
    names = list(rows[0]["best"])
    yield f"| {where} | " + " | ".join(f"{name}, ms" for name in names) + " | times | error | MB |"
    yield "|---" * (len(names) + 4) + "|"
    ratios = []
    for row in rows:
        best = row["best"]
        ratio = best["ort"] / best[names[0]] if "ort" in best else math.nan
        ratios.append(ratio)
        home = folder / row["name"]
        files = (home / "model.wasm", home / "model.weights", home / "model.mjs")
        size = sum(one.stat().st_size for one in files if one.exists()) / 1e6
        times = " | ".join(f"{best[name]:.2f}" for name in names)
        error = math.nan if row["error"] is None else row["error"]
        yield f"| {row['name']} | {times} | {ratio:.2f} | {error:.0e} | {size:.1f} |"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    yield f"\ngeometric mean: {mean:.2f}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--ort", type=Path, help="the folder of the npm package onnxruntime-web")
    parser.add_argument("--target", default="wasm32-simd")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument(
        "--in", dest="where", nargs="+", default=["node"], choices=["node", "chromium"]
    )
    parser.add_argument("--adapter", choices=["swiftshader", "default"], default="swiftshader")
    parser.add_argument("--rounds", type=int, default=12, help="turns of each runtime")
    parser.add_argument("--runs", type=int, default=3, help="runs in a turn")
    parser.add_argument(
        "--first", type=int, help="pages each, to measure the time to the first result"
    )
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    ort = args.ort and args.ort.resolve()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="nnc-web-") as name:
        folder = Path(name)
        on_gpu = args.target == "webgpu"
        flags = GPU_FLAGS if on_gpu and args.adapter == "swiftshader" else ()
        given = {"threads": args.threads, "rounds": args.rounds, "runs": args.runs}
        given |= {"provider": "webgpu" if on_gpu else "wasm"}
        cases = [case | given for case in prepare(args.models, args.target, folder)]
        if args.first:
            for case in cases:
                for peer in (False, True):
                    pages = [
                        in_page(case | {"peer": peer}, ort, folder, "firstResult", flags)["ms"]
                        for _ in range(args.first)
                    ]
                    who = "onnxruntime-web" if peer else "nnc"
                    print(f"{case['name']}: {who} {min(pages):.0f} ms", flush=True)
            return
        for where in args.where:
            if where == "node":
                rows = list(in_node(cases, ort, folder))
            else:
                rows = [in_page(case, ort, folder, "compare", flags) for case in cases]
            found[where] = rows
            print(*table(where, rows, folder), sep="\n", flush=True)
    if args.json:
        args.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    run(main)

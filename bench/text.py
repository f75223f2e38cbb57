"""The speed of the text format and the IR core, beside xDSL's.

    python -m bench.text --peer-python PATH        # PATH: an interpreter that has xDSL installed

Texts are made from a fixed seed; each is measured in processes that alternate between the two
tools. The table has medians, and how many times as fast nnc is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from . import text_workloads

WORKER = Path(__file__).with_name("text_worker.py")
PEER_LACKS = ("memref_casts",)
"""Kinds of ops whose custom form xDSL cannot read."""
PEER_REFUSES = ("llvm",)
"""Stages of a model whose ops xDSL's verifier does not accept; nnc alone is measured on them."""


def write_texts(folder: Path, ops: int, fold: int) -> dict[str, Path]:
    """Write the workloads to files; returns their paths by name."""
    from nnc.ir.syntax.parser import parse_module
    from nnc.ir.syntax.printer import print_op

    texts: dict[str, str] = {}
    module = parse_module(text_workloads.upstream_ops(ops))
    texts["upstream ops, generic"] = print_op(module, generic=True)
    module = parse_module(text_workloads.upstream_ops(ops, skip=PEER_LACKS))
    texts["upstream ops, custom"] = print_op(module)
    for name, graph in (
        ("CNN", text_workloads.cnn()),
        ("transformer", text_workloads.transformer()),
    ):
        for stage, text in model_stages(graph).items():
            texts[f"{name}, {stage}, generic"] = text
    texts["folding"] = print_op(parse_module(text_workloads.foldable(fold)), generic=True)
    paths = {}
    for i, (name, text) in enumerate(texts.items()):
        paths[name] = folder / f"{i}.mlir"
        paths[name].write_text(text + "\n", encoding="utf-8")
    return paths


def model_stages(graph: str) -> dict[str, str]:
    """The generic text of a model's stages below tensors."""
    from nnc.driver.compile import run_stages
    from nnc.ir.syntax.parser import parse_module
    from nnc.ir.syntax.printer import print_op

    found: dict[str, str] = {}

    def keep(stage, module) -> None:
        if stage in ("loops", "llvm"):
            found[stage] = print_op(module, generic=True)

    run_stages(parse_module(graph), target="avx512", after_stage=keep)
    return found


def measure(python: str, tool: str, task: str, path: Path) -> dict[str, float]:
    """The results of one worker process; empty if the tool failed."""
    done = subprocess.run(
        [python, str(WORKER), tool, task, str(path)], capture_output=True, text=True
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        print(f"  {tool} {task}: {lines[-1][:120] if lines else 'failed'}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def compare(peer: str | None, task: str, path: Path, runs: int) -> list[dict[str, float]]:
    """The medians of nnc and of the peer, whose processes alternate."""
    pythons = {"nnc": sys.executable} | ({"xdsl": peer} if peer else {})
    found: dict[str, list[dict[str, float]]] = {tool: [] for tool in pythons}
    for _ in range(runs):
        for tool, python in pythons.items():
            found[tool].append(measure(python, tool, task, path))
    return [
        {key: median(run[key] for run in results) for key in results[0]} if all(results) else {}
        for results in found.values()
    ]


def row(name: str, what: str, ours: dict, theirs: dict, wanted: str, unit: str = "s") -> str:
    """A line of the table: nnc's figure, the peer's, and their ratio."""
    mine, other = ours.get(what), theirs.get(what)
    ratio = f"{other / mine:.1f}x" if mine and other else "-"
    shown = [f"{x:.3f} {unit}" if x is not None else "-" for x in (mine, other)]
    return f"| {name} | {what} | {shown[0]} | {shown[1]} | {ratio} | {wanted} |"


def side_by_side(peer: str | None, paths: dict[str, Path], runs: int) -> None:
    """Print the table of parsing, verifying, printing, rewriting and memory, beside the peer."""
    print("| text | | nnc | xDSL | ratio | asked |\n|---|---|---|---|---|---|")
    for name, path in paths.items():
        if name == "folding":
            continue
        task = "custom" if name.endswith("custom") else "generic"
        is_refused = any(stage in name for stage in PEER_REFUSES)
        ours, theirs = [*compare(None if is_refused else peer, task, path, runs), {}][:2]
        label = f"{name} ({ours.get('ops', 0):.0f} ops)"
        for what, wanted in (("parse", "3x"), ("verify", "2x"), ("print", "3x")):
            print(row(label, what, ours, theirs, wanted), flush=True)
    ours, theirs = [*compare(peer, "rewrite", paths["folding"], runs), {}][:2]
    label = f"folding ({ours.get('ops', 0):.0f} ops, {ours.get('left', 0):.0f} left"
    label += f", {theirs['left']:.0f} by xDSL)" if theirs else ")"
    print(row(label, "rewrite", ours, theirs, "2x"))
    for name in ("upstream ops, generic", "folding"):
        ours, theirs = [*compare(peer, "memory", paths[name], 1), {}][:2]
        print(row(f"{name}, memory", "bytes", ours, theirs, "1x", "B/op"), flush=True)


def scaling(folder: Path, sizes: list[int]) -> None:
    """Print the microseconds per operation for files of growing size."""
    from nnc.ir.syntax.parser import parse_module
    from nnc.ir.syntax.printer import print_op

    print("\n| ops | MB | parse µs/op | verify µs/op | print µs/op |\n|---|---|---|---|---|")
    for count in sizes:
        text = print_op(parse_module(text_workloads.upstream_ops(count)), generic=True)
        path = folder / f"{count}.mlir"
        path.write_text(text, encoding="utf-8")
        found = measure(sys.executable, "nnc", "scaling", path)
        if found:
            each = [1e6 * found[what] / found["ops"] for what in ("parse", "verify", "print")]
            cells = " | ".join(f"{value:.1f}" for value in each)
            print(f"| {found['ops']:.0f} | {len(text) / 1e6:.1f} | {cells} |", flush=True)
        path.unlink()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer-python", metavar="PATH", help="an interpreter with xDSL installed")
    parser.add_argument("--ops", type=int, default=8000, help="operations of the upstream text")
    parser.add_argument("--fold", type=int, default=50000, help="operations to fold")
    parser.add_argument("--runs", type=int, default=3, help="processes per tool and text")
    parser.add_argument("--scaling", metavar="N,..", help="only this: sizes, such as 10000,500000")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.scaling:
            scaling(Path(folder), [int(size) for size in args.scaling.split(",")])
        else:
            paths = write_texts(Path(folder), args.ops, args.fold)
            side_by_side(args.peer_python, paths, args.runs)


if __name__ == "__main__":
    main()

"""Writes the page of the sweep's results: counts by framework, differences, refusals."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .run import RESULTS, read

PAGE = Path(__file__).parents[3] / "docs" / "sweep.md"
MESSAGES = 15
"""The most refusal messages that are shown for each framework."""
KINDS = ("right", "refused", "wrong", "crash", "died", "unmakable")

HEAD = """# Configurations of operators and layers, against their frameworks

Made by `python -m bench.formats.sweep table` from what `.. run NAME` found. The subjects
(operators, layers) are taken in configurations that have all pairs of their parameters' values,
together with what crosses them: masks, states, empty batches, open extents, element types. The
framework is the oracle. *Unmakable* are those that the framework itself refuses, or of which it
gives no two equal results. `paddle` are files of PaddlePaddle 3, `paddle2` those of the form before
(`.pdmodel`). Verdicts are those of the runs: `.. run NAME --again wrong,died` judges again what has
been mended since.

Of what differs, these rows stay. `paddle2`: PaddlePaddle 3.0.0, which judged them, and 3.3.1 give
different numbers (halves rounded to even, 0 to a negative power, norms of no numbers), and nnc
those of 3.3.1. TensorFlow's cross entropy of f16: TensorFlow rounds between steps, nnc once.
PyTorch's resampling of f64: nnc holds scales as f32. CoreML: its converter writes another mode.

"""


def write() -> None:
    """Write the page from all results."""
    results = {path.stem: read(path) for path in sorted(RESULTS.glob("*.jsonl"))}
    PAGE.write_text(HEAD + "".join(_page(results)))
    print(f"wrote {PAGE}")


def _page(results: Mapping[str, list[dict[str, Any]]]) -> Iterable[str]:
    yield "| framework | subjects | configurations | " + " | ".join(KINDS) + " |\n"
    yield "|---|---|---|" + "---|" * len(KINDS) + "\n"
    total: Counter[str] = Counter()
    for name, rows in results.items():
        counts = Counter(row["verdict"] for row in rows)
        total += counts
        cells = [name, len({row["subject"] for row in rows}), len(rows)]
        yield _cells([*cells, *(counts[kind] for kind in KINDS)])
    yield _cells(["all", "", sum(total.values()), *(total[kind] for kind in KINDS)])
    for name, rows in results.items():
        faults = _faults(rows)
        if faults:
            yield f"\n## {name}: what differs\n\n| subject | where | found |\n|---|---|---|\n"
            yield from (_cells(row) for row in faults)
    for name, rows in results.items():
        refusals = Counter(_reason(row) for row in rows if row["verdict"] == "refused")
        if refusals:
            yield f"\n## {name}: what is refused\n\n| configurations | message |\n|---|---|\n"
            yield from _commonest(refusals)


def _faults(rows: Iterable[dict[str, Any]]) -> list[list[str]]:
    """A table row for each subject and minimal configuration."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["verdict"] in ("wrong", "crash", "died"):
            where = json.dumps(row.get("minimal", row["config"]), sort_keys=True)
            found.setdefault((row["subject"], where), [row["subject"], where, row["detail"][:150]])
    return [found[key] for key in sorted(found)]


def _commonest(refusals: Counter[str]) -> Iterable[str]:
    """A table row for each of the most frequent messages, and one for all others."""
    ordered = refusals.most_common()
    yield from (_cells([count, text]) for text, count in ordered[:MESSAGES])
    if rest := ordered[MESSAGES:]:
        yield _cells([sum(count for _, count in rest), f"{len(rest)} other messages"])


def _reason(row: dict[str, Any]) -> str:
    """The message with names of layers and numbers removed, so that equal reasons are counted
    together.
    """
    text = row["detail"].splitlines()[0] if row["detail"] else ""
    text = re.sub(r"(layer|node|node of output|output|input) '[^']*'", r"\1 '..'", text)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", text)[:200]


def _cells(cells: Iterable[Any]) -> str:
    texts = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return "| " + " | ".join(texts) + " |\n"

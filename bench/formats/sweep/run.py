"""Runs a framework's cases in a process of their own, again after each one that ends it.

A case whose model nnc has not seen yet when the process ends is unmakable: the framework ended it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results" / "sweep"
PATIENCE = 180
"""Seconds for one case."""


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of results; none where it is not there."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def run(
    framework: str,
    pattern: str = "*",
    strength: int = 2,
    most: int = 10_000,
    again: str = "",
    interpreted: bool = False,
) -> Path:
    """Run what has no result yet; of those whose verdict is in `again`, too. The file of results.

    `pattern` names subjects, `strength` how many parameters are combined in all ways, `most` how
    many cases a subject has. If `interpreted`, the reference interpreter computes.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{framework}.jsonl"
    rows = {row["end"]: row for row in read(path) if row["verdict"] not in again.split(",")}
    arguments = [framework, pattern, strength, most, interpreted]
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows.values())
        file.flush()
        while not _part(arguments, rows, file):
            pass
    counts = Counter(row["verdict"] for row in rows.values())
    print(f"{framework}: {len(rows)} configurations, {dict(counts)}")
    return path


def _part(arguments: list[Any], rows: dict[str, Any], file: Any) -> bool:
    """Run cases until one ends the process, or all are done, which is True."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps({"arguments": arguments, "done": list(rows)}) + "\n")
    process.stdin.close()
    begun: dict[str, Any] | None = None
    timer = threading.Timer(PATIENCE * 4, process.kill)  # frameworks take long to begin
    timer.start()
    finished = False
    for line in process.stdout:
        timer.cancel()
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        row = json.loads(line)
        if "begin" in row:
            begun = row
        elif "end" in row:
            begun = None
            rows[row["end"]] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
            _report(row, len(rows))
        elif begun is not None:
            begun |= row
        finished = "all" in row
    timer.cancel()
    code = process.wait()
    if begun is not None:
        row = begun | {"end": begun["begin"], "detail": f"{begun['detail']}: exit code {code}"}
        del row["begin"]
        rows[row["end"]] = row
        file.write(json.dumps(row) + "\n")
        _report(row, len(rows))
        return False
    if not finished:
        raise SystemExit(f"error: the worker ended with exit code {code} before any case")
    return True


def _report(row: dict[str, Any], count: int) -> None:
    if row["verdict"] in ("wrong", "crash", "died"):
        config = row.get("minimal", row["config"])
        print(f"{count} {row['verdict']}: {row['subject']} {config}: {row['detail']}", flush=True)
    elif count % 500 == 0:
        print(f"{count} configurations", flush=True)

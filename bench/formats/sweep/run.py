"""Runs a framework's cases in another process, which is restarted after each case that ends it.

A case is unmakable if it ends the process before nnc gets the model: the framework ended it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results" / "sweep"
PATIENCE = 120
"""The most processor time of one case, so that other processes do not count. Units: seconds."""


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of results, the last one of each case; none if the file does not exist.

    Rows of cases that no longer exist are left out.
    """
    if not path.exists():
        return []
    rows = (json.loads(line) for line in path.read_text().splitlines() if line)
    last = {row["end"]: row for row in rows}
    return [row for row in last.values() if row["verdict"] != "gone"]


def run(
    framework: str,
    pattern: str = "*",
    strength: int = 2,
    most: int = 10_000,
    again: str = "",
    interpreted: bool = False,
) -> Path:
    """Repeat the cases whose verdict is in `again`, then run those without a result; returns the
    file.

    `pattern` selects subjects by name, `strength` is the number of parameters whose values are
    combined in all ways, `most` the most cases of a subject. With `interpreted`, the reference
    interpreter computes. A result stays until a new one replaces it.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{framework}.jsonl"
    known = {row["end"]: row for row in read(path)}
    rows = {name: row for name, row in known.items() if row["verdict"] not in again.split(",")}
    repeated = [(row["subject"], row["config"]) for id, row in known.items() if id not in rows]
    arguments = [framework, pattern, strength, most, interpreted, repeated]
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in known.values())
        file.flush()
        while not _part(arguments, rows, file):
            pass
    counts = Counter(row["verdict"] for row in read(path))
    print(f"{framework}: {sum(counts.values())} configurations, {dict(counts)}")
    return path


class _Watch:
    """Kills a process that spends more than `PATIENCE` of processor time, or ten times that in all,
    on a case.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.is_over = process, False
        self._ended = threading.Event()
        self.begin()
        threading.Thread(target=self._look, daemon=True).start()

    def begin(self) -> None:
        """Start the clock of a new case."""
        self._began = time.monotonic(), self._computed()

    def end(self) -> None:
        """Stop watching, as the process has ended."""
        self._ended.set()

    def _look(self) -> None:
        while not self._ended.wait(1):
            since, computed = self._began
            is_busy = self._computed() - computed > PATIENCE
            if is_busy or time.monotonic() - since > 10 * PATIENCE:
                self.is_over = True
                self.process.kill()
                return

    def _computed(self) -> float:
        """The processor time of the process so far. Units: seconds."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended, or the system has no such files
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _part(arguments: list[Any], rows: dict[str, Any], file: Any) -> bool:
    """Run cases until one ends the process (returns False), or all are done (returns True)."""
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
    watch = _Watch(process)
    finished = False
    for line in process.stdout:
        watch.begin()
        row = json.loads(line)
        if "begin" in row:
            begun = row
        elif "gone" in row:
            file.write(json.dumps({"end": row["gone"], "verdict": "gone"}) + "\n")
        elif "end" in row:
            begun = None
            rows[row["end"]] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
            _report(row, len(rows))
        elif begun is not None:
            begun |= row
        finished = "all" in row
    code = process.wait()
    watch.end()
    if begun is not None:
        reason = f"no answer within {PATIENCE} s" if watch.is_over else f"exit code {code}"
        row = begun | {"end": begun["begin"], "detail": f"{begun['detail']}: {reason}"}
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

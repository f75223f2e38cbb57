"""Runs a framework's cases in a process of their own, again after each one that ends it.

A case whose model nnc has not seen yet when the process ends is unmakable: the framework ended it.
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
"""Seconds of the processor's time for one case; other processes of the machine do not count."""


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of results, the last of each case; none where it is not there.

    Those of cases that are no longer made are left out.
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
    """Run those again whose verdict is in `again`, then what has no result yet. The results' file.

    `pattern` names subjects, `strength` how many parameters are combined in all ways, `most` how
    many cases a subject has. If `interpreted`, the reference interpreter computes. A result stands
    until a new one replaces it.
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
    """Ends a process that has computed for too long at one case, or sleeps tenfold that time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.is_over = process, False
        self._ended = threading.Event()
        self.begin()
        threading.Thread(target=self._look, daemon=True).start()

    def begin(self) -> None:
        """A case begins."""
        self._began = time.monotonic(), self._computed()

    def end(self) -> None:
        """The process has ended."""
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
        """Seconds of the processor's time that the process has had."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended, or the system has no such files
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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

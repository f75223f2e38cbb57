"""The results for all files, kept as lines of JSON, from which `docs/exports.md` is made.

A line is `{"file": "bert.dynamo.static", "error": 2.6e-07}`. Instead of the error there may be
`failure`, nnc's message on a file that ONNX Runtime runs, `neither`, its message on one that
neither runs, or `unwritten`, why the exporter made no such file. If ONNX Runtime could not run the
file, `against` names the framework that it was compared with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .check import Finding

LONGEST = 160
"""The most characters of a message that are kept."""


NOT_MADE = "not made: "
"""The start of `unwritten` if the network itself could not be made."""


class Results:
    """The lines of a file, by the name of the export; with None nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.rows: dict[str, dict[str, Any]] = {
            row["file"]: row for row in (json.loads(line) for line in lines)
        }

    def put(self, found: Finding) -> None:
        """Store a finding in place of an earlier one for the same file.

        If the network could not be made, an earlier finding stays: another machine may have had
        what it needs.
        """
        if found.unwritten.startswith(NOT_MADE):
            return
        self.rows[found.name] = as_row(found)
        if self.path:
            lines = (json.dumps(self.rows[file]) for file in sorted(self.rows))
            part = self.path.with_suffix(".part")
            part.write_text("".join(f"{line}\n" for line in lines))
            part.replace(self.path)


def as_row(found: Finding) -> dict[str, Any]:
    """The JSON data of a finding's line."""
    row: dict[str, Any] = {"file": found.name}
    if found.unwritten:
        return row | {"unwritten": shortened(found.unwritten)}
    if found.failure:
        key = "failure" if found.is_wrong else "neither"
        return row | {key: shortened(found.failure)}
    row["error"] = float(f"{found.error:.1e}")
    return row if found.oracle == "onnxruntime" else row | {"against": found.oracle}


def shortened(text: object) -> str:
    """A message as one line of at most `LONGEST` characters."""
    words = " ".join(str(text).split())
    return words if len(words) <= LONGEST else words[: LONGEST - 3] + "..."

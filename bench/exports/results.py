"""What was found in each file, kept as lines of JSON; `docs/exports.md` is made of them.

A line is `{"file": "bert.dynamo.static", "error": 2.6e-07}`. Instead of the error there may be
`failure`, what nnc says of a file that ONNX Runtime runs, `neither`, what it says of one that
neither runs, or `unwritten`, why the exporter has no such file. `against` is there where ONNX
Runtime could not run the file, and the framework is what it was compared with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .check import Finding

LONGEST = 160
"""Characters of a message that are kept."""


NOT_MADE = "not made: "
"""What `unwritten` starts with where there was no network to export."""


class Results:
    """The lines of a file, by the name of the export; None keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.rows: dict[str, dict[str, Any]] = {
            row["file"]: row for row in (json.loads(line) for line in lines)
        }

    def put(self, found: Finding) -> None:
        """Keep what was found in place of what is there of the same file.

        Of a row that could not be made nothing is kept: elsewhere there may be what it takes.
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
    """A finding as its line says it."""
    row: dict[str, Any] = {"file": found.name}
    if found.unwritten:
        return row | {"unwritten": shortened(found.unwritten)}
    if found.failure:
        key = "failure" if found.is_wrong else "neither"
        return row | {key: shortened(found.failure)}
    row["error"] = float(f"{found.error:.1e}")
    return row if found.oracle == "onnxruntime" else row | {"against": found.oracle}


def shortened(text: object) -> str:
    """A message in one line, as far as it is likely to say what is the matter."""
    words = " ".join(str(text).split())
    return words if len(words) <= LONGEST else words[: LONGEST - 3] + "..."

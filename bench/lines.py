"""Counts lines of code by folder: those with a token other than a comment or docstring.

python -m bench.lines [FOLDER..] [--depth 2]     # a folder is a checkout; one column for each
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}

ROOMS = (
    "ir",
    "dialects",
    "passes",
    "kernels",
    "memory",
    "lowering",
    "frontends",
    "targets",
    "artifacts",
    "runtime",
    "numerics",
    "driver",
    "explorer",
    "delivery",
    "service",
    "tools",
    "bench",
    "fuzz",
    "docs",
    "examples",
    "test",
)
"""The top-level folders in the order of the table; tests are not part of the sum."""


def code_lines(text: str) -> int:
    """The number of lines of code in a Python file."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        # A string that stands alone explains what it stands in or after.
        match node:
            case ast.Expr(ast.Constant(str())):
                documented.update(range(node.lineno, (node.end_lineno or 0) + 1))
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - documented)


def count(root: Path, depth: int) -> Counter[str]:
    """The lines of code of a checkout by folder, to a depth."""
    found: Counter[str] = Counter()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            parts = path.relative_to(root).parent.parts[:depth]
            found["/".join(parts)] += code_lines(path.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Print a column of counts for each checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(__file__).parent.parent])
    parser.add_argument("--depth", type=int, default=1, help="folders of a path that make a room")
    options = parser.parse_args()
    counts = [count(folder, options.depth) for folder in options.folders]
    rooms = list(dict.fromkeys(room for one in counts for room in one))
    order = {room: i for i, room in enumerate(ROOMS)}
    rooms.sort(key=lambda room: (order[room.partition("/")[0]], room))
    for room in rooms:
        print(f"{room:28}", *(f"{one[room]:8}" for one in counts))
    sums = [sum(n for room, n in one.items() if not room.startswith("test")) for one in counts]
    print(f"{'without tests':28}", *(f"{one:8}" for one in sums))


if __name__ == "__main__":
    main()

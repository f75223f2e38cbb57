"""Counts the fields of models that importers leave unread, in all files stored for the tests.

`python -m bench.formats.unread` prints a Markdown table. For each format: its operators; the
operators in the files, and for how many of these an unknown field is an error; the unread fields
that the format's table allows with a reason (as pairs of operator and name), and those that are
refused; the rows of the table, and how many of them were needed. With `--fields` the pairs and
their reasons follow.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nnc
from nnc.frontends.common.fields import IgnoredFields

TESTS = Path(__file__).parents[2] / "test" / "frontends"
_RESULTS = (".npz", ".npy", ".py", ".md")
UNKNOWN = "a_field_of_tomorrow"


class Seen:
    """The unread fields of one format."""

    def __init__(self) -> None:
        self.kinds: dict[str, bool] = {}
        """By operator: whether a field that nobody knows would be refused."""
        self.allowed: dict[tuple[str, str], str] = {}
        self.refused: dict[tuple[str, str], Any] = {}


def watch() -> dict[IgnoredFields, Seen]:
    """Record, from now on, the unread fields that each format's table is asked about."""
    seen: dict[IgnoredFields, Seen] = defaultdict(Seen)
    judge = IgnoredFields.refused

    def refused(
        table: IgnoredFields, kind: str, unread: Iterable[tuple[str, Any]]
    ) -> Iterator[tuple[str, Any]]:
        mine, unread = seen[table], list(unread)
        mine.kinds[kind] = bool(list(judge(table, kind, [(UNKNOWN, UNKNOWN)])))
        found = list(judge(table, kind, unread))
        mine.refused.update({(kind, str(name)): value for name, value in found})
        for name, value in unread:
            row = next((r for r in table.rows if r.covers(kind, name, value)), None)
            if row is not None and value is not None:
                mine.allowed[kind, str(name)] = row.why
        return iter(found)

    IgnoredFields.refused = refused  # type: ignore[method-assign]
    return seen


def files(folder: Path) -> Iterator[Path]:
    """The stored files below a folder; archives of several files are unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(path) as archive:
                archive.extractall(place)
                yield from files(Path(place))
        elif path.suffix == ".mlpackage" or (path.is_file() and path.suffix not in _RESULTS):
            yield path


def main() -> None:
    """Print the table."""
    seen = watch()
    for path in files(TESTS):
        try:
            nnc.load(path)
        except (nnc.NncError, RecursionError):
            continue
    tables = {
        value: name.split(".")[2]
        for name, module in list(sys.modules.items())
        for value in vars(module).values()
        if name.startswith("nnc.frontends.") and isinstance(value, IgnoredFields)
    }
    print("| format | operators | where a new field is refused | left unread | refused | rows |")
    print("|---|---|---|---|---|---|")
    for table, mine in sorted(seen.items(), key=lambda item: tables[item[0]]):
        strict, reasons = sum(mine.kinds.values()), set(mine.allowed.values())
        needed = sum(row.why in reasons for row in table.rows)
        print(
            f"| {tables[table]} | {len(mine.kinds)} | {strict} | {len(mine.allowed)} "
            f"| {len(mine.refused)} | {len(table.rows)}, {needed} needed |"
        )
    if "--fields" in sys.argv:
        for table, mine in seen.items():
            for (kind, name), why in sorted(mine.allowed.items()):
                print(f"{tables[table]}\t{kind}\t{name}\t{why}")
            for (kind, name), value in sorted(mine.refused.items()):
                print(f"{tables[table]}\t{kind}\t{name}\tREFUSED {value!r:.60}")


if __name__ == "__main__":
    main()

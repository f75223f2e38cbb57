"""The table of converters: the function that imports each ONNX operator, by opset."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from operator import itemgetter

from ..common.rows import Convert, Rows
from .unread import IGNORED

NEWEST = 1 << 16
"""Stands for a version later than all versions of a domain."""


class VersionedRows(Rows):
    """Operators by domain and name, each with functions for ranges of opsets.

        @converter("Relu")
        def relu(n: Node, x: Value) -> Value:
            return n(nn.Relu(x))

    A function is for opset `since` and later ones. With `any_rank` it also accepts tensors of
    unknown rank.
    """

    def __init__(self) -> None:
        super().__init__(__package__ or "", IGNORED)
        self.of_any_rank: set[Convert] = set()

    def __call__(
        self, *kinds: str, since: int = 1, domain: str = "", any_rank: bool = False
    ) -> Callable[[Convert], Convert]:
        """Register a function that imports these operators."""

        def register(function: Convert) -> Convert:
            for kind in kinds:
                versions = self._table.setdefault((domain, kind), [])
                assert all(version != since for version, _ in versions), kind
                versions.append((since, function))
                versions.sort(key=itemgetter(0))
            return self.takes_any_rank(function) if any_rank else function

        return register

    def add(self, table: Mapping[str, Convert], domain: str = "") -> None:
        """Register a table of converters: `add_rows(direct("Neg Abs"))`."""
        for kind, function in table.items():
            self(kind, domain=domain)(function)

    def takes_any_rank(self, function: Convert) -> Convert:
        """Declare that a converter also accepts tensors of unknown rank."""
        self.of_any_rank.add(function)
        return function

    def find(self, kind: str, domain: str = "", opset: int = NEWEST) -> Convert | None:
        """The converter of an operator in an opset, or None."""
        self._load()
        versions = self._table.get((domain, kind), ())
        at = bisect_right(versions, opset, key=itemgetter(0))
        return versions[at - 1][1] if at else None

    def forget(self, domain: str, kind: str) -> None:
        """Remove the converters of an operator."""
        self._table.pop((domain, kind), None)


rows = VersionedRows()
converter, add_rows = rows, rows.add

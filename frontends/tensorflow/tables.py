"""Lookup tables, filled by the model's initializers or its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...dialects.nn.strings import BYTES
from ..common.graph import Graph
from ..common.source import Source
from ..common.strings import LookupTable
from ..wire.protobuf import Record, WireError
from ..wire.tensorbundle import Bundle, strings
from .functions import CALLS, Functions, GraphValues
from .origins import Origin, Scope
from .schema import dtype_of, texts_of

TABLES = (
    "HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
    "MutableDenseHashTableV2",
)  # fmt: skip
IMPORTS = ("LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2")
FROM_FILES = ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
FILLING = (*IMPORTS, *FROM_FILES)

WHOLE_LINE, LINE_NUMBER = -2, -1
"""The numbers that stand for the whole line, and for its number, in place of a column of a text
file."""


def bind_tables(
    source: Source,
    records: Sequence[Record],
    graph: Graph,
    functions: Functions,
    assets: Sequence[Record] = (),
    bundle: Callable[[], Bundle | None] = lambda: None,
) -> None:
    """Set the contents of each table of a graph, as the attribute `table` of its node."""
    nodes = [node for node in graph.nodes if node.kind in TABLES]
    if not nodes:
        return
    files = {one.info.name.partition(":")[0]: one.filename for one in assets if one.info}
    contents = _Contents(source, files, bundle)
    tables = {node.name: LookupTable(node.name) for node in nodes}
    main = Scope(records, GraphValues())
    for scope in _filling(main, functions):
        for record in scope.nodes.values():
            if record.op not in FILLING or len(record.input) < 2:
                continue
            handle = scope.origin(record.input[0])
            table = tables.get(handle.node.name) if handle.node is not None else None
            if table is not None and handle.scope is main:
                contents.fill(table, handle.node, record, scope)
    for node in nodes:
        node.attributes = {**node.attributes, "table": tables[node.name]}


def _is_filling(kind: str) -> bool:
    return kind in FILLING


def _filling(scope: Scope, functions: Functions) -> Iterator[Scope]:
    """The scope, and those of the functions called from it that fill tables."""
    yield scope
    for record in scope.nodes.values():
        if record.op in CALLS and functions.has(record, _is_filling):
            inner = scope.called(record, functions)
            yield from _filling(inner, functions) if inner else ()


class _Contents:
    """Reads the contents of tables: constants, text files, tensors of the checkpoint."""

    def __init__(
        self, source: Source, files: dict[str, str], bundle: Callable[[], Bundle | None]
    ) -> None:
        self.source = source
        self.files = files
        self.bundle = bundle

    def fill(self, table: LookupTable, node: Any, record: Record, scope: Scope) -> None:
        """Fill a table by an initializer operator; unknown contents leave it unchanged."""
        types = [self._dtype(node, name) for name in ("key_dtype", "value_dtype")]
        try:
            if record.op in FROM_FILES:
                found = self._of_file(record, scope.origin(record.input[1]), types)
            else:
                pair = zip(record.input[1:3], types, strict=True)
                found = [self._array(scope.origin(text), dtype) for text, dtype in pair]
            keys, values = found
        except (ValueError, OverflowError, IndexError) as error:
            raise self.source.error(f"table '{table.name}': {error}") from None
        if keys is None or values is None:
            table.fault = "its contents are computed"
        elif keys.ndim != 1 or values.shape[:1] != keys.shape:
            shapes = f"keys are {list(keys.shape)}, values {list(values.shape)}"
            raise self.source.error(f"table '{table.name}': {shapes}")
        else:
            table.keys, table.values = keys, values

    def _dtype(self, node: Any, name: str) -> np.dtype:
        attribute = node.attr.get(name)
        if attribute is None:
            raise WireError(f"table '{node.name}' has no '{name}'")
        return dtype_of(attribute.type)

    def _array(self, origin: Origin, dtype: np.dtype) -> Any:
        found, key = origin.array(), origin.key()
        bundle = self.bundle() if found is None and key else None
        if bundle is None or key not in bundle.entries:
            return found
        if dtype.kind != "O":
            return bundle.array(key, dtype)
        shape = bundle.shape(key)
        count = shape[0] if len(shape) == 1 else 0
        if count > bundle.entries[key].size:
            raise ValueError(f"'{key}' has {count} strings in fewer bytes")
        return texts_of(strings(bundle.raw(key), count))

    def _of_file(self, record: Record, origin: Origin, types: list[np.dtype]) -> list[Any]:
        """The key and value columns of a text file."""
        lines = self._lines(origin)
        if lines is None:
            return [None, None]
        numbers = {k: a.i for k in ("vocab_size", "offset") if (a := record.attr.get(k))}
        most = numbers.get("vocab_size", -1)
        lines = lines[:most] if most >= 0 else lines
        delimiter = record.attr.get("delimiter")
        separator = bytes(delimiter.s).decode(*BYTES) if delimiter else "\t"
        found = []
        for name, dtype in zip(("key_index", "value_index"), types, strict=True):
            column = record.attr.get(name)
            found.append(
                _column(lines, column.i if column else 0, separator, numbers.get("offset", 0))
            )
            found[-1] = texts_of(found[-1]) if dtype.kind == "O" else np.array(found[-1], dtype)
        return found

    def _lines(self, origin: Origin) -> list[str] | None:
        """The lines of the file whose path a node gives; it must be an asset of the model."""
        name = origin.node.name if origin.node is not None else ""
        if name in self.files:
            file = self.source.beside(f"assets/{self.files[name]}")
        else:
            path = origin.array()
            if path is None or path.size != 1:
                return None
            file = self.source.beside(str(path.reshape(())).replace("\\", "/").rpartition("/")[2])
        text = file.data.tobytes().decode(*BYTES).replace("\r", "")
        return text.removesuffix("\n").split("\n")


def _column(lines: list[str], index: int, separator: str, offset: int) -> list[Any]:
    if index == LINE_NUMBER:
        return list(range(offset, offset + len(lines)))
    if index == WHOLE_LINE:
        return lines
    if index < 0 or not separator:
        raise ValueError(f"there is no column {index}")
    return [line.split(separator)[index] for line in lines]

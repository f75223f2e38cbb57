"""Lookups in tables, whose contents are known at import."""

from __future__ import annotations

from ...common.strings import LookupTable
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..tables import TABLES


@rows(*TABLES)
def table(n: TfLayer) -> LookupTable:
    return n.attributes["table"]


@rows("LookupTableFind", "LookupTableFindV2")
def find(n: TfLayer, table: LookupTable, keys: Value, default: Value) -> Value:
    return table.find(n, keys, default)


@rows("LookupTableSize", "LookupTableSizeV2")
def size(n: TfLayer, table: LookupTable) -> Value:
    return n.constant(len(table.filled(n).keys), i64)


@rows("LookupTableExport", "LookupTableExportV2")
def export(n: TfLayer, table: LookupTable) -> list[Value]:
    own = table.filled(n)
    return [n.constant(own.keys), n.constant(own.values)]

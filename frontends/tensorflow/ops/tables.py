"""Lookups in tables, whose contents are known at import."""

from __future__ import annotations

from ....dialects.nn.host_types import string
from ...common import tensorflow as tf
from ...common.vocabulary import *
from ...common.words import lookup
from ..layer import TfLayer, rows
from ..tables import TABLES, Table


@rows(*TABLES)
def table(n: TfLayer) -> Table:
    return n.attributes["table"]


def filled(n: TfLayer, table: Table) -> Table:
    """A table with its contents. Raises NncError where they are not known."""
    if table.keys is None:
        raise n.error(f"the contents of table '{table.name}' are not known: {table.fault}")
    return table


@rows("LookupTableFind", "LookupTableFindV2")
def find(n: TfLayer, table: Table, keys: Value, default: Value) -> Value:
    """The value of each key, or the default."""
    own, known, count = filled(n, table), n.array(default), len(filled(n, table).keys)
    if not count:
        return tf.broadcast_to(n, default, shape_of(n, keys))
    if own.values.ndim == 1 and known is not None and known.size == 1:
        element = default.type.element_type
        dtype = object if element is string else type_to_numpy(element)
        return lookup(n, keys, own.keys, own.values.astype(dtype), known.reshape(()))
    places = lookup(n, keys, own.keys, np.arange(count), np.array(count))
    values = constant(n, own.values, default.type.element_type)
    last = Term(n, default).reshape(1, *own.values.shape[1:])
    return joined([values, last], 0).gather(Term(n, places)).value


@rows("LookupTableSize", "LookupTableSizeV2")
def size(n: TfLayer, table: Table) -> Value:
    return n.constant(len(filled(n, table).keys), i64)


@rows("LookupTableExport", "LookupTableExportV2")
def export(n: TfLayer, table: Table) -> list[Value]:
    own = filled(n, table)
    return [n.constant(own.keys), n.constant(own.values)]

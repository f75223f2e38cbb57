"""StableHLO inside of graphs, as in SavedModels from JAX."""

from __future__ import annotations

from typing import Any

from ..common.graph import Graph, Node
from ..common.importer import NodeLayer
from ..common.rows import Convert
from ..common.source import Source
from ..wire.protobuf import Record, WireError

_KINDS = ("stablehlo.", "chlo.", "func.", "custom_call @")


def xla_module(record: Record, source: Source) -> Graph:
    """The function of the module that a node calls."""
    from ..stablehlo.model import read_inner

    module = record.attr.get("module")
    if module is None:
        raise WireError(f"node '{record.name}' has no module")
    inner = Source(bytes(module.s))
    inner.name = f"{source.name}: {record.name}"
    named = record.attr.get("platforms")
    listed = named.list if named is not None else None
    platforms = [bytes(s).decode("utf-8", "replace") for s in listed.s] if listed else []
    several = len(platforms) > 1
    return read_inner(inner, platforms.index("CPU") if several and "CPU" in platforms else None)


def converter(kind: str) -> Convert | None:
    """The converter of a StableHLO operation; None for other operations."""
    if not kind.startswith(_KINDS):
        return None
    from ..stablehlo.layer import rows

    return rows.find(kind)


def hlo_layer(importer: Any, node: Node) -> NodeLayer | None:
    """The layer for a node of StableHLO; None for other nodes."""
    if not node.kind.startswith(_KINDS):
        return None
    from ..stablehlo.layer import HloLayer

    return HloLayer(importer, node)

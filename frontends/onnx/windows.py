"""The attributes of convolutions and poolings that describe windows."""

from __future__ import annotations

from ...ir.core import Value
from ..common.windows import Padding
from .node import Node

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def spatial_ints(n: Node, name: str, count: int, default: int) -> tuple[int, ...]:
    """An attribute with a number for each spatial dimension, at least the default."""
    values = n.ints(name)
    if values is None:
        return (default,) * count
    if len(values) != count:
        raise n.error(f"attribute '{name}' has {len(values)} elements, expected {count}")
    if min(values) < default:
        raise n.error(f"attribute '{name}' is {list(values)}, expected no element below {default}")
    return values


def padding_of(n: Node, count: int) -> Padding:
    """The padding in the attributes `auto_pad` and `pads`, for `count` spatial dimensions."""
    mode = n.string("auto_pad", "NOTSET", AUTO_PADS)
    return spatial_ints(n, "pads", 2 * count, 0) if mode == "NOTSET" else mode


def spatial_rank(n: Node, x: Value) -> int:
    """The number of spatial dimensions. Raises NncError if there are none."""
    if x.type.rank < 3:
        name = n.schema.inputs[0].name if n.schema is not None else "X"
        raise n.error(f"input '{name}' has rank {x.type.rank}, expected at least 3")
    return x.type.rank - 2

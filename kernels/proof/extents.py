"""The names that a function of the host gives to unknown extents: those with one name are equal."""

from __future__ import annotations

from ...dialects.marks import INPUT_DIMS
from ...ir.attributes import ArrayAttr, StringAttr
from ...ir.core import BlockArgument, Value
from ...ir.types import MemRefType


def name_of_extent(buffer: Value, dim: int) -> str:
    """The key of an unknown extent's parameter; equal keys mean equal extents."""
    name = _given_name(buffer, dim)
    if name is None:
        return f"extent {dim} of {id(buffer)}"
    assert isinstance(buffer, BlockArgument)  # Only these have names.
    return f"extent {name} of {id(buffer.owner.parent_op)}"


def _given_name(buffer: Value, dim: int) -> str | None:
    """The name that the function gives to an extent of its argument; None without one."""
    if not isinstance(buffer, BlockArgument) or buffer.owner.parent_op is None:
        return None
    names = buffer.owner.parent_op.attributes.get(INPUT_DIMS)
    if isinstance(names, ArrayAttr) and buffer.index < len(names.elements):
        own = names.elements[buffer.index]
        if isinstance(own, ArrayAttr) and dim < len(own.elements):
            name = own.elements[dim]
            return name.value or None if isinstance(name, StringAttr) else None
    return None


def first_of_name(buffer: Value, dim: int) -> tuple[Value, int]:
    """The first (argument, dimension) of the function with the name of this extent."""
    name = _given_name(buffer, dim)
    if name is None:
        return buffer, dim
    assert isinstance(buffer, BlockArgument)
    return next(
        (other, d)
        for other in buffer.owner.args
        if isinstance(other.type, MemRefType)
        for d in range(other.type.rank)
        if _given_name(other, d) == name
    )

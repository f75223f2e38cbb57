"""Lists of indices that are partly constants and partly values, as upstream keeps them.

`memref.subview %m[0, %i]` holds `static_offsets = array<i64: 0, -9223372036854775808>` and
the one operand `%i`; the marker says "the next operand". In Python a mixed list is a list
whose elements are ints or Values (or, while interpreting, ints or numbers).
"""

from __future__ import annotations

from ..ir.types import Dim
from .vocabulary import *

DYNAMIC_INDEX = -(2**63)
"""The marker of a dynamic entry in a static list."""

Mixed = int | Value


def mix(static: Iterable[int], dynamic: Sequence[Any]) -> list[Any]:
    """The full list: static entries, with the markers replaced by the dynamic ones in order."""
    rest = iter(dynamic)
    return [next(rest) if entry == DYNAMIC_INDEX else entry for entry in static]


def split(mixed: Iterable[Any]) -> tuple[list[Value], tuple[int, ...]]:
    """The dynamic values and the static list of a mixed list."""
    values: list[Value] = []
    static: list[int] = []
    for entry in mixed:
        if isinstance(entry, int):
            static.append(entry)
        else:
            values.append(entry.result if isinstance(entry, Operation) else entry)
            static.append(DYNAMIC_INDEX)
    return values, tuple(static)


def to_dims(static: Iterable[int]) -> tuple[Dim, ...]:
    """Static entries as dimensions: the marker becomes None."""
    return tuple(None if entry == DYNAMIC_INDEX else entry for entry in static)


def dynamic_count(static: Iterable[int]) -> int:
    """How many entries are markers."""
    return sum(entry == DYNAMIC_INDEX for entry in static)


def plain_error(op: Operation, message: str) -> VerifyError:
    """An error at an operation, in upstream's words, which do not name the operation."""
    return VerifyError(message, op.loc)


def check_list(op: Operation, static: Sequence[int], dynamic: Sequence[Any], what: str) -> None:
    """Raise unless there are as many operands as markers."""
    wanted = dynamic_count(static)
    if wanted != len(dynamic):
        raise op.error(f"expected {wanted} dynamic {what} values, but found {len(dynamic)}")


def by_field(op: Any, values: Sequence[Any]) -> dict[str, Any]:
    """One entry per operand field from a flat list of operand values, as interpreting gets it.

    A variadic field gives a list, an absent optional one None.
    """
    found: dict[str, Any] = {}
    for part in op.definition.operands:
        start, end = op.definition.operand_range(op, part.position)
        group = list(values[start:end])
        if part.variadic:
            found[part.name] = group
        else:
            found[part.name] = group[0] if group else None
    return found

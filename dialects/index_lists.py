"""Lists of indices of which some are constants and some are values, in upstream's form.

`memref.subview %m[0, %i]` has `static_offsets = array<i64: 0, -9223372036854775808>` and the one
operand `%i`; the large number is a marker that means "the next operand". In Python, a mixed list
has ints and Values (in the interpreter, ints and numbers).
"""

from __future__ import annotations

from ..ir.types import Dim
from .vocabulary import *

DYNAMIC_INDEX = -(2**63)
"""The marker, in a static list, of an entry that is an operand."""

Mixed = int | Value


def mix(static: Iterable[int], dynamic: Sequence[Any]) -> list[Any]:
    """The mixed list: the static entries, with the `dynamic` ones in place of markers, in order."""
    rest = iter(dynamic)
    return [next(rest) if entry == DYNAMIC_INDEX else entry for entry in static]


def split(mixed: Iterable[Any]) -> tuple[list[Value], tuple[int, ...]]:
    """The values and the static list that make up a mixed list."""
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
    """{operand field: its values} from a flat list of operand values, as the interpreter gets it.

    A variadic field has a list, an absent optional one None.
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

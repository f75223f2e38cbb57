"""Printing with further options: users of values, other names, no regions, less data.

Source: upstream's OpPrintingFlags, and what mlir-opt prints for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import location as l
from ..attributes import DenseElements
from ..core import Block, Operation, Region, Value
from ..traits import IsolatedFromAbove
from .aliases import Aliases
from .attribute_printer import AttributePrinter, quote
from .naming import Naming
from .printer import INDENT, Printer, print_op, with_definitions

ELIDED = "__elided__"
"""The key of the resource printed in place of elided elements."""


@dataclass(frozen=True)
class PrintFlags:
    """What is printed of an operation, and how.

    `elements_limit` is the number of elements above which dense elements are elided,
    `hex_limit` the one above which they are written in hexadecimal (-1: never).
    """

    generic: bool = False
    debuginfo: bool = False
    pretty_debuginfo: bool = False
    local_scope: bool = False
    skip_regions: bool = False
    value_users: bool = False
    unique_ids: bool = False
    name_locations: bool = False
    elements_limit: int | None = None
    hex_limit: int | None = None
    resource_limit: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether no flag is set that `print_op` does not support."""
        return self == PrintFlags(self.generic, self.debuginfo)


def print_with(op: Operation, flags: PrintFlags) -> str:
    """The text of an operation as the flags ask, without a newline at the end."""
    if flags.is_plain and op.parent is None:
        return print_op(op, generic=flags.generic, debuginfo=flags.debuginfo)
    nested = op.parent is not None
    naming = FlaggedNaming(_scope_of(op), flags)
    if flags.local_scope or nested:
        return FlaggedPrinter(naming, None, flags).text_of(op)
    aliases = FlaggedAliases(flags)
    return with_definitions(
        op,
        aliases,
        lambda: FlaggedPrinter(naming, aliases, flags).text_of(op),
        flags.resource_limit,
    )


def _scope_of(op: Operation) -> Operation:
    """The operation in which names are given: `op` or the closest parent isolated from above."""
    while not op.has_trait(IsolatedFromAbove) and op.parent_op is not None:
        op = op.parent_op
    return op


# -- names -----------------------------------------------------------------------------------------


class FlaggedNaming(Naming):
    """Names as the flags ask: unique across regions, from locations, for ops without results."""

    def __init__(self, op: Operation, flags: PrintFlags) -> None:
        self._from_locations = flags.name_locations
        self.unique_ids = flags.unique_ids
        self.number_all = flags.value_users
        self.operations: dict[Operation, str] = {}
        self.top = op
        super().__init__(op, hints=not flags.generic)

    def _name_all(self, top: Operation) -> None:
        # Upstream's generic form counts the outermost operation too.
        if self.number_all and not self._hints and not top.results:
            self.number_operation(top)
        super()._name_all(top)

    def number_operation(self, op: Operation) -> None:
        self.operations[op] = f"%{self._numbers[0]}"
        self._numbers[0] += 1

    def _argument(self, arg: Any, entry: bool) -> None:
        name = location_name(arg.loc) if self._from_locations else None
        if name is None:
            super()._argument(arg, entry)
            return
        self.values[arg] = f"%{self._unique(name)}"
        self._numbers[1] += entry

    def _hints_of(self, op: Operation) -> list[str | None]:
        name = location_name(op.loc) if self._from_locations else None
        return super()._hints_of(op) if name is None else [name]


def location_name(location: Any) -> str | None:
    """The first name in a location, with only what may stand in the name of a value."""
    match location:
        case l.NameLoc(name, _):
            return _clean(name)
        case l.CallSiteLoc(callee, caller):
            return location_name(callee) or location_name(caller)
        case l.FusedLoc(locations):
            return next((n for one in locations if (n := location_name(one))), None)
    return None


def _clean(name: str) -> str:
    text = re.sub(
        r"[^\w$.-]",
        lambda m: "_" if m[0] == " " else m[0].encode("utf-8", "surrogateescape").hex().upper(),
        name,
        flags=re.ASCII,
    )
    return text if re.match(r"[A-Za-z_$.-]", name) else f"_{text}"


# -- text ------------------------------------------------------------------------------------------


class FlaggedAliases(Aliases):
    """Aliases whose locations are written in the pretty form if the flags ask for it."""

    def __init__(self, flags: PrintFlags) -> None:
        super().__init__()
        self._pretty = flags.pretty_debuginfo

    def location_text(self, writer: AttributePrinter, location: Any) -> str:
        if self._pretty:
            return pretty_location(writer, location)
        return super().location_text(writer, location)


def pretty_location(printer: AttributePrinter, location: Any) -> str:
    """The text of a location for people; those nested in it by their aliases if they have any."""

    def nested(inner: Any) -> str:
        return printer.aliases.get(inner) or pretty_location(printer, inner)

    match location:
        case l.FileLineColLoc(file, line, column):
            return f"{file}:{line}:{column}"
        case l.NameLoc(name, l.UnknownLoc()):
            return quote(name)
        case l.NameLoc(name, child):
            return f"{quote(name)}({nested(child)})"
        case l.CallSiteLoc(callee, caller):
            short = isinstance(callee, l.NameLoc) and isinstance(caller, l.FileLineColLoc)
            return f"{nested(callee)}{'' if short else chr(10)} at {nested(caller)}"
        case l.FusedLoc(locations, metadata):
            meta = "" if metadata is None else f"<{printer.attribute(metadata)}>"
            return f"{meta}[{', '.join([nested(x) for x in locations])}]"
        case l.UnknownLoc():
            return "[unknown]"
    return printer.inner_location(location)


class FlaggedPrinter(Printer):
    """A printer that follows all flags."""

    def __init__(self, naming: FlaggedNaming, aliases: Aliases | None, flags: PrintFlags) -> None:
        super().__init__(naming, aliases, flags.generic, flags.debuginfo)
        self.flags = flags
        self._top = naming.top
        self._positions: dict[Operation, int] | None = None
        if flags.hex_limit is not None:
            self.hex_threshold = flags.hex_limit if flags.hex_limit >= 0 else 1 << 62

    # -- elements ----------------------------------------------------------------------------

    def attribute(self, attribute: Any, implied: bool = False) -> str:
        limit = self.flags.elements_limit
        if (
            limit is not None
            and attribute.__class__ is DenseElements
            and not attribute.is_splat
            and attribute.type.num_elements > limit
        ):
            return f"dense_resource<{ELIDED}> : {self.type(attribute.type)}"
        return super().attribute(attribute, implied)

    # -- locations ---------------------------------------------------------------------------

    def argument_location(self, arg: Any) -> str:
        text = super().argument_location(arg)
        return self._pretty(arg.loc) if self.flags.pretty_debuginfo else text

    def trailing_location(self, op: Operation) -> str:
        return (
            self._pretty(op.loc) if self.flags.pretty_debuginfo else super().trailing_location(op)
        )

    def _pretty(self, location: Any) -> str:
        return pretty_location(AttributePrinter(self.aliases), location)

    # -- regions -----------------------------------------------------------------------------

    def region(self, region: Region, **options: Any) -> None:
        if self.flags.skip_regions:
            self.out.append("{...}")
        else:
            super().region(region, **options)

    # -- users -------------------------------------------------------------------------------

    def _operation(self, op: Operation, named: bool = True) -> None:
        super()._operation(op, named)
        if self.flags.value_users and named:
            self.out.append(self._users_comment(op))

    def _block_header(self, block: Block, indent: str) -> str:
        return super()._block_header(block, indent) + self._arguments_comment(block, indent)

    def _region_pieces(self, deferred: Any) -> Iterator[list[Any]]:
        pieces = super()._region_pieces(deferred)
        first = next(pieces)
        if self.flags.value_users and deferred.region.blocks:
            block = deferred.region.blocks[0]
            headed = len(first) > 1 and str(first[1]).startswith(
                f"\n{deferred.indent}{self.block_name(block)}"
            )
            if not headed:
                first.insert(1, self._arguments_comment(block, deferred.indent))
        yield first
        yield from pieces

    def _arguments_comment(self, block: Block, indent: str) -> str:
        if not self.flags.value_users:
            return ""
        lines = []
        for arg in block.args:
            users = self._users_of(arg)
            said = f"is used by {users}" if users else "is unused"
            lines.append(f"\n{indent}{INDENT}// {self.names[arg]} {said}")
        return "".join(lines)

    def _users_comment(self, op: Operation) -> str:
        if not op.results:
            number = self._operation_id(op)
            return f" // id: {number}" if op._operands and number else ""
        if not any(r.has_uses for r in op.results):
            return " // unused"
        users = {user: None for r in op.results for user in r.users}
        one = len(users) == len(op.results) == 1 and len(next(iter(users)).results) <= 1
        texts = [self._users_of(r) or "unused" for r in op.results]
        if len(texts) > 1:
            texts = [f"({t})" for t in texts]
        return f" // {'user' if one else 'users'}: {', '.join(texts)}"

    def _users_of(self, value: Value) -> str:
        """The results of the operations that use the value, the last one first."""
        if self._positions is None:
            self._positions = _positions(self._top)
        users = sorted(value.users, key=self._positions.__getitem__, reverse=True)
        return ", ".join(self._results_of(user) for user in users)

    def _results_of(self, op: Operation) -> str:
        if op.results:
            return ", ".join(self.names[r] for r in op.results)
        return self._operation_id(op)

    def _operation_id(self, op: Operation) -> str:
        return getattr(self._naming, "operations", {}).get(op, "")


def _positions(top: Operation) -> dict[Operation, int]:
    """The order in which upstream's parser makes operations: nested ones before their parent."""
    found: dict[Operation, int] = {}
    stack: list[tuple[Operation, bool]] = [(top, False)]
    while stack:
        op, is_done = stack.pop()
        if is_done:
            found[op] = len(found)
            continue
        stack.append((op, True))
        inner = [one for region in op.regions for one in region.ops]
        stack += [(one, False) for one in reversed(inner)]
    return found

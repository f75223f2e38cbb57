"""Where an operation came from: a line of text, a node of a model, or several of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


class Location:
    """Base of the source locations, in upstream MLIR's kinds."""

    __slots__ = ()

    def describe(self) -> str:
        """The place as a user reads it at the head of a message."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, slots=True)
class UnknownLoc(Location):
    """`loc(unknown)`"""

    def describe(self) -> str:
        return "unknown"


UNKNOWN = UnknownLoc()


@dataclass(slots=True, unsafe_hash=True)
class FileLineColLoc(Location):
    """`loc("file":line:column)`, both 1-based; 0 where a file has no lines.

    Not frozen only because one is made for every parsed operation, and frozen
    dataclasses are several times slower to make; nothing writes to it.
    """

    file: str
    line: int
    column: int

    def describe(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class FileLineColRange(Location):
    """`loc("file":line:column to line:column)`"""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def describe(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class NameLoc(Location):
    """`loc("name"(child))`: a model's node, say."""

    name: str
    child: Location = UNKNOWN

    def describe(self) -> str:
        if isinstance(self.child, UnknownLoc):
            return self.name
        return f"{self.child.describe()}: {self.name}"


@dataclass(frozen=True, slots=True)
class CallSiteLoc(Location):
    """`loc(callsite(callee at caller))`"""

    callee: Location
    caller: Location

    def describe(self) -> str:
        return self.callee.describe()


@dataclass(frozen=True, slots=True)
class FusedLoc(Location):
    """`loc(fused<metadata>[a, b, ..])`: an operation made from several."""

    locations: tuple[Location, ...]
    metadata: object | None = None

    def describe(self) -> str:
        known = [loc.describe() for loc in self.locations if not isinstance(loc, UnknownLoc)]
        return " + ".join(known) if known else "unknown"


def fuse_locations(locations: Iterable[Location], metadata: object | None = None) -> Location:
    """The location of an operation that replaces several others.

    Unknown and repeated locations are dropped, and fused ones of equal metadata are flattened; a
    single location without metadata is returned as it is.
    """
    flat: list[Location] = []
    for loc in locations:
        same = isinstance(loc, FusedLoc) and loc.metadata is metadata
        flat += loc.locations if same else [loc]  # type: ignore[union-attr]
    known = tuple(dict.fromkeys(loc for loc in flat if not isinstance(loc, UnknownLoc)))
    if metadata is None and len(known) < 2:
        return known[0] if known else UNKNOWN
    return FusedLoc(known or (UNKNOWN,), metadata)


def in_scopes(loc: Location, scopes: Iterable[str]) -> Location:
    """The location inside these scopes (outermost first), which are encoded as its callers."""
    around: Location | None = None
    for name in scopes:
        around = NameLoc(name) if around is None else CallSiteLoc(NameLoc(name), around)
    return loc if around is None else CallSiteLoc(loc, around)


def node_scopes(loc: Location) -> tuple[str, ...]:
    """The names of the scopes around a node, outermost first: those added by `in_scopes`, and the
    calls of functions that the node was inlined from.
    """
    match loc:
        case NameLoc(_, child):
            return node_scopes(child)
        case CallSiteLoc(callee, FileLineColLoc()):
            return node_scopes(callee)
        case CallSiteLoc(callee, caller):
            return (*_frames(caller), *node_scopes(callee))
        case FusedLoc(locations):
            return next(filter(None, map(node_scopes, locations)), ())
    return ()


def _frames(loc: Location) -> tuple[str, ...]:
    """The names of callers, outermost first; empty for locations in files."""
    match loc:
        case NameLoc(name, UnknownLoc()):
            return (name,)
        case NameLoc(name, child):
            found = _CALL.fullmatch(name)
            return (*node_scopes(child), found[1] or found[2]) if found else ()
        case CallSiteLoc(callee, caller):
            return (*_frames(caller), *_frames(callee))
    return ()


def node_of(loc: Location) -> str:
    """The description of a location in a model, without its file; empty if there is none.

    The name of a node with its kind, `conv_1 (Conv)`, is put as `node 'conv_1' (Conv)`.
    """
    match loc:
        case NameLoc(name):
            found = _NODE.fullmatch(name)
            return f"node '{found[1]}' ({found[2]})" if found else name
        case CallSiteLoc(callee, _):
            return node_of(callee)
        case FusedLoc(locations):
            return " + ".join(filter(None, map(node_of, locations)))
        case FileLineColLoc(_, line, column) | FileLineColRange(_, line, column) if line:
            return f"line {line}, column {column}"
    return ""


def node_names(loc: Location) -> tuple[str, ...]:
    """The names in a location: a model's nodes."""
    match loc:
        case NameLoc(name):
            return (name,)
        case FusedLoc(locations):
            return tuple(dict.fromkeys(n for one in locations for n in node_names(one)))
    return ()


_NODE = re.compile(r"(.*) \((\w+)\)", re.DOTALL)
_CALL = re.compile(r"(.*) \(([^()]+)\)", re.DOTALL)

"""Aliases: `#map = affine_map<..>` before the text, `#loc = loc(..)` around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import attributes as a
from .. import location as l
from ..parameters import ParametrizedAttr
from .attribute_printer import AttributePrinter

_KINDS = {
    a.AffineMapAttr: "map",
    a.IntegerSetAttr: "set",
    a.DistinctAttr: "distinct",
    a.LocationAttr: "loc",
}


class Aliases:
    """Names for the attributes that a text writes as aliases, in the order they are met.

    Maps and sets get their final number when they are met. Locations and attributes that nest
    others are numbered by how deep they do, so a text with them is written twice: once to meet
    them all, and again after `number`. Source: upstream's AliasInitializer.
    """

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self._kind: dict[Any, str] = {}
        self._depth: dict[Any, int] = {}
        self._deferred: dict[Any, bool] = {}
        self._counts: dict[str, int] = {}
        self._visited: set[Any] = set()
        self.distinct: dict[Any, int] = {}
        """The numbers of distinct attributes, in the order in which they are written."""

    @property
    def are_provisional(self) -> bool:
        """Whether `number` may change a name."""
        return any(kind not in ("map", "set") for kind in self._counts)

    def name_of(self, attribute: Any) -> str | None:
        """The alias of an attribute, made when it is first met; None if it gets none."""
        kind = _KINDS.get(attribute.__class__)
        if kind is None:
            if attribute.__class__ is ParametrizedAttr and attribute.definition.alias:
                self.depth_of(attribute)
                return self.names[attribute]
            return None
        if kind == "loc":
            self.visit_location(attribute.location, deferred=False)
            return self.names[attribute.location]
        if attribute not in self._kind:
            depth = 0
            if kind == "distinct":
                if isinstance(attribute.value, a.UnitAttr):
                    return None
                self.name_of(attribute.value)
                depth = self._depth.get(attribute.value, -1) + 1
            self._add(attribute, kind, depth, deferred=False)
        return self.names[attribute]

    def depth_of(self, attribute: Any) -> int:
        """How deep the attribute nests aliases: -1 where it is and has none, 0 for a plain one."""
        known = self._depth.get(attribute)
        if known is not None:
            return known
        match attribute:
            case ParametrizedAttr():
                children = attribute.children()
            case a.ArrayAttr(elements):
                children = iter(elements)
            case a.DictAttr(entries):
                children = (value for _, value in entries)
            case a.LocationAttr(location):
                self.name_of(attribute)
                return self._depth[location]
            case _:
                return self._depth[attribute] if self.name_of(attribute) is not None else -1
        deepest = max([self.depth_of(child) for child in children], default=-1)
        own = isinstance(attribute, ParametrizedAttr) and attribute.definition.alias
        depth = deepest + 1 if own or deepest >= 0 else -1
        if own:
            self._add(attribute, own, depth, deferred=False)
        return depth

    def _add(self, key: Any, kind: str, depth: int, deferred: bool) -> None:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        self._kind[key] = kind
        self._depth[key] = depth
        self._deferred[key] = deferred
        self.names[key] = f"#{kind}{number or ''}"

    def visit_location(self, location: Any, deferred: bool) -> int:
        """Meet a location and those nested in it; its depth."""
        if location in self._kind:
            if not deferred and self._deferred[location]:
                self._deferred[location] = False
                for child in _children(location):
                    self.visit_location(child, deferred=False)
            return self._depth[location]
        depth = 0
        for child in _children(location):
            depth = max(depth, self.visit_location(child, deferred) + 1)
        metadata = getattr(location, "metadata", None)
        if metadata is not None:
            depth = max(depth, self.depth_of(metadata) + 1)
        self._add(location, "loc", depth, deferred)
        return depth

    def number(self) -> None:
        """Give the final numbers: by depth, in the order in which they were met."""
        counts: dict[str, int] = {}
        self.distinct.clear()
        for key in self._ordered():
            kind = self._kind[key]
            number = counts.get(kind, 0)
            counts[kind] = number + 1
            self.names[key] = f"#{kind}{number or ''}"

    def _ordered(self) -> list[Any]:
        return sorted(self._kind, key=lambda key: (self._depth[key], self._kind[key]))

    def visit_nested_first(self, top: Any, debuginfo: bool) -> None:
        """Meet the attributes of all operations in the order of the generic form, once."""
        if top in self._visited:
            return
        printer = _Visitor(self)
        for kind, thing in _generic_order(top):
            match kind:
                case "start" if thing.regions:
                    self._visited.add(thing)
                case "argument":
                    printer.type(thing.type)
                case "end":
                    for value in (*thing._operands, *thing.results):
                        printer.type(value.type)
                    entries = [*thing.properties.items(), *thing.attributes.items()]
                    for _, attribute in sorted(entries, key=lambda entry: entry[0]):
                        printer.attribute(attribute)
            if debuginfo and kind != "end":
                self.visit_location(thing.loc, deferred=kind == "start")

    def definitions(self, early: bool) -> str:
        """The lines that define the aliases before the text, or those after it."""
        keys = [key for key in self._ordered() if self._deferred[key] is not early]
        if not keys:
            return ""
        lines = []
        writer = AttributePrinter(self.names, self.distinct)
        for key in keys:
            if self._kind[key] == "loc":
                text = self.location_text(writer, key)
            else:
                text = writer.spelled(key)
            lines.append(f"{self.names[key]} = {text}")
        joined = "\n".join(lines)
        return f"{joined}\n" if early else f"\n{joined}"

    def location_text(self, writer: AttributePrinter, location: Any) -> str:
        """What an alias stands for, itself spelled out."""
        return f"loc({writer.inner_location(location, spelled=True)})"


class _Visitor(AttributePrinter):
    """Writes attributes only to meet what is nested in them."""

    def __init__(self, aliases: Aliases) -> None:
        super().__init__()
        self._met = aliases

    def attribute(self, attribute: Any, implied: bool = False) -> str:
        if self._met.name_of(attribute) is not None:
            return ""
        if isinstance(attribute, (a.DenseElements, a.StringAttr, a.IntegerAttr)):
            return ""
        return super().attribute(attribute, implied)


def _children(location: Any) -> tuple[Any, ...]:
    match location:
        case l.NameLoc(child=l.UnknownLoc()):
            return ()
        case l.NameLoc(child=child):
            return (child,)
        case l.CallSiteLoc(callee, caller):
            return (callee, caller)
        case l.FusedLoc(locations):
            return tuple(locations)
    return ()


def _generic_order(top: Any) -> Iterator[tuple[str, Any]]:
    """The start and the end of every operation, with the block arguments, what is nested inside."""
    stack: list[tuple[str, Any]] = [("start", top)]
    while stack:
        kind, thing = stack.pop()
        yield kind, thing
        if kind != "start":
            continue
        stack.append(("end", thing))
        inner: list[tuple[str, Any]] = []
        for region in thing.regions:
            for block in region.blocks:
                inner += [("argument", arg) for arg in block.args]
                inner += [("start", op) for op in block]
        stack.extend(reversed(inner))

"""Aliases: `#map = affine_map<..>` before the text, `#loc = loc(..)` around it."""

from __future__ import annotations

from typing import Any

from .. import attributes as a
from .. import location as l
from ..core import Value
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
        visitor = _Visitor(self)
        # Operations and arguments still to be met, and as tuples operations to be ended.
        stack: list[Any] = [top]
        while stack:
            thing = stack.pop()
            if thing.__class__ is tuple:
                visitor.end(*thing)
            elif isinstance(thing, Value):
                visitor.type(thing.type)
                if debuginfo:
                    self.visit_location(thing.loc, deferred=False)  # type: ignore[attr-defined]
            else:
                if debuginfo:
                    self.visit_location(thing.loc, deferred=True)
                if not thing.regions:
                    visitor.end(thing)
                    continue
                self._visited.add(thing)
                inner: list[Any] = []
                for region in thing.regions:
                    for block in region.blocks:
                        inner += block.args
                        inner += block
                inner.reverse()
                stack.append((thing,))
                stack += inner

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
    """Writes attributes only to meet what is nested in them, each once."""

    def __init__(self, aliases: Aliases) -> None:
        super().__init__()
        self._aliases = aliases
        self._met: set[Any] = set()

    def end(self, op: Any) -> None:
        """Meet the types and attributes of an operation, when all that is nested in it has been."""
        types, met = self.types, self._met
        for value in op._operands:
            types[value.type]
        for value in op.results:
            types[value.type]
        new = [
            entry
            for entries in (op.properties, op.attributes)
            for entry in entries.items()
            if entry[1].__class__ not in _WITHOUT_ALIASES and entry[1] not in met
        ]
        if new:
            new.sort(key=_name)
            for _, attribute in new:
                met.add(attribute)
                self.attribute(attribute)

    def attribute(self, attribute: Any, implied: bool = False) -> str:
        if self._aliases.name_of(attribute) is not None:
            return ""
        if attribute.__class__ in _WITHOUT_ALIASES:
            return ""
        return super().attribute(attribute, implied)


_WITHOUT_ALIASES = (
    a.DenseElements,
    a.StringAttr,
    a.IntegerAttr,
    a.FloatAttr,
    a.UnitAttr,
    a.SymbolRefAttr,
    a.DenseArrayAttr,
)


def _name(entry: tuple[str, Any]) -> str:
    return entry[0]


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

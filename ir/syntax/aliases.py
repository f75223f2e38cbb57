"""Aliases such as `#map = affine_map<..>`: their names, and the lines that define them.

Most are defined before the text of the operation, those of locations also after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import attributes as a
from .. import location as l
from .. import types as t
from ..core import Value
from ..parameters import ParametrizedAttr
from .attribute_printer import AttributePrinter

_KINDS = {a.AffineMapAttr: "map", a.IntegerSetAttr: "set"}

_OPAQUE_KINDS = {"ml_program.extern": "extern", "sparse_tensor.encoding": "sparse"}
"""The names of upstream's aliases for attributes of dialects that are missing here."""

_LONG_TUPLE = 16
"""Tuples with more types than this get an alias."""


class _Met:
    """The entry of an attribute, type or location that may have an alias or nest aliases.

    `kind` is the word that its alias starts with, None if it has no alias. `depth` is how many
    levels of aliases nest in it, its own included; 0 if there are none. The alias is defined
    after the text if `deferred`, else before it, and then so are those of its `children`.
    """

    __slots__ = ("children", "deferred", "depth", "kind")

    def __init__(self, kind: str | None, deferred: bool) -> None:
        self.kind = kind
        self.deferred = deferred
        self.depth = 0
        self.children: list[_Met] = []


class Aliases:
    """Names the attributes, types and locations that a text writes as aliases.

    Affine maps and sets get their final number when they are first met. The others are numbered
    by how deep aliases nest in them, so a text with such aliases is written twice: once to meet
    them all, and again after `number`. Source: upstream's AliasInitializer.
    """

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self._all: dict[Any, _Met] = {}
        self._counts: dict[str, int] = {}
        self._visited: set[Any] = set()
        self._visitor: _Visitor | None = None
        self.read_ahead = False
        """Whether something was written in full for which later text may still define an alias."""
        self.resources: dict[str, Any] = {}
        """The resources that the text refers to, by key."""
        self.distinct: dict[Any, int] = {}
        """The numbers of distinct attributes, in the order in which they are written."""

    @property
    def are_provisional(self) -> bool:
        """Whether `number` may change a name."""
        return self.read_ahead or any(kind not in ("map", "set") for kind in self._counts)

    def name_of(self, attribute: Any) -> str | None:
        """The alias of an attribute or type, made when it is first met; None if it gets none."""
        if attribute.__class__ not in _MAY_HAVE_ALIAS:
            return None
        key = attribute.location if attribute.__class__ is a.LocationAttr else attribute
        met = self._all.get(key)
        if met is None or met.deferred:
            self.visit(key, deferred=False)
        return self.names.get(key)

    def visit_location(self, location: Any, deferred: bool) -> None:
        """Give aliases to a location and those nested in it."""
        self.visit(location, deferred)

    def visit(self, thing: Any, deferred: bool) -> _Met | None:
        """Give aliases to an attribute, type or location and to all that is nested in it.

        Returns its entry; None for classes without aliases. `deferred`: define them after the text.
        """
        if thing.__class__ in _WITHOUT_ALIASES:
            return None
        if thing.__class__ is a.LocationAttr:
            thing = thing.location
        met = self._all.get(thing)
        if met is not None:
            if not deferred:
                _define_early(met)
            return met
        kind = _kind_of(thing)
        met = self._all[thing] = _Met(kind, deferred)
        if kind is not None:
            number = self._counts.get(kind, 0)
            self._counts[kind] = number + 1
            self.names[thing] = _alias(thing, kind, number)
        for part in _parts(thing):
            child = self.visit(part, deferred)
            if child is not None and child.depth:
                met.children.append(child)
                met.depth = max(met.depth, child.depth)
        if kind is not None or met.depth:
            met.depth += 1
        return met

    def number(self) -> None:
        """Give all aliases their final numbers: by depth, then in the order they were met."""
        counts: dict[str, int] = {}
        self.distinct.clear()
        for key, met in self._ordered():
            assert met.kind is not None
            number = counts.get(met.kind, 0)
            counts[met.kind] = number + 1
            self.names[key] = _alias(key, met.kind, number)

    def _ordered(self) -> list[tuple[Any, _Met]]:
        """All entries with an alias, each after those that it uses; types before attributes."""
        found = [(key, met) for key, met in self._all.items() if met.kind is not None]
        found.sort(key=lambda pair: (pair[1].depth, not isinstance(pair[0], t.Type), pair[1].kind))
        return found

    def visit_nested_first(self, top: Any, debuginfo: bool) -> None:
        """Give aliases for the operations in `top`, as upstream does for the generic form.

        An operation comes after those nested in it. A second call for the same `top` does nothing.
        """
        if top in self._visited:
            return
        visitor = self._visitor = self._visitor or _Visitor(self)
        # Operations and block arguments to visit; a tuple holds an operation to end.
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
        """The lines that define aliases: before the text if `early`, else after it."""
        keys = [key for key, met in self._ordered() if met.deferred is not early]
        if not keys:
            return ""
        lines = []
        writer = AttributePrinter(self.names, self.distinct)
        for key in keys:
            if isinstance(key, l.Location):
                text = self.location_text(writer, key)
            else:
                text = writer.spelled(key)
            lines.append(f"{self.names[key]} = {text}")
        joined = "\n".join(lines)
        return f"{joined}\n" if early else f"\n{joined}"

    def location_text(self, writer: AttributePrinter, location: Any) -> str:
        """The definition of a location's alias; locations nested in it keep their aliases."""
        return f"loc({writer.inner_location(location, spelled=True)})"


class _Visitor(AttributePrinter):
    """Walks attributes in the order of their text to give aliases, each attribute once."""

    def __init__(self, aliases: Aliases) -> None:
        super().__init__()
        self._aliases = aliases
        self._met: set[Any] = set()

    def end(self, op: Any) -> None:
        """Give aliases for an operation's types and attributes, after those of its regions."""
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

    def type_alias(self, type: Any) -> str | None:
        return self._aliases.name_of(type)

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


_MAY_HAVE_ALIAS = frozenset(
    (
        *(a.AffineMapAttr, a.IntegerSetAttr, a.LocationAttr, a.DistinctAttr, a.OpaqueAttr),
        *(ParametrizedAttr, t.TupleType),
    )
)


def _kind_of(thing: Any) -> str | None:
    """The word that the alias of a thing starts with, None if it has no alias."""
    kind = _KINDS.get(thing.__class__)
    if kind is not None:
        return kind
    match thing:
        case l.Location():
            return "loc"
        case a.DistinctAttr(value=value):
            return None if isinstance(value, a.UnitAttr) else "distinct"
        case ParametrizedAttr():
            return thing.definition.alias or None
        case t.TupleType(types) if len(types) > _LONG_TUPLE:
            return "tuple"
        case a.OpaqueAttr(dialect, text):
            return _OPAQUE_KINDS.get(f"{dialect}{text.partition('<')[0]}")
    return None


def _alias(thing: Any, kind: str, number: int) -> str:
    return f"{'!' if isinstance(thing, t.Type) else '#'}{kind}{number or ''}"


def _define_early(met: _Met) -> None:
    if met.deferred:
        met.deferred = False
        for child in met.children:
            _define_early(child)


def _parts(thing: Any) -> Iterator[Any]:
    """The attributes, types and locations directly in a thing, in the order of its text."""
    match thing:
        case l.Location():
            yield from _parts_of_location(thing)
        case a.DictAttr(entries):
            for _, value in entries:
                yield value
        case ParametrizedAttr():
            yield from thing.children()
        case a.Attribute():
            for name in thing._names:
                value = getattr(thing, name)
                for one in value if value.__class__ is tuple else (value,):
                    if isinstance(one, a.Attribute):
                        yield one


def _parts_of_location(location: Any) -> tuple[Any, ...]:
    match location:
        case l.NameLoc(child=l.UnknownLoc()):
            return ()
        case l.NameLoc(child=child):
            return (child,)
        case l.CallSiteLoc(callee, caller):
            return (callee, caller)
        case l.FusedLoc(locations, metadata):
            return locations if metadata is None else (metadata, *locations)
    return ()

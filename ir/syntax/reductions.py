"""Parser actions: the functions that make the value of a production, and what they share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .. import attributes as a
from .. import types as t
from ..diagnostics import NncError
from .tables import Rule

MAX_DEPTH = 128
"""The deepest nesting of lists, dictionaries and tuples."""

MAX_SIZE = 1 << 22
"""The most attributes and types inside one; an alias counts as often as it is used."""

Action = Callable[[Any, list[Any]], Any]
_ACTIONS: dict[str, Action] = {}


def action(function: Action) -> Action:
    """Register the function `_name` for the productions named `name`."""
    _ACTIONS[function.__name__.strip("_")] = function
    return function


def actions(**functions: Action) -> None:
    """Register each function for the productions that its keyword names."""
    _ACTIONS.update(functions)


def reduction(rule: Rule, contributed: frozenset[str]) -> Callable[[Any, Any], Any] | None:
    """The function that makes a production's value from those of all its symbols.

    It is None if the production has one symbol and its value stays as it is.
    """
    keep, name = rule.keep, rule.action
    if rule.origin in contributed:
        return _tuple_of(keep, "" if name == rule.origin else name)
    if name == "same":
        (position,) = keep
        return None if rule.length == 1 else lambda session, values: values[position]
    if name == "first":
        (position,) = keep
        return lambda session, values: [values[position]]
    if name == "append":
        return _append(*keep)
    function = _ACTIONS.get(name)
    if function is None:
        return lambda session, values: None  # a start symbol of Lark's own
    if keep == tuple(range(rule.length)):
        return function
    if -1 in keep:
        return lambda session, values: function(
            session, [values[i] if i >= 0 else None for i in keep]
        )
    return lambda session, values: function(session, [values[i] for i in keep])


def _tuple_of(keep: tuple[int, ...], alias: str) -> Callable[[Any, Any], Any]:
    if alias:
        return lambda session, values: (alias, *[values[i] if i >= 0 else None for i in keep])
    return lambda session, values: tuple([values[i] if i >= 0 else None for i in keep])


def _append(at: int, position: int) -> Callable[[Any, Any], Any]:
    def append(session: Any, values: Any) -> Any:
        made = values[at]
        made.append(values[position])
        return made

    return append


def nested(s: Any, made: Any, parts: Any) -> Any:
    """`made`, an attribute or type with these parts. Raises NncError if it is too deep or large."""
    extents = s.extents
    depth, size = 0, 1
    for part in parts:
        if part.__class__ in _NESTING:
            inner_depth, inner_size = extents.get(part, (0, 1))
            depth, size = max(depth, inner_depth), size + inner_size
    extents[made] = depth + 1, size
    if depth >= MAX_DEPTH:
        raise NncError("attributes are nested too deeply")
    if size > MAX_SIZE:
        raise NncError("aliases of aliases make this attribute too large")
    return made


_NESTING = (a.ArrayAttr, a.DictAttr, t.FunctionType, t.TupleType, t.ComplexType)


def dialect_text(s: Any, text: str, pos: int, what: str) -> tuple[str, str, tuple[Any, ...]]:
    """The dialect and the rest of `dialect.name<..>`, a type or attribute that we do not have.

    Each alias in the rest becomes a zero character, and what it stands for an entry of the third
    item. Raises ParseError unless an unknown name is allowed there.
    """
    from ..dialect import registry

    dialect = text.replace("<", ".", 1).partition(".")[0]
    rest = text[len(dialect) :]
    known = registry.dialects.get(dialect)
    if known is not None and not known.is_subset:
        raise s.error(f"unknown {what} '{rest.strip('.<')}' in dialect '{dialect}'", pos)
    if not s.allow_unregistered and not (known is not None and known.is_opaque):
        if known is not None:
            raise s.error(
                f"{what} '{text}' is not in the part of dialect '{dialect}' that nnc has; "
                "--allow-unregistered-dialect permits it",
                pos,
            )
        raise s.error(
            f"{what} '{text}' is of the unregistered dialect '{dialect}'; "
            "--allow-unregistered-dialect permits it",
            pos,
        )
    inner = rest[1:-1] if rest.startswith("<") else rest[1:]
    rest = f".{inner}" if _PRETTY(inner) else f"<{inner}>"
    if ("#" in rest or "!" in rest) and (s.attribute_aliases or s.type_aliases):
        return dialect, *_resolved(s, rest)
    return dialect, rest, ()


def _resolved(s: Any, text: str) -> tuple[str, tuple[Any, ...]]:
    parts: list[Any] = []

    def take(match: re.Match[str]) -> str:
        known = s.attribute_aliases if match[0][0] == "#" else s.type_aliases
        if match[1] is None or match[1] not in known:
            return match[0]
        parts.append(known[match[1]])
        return "\0"

    return _ALIASES.sub(take, text), tuple(parts)


_ALIASES = re.compile(r'"(?:[^"\\]|\\.)*"|[#!]([A-Za-z_][\w$-]*|\d+)(?![\w$.<-])', re.DOTALL)


# What upstream writes after a dot; all else it writes in angle brackets.
_PRETTY = re.compile(r"[A-Za-z][\w.]*+(?:<.*>)?", re.ASCII | re.DOTALL).fullmatch

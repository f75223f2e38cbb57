"""The language as the loaded dialects make it: grammar text, words, tables."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from ..attributes import EnumAttr
from ..dialect import registry
from . import actions, actions_affine, actions_attributes, actions_locations, actions_types
from .directive import Grammar
from .reductions import reduction
from .tables import Tables, tables_for

ACTIONS = (actions, actions_affine, actions_attributes, actions_locations, actions_types)
"""The modules whose import registers what productions make."""

BARE_DIALECTS = ("builtin.", "func.")
"""Dialects whose ops may be written without the dialect's name."""


class Language:
    """What the lexer and the parser know of the loaded dialects."""

    def __init__(self) -> None:
        self.ops: dict[str, tuple[str, Any]] = {}
        self.deferred: dict[str, str] = {}
        """The terminals of ops that are declared when they are first met."""
        self.types: dict[str, tuple[str, Any]] = {}
        self.attributes: dict[str, tuple[str, Any]] = {}
        grammar = Grammar()
        self.text = grammar.expand(_core_text())
        productions = self._contributions(grammar)
        self.keywords = dict(grammar.keywords)
        self.contributed = frozenset(grammar.rules)
        self.text += "\n".join(productions) + "\n"
        terminals = sorted({*_terminals(self.text), "_NEVER"})
        self.text += "%declare " + " ".join(terminals) + "\n"
        self.tables: Tables = tables_for(self.text)
        self.rules: list[tuple[int, str, Any]] = [
            (rule.length, rule.origin, reduction(rule, self.contributed))
            for rule in self.tables.rules
        ]
        self.default_reductions = [
            self.rules[~next(iter(row.values()))]
            if len(set(row.values())) == 1 and next(iter(row.values())) < 0
            else None
            for row in self.tables.actions
        ]
        """For each state that only ever reduces, by one rule, that rule."""
        self.lexers: list[dict[str, Any]] = [{} for _ in self.tables.actions]
        self.known_types: dict[str, Any] = {}
        """Types by their text, where the text says it all: no alias in it."""

    def met_op(self, name: str) -> tuple[str, Any] | None:
        """The terminal and the definition of an op that was deferred until now."""
        terminal = self.deferred.get(name)
        if terminal is None:
            return None
        cls = registry.find_op(name)
        assert cls is not None
        found = self.ops[name] = (terminal, cls.definition)
        return found

    def _contributions(self, grammar: Grammar) -> list[str]:
        shapes: dict[str, str] = {}
        for name, cls in registry.ops.items():
            format = cls.definition.format
            if format is None:
                continue
            terminal = format.terminal
            shapes[terminal] = format.shape
            grammar.rules.update(format.rules)
            grammar.keywords.update(format.keywords)
            self.ops[name] = (terminal, cls.definition)
            for dialect in BARE_DIALECTS:
                if name.startswith(dialect):
                    self.ops.setdefault(name.removeprefix(dialect), self.ops[name])
        for name, (like, _) in registry.deferred.items():
            if like.definition.format is not None:
                self.deferred[name] = like.definition.format.terminal
        alternatives = [f"{terminal} {shape} -> custom_op" for terminal, shape in shapes.items()]
        lines = [f"%extend operation: {text}" for text in sorted(alternatives)]
        parameters: set[str] = set()
        for dialect in registry.dialects.values():
            for name, cls in dialect.types.items():
                self.types[name] = self._class(cls, "DIALECT_TYPE", "PLAIN_TYPE", grammar)
                parameters.add(self._production("type_text", "dialect_type", self.types[name]))
            for name, cls in dialect.attributes.items():
                self.attributes[name] = self._class(cls, "DIALECT_ATTR", "PLAIN_ATTR", grammar)
                if not _is_enum(cls):
                    parameters.add(
                        self._production("attribute", "dialect_attribute", self.attributes[name])
                    )
        lines += sorted(parameters - {""})
        lines += [f"{name}: {text}" for name, text in sorted(grammar.rules.items())]
        return lines

    def _class(self, cls: Any, prefix: str, plain: str, grammar: Grammar) -> tuple[str, Any]:
        """The terminal of a dialect's type or attribute class, by its parameters' grammar."""
        if _is_enum(cls) and "grammar" not in vars(cls):
            return "ENUM_ATTR", cls
        text = getattr(cls, "grammar", None)
        if text is None:
            return plain, cls
        rule = grammar.rule("parameters", grammar.expand(text))
        return f"{prefix}_{rule.removeprefix('parameters_').upper()}", cls

    @staticmethod
    def _production(origin: str, action: str, known: tuple[str, Any]) -> str:
        terminal = known[0]
        if terminal.startswith("PLAIN"):
            return (
                "" if origin == "type_text" else f"%extend {origin}: PLAIN_ATTR -> plain_attribute"
            )
        rule = f"parameters_{terminal.rpartition('_')[2].lower()}"
        return f"%extend {origin}: {terminal} {rule} -> {action}"


def _is_enum(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, EnumAttr)


@lru_cache(1)
def _core_text() -> str:
    return Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")


def _terminals(text: str) -> set[str]:
    import re

    lines = [line.partition("//")[0] for line in text.splitlines()]
    return set(re.findall(r"(?<![\w-])_?[A-Z][A-Z0-9_]*(?!\w)", "\n".join(lines)))


_languages: dict[tuple[int, ...], Language] = {}


def current_language() -> Language:
    """The language of the dialects loaded so far; made anew when more are declared."""
    dialects = registry.dialects.values()
    key = (
        len(registry.ops) + len(registry.deferred),
        sum(len(d.types) for d in dialects),
        sum(len(d.attributes) for d in dialects),
    )
    language = _languages.get(key)
    if language is None:
        _languages.clear()
        language = _languages[key] = Language()
    return language

"""The language of the loaded dialects: the grammar's text, its words, and its parse tables."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..attributes import EnumAttr
from ..collection import paused_collection
from ..dialect import registry
from . import actions, actions_affine, actions_attributes, actions_locations, actions_types
from .directive import Grammar
from .reductions import reduction
from .stored import StoredLanguage, store, stored_language
from .tables import Tables, tables_for

ACTIONS = (actions, actions_affine, actions_attributes, actions_locations, actions_types)
"""The modules whose import registers the parser actions."""


class _Classes(dict):
    """Maps the names of types or attributes to their terminals and classes.

    The class is None until the name is first met, which loads its dialect.
    """

    def __init__(self, table: str) -> None:
        self._table = table

    def get(self, name: str, default: Any = None) -> Any:
        found = dict.get(self, name, default)
        if found is not None and found[1] is None:
            dialect = registry.dialects[name.partition(".")[0]]
            found = self[name] = (found[0], getattr(dialect, self._table)[name])
        return found


class Language:
    """What the lexer and the parser know of the dialects.

    Made from the stored language if there is one, else from all that is declared.
    """

    def __init__(self, stored: StoredLanguage | None = None) -> None:
        self.ops: dict[str, tuple[str, Any]] = {}
        self.deferred: dict[str, str] = {}
        """The terminals of ops whose classes are loaded when a text first mentions them."""
        self.bare: dict[str, str] = {}
        """The full names of ops that may also be written without their dialect's name."""
        self.types: dict[str, tuple[str, Any]] = _Classes("types")
        self.attributes: dict[str, tuple[str, Any]] = _Classes("attributes")
        self.keywords: dict[str, str] = {}
        self.contributed: frozenset[str] = frozenset()
        if stored is not None:
            self._restore(stored)
        else:
            self._make()
        self.rules: list[tuple[int, str, Any]] = [
            (rule.length, rule.origin, reduction(rule, self.contributed))
            for rule in self.tables.rules
        ]
        self.default_reductions = self._default_reductions()
        """For each state, the rule to reduce by whatever the next token is; None if it depends on
        the token."""
        self.lexers: list[dict[str, Any]] = [{} for _ in self.tables.actions]
        self.known_types: dict[str, Any] = {}
        """Types by their text, for texts without aliases."""

    def _make(self) -> None:
        """Make the language from all declared dialects."""
        grammar = Grammar()
        self.text = grammar.expand(_core_text())
        productions = self._contributions(grammar)
        self.keywords = dict(grammar.keywords)
        self.contributed = frozenset(grammar.rules)
        self.text += "\n".join(productions) + "\n"
        terminals = sorted({*_terminals(self.text), "_NEVER"})
        self.text += "%declare " + " ".join(terminals) + "\n"
        self.tables: Tables = tables_for(self.text)

    def _restore(self, stored: StoredLanguage) -> None:
        self.text = stored.text
        self.deferred = dict(stored.ops)
        self.bare = stored.bare
        for table, terminals in ((self.types, stored.types), (self.attributes, stored.attributes)):
            table.update({name: (terminal, None) for name, terminal in terminals.items()})
        self.keywords = stored.keywords
        self.contributed = stored.contributed
        self.tables = stored.tables

    def stored(self) -> StoredLanguage:
        """The language as picklable tables, from which a later process restores it."""
        ops = {name: terminal for name, (terminal, _) in self.ops.items()}
        return StoredLanguage(
            ops | self.deferred,
            self.bare,
            {name: terminal for name, (terminal, _) in self.types.items()},
            {name: terminal for name, (terminal, _) in self.attributes.items()},
            self.keywords,
            self.contributed,
            self.text,
            self.tables,
        )

    def _default_reductions(self) -> list[Any]:
        found: dict[int, Any] = {}  # by row: equal rows are mostly one object
        for row in self.tables.actions:
            if id(row) not in found:
                first = next(iter(row.values()), 0)
                is_only = first < 0 and all(action == first for action in row.values())
                found[id(row)] = self.rules[~first] if is_only else None
        return [found[id(row)] for row in self.tables.actions]

    def met_op(self, name: str) -> tuple[str, Any] | None:
        """The terminal and the definition of an op met for the first time; None if unknown."""
        terminal = self.deferred.get(name)
        if terminal is None:
            return None
        cls = registry.find_op(self.bare.get(name, name))
        assert cls is not None
        found = self.ops[name] = (terminal, cls.definition)
        return found

    def _contributions(self, grammar: Grammar) -> list[str]:
        registry.declare_deferred("")
        shapes: dict[str, str] = {}
        defaults = {getattr(cls, "default_dialect", "") for cls in registry.ops.values()}
        for name, cls in registry.ops.items():
            format = cls.definition.format
            if format is None:
                continue
            terminal = format.terminal
            shapes[terminal] = format.shape
            grammar.rules.update(format.rules)
            grammar.keywords.update(format.keywords)
            self.ops[name] = (terminal, cls.definition)
            dialect, _, bare = name.partition(".")
            if dialect in defaults:
                self.ops.setdefault(bare, self.ops[name])
                self.bare.setdefault(bare, name)
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
        # Lists of a dialect's types written without its name, for its types' parameters.
        for dialect in sorted(set(re.findall(r"\btypes_in_(\w+)", "\n".join(lines)))):
            one, several = f"TYPE_IN_{dialect.upper()}", f"types_in_{dialect}"
            lines += [f"{several}: {one} -> first", f"    | {several} _COMMA {one} -> append"]
        return lines

    def _class(self, cls: Any, prefix: str, plain: str, grammar: Grammar) -> tuple[str, Any]:
        """(terminal, class) for a type or attribute; those of like parameters share a terminal."""
        if _is_enum(cls) and "grammar" not in vars(cls):
            return "ENUM_ATTR", cls
        text = getattr(cls, "grammar", None)
        if text is None:
            return plain, cls
        text = grammar.with_rules(text, getattr(cls, "rules", {}))
        rule = grammar.rule("parameters", text)
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
    lines = [line.partition("//")[0] for line in text.splitlines()]
    return set(re.findall(r"(?<![\w-])_?[A-Z][A-Z0-9_]*(?!\w)", "\n".join(lines)))


_own: list[Language] = []
"""The cached language of the package's own dialects; empty at first."""

_languages: dict[tuple[int, ...], Language] = {}


def current_language() -> Language:
    """The language of the dialects loaded so far; made anew when more are declared."""
    if not registry.foreign:
        if _own:
            return _own[0]
        with paused_collection():
            if (stored := stored_language()) is not None:
                _own.append(Language(stored))
                return _own[0]
    with paused_collection():
        return _declared_language()


def _declared_language() -> Language:
    """The language of all that is declared."""
    registry.load_all()
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
        if not registry.foreign:
            _own.append(language)
            store(language.stored())
    return language

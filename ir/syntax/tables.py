"""The parse tables: built by Lark from the grammar, kept on disk, run here.

Lark's LALR(1) construction takes about a second for all dialects, so its result is stored
under a hash of the grammar's text. Running the tables needs no Lark, whose import alone
would take longer than parsing a small file.
"""

from __future__ import annotations

import marshal
import sys
from dataclasses import astuple, dataclass
from hashlib import blake2s
from pathlib import Path
from typing import Any

from ..cache_home import cache_home
from ..diagnostics import NncError
from ..files import write_whole

STARTS = ("file", "type_text", "attribute", "dict_body", "location")

_FORMAT = 2
"""The version of the stored format; increase it with each change."""

_KEPT = 32
"""The number of grammars whose tables stay on disk."""


@dataclass(frozen=True)
class Rule:
    """A production: its origin, the number of its symbols, and which of them yield children.

    `keep` holds positions in the expansion, -1 where an absent `[part]` yields None.
    """

    origin: str
    length: int
    keep: tuple[int, ...]
    action: str


@dataclass(frozen=True)
class Tables:
    """LALR(1) tables. An action is the state to shift to, or ~rule to reduce by.

    `symbols[state]` is the symbol that leads to the state.
    """

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    symbols: list[str]
    rules: list[Rule]
    starts: dict[str, int]
    ends: dict[str, int]

    def pack(self) -> tuple[Any, ...]:
        """The tables as plain values; equal rows are one object."""
        rows: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
        actions, gotos = (
            [rows.setdefault(tuple(row.items()), row) for row in table]
            for table in (self.actions, self.gotos)
        )
        rules = [astuple(rule) for rule in self.rules]
        return actions, gotos, self.symbols, rules, self.starts, self.ends

    @staticmethod
    def unpack(packed: tuple[Any, ...]) -> Tables:
        actions, gotos, symbols, rules, starts, ends = packed
        return Tables(actions, gotos, symbols, [Rule(*rule) for rule in rules], starts, ends)


def tables_for(grammar: str) -> Tables:
    """The tables of a grammar, from the cache on disk or built."""
    version = f"{_FORMAT} {sys.version_info[:3]} {sys.implementation.cache_tag}"
    key = blake2s(f"{version}\n{grammar}".encode()).hexdigest()
    path = cache_home() / f"grammar-{key}.bin"
    packed = read_checked(path)
    if packed is not None:
        return Tables.unpack(packed)
    tables = build(grammar)
    write_checked(path, tables.pack(), kept=_KEPT)
    return tables


def read_checked(path: Path) -> Any:
    """What `write_checked` has stored, or None where there is nothing or it is damaged."""
    try:
        raw = path.read_bytes()
        digest, data = raw[:32], raw[32:]
        if blake2s(data).digest() != digest:
            return None
        return marshal.loads(data)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def write_checked(path: Path, value: Any, kept: int) -> None:
    """Store plain values in a file, whole or not at all; only the newest of its kind are kept."""
    data = marshal.dumps(value)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, blake2s(data).digest(), data)
        kind = path.name.partition("-")[0]
        found = sorted(path.parent.glob(f"{kind}-*.bin"), key=lambda one: -one.stat().st_mtime)
        for old in found[kept:]:
            old.unlink(missing_ok=True)
    except (OSError, NncError):
        pass  # without a cache the next start makes it again


def build(grammar: str) -> Tables:
    """Tables made by Lark. A conflict between shifting and reducing is decided for shifting.

    Raises lark.GrammarError for a faulty grammar, such as two rules for the same text.
    """
    from lark import Lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        """Stands in for a lexer while only tables are wanted."""

        def __init__(self, conf) -> None:
            pass

        def lex(self, *args):
            return iter(())

    frontend = Lark(
        grammar,
        parser="lalr",
        lexer=NoLexer,
        start=list(STARTS),
        maybe_placeholders=True,
    ).parser
    table = frontend.parser._parse_table
    rules: dict[object, int] = {}
    actions: list[dict[str, int]] = [{} for _ in table.states]
    gotos: list[dict[str, int]] = [{} for _ in table.states]
    symbols = [""] * len(table.states)
    for state, row in table.states.items():
        for token, (action, argument) in row.items():
            symbol = sys.intern(str(token))
            if action is not Shift:
                actions[state][symbol] = ~rules.setdefault(argument, len(rules))
                continue
            symbols[argument] = symbol
            target = actions if symbol.isupper() or symbol.startswith("$") else gotos
            target[state][symbol] = argument
    return Tables(
        actions,
        gotos,
        symbols,
        [_rule(rule) for rule in rules],
        dict(table.start_states),
        dict(table.end_states),
    )


def _rule(rule) -> Rule:
    keep: list[int] = []
    absent = rule.options.empty_indices
    if not absent:
        absent = [False] * len(rule.expansion)
    position = 0
    for is_absent in absent:
        if is_absent:
            keep.append(-1)
        else:
            if not rule.expansion[position].name.startswith("_"):
                keep.append(position)
            position += 1
    origin = str(rule.origin.name)
    return Rule(origin, len(rule.expansion), tuple(keep), str(rule.alias or origin))

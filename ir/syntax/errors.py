"""Syntax errors in the user's words: what was found, and what could stand there."""

from __future__ import annotations

from typing import Any

from ..diagnostics import ParseError
from .directive import PUNCTUATION

_WORDS = {
    "VALUE": "SSA value",
    "VALUES": "SSA value",
    "RESULTS": "operation",
    "PAREN_VALUES": "'('",
    "STRING": "string",
    "BARE_ID": "name",
    "INTEGER": "integer",
    "FLOAT": "number",
    "SYMBOL": "symbol name",
    "BLOCK": "block name",
    "TYPE": "type",
    "TYPE_NOT_FUNCTION": "type",
    "FUNCTION_TYPE": "function type",
    "SCALAR_TYPE": "type",
    "DIMS": "dimensions",
    "DICT": "'{'",
    "PROPS": "'<'",
    "ANGLES": "'<'",
    "ATTR_ALIAS": "attribute",
    "METADATA_START": "",
    "METADATA_END": "'#-}'",
    "$END": "end of file",
}
_PUNCTUATION = {terminal: f"'{text}'" for text, terminal in PUNCTUATION.items()}
_OPENING = {"_LBRACE": "{", "_LPAR": "(", "_LSQUARE": "[", "_LESS": "<"}
_CLOSING = {"_RBRACE": "{", "_RPAR": "(", "_RSQUARE": "[", "_GREATER": "<"}


def unexpected(
    session: Any,
    states: list[int],
    values: list[Any],
    terminal: str,
    pos: int,
    after: int,
    end: int,
) -> ParseError:
    """The error for a token that the parser cannot take in these states."""
    expected = _expected(session, states)
    at_end = terminal == "$END"
    if at_end and pos >= session.end:
        opening = _innermost_opening(session, states, values)
        if opening is not None:
            bracket, place = opening
            message = f"unbalanced '{bracket}': reached the end of the file before it was closed"
            return session.error(message, place, place + 1)
    char = session.text[pos]
    word = session.text[pos:after]
    is_word = char.isascii() and (char.isalpha() or char == "_")
    if is_word and any(t.startswith("OP_") for t in expected):
        return _unknown_op(session, word, pos)
    found = "end of file" if pos >= session.end else f"'{_shown(session, pos)}'"
    if terminal == "?" and not (char.isprintable() and char.isascii()):
        return session.error(f"unexpected character {char!r}", pos, pos + 1)
    wanted = _phrase(session, expected)
    if not wanted:
        return session.error(f"unexpected {found}", pos)
    return session.error(f"expected {wanted}, found {found}", pos)


def _unknown_op(session: Any, word: str, pos: int) -> ParseError:
    from ..dialect import registry

    dialect = word.partition(".")[0]
    if "." in word and dialect not in registry.dialects:
        return session.error(f"unknown operation '{word}': no dialect '{dialect}' is loaded", pos)
    home = registry.dialects.get(dialect)
    if "." in word and home is not None and home.is_subset:
        return session.error(
            f"unknown operation '{word}': nnc has only part of dialect '{dialect}'; the rest "
            "can be read in generic form with --allow-unregistered-dialect",
            pos,
        )
    known = {**session.language.ops, **session.language.deferred}
    sought = word.lower()
    close = [name for name in known if name.lower() == sought]
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return session.error(f"unknown operation '{word}'{hint}", pos)


def _shown(session: Any, pos: int) -> str:
    place = session.diagnostic("", pos)
    assert place.source is not None and place.span is not None
    text = place.source[place.span[0] : place.span[1]]
    return text if len(text) <= 40 else text[:37] + "..."


def _expected(session: Any, states: list[int]) -> list[str]:
    """The terminals that the parser could shift: each is tried, with the reductions before it."""
    tables = session.language.tables
    found = []
    for terminal in tables.actions[states[-1]]:
        trial = list(states)
        while True:
            action = tables.actions[trial[-1]].get(terminal)
            if action is None:
                break
            if action >= 0:
                found.append(terminal)
                break
            rule = tables.rules[~action]
            if rule.length:
                del trial[-rule.length :]
            goto = tables.gotos[trial[-1]].get(rule.origin)
            if goto is None:
                break
            trial.append(goto)
            if terminal == "$END" and goto in tables.ends.values():
                found.append(terminal)
                break
    return found


def _phrase(session: Any, expected: list[str]) -> str:
    """The terminals in words, "a, b or c", with one word for all ops, attributes or types."""
    keywords = {terminal: f"'{word}'" for word, terminal in session.language.keywords.items()}
    if "ATTR_ALIAS" in expected and "_KW_DENSE" in expected:
        attribute = {"INTEGER", "FLOAT", "STRING", "SYMBOL", "TYPE", "_LSQUARE", "_LBRACE"}
        core = {f"_KW_{w}" for w in _ATTRIBUTE_WORDS}
        expected = [t for t in expected if t not in attribute | core] + ["ATTR_ALIAS"]
    words: dict[str, None] = {}
    for terminal in expected:
        if terminal.startswith("OP_"):
            words["operation"] = None
        elif terminal.startswith(("TYPE_IN_", "DIALECT_TYPE", "PLAIN_TYPE", "OPAQUE_TYPE")):
            words["type"] = None
        elif terminal.startswith(("DIALECT_ATTR", "PLAIN_ATTR", "ENUM_ATTR", "OPAQUE_ATTR")):
            words["attribute"] = None
        else:
            word = _WORDS.get(terminal) or _PUNCTUATION.get(terminal) or keywords.get(terminal)
            if word:
                words[word] = None
    if "operation" in words:
        for rest in ("string", "attribute", "type"):
            words.pop(rest, None)
    listed = sorted(words, key=lambda w: (w.startswith("'"), w))
    if len(listed) > 6:
        listed = [*listed[:5], "..."]
    if len(listed) <= 1:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} or {listed[-1]}"


_ATTRIBUTE_WORDS = (
    *("TRUE", "FALSE", "UNIT", "ARRAY", "DENSE", "DENSE_RESOURCE", "AFFINE_MAP", "AFFINE_SET"),
    *("SPARSE", "STRIDED", "DISTINCT", "LOC"),
)


def _innermost_opening(
    session: Any, states: list[int], values: list[Any]
) -> tuple[str, int] | None:
    """The last bracket that was opened and not closed, and its offset."""
    symbols = session.language.tables.symbols
    open_brackets: list[tuple[str, int]] = []
    for state, value in zip(states[1:], values, strict=True):
        symbol = symbols[state]
        if symbol in _OPENING:
            open_brackets.append((_OPENING[symbol], value))
        elif symbol in _CLOSING and open_brackets and open_brackets[-1][0] == _CLOSING[symbol]:
            open_brackets.pop()
    return open_brackets[-1] if open_brackets else None

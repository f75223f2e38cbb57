"""Reading one text: runs the parse tables over it, with the caches and aliases of that text."""

from __future__ import annotations

import re
from typing import Any

from ..attributes import SymbolRefAttr
from ..diagnostics import Diagnostic, NncError, ParseError, SourceFile
from ..location import FileLineColLoc
from ..types import FLOAT_KINDS, FloatType, IntegerType, Type, index, none
from . import scanning
from .grammar import Language
from .lexer import Token, handler_for, unescape
from .text_resources import TextResources

MAX_NESTING = 64
"""The deepest nesting of types and attributes."""

_SYMBOL_PART = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([\w$.]+))')


class Session:
    """The parser of one text; `run` parses a part of it."""

    def __init__(
        self, text: str, filename: str, language: Language, allow_unregistered: bool
    ) -> None:
        # The zero at the end lets the lexer look one character ahead without a check.
        self.text = text + "\0"
        self.end = len(text)
        self.source = SourceFile(filename, text)
        self.language = language
        self.allow_unregistered = allow_unregistered
        self.resources = TextResources()
        self.attribute_aliases: dict[str, Any] = {}
        self.type_aliases: dict[str, Any] = {}
        self.affine_env: dict[str, Any] = {}
        self.distinct: dict[int, Any] = {}
        self.extents: dict[Any, tuple[int, int]] = {}
        """The depth and size of nested attributes and types."""
        self._types: dict[str, Any] = {}
        self._dicts: dict[str, dict[str, Any]] = {}
        self._symbols: dict[str, Any] = {}
        self._nesting = 0
        self.at = 0
        self._short_dialect = ""

    # -- running the tables ------------------------------------------------------------------

    def run(self, start: str, pos: int, end: int) -> Any:
        """Parse the text between the offsets from a start symbol; gives its action's value."""
        self.at = pos
        try:
            return self._run(start, pos, end)
        except ParseError:
            raise
        except NncError as fault:
            raise self.error(fault.message, self.at) from None

    def _run(self, start: str, pos: int, end: int) -> Any:
        language = self.language
        tables = language.tables
        actions, gotos, rules = tables.actions, tables.gotos, language.rules
        lexers, text, skip = language.lexers, self.text, scanning.SKIP
        end_state = tables.ends[start]
        states = [tables.starts[start]]
        values: list[Any] = []
        defaults = language.default_reductions
        state, terminal, value, after = states[-1], None, None, pos
        while True:
            # Where there is nothing to decide, reduce before looking at the next token, since
            # what it can be, and so how it is lexed, is then known more exactly.
            rule = defaults[state] if terminal is None else None
            if rule is None:
                if terminal is None:
                    char = text[pos]
                    if char in " \n/\t\r":
                        pos = skip(text, pos).end()  # type: ignore[union-attr]
                        char = text[pos]
                    if pos >= end and state == end_state:
                        return values[-1]
                    if pos >= end:
                        terminal, value, after = "$END", None, pos
                    else:
                        self.at = pos
                        handler = lexers[state].get(char)
                        if handler is None:
                            handler = handler_for(language, actions[state], char)
                            lexers[state][char] = handler
                        terminal, value, after = handler(self, pos)
                action = actions[state].get(terminal)
                if action is None:
                    from .errors import unexpected

                    raise unexpected(self, states, values, terminal, pos, after, end)
                if action >= 0:
                    states.append(action)
                    values.append(value)
                    state, terminal, pos = action, None, after
                    continue
                rule = rules[~action]
            length, origin, reduce = rule
            if length:
                if reduce is not None:
                    made = reduce(self, values[-length:])
                    del values[-length:]
                    values.append(made)
                del states[-length:]
            else:
                values.append(reduce(self, ()))
            state = gotos[states[-1]][origin]
            states.append(state)
            if state == end_state and terminal == "$END":
                return values[-1]

    # -- errors --------------------------------------------------------------------------------

    def place(self, pos: int) -> FileLineColLoc:
        return FileLineColLoc(self.source.name, *self.source.position(min(pos, self.end)))

    def diagnostic(
        self, message: str, pos: int, end: int | None = None, severity: Any = "error", notes=()
    ) -> Diagnostic:
        """A message at an offset, with the line and what to underline."""
        place = self.place(pos)
        line = self.source.line(place.line)
        start = place.column - 1
        if end is None:
            end = pos + _token_length(self.text, pos, self.end)
        span = (start, max(start + 1, min(start + end - pos, len(line))))
        return Diagnostic(severity, message, place, tuple(notes), line, span)

    def error(self, message: str, pos: int, end: int | None = None, notes=()) -> ParseError:
        """An error at an offset in the text."""
        return ParseError(self.diagnostic(message, pos, end, notes=notes))

    def balanced(self, pos: int) -> int:
        """The end of the brackets that open at the offset."""
        try:
            return scanning.balanced(self.text, pos, self.end)
        except scanning.UnbalancedError as fault:
            raise self._unbalanced(fault) from None

    def _unbalanced(self, fault: scanning.UnbalancedError) -> ParseError:
        closing = scanning.CLOSING.get(fault.bracket, '"')
        if fault.found is None:
            return self.error(
                f"unbalanced '{fault.bracket}': '{closing}' is missing", fault.opening
            )
        found = self.text[fault.found]
        note = self.diagnostic(f"'{fault.bracket}' opens here", fault.opening, severity="note")
        return self.error(f"expected '{closing}', found '{found}'", fault.found, notes=[note])

    def nest(self, pos: int) -> None:
        """Enter a level of nested parsing, which the caller leaves by subtracting 1 from
        `_nesting`. Raises ParseError if the text nests too deeply.
        """
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise self.error("types and attributes are nested too deeply here", pos)

    # -- types ---------------------------------------------------------------------------------

    def type_token(self, terminal: str, pos: int) -> Token:
        """The whole type at the offset."""
        match = scanning.SIMPLE_TYPE(self.text, pos)
        if match is not None and self.text[match.end()] != "<":
            type = self.known_type(match[0])
            if type is not None:
                return terminal, type, match.end()
        return self._long_type(terminal, pos)

    def function_token(self, terminal: str, pos: int) -> Token:
        """The whole function type whose first parenthesis is at the offset."""
        match = scanning.SIMPLE_FUNCTION(self.text, pos)
        if match is not None and self.text[match.end()] != "<":
            type = self.known_type(match[0])
            if type is not None:
                return terminal, type, match.end()
        return self._long_type(terminal, pos)

    def _long_type(self, terminal: str, pos: int) -> Token:
        try:
            end = scanning.type_end(self.text, pos, self.end)
        except scanning.UnbalancedError as fault:
            raise self._unbalanced(fault) from None
        if end is None:
            raise self.error("expected '->' and results in function type", self.balanced(pos))
        text = self.text[pos:end]
        type = self.known_type(text)
        if type is None:
            type = self._type_between(pos, end, "")
            self._remember(text, type)
        return terminal, type, end

    def known_type(self, text: str) -> Type | None:
        """The type of a text that was read before."""
        type = self._types.get(text)
        return type if type is not None else self.language.known_types.get(text)

    def _remember(self, text: str, type: Type) -> None:
        # What an alias, a resource or a distinct attribute means depends on the text around it.
        if "!" in text or "#" in text or "dense_resource" in text or "distinct" in text:
            self._types[text] = type
        else:
            self.language.known_types[text] = type

    def _type_between(self, pos: int, end: int, dialect: str) -> Type:
        self.nest(pos)
        outer, self._short_dialect = self._short_dialect, dialect
        try:
            type = self._run("type_text", pos, end)
            self.at = pos  # as for a type that was known, so that errors have the same place
            return type
        except ParseError:
            raise
        except NncError as fault:
            raise self.error(fault.message, pos, end) from None
        finally:
            self._short_dialect = outer
            self._nesting -= 1

    def short_type(self, terminal: str, dialect: str, pos: int) -> Token:
        """A dialect's type without its prefix, `ptr<1>` for `!llvm.ptr<1>`."""
        try:
            end = scanning.type_end(self.text, pos, self.end)
        except scanning.UnbalancedError as fault:
            raise self._unbalanced(fault) from None
        assert end is not None
        text = f"!{dialect}.{self.text[pos:end]}"
        type = self.known_type(text)
        if type is None:
            type = self._type_between(pos, end, dialect)
            self._remember(text, type)
        return terminal, type, end

    def start_of_type(self, word: str, pos: int, end: int) -> Token:
        """The token of a type's first word: a dialect's type without prefix, else a scalar."""
        if self._short_dialect:
            known = self.language.types.get(f"{self._short_dialect}.{word}")
            if known is not None:
                self._short_dialect = ""
                return known[0], (known[1], pos), end
        return "SCALAR_TYPE", self.scalar_type(word, pos), end

    def scalar_type(self, word: str, pos: int) -> Type:
        """`i32`, `f32`, `index`, `none`"""
        match = re.fullmatch(r"(s|u|)i(\d+)", word, re.ASCII)
        if match is not None:
            width = int(match[2]) if len(match[2]) < 9 else 1 << 24
            if width >= 1 << 24:
                raise self.error("integer bitwidth is limited to 16777215 bits", pos)
            return IntegerType(width, match[1])
        if word in ("index", "none"):
            return index if word == "index" else none

        if word in FLOAT_KINDS:
            return FloatType(word)
        raise self.error(f"expected type, found '{word}'", pos)

    # -- dictionaries and symbols ----------------------------------------------------------------

    def dictionary(self, key: str, pos: int, end: int) -> dict[str, Any]:
        """The simple dictionary between the offsets; `key` is its text."""
        found = self._dicts.get(key)
        if found is None:
            found = self._run("dict_body", pos, end)
            if "dense_resource" not in key and "distinct" not in key:
                self._dicts[key] = found
        return found

    def symbol(self, text: str, pos: int) -> SymbolRefAttr:
        """The reference `@a::@b` of the text."""
        found = self._symbols.get(text)
        if found is None:
            names = [
                self.unescaped(quoted, pos) if quoted else plain
                for quoted, plain in _SYMBOL_PART.findall(text)
            ]
            found = self._symbols[text] = SymbolRefAttr(names[0], tuple(names[1:]))
        return found

    def unescaped(self, text: str, pos: int) -> str:
        """The characters of a string literal."""
        try:
            return unescape(text)
        except ValueError as fault:
            raise self.error(f"unknown escape '{fault}' in string literal", pos) from None


_TOKEN = re.compile(r'"[^"\n]*"|[%@^#!]?[\w$.]+(?:-\w+)*|->|.', re.ASCII).match


def _token_length(text: str, pos: int, end: int) -> int:
    match = _TOKEN(text, pos, end)
    return match.end() - pos if match is not None else 1

"""The lexer, which reads a token as one of the terminals that the parser's state accepts.

For a state of the parser and the first character, `handler_for` gives a function
(session, position) -> (terminal, value, end). The value of a name is (text, offset), and of a list
of values a list of such pairs; the value of a type or symbol reference is the object itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..types import FLOAT_KINDS
from . import scanning
from .directive import PUNCTUATION

Token = tuple[str, Any, int]
Handler = Callable[[Any, int], Token]

UNEXPECTED = "?"
MAX_DIGITS = 4000
"""The most digits of an integer: no type holds more, and Python refuses to read them."""

BUILTIN_TYPES = frozenset(
    ("tensor", "memref", "vector", "complex", "tuple", "index", "none", *FLOAT_KINDS)
)


def handler_for(language: Any, accepted: dict[str, int], char: str) -> Handler:
    """The function that reads a token with this first character, given the accepted terminals."""
    if char.isalpha() or char == "_":
        return _word(language, accepted)
    if char in _BY_CHARACTER:
        return _BY_CHARACTER[char](language, accepted)
    if char.isdigit():
        return _number(accepted)
    return _punctuation(char, accepted)


def _unexpected(session: Any, pos: int) -> Token:
    return UNEXPECTED, None, pos + 1


def _punctuation(char: str, accepted: dict[str, int]) -> Handler:
    longer = [
        (text, terminal)
        for text, terminal in PUNCTUATION.items()
        if text[0] == char and terminal in accepted
    ]
    longer.sort(key=lambda pair: -len(pair[0]))
    if not longer:
        return _unexpected
    if len(longer) == 1 and len(longer[0][0]) == 1:
        terminal = longer[0][1]
        return lambda session, pos: (terminal, pos, pos + 1)

    def read(session: Any, pos: int) -> Token:
        for text, terminal in longer:
            if session.text.startswith(text, pos):
                return terminal, pos, pos + len(text)
        return UNEXPECTED, None, pos + 1

    return read


def _word(language: Any, accepted: dict[str, int]) -> Handler:
    keywords = {w: t for w, t in language.keywords.items() if t in accepted}
    takes_ops = any(t.startswith("OP_") for t in accepted)
    ops = language.ops if takes_ops else {}
    deferred = language.deferred if takes_ops else {}
    type_terminal = next((t for t in ("TYPE", "TYPE_NOT_FUNCTION") if t in accepted), None)
    short = next((t for t in accepted if t.startswith("TYPE_IN_")), None)
    bare = "BARE_ID" in accepted
    scalar = "SCALAR_TYPE" in accepted
    match_word = scanning.WORD

    def read(session: Any, pos: int) -> Token:
        match = match_word(session.text, pos)
        if match is None:
            return UNEXPECTED, None, pos + 1
        word = match[0]
        terminal = keywords.get(word)
        if terminal is not None:
            return terminal, pos, match.end()
        op = ops.get(word)
        if op is None and word in deferred:
            op = language.met_op(word)
        if op is not None and op[0] in accepted:
            return op[0], (op[1], pos), match.end()
        if short is not None:
            dialect = short.removeprefix("TYPE_IN_").lower()
            if f"{dialect}.{word}" in language.types:
                return session.short_type(short, dialect, pos)
        is_type = word in BUILTIN_TYPES or scanning.SCALAR_TYPE(word)
        if is_type and type_terminal is not None:
            return session.type_token(type_terminal, pos)
        if is_type and short is not None:
            return session.type_token(short, pos)
        if scalar:
            return session.start_of_type(word, pos, match.end())
        if bare:
            return "BARE_ID", (word, pos), match.end()
        return UNEXPECTED, (word, pos), match.end()

    return read


def _values(language: Any, accepted: dict[str, int]) -> Handler:
    names = scanning.NAMES
    if "RESULTS" in accepted:
        match_results = scanning.RESULTS
        others = {terminal: to for terminal, to in accepted.items() if terminal != "RESULTS"}
        # After `return`, `%x` is an operand unless a `=` says that the next operation starts.
        operands = _values(language, others) if "VALUES" in others or "VALUE" in others else None

        def results(session: Any, pos: int) -> Token:
            match = match_results(session.text, pos)
            if match is None:
                return operands(session, pos) if operands else (UNEXPECTED, None, pos + 1)
            return "RESULTS", (match[1], pos), match.end()

        return results
    if "VALUES" in accepted:
        match_values = scanning.VALUES

        def values(session: Any, pos: int) -> Token:
            match = match_values(session.text, pos)
            if match is None:
                return UNEXPECTED, None, pos + 1
            return "VALUES", [(name, pos) for name in names(match[0])], match.end()

        return values
    match_value = scanning.VALUE

    def value(session: Any, pos: int) -> Token:
        match = match_value(session.text, pos)
        if match is None:
            return UNEXPECTED, None, pos + 1
        return "VALUE", (match[0], pos), match.end()

    return value


def _parenthesis(language: Any, accepted: dict[str, int]) -> Handler:
    if "PAREN_VALUES" in accepted:
        match_values = scanning.PAREN_VALUES
        names = scanning.NAMES

        def values(session: Any, pos: int) -> Token:
            match = match_values(session.text, pos)
            if match is None:
                return "_LPAR", pos, pos + 1
            return "PAREN_VALUES", names(match[0]), match.end()

        return values
    terminal = next((t for t in ("FUNCTION_TYPE", "TYPE") if t in accepted), None)
    if terminal is None:
        return _punctuation("(", accepted)

    def type(session: Any, pos: int) -> Token:
        return session.function_token(terminal, pos)

    return type


def _angle(language: Any, accepted: dict[str, int]) -> Handler:
    if "ANGLES" in accepted:

        def whole(session: Any, pos: int) -> Token:
            end = session.balanced(pos)
            return "ANGLES", (session.text[pos:end], pos), end

        return whole
    plain = _punctuation("<", accepted)
    if "PROPS" not in accepted:
        return plain
    match_properties = scanning.SIMPLE_PROPERTIES

    def properties(session: Any, pos: int) -> Token:
        match = match_properties(session.text, pos)
        if match is None:
            return plain(session, pos)
        return "PROPS", session.dictionary(match[0], pos + 1, match.end() - 1), match.end()

    return properties


def _brace(language: Any, accepted: dict[str, int]) -> Handler:
    plain = _punctuation("{", accepted)
    match_dict = scanning.SIMPLE_DICT

    def read(session: Any, pos: int) -> Token:
        if session.text.startswith("{-#", pos):
            return "METADATA_START", pos, pos + 3
        if "DICT" in accepted:
            match = match_dict(session.text, pos)
            if match is not None:
                return "DICT", session.dictionary(match[0], pos, match.end()), match.end()
        return plain(session, pos)

    return read


def _hash(language: Any, accepted: dict[str, int]) -> Handler:
    def read(session: Any, pos: int) -> Token:
        if session.text.startswith("#-}", pos):
            return "METADATA_END", pos, pos + 3
        match = scanning.ALIAS(session.text, pos)
        if match is None:
            return UNEXPECTED, None, pos + 1
        name, end = match[0][1:], match.end()
        if "." not in name and session.text[end] != "<":
            return "ATTR_ALIAS", (name, pos), end
        known = language.attributes.get(name)
        if known is not None:
            return known[0], (known[1], pos), end
        if session.text[end] == "<":
            end = session.balanced(end)
        return "OPAQUE_ATTR", (session.text[pos + 1 : end], pos), end

    return read


def _bang(language: Any, accepted: dict[str, int]) -> Handler:
    terminal = next((t for t in ("TYPE", "TYPE_NOT_FUNCTION") if t in accepted), None)
    terminal = terminal or next((t for t in accepted if t.startswith("TYPE_IN_")), None)
    if terminal is not None:
        return lambda session, pos: session.type_token(terminal, pos)

    def read(session: Any, pos: int) -> Token:
        match = scanning.ALIAS(session.text, pos)
        if match is None:
            return UNEXPECTED, None, pos + 1
        name, end = match[0][1:], match.end()
        if "." not in name and session.text[end] != "<":
            return "TYPE_ALIAS", (name, pos), end
        known = language.types.get(name)
        if known is not None:
            return known[0], (known[1], pos), end
        if session.text[end] == "<":
            end = session.balanced(end)
        return "OPAQUE_TYPE", (session.text[pos + 1 : end], pos), end

    return read


def _string(language: Any, accepted: dict[str, int]) -> Handler:
    def read(session: Any, pos: int) -> Token:
        match = scanning.STRING(session.text, pos)
        if match is None:
            raise session.error("expected '\"' in string literal", pos)
        text = match[1]
        if "\\" in text:
            text = session.unescaped(text, pos)
        return "STRING", (text, pos), match.end()

    return read


def unescape(text: str) -> str:
    r"""The characters of a string literal: `\n`, `\t`, `\"`, `\\` and `\XX` for a byte."""
    out = bytearray()
    at = 0
    while at < len(text):
        if text[at] != "\\":
            end = text.find("\\", at)
            end = len(text) if end < 0 else end
            out += text[at:end].encode("utf-8", "surrogatepass")
            at = end
            continue
        simple = {"n": 10, "t": 9, '"': 34, "\\": 92}.get(text[at + 1])
        if simple is not None:
            out.append(simple)
            at += 2
        else:
            try:
                out += bytes.fromhex(text[at + 1 : at + 3])
            except ValueError:
                raise ValueError(text[at : at + 2]) from None
            at += 3
    return out.decode("utf-8", "surrogateescape")


def _symbol(language: Any, accepted: dict[str, int]) -> Handler:
    def read(session: Any, pos: int) -> Token:
        match = scanning.SYMBOL(session.text, pos)
        if match is None:
            raise session.error("expected a symbol's name after '@'", pos)
        return "SYMBOL", session.symbol(match[0], pos), match.end()

    return read


def _block(language: Any, accepted: dict[str, int]) -> Handler:
    def read(session: Any, pos: int) -> Token:
        match = scanning.BLOCK(session.text, pos)
        if match is None:
            raise session.error("expected a block's name after '^'", pos)
        return "BLOCK", (match[0], pos), match.end()

    return read


def _number(accepted: dict[str, int]) -> Handler:
    if "DIMS" in accepted:
        return _dims(_number({t: 0 for t in accepted if t != "DIMS"}))

    def read(session: Any, pos: int) -> Token:
        match = scanning.NUMBER(session.text, pos)
        if match is None:
            return UNEXPECTED, None, pos + 1
        if match.end() - pos > MAX_DIGITS:
            raise session.error("the number is too long", pos, pos + 1)
        return ("FLOAT" if match[2] else "INTEGER"), (match[0], pos), match.end()

    return read


def _minus(language: Any, accepted: dict[str, int]) -> Handler:
    plain = _punctuation("-", accepted)
    if "INTEGER" not in accepted:
        return plain
    number = _number(accepted)

    def read(session: Any, pos: int) -> Token:
        if session.text[pos + 1].isdigit():
            return number(session, pos)
        return plain(session, pos)

    return read


def _dims(otherwise: Handler) -> Handler:
    def read(session: Any, pos: int) -> Token:
        match = scanning.DIMS(session.text, pos)
        if match is None:
            return otherwise(session, pos)
        return "DIMS", (match[0], pos), match.end()

    return read


def _or_dims(char: str) -> Callable[[Any, dict[str, int]], Handler]:
    def make(language: Any, accepted: dict[str, int]) -> Handler:
        plain = _punctuation(char, accepted)
        return _dims(plain) if "DIMS" in accepted else plain

    return make


_BY_CHARACTER: dict[str, Callable[[Any, dict[str, int]], Handler]] = {
    "%": _values,
    "(": _parenthesis,
    "<": _angle,
    "{": _brace,
    "#": _hash,
    "!": _bang,
    '"': _string,
    "@": _symbol,
    "^": _block,
    "-": _minus,
    "?": _or_dims("?"),
    "*": _or_dims("*"),
    "[": _or_dims("["),
}

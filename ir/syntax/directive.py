"""Base classes for the parts of assembly formats: elements and directives, with their grammar."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2s
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..diagnostics import DeclarationError

if TYPE_CHECKING:
    from ..definition import OpDefinition

_DIRECTIVES: dict[str, type[Directive]] = {}

PUNCTUATION = {
    ",": "_COMMA",
    ":": "_COLON",
    "::": "_COLON_COLON",
    "=": "_EQUAL",
    "==": "_EQUAL_EQUAL",
    ">=": "_GREATER_EQUAL",
    "<=": "_LESS_EQUAL",
    "->": "_ARROW",
    "(": "_LPAR",
    ")": "_RPAR",
    "[": "_LSQUARE",
    "]": "_RSQUARE",
    "{": "_LBRACE",
    "}": "_RBRACE",
    "<": "_LESS",
    ">": "_GREATER",
    "?": "_QUESTION",
    "*": "_STAR",
    "+": "_PLUS",
    "-": "_MINUS",
    "|": "_BAR",
    "/": "_SLASH",
    "...": "_ELLIPSIS",
}
"""The terminals of punctuation; names with a leading underscore are left out of a rule's children.
"""


def keyword_terminal(word: str) -> str:
    """The terminal of a keyword; distinct for words that differ in case or punctuation."""
    plain = re.sub(r"\W", "_", word).upper()
    exact = "" if word == plain.lower() else "_" + blake2s(word.encode(), digest_size=3).hexdigest()
    return f"_KW_{plain}{exact.upper()}"


def literal_terminal(text: str) -> str:
    """The terminal of a literal. Raises DeclarationError if it is no word or punctuation."""
    if text in PUNCTUATION:
        return PUNCTUATION[text]
    if re.fullmatch(r"[A-Za-z_][\w.$-]*", text):
        return keyword_terminal(text)
    raise DeclarationError(f"format: `{text}` is neither a word nor known punctuation")


def rule_name(prefix: str, text: str) -> str:
    """A grammar rule's name made from its content, so that equal content shares one rule."""
    return f"{prefix}_{blake2s(text.encode(), digest_size=5).hexdigest()}"


class Grammar:
    """What a format contributes: auxiliary rules by name, and the keywords it needs."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}
        self.keywords: dict[str, str] = {}

    def rule(self, prefix: str, alternatives: str) -> str:
        """Add a rule with these alternatives, `#SELF` being the rule itself; gives its name."""
        name = rule_name(prefix, alternatives)
        self.rules[name] = alternatives.replace("#SELF", name)
        return name

    def literal(self, text: str) -> str:
        terminal = literal_terminal(text)
        if terminal.startswith("_KW_"):
            self.keywords[text] = terminal
        return terminal

    def expand(self, fragment: str) -> str:
        """A hand-written fragment with its "quoted literals" turned into terminals."""
        return re.sub(r'"([^"]+)"', lambda m: self.literal(m[1]), fragment)

    def with_rules(self, fragment: str, rules: dict[str, str]) -> str:
        """A hand-written fragment that refers to rules of its own, which get unique names."""
        renamed = {
            name: f"{name}_{blake2s(text.encode(), digest_size=4).hexdigest()}"
            for name, text in rules.items()
        }

        def rename(text: str) -> str:
            return re.sub(r"[a-z_]\w*", lambda m: renamed.get(m[0], m[0]), self.expand(text))

        for name, text in rules.items():
            self.rules[renamed[name]] = rename(text)
        return rename(fragment)


class Element:
    """A part of a format. `space` says whether writing starts with a space."""

    space = True
    reads = True
    """Whether the grammar passes a child to `read`; literals have none."""

    def grammar(self, grammar: Grammar) -> str:
        """The Lark fragment; it must yield exactly one child if `reads`, else none."""
        raise NotImplementedError

    def read(self, child: Any, state: Any) -> None:
        """Store what the child means in the op state, an `OpState`."""

    def write(self, op: Any, printer: Any) -> None:
        """Append the text to `printer.out`."""

    def fields(self) -> Iterator[tuple[str, str]]:
        """(what, field name) for all that the element covers; what: "value", "type", .."""
        return iter(())


class Directive(Element):
    """Base of `custom<Name>(..)` directives.

    `fragment` is Lark grammar: rule names of `grammar.lark` and of `rules`, terminals, and
    "literals" in double quotes. `read` gets the list of the fragment's children: what rules
    return and the kept tokens, a token being (text, offset). Optional parts go into `rules`,
    whose values are alternatives: a rule yields the tuple of its children, led by the alias
    of the alternative if it has one (`-> alias`). `arguments` are the elements between the
    parentheses; their fields count as given.
    """

    fragment = ""
    rules: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, arguments: list[Any], definition: OpDefinition) -> None:
        self.arguments = arguments
        self.definition = definition
        self.names: list[Any] = [getattr(a, "name", None) for a in arguments]
        self.setup()

    def setup(self) -> None:
        """Look at the arguments; raise DeclarationError if they do not fit."""

    def grammar(self, grammar: Grammar) -> str:
        return grammar.rule("custom", grammar.with_rules(self.fragment, self.rules))

    def fields(self) -> Iterator[tuple[str, str]]:
        for argument in self.arguments:
            if isinstance(argument, Element):
                for what, name in argument.fields():
                    yield what, name
                    # A directive that reads values knows their types, or how to find them.
                    if what == "value":
                        yield "type", name


def listed(child: Any, width: int) -> list[Any]:
    """The items, in order, of a match of `list: item | list "," item` or `list: | list item`.

    Such a match is a chain of tuples; `width` is the number of children of one item.
    """
    items = []
    while child:
        items.append(child[-width:])
        child = child[0] if len(child) > width else None
    items.reverse()
    return items


def directive(name: str) -> Callable[[type[Directive]], type[Directive]]:
    """Register a custom directive under its name."""

    def register(cls: type[Directive]) -> type[Directive]:
        if name in _DIRECTIVES and _DIRECTIVES[name].__qualname__ != cls.__qualname__:
            raise DeclarationError(f"directive custom<{name}> is defined twice")
        _DIRECTIVES[name] = cls
        return cls

    return register


def find_directive(name: str, definition: OpDefinition) -> type[Directive]:
    """The class of `custom<name>` in the format of an op. Raises DeclarationError if there is none.

    It is defined in `directives.py`, or in the package of the op's dialect: in the op's module or
    in the module `syntax` beside it.
    """
    if name not in _DIRECTIVES:
        import_module(".directives", __package__)
    if name not in _DIRECTIVES:
        _import_syntax(definition.cls.__module__)
    if name not in _DIRECTIVES:
        known = ", ".join(sorted(_DIRECTIVES))
        raise DeclarationError(f"format: there is no directive custom<{name}>; known: {known}")
    return _DIRECTIVES[name]


def _import_syntax(module: str) -> None:
    """Import the module `syntax` beside another, if there is one."""
    package = getattr(sys.modules.get(module), "__package__", None)
    if package and find_spec(f"{package}.syntax") is not None:
        import_module(f"{package}.syntax")

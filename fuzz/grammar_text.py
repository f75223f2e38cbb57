"""Texts made from the Lark grammar: the core language and every op's assembly format."""

from __future__ import annotations

import random
from functools import cache
from importlib import import_module
from typing import Any

from . import vocabulary

MAX_DEPTH = 14


@cache
def productions() -> dict[str, list[list[str]]]:
    """The symbols of each rule's expansions; terminals are upper case."""
    from lark import Lark
    from lark.lexer import Lexer
    from nnc.ir.syntax.tables import STARTS

    class NoLexer(Lexer):
        def __init__(self, conf: Any) -> None:
            pass

        def lex(self, *args: Any) -> Any:
            return iter(())

    rules = Lark(language().text, parser="lalr", lexer=NoLexer, start=list(STARTS)).rules
    table: dict[str, list[list[str]]] = {}
    for rule in rules:
        table.setdefault(str(rule.origin.name), []).append([str(s.name) for s in rule.expansion])
    return table


def language() -> Any:
    """The grammar's language with all dialects loaded."""
    from nnc.ir.dialect import registry
    from nnc.ir.syntax.grammar import current_language

    import_module("nnc.dialects")
    registry.load_all()
    return current_language()


@cache
def literals() -> dict[str, list[str]]:
    """The texts of terminals: keywords, punctuation, op names, and dialects' types
    and attributes.
    """
    from nnc.ir.syntax.directive import PUNCTUATION

    known = language()
    table: dict[str, list[str]] = {terminal: [text] for text, terminal in PUNCTUATION.items()}
    for word, terminal in known.keywords.items():
        table.setdefault(terminal, []).append(word)
    for name, (terminal, _) in known.ops.items():
        table.setdefault(terminal, []).append(name)
    for name, (terminal, _) in known.types.items():
        table.setdefault(terminal, []).append(f"!{name}")
    for name, (terminal, _) in known.attributes.items():
        table.setdefault(terminal, []).append(f"#{name}")
    return table


@cache
def costs() -> dict[str, int]:
    """The smallest depth of each rule's expansion, with which an expansion can be ended."""
    table = productions()
    depth: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for name, choices in table.items():
            known = [
                1 + max((0 if s not in table else depth.get(s, 10**6) for s in symbols), default=0)
                for symbols in choices
            ]
            best = min(known)
            if best < depth.get(name, 10**6):
                depth[name], changed = best, True
    return depth


class TextMaker:
    """Expands rules; values are numbered so that many uses refer to defined values."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.out: list[str] = []
        self.values = 1
        self.blocks = 0

    def expand(self, symbol: str, depth: int = 0) -> None:
        """Append the text of a rule or terminal."""
        choices = productions().get(symbol)
        if choices is None:
            self.out.append(self.terminal(symbol))
            return
        if depth > MAX_DEPTH or len(self.out) > 4000:
            table = costs()
            picked = min(
                choices, key=lambda symbols: max((table.get(s, 0) for s in symbols), default=0)
            )
        else:
            picked = self.choice.choice(choices)
        for inner in picked:
            self.expand(inner, depth + 1)

    def terminal(self, name: str) -> str:
        """A text that the lexer may read as this terminal."""
        choice = self.choice
        if name in literals():
            return choice.choice(literals()[name])
        match name:
            case "VALUE" | "VALUES":
                count = 1 if name == "VALUE" else choice.choice((1, 1, 1, 2, 3))
                return ", ".join(self.value() for _ in range(count))
            case "PAREN_VALUES":
                listed = ", ".join(self.value() for _ in range(choice.choice((0, 1, 2, 2, 3))))
                return f"({listed})"
            case "RESULTS":
                self.values += 1
                many = choice.choice(("", "", "", ":2", ":0", ":9"))
                return f"%{self.values - 1}{many} ="
            case "TYPE" | "TYPE_NOT_FUNCTION" | "FUNCTION_TYPE" | "TYPE_IN_LLVM":
                return self.type(name)
            case "DIMS":
                return f"{vocabulary.dimension(choice)}x"
            case "INTEGER":
                return vocabulary.number(choice)
            case "FLOAT":
                return choice.choice(("1.0", "0.5", "-2.0e10", "1.0e400"))
            case "DICT" | "PROPS":
                text = f"{{a = {vocabulary.attribute_text(choice)}}}"
                return text if name == "DICT" else f"<{text}>"
            case "ANGLES":
                return f"<@{vocabulary.number(choice)}, [{{}}]>"
            case _:
                return self.word(name)

    def word(self, name: str) -> str:
        choice = self.choice
        match name:
            case "BLOCK":
                self.blocks += choice.random() < 0.5
                return f"^bb{choice.randint(0, self.blocks)}"
            case "BARE_ID":
                names = (
                    "a",
                    "value",
                    "d0",
                    "s0",
                    "d1",
                    "d2",
                    "nsw",
                    "fast",
                    "sym_name",
                    "parallel",
                )
                return choice.choice(names)
            case "STRING":
                return choice.choice(('"a"', '""', '"\\22\\00"', '"t.op"', '"func.call"', '"é"'))
            case "SYMBOL":
                return choice.choice(("@f", "@main", '@"a b"', "@f::@g"))
            case "ATTR_ALIAS":
                return choice.choice(("#a", "#map", "#map1"))
            case "TYPE_ALIAS":
                return choice.choice(("!a", "!t"))
            case "SCALAR_TYPE" | "PLAIN_TYPE":
                return choice.choice(vocabulary.SCALARS[:20])
            case "OPAQUE_TYPE":
                return "!foo.bar<[{}]>"
            case "OPAQUE_ATTR":
                return "#foo.bar<[{}]>"
            case "METADATA_START":
                return "{-#"
            case "METADATA_END":
                return "#-}"
            case _:
                return ""

    def type(self, name: str) -> str:
        choice = self.choice
        if name == "FUNCTION_TYPE":
            given, made = ([vocabulary.type_text(choice) for _ in range(2)] for _ in range(2))
            m, n = (choice.choice((0, 1, 1, 2)) for _ in range(2))
            return f"({', '.join(given[:m])}) -> ({', '.join(made[:n])})"
        return vocabulary.type_text(choice)

    def value(self) -> str:
        number = self.choice.randint(0, self.values)
        suffix = "#1" if self.choice.random() < 0.05 else ""
        return f"%{number}{suffix}"


def grammar_text(choice: random.Random) -> str:
    """A file of a few operations, aliases and the like, made from the grammar."""
    maker = TextMaker(choice)
    types = [vocabulary.type_text(choice) for _ in range(2)]
    if choice.random() < 0.3:
        maker.out.append("#map = affine_map<(d0) -> (d0)>\n!t = tensor<4xf32>\n")
    if choice.random() < 0.7:
        arguments = ", ".join(f"%{i}: {types[i]}" for i in range(2))
        maker.out.append(f"func.func @f({arguments}) {{\n")
        maker.values = 2
        for _ in range(choice.choice((1, 1, 2, 4))):
            maker.expand("op")
            maker.out.append("\n")
        maker.out.append("return\n}\n")
    else:
        for _ in range(choice.choice((1, 2, 5))):
            maker.expand(choice.choice(("op", "op", "file", "attribute", "location")))
            maker.out.append("\n")
    return " ".join(maker.out)

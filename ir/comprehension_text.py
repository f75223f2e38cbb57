"""The text of tensor comprehensions, read into trees; `comprehension.py` gives them meaning.

out[b.., m, n] += lhs[b.., m, k] * rhs[b.., k, n]

body       = tensor combiner scalar            combiner: `=` `+=` `*=` `max=` `min=`
tensor     = name `[` [index {`,` index}] `]`
index      = sums of dimensions times integers, with `//` and `%` by integers; `i..` is a
             group of dimensions; an integer is a literal or an attribute
scalar     = elements of tensors, numbers, attributes, dimensions (the coordinate), + - * /
             and comparisons, functions
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .conversions import CASTS
from .diagnostics import NncError
from .packing import DOTS, PARTS

COMBINERS = {"=": "", "+=": "add", "*=": "mul", "max=": "max", "min=": "min"}

FLOAT_FUNCTIONS = (
    *("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "expm1", "log1p"),
)
"""The functions that have no value of integers' type: those of integers are cast first."""

FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(FLOAT_FUNCTIONS, 1),
    **dict.fromkeys(("neg", "abs", "ceil", "floor", "round", "sign", "not", "is_nan"), 1),
    **dict.fromkeys(CASTS, 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "mod", "fmod", "min", "max"), 2),
    **dict.fromkeys(("and", "or", "xor", "shift_left", "shift_right"), 2),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), 2),
    **dict.fromkeys(DOTS, 2),
    **dict.fromkeys(PARTS, 2),
    "select": 3,
}
"""The scalar functions and their numbers of arguments. `div` of integers truncates, `mod` has the
divisor's sign and `fmod` the dividend's, `round` takes halves to even, `max` and `min` give NaN if
one is NaN, the `CASTS` convert to the result's element type, shifts past the width give what
shifting bit by bit would. The `DOTS` are dot products of integers packed in words, the `PARTS`
extract one such integer."""

OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


@dataclass(frozen=True, slots=True)
class Name:
    """A dimension or an attribute, in an index or a scalar. `i..` is a group."""

    name: str
    group: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A number."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Binary:
    """`+`, `-`, `*`, `//` or `%` in an index."""

    kind: str
    lhs: Index
    rhs: Index


Index = Name | Literal | Binary


@dataclass(frozen=True, slots=True)
class Element:
    """`x[i, j]`: an element of a tensor."""

    tensor: str
    indices: tuple[Index, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function of scalars."""

    function: str
    args: tuple[ScalarText, ...]


ScalarText = Element | Call | Name | Literal


@dataclass(frozen=True, slots=True)
class Body:
    """A comprehension as written."""

    out: Element
    combiner: str
    value: ScalarText

    def elements(self) -> list[Element]:
        """The elements read, in order, each once."""
        found: dict[Element, None] = {}
        stack: list[ScalarText] = [self.value]
        while stack:
            match stack.pop():
                case Element() as element:
                    found[element] = None
                case Call(_, args):
                    stack.extend(reversed(args))
        return list(found)

    def attributes(self) -> set[str]:
        """The names that stand for numbers in the scalar part."""
        found: set[str] = set()
        stack: list[ScalarText] = [self.value]
        while stack:
            match stack.pop():
                case Name(name):
                    found.add(name)
                case Call(_, args):
                    stack.extend(args)
        return found


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d*(?:e[+-]?\d+)?|\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>max=|min=|\.\.|\+=|\*=|==|!=|<=|>=|//|[-+*/%<>=(),\[\]]))"
)


def fault(text: str, message: str) -> NncError:
    """An error about a comprehension, which it quotes."""
    return NncError(f"comprehension `{text}`: {message}")


@lru_cache(maxsize=1024)
def parse_body(text: str) -> Body:
    """Read a comprehension. Raises NncError, which quotes it, where it is faulty."""
    return _Parser(text).body()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        end = 0
        while end < len(text.rstrip()):
            # `max=` and `min=` are combiners only after the result.
            found = _TOKEN.match(text, end)
            if found is None:
                raise fault(text, f"unexpected character '{text[end:].lstrip()[0]}'")
            kind = found.lastgroup or ""
            token = found[kind]
            if kind == "name" and token in ("max", "min") and text[found.end() :][:1] == "=":
                kind, token, end = "mark", token + "=", found.end() + 1
            else:
                end = found.end()
            self.tokens.append((kind, token))

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, mark: str) -> bool:
        if self.peek() == mark:
            self.at += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            found = f"'{self.peek()}'" if self.peek() else "its end"
            raise fault(self.text, f"expected '{mark}', found {found}")

    def body(self) -> Body:
        out = self.primary()
        if not isinstance(out, Element):
            raise fault(self.text, "expected the result's element, such as out[i..], first")
        combiner = self.take()
        if combiner not in COMBINERS:
            wanted = ", ".join(f"'{c}'" for c in COMBINERS)
            raise fault(self.text, f"expected one of {wanted} after the result")
        value = self.scalar()
        if self.peek():
            raise fault(self.text, f"unexpected '{self.peek()}'")
        return Body(out, COMBINERS[combiner], value)

    # -- scalars: comparisons bind weakest, then + -, then * /, then the sign ----------------

    def scalar(self) -> ScalarText:
        left = self.sum()
        if self.peek() in COMPARISONS:
            return Call(COMPARISONS[self.take()], (left, self.sum()))
        return left

    def sum(self) -> ScalarText:
        left = self.product()
        while self.peek() in ("+", "-"):
            left = Call(OPERATORS[self.take()], (left, self.product()))
        return left

    def product(self) -> ScalarText:
        left = self.sign()
        while self.peek() in ("*", "/"):
            left = Call(OPERATORS[self.take()], (left, self.sign()))
        return left

    def sign(self) -> ScalarText:
        if self.accept("-"):
            inner = self.sign()
            return Literal(-inner.value) if isinstance(inner, Literal) else Call("neg", (inner,))
        return self.primary()

    def primary(self) -> ScalarText:
        if self.accept("("):
            inner = self.scalar()
            self.expect(")")
            return inner
        kind, token = self.kind(), self.take()
        if kind == "number":
            return Literal(float(token) if "." in token else int(token))
        if kind != "name":
            raise fault(
                self.text, f"expected a value, found '{token}'" if token else "it is cut off"
            )
        if self.accept("["):
            return Element(token, tuple(self.listed(self.index, "]")))
        if self.accept("("):
            return self.call(token, tuple(self.listed(self.scalar, ")")))
        return Literal(float(token)) if token in ("inf", "nan") else Name(token)

    def call(self, function: str, args: tuple) -> Call:
        if function not in FUNCTIONS:
            raise fault(self.text, f"there is no function '{function}'")
        if len(args) != FUNCTIONS[function]:
            raise fault(
                self.text, f"'{function}' takes {FUNCTIONS[function]} arguments, not {len(args)}"
            )
        return Call(function, args)

    def listed(self, item, end: str) -> list:
        items = []
        if not self.accept(end):
            items.append(item())
            while self.accept(","):
                items.append(item())
            self.expect(end)
        return items

    # -- indices -------------------------------------------------------------------------------

    def index(self) -> Index:
        left = self.index_product()
        while self.peek() in ("+", "-"):
            left = Binary(self.take(), left, self.index_product())
        return left

    def index_product(self) -> Index:
        left = self.index_primary()
        while self.peek() in ("*", "//", "%"):
            left = Binary(self.take(), left, self.index_primary())
        return left

    def index_primary(self) -> Index:
        if self.accept("("):
            inner = self.index()
            self.expect(")")
            return inner
        if self.accept("-"):
            inner = self.index_primary()
            return (
                Literal(-inner.value)
                if isinstance(inner, Literal)
                else Binary("*", inner, Literal(-1))
            )
        kind, token = self.kind(), self.take()
        if kind == "number" and token.isdigit():
            return Literal(int(token))
        if kind == "name":
            return Name(token, self.accept(".."))
        raise fault(self.text, f"expected an index, found '{token}'" if token else "it is cut off")


def index_names(index: Index) -> list[Name]:
    """The names in an index, from left to right."""
    match index:
        case Name():
            return [index]
        case Binary(_, lhs, rhs):
            return index_names(lhs) + index_names(rhs)
    return []

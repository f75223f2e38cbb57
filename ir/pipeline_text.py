"""Pipelines as text, upstream's: `builtin.module(func.func(canonicalize,cse),fuse{limit=4})`.

Options stand in braces, separated by spaces; a value may be a list (`a,b`), be grouped by
braces or brackets, or stand between quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

from .diagnostics import Diagnostic, NncError
from .location import FileLineColLoc
from .passes import Pass, Pipeline

Lookup = Callable[[str], "type[Pass] | Sequence[Pass | Pipeline] | None"]
"""A function from a name to a pass class, to the steps of a named pipeline, or to None."""

PLACE = "<pass pipeline>"
"""The file name in messages about a pipeline."""

MAX_NESTING = 100
"""The deepest nesting of pipelines; operations hardly nest as deep."""


def parse_pipeline(
    text: str, lookup: Lookup, *, wrapped: bool = False, known: Callable[[], Sequence[str]] = tuple
) -> Pipeline:
    """A pipeline from its text. Raises NncError that points to the place.

    A bare list of passes runs on the module, unless `wrapped` asks for the anchor. `known`
    gives the names that may have been meant by a name that is not found.
    """
    parser = _Parser(text, lookup, known)
    steps = parser.pipeline()
    match steps:
        case [Pipeline() as only]:
            return only
    if wrapped:
        raise parser.error(
            "expected pass pipeline to be wrapped with the anchor operation type, "
            "e.g. 'builtin.module(...)'",
            0,
        )
    return Pipeline(tuple(steps), "builtin.module")


class _Parser:
    def __init__(self, text: str, lookup: Lookup, known: Callable[[], Sequence[str]]) -> None:
        self.text = text
        self.lookup = lookup
        self.known = known
        self.at = 0
        self.depth = 0

    def error(self, message: str, at: int | None = None) -> NncError:
        offset = self.at if at is None else at
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        source = self.text.split("\n")[line - 1]
        place = FileLineColLoc(PLACE, line, column + 1)
        return NncError(Diagnostic("error", message, place, (), source, (column, column + 1)))

    def skip(self) -> str:
        """Skip spaces. Returns the next character, empty at the end."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def pipeline(self) -> list[Pass | Pipeline]:
        steps = self.steps(None) if self.skip() else []
        if self.skip() == ")":
            raise self.error(
                "encountered extra closing ')' creating unbalanced parentheses while parsing "
                "pipeline"
            )
        return steps

    def steps(self, anchor: str | None) -> list[Pass | Pipeline]:
        """Passes separated by commas, up to a closing parenthesis or the end."""
        steps = self.step(anchor)
        while (char := self.skip()) not in ("", ")"):
            if char != ",":
                raise self.error("expected ',' after parsing pipeline")
            self.at += 1
            steps += self.step(anchor)
        return steps

    def step(self, anchor: str | None) -> list[Pass | Pipeline]:
        self.skip()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ",(){}":
            self.at += 1
        name = self.text[start : self.at].strip()
        if self.skip() == "(":
            return [self.nested(name, start)]
        options, given = {}, self.skip() == "{"
        if given:
            options = self.options()
        found = self.lookup(name) if name else None
        if found is None:
            raise self.error(self._unknown(name), start)
        if isinstance(found, type):
            return [self.one_pass(found, options, anchor, start)]
        if options:
            raise self.error(f"pipeline '{name}' takes no options", start)
        for one in found:
            if isinstance(one, Pass):
                self.check_anchor(type(one), anchor, start)
        return list(found)

    def _unknown(self, name: str) -> str:
        text = f"'{name}' does not refer to a registered pass or pass pipeline"
        import difflib

        close = difflib.get_close_matches(name, self.known(), 1)
        return f"{text}; did you mean '{close[0]}'?" if close else text

    def nested(self, name: str, start: int) -> Pipeline:
        if not name:
            raise self.error("expected the name of an operation before '('", start)
        self.at += 1
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error("pipelines are nested too deeply", start)
        inner = self.steps(name) if self.skip() != ")" else []
        self.depth -= 1
        if self.skip() != ")":
            raise self.error("encountered unbalanced parentheses while parsing pipeline")
        self.at += 1
        return Pipeline(tuple(inner), None if name == "any" else name)

    def one_pass(
        self, found: type[Pass], options: dict[str, str], anchor: str | None, start: int
    ) -> Pass:
        self.check_anchor(found, anchor, start)
        try:
            return make_pass(found, options)
        except NncError as error:
            raise self.error(error.message, start) from None

    def check_anchor(self, found: type[Pass], anchor: str | None, start: int) -> None:
        # On a module, a pass that is anchored elsewhere runs on what the module contains.
        if anchor not in (None, "any", "builtin.module", found.anchor) and found.anchor:
            raise self.error(
                f"Can't add pass '{found.title}' restricted to '{found.anchor}' on a "
                f"PassManager intended to run on '{anchor}', did you intend to nest?",
                start,
            )

    # -- options -----------------------------------------------------------------------------

    def options(self) -> dict[str, str]:
        opening = self.at
        self.at += 1
        options: dict[str, str] = {}
        while (char := self.skip()) != "}":
            if not char:
                raise self.error("missing closing '}' while processing pass options", opening)
            start = self.at
            while self.at < len(self.text) and self.text[self.at] not in "= }\t\n":
                self.at += 1
            key = self.text[start : self.at]
            if self.text[self.at : self.at + 1] != "=":
                options[key] = "true"
                continue
            self.at += 1
            options[key] = self.value(opening)
        self.at += 1
        return options

    def value(self, opening: int) -> str:
        """Read a value, up to a space or closing brace outside of quotes and brackets."""
        start, closers = self.at, []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "'\"":
                end = self.text.find(char, self.at + 1)
                if end < 0:
                    raise self.error("this quote is never closed")
                self.at = end + 1
                continue
            if not closers and (char.isspace() or char == "}"):
                return unwrapped(self.text[start : self.at])
            if char in "{[(":
                closers.append("}])"["{[(".index(char)])
            elif closers and char == closers[-1]:
                closers.pop()
            self.at += 1
        raise self.error("missing closing '}' while processing pass options", opening)


def unwrapped(text: str) -> str:
    """A value without the quotes or the braces around the whole of it."""
    for left, right in ('""', "''", "{}"):
        if len(text) > 1 and text[0] == left and text[-1] == right and right not in text[1:-1]:
            return text[1:-1]
    return text


def make_pass(pass_class: type[Pass], options: dict[str, str]) -> Pass:
    """A pass from its options as text. Raises NncError for unknown names and wrong values."""
    hints = get_type_hints(pass_class) if options else {}  # takes longer than some passes
    fields = {f.name: f for f in pass_class.options()}
    aliases = {f.metadata["alias"]: f.name for f in fields.values()}
    values: dict[str, Any] = {}
    for key, text in options.items():
        name = aliases.get(key, key.replace("-", "_"))
        if name not in fields:
            known = ", ".join(n.replace("_", "-") for n in fields) or "none"
            raise NncError(f"pass '{pass_class.name}' has no option '{key}'; it has: {known}")
        choices = fields[name].metadata["choices"]
        if choices and text not in choices:
            raise NncError(f"option '{key}' is one of {', '.join(choices)}; found '{text}'")
        try:
            values[name] = _option_value(text, hints[name])
        except ValueError:
            wanted = getattr(hints[name], "__name__", str(hints[name]))
            raise NncError(f"option '{key}' takes {wanted}; found '{text}'") from None
        except OverflowError:
            raise NncError(f"option '{key}' takes a number of at most 64 bits") from None
    return pass_class(**values)


def _option_value(text: str, kind: Any) -> Any:
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(text)
        return text.lower() in ("true", "1")
    if kind is int:
        number = int(text)
        number.to_bytes(8, "little", signed=True)
        return number
    if kind is float:
        return float(text)
    if str(kind).startswith("tuple"):
        inner = kind.__args__[0]
        return tuple(_option_value(part.strip(), inner) for part in text.split(",") if part.strip())
    return text


def pipeline_lines(pipeline: Pipeline, indent: str = "") -> list[str]:
    """The pipeline over several lines, every option of every pass given: what will run."""
    inner: list[str] = []
    for step in pipeline.steps:
        if isinstance(step, Pipeline):
            lines = pipeline_lines(step, indent + "  ")
        else:
            lines = [f"{indent}  {step.text(defaults=True)}"]
        lines[-1] += ","
        inner += lines
    if inner:
        inner[-1] = inner[-1][:-1]
    return [f"{indent}{pipeline.anchor or 'any'}(", *(inner or [""]), f"{indent})"]

"""Attributes of dialects that are a list of parameters: declare those, the text follows.

    LoopPeeled = parametrized("llvm.loop_peeled", "..", alias=True, count=integer_attribute)

reads and writes `#llvm.loop_peeled<count = 4 : i32>`. All such attributes are of one Python
class, so that a family of them costs nothing to start with: `ParametrizedAttr`, whose
`definition` says which it is. `value("count")` reads a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, attribute_class
from .diagnostics import NncError
from .types import NoneType, i1

REQUIRED: Any = object()
"""Marks a parameter without a default."""


@dataclass(frozen=True)
class Parameter:
    """A kind of parameter: how it is read from text's pieces and written.

    `read` gets the parse result of the grammar's rule `parameter`, `write` the value and the
    printer of attributes. With `several`, the value is a tuple. Text leaves out `default`.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any, Any], str]
    default: Any = REQUIRED
    several: bool = False

    def optional(self, default: Any = None) -> Parameter:
        """This parameter, but it may be left out."""
        return Parameter(self.read, self.write, () if self.several else default, self.several)

    def list(self) -> Parameter:
        """Any number of values of this parameter, separated by commas."""
        return Parameter(self.read, self.write, (), True)


class ParameterError(NncError):
    """A parameter's text does not fit; the attribute's name is added where it is known."""


def _attribute_of(piece: Any, wanted: str = "an attribute") -> Attribute:
    if piece[0] != "attribute":
        raise ParameterError(f"expected {wanted}")
    return piece[1]


def attribute_parameter(of: str = "", description: str = "") -> Parameter:
    """A parameter that is an attribute: any, or one named `of`, whose name the text leaves out."""
    from .dialect import registry

    def read(piece: Any) -> Attribute:
        if piece[0] == "nested" and of:
            known: Any = registry.dialect(of.partition(".")[0]).attributes[of]
            return known.from_syntax(piece[1])
        made = _attribute_of(
            piece, description or (of and f"an attribute '{of}'") or "an attribute"
        )
        if of and made.name != of:
            raise ParameterError(f"expected an attribute '{of}', found '{made}'")
        return made

    def write(value: Any, printer: Any) -> str:
        text = printer.attribute(value)
        return text.removeprefix(f"#{of}") if of else text

    return Parameter(read, write)


def checked_parameter(description: str, allows: Callable[[Attribute], bool]) -> Parameter:
    """A parameter that is an attribute for which `allows` is true, written as the attribute is.

    Other attributes are a ParameterError, in which `description` says what was expected.
    """

    def read(piece: Any) -> Attribute:
        made = _attribute_of(piece, description)
        if not allows(made):
            raise ParameterError(f"expected {description}, found '{made}'")
        return made

    return Parameter(read, lambda value, printer: printer.attribute(value))


def _number(piece: Any) -> int:
    made = _attribute_of(piece, "an integer")
    if not isinstance(made, IntegerAttr) or made.type is i1:
        raise ParameterError(f"expected an integer, found '{made}'")
    return made.value


def _truth(piece: Any) -> bool:
    made = _attribute_of(piece, "'true' or 'false'")
    if not isinstance(made, IntegerAttr) or made.type is not i1:
        raise ParameterError(f"expected 'true' or 'false', found '{made}'")
    return bool(made.value)


NUMBER = Parameter(_number, lambda value, printer: str(value))
TRUTH = Parameter(_truth, lambda value, printer: "true" if value else "false")
STRING = checked_parameter("a string", lambda a: isinstance(a, StringAttr))


def word_of(piece: Any) -> str:
    """The text of a parsed piece that is a word, bare or in quotes; also of the type `none`.

    Raises ParameterError if the piece is not a word.
    """
    if piece[0] == "word":
        return piece[1]
    if piece[0] == "attribute" and isinstance(piece[1], StringAttr):
        return piece[1].value
    if piece[0] == "attribute" and isinstance(piece[1], NoneType):
        return "none"
    raise ParameterError("expected a word")


def word_parameter(description: str, *cases: str, prefix: str = "") -> Parameter:
    """A keyword: one of `cases`, or any that starts with `prefix`; `description` names its kind."""

    def read(piece: Any) -> str:
        word = word_of(piece)
        if word not in cases and not (prefix and word.startswith(prefix)):
            expected = ", ".join(cases) or f"one that starts with {prefix}"
            raise ParameterError(f"'{word}' is not a {description}; expected: {expected}")
        return word

    return Parameter(read, lambda value, printer: value)


def flags_parameter(
    description: str, groups: Mapping[str, tuple[str, ...]], *cases: str
) -> Parameter:
    """A set of words, `"Public|Artificial"`; a group's word stands for all in it.

    The value is the tuple of words in the order of `cases`.
    """

    def read(piece: Any) -> tuple[str, ...]:
        given: set[str] = set()
        for word in word_of(piece).split("|"):
            if word.strip() not in cases:
                raise ParameterError(
                    f"'{word}' is not a {description}; expected: {', '.join(cases)}"
                )
            given.add(word.strip())
        for group, members in groups.items():
            if given.issuperset(members):
                given = (given - set(members)) | {group}
        return tuple(case for case in cases if case in given)

    def write(value: tuple[str, ...], printer: Any) -> str:
        text = "|".join(value)
        return f'"{text}"' if len(value) > 1 else text

    return Parameter(read, write)


# -- definitions -----------------------------------------------------------------------------------


class AttributeDefinition:
    """The declaration of an attribute with parameters, used like a class.

    Calling it with the parameters by name makes the attribute.
    """

    comma_at_end: ClassVar[bool] = False
    """Whether text may have a comma after the last parameter."""

    def __init__(
        self,
        name: str,
        doc: str,
        parameters: dict[str, Parameter],
        *,
        named: bool,
        alias: bool,
        separator: str,
        bare: bool,
    ) -> None:
        self.name = name
        self.__doc__ = doc
        self.parameters = parameters
        self.named = named
        self.alias = name.partition(".")[2] if alias else ""
        self.separator = separator
        self.bare = bare
        self.grammar = ("| parameters" if bare else "parameters") if parameters else None

    def __call__(self, **given: Any) -> ParametrizedAttr:
        values = []
        for name, parameter in self.parameters.items():
            value = given.pop(name, parameter.default)
            if value is REQUIRED:
                raise ParameterError(f"#{self.name}: struct is missing required parameter: {name}")
            values.append(tuple(value) if parameter.several else value)
        if given:
            raise ParameterError(f"#{self.name} has no parameter '{next(iter(given))}'")
        return ParametrizedAttr(self, tuple(values))

    def from_syntax(self, child: Any) -> ParametrizedAttr:
        """The attribute for the parse tree of `<..>`."""
        if len(child) == 1 and isinstance(child[0], tuple):
            child = child[0]
        if len(child) > 2 and not self.comma_at_end:
            raise ParameterError(f"#{self.name}: expected a parameter after ','")
        pairs = self._pairs(child) if self.named else self._in_order(child)
        given: dict[str, Any] = {}
        for name, pieces in pairs:
            parameter = self.parameters.get(name)
            if parameter is None or name in given:
                what = "duplicate or unknown struct parameter name"
                raise ParameterError(f"#{self.name}: {what}: {name}")
            if len(pieces) != 1 and not parameter.several:
                raise ParameterError(f"#{self.name}: parameter '{name}' takes one value")
            try:
                values = [parameter.read(piece) for piece in pieces]
            except ParameterError as fault:
                raise ParameterError(f"#{self.name}: parameter '{name}': {fault.message}") from None
            given[name] = tuple(values) if parameter.several else values[0]
        return self(**given)

    def _pairs(self, child: Any) -> Iterator[tuple[str, list[Any]]]:
        pieces: list[Any] = []
        found: list[tuple[str, list[Any]]] = []
        for item in child[1] if len(child) > 1 else ():
            if item[0] == "named":
                pieces = [item[2]]
                found.append((item[1], pieces))
            elif not found:
                raise ParameterError(f"#{self.name}: expected the name of a parameter and '='")
            else:
                pieces.append(item)
        return iter(found)

    def _in_order(self, child: Any) -> Iterator[tuple[str, list[Any]]]:
        pieces = list(child[1]) if len(child) > 1 else []
        for name, parameter in self.parameters.items():
            if parameter.several:
                yield name, pieces
                return
            if pieces:
                yield name, [pieces.pop(0)]
        if pieces:
            raise ParameterError(f"#{self.name} has {len(self.parameters)} parameters")

    def text(self, values: tuple[Any, ...], printer: Any) -> str:
        """The text after the attribute's name."""
        parts = []
        for (name, parameter), value in zip(self.parameters.items(), values, strict=True):
            if value == parameter.default:
                continue
            several = value if parameter.several else (value,)
            written = ", ".join([parameter.write(v, printer) for v in several])
            parts.append(f"{name} = {written}" if self.named else written)
        if not self.parameters or (self.bare and not parts):
            return ""
        return f"<{self.separator.join(parts)}>"


@attribute_class
class ParametrizedAttr(Attribute):
    """An attribute with parameters, of any definition."""

    definition: AttributeDefinition
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.definition.name)

    def _key(self) -> Any:
        return id(self.definition), self.values

    def value(self, name: str) -> Any:
        """The parameter of the name; its default where it was left out."""
        return self.values[list(self.definition.parameters).index(name)]

    def write_parameters(self, printer: Any) -> str:
        """The text after the attribute's name, with the printer's aliases."""
        return self.definition.text(self.values, printer)

    def children(self) -> Iterator[Attribute]:
        """The attributes among the parameters, those in lists too."""
        for value in self.values:
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, ArrayAttr):
                    yield from one.elements
                elif isinstance(one, Attribute):
                    yield one


def parametrized(
    name: str,
    doc: str,
    definition_class: type[AttributeDefinition] = AttributeDefinition,
    /,
    *,
    named: bool = True,
    alias: bool = False,
    separator: str = ", ",
    bare: bool = False,
    **parameters: Parameter,
) -> AttributeDefinition:
    """Declare an attribute: `<a = .., b = ..>`, or not `named`, `<.., ..>`.

    With `alias`, text refers to it as `#name`, defined before the text; with `bare`, text has no
    brackets where nothing is in them. Both as upstream prints the attribute.
    """
    from .dialect import registry

    definition = definition_class(
        name, doc, parameters, named=named, alias=alias, separator=separator, bare=bare
    )
    registry.dialect(name.partition(".")[0]).attributes[name] = definition  # type: ignore[assignment]
    return definition

"""Assembly formats: the declared text of an operation, read and written by one description.

A format string is compiled once, when the op class is made, to *elements*. Each element
knows its grammar fragment, how to read what the parser made of it, and how to write it.
The vocabulary is upstream's declarative assembly format:

    `word`  `,`  `->`           literals; `` ` ` `` writes a space, `` `` `` suppresses one
    $operand  $attribute        by field name; an attribute's type is left out where its
                                kind implies it; enumerations are written as `<case>`,
                                integer enumerations (`int_enum`) as the bare word,
                                dense arrays as `[1, 2]`
    $region  $successor         and `regions`, `successors` for all of them
    operands                    all operands; only without `$operand`
    type($x)  type(operands)  type(results)
    qualified(..)               the inner element; `qualified($attr)` writes the attribute whole
    functional-type(in, out)    in: `operands` or `$x`; out: `results` or `$y`
    attr-dict  attr-dict-with-keyword  prop-dict
    ( .. $anchor^ .. )?         an optional group, with `( .. ) : ( .. )?` for the other case
    oilist( `a` .. | `b` .. )   clauses in any order, each at most once
    custom<Name>($x, type($x))  a named directive for an odd shape

A directive that several dialects use is defined in `directives.py`; one that a single dialect
needs, in that dialect's package: in the module of the op, or in `syntax` beside it, which is
imported when a format names an unknown directive. What directives share is in `parts.py`.

To add one, subclass `Directive`, as its docstring tells, and register it with
`@directive("Name")`. In short:

    @directive("Range")
    class Range(Directive):
        '''`%a to %b`. Arguments: $low, $high.'''

        fragment = 'VALUE "to" VALUE'

        def read(self, child, state):
            low, high = self.names
            state.operands[low], state.operands[high] = [child[0]], [child[1]]

        def write(self, op, printer):
            low, high = (getattr(op, name) for name in self.names)
            printer.out.append(f" {printer.value(low)} to {printer.value(high)}")

An op class may also have `result_name` or `result_names()` and `block_argument_names(region)`,
hints for the names of values, and `default_dialect`, the dialect whose ops are written without
its name in the op's regions. A class of a dialect's types or attributes has `parameters_text()`
for writing; for reading it has `grammar`, alternatives like those of a directive's rule, and the
class method `from_syntax(child)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ..constraints import Derived, Exactly, Same
from ..definition import OpDefinition
from ..diagnostics import DeclarationError
from ..fields import (
    Attr,
    Operand,
    Operands,
    OptionalOperand,
    RegionField,
    SuccessorField,
    ValueField,
)
from .directive import Directive, Element, Grammar, find_directive, rule_name
from .elements import (
    AllOperands,
    AllRegions,
    AllSuccessors,
    AttrDict,
    AttributeElement,
    FunctionalType,
    Literal,
    OperandElement,
    PropDict,
    RegionElement,
    Space,
    SuccessorElement,
    TypeElement,
    fixed_position,
)
from .sequences import Group, OIList, reading, sequence

_TOKEN = re.compile(
    r"\s*(?:`(?P<literal>[^`]*)`|\$(?P<field>\w+)|(?P<word>[A-Za-z][\w-]*)|(?P<mark>[()?^:,<>|]))"
)


class _Scanner:
    """The tokens of a format string as (kind, text)."""

    def __init__(self, text: str, fault: Callable[[str], DeclarationError]) -> None:
        self.fault = fault
        self.tokens: list[tuple[str, str]] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise fault(f"unexpected character '{text[at:].lstrip()[0]}'")
            kind = found.lastgroup or ""
            self.tokens.append((kind, found[kind]))
            at = found.end()
        self.at = 0

    def peek(self, text: str | None = None) -> bool:
        """Whether there is another token; with `text`, whether it is this mark."""
        if self.at >= len(self.tokens):
            return False
        return text is None or self.tokens[self.at] == ("mark", text)

    def take(self) -> tuple[str, str]:
        if not self.peek():
            raise self.fault("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, mark: str) -> bool:
        if self.peek(mark):
            self.at += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            found = f"'{self.tokens[self.at][1]}'" if self.peek() else "its end"
            raise self.fault(f"expected '{mark}', found {found}")


class _Compiler:
    """Turns a format string into elements."""

    def __init__(self, text: str, definition: OpDefinition) -> None:
        self.definition = definition
        self.scan = _Scanner(text, self.fault)
        self.anchor: Element | None = None

    def fault(self, text: str) -> DeclarationError:
        return DeclarationError(f"op '{self.definition.name}': format: {text}")

    def elements(self, *ends: str) -> list[Element]:
        """Elements up to one of the marks, which is left in place, or to the end."""
        found: list[Element] = []
        while self.scan.peek() and not any(self.scan.peek(end) for end in ends):
            found.append(self.element())
            if self.scan.accept("^"):
                if not hasattr(found[-1], "present"):
                    raise self.fault("only a field, its type or a region can be an anchor")
                if self.anchor is not None:
                    raise self.fault("a group has two anchors")
                self.anchor = found[-1]
        return found

    def element(self) -> Element:
        kind, text = self.scan.take()
        match kind, text:
            case "literal", _ if not text.strip():
                return Space(text)
            case "literal", r"\n":
                return Space("\n")
            case "literal", _:
                return Literal(text)
            case "field", _:
                return self.field(text)
            case "mark", "(":
                return self.group()
            case "word", _:
                return self.word(text)
        raise self.fault(f"unexpected '{text}'")

    def field(self, name: str, whole: bool = False) -> Element:
        match next((f for f in self.definition.fields if f.name == name), None):
            case Operand() | Operands() | OptionalOperand() as part:
                return OperandElement(part, fixed_position(part, self.definition.operands))
            case Attr() as part:
                return AttributeElement(part, whole)
            case RegionField() as part:
                return RegionElement(part)
            case SuccessorField() as part:
                return SuccessorElement(part)
            case None:
                raise self.fault(f"'${name}' is not a field of the op")
        raise self.fault(f"result '${name}' can only appear in type(..)")

    def group(self) -> Element:
        outer, self.anchor = self.anchor, None
        then = self.elements(")")
        self.scan.expect(")")
        otherwise: list[Element] = []
        if self.scan.accept(":"):
            self.scan.expect("(")
            anchor, self.anchor = self.anchor, None
            otherwise = self.elements(")")
            self.anchor = self.anchor or anchor
            self.scan.expect(")")
        self.scan.expect("?")
        if self.anchor is None:
            raise self.fault("an optional group needs an anchor, `$field^`")
        group = Group(then, otherwise, self.anchor)
        self.anchor = outer
        return group

    def word(self, word: str) -> Element:
        match word:
            case "attr-dict":
                return AttrDict(keyword=False)
            case "attr-dict-with-keyword":
                return AttrDict(keyword=True)
            case "prop-dict":
                return PropDict()
            case "operands":
                return AllOperands()
            case "regions":
                return AllRegions()
            case "successors":
                return AllSuccessors()
            case "type":
                return self.in_parentheses(self.type_of)
            case "qualified":
                return self.in_parentheses(self.qualified)
            case "functional-type":
                return self.in_parentheses(self.functional)
            case "oilist":
                return self.in_parentheses(self.clauses)
            case "custom":
                return self.custom()
        raise self.fault(f"unknown directive '{word}'")

    def in_parentheses(self, inner: Callable[[], Element]) -> Element:
        self.scan.expect("(")
        element = inner()
        self.scan.expect(")")
        return element

    def type_of(self) -> TypeElement:
        kind, name = self.scan.take()
        if kind == "word" and name in ("operands", "results"):
            return TypeElement(None, name)
        for group in (self.definition.operands, self.definition.results):
            for part in group:
                if kind == "field" and part.name == name:
                    is_result = group is self.definition.results
                    return TypeElement(part, name, fixed_position(part, group), is_result)
        raise self.fault(f"type(..) needs an operand or result, found '{name}'")

    def qualified(self) -> Element:
        kind, text = self.scan.take()
        if kind == "field":
            return self.field(text, whole=True)
        return self.word(text)

    def functional(self) -> Element:
        inputs = self.type_of()
        self.scan.expect(",")
        return FunctionalType(inputs, self.type_of())

    def clauses(self) -> Element:
        clauses = [self.elements("|", ")")]
        while self.scan.accept("|"):
            clauses.append(self.elements("|", ")"))
        for clause in clauses:
            if not clause or not isinstance(clause[0], Literal):
                raise self.fault("each oilist clause starts with a literal")
        return OIList(clauses)

    def custom(self) -> Element:
        self.scan.expect("<")
        _, name = self.scan.take()
        self.scan.expect(">")
        self.scan.expect("(")
        arguments: list[Any] = []
        while not self.scan.accept(")"):
            kind, text = self.scan.take()
            match kind:
                case "literal":
                    arguments.append(text)
                case "field":
                    arguments.append(self.argument(text))
                case "word" if text == "ref":
                    arguments.append(
                        self.in_parentheses(lambda: self.argument(self.scan.take()[1]))
                    )
                case "word":
                    arguments.append(self.word(text))
                case _:
                    raise self.fault(f"unexpected '{text}' in custom<{name}>")
            if not self.scan.peek(")"):
                self.scan.expect(",")
        return find_directive(name, self.definition)(arguments, self.definition)

    def argument(self, name: str) -> Element:
        """A directive's argument: a field, or a result, which elsewhere formats cannot name."""
        for part in self.definition.results:
            if part.name == name:
                return TypeElement(part, name)
        return self.field(name)


def _set_spaces(elements: list[Element], space: bool = True, mark: bool = False):
    """Decide before which elements writing puts a space, by upstream's rules.

    `space`: the next element may have one; `mark`: the last one was punctuation. Gives both anew.
    """
    for element in elements:
        match element:
            case Space():
                space, mark = False, not element.text
            case Literal(text=text):
                single = len(text) == 1 or text == "->"
                forbidden = ">)}]," if mark else "<>(){}[],"
                element.space = space and (not single or text[0] not in forbidden)
                space = len(text) != 1 or text not in "<({["
                mark = not (text[0] == "_" or text[0].isalpha())
            case AttrDict() | PropDict():
                mark = False
            case Group():
                then = _set_spaces(element.then, space, mark)
                space, mark = _set_spaces(element.otherwise, *then)
            case OIList():
                for clause in element.clauses:
                    space, mark = _set_spaces(clause, space, mark)
            case AttributeElement(unit=True):
                pass
            case _:
                element.space = space or not mark
                space, mark = True, False
    return space, mark


class AssemblyFormat:
    """A compiled format: the grammar of what follows the op's name, reading and writing."""

    def __init__(self, elements: list[Element]) -> None:
        self.typed = {name for e in elements for what, name in e.fields() if what == "type"}
        self.elements = elements
        grammar = Grammar()
        self.shape = sequence(elements, grammar)
        self.rules = grammar.rules
        self.keywords = grammar.keywords
        self.plans: dict[tuple[str, ...], list[Any]] = {}
        """The inference steps for each set of fields whose types are given."""
        self._reading = [e for e in reading(elements) if e.reads]

    @property
    def terminal(self) -> str:
        """The terminal that stands for the names of all ops of this shape."""
        return rule_name("OP", self.shape).upper()

    def read(self, children: Any, state: Any) -> None:
        """Fill the op state from what the parser made of the text."""
        for element, child in zip(self._reading, children):  # noqa: B905 - the grammar sees to it
            element.read(child, state)

    def write(self, op: Any, printer: Any) -> None:
        """Append the text after the op's name to `printer.out`."""
        self.writer(op, printer)

    @cached_property
    def writer(self) -> Callable[[Any, Any], None]:
        """`write` as one function, made when an operation is first written."""
        from .writing import compile_writer

        return compile_writer(self.elements)


def _walk(elements: list[Element]):
    for element in elements:
        yield element
        if isinstance(element, Group):
            yield from _walk(element.then)
            yield from _walk(element.otherwise)
        elif isinstance(element, OIList):
            for clause in element.clauses:
                yield from _walk(clause)
        elif isinstance(element, Directive):
            yield from _walk([a for a in element.arguments if isinstance(a, Element)])


def compile_format(text: str, definition: OpDefinition) -> AssemblyFormat:
    """Compile an op's format. Raises DeclarationError if its text would not determine the op.

    Ops with equal formats and fields share one, since many hundred are made at start-up.
    """
    key = (text, _infers(definition), *[_signature(part) for part in definition.fields])
    known = _formats.get(key)
    if known is not None:
        return known[0]
    format = _compile(text, definition)
    if "custom<" not in text:
        # The definition keeps alive what the key identifies by address.
        _formats[key] = (format, definition)
    return format


_formats: dict[tuple[Any, ...], tuple[AssemblyFormat, OpDefinition]] = {}


def _signature(part: Any) -> tuple[Any, ...]:
    """What a format can depend on in a field."""
    if isinstance(part, Attr):
        return part.name, id(part.kind), id(part.default), part.optional
    if not isinstance(part, ValueField):
        return part.name, type(part), part.variadic
    match part.constraint:
        case Exactly(type=type_):
            return part.name, type(part), id(type_)
        case Same(field=other):
            return part.name, type(part), other
        case Derived(field=other, derive=derive):
            return part.name, type(part), other, id(derive)
    return part.name, type(part)


def _compile(text: str, definition: OpDefinition) -> AssemblyFormat:
    compiler = _Compiler(text, definition)
    elements = compiler.elements()
    if compiler.anchor is not None:
        raise compiler.fault("an anchor stands outside of a group")
    _set_spaces(elements)
    given = _check_fields(elements, definition, compiler.fault)
    for element in _walk(elements):
        if isinstance(element, (AttrDict, PropDict)):
            element.elided = given
        if isinstance(element, AttrDict):
            element.covers_all = given.issuperset(definition.attributes)
    return AssemblyFormat(elements)


def _check_fields(elements, definition, fault) -> frozenset[str]:
    """Check that the format determines all fields; gives the attributes named outside of dicts."""
    given: dict[str, set[str]] = {}
    for element in elements:
        for what, name in element.fields():
            given.setdefault(what, set()).add(name)
    values, types = given.get("value", set()), given.get("type", set())
    attributes = given.get("attribute", set())
    for kind, names, parts in (
        ("operand", values, definition.operands),
        ("region", given.get("region", set()), definition.regions),
        ("successor", given.get("successor", set()), definition.successors),
    ):
        for part in parts:
            if part.name not in names and f"{kind}s" not in names:
                raise fault(f"{kind} '{part.name}' is not in the format")
    dicts = [e for e in _walk(elements) if isinstance(e, (AttrDict, PropDict))]
    missing = [name for name in definition.attributes if name not in attributes]
    if missing and not dicts:
        raise fault(f"attribute '{missing[0]}' is not in the format, which has no attr-dict")
    if any(isinstance(e, PropDict) for e in dicts):
        for element in dicts:
            if isinstance(element, AttrDict):
                element.inherent = False
    _check_types(definition, types, fault)
    return frozenset(attributes)


def _infers(definition: OpDefinition) -> bool:
    """Whether the op class computes the types of its results."""
    return any(
        "infer_result_types" in vars(base)
        for base in definition.cls.__mro__[:-2]
        if base.__name__ != "Op"
    )


def _check_types(definition, types: set[str], fault) -> None:
    """Check that types are given, or follow from the constraints or `infer_result_types`."""
    known: set[str] = set(types)
    if "operands" in types:
        known |= {f.name for f in definition.operands}
    if "results" in types:
        known |= {f.name for f in definition.results}
    parts = (*definition.operands, *definition.results)
    progress = True
    while progress:
        before = len(known)
        for part in parts:
            match part.constraint:
                case Exactly():
                    known.add(part.name)
                case Same(field=other) | Derived(field=other) if other in known:
                    known.add(part.name)
                case Same(field=other) if part.name in known:
                    known.add(other)
        progress = len(known) > before
    infers = _infers(definition)
    for part in parts:
        if part.name in known or (infers and part in definition.results):
            continue
        what = "result" if part in definition.results else "operand"
        raise fault(f"the type of {what} '{part.name}' is neither given nor inferable")

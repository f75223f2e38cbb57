"""Compiles the elements of a format to one Python function that writes an operation.

`$lhs, $rhs attr-dict : type($result)` becomes

    def write(op, printer):
        names, types, out = printer.names, printer.types, printer.out
        operands, results, properties = op._operands, op.results, op.properties
        out.append(f" {names[operands[0]]}, {names[operands[1]]}")
        if op.attributes:
            element2.write(op, printer)
        out.append(f" : {types[results[0].type]}")

For an element that cannot be compiled its `write` is called, as for `element2` here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..attributes import Attribute, EnumAttr
from .attribute_printer import AttributePrinter
from .elements import (
    AttrDict,
    AttributeElement,
    Element,
    FunctionalType,
    Literal,
    OperandElement,
    Space,
    TypeElement,
)
from .sequences import Group

Writer = Callable[[Any, Any], None]

_HEAD = """\
def write(op, printer):
    names, types, out = printer.names, printer.types, printer.out
    operands, results, properties = op._operands, op.results, op.properties
"""


def compile_writer(elements: list[Element]) -> Writer:
    """A function (op, printer) that appends to `printer.out` what the elements write."""
    code = _Code()
    code.elements(elements, "    ")
    code.flush("    ")
    exec(_HEAD + "\n".join(code.lines), code.names)
    return code.names["write"]


class _Texts(dict):
    """A cache of the text that one element writes for attributes; none depends on aliases."""

    def __init__(self, element: AttributeElement) -> None:
        self._element = element

    def __missing__(self, value: Attribute | None) -> str:
        text = "" if value is None else self._element.text(value, AttributePrinter())
        self[value] = text
        return text


class _Code:
    """The lines of the function, and the objects that they name."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"join": ", ".join}
        self._pieces: list[str] = []  # of an f-string that is still to be appended

    def object(self, kind: str, thing: Any) -> str:
        """A name for an object in the code."""
        name = f"{kind}{len(self.names)}"
        self.names[name] = thing
        return name

    def text(self, text: str) -> None:
        self._pieces.append(repr(text)[1:-1].replace("{", "{{").replace("}", "}}"))

    def value(self, expression: str, element: Element) -> None:
        self._pieces.append((" " if element.space else "") + "{" + expression + "}")

    def flush(self, indent: str) -> None:
        """Emit the line that appends the pending f-string."""
        if self._pieces:
            quote = "'''" if any("'" in piece for piece in self._pieces) else "'"
            self.lines.append(f"{indent}out.append(f{quote}{''.join(self._pieces)}{quote})")
            self._pieces = []

    def call(self, element: Element, indent: str) -> None:
        self.flush(indent)
        self.lines.append(f"{indent}{self.object('element', element)}.write(op, printer)")

    def elements(self, elements: list[Element], indent: str) -> None:
        for element in elements:
            self.element(element, indent)

    def element(self, element: Element, indent: str) -> None:
        match element:
            case Literal(text=text, space=space):
                self.text(f" {text}" if space else text)
            case Space(text=text):
                self.text(text)
            case OperandElement(position=int() as position):
                self.value(f"names[operands[{position}]]", element)
            case TypeElement(position=int() as position, result=result):
                values = "results" if result else "operands"
                self.value(f"types[{values}[{position}].type]", element)
            case TypeElement(field=None, name=name):
                self.value(f"join([types[v.type] for v in {name}])", element)
            case FunctionalType(inputs=TypeElement(field=None), outputs=TypeElement(field=None)):
                types = "[v.type for v in operands], [v.type for v in results]"
                self.value(f"printer.function_type({types})", element)
            case AttributeElement(unit=True):
                pass
            case AttributeElement(name=name) if is_plain(element):
                texts = self.object("texts", _Texts(element))
                default = self.object("default", element.field.default)
                self.value(f'{texts}[properties.get("{name}", {default})]', element)
            case AttrDict():
                self.flush(indent)
                self.lines.append(f"{indent}if {_may_have_entries(element)}:")
                self.call(element, indent + "    ")
            case Group():
                self.group(element, indent)
            case _:
                self.call(element, indent)

    def group(self, group: Group, indent: str) -> None:
        """Emit `if` with the group's elements, and `else` with those for an absent anchor."""
        self.flush(indent)
        anchor = group.anchor
        if isinstance(anchor, AttributeElement):
            default = self.object("default", anchor.field.default)
            test = f'properties.get("{anchor.name}") not in (None, {default})'
        else:
            test = f"{self.object('anchor', anchor)}.present(op)"
        for head, elements in ((f"if {test}:", group.then), ("else:", group.otherwise)):
            if elements or head != "else:":
                self.lines.append(f"{indent}{head}")
                before = len(self.lines)
                self.elements(elements, indent + "    ")
                self.flush(indent + "    ")
                if len(self.lines) == before:
                    self.lines.append(f"{indent}    pass")


def is_plain(element: AttributeElement) -> bool:
    """Whether the attribute's text depends on nothing but the attribute, which is interned."""
    kind = element.field.kind
    is_enum = kind.cls is not None and issubclass(kind.cls, EnumAttr)
    return not element.whole and bool(kind.cases or kind.bare is not None or is_enum)


def _may_have_entries(element: AttrDict) -> str:
    if element.inherent and not element.covers_all:
        return "op.attributes or properties"
    return "op.attributes"

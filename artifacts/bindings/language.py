"""The description of a language: templates, names of element types, reserved words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...ir.diagnostics import NncError
from ...runtime.systems import LINUX, MACOS, WINDOWS
from ..interface import BYTES, Interface, TensorInterface
from .names import Style, identifiers, pascal_case, snake_case

if TYPE_CHECKING:
    import jinja2

ELEMENTS: Mapping[str, tuple[str, int]] = {
    "f64": ("float64", 8),
    "f32": ("float32", 4),
    "f16": ("float16", 2),
    "bf16": ("bfloat16", 2),
    "i64": ("int64", 8),
    "i32": ("int32", 4),
    "i16": ("int16", 2),
    "i8": ("int8", 1),
    "ui64": ("uint64", 8),
    "ui32": ("uint32", 4),
    "ui16": ("uint16", 2),
    "ui8": ("uint8", 1),
    "i1": ("bool", 1),
}
"""The usual name of each element type, and its size in bytes."""

UNIX = (LINUX.name, MACOS.name)
EVERYWHERE = (*UNIX, WINDOWS.name)
"""The names of all systems."""

ONES = {
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "f8E4M3FN": 0x38,
    "f8E4M3FNUZ": 0x40,
    "f8E5M2": 0x3C,
    "f8E5M2FNUZ": 0x40,
    "f8E8M0FNU": 0x7F,
    "f4E2M1FN": 0x2,
    **dict.fromkeys(("i4", "ui4", "i2", "ui2"), 1),
}
"""The bits of the number 1 in types that most languages lack."""


def quoted(text: str) -> str:
    """A string literal of C and C-like languages; unprintable characters become `?`."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def elements(names: str) -> dict[str, str]:
    """A language's types, by the element types of `ELEMENTS`; `names` has all in their order."""
    return dict(zip(ELEMENTS, names.split(), strict=True))


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set: easier to read than set literals."""
    return frozenset(text.split())


@dataclass(frozen=True)
class Language:
    """A language that bindings are made for.

    `files` has the template of each file, and its path; `{module}` in it is the model's name in the
    style `module`. `elements` are the types of elements, by the IR's name; `reserved` are words
    that no identifier may be. `build` and `run` are the commands in the README, `needs` their
    requirements; all may be templates. A language's `usage.md.jinja` ends its README.
    """

    name: str
    title: str
    files: Mapping[str, str]
    elements: Mapping[str, str]
    reserved: frozenset[str]
    needs: str
    build: str
    run: str
    identifier: Style | None = snake_case
    """How identifiers of inputs and outputs are spelled; None if the model's names are used as
    quoted keys."""
    module: Style = snake_case
    type_name: Style = pascal_case
    quote: Callable[[str], str] = quoted
    input_types: tuple[str, str] = ("{type}", "{type}")
    """The declared type of an input of fixed shape, and of any other: templates with the element's
    `type` (`Type` capitalized) and the `rank`."""
    output_types: tuple[str, str] = ("{type}", "{type}")
    module_reserved: frozenset[str] = frozenset()
    """Further names that the model's module must not have."""
    systems: tuple[str, ...] = UNIX
    """The operating systems on which its files can be built and loaded."""
    more: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Further tables by element type; templates use a table's name like an attribute of a tensor.
    """


@cache
def language(name: str) -> Language:
    """The language of this name, one of `LANGUAGES`, from its package beside this module."""
    return import_module(f".{name.replace('-', '_')}", __package__).LANGUAGE


class TensorView:
    """An input or output, for templates."""

    def __init__(
        self, tensor: TensorInterface, kind: str, identifier: str, spoken: Language
    ) -> None:
        # A byte of bits is what an unsigned byte is.
        stored = "ui8" if tensor.type in BYTES else tensor.type
        if stored not in ELEMENTS or stored not in spoken.elements:
            raise NncError(f"'{tensor.name}': {spoken.title} has no type for '{tensor.type}'")
        self.name, self.code = tensor.name, tensor.type
        self.quoted = spoken.quote(tensor.name)
        self.id = self.quoted if spoken.identifier is None else identifier
        self.type = spoken.elements[stored]
        self.element, self.bytes = ELEMENTS[stored]
        self.element = BYTES.get(tensor.type, self.element)
        self.shape, self.dims, self.fixed = tensor.shape, tensor.dims, tensor.fixed
        self.shape_text = tensor.shape_text()
        self.rank, self.count = len(tensor.shape), tensor.count
        self.free_shape = ", ".join(str(-1 if n is None else n) for n in tensor.shape)
        self.dims_json = json.dumps(tensor.shape)
        self.one = ONES.get(tensor.type)
        form = (spoken.input_types if kind == "input" else spoken.output_types)[not self.fixed]
        self.declared = form.format(type=self.type, Type=self.type.capitalize(), rank=self.rank)
        self.is_float = tensor.type in ("f64", "f32")
        self.is_bool = tensor.type == "i1"
        self.example_shape = tuple(2 if extent is None else extent for extent in tensor.shape)
        self.example_count = tensor.count * 2 ** tensor.shape.count(None)
        for name, table in spoken.more.items():
            setattr(self, name, table[stored])

    @property
    def about(self) -> str:
        """Element type and shape, for a comment."""
        return f"{self.element}, {comment(self.shape_text)}"


class ModelView:
    """A model, for templates."""

    def __init__(self, found: Interface, spoken: Language, library: str) -> None:
        self.prefix, self.upper = found.prefix, found.prefix.upper()
        taken = spoken.reserved | spoken.module_reserved
        self.module, self.type = (
            identifiers([found.prefix], "model", style, taken)[0]
            for style in (spoken.module, spoken.type_name)
        )
        self.library = library
        # Where a program finds the library that lies beside it, in the words of its linker.
        self.macos = library.endswith(MACOS.library)
        self.origin = "@loader_path" if self.macos else "$ORIGIN"
        self.windows = library.endswith(WINDOWS.library)
        self.target = found.target
        self.inside = found.weights == "inside"
        self.weights = f"{found.prefix}.weights"
        self.inputs = list(self._tensors(found.inputs, "input", spoken))
        self.outputs = list(self._tensors(found.outputs, "output", spoken))
        self.types = sorted({one.type for one in (*self.inputs, *self.outputs)})
        free = [one.type for one in (*self.inputs, *self.outputs) if not one.fixed]
        self.free_types = list(dict.fromkeys(free))
        self.has_free_inputs = not all(one.fixed for one in self.inputs)
        self.has_free_outputs = not all(one.fixed for one in self.outputs)

    def _tensors(
        self, tensors: tuple[TensorInterface, ...], kind: str, spoken: Language
    ) -> Iterator[TensorView]:
        made = names = [one.name for one in tensors]
        if spoken.identifier is not None:
            made = identifiers(names, kind, spoken.identifier, spoken.reserved)
        for tensor, identifier in zip(tensors, made, strict=True):
            yield TensorView(tensor, kind, identifier, spoken)


def comment(text: str) -> str:
    """Text that cannot end or continue a comment, in any of the languages."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain.replace("\\", "/").replace("*/", "* /").replace('"""', "'''")


def files_of(name: str, found: Interface, library: str) -> dict[str, str]:
    """The texts of a language's files by their relative paths. Raises NncError."""
    spoken = language(name)
    view = ModelView(found, spoken, library)
    return {
        path.format(module=view.module, prefix=view.prefix, type=view.type): rendered(
            template, view, spoken
        )
        for template, path in {**spoken.files, "README.md": "README.md"}.items()
    }


def rendered(template: str, view: ModelView, spoken: Language) -> str:
    """A template of a language rendered for a model."""
    templates = _templates(spoken.name)
    named: dict[str, Any] = {"model": view, "language": spoken}
    for key in ("build", "run"):
        named[key] = _template(spoken.name, getattr(spoken, key)).render(named)
    return templates.get_template(f"{template}.jinja").render(named)


@cache
def _template(name: str, text: str) -> jinja2.Template:
    """A template in a language's description."""
    return _templates(name).from_string(text)


@cache
def _templates(name: str) -> jinja2.Environment:
    """The templates in a language's package."""
    import jinja2

    folder = Path(__file__).parent
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder / name.replace("-", "_"), folder]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["comment"] = comment
    templates.filters["padded"] = lambda text, column: text.ljust(max(map(len, column)))
    return templates

"""Objective-C: classes on Foundation, under automatic reference counting or without it."""

from collections.abc import Sequence

from ..c import KEYWORDS, TYPES
from ..language import Language, words
from ..names import camel_case, pascal_case


def _property(words: Sequence[str]) -> str:
    """A property name such as `pixelValues`, avoiding prefixes like `new` that imply ownership."""
    owning = words[0].lower() in ("alloc", "copy", "init", "mutable", "new")
    return camel_case(["the", *words] if owning else words)


def _literal(text: str) -> str:
    """A C string of UTF-8, from which Foundation makes a string."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return '@"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


LANGUAGE = Language(
    name="objc",
    title="Objective-C",
    files={
        "model.h": "{type}Model.h",
        "model.m": "{type}Model.m",
        "example.m": "example.m",
        "Makefile": "Makefile",
    },
    elements=TYPES,
    reserved=KEYWORDS
    | words(
        """
        id self super nil Nil YES NO BOOL SEL IMP class superclass hash description isProxy zone
        retain release autorelease retainCount dealloc finalize version load initialize in out
        inout bycopy byref oneway debugDescription observationInfo isa
        """
    ),
    needs="Foundation: macOS's clang, or gobjc and GNUstep (libgnustep-base-dev)",
    build="make",
    run="./example",
    identifier=_property,
    type_name=pascal_case,
    quote=_literal,
    more={
        "printed": dict.fromkeys(TYPES, "%d")
        | {"f64": "%.9g", "f32": "%.9g", "i64": "%lld", "ui64": "%llu", "ui32": "%u"},
        "promoted": dict.fromkeys(TYPES, "int")
        | {"f64": "double", "f32": "double", "ui32": "unsigned"}
        | {"i64": "long long", "ui64": "unsigned long long"},
    },
)

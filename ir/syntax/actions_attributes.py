"""Parser actions for attributes."""

from __future__ import annotations

from typing import Any

from .. import attributes as a
from .. import types as t
from ..diagnostics import NncError
from .literals import (
    dense_elements,
    float_attribute,
    integer_attribute,
    number_of,
    sparse_elements,
)
from .reductions import action, actions, dialect_text, nested


@action
def _string(s, c):
    type = c[1] if len(c) > 1 and c[1] is not t.none else None
    return a.StringAttr(c[0][0], type)


@action
def _dense_array(s, c):
    element = c[0]
    if not isinstance(element, (t.IntegerType, t.FloatType)):
        raise NncError(f"array<{element}>: the elements must be integers or floats")
    is_bool = isinstance(element, t.IntegerType) and element.width == 1
    if element.width % 8 and not is_bool:
        raise NncError(f"array<{element}>: element type bitwidth must be a multiple of 8")
    values = [number_of(s, token, element) for token in c[1]] if len(c) > 1 else []
    if is_bool:
        values = [bool(v) for v in values]
    return a.DenseArrayAttr(element, tuple(values))


@action
def _resource(s, c):
    (key, pos), type = c
    if not isinstance(type, t.ShapedType):
        raise s.error(f"dense_resource expected a shaped type, found '{type}'", pos)
    return a.DenseResource(key, type, s.resources.blob(key))


@action
def _distinct(s, c):
    number = int(c[0][0], 0)
    made = a.DistinctAttr(number, c[1] if len(c) > 1 else a.UnitAttr())
    if s.distinct.setdefault(number, made) is not made:
        raise s.error(f"distinct[{number}] was given another attribute before", c[0][1])
    return made


@action
def _alias(s, c):
    name, pos = c[0]
    if name not in s.attribute_aliases:
        raise s.error(f"undefined symbol alias id '{name}'", pos)
    return s.attribute_aliases[name]


@action
def _enum_attribute(s, c):
    (cls, pos), words = c
    return enum_from(s, cls, words, pos)


def enum_from(s: Any, cls: Any, words: list[tuple[str, int]], pos: int | None = None) -> Any:
    """The attribute of the enumeration `cls` with these cases, each a word and its offset."""
    try:
        return cls(",".join([word for word, _ in words]))
    except NncError as fault:
        raise s.error(fault.message, words[0][1] if pos is None else pos) from None


@action
def _opaque_attribute(s, c):
    dialect, text, parts = dialect_text(s, *c[0], what="attribute")
    return a.OpaqueAttr(dialect, text, c[1] if len(c) > 1 else None, parts)


actions(
    integer=lambda s, c: integer_attribute(s, c[0], c[1] if len(c) > 1 else t.i64),
    float=lambda s, c: float_attribute(s, c[0], c[1] if len(c) > 1 else t.f64),
    true_attribute=lambda s, c: a.BoolAttr(True),
    false_attribute=lambda s, c: a.BoolAttr(False),
    unit=lambda s, c: a.UnitAttr(),
    no_array=lambda s, c: a.ArrayAttr(()),
    array=lambda s, c: nested(s, a.ArrayAttr(tuple(c[0])), c[0]),
    dict_attribute=lambda s, c: nested(s, a.DictAttr(tuple(c[0].items())), c[0].values()),
    string_element=lambda s, c: ("string", *c[0]),
    complex_element=lambda s, c: ("complex", c[0], c[1], c[0][-1]),
    no_dense=lambda s, c: dense_elements(s, None, c[0]),
    dense=lambda s, c: dense_elements(s, c[0], c[1]),
    no_sparse=lambda s, c: sparse_elements(s, None, None, c[0]),
    sparse=lambda s, c: sparse_elements(s, *c),
    strided=lambda s, c: a.StridedLayoutAttr(tuple(c[0]), c[1] if len(c) > 1 else 0),
    # the field's attribute kind already says which enumeration it is
    whole_enum_case=lambda s, c: c[1],
    # parameters of dialects' attributes: tagged tuples that `ir/parameters.py` interprets
    parameter_list=lambda s, c: ("list", *c),
    parameter_list_comma=lambda s, c: ("list", *c, ","),
    parameter_strings=lambda s, c: ("list", [("attribute", a.StringAttr(text)) for text, _ in c]),
    named_parameter=lambda s, c: ("named", c[0][0], c[1]),
    attribute_parameter=lambda s, c: ("attribute", c[0]),
    word_parameter=lambda s, c: ("word", c[0][0]),
    nested_parameter=lambda s, c: ("nested", c[0]),
    words_parameter=lambda s, c: ("words", c[0]),
    braced_parameter=lambda s, c: ("braced", c[0]),
    called_word=lambda s, c: (c[0][0], tuple(c[1]) if len(c) > 1 else ()),
    aliased_parameter=lambda s, c: ("attribute", _alias(s, c)),
)

"""What the productions of attributes make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from .reductions import action, dialect_text, nested

if TYPE_CHECKING:
    from .session import Session


@action
def _integer(s, c):
    return integer_attribute(s, c[0], c[1] if len(c) > 1 else t.i64)


@action
def _float(s, c):
    return float_attribute(s, c[0], c[1] if len(c) > 1 else t.f64)


@action
def _true_attribute(s, c):
    return a.BoolAttr(True)


@action
def _false_attribute(s, c):
    return a.BoolAttr(False)


@action
def _unit(s, c):
    return a.UnitAttr()


@action
def _string(s, c):
    type = c[1] if len(c) > 1 and c[1] is not t.none else None
    return a.StringAttr(c[0][0], type)


@action
def _no_array(s, c):
    return a.ArrayAttr(())


@action
def _array(s, c):
    return nested(s, a.ArrayAttr(tuple(c[0])), c[0])


@action
def _dict_attribute(s, c):
    return nested(s, a.DictAttr(tuple(c[0].items())), c[0].values())


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
def _string_element(s, c):
    return "string", *c[0]


@action
def _complex_element(s, c):
    return "complex", c[0], c[1], c[0][-1]


@action
def _no_element_list(s, c):
    return []


@action
def _element_list(s, c):
    return c[0]


@action
def _no_dense(s, c):
    return dense_elements(s, None, c[0])


@action
def _dense(s, c):
    return dense_elements(s, c[0], c[1])


@action
def _no_sparse(s, c):
    return sparse_elements(s, None, None, c[0])


@action
def _sparse(s, c):
    return sparse_elements(s, *c)


@action
def _resource(s, c):
    (key, pos), type = c
    if not isinstance(type, t.ShapedType):
        raise s.error(f"dense_resource expected a shaped type, found '{type}'", pos)
    return a.DenseResource(key, type, s.resources.blob(key))


@action
def _strided(s, c):
    return a.StridedLayoutAttr(tuple(c[0]), c[1] if len(c) > 1 else 0)


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
def _whole_enum_case(s, c):
    return c[1]  # the kind of the place says which enumeration it is


@action
def _enum_attribute(s, c):
    (cls, pos), words = c
    return enum_from(s, cls, words, pos)


def enum_from(s: Session, cls: Any, words: list[tuple[str, int]], pos: int | None = None) -> Any:
    """An enumeration's attribute from the words of its cases."""
    try:
        return cls(",".join([word for word, _ in words]))
    except NncError as fault:
        raise s.error(fault.message, words[0][1] if pos is None else pos) from None


@action
def _plain_attribute(s, c):
    return c[0][0]()


@action
def _dialect_attribute(s, c):
    (cls, pos), child = c
    try:
        return cls.from_syntax(child)
    except NncError as fault:
        raise s.error(fault.message, pos) from None


@action
def _opaque_attribute(s, c):
    dialect, text, parts = dialect_text(s, *c[0], what="attribute")
    return a.OpaqueAttr(dialect, text, c[1] if len(c) > 1 else None, parts)


# -- parameters of dialects' attributes: pieces that `ir/parameters.py` makes sense of ------


@action
def _parameter_list(s, c):
    return "list", *c


@action
def _parameter_strings(s, c):
    return "list", [("attribute", a.StringAttr(text)) for text, _ in c]


@action
def _named_parameter(s, c):
    return "named", c[0][0], c[1]


@action
def _attribute_parameter(s, c):
    return "attribute", c[0]


@action
def _word_parameter(s, c):
    return "word", c[0][0]


@action
def _nested_parameter(s, c):
    return "nested", c[0]


@action
def _words_parameter(s, c):
    return "words", c[0]


@action
def _braced_parameter(s, c):
    return "braced", c[0]


@action
def _called_word(s, c):
    return c[0][0], tuple(c[1]) if len(c) > 1 else ()


@action
def _aliased_parameter(s, c):
    return "attribute", _alias(s, c)

"""What each production of the grammar makes: light tuples for operations, objects for the rest.

An action gets the session and the list of the production's children; the name of the
production in `grammar.lark` is the name of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import affine
from .. import attributes as a
from .. import location as l
from .. import types as t
from ..diagnostics import NncError
from .literals import dense_elements, float_attribute, integer_attribute, number_of

if TYPE_CHECKING:
    from .session import Session
    from .tables import Rule

MAX_DEPTH = 128
"""How deep lists, dictionaries and tuples may nest."""

Action = Callable[["Session", list[Any]], Any]
_ACTIONS: dict[str, Action] = {}


def action(function: Action) -> Action:
    """Register the function `_name` for the productions named `name`."""
    _ACTIONS[function.__name__.strip("_")] = function
    return function


def reduction(rule: Rule, contributed: frozenset[str]) -> Callable[[Session, Any], Any] | None:
    """The function that makes a production's value from those of all its symbols.

    None leaves the value of the only symbol as it is.
    """
    keep, name = rule.keep, rule.action
    if rule.origin in contributed:
        return _tuple_of(keep, "" if name == rule.origin else name)
    if name == "same":
        (position,) = keep
        return None if rule.length == 1 else lambda session, values: values[position]
    if name == "first":
        (position,) = keep
        return lambda session, values: [values[position]]
    if name == "append":
        return _append(*keep)
    function = _ACTIONS.get(name)
    if function is None:
        return lambda session, values: None  # a start symbol of Lark's own
    if keep == tuple(range(rule.length)):
        return function
    if -1 in keep:
        return lambda session, values: function(
            session, [values[i] if i >= 0 else None for i in keep]
        )
    return lambda session, values: function(session, [values[i] for i in keep])


def _tuple_of(keep: tuple[int, ...], alias: str) -> Callable[[Session, Any], Any]:
    if alias:
        return lambda session, values: (alias, *[values[i] if i >= 0 else None for i in keep])
    return lambda session, values: tuple([values[i] if i >= 0 else None for i in keep])


def _append(at: int, position: int) -> Callable[[Session, Any], Any]:
    def append(session: Session, values: Any) -> Any:
        made = values[at]
        made.append(values[position])
        return made

    return append


# -- lists and words -----------------------------------------------------------------------------


@action
def _none(s, c):
    return None


@action
def _items(s, c):
    return c


@action
def _no_values(s, c):
    return []


@action
def _extend(s, c):
    c[0].extend(c[1])
    return c[0]


@action
def _names_of(s, c):
    return [name for name, _ in c[0]]


@action
def _no_names(s, c):
    return []


@action
def _pair(s, c):
    return c[0], c[1]


@action
def _token_text(s, c):
    return c[0][0]


@action
def _true(s, c):
    return True


@action
def _false(s, c):
    return False


@action
def _true_token(s, c):
    return "true", 0


@action
def _false_token(s, c):
    return "false", 0


@action
def _integer_value(s, c):
    return int(c[0][0], 0)


# -- files and operations ------------------------------------------------------------------------


@action
def _start_file(s, c):
    return []


@action
def _file(s, c):
    c[0].append(c[1])
    return c[0]


@action
def _attribute_alias(s, c):
    ops, (name, pos), value = c
    if name in s.attribute_aliases:
        raise s.error(f"redefinition of attribute alias id '{name}'", pos)
    if "." in name:
        raise s.error("attribute names with a '.' are reserved for dialect-defined names", pos)
    s.attribute_aliases[name] = value
    return ops


@action
def _type_alias(s, c):
    ops, (name, pos), value = c
    if name in s.type_aliases:
        raise s.error(f"redefinition of type alias id '{name}'", pos)
    s.type_aliases[name] = value
    return ops


@action
def _metadata(s, c):
    ops, _start, entries, _end = c
    for (section, _), dialects in entries or ():
        if section != "dialect_resources" or not isinstance(dialects, list):
            continue
        for _dialect, resources in dialects:
            for (key, pos), text in resources if isinstance(resources, list) else ():
                if not isinstance(text, str):
                    raise s.error("expected a string with the resource's data", pos)
                s.resources.inline[key] = text
    return ops


@action
def _op(s, c):
    return None, c[0], c[1]


@action
def _op_with_results(s, c):
    return tuple(c)


@action
def _generic_op(s, c):
    return c


@action
def _custom_op(s, c):
    return tuple(c)


@action
def _region(s, c):
    return c


@action
def _block(s, c):
    return c[0], (), c[1]


@action
def _block_with_args(s, c):
    return tuple(c)


# -- dictionaries --------------------------------------------------------------------------------


@action
def _unit_entry(s, c):
    return c[0], a.UnitAttr()


@action
def _no_entries(s, c):
    return {}


@action
def _entries(s, c):
    found: dict[str, Any] = {}
    for (name, pos), value in c[0]:
        if name in found:
            raise s.error(f"duplicate key '{name}' in dictionary attribute", pos)
        found[name] = value
    return found


# -- attributes ----------------------------------------------------------------------------------


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
    return a.StringAttr(c[0][0], c[1] if len(c) > 1 else None)


def _nested(s: Session, made: Any, parts: Any) -> Any:
    """The attribute made, unless it nests deeper than printing could follow."""
    depths = s.depths
    depth = 0
    for part in parts:
        if part.__class__ in _NESTING:
            depth = max(depth, depths.get(part, 0))
    depths[made] = depth + 1
    if depth >= MAX_DEPTH:
        raise NncError("attributes are nested too deeply")
    return made


_NESTING = (a.ArrayAttr, a.DictAttr, t.FunctionType, t.TupleType, t.ComplexType)


@action
def _no_array(s, c):
    return a.ArrayAttr(())


@action
def _array(s, c):
    return _nested(s, a.ArrayAttr(tuple(c[0])), c[0])


@action
def _dict_attribute(s, c):
    return _nested(s, a.DictAttr(tuple(c[0].items())), c[0].values())


@action
def _dense_array(s, c):
    element = c[0]
    if not isinstance(element, (t.IntegerType, t.FloatType)):
        raise NncError(f"array<{element}>: the elements must be integers or floats")
    values = [number_of(s, token, element) for token in c[1]] if len(c) > 1 else []
    if element is t.i1:
        values = [bool(v) for v in values]
    return a.DenseArrayAttr(element, tuple(values))


@action
def _string_element(s, c):
    return "string", *c[0]


@action
def _complex_element(s, c):
    return "complex", c[0], c[1], 0


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
def _resource(s, c):
    (key, pos), type = c
    if not isinstance(type, t.ShapedType) or not type.has_static_shape:
        raise s.error("dense_resource should have a shaped type with static shape", pos)
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


def _dialect_text(s: Session, text: str, pos: int, what: str) -> tuple[str, str]:
    """The dialect and the rest of `dialect.name<..>`; an error unless it may be unknown."""
    from ..dialect import registry

    dialect = text.replace("<", ".", 1).partition(".")[0]
    rest = text[len(dialect) :]
    if dialect in registry.dialects:
        raise s.error(f"unknown {what} '{rest.strip('.<')}' in dialect '{dialect}'", pos)
    if not s.allow_unregistered:
        raise s.error(
            f"{what} '{text}' is of the unregistered dialect '{dialect}'; "
            "--allow-unregistered-dialect permits it",
            pos,
        )
    if rest.startswith("<") and rest[1:-1].isidentifier():
        rest = f".{rest[1:-1]}"
    return dialect, rest


@action
def _opaque_attribute(s, c):
    dialect, text = _dialect_text(s, *c[0], what="attribute")
    return a.OpaqueAttr(dialect, text, c[1] if len(c) > 1 else None)


# -- affine maps ---------------------------------------------------------------------------------


def _declare(s: Session, names: list[tuple[str, int]], make: Callable[[int], Any]) -> int:
    for i, (name, pos) in enumerate(names):
        if name in s.affine_env:
            raise s.error(f"redefinition of identifier '{name}'", pos)
        s.affine_env[name] = make(i)
    return len(names)


@action
def _affine_no_dims(s, c):
    s.affine_env = {}
    return 0


@action
def _affine_dims(s, c):
    s.affine_env = {}
    return _declare(s, c[0], affine.AffineDim)


@action
def _affine_no_symbols(s, c):
    return 0


@action
def _affine_symbols(s, c):
    return _declare(s, c[0], affine.AffineSymbol)


@action
def _affine_map(s, c):
    return a.AffineMapAttr(affine.AffineMap(c[0], c[1], tuple(_shallow(e) for e in c[2])))


@action
def _affine_set(s, c):
    constraints = tuple((_shallow(e), equal) for e, equal in c[2])
    return a.IntegerSetAttr(affine.IntegerSet(c[0], c[1], constraints))


def _shallow(expr: Any) -> Any:
    """The expression, unless it is too deep to work with."""
    level, depth = [expr], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise NncError("affine expressions are nested too deeply")
        level = [
            part for e in level if isinstance(e, affine.AffineBinary) for part in (e.lhs, e.rhs)
        ]
    return expr


@action
def _affine_name(s, c):
    name, pos = c[0]
    if name not in s.affine_env:
        raise s.error(f"use of undeclared identifier '{name}' in affine expression", pos)
    return s.affine_env[name]


@action
def _affine_constant(s, c):
    return affine.AffineConstant(int(c[0][0], 0))


@action
def _affine_negate(s, c):
    return -c[0]


@action
def _affine_add(s, c):
    return c[0] + c[1]


@action
def _affine_subtract(s, c):
    return c[0] - c[1]


@action
def _affine_multiply(s, c):
    if not (c[0].is_symbolic_or_constant() or c[1].is_symbolic_or_constant()):
        raise NncError(
            "non-affine expression: at least one of the multiply operands has to be either a "
            "constant or symbolic"
        )
    return c[0] * c[1]


def _divide(c: list[Any], word: str, make: Callable[[Any, Any], Any]) -> Any:
    if not c[1].is_symbolic_or_constant():
        raise NncError(
            f"non-affine expression: right operand of {word} has to be either a constant or "
            "symbolic"
        )
    return make(c[0], c[1])


@action
def _affine_floordiv(s, c):
    return _divide(c, "floordiv", lambda x, y: x // y)


@action
def _affine_ceildiv(s, c):
    return _divide(c, "ceildiv", lambda x, y: x.ceildiv(y))


@action
def _affine_mod(s, c):
    return _divide(c, "mod", lambda x, y: x % y)


@action
def _affine_at_least(s, c):
    return c[0] - c[1], False


@action
def _affine_at_most(s, c):
    return c[1] - c[0], False


@action
def _affine_equal(s, c):
    return c[0] - c[1], True


# -- types ---------------------------------------------------------------------------------------


@action
def _named_type(s, c):
    name, pos = c[0]
    if name not in s.type_aliases:
        raise s.error(f"undefined symbol alias id '{name}'", pos)
    return s.type_aliases[name]


@action
def _function_to_one(s, c):
    return _nested(s, t.FunctionType(tuple(c[0]), (c[1],)), (*c[0], c[1]))


@action
def _function_to_many(s, c):
    return _nested(s, t.FunctionType(tuple(c[0]), tuple(c[1])), (*c[0], *c[1]))


@action
def _tuple(s, c):
    return _nested(s, t.TupleType(tuple(c[0])), c[0])


@action
def _complex(s, c):
    if not isinstance(c[0], (t.IntegerType, t.FloatType)):
        raise NncError("invalid element type for complex")
    return t.ComplexType(c[0])


def _dims(s: Session, token: tuple[str, int] | None) -> tuple[list[int | None] | None, list[bool]]:
    """The sizes, None for `*`; and which of them stand in brackets."""
    if token is None:
        return [], []
    text = token[0].replace(" ", "")
    if text.startswith("*"):
        return None, []
    parts = "".join(text.split()).rstrip("x").split("x")
    if any(len(part) > 20 for part in parts):
        raise s.error("a dimension is limited to 64 bits", token[1])
    sizes = [None if part == "?" else int(part.strip("[]")) for part in parts]
    if any(size is not None and size >= 1 << 63 for size in sizes):
        raise s.error("a dimension is limited to 64 bits", token[1])
    return sizes, [part.startswith("[") for part in parts]


def _plain_dims(s: Session, token: tuple[str, int] | None) -> list[int | None] | None:
    sizes, scalable = _dims(s, token)
    if any(scalable):
        raise s.error("scalable dimensions '[n]' belong to vectors only", token[1])  # type: ignore[index]
    return sizes


@action
def _vector(s, c):
    sizes, scalable = _dims(s, c[0])
    if sizes is None or any(size is None or size <= 0 for size in sizes):
        raise NncError("vector types must have positive constant sizes")
    if not isinstance(c[1], (t.IntegerType, t.IndexType, t.FloatType)):
        known = getattr(c[1], "is_vector_element", False)
        if not known and not isinstance(c[1], t.OpaqueType) and not c[1].name:
            raise NncError(f"vector elements must be int/index/float type but got '{c[1]}'")
    return t.VectorType(tuple(sizes), c[1], tuple(scalable))


@action
def _tensor(s, c):
    sizes = _plain_dims(s, c[0])
    if isinstance(c[1], (t.FunctionType, t.TupleType, t.NoneType, t.TensorType, t.MemRefType)):
        raise NncError(f"invalid tensor element type: '{c[1]}'")
    if sizes is None:
        if len(c) > 2:
            raise NncError("cannot apply encoding to unranked tensor")
        return t.UnrankedTensorType(c[1])
    return t.TensorType(tuple(sizes), c[1], c[2] if len(c) > 2 else None)


@action
def _memref(s, c):
    sizes = _plain_dims(s, c[0])
    element = c[1]
    if isinstance(element, (t.FunctionType, t.TupleType, t.NoneType, t.TensorType)):
        raise NncError(f"invalid memref element type: '{element}'")
    rest = list(c[2]) if len(c) > 2 else []
    layout = None
    if rest and isinstance(rest[0], (a.AffineMapAttr, a.StridedLayoutAttr)):
        layout = rest.pop(0)
        if sizes is None:
            raise NncError("an unranked memref has no layout")
        _check_layout(layout, len(sizes))
    if len(rest) > 1:
        raise NncError("multiple memory spaces specified in memref type")
    space = rest[0] if rest else None
    if sizes is None:
        return t.UnrankedMemRefType(element, space)
    return t.MemRefType(tuple(sizes), element, layout, space)


def _check_layout(layout: Any, rank: int) -> None:
    if isinstance(layout, a.AffineMapAttr):
        dims = layout.map.dim_count
        if dims != rank:
            raise NncError(f"memref layout mismatch between rank and affine map: {rank} != {dims}")
    elif len(layout.strides) != rank:
        raise NncError("expected the number of strides to match the rank")


@action
def _plain_type(s, c):
    return c[0][0]()


@action
def _dialect_type(s, c):
    (cls, pos), child = c
    try:
        return cls.from_syntax(child)
    except NncError as fault:
        raise s.error(fault.message, pos) from None


@action
def _opaque_type(s, c):
    dialect, text = _dialect_text(s, *c[0], what="type")
    return t.OpaqueType(dialect, text)


# -- locations -----------------------------------------------------------------------------------


class LocationAlias(l.Location):
    """`#loc4`, which the end of the text may define."""

    __slots__ = ("name", "pos")

    def __init__(self, name: str, pos: int) -> None:
        self.name = name
        self.pos = pos


def resolve_location(s: Session, location: Any) -> Any:
    """The location with its aliases replaced."""
    match location:
        case LocationAlias(name=name, pos=pos):
            found = s.attribute_aliases.get(name)
            if found is None:
                raise s.error(f"operation location alias was never defined: '#{name}'", pos)
            if not isinstance(found, a.LocationAttr):
                raise s.error(f"expected '#{name}' to be a location, but it is '{found}'", pos)
            return found.location
        case l.NameLoc(name, child):
            return l.NameLoc(name, resolve_location(s, child))
        case l.CallSiteLoc(callee, caller):
            return l.CallSiteLoc(resolve_location(s, callee), resolve_location(s, caller))
        case l.FusedLoc(locations, metadata):
            return _fuse([resolve_location(s, x) for x in locations], metadata)
    return location


@action
def _location_attribute(s, c):
    return a.LocationAttr(resolve_location(s, c[0]))


@action
def _unknown_location(s, c):
    return l.UNKNOWN


@action
def _location_alias(s, c):
    return LocationAlias(*c[0])


@action
def _name_location(s, c):
    return l.NameLoc(c[0][0], c[1] if len(c) > 1 else l.UNKNOWN)


@action
def _file_location(s, c):
    return l.FileLineColLoc(c[0][0], int(c[1][0], 0), int(c[2][0], 0))


@action
def _file_range(s, c):
    numbers = [int(text, 0) for text, _ in c[1:]]
    if len(numbers) == 3:
        numbers.insert(2, numbers[0])
    return l.FileLineColRange(c[0][0], *numbers)


@action
def _call_site(s, c):
    return l.CallSiteLoc(c[0], c[1])


def _fuse(locations: list[Any], metadata: Any = None) -> Any:
    """Unknown and repeated locations say nothing; one alone needs no frame."""
    known = tuple(dict.fromkeys(x for x in locations if x is not l.UNKNOWN))
    if metadata is None and len(known) < 2:
        return known[0] if known else l.UNKNOWN
    return l.FusedLoc(known, metadata)


@action
def _fused(s, c):
    return _fuse(c[0])


@action
def _fused_with(s, c):
    return _fuse(c[1], c[0])

"""Tensors from attributes, shapes and scalars."""

from __future__ import annotations

from ....ir.types import size_fault
from ...common.vocabulary import *
from ..node import A, Node
from ..registry import converter
from ..tensors import element_type

_FORMS = {
    "value_int": (A.INT, np.int64),
    "value_ints": (A.INTS, np.int64),
    "value_float": (A.FLOAT, np.float32),
    "value_floats": (A.FLOATS, np.float32),
    "value_string": (A.STRING, object),
    "value_strings": (A.STRINGS, object),
}


@converter("Constant")
def constant(n: Node) -> Value:
    forms = [name for name in n.attributes if name != "name"]
    if len(forms) != 1:
        raise n.error(f"{len(forms)} values, expected one of: value, {', '.join(_FORMS)}")
    (form,) = forms
    key = n.outputs[0]
    if form in ("value", "sparse_value"):
        array = n.tensor(form)
        assert array is not None
        return n.builder.constant(array, n.loc, key=key)
    if form not in _FORMS:
        raise n.error(f"attribute '{form}' is not supported, expected value or {', '.join(_FORMS)}")
    kind, dtype = _FORMS[form]
    value = n.attribute(form, kind)
    if dtype is object:
        value = n.strings(form) if kind == A.STRINGS else n.string(form)
    return n.builder.constant(np.asarray(value, dtype), n.loc, key=key)


@converter("ConstantOfShape")
def constant_of_shape(n: Node, shape: Value) -> Value:
    fill = n.tensor("value")
    fill = np.zeros((), np.float32) if fill is None else fill
    if fill.size != 1:
        raise n.error(f"attribute 'value' has {fill.size} elements, expected 1")
    value = n.constant(fill.reshape(()))
    shape = of_length(n, shape, n.declared_rank(0))
    extents = n.extents(shape)
    if extents is None:
        raise n.error("the number of dimensions of the result must be known")
    if any(d is not None and d < 0 for d in extents):
        raise n.error(f"shape {list(extents)} has a negative extent")
    return Term(n, value).filled(Term(n, as_i64(n, shape))).value


@converter("Range")
def range_(n: Node, start: Value, limit: Value, delta: Value) -> Value:
    return ranged(n, start, limit, delta)


@converter("EyeLike")
def eye_like(n: Node, x: Value) -> Value:
    if x.type.rank != 2:
        raise n.error(f"the input has rank {x.type.rank}, expected 2")
    element = element_type(n.int("dtype")) if n.has("dtype") else x.type.element_type
    if None in x.type.shape:
        rows, columns = (counting(n, extent(n, (x, axis))) for axis in range(2))
        return (rows.spread(0, 1) + n.int("k")).equals(columns).cast(element).value
    if fault := size_fault(TensorType(x.type.shape, element)):
        raise n.error(fault)
    rows, columns = x.type.shape
    return n.constant(np.eye(rows, columns, n.int("k")), element)

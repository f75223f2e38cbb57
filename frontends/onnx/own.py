"""Custom operators, declared in a Python file of the user.

    @nnc.operator("com.example.Squareplus")
    class Squareplus(UnaryOp, name="example.squareplus"):
        '''(x + sqrt(x² + b)) / 2.'''

        b: float = attribute(F32, default=4.0)
        body = "out[i..] = (x[i..] + sqrt(x[i..] * x[i..] + b)) / 2"

    @nnc.operator("com.example.ScaledTanh")
    def scaled_tanh(op, x, *, alpha=1.7159, beta=2 / 3):
        return op.Mul(op.Tanh(op.Mul(x, beta)), alpha)

    @nnc.operator("com.example.Median", host=True, gives=lambda x, *, axis: (x.shape[:1], x.dtype))
    def median(x, *, axis=1):
        return np.median(x, axis).astype(x.dtype)

A class is an op like those of nn: one comprehension says what it computes. A function composes
operators of ONNX; with `host` it computes on NumPy arrays itself, between the compiled parts.
Operands are in the order of the declaration, attributes have its names.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from onnx import helper

from ...dialects import nn
from ...dialects.nn import NnOp
from ...ir.attributes import ArrayAttr, Attribute, DictAttr, FloatAttr, IntegerAttr, StringAttr
from ...ir.core import Value
from ...ir.declare import BOOL
from ...ir.diagnostics import NncError
from ...ir.dialect import registry as ops
from ...ir.fields import Attr
from ...ir.location import FileLineColLoc
from ...ir.numpy_types import numpy_to_type, type_to_numpy
from ...ir.types import TensorType, Type, f64, i64
from ..common.direct import operands_of, with_signature
from ..common.graph import Graph
from ..common.importer import op_message
from ..common.scope import Scope
from ..declared import digests
from .context import Context
from .graph import node_of
from .node import Node
from .registry import converter, rows

OPSET = 18
"""The opset that operators in compositions belong to, whatever the model's opset is."""

_declared: dict[tuple[str, str], str] = {}
"""The file that declares each operator, by (domain, name)."""


@dataclass(frozen=True)
class ArrayType:
    """The description of an operand for `gives`: its extents, None for unknown ones, and dtype."""

    shape: tuple[int | None, ...]
    dtype: np.dtype


def operator(
    name: str,
    opset: int = OPSET,
    host: bool = False,
    gives: Callable[..., Any] | None = None,
) -> Callable[[Any], Any]:
    """Declare the operator `name`, a domain and a name, by the class or function that follows.

    `opset` is the version of ONNX's operators that a composition uses. A `host` function gets NumPy
    arrays. `gives`, called with an `ArrayType` for each operand and the attributes, returns the
    (shape, dtype) of the result, or a list of them; by default these are the first operand's.
    Raises NncError.
    """
    domain, _, op_type = name.rpartition(".")
    if not op_type or domain in ("", "ai.onnx"):
        raise NncError(f"operator '{name}': expected a domain and a name, as com.example.{name}")

    def declare(made: Any) -> Any:
        if isinstance(made, type) and issubclass(made, NnOp):
            convert = _of_class(made)
        elif inspect.isfunction(made):
            convert = _of_host(made, name, gives) if host else _of_function(made, opset)
        else:
            raise NncError(f"operator '{name}': expected an op's class or a function")
        if rows.find(op_type, domain) is not None:
            by = _declared.get((domain, op_type), "nnc")
            raise NncError(f"operator '{name}' is declared already, by {by}")
        converter(op_type, domain=domain)(convert)
        file = _source_of(made)
        _declared[domain, op_type] = file
        digests[name] = _digest(file)
        return made

    return declare


def _source_of(made: Any) -> str:
    try:
        return str(Path(inspect.getsourcefile(made) or "<none>").resolve())
    except TypeError:  # a class of the interactive shell
        return "<none>"


def _digest(file: str) -> str:
    try:
        return sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return uuid4().hex  # of unknown source: never the same


# -- files -----------------------------------------------------------------------------------------


def load_operators(path: Path) -> None:
    """Run a file that declares operators; if it was run before, only if it has changed.

    Raises NncError that names the file and the line.
    """
    path = path.resolve()
    try:
        text = path.read_bytes()
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
    digest = sha256(text).hexdigest()
    name = f"nnc_operators_{sha256(str(path).encode()).hexdigest()[:16]}"
    module = sys.modules.get(name)
    if getattr(module, "nnc_digest", None) == digest:
        return
    _forget(str(path), name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NncError(f"'{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes find their module by its name
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        _forget(str(path), name)
        raise _in_file(error, path) from None
    if str(path) not in _declared.values():
        _forget(str(path), name)
        place = FileLineColLoc(str(path), 0, 0)
        raise NncError("the file declares no operator: see nnc.operator", place)
    module.nnc_digest = digest  # type: ignore[attr-defined]


def _forget(file: str, module: str) -> None:
    """Undo what a file has declared, before it is run again."""
    sys.modules.pop(module, None)
    for key in [key for key, declared_by in _declared.items() if declared_by == file]:
        rows.forget(*key)
        digests.pop(".".join(key), None)
        del _declared[key]
    for op in [op for op, cls in ops.ops.items() if cls.__module__ == module]:
        ops.forget_op(op)


def _in_file(error: Exception | SystemExit, path: Path) -> NncError:
    """The error with the line of the file at which it was raised."""
    if isinstance(error, SyntaxError):
        return NncError(error.msg or "not Python", FileLineColLoc(str(path), error.lineno or 0, 1))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    line = (frames[-1].lineno if frames else 0) or 0
    text = error.message if isinstance(error, NncError) else f"{type(error).__name__}: {error}"
    return NncError(text, FileLineColLoc(str(path), line, 1))


# -- classes ---------------------------------------------------------------------------------------


def _of_class(cls: type[NnOp]) -> Callable[..., Any]:
    """The converter for an op's class: operands in order, attributes by name."""
    parameters = operands_of(cls)
    if len(parameters) < len(cls.definition.operands):
        raise NncError(
            f"op '{cls.name}' takes any number of operands; a custom operator needs a fixed number"
        )
    attributes = cls.definition.attributes

    def convert(n: Node, *inputs: Value | None) -> Any:
        required = [name for name, one in attributes.items() if _is_required(one)]
        given = _attributes(n, list(attributes), required)
        for name in given:
            if attributes[name].kind is BOOL:
                given[name] = bool(given[name])
        try:
            op: Any = cls(*inputs, **given)
        except NncError as error:
            raise n.error(op_message(error.message)) from None
        except (TypeError, ValueError, AttributeError) as error:
            raise n.error(f"an attribute does not fit: {error}") from None
        return n(op)

    return with_signature(convert, parameters)


def _is_required(one: Attr) -> bool:
    return not one.optional and one.default is None


def _attributes(n: Node, names: list[str], required: list[str]) -> dict[str, Any]:
    """The node's attributes as Python values. Raises NncError for unknown or missing ones."""
    for name in n.attributes:
        if name not in names:
            known = ", ".join(names) or "none"
            raise n.error(f"unknown attribute '{name}', expected one of: {known}")
    for name in required:
        if name not in n.attributes:
            raise n.error(f"attribute '{name}' is missing")
    return {name: n.value(name) for name in n.attributes}


# -- compositions ----------------------------------------------------------------------------------


def _of_function(function: Callable[..., Any], opset: int) -> Callable[..., Any]:
    """The converter for a composition, a function whose first parameter makes nodes."""
    found = list(inspect.signature(function).parameters.values())[1:]
    inputs = [p for p in found if p.kind is not p.KEYWORD_ONLY]
    named = [p for p in found if p.kind is p.KEYWORD_ONLY]
    required = [p.name for p in named if p.default is p.empty]

    def convert(n: Node, *values: Any) -> Any:
        if not isinstance(n, Node):
            raise n.error("a composition of ONNX's operators works only in ONNX models")
        given = _attributes(n, [p.name for p in named], required)
        try:
            made = function(Composer(n, opset), *values, **given)
        except NncError:
            raise
        except Exception as error:  # of the user's own code
            place = _in_file(error, Path(_source_of(function)))
            where = f" (line {place.location.line})" if place.location.line else ""  # type: ignore[union-attr]
            raise n.error(f"{place.message}{where}") from None
        return made

    return with_signature(convert, inputs)


# -- functions of the host -------------------------------------------------------------------------


def _of_host(
    function: Callable[..., Any], name: str, gives: Callable[..., Any] | None
) -> Callable[..., Any]:
    """The converter for a function on arrays, which is called at run time."""
    found = list(inspect.signature(function).parameters.values())
    inputs = [p for p in found if p.kind is not p.KEYWORD_ONLY]
    named = {p.name: p.default for p in found if p.kind is p.KEYWORD_ONLY}
    required = [key for key, default in named.items() if default is inspect.Parameter.empty]
    nn.host_function(name)(function)

    def convert(n: Node, *values: Any) -> Any:
        given = named | _attributes(n, list(named), required)
        operands = [value for value in values if value is not None]
        types = [_array_type(value.type) for value in operands]
        try:
            result = types[0] if gives is None else gives(*types, **given)
            outs = [_tensor_type(one) for one in (result if isinstance(result, list) else [result])]
            arguments = DictAttr(tuple((key, _attribute(given[key])) for key in sorted(given)))
        except NncError as error:
            raise n.error(error.message) from None
        except Exception as error:  # of the user's own code
            text = f"the type of its result cannot be computed: {type(error).__name__}: {error}"
            raise n.error(text) from None
        return n(nn.HostCall(name, arguments if given else None, operands, outs=outs))

    return with_signature(convert, inputs)


def _array_type(type: Any) -> Any:
    """The `ArrayType` of a tensor; another type itself."""
    if isinstance(type, TensorType):
        return ArrayType(type.shape, type_to_numpy(type.element_type))
    return type


def _tensor_type(given: Any) -> Type:
    if isinstance(given, Type):
        return given
    shape, dtype = (given.shape, given.dtype) if isinstance(given, ArrayType) else given
    return TensorType(tuple(shape), numpy_to_type(np.dtype(dtype)))


def _attribute(value: Any) -> Attribute:
    """A number, a text or a tuple of them as an op's attribute."""
    match value:
        case bool() | int():
            return IntegerAttr(int(value), i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case tuple() | list():
            return ArrayAttr(tuple(map(_attribute, value)))
    raise NncError(f"{value!r} is not a number, text or tuple of them")


class Composer:
    """Makes nodes of ONNX's operators: `op.Softmax(x, axis=1)`, `op("com.microsoft.Gelu", x)`.

    Operands may be numbers and arrays: a number is a constant of the first operand's type. A call
    with several `outputs` returns a tuple.
    """

    def __init__(self, n: Node, opset: int) -> None:
        self._n = n
        self._count = 0
        label = n.context.call_label or n.label
        self._opsets = {**n.context.opsets, "": opset}
        context = Context(self._opsets, caller=n.loc, call_label=label)
        self._scope = Scope(Graph([], [], []), None, context, n.builder.scope.depth + 1)

    def __getattr__(self, op_type: str) -> Callable[..., Any]:
        return lambda *inputs, **attributes: self(op_type, *inputs, **attributes)

    def __call__(self, name: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Import a node of the operator; returns its outputs."""
        domain, _, op_type = name.rpartition(".")
        self._count += 1
        label = f"{op_type}_{self._count}"
        first = next((v for v in inputs if isinstance(v, Value)), None)
        names = []
        for i, given in enumerate(inputs):
            names.append("" if given is None else f"{label}_in{i}")
            if given is not None:
                self._scope.values[names[-1]] = self._value(given, first)
        made = [f"{label}_out{i}" for i in range(outputs)]
        proto = helper.make_node(op_type, names, made, name=label, domain=domain, **attributes)
        self._opsets.setdefault(domain, 1)
        importer = self._n.builder
        importer.import_nodes([node_of(importer.model, proto)], self._scope)
        values = tuple(self._scope.values[one] for one in made)
        return values[0] if outputs == 1 else values

    def _value(self, given: Any, first: Value | None) -> Any:
        if isinstance(given, bool | int | float) and first is not None:
            return self._n.constant(given, first.type.element_type)
        if isinstance(given, bool | int | float | list | tuple | np.ndarray | np.generic):
            return self._n.constant(np.asarray(given))
        return given

"""`nn.host_call`, which calls a Python function, and the base of the ops that a host computes."""

from __future__ import annotations

from ...ir.attributes import StringAttr as Text
from ..vocabulary import *
from .base import NnOp
from .host_types import AnyValue, is_host_type
from .traits import OnHost

HostFunction = Callable[..., Any]

_functions: dict[str, HostFunction] = {}


def host_function(name: str) -> Callable[[HostFunction], HostFunction]:
    """A decorator that registers a Python function for `nn.host_call` under a name.

    The function gets the operands (NumPy arrays; lists, None and dictionaries for the types of
    `host_types`) and the call's attributes as keyword arguments, and returns the result, or a tuple
    of several. It must have no effects: a call whose results nobody uses is not made.
    """

    def register(function: HostFunction) -> HostFunction:
        _functions[name] = function
        return function

    return register


class HostCall(Op, name="nn.host_call", traits=(Pure, OnHost)):
    """Call the Python function that is registered under the name `callee`.

    `host_function` registers it in the process that runs the model. Its results must have the types
    that the op declares; `?` is any extent. `arguments` are passed by name.
    """

    callee: str = attribute(STRING)
    arguments: Any = attribute(instance(DictAttr), optional=True)
    inputs: Operands = operands(AnyValue)
    outs: Results = results(AnyValue)

    format = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, results)"
    example = '%y = nn.host_call "my.clean"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>'

    def evaluate(self, *operands):
        function = _functions.get(self.callee)
        if function is None:
            raise NncError(f"there is no host function '{self.callee}' in this process")
        return function(*operands, **python_values(self.arguments))


class HostOp(NnOp, traits=(OnHost,)):
    """Base of the ops that the host computes with their `evaluate`; operands may be of any type."""

    @classmethod
    def infer(cls, types: Sequence[Any], attrs: Any) -> Sequence[Type] | None:
        """The result types for operands of any kind."""
        raise NotImplementedError

    def verify_op(self) -> None:
        """Check that the results have the inferred types; `?` agrees with any extent."""
        self.check_results()


def python_values(attributes: DictAttr | None) -> dict[str, Any]:
    """A dictionary of attributes as one of Python's numbers, strings and tuples."""
    entries = {} if attributes is None else dict(attributes.entries)
    return {name: _python_value(value) for name, value in entries.items()}


def _python_value(attribute: Attribute) -> Any:
    match attribute:
        case IntegerAttr() | FloatAttr() | Text():
            return attribute.value
        case DenseArrayAttr():
            return tuple(attribute.values)
        case ArrayAttr():
            return tuple(map(_python_value, attribute.elements))
    return attribute


def is_on_host(op: Operation) -> bool:
    """Whether the host computes the op: its trait, a type, or an op in its regions says so."""
    if op.has_trait(OnHost):
        return True
    if any(is_host_type(v.type) for v in (*op._operands, *op.results)):
        return True
    return any(is_on_host(inner) for region in op.regions for inner in region.ops)

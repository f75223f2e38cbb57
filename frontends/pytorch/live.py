"""PyTorch programs in this process: results of `torch.export`, modules, and FX graphs of ATen.

Whoever has such an object has imported PyTorch already.
"""

from __future__ import annotations

import copy
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.numpy_types import type_to_numpy
from ...ir.polynomial import Size
from ...ir.types import TensorType, Type, f64, i1, i64
from ..common.graph import Graph
from ..common.inputs import Input
from ..common.source import Source
from .arguments import ELEMENTS, GraphRef, Ref, words
from .functional import pure
from .guards import Guards, guards_of
from .layout import Layout
from .program import Program, node, tensor_input
from .rows import ROWS
from .sizes import polynomial


def read_live(source: Source) -> Graph:
    """The graph of an `ExportedProgram`, or of a module with example inputs. Raises NncError."""
    import torch  # pyright: ignore[reportMissingImports]

    given = source.object
    if isinstance(given, torch.export.ExportedProgram):
        return exported_graph(given)
    if isinstance(given, Mapping):
        raise source.error("weights without a model: load them into it, and give it with inputs")
    if isinstance(given, torch.jit.ScriptModule):
        raise source.error("a TorchScript module; give the module that it was made of, with inputs")
    if source.inputs is None:
        raise source.error("a module needs example inputs: nnc.compile(model, inputs=(x,))")
    if not isinstance(given, torch.nn.Module):
        given = _module_of(given)
    return exported_graph(_exported(source, given, source.inputs))


def _module_of(function: Callable[..., Any]) -> Any:
    """A function as a module."""
    import torch  # pyright: ignore[reportMissingImports]

    class Function(torch.nn.Module):
        forward = staticmethod(function)

    class Builtin(torch.nn.Module):
        def forward(self, *given: Any, **named: Any) -> Any:
            return function(*given, **named)

    return Builtin() if inspect.isbuiltin(function) else Function()


def _exported(source: Source, module: Any, inputs: Any) -> Any:
    """The module exported for inference; its mode is unchanged."""
    import torch  # pyright: ignore[reportMissingImports]
    from torch.utils._pytree import tree_map_only  # pyright: ignore[reportMissingImports]

    inputs = tree_map_only(np.ndarray, torch.from_numpy, inputs)
    by_name = isinstance(inputs, Mapping)
    args = () if by_name else tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    kwargs = dict(inputs) if by_name else None
    training = {m: m.training for m in module.modules()}
    try:
        with suppress(NotImplementedError):  # exported programs have one mode only
            module.eval()
        return torch.export.export(module, args, kwargs)
    except NncError:
        raise
    except Exception as error:
        raise source.error(f"torch.export cannot export it: {_in_a_line(error)}") from None
    finally:
        for m, mode in training.items():
            m.training = mode


def _in_a_line(error: Exception) -> str:
    """An exception's name and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def _taken_apart(program: Any) -> Any:
    """The program with PyTorch's decompositions of unsupported operators. Raises NncError."""
    import torch  # pyright: ignore[reportMissingImports]

    graphs = [m for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)]
    calls = [node for graph in graphs for node in graph.graph.nodes if node.op == "call_function"]
    kinds = {node.target: _kind(node.target) for node in calls}
    missing = [target for target, kind in kinds.items() if not is_read(kind)]
    if not missing:
        return program
    table = torch.export.default_decompositions()
    known = {target: table[target] for target in missing if target in table}
    try:
        return program.run_decompositions(known)
    except Exception as error:
        names = ", ".join(sorted({kinds[target] for target in missing}))
        raise NncError(
            f"not supported: {names}; PyTorch cannot take the program apart: {_in_a_line(error)}"
        ) from None


def is_read(kind: str) -> bool:
    """Whether nnc supports an operator: by its own converter, or by that of the pure form of an
    in-place operator.
    """
    if kind == "operator.getitem" or ROWS.find(kind) is not None:
        return True
    namespace, _, rest = kind.partition(".")
    name, _, overload = rest.partition(".")
    own = pure(name)
    return own is not None and ROWS.find(f"{namespace}.{own}.{overload}") is not None


def exported_graph(program: Any) -> Graph:
    """The graph of a `torch.export.ExportedProgram`."""
    import torch  # pyright: ignore[reportMissingImports]

    program = _taken_apart(program)
    signature = program.graph_signature
    weights: dict[str, Any] = {}
    for spec in signature.input_specs:
        name = getattr(spec.arg, "name", None)
        if name is None or spec.target is None:
            continue
        for where in (program.state_dict, program.constants):
            if spec.target in where:
                weights[name] = where[spec.target]
    found = _Reader(without_tokens(program.graph_module), weights).read(None)
    found.buffers = dict(signature.inputs_to_buffers)
    found.guards = _guards(program, found.inputs)
    names = {target: name for name, target in found.buffers.items()}
    outputs, found.outputs = found.outputs, []
    for spec, value in zip(signature.output_specs, outputs, strict=True):
        if spec.kind.name == "USER_OUTPUT":
            found.outputs.append(value)
        elif spec.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION"):
            target = str(spec.target)
            found.changed[names.get(target, target)] = value.name
    return found.graph(f"torch {torch.__version__}")


def _guards(program: Any, inputs: Sequence[Input]) -> Guards:
    """What an `ExportedProgram` requires of its inputs; PyTorch up to 2.8 keeps no guards."""
    from torch.utils import _pytree  # pyright: ignore[reportMissingImports]

    def bound(end: Any) -> int | None:
        return int(end) if end.is_Integer else None

    specs = [one for one in program.graph_signature.input_specs if one.kind.name == "USER_INPUT"]
    names = [str(getattr(one.arg, "name", "")) for one in specs]
    given, named = _pytree.tree_unflatten(range(len(names)), program.call_spec.in_spec)
    signature = program.module_call_graph[0].signature
    whole = dict(zip(signature.forward_arg_names or (), given, strict=False)) | named
    paths = [path for path, _ in _pytree.tree_leaves_with_path(whole)]
    places = [f"L{_pytree.keystr(path)}" for path in paths]
    ranges = {
        size: (bound(one.lower), bound(one.upper))
        for expression, one in program.range_constraints.items()
        if (size := polynomial(str(expression))) is not None
    }
    values = {one.name: one.meta.get("val") for one in program.graph.find_nodes(op="placeholder")}
    sizes = {name: _sizes(values.get(name)) for name in names}
    return guards_of(getattr(program, "_guards_code", ()), places, names, inputs, sizes, ranges)


def _sizes(value: Any) -> list[tuple[str, Size]]:
    """The extents of an input, or the number that it is, by symbols; how guards read each."""
    import torch  # pyright: ignore[reportMissingImports]

    shape = value.shape if isinstance(value, torch.Tensor) else ()
    own = {f".size()[{axis}]": size for axis, size in enumerate(shape)} | {"": value}
    return [
        (reader, found)
        for reader, size in own.items()
        if isinstance(size, torch.SymInt) and (found := polynomial(str(size.node.expr))) is not None
    ]


def graph_of(
    module: Any,
    weights: Mapping[str, Any] | None = None,
    wanted: Sequence[bool] | None = None,
) -> Graph:
    """The graph of an FX GraphModule of ATen operators.

    `weights` are tensors for placeholders by their names, `wanted` says which outputs are used.
    Placeholders need `meta["val"]`, as torch.export, AOTAutograd and torch.compile provide it.
    """
    return _Reader(module, weights or {}).read(wanted).graph()


_CHECKS = words("aten._linalg_check_errors.default aten._assert_async.msg")


def without_tokens(module: Any) -> Any:
    """The GraphModule without the tokens by which PyTorch orders assertions and other checks."""
    import torch  # pyright: ignore[reportMissingImports]

    def is_check(one: Any) -> bool:
        called = one.op == "call_function" and _kind(one.target) == "higher_order.with_effects"
        return called and str(one.args[1]) in _CHECKS

    if not any(map(is_check, module.graph.nodes)):
        return module
    made: Any = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    tokens: set[Any] = set()
    for one in list(made.graph.nodes):
        if is_check(one):
            for user in list(one.users):
                user.replace_all_uses_with(one.args[0])
                made.graph.erase_node(user)
            tokens.add(one.args[0])
            made.graph.erase_node(one)
    output: Any = made.graph.output_node()
    output.args = ([None if value in tokens else value for value in output.args[0]],)
    for token in tokens:
        token.meta["val"] = None
    made.recompile()
    return made


class _Reader:
    def __init__(self, module: Any, weights: Mapping[str, Any]) -> None:
        self.module = module
        self.weights = weights
        self.program = Program()
        self.same: dict[str, str] = {}
        """The other names of each value, by the name that its node defines."""

    def read(self, wanted: Sequence[bool] | None) -> Program:
        for one in self.module.graph.nodes:
            getattr(self, one.op)(one)
        found = self.program.outputs
        if wanted is not None:
            self.program.outputs = [v for v, keep in zip(found, wanted, strict=True) if keep]
        return self.program

    # -- nodes by their kind ----------------------------------------------------------------------

    def placeholder(self, one: Any) -> None:
        value = one.meta.get("val", one.meta.get("example_value"))
        self.note(one.name, value)
        if one.name in self.weights:
            self.program.constants[one.name] = as_array(self.weights[one.name])
            return
        input_ = _input(one.name, value)
        if input_ is not None:
            self.program.inputs.append(input_)

    def get_attr(self, one: Any) -> None:
        found = self.module
        for part in one.target.split("."):
            found = getattr(found, part)
        if hasattr(found, "graph"):
            return
        self.note(one.name, found)
        self.program.constants[one.name] = as_array(found)

    def output(self, one: Any) -> None:
        given = one.args[0]
        values = given if isinstance(given, list | tuple) else [given]
        self.program.outputs = [self.argument(v, {}) for v in values]

    def call_module(self, one: Any) -> None:
        raise NncError(f"'{one.name}' calls a module, expected operators of ATen only")

    def call_method(self, one: Any) -> None:
        raise NncError(f"'{one.name}' calls a method, expected operators of ATen only")

    def call_function(self, one: Any) -> None:
        value = one.meta.get("val")
        if one.target is operator.getitem:
            return  # it is an output of its node
        kind = _kind(one.target)
        if isinstance(value, list | tuple) or kind.startswith("higher_order."):
            outputs = self.parts(one, value)
        else:
            outputs = [one.name]
            self.note(one.name, value)
        graphs: dict[str, Graph] = {}
        arguments: dict[str, Any] = {}
        schema = getattr(one.target, "_schema", None)
        if kind.startswith("higher_order.") or schema is None:
            names = ["a", "b", "c", "d"]
            if kind.startswith(("math.", "builtins.")):
                names = list(inspect.signature(one.target).parameters)
            values = [self.argument(v, graphs) for v in one.args]
            if kind.startswith("higher_order."):
                arguments["arguments"] = values
            else:
                arguments |= zip(names, values, strict=False)
        else:
            for given, argument in zip(one.args, schema.arguments, strict=False):
                arguments[argument.name] = self.argument(given, graphs)
        for name, given in one.kwargs.items():
            arguments[name] = self.argument(given, graphs)
        arguments = {key: v for key, v in arguments.items() if v is not _WHERE}
        modules = [path for path, *_ in one.meta.get("nn_module_stack", {}).values()]
        name = f"{modules[-1]}.{one.name}" if modules and modules[-1] else one.name
        self.program.nodes.append(node(kind, name, outputs, arguments, graphs, modules))

    def parts(self, one: Any, value: Any) -> list[str]:
        """The names of a node's outputs: those of the getitem nodes that take them."""
        users = [user for user in one.users if user.target is operator.getitem]
        count = len(value) if isinstance(value, list | tuple) else 0
        count = max([count, *(user.args[1] + 1 for user in users)])
        names = [""] * count
        for user in users:
            i = user.args[1]
            if names[i]:
                self.same[user.name] = names[i]
            else:
                names[i] = user.name
                self.note(user.name, user.meta.get("val"))
        if not users and not isinstance(value, list | tuple):
            return [one.name]
        return names

    def note(self, name: str, value: Any) -> None:
        """Record a tensor's layout, and the names of its unknown extents."""
        if not hasattr(value, "stride") or not hasattr(value, "shape"):
            return
        try:
            strides = tuple(hint_of(s) for s in value.stride())
        except RuntimeError:  # of a layout without strides
            return
        shape = tuple(hint_of(d) for d in value.shape)
        known = tuple(d if isinstance(d, int) else None for d in value.shape)
        self.program.layouts[name] = Layout(shape, strides, str(value.dtype), known)
        self.program.dims[name] = [_symbol(d) for d in value.shape]

    def argument(self, value: Any, graphs: dict[str, Graph]) -> Any:
        """An FX argument in the form that converters use: a Ref, a number, .."""
        import torch  # pyright: ignore[reportMissingImports]

        if isinstance(value, torch.fx.Node):
            if value.op == "get_attr":
                inner = getattr(self.module, str(value.target), None)
                if hasattr(inner, "graph"):
                    graphs[str(value.target)] = graph_of(inner)
                    return GraphRef(str(value.target))
            if value.op == "placeholder" and value.name not in self.weights:
                found = value.meta.get("val", value.meta.get("example_value"))
                if found is None or isinstance(found, bool | int | float | str):
                    return found
            return Ref(self.same.get(str(value.name), str(value.name)))
        if isinstance(value, list | tuple):
            return [self.argument(v, graphs) for v in value]
        if isinstance(value, dict):
            return {key: self.argument(v, graphs) for key, v in value.items()}
        if isinstance(value, torch.dtype):
            return element_of(value)
        if isinstance(value, torch.device | torch.layout | torch.memory_format):
            return _WHERE
        return value


_WHERE = object()
_MODULES = {"_operator": "operator"}


def _kind(target: Any) -> str:
    """The operator's qualified name, as in files."""
    import torch  # pyright: ignore[reportMissingImports]

    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    module = str(getattr(target, "__module__", ""))
    return f"{_MODULES.get(module, module)}.{getattr(target, '__name__', target)}"


def element_of(dtype: Any) -> Type:
    """The element type of a PyTorch dtype. Raises NncError for an unsupported one."""
    name = str(dtype).removeprefix("torch.")
    if name not in ELEMENTS:
        raise NncError(f"element type {name} is not supported")
    return ELEMENTS[name]


def as_array(tensor: Any) -> np.ndarray:
    """The elements of a tensor as an array, without a copy if possible."""
    import torch  # pyright: ignore[reportMissingImports]

    if tensor.is_meta:
        raise NncError("a tensor is on the device 'meta', and has no elements")
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    dtype = type_to_numpy(element_of(plain.dtype))
    if dtype.kind in "fiubc":
        return plain.numpy()
    return plain.view(torch.uint8 if dtype.itemsize == 1 else torch.int16).numpy().view(dtype)


def _input(name: str, value: Any) -> Input | None:
    type = type_of(value)
    if type is None:
        return None
    names = [_symbol(d) for d in value.shape] if type.rank else ()
    return tensor_input(name, type.shape, type.element_type, names)


def type_of(value: Any) -> TensorType | None:
    """The type of a tensor, or of a symbolic number; None for anything else."""
    import torch  # pyright: ignore[reportMissingImports]

    for kind, element in ((torch.SymInt, i64), (torch.SymBool, i1), (torch.SymFloat, f64)):
        if isinstance(value, kind):
            return TensorType((), element)
    if not isinstance(value, torch.Tensor):
        return None
    shape = tuple(d if isinstance(d, int) else None for d in value.shape)
    return TensorType(shape, element_of(value.dtype))


def hint_of(size: Any) -> int:
    """An extent or stride as a number; a symbolic one gives its example value."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return int(hint) if hint is not None else 2


def _symbol(size: Any) -> str:
    """The name of a symbolic extent; "" for others."""
    if isinstance(size, int):
        return ""
    text = str(size.node.expr)
    return text if text.isidentifier() else ""

"""From a model to a module: `func.func @main` with one nn op or a few for every node."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ...dialects import func, nn
from ...dialects.builtin import ModuleOp
from ...dialects.marks import ENTRY, INPUT_DIMS, INPUT_NAMES, OUTPUT_DIMS, OUTPUT_NAMES
from ...dialects.nn.known_values import KnownValues, Partial
from ...ir.attributes import ArrayAttr, DenseElements, DenseResource, StringAttr, UnitAttr
from ...ir.core import Block, Operation, Region, Value
from ...ir.diagnostics import NncError
from ...ir.location import Location, NameLoc
from ...ir.numpy_types import numpy_to_type
from ...ir.resources import MemoryBlob
from ...ir.traits import is_erasable
from ...ir.types import Dim, FloatType, FunctionType, TensorType
from .calls import expand_call
from .inputs import InputChoices, constant_arrays, dimension_names, input_types
from .model import Model, read_model
from .node import Node, node_label
from .order import needed_nodes
from .registry import fault_of_call, fault_of_ranks
from .schema import (
    fault_of_attributes,
    fault_of_kinds,
    fault_of_presence,
    fault_of_signature,
    fault_of_types,
)
from .scope import Scope
from .survey import Survey

Progress = Callable[[str], None]

INLINE_ELEMENTS = 64
"""Constants of up to so many elements stand in the text; larger ones are resources."""

MOST_INTEGERS = 4096
"""Elements of an integer tensor that is still taken for a shape or for positions."""

MOST_FLOATS = 64


def is_small(type: Any) -> bool:
    """Whether a tensor of this type is folded at import."""
    if not isinstance(type, TensorType) or not type.has_static_shape:
        return False
    most = MOST_FLOATS if isinstance(type.element_type, FloatType) else MOST_INTEGERS
    return type.num_elements <= most


def import_model(
    source: str | Path | onnx.ModelProto,
    *,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    dims: Mapping[str, int] | None = None,
    constants: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> ModuleOp:
    """The module of an ONNX model, on the `nn` level; not verified.

    `shapes` gives the shapes of inputs by name, `dims` the extents of symbolic dimensions by
    theirs (`{"batch": 1}`); dimensions that stay unknown are `?`. `constants` gives inputs
    a value for good, which are no arguments then: axes, sizes and the like, on which shapes
    depend. Weights are mapped where they lie in files beside the model.

    Raises:
        NncError: the model cannot be read, is not valid, or has operators that nnc does not
            know; all of those are listed at once.
    """
    model = read_model(source)
    if progress is not None:
        count = len(model.proto.graph.node)
        progress(f"import {model.name}: {count} nodes")
    return Importer(model).run(InputChoices(shapes or {}, dims or {}, constants or {}))


def constant_values(source: Any, constants: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values of inputs as arrays of their types, as `import_model` takes them.

    Raises:
        NncError: an input has another type, or there is none of the name.
    """
    if not constants:
        return {}
    model = read_model(source)
    types = input_types(model, model.proto.graph, InputChoices({}, {}, constants))
    return constant_arrays(model, types, constants)


@dataclass(frozen=True)
class Unavailable:
    """An optional output that a converter does not provide: what to say to who uses it."""

    node: Node
    message: str

    def error(self) -> NncError:
        return self.node.error(self.message)


class Importer:
    """The import of one model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.survey = Survey(model)
        self.block = self.entry = Block()
        """Where operations go: the function's block, or that of a branch or a loop's body."""
        self.known = KnownValues(is_small, mixes=False)
        self._constants: dict[Any, Value] = {}
        self._keys = {"__metadata__"}  # safetensors keeps this name for itself

    def run(self, choices: InputChoices) -> ModuleOp:
        """The module."""
        graph = self.model.proto.graph
        scope = Scope(self.model.opsets)
        types = input_types(self.model, graph, choices)
        nodes = self._prepare(graph, scope, list(types))
        self.survey.check(nodes, scope)
        for name, array in constant_arrays(self.model, types, choices.constants).items():
            del types[name]
            scope.values[name] = self.constant(array, NameLoc(name, self.model.loc), key=name)
        for name, type in types.items():
            scope.values[name] = argument = self.block.add_arg(type, NameLoc(name, self.model.loc))
            argument.name_hint = identifier(name)
        for node in nodes:
            self.import_node(node, scope)
        outputs = [self.output(value.name, scope) for value in graph.output]
        return self._module(list(types), [o.name for o in graph.output], outputs)

    def _prepare(self, graph: Any, scope: Scope, inputs: list[str]) -> list[Any]:
        """Enter the initializers into the scope; the nodes that are needed, in order."""
        for tensor in graph.initializer:
            if tensor.name in scope.initializers:
                raise self.model.error(f"initializer '{tensor.name}' is defined twice")
            scope.initializers[tensor.name] = tensor
        given = {*inputs, *scope.initializers}
        given |= {sparse.values.name for sparse in graph.sparse_initializer}
        outputs = [value.name for value in graph.output]
        try:
            nodes = needed_nodes(graph.node, given, outputs, lambda n: is_visible(n, scope.parent))
        except NncError as error:
            raise self.model.error(error.message) from None
        self._reject_sparse(graph, nodes)
        return nodes

    def _reject_sparse(self, graph: Any, nodes: list[Any]) -> None:
        sparse = {tensor.values.name for tensor in graph.sparse_initializer}
        for node in nodes:
            for name in node.input:
                if name in sparse:
                    raise self.model.error(
                        f"{node_label(node)}: input '{name}' is a sparse tensor, "
                        "expected a dense one"
                    )

    def _module(self, inputs: list[str], names: list[str], outputs: list[Value]) -> ModuleOp:
        self.block.append(func.Return(outputs, loc=self.model.loc))
        self._drop_unused()
        type = FunctionType(tuple(a.type for a in self.block.args), tuple(v.type for v in outputs))
        main = func.FuncOp(
            sym_name="main",
            function_type=type,
            body=Region([self.block]),
            loc=self.model.loc,
            attributes={
                ENTRY: UnitAttr(),
                INPUT_NAMES: ArrayAttr(tuple(StringAttr(name) for name in inputs)),
                OUTPUT_NAMES: ArrayAttr(tuple(StringAttr(name) for name in names)),
            },
        )
        graph = self.model.proto.graph
        for key, values, order, types in (
            (INPUT_DIMS, graph.input, inputs, type.inputs),
            (OUTPUT_DIMS, graph.output, names, type.results),
        ):
            named = dimension_names(values, order, types)
            if any(map(any, named)):
                strings = (ArrayAttr(tuple(map(StringAttr, one))) for one in named)
                main.attributes[key] = ArrayAttr(tuple(strings))
        module = ModuleOp.of([main])
        module.loc = self.model.loc
        return module

    def _drop_unused(self) -> None:
        """Erase what nothing uses: mostly constants that were evaluated into types."""
        for op in reversed(self.block):
            if is_erasable(op) and not any(r.has_uses for r in op.results):
                op.erase()

    # -- nodes ------------------------------------------------------------------------------

    def import_node(self, proto: Any, scope: Scope) -> None:
        """Insert what a node stands for and bind its outputs."""
        node = Node(self, proto, scope)
        local = self.survey.local_function(proto)
        if node.schema is not None and local is None:
            fault = fault_of_signature(node.schema, len(proto.input), len(proto.output))
            fault = fault or fault_of_attributes(node.schema, node.attributes)
            if fault:
                raise node.error(fault)
        node.inputs = [self.lookup(name, scope, node) if name else None for name in proto.input]
        if node.schema is not None and local is None:
            types = [getattr(v, "type", None) for v in node.inputs]
            fault = fault_of_presence(node.schema, node.inputs)
            fault = fault or fault_of_kinds(node.schema, node.inputs)
            if fault := fault or fault_of_types(node.schema, types):
                raise node.error(fault)
        self._bind(node, self._convert(node, local), scope)

    def _convert(self, node: Node, local: Any) -> list[Any]:
        convert = None if local is not None else self.survey.converter(node.proto, node.scope)
        if convert is None:
            return expand_call(node, local)
        if node.schema is None and (fault := fault_of_call(convert, node.inputs)):
            raise node.error(fault)
        if fault := fault_of_ranks(convert, node.inputs, node.schema is not None):
            raise node.error(fault)
        try:
            results = convert(node, *node.inputs)
        except NncError as error:
            if error.location == self.model.loc:
                raise  # it names the node already
            raise node.error(op_message(error.message)) from None
        except MemoryError:
            raise node.error("a constant of the node needs more memory than there is") from None
        return list(results) if isinstance(results, list | tuple) else [results]

    def _bind(self, node: Node, results: list[Any], scope: Scope) -> None:
        for i, name in enumerate(node.outputs):
            if not name:
                continue
            result = results[i] if i < len(results) else None
            if result is None:
                result = Unavailable(node, f"output {i} ('{name}') is not supported")
            scope.values[name] = result
            if isinstance(result, Value) and result.name_hint is None:
                result.name_hint = identifier(name)

    def lookup(self, name: str, scope: Scope, node: Node | None = None) -> Any:
        """The value of a name, which an initializer becomes when it is first used."""
        at: Scope | None = scope
        while at is not None:
            if name in at.values:
                found = at.values[name]
                if isinstance(found, Unavailable):
                    raise found.error()
                return found
            if name in at.initializers:
                loc = NameLoc(name, self.model.loc)
                array = self.read_tensor(at.initializers[name], node)
                value = self.constant(array, loc, key=name)
                at.values[name] = value
                return value
            at = at.parent
        raise self.model.error(f"'{name}' is not defined")

    def output(self, name: str, scope: Scope) -> Value:
        """The value of a graph's output."""
        return self.as_value(self.lookup(name, scope), self.model.loc)

    def as_value(self, value: Any, loc: Location) -> Value:
        """The value; one that the import has followed as a sequence becomes one of the program."""
        if isinstance(value, Value):
            return value
        elements = [self.as_value(element, loc) for element in value]
        return self.emit(nn.SequenceConstruct(elements), loc)[0]

    def import_body(self, graph: Any, scope: Scope) -> Body:
        """A graph inside a node, checked, to be imported in place as often as needed."""
        frame = scope.nested()
        if frame.depth > 100:
            raise self.model.error("graphs are nested more than 100 deep")
        inputs = [value.name for value in graph.input]
        nodes = self._prepare(graph, frame, inputs)
        self.survey.check(nodes, frame)
        return Body(self, frame, inputs, nodes, [value.name for value in graph.output])

    # -- ops and constants ------------------------------------------------------------------

    def emit(self, op: Operation, loc: Location) -> list[Value]:
        """Insert the op, or the constants that it folds to; its results."""
        found = self.known.results(op)
        if found is not None and all(known.is_known for known in found):
            op.drop_all_references()
            return [self.constant(known.elements, loc) for known in found]
        op.loc = loc
        self.block.append(op)
        for result, known in zip(op.results, found or (), strict=False):
            self.known.remember(result, known)
        return list(op.results)

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Insert into a block of a region for a while. The op with the region comes after it."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    def constant(self, array: np.ndarray, loc: Location, key: str | None = None) -> Value:
        """A constant; equal small ones are one op."""
        type = TensorType(array.shape, numpy_to_type(array.dtype))
        strings = array.dtype == object
        small = array.size <= INLINE_ELEMENTS or strings
        identity = (type, tuple(array.flat) if strings else array.tobytes()) if small else None
        if identity in self._constants:
            return self._constants[identity]
        if small:
            attribute: Any = DenseElements.from_numpy(np.ascontiguousarray(array), type)
        else:
            attribute = DenseResource(self._key(key or "constant"), type, MemoryBlob(array))
        op = nn.Constant(attribute, loc=loc)
        self.entry.append(op)  # every region sees it
        if key:
            op.result.name_hint = identifier(key)
        if identity is not None:
            self._constants[identity] = op.result
        if is_small(type):
            self.known.remember(op.result, Partial.known(array))
        return op.result

    def _key(self, name: str) -> str:
        """A resource's name, unique in the module."""
        key, n = name, 0
        while key in self._keys:
            n += 1
            key = f"{name}_{n}"
        self._keys.add(key)
        return key

    def read_tensor(self, proto: Any, node: Node | None) -> np.ndarray:
        try:
            return self.model.tensors.array(proto)
        except NncError as error:
            raise (node or self.model).error(error.message) from None

    def is_unknown(self, value: Value) -> bool:
        """Whether nothing is known of the elements."""
        return self.known.partial(value) is None

    def extents(self, value: Value) -> tuple[Dim, ...] | None:
        """The elements of a 1-D integer tensor, unknown ones as None; see `Node.extents`."""
        if (elements := self.known.elements(value)) is not None:
            return tuple(elements)
        count = value.type.shape[0] if value.type.rank == 1 else None
        return None if count is None else (None,) * count


@dataclass
class Body:
    """A graph inside a node. Called with its inputs, it imports the nodes; its outputs."""

    importer: Importer
    frame: Scope
    inputs: list[str]
    nodes: list[Any]
    outputs: list[str]

    def __call__(self, *arguments: Any) -> list[Any]:
        scope = self.frame.nested()
        scope.values.update(zip(self.inputs, arguments, strict=True))
        for node in self.nodes:
            self.importer.import_node(node, scope)
        return [self.importer.lookup(name, scope) for name in self.outputs]


def is_visible(name: str, scope: Scope | None) -> bool:
    """Whether a graph inside the scope may use the name."""
    while scope is not None:
        if name in scope.values or name in scope.initializers:
            return True
        scope = scope.parent
    return False


def op_message(message: str) -> str:
    """The message of an op's verifier without the op's own name."""
    _, found, rest = message.partition("' op ")
    return rest if found else message


_NO_NAME = re.compile(r"[^\w$.-]", re.ASCII)


def identifier(name: str) -> str:
    """The name as an SSA name of the text form."""
    text = _NO_NAME.sub("_", name)
    return text if text and not text[0].isdigit() else "_" + text

"""From a graph to a module: imports each node by its operator's row in the format's table."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...dialects.builtin import ModuleOp
from ...ir.diagnostics import NncError
from ...ir.location import Location, NameLoc, in_scopes
from .builder import Builder, identifier
from .complexes import Pair, as_complex, as_real, caller_type, has_pairs, is_complex
from .fields import Fields, RecordFields, remembered
from .graph import Graph, Node
from .inputs import Input, InputChoices, constant_arrays, input_types
from .order import needed_nodes
from .rows import Convert, Rows, fault_of_call, fault_of_ranks
from .scope import Scope
from .words import *

MOST_LISTED = 50
DEEPEST = 100


class NodeLayer(Layer):
    """A node that is being imported; formats derive from it to read their attributes."""

    builder: Importer
    field = ""
    """The word for an attribute in messages, put before its name."""

    def __init__(self, importer: Importer, node: Node) -> None:
        name = node.name or next((name for name in node.outputs if name), "")
        place = NameLoc(f"{name} ({node.kind})", in_scopes(importer.loc, node.scopes))
        super().__init__(importer, node.label, place)
        self.node = node
        self.kind = node.kind
        self.attributes = remembered(node.attributes)

    def fault(self) -> str | None:
        """What is wrong with the node itself, apart from its inputs; None if nothing is."""
        return None

    def fault_of(self, convert: Convert, inputs: list[Any]) -> str | None:
        """What is wrong with the inputs for this converter; None if nothing is."""
        return fault_of_call(convert, inputs) or fault_of_ranks(inputs, True)

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The names and values of fields that are in the file and that no converter has read."""
        known = isinstance(self.attributes, Fields | RecordFields)
        return self.attributes.unread() if known else iter(())

    def finish(self) -> None:
        """Run a format's own checks after the node has been imported. Raises NncError."""

    def wants(self, output: int) -> bool:
        """Whether the node has this output and names it, so that it may be used."""
        return output < len(self.node.outputs) and bool(self.node.outputs[output])

    def graph(self, name: str, *arguments: Value) -> list[Any]:
        """The outputs of the nested graph `name`, imported here with these arguments."""
        return self.builder.call(self.node.graphs[name], arguments, self)


class Importer(Builder):
    """The import of one graph. `layer` makes the `NodeLayer` that the format's converters get."""

    def __init__(
        self,
        graph: Graph,
        rows: Rows,
        loc: Location,
        layer: Callable[[Any, Node], NodeLayer] = NodeLayer,
        context: Any = None,
    ) -> None:
        super().__init__(loc)
        self.graph = graph
        self.rows = rows
        self.layer = layer
        self.scope = Scope(graph, context=context)
        """The scope of the nodes that are being imported."""
        self._states: dict[str, Value] = {}

    def state(self, name: str, type: TensorType) -> Value:
        """Add an input `name`, by default zeros, and an output of the same name: its next state."""
        self._states[name] = self.argument(name, type)
        return self._states[name]

    def set_state(self, name: str, value: Value) -> None:
        """Set a state's output; without this call, the output is the state's input."""
        self._states[name] = value

    def run(self, choices: InputChoices) -> ModuleOp:
        """The module. Raises NncError; operators that are missing are listed all at once."""
        graph, values = self.graph, self.scope.values
        types = input_types(self, [_outer_input(one) for one in graph.inputs], choices)
        self.check_operators()
        nodes = self.ordered(self.scope, types)
        for name, array in constant_arrays(self, types, choices.constants).items():
            del types[name]
            values[name] = self.constant(array, NameLoc(name, self.loc), key=name)
        for name, type in types.items():
            values[name] = self.argument(name, type)
        for one in filter(lambda one: is_complex(one.type), graph.inputs):
            values[one.name] = as_complex(self._interface(one.name), values[one.name])
        made = self.import_nodes(nodes, self.scope, [inner for _, inner in graph.outputs])
        pairs, outputs = set(graph.complex_outputs), []
        for (name, _), value in zip(graph.outputs, made, strict=True):
            if isinstance(value, Pair):
                pairs.add(name)
                value = as_real(self._interface(name), value)
            outputs.append((name, self._output(name, value)))
        dims = {value.name: value.dims for value in graph.inputs} | dict(graph.dims)
        starts = dict(graph.starts) | dict.fromkeys(self._states, 0.0)
        outputs += self._states.items()
        return self.module([*types, *self._states], outputs, dims, starts, pairs)

    def _interface(self, name: str) -> NodeLayer:
        """The layer for ops that convert between complex values and the caller's real ones."""
        return NodeLayer(self, Node("", name, [], []))

    def _output(self, name: str, value: Any) -> Value:
        try:
            return self.as_value(value, self.loc)
        except NncError as error:
            raise NncError(f"output '{name}': {error.message}", self.loc) from None

    def operators(self) -> Counter[str]:
        """How often each operator occurs in the model."""
        return Counter(node.kind for node in _all_nodes(self.graph))

    def faults(self) -> list[str]:
        """One message for each node whose operator is not supported."""
        return [
            f"{node.label}: not supported"
            for node in _all_nodes(self.graph)
            if self.rows.find(node.kind) is None
        ]

    def check_operators(self) -> None:
        """Raises one NncError that lists all nodes that cannot be imported."""
        if faults := self.faults():
            raise self.error(listed(faults, "layer"))

    # -- nodes ------------------------------------------------------------------------------------

    def ordered(self, scope: Scope, given: Iterable[str]) -> list[Node]:
        """The nodes of a scope's graph that are needed, operands first. Raises NncError."""
        graph, parent = scope.graph, scope.parent
        outputs = [*(value for _, value in graph.outputs), *graph.effects]
        known = {*given, *graph.constants}
        try:
            return needed_nodes(
                graph.nodes, known, outputs, lambda name: parent is not None and name in parent
            )
        except NncError as error:
            raise self.error(error.message) from None

    def import_nodes(
        self, nodes: Iterable[Node], scope: Scope, outputs: Iterable[str] = ()
    ) -> list[Any]:
        """Import nodes with the names of the scope. Returns the values of `outputs`."""
        outer, self.scope = self.scope, scope
        try:
            for node in nodes:
                self.import_node(node)
            return [self.lookup(name) for name in outputs]
        finally:
            self.scope = outer

    def import_node(self, node: Node) -> None:
        """Import a node and bind the names of its outputs."""
        n = self.layer(self, node)
        convert = self.converter(n)
        if fault := n.fault():
            raise n.error(fault)
        inputs = [self.lookup(name, n) if name else None for name in node.inputs]
        if fault := n.fault_of(convert, inputs):
            raise n.error(fault)
        with errors_of(n, inputs):
            results = convert(n, *inputs)
            self._check_read(n)
            n.finish()
        results = list(results) if isinstance(results, list | tuple) else [results]
        for i, name in enumerate(node.outputs):
            if name:
                self._bind(name, results[i] if i < len(results) else None, n, i)

    def converter(self, n: Any) -> Convert:
        """The function that imports the node. Raises NncError where there is none."""
        found = self.rows.find(n.kind)
        if found is None:
            raise n.error("not supported")
        return found

    def _check_read(self, n: NodeLayer) -> None:
        """Raises NncError where a field that may mean something was not read."""
        if self.rows.ignored is None:
            return
        for name, value in self.rows.ignored.refused(n.kind, n.unread()):
            shown = reprlib.repr(value)
            raise n.error(f"{n.field}'{name}' is {shown}, which is not supported")

    def _bind(self, name: str, result: Any, n: NodeLayer, i: int) -> None:
        if result is None:
            result = n.error(f"output {i} ('{name}') is not supported")
        graph = self.scope.graph
        declared = graph.elements.get(name)
        if declared is not None and isinstance(result, Value):
            result = _as_declared(n, result, declared)
        shape = graph.shapes.get(name)
        if shape is not None and isinstance(result, Value):
            result = _shaped_as_declared(n, result, shape)
        self.scope.values[name] = result
        if isinstance(result, Value) and result.name_hint is None:
            result.name_hint = identifier(name)

    def lookup(self, name: str, n: Layer | None = None) -> Any:
        """The value of a name, which `n` uses; a constant is inserted when it is first used."""
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.values:
                found = scope.values[name]
                if isinstance(found, NncError):
                    raise found
                return found
            if name in scope.constants:
                try:
                    array = scope.constants[name]
                except NncError as error:  # formats may read it now
                    raise (n or self).error(error.message) from None
                scope.values[name] = self.constant(array, NameLoc(name, self.loc), key=name)
                return scope.values[name]
            scope = scope.parent
        raise self.error(f"'{name}' is not defined")

    def body(self, graph: Graph, n: NodeLayer, context: Any = None) -> Body:
        """A graph inside a node, checked; each call of the result imports it in place."""
        scope = Scope(graph, self.scope, context, self.scope.depth + 1)
        if scope.depth > DEEPEST:
            raise n.error(f"graphs are nested more than {DEEPEST} deep")
        return Body(n, scope, self.ordered(scope, [one.name for one in graph.inputs]))

    def call(self, graph: Graph, arguments: Sequence[Any], n: NodeLayer) -> list[Any]:
        """The values of the outputs of a graph with these inputs, imported in place."""
        return self.body(graph, n)(*arguments)


def listed(faults: Sequence[str], word: str, where: str = "") -> str:
    """One message that lists all faults; `word` is the unit they are counted in: layer, node, .."""
    shown = list(faults[:MOST_LISTED])
    if len(faults) > MOST_LISTED:
        shown.append(f"and {len(faults) - MOST_LISTED} more")
    count = f"a {word} is" if len(faults) == 1 else f"{len(faults)} {word}s are"
    return f"{count} not supported{where}:\n  " + "\n  ".join(shown)


def _outer_input(one: Input) -> Input:
    """The input as callers see it: complex numbers are pairs of real ones."""
    if not is_complex(one.type):
        return one
    return Input(one.name, caller_type(one.type), (*one.dims, "") if one.dims else ())


def _as_declared(n: Layer, made: Value, declared: Type) -> Value:
    """The value with the element type that the model declares.

    Raises NncError if that is of another kind, or has more bits than the value has.
    """
    found = made.type.element_type
    if found is declared:
        return made
    kept = [(FloatType, FloatType), (IntegerType, IntegerType)]
    if not any(isinstance(found, a) and isinstance(declared, b) for a, b in kept) or (
        found.width < declared.width  # type: ignore[attr-defined]
    ):
        raise n.error(f"gives elements of type {found} where the model has {declared}")
    return n.cast(made, declared)


def _shaped_as_declared(n: Layer, made: Value, declared: Sequence[int | None]) -> Value:
    """The value with the extents that the model declares, where its type lacks one.

    Raises NncError if the ranks differ.
    """
    if made.type.rank != len(declared):
        raise n.error(f"gives {made.type} where the model has extents {list(declared)}")
    pairs = list(zip(made.type.shape, declared, strict=True))
    if all(own is not None or known is None for own, known in pairs):
        return made
    return reshape(n, made, [_first(*pair, (made, i)) for i, pair in enumerate(pairs)])


def _first(*choices: Any) -> Any:
    return next(choice for choice in choices if choice is not None)


MISFITS = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
"""Python's errors that converters raise on damaged models, with impossible ranks, counts or kinds.
"""


@contextmanager
def errors_of(n: Layer, inputs: Any = ()):
    """Turn errors in the context, of converting `inputs`, into ones that name the layer."""
    try:
        yield
    except NncError as error:
        if error.location == n.builder.loc:
            raise  # it names the layer already
        raise n.error(op_message(error.message)) from None
    except MemoryError:
        raise n.error("a constant needs more memory than there is") from None
    except MISFITS as error:
        if has_pairs(inputs):
            raise n.error("complex numbers are not supported here") from error
        what = f"{type(error).__name__}: {error}"
        raise n.error(f"its inputs or attributes do not fit ({what})") from error


def op_message(message: str) -> str:
    """The message of an op's verifier without the op's own name."""
    _, found, rest = message.partition("' op ")
    return rest if found else message


def _all_nodes(graph: Graph) -> Iterable[Node]:
    """All nodes, also those of nested graphs; a graph that several nodes share counts once."""
    seen: set[int] = set()
    graphs = [graph]
    while graphs:
        one = graphs.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield from one.nodes
        graphs += (inner for node in one.nodes for inner in node.graphs.values())


@dataclass
class Body:
    """A graph nested in the node `n`. Calling it imports the nodes and returns its outputs.

    The scope has the constants, which all calls share.
    """

    n: NodeLayer
    scope: Scope
    nodes: Sequence[Node]

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return [one.name for one in self.scope.graph.inputs]

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs' values."""
        return [value for _, value in self.scope.graph.outputs]

    def __call__(self, *arguments: Value | Any) -> list[Any]:
        names = self.inputs
        if len(arguments) != len(names):
            raise self.n.error(f"{len(arguments)} inputs, expected {len(names)}")
        scope = Scope(self.scope.graph, self.scope, depth=self.scope.depth)
        scope.constants = {}
        scope.values.update(zip(names, arguments, strict=True))
        return self.n.builder.import_nodes(self.nodes, scope, self.outputs)

"""From a graph to a module: the walk over the nodes, each by its row in the format's table."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...dialects.builtin import ModuleOp
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.location import Location, NameLoc
from ...ir.types import FloatType, IntegerType, TensorType, Type
from .builder import Builder, identifier
from .complexes import Pair, is_complex, outside, split, together
from .fields import Fields, RecordFields, remembered
from .graph import Graph, Node
from .inputs import Input, InputChoices, constant_arrays, input_types
from .layer import Layer
from .order import needed_nodes
from .rows import Rows, fault_of_call, fault_of_ranks
from .shapes import reshape

MOST_LISTED = 50
DEEPEST = 100


class NodeLayer(Layer):
    """A node that is being imported; formats derive from it to read their attributes."""

    builder: Importer

    def __init__(self, importer: Importer, node: Node) -> None:
        name = node.name or next((name for name in node.outputs if name), "")
        super().__init__(importer, node.label, NameLoc(f"{name} ({node.kind})", importer.loc))
        self.node = node
        self.kind = node.kind
        self.attributes = remembered(node.attributes)

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The names and values of the fields that the file gives and no converter has read."""
        known = isinstance(self.attributes, Fields | RecordFields)
        return self.attributes.unread() if known else iter(())

    def finish(self) -> None:
        """Called when the node has been imported, for a format's own checks. Raises NncError."""

    def wants(self, output: int) -> bool:
        """Whether the output is there and named, so that somebody may use it."""
        return output < len(self.node.outputs) and bool(self.node.outputs[output])

    def graph(self, name: str, *arguments: Value) -> list[Any]:
        """The values of the outputs of a graph inside the node, imported at this place."""
        return self.builder.call(self.node.graphs[name], arguments, self)


class Importer(Builder):
    """The import of one graph. `layer` makes the `NodeLayer` that the format's converters get."""

    def __init__(
        self,
        graph: Graph,
        rows: Rows,
        loc: Location,
        layer: Callable[[Any, Node], NodeLayer] = NodeLayer,
    ) -> None:
        super().__init__(loc)
        self.graph = graph
        self.rows = rows
        self.layer = layer
        self._frames: list[dict[str, Any]] = [{}]
        self._graphs: list[Graph] = [graph]
        self._states: dict[str, Value] = {}

    def state(self, name: str, type: TensorType) -> Value:
        """A new input of the model, zeros where it is left out, with an output of the same name."""
        self._states[name] = self.argument(name, type)
        return self._states[name]

    def leave(self, name: str, value: Value) -> None:
        """Set the output of a state, which is the state's input until then."""
        self._states[name] = value

    def run(self, choices: InputChoices) -> ModuleOp:
        """The module. Raises NncError; operators that are missing are listed all at once."""
        graph = self.graph
        types = input_types(self, [_outer_input(one) for one in graph.inputs], choices)
        self.check_operators()
        for name, array in constant_arrays(self, types, choices.constants).items():
            del types[name]
            self._frames[0][name] = self.constant(array, NameLoc(name, self.loc), key=name)
        for name, type in types.items():
            self._frames[0][name] = self.argument(name, type)
        for one in filter(lambda one: is_complex(one.type), graph.inputs):
            self._frames[0][one.name] = split(self._interface(one.name), self._frames[0][one.name])
        self._walk(graph)
        pairs, outputs = set(graph.complex_outputs), []
        for name, inner in graph.outputs:
            value = self.lookup(inner)
            if isinstance(value, Pair):
                pairs.add(name)
                value = together(self._interface(name), value)
            outputs.append((name, self._output(name, value)))
        dims = {value.name: value.dims for value in graph.inputs} | dict(graph.dims)
        starts = dict(graph.starts) | dict.fromkeys(self._states, 0.0)
        outputs += self._states.items()
        return self.module([*types, *self._states], outputs, dims, starts, pairs)

    def _interface(self, name: str) -> NodeLayer:
        """The layer of ops that convert between complex values and the real ones callers see."""
        return NodeLayer(self, Node("", name, [], []))

    def _output(self, name: str, value: Any) -> Value:
        try:
            return self.as_value(value, self.loc)
        except NncError as error:
            raise NncError(f"output '{name}': {error.message}", self.loc) from None

    def operators(self) -> Counter[str]:
        """How often each operator stands in the model."""
        return Counter(node.kind for node in _all_nodes(self.graph))

    def faults(self) -> list[str]:
        """What is wrong with each node whose operator is not there."""
        return [
            f"{node.label}: not supported"
            for node in _all_nodes(self.graph)
            if self.rows.find(node.kind) is None
        ]

    def check_operators(self) -> None:
        """Raises one NncError that lists all nodes that cannot be imported."""
        faults = self.faults()
        if not faults:
            return
        shown = faults[:MOST_LISTED]
        if len(faults) > MOST_LISTED:
            shown.append(f"and {len(faults) - MOST_LISTED} more")
        count = "a layer is" if len(faults) == 1 else f"{len(faults)} layers are"
        raise self.error(f"{count} not supported:\n  " + "\n  ".join(shown))

    # -- nodes ------------------------------------------------------------------------------------

    def _walk(self, graph: Graph) -> None:
        given = {*self._frames[-1], *graph.constants}
        outputs = [*(value for _, value in graph.outputs), *graph.effects]
        try:
            nodes = needed_nodes(graph.nodes, given, outputs, self._is_outer, _View())
        except NncError as error:
            raise self.error(error.message) from None
        for node in nodes:
            self.import_node(node)

    def import_node(self, node: Node) -> None:
        """Insert what a node stands for and bind its outputs."""
        n = self.layer(self, node)
        convert = self.rows.find(node.kind)
        if convert is None:
            raise n.error("not supported")
        inputs = [self.lookup(name) if name else None for name in node.inputs]
        fault = fault_of_call(convert, inputs) or fault_of_ranks(inputs, True)
        if fault:
            raise n.error(fault)
        with errors_of(n):
            results = convert(n, *inputs)
            self._check_read(n)
            n.finish()
        results = list(results) if isinstance(results, list | tuple) else [results]
        for i, name in enumerate(node.outputs):
            if name:
                self._bind(name, results[i] if i < len(results) else None, n, i)

    def _check_read(self, n: NodeLayer) -> None:
        """Raises NncError where a field that may mean something was not read."""
        if self.rows.ignored is None:
            return
        for name, value in self.rows.ignored.refused(n.kind, n.unread()):
            raise n.error(f"'{name}' is {reprlib.repr(value)}, which is not supported")

    def _bind(self, name: str, result: Any, n: NodeLayer, i: int) -> None:
        if result is None:
            result = n.error(f"output {i} ('{name}') is not supported")
        declared = self._graphs[-1].elements.get(name)
        if declared is not None and isinstance(result, Value):
            result = _as_declared(n, result, declared)
        shape = self._graphs[-1].shapes.get(name)
        if shape is not None and isinstance(result, Value):
            result = _shaped_as_declared(n, result, shape)
        self._frames[-1][name] = result
        if isinstance(result, Value) and result.name_hint is None:
            result.name_hint = identifier(name)

    def lookup(self, name: str) -> Any:
        """The value of a name; a constant is inserted when it is first used."""
        for frame, graph in zip(reversed(self._frames), reversed(self._graphs), strict=True):
            if name in frame:
                if isinstance(frame[name], NncError):
                    raise frame[name]
                return frame[name]
            if name in graph.constants:
                loc = NameLoc(name, self.loc)
                frame[name] = self.constant(graph.constants[name], loc, key=name)
                return frame[name]
        raise self.error(f"'{name}' is not defined")

    def _is_outer(self, name: str) -> bool:
        pairs = zip(self._frames[:-1], self._graphs[:-1], strict=True)
        return any(name in frame or name in graph.constants for frame, graph in pairs)

    def call(self, graph: Graph, arguments: Sequence[Any], n: Layer) -> list[Any]:
        """The values of the outputs of a graph with these inputs, imported in place."""
        if len(arguments) != len(graph.inputs):
            raise n.error(f"{len(arguments)} inputs, expected {len(graph.inputs)}")
        if len(self._frames) > DEEPEST:
            raise n.error(f"graphs are nested more than {DEEPEST} deep")
        names = [value.name for value in graph.inputs]
        self._frames.append(dict(zip(names, arguments, strict=True)))
        self._graphs.append(graph)
        try:
            self._walk(graph)
            return [self.lookup(value) for _, value in graph.outputs]
        finally:
            self._frames.pop()
            self._graphs.pop()


def _outer_input(one: Input) -> Input:
    """The input as callers see it: complex numbers are pairs of real ones."""
    if not is_complex(one.type):
        return one
    return Input(one.name, outside(one.type), (*one.dims, "") if one.dims else ())


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
"""Errors of Python that converters meet in damaged models, by impossible ranks, counts or kinds."""


@contextmanager
def errors_of(n: Layer):
    """Turn errors in the context into ones that name the layer."""
    try:
        yield
    except NncError as error:
        if error.location == n.builder.loc:
            raise  # it names the layer already
        raise n.error(op_message(error.message)) from None
    except MemoryError:
        raise n.error("a constant needs more memory than there is") from None
    except MISFITS as error:
        what = f"{type(error).__name__}: {error}"
        raise n.error(f"its inputs or attributes do not fit ({what})") from error


def op_message(message: str) -> str:
    """The message of an op's verifier without the op's own name."""
    _, found, rest = message.partition("' op ")
    return rest if found else message


class _View:
    """How `needed_nodes` reads the nodes of a graph; see `order.NodeView`."""

    def label(self, node: Node) -> str:
        """How messages name the node."""
        return node.label

    def outputs(self, node: Node) -> Iterable[str]:
        """The names that the node defines."""
        return node.outputs

    def used(self, node: Node) -> Iterable[str]:
        """The names that the node uses, also inside its graphs."""
        names = dict.fromkeys(name for name in (*node.after, *node.inputs) if name)
        for graph in node.graphs.values():
            names.update(dict.fromkeys(_free_names(graph)))
        return names


def _free_names(graph: Graph) -> list[str]:
    """The names that a nested graph takes from around it."""
    own = {value.name for value in graph.inputs} | set(graph.constants)
    own |= {name for node in graph.nodes for name in node.outputs}
    used = [name for node in graph.nodes for name in _View().used(node)]
    used += [value for _, value in graph.outputs]
    return [name for name in used if name not in own]


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

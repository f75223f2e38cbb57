"""A program of ATen, from a file or a live PyTorch object, before it becomes a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.types import ComplexType, TensorType, Type
from ..common.graph import Graph, Node, relative_names
from ..common.inputs import Input
from .arguments import ELEMENTS, Ref, refs_in, words
from .functional import functional
from .guards import Guards
from .interface import with_complex_values, with_states
from .layout import Layout
from .mapped import unmapped

_OF_STRIDES = frozenset(
    words("aten.as_strided aten.as_strided_scatter aten.sym_stride aten.stride")
)
"""Operators whose result depends on strides, which have to be known."""

_ASSERTIONS = words(
    """
    aten._assert_scalar. aten._functional_assert_scalar. aten._assert_async.
    aten._functional_assert_async.
    """
)

WITH_EFFECTS = "higher_order.with_effects"
"""How `run_decompositions` writes an operator that must run in order, behind a token."""

ERROR_CHECK = "aten._linalg_check_errors.default"
"""What PyTorch calls after a factorization: it fails where a matrix is singular."""

_MISSTATED = "quantized_decomposed.choose_qparams_per_token.default"
"""It gives scales of the operand's type, and zero points as well, where its record has f64 and
i64."""

_SIZES = {"aten.view.default": "size", "aten.reshape.default": "shape"}


@dataclass
class Program:
    """Nodes in order, which may write in place; `outputs` are values or None.

    `buffers` are the model's names of the constants that a run may change, and `changed` the new
    values of buffers and inputs that the program returns itself.
    """

    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    dims: dict[str, Sequence[str]] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)
    guards: Guards = field(default_factory=Guards)

    def prepared(self) -> list[Node]:
        """The nodes in the form that `functional` takes."""
        found = []
        for node in unmapped(self.nodes, self.layouts):
            strided = node.kind.rpartition(".")[0] in _OF_STRIDES
            found += self._by_strides(node) if strided else [self._sized(node)]
        return found

    def _by_strides(self, one: Node) -> list[Node]:
        """Nodes for one that uses strides, with its operand permuted to the order in memory."""
        source, first = one.attributes.get("self"), next(iter(one.outputs), "")
        layout = self.layouts.get(source.name) if isinstance(source, Ref) else None
        if layout is None or layout.is_contiguous:
            return [one]
        turned, order = layout.in_order()
        name = one.kind.split(".")[1]
        if not turned.is_contiguous:
            raise NncError(f"{one.label} reads a tensor with gaps by strides")
        made = f"{source.name}.{first}"
        self.layouts[made] = turned
        moved = node("aten.permute.default", one.name, [made], {"self": source, "dims": order})
        given, outputs = one.attributes | {"self": Ref(made)}, one.outputs
        if name.endswith("stride"):
            given["dim"] = order.index(given["dim"] % len(order))
        if name != "as_strided_scatter":
            return [moved, node(one.kind, one.name, outputs, given)]
        written = f"{first}.strided"
        self.layouts[written] = turned
        back = {"self": Ref(written), "dims": [order.index(i) for i in range(len(order))]}
        return [
            moved,
            node(one.kind, one.name, [written], given),
            node("aten.permute.default", one.name, outputs, back),
        ]

    def _sized(self, node: Node) -> Node:
        """The node with a size of -1 replaced by the number that PyTorch has computed."""
        key = _SIZES.get(node.kind)
        layout = self.layouts.get(node.outputs[0]) if key else None
        if key is None or layout is None:
            return node
        sizes, known = node.attributes[key], layout.known
        if -1 not in sizes or len(known) != len(sizes):
            return node
        whole = [k if s == -1 and k is not None else s for s, k in zip(sizes, known, strict=True)]
        return replace(node, attributes=node.attributes | {key: whole})

    def graph(self, producer: str = "", notes: Mapping[str, str] | None = None) -> Graph:
        """The graph, without in-place writes; outputs of equal names are made distinct.

        A changed buffer or input becomes a state: an input and an output of the same name.
        """
        nodes, renamed = functional(self.prepared(), self.layouts)
        changed = {name: self.changed.get(name, renamed.get(name, name)) for name in self._open()}
        changed = {name: value for name, value in changed.items() if value != name}
        outputs: list[tuple[str, str]] = []
        taken = set(changed)
        for value in self.outputs:
            if not isinstance(value, Ref):
                continue
            name, count = value.name, 0
            while name in taken:
                count += 1
                name = f"{value.name}_{count}"
            taken.add(name)
            outputs.append((name, renamed.get(value.name, value.name)))
        dims = {name: self.dims[name] for name, _ in outputs if name in self.dims}
        nodes, outputs = _checked(nodes, outputs)
        nodes, outputs = self._guarded(nodes, outputs)
        used = {value for _, value in outputs} | {*changed.values()}
        found = Graph(
            self.inputs,
            _without_unused(nodes, used),
            outputs,
            self.constants,
            dims,
            producer,
            dict(notes or {}),
            elements=self._elements(),
            shapes=self._shapes(),
        )
        return with_complex_values(with_states(found, changed, self.buffers), self.layouts)

    def _guarded(
        self, nodes: list[Node], outputs: list[tuple[str, str]]
    ) -> tuple[list[Node], list[tuple[str, str]]]:
        """The nodes and outputs, of which the first is given only if the guards hold.

        It is the output, as code for the inputs would be worse behind a check of them.
        """
        if not self.guards.texts or not outputs:
            return nodes, outputs
        (name, value), *others = outputs
        made, (texts, sources) = f"{name}.guarded", (self.guards.texts, self.guards.sources)
        given = {"self": Ref(value), "guards": texts, "sources": sources}
        check = node("nnc.guarded", "guards", [made], given)
        return [*nodes, check], [(name, made), *others]

    def _shapes(self) -> dict[str, Sequence[int | None]]:
        """The extents that PyTorch recorded for values; under vmap, without mapped dimensions."""
        if any("_batch_dim" in node.kind for node in self.nodes):
            return {}
        # Operands permuted by `_by_strides` have no recorded extents.
        return {name: layout.known for name, layout in self.layouts.items() if layout.known}

    def _elements(self) -> dict[str, Type]:
        """The element types that PyTorch recorded for values, except complex ones."""
        found = {name: ELEMENTS.get(_name(x.element)) for name, x in self.layouts.items()}
        for node in self.nodes:
            if node.kind == _MISSTATED:
                found |= dict.fromkeys(node.outputs)
        return {
            name: element
            for name, element in found.items()
            if element is not None and not isinstance(element, ComplexType)
        }

    def _open(self) -> list[str]:
        """The names of values that a run may change: buffers and inputs."""
        return [*self.buffers, *(value.name for value in self.inputs)]


def _checked(
    nodes: Sequence[Node], outputs: Sequence[tuple[str, str]]
) -> tuple[list[Node], list[tuple[str, str]]]:
    """The nodes and outputs, of which the first is given only if the program's assertions hold.

    `torch.export` asserts the values for which a branch was taken. What it asserts of extents is
    left out: it follows from the operators, and of `masked_select` it is not always true.
    """
    left, found = [], list(outputs)
    made_by = {name: one for one in nodes for name in one.outputs}
    for one in nodes:
        condition = one.attributes.get("self")
        is_checked = one.kind.startswith(_ASSERTIONS) and isinstance(condition, Ref) and found
        if not is_checked or _is_of_extents(condition.name, made_by):
            left.append(one)
            continue
        (name, value), made = found[0], f"{one.name}.{len(left)}"
        message = str(one.attributes.get("assert_msg") or "an assertion of the model fails")
        given = {"self": Ref(value), "condition": condition, "message": message}
        inputs = [value, condition.name]
        left.append(
            replace(one, kind="nnc.assured", inputs=inputs, outputs=[made], attributes=given)
        )
        found[0] = name, made
    return left, found


def without_token(one: Node) -> list[Node]:
    """The assertion that a node of `WITH_EFFECTS` makes, if any, without the token that orders it.

    Other operators are left as they are, and refused later.
    """
    _, called, *operands = one.attributes["arguments"]
    kind = str(called).removeprefix("torch.ops.")
    if kind == ERROR_CHECK:
        return []
    if not kind.startswith(_ASSERTIONS) or not operands:
        return [one]
    given: dict[str, Any] = dict(zip(("self", "assert_msg"), operands, strict=False))
    return [node(kind, one.name, [], given)]


def _is_of_extents(name: str, made_by: Mapping[str, Node]) -> bool:
    """Whether a number is computed from extents of tensors alone."""
    one = made_by.get(name)
    if one is None or one.kind.startswith(("aten.sym_size.", "aten.sym_numel.")):
        return one is not None
    numbers = one.kind.startswith(("operator.", "torch.sym_", "math."))
    return numbers and all(_is_of_extents(source, made_by) for source in one.inputs)


def _without_unused(nodes: Sequence[Node], used: set[str]) -> list[Node]:
    """The nodes, with unused outputs after the first left unnamed."""
    used = used.union(_uses(nodes))

    def named(node: Node) -> list[str]:
        first, *others = node.outputs
        return [first, *(name if name in used else "" for name in others)]

    return [replace(n, outputs=named(n)) if len(n.outputs) > 1 else n for n in nodes]


def _name(element: Any) -> str:
    """The name of an element type in PyTorch."""
    return str(element).removeprefix("torch.")


def _uses(nodes: Sequence[Node]) -> Iterator[str]:
    """The names of values that nodes and their nested graphs use."""
    for one in nodes:
        yield from one.inputs
        for graph in one.graphs.values():
            yield from _uses(graph.nodes)
            yield from (value for _, value in graph.outputs)


def node(
    kind: str,
    name: str,
    outputs: Sequence[str],
    arguments: Mapping[str, Any],
    graphs: Mapping[str, Graph] | None = None,
    modules: Sequence[str] = (),
) -> Node:
    """A node whose inputs are the graph values in its arguments.

    `modules` are the paths of the modules that it is in, each from the root.
    """
    for output in outputs:
        if not isinstance(output, str):
            raise TypeError(f"a value is named {output!r}")
    inputs = list(dict.fromkeys(ref.name for ref in refs_in(dict(arguments))))
    scopes = relative_names(modules, ".")
    return Node(kind, name, inputs, outputs, dict(arguments), dict(graphs or {}), scopes=scopes)


def tensor_input(name: str, shape: Sequence[Any], element: Any, names: Sequence[str]) -> Input:
    """An input of a program."""
    return Input(name, TensorType(tuple(shape), element), tuple(names))

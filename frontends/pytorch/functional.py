"""Replaces in-place writes, also through views, by new values.

A write gives new values to its target and to all bases of which the target is a view; a view whose
base has changed since is computed again where it is used:

    v = select(x, 0, 1)             v = select(x, 0, 1)
    add_(v, 1)               ->     v' = add(v, 1); x' = write(x, v', "select", 0, 1)
    y = relu(x)                     y = relu(x')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ..common.graph import Node
from .arguments import Ref, refs_in, with_refs, words
from .given import Given, writes_given
from .layout import Layout

VIEWS = words(
    """
    alias view _unsafe_view view_as select slice narrow unsqueeze squeeze permute transpose t
    expand expand_as split split_with_sizes chunk unbind tensor_split diagonal detach unflatten
    swapaxes swapdims movedim numpy_T mT matrix_H mH adjoint _reshape_alias lift_fresh unfold
    as_strided hsplit vsplit dsplit unsafe_split unsafe_chunk
    """
)
"""Operators whose results share memory with their first operand."""

ITSELF = words("alias detach lift_fresh contiguous to type_as")
"""Operators whose result, if it shares memory with the first operand, is the whole operand."""

SOMETIMES = words(
    """
    reshape flatten contiguous to type_as dropout feature_dropout
    """
)
"""Operators that return a view or the operand itself where possible, else a copy."""


OVERLAPPING = words("unfold as_strided")
"""Views of which several elements may be one of the base: written in part, all are read again."""


@dataclass
class _View:
    """A value that is result `index` of a view operator's node on a base."""

    base: str
    node: Node
    index: int
    version: int


def functional(
    nodes: Sequence[Node], layouts: Mapping[str, Layout]
) -> tuple[list[Node], Mapping[str, str]]:
    """Nodes without in-place writes, and the new names of values."""
    if not any(_writes(node) for node in nodes):
        return list(nodes), {}
    return _Functional(layouts).run(nodes)


def _name_of(node: Node) -> str:
    return node.kind.split(".")[1] if node.kind.startswith("aten.") else ""


def _writes(node: Node) -> bool:
    return pure(_name_of(node)) is not None or writes_given(node) is not None


def pure(name: str) -> str | None:
    """The pure form of an in-place operator: `add` for `add_`, `__and__` for `__iand__`."""
    if name.endswith("__"):
        return f"__{name[3:]}" if name.startswith("__i") else None
    return name[:-1] if name.endswith("_") else None


def _target(node: Node) -> str | None:
    """The name of the value that is written, or viewed."""
    first = next(iter(node.attributes.values()), None)
    return first.name if isinstance(first, Ref) else None


class _Functional:
    def __init__(self, layouts: Mapping[str, Layout]) -> None:
        self.layouts = layouts
        self.views: dict[str, _View] = {}
        self.values: dict[str, str] = {}
        """The current value of each name that an in-place operator has changed."""
        self.versions: dict[str, int] = {}
        self.nodes: list[Node] = []
        self.fresh = 0

    def run(self, nodes: Sequence[Node]) -> tuple[list[Node], Mapping[str, str]]:
        for node in nodes:
            if pure(_name_of(node)) in VIEWS:  # in place it changes the shape, not elements
                kind = node.kind.replace("_.", ".")
                self.keep(replace(node, kind=kind, graphs={}))
            elif (given := writes_given(node)) is not None:
                self.write_given(node, given)
            elif _writes(node):
                self.write(node)
            else:
                self.keep(node)
        # Views whose base was written after them may be results.
        for name in list(self.views):
            self.newest(name)
        return self.nodes, self.values

    def keep(self, node: Node) -> None:
        """Append a node that reads the newest values."""
        base = self.base_of(node)
        arguments = with_refs(node.attributes, lambda ref: Ref(self.newest(ref.name)))
        inputs = list(dict.fromkeys(ref.name for ref in refs_in(arguments)))
        node = replace(node, inputs=inputs, attributes=arguments)
        self.nodes.append(node)
        if base is not None:
            for i, name in enumerate(node.outputs):
                if name:
                    self.views[name] = _View(base, node, i, self.versions.get(base, 0))

    def base_of(self, node: Node) -> str | None:
        """The base of which the node's results are views; None if they are not."""
        base, name = _target(node), _name_of(node)
        if base is None or (name not in VIEWS and name not in SOMETIMES):
            return None
        if name in SOMETIMES and not self.shares(name, base, node):
            return None
        return base

    def shares(self, name: str, base: str, node: Node) -> bool:
        """Whether an operator that may copy returns a view here."""
        own, out = self.layouts.get(base), self.layouts.get(node.outputs[0])
        if name in ("dropout", "feature_dropout"):
            return not node.attributes.get("train", False)
        if own is None or out is None:
            return True
        if name in ("reshape", "flatten"):
            return _reshapes_in_place(own, out.shape)
        if name == "contiguous":
            return own.is_contiguous
        return own.element == out.element and not node.attributes.get("copy", False)

    # -- values -----------------------------------------------------------------------------------

    def newest(self, name: str) -> str:
        """The current name of a value."""
        view = self.views.get(name)
        if view is not None:
            base = self.newest(view.base)
            version = self.versions.get(view.base, 0)
            if version != view.version:
                view.version = version
                self._replay(view, base)
        return self.values.get(name, name)

    def _replay(self, view: _View, base: str) -> None:
        """Compute a view again from its changed base, with all its results."""
        arguments = dict(view.node.attributes)
        arguments[next(iter(arguments))] = Ref(base)
        outputs = [self.new_name(name) if name else "" for name in view.node.outputs]
        self.emit(view.node.kind, view.node.name, outputs, arguments)
        for old, new in zip(view.node.outputs, outputs, strict=True):
            if old and self.views[old].node is view.node:
                self.views[old].version = view.version
                self.values[old] = new
                self.versions[old] = self.versions.get(old, 0) + 1

    def new_name(self, name: str) -> str:
        self.fresh += 1
        return f"{name}.{self.fresh}"

    def emit(
        self, kind: str, name: str, outputs: Sequence[str], arguments: Mapping[str, Any]
    ) -> None:
        inputs = list(dict.fromkeys(ref.name for ref in refs_in(dict(arguments))))
        self.nodes.append(Node(kind, name, inputs, outputs, dict(arguments)))

    # -- writes -----------------------------------------------------------------------------------

    def write(self, node: Node) -> None:
        """Append the pure form of an in-place operator, whose result is its target's new value."""
        target = _target(node)
        if target is None:
            raise ValueError(f"{node.label} writes no value")
        if self.gives_itself(node, target):
            for name in filter(None, node.outputs):
                self.keep(_alias(target, name))
            return
        arguments = with_refs(node.attributes, lambda ref: Ref(self.newest(ref.name)))
        first, *rest = node.kind.removeprefix("aten.").split(".")
        kind = ".".join(["aten", pure(first) or first, *rest])
        made = self.new_name(node.outputs[0] if node.outputs else target)
        if kind != "aten.copy.default":
            self.emit(kind, node.name, [made], arguments)
            arguments = {"self": Ref(self.newest(target)), "src": Ref(made)}
            made = self.new_name(made)
        self.emit("aten.copy.default", node.name, [made], arguments)
        self.assign(target, made)
        for name in node.outputs:
            self.is_now(name, target)

    def is_now(self, name: str, target: str) -> None:
        """Let `name` mean the present value of `target`, to which an operator has just written."""
        if name:
            self.views[name] = _View(target, _alias(target, name), 0, self.versions[target])
            self.values[name] = self.values[target]

    def write_given(self, node: Node, given: Given) -> None:
        """Append the operator that returns the new values of written tensors, and assign these."""
        arguments = with_refs(given.arguments, lambda ref: Ref(self.newest(ref.name)))
        names = list(node.outputs) + [""] * (max(given.targets) + 1 - len(node.outputs))
        made = [
            self.new_name(given.targets[i]) if i in given.targets else name
            for i, name in enumerate(names)
        ]
        self.emit(given.kind, node.name, made, arguments)
        for i, target in given.targets.items():
            if names[i]:
                self.check_extents(node, target, names[i])
            value = self.new_name(target)
            copied = {"self": Ref(self.newest(target)), "src": Ref(made[i])}
            self.emit("aten.copy.default", node.name, [value], copied)
            self.assign(target, value)
            if given.are_results:
                self.is_now(names[i], target)

    def check_extents(self, node: Node, target: str, result: str) -> None:
        """Raise NncError if PyTorch would resize the target to the extents of the result."""
        own, out = self.layouts.get(target), self.layouts.get(result)
        if own is not None and out is not None and own.known != out.known:
            raise NncError(
                f"{node.label}: a tensor of extents {list(own.known)} for results of "
                f"{list(out.known)} is not supported"
            )

    def gives_itself(self, node: Node, target: str) -> bool:
        """Whether a value is copied to itself: `self.table = self.table.to(x.device)`."""
        source = node.attributes.get("src")
        if not node.kind.startswith("aten.copy_.") or not isinstance(source, Ref):
            return False
        view = self.views.get(source.name)
        return view is not None and view.base == target and _name_of(view.node) in ITSELF

    def assign(self, target: str, value: str) -> None:
        """Assign a new value to a value, and update all its bases."""
        view = self.views.get(target)
        if view is not None:
            base = Ref(self.newest(view.base))
            _, *others = view.node.attributes.items()
            arguments = {"self": base, "value": Ref(value), "view": view.node.kind}
            arguments |= {"part": view.index, "arguments": dict(others)}
            made = self.new_name(view.base)
            self.emit("nnc.write", view.node.name, [made], arguments)
            self.assign(view.base, made)
            if _name_of(view.node) not in OVERLAPPING:
                view.version = self.versions[view.base]
        self.values[target] = value
        self.versions[target] = self.versions.get(target, 0) + 1


def _alias(target: str, name: str) -> Node:
    return Node("aten.alias.default", name, [target], [name], {"self": Ref(target)})


def _reshapes_in_place(own: Layout, shape: Sequence[int]) -> bool:
    """Whether a reshape to other extents needs no copy."""
    if own.is_contiguous:
        return True
    probe = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), own.shape, own.strides)
    try:
        probe.shape = tuple(shape)
    except (AttributeError, ValueError):
        return False
    return True

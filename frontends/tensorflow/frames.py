"""Branches and loops of TensorFlow 1 as nodes with graphs.

Values flow through gates there, also backward:

    Enter -> Merge -> Switch -> .. -> NextIteration -> Merge     a loop of a frame
                        `-> Exit
    Switch -> .. -> Merge                                        a branch

    Enter, Merge, Switch, NextIteration, Exit  ->  While of cond and body
    Switch, Merge                              ->  If of two branches, or Case of more
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

import numpy as np

from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..wire.protobuf import WireError
from .schema import UNKNOWN

GATES = ("Switch", "_SwitchN")
KINDS = {"Enter", "Exit", "Merge", "NextIteration", "LoopCond", *GATES}
"""The operators of TensorFlow 1's control flow. All take a value; those in `GATES` a condition,
too."""

Tag = tuple[str, int]
"""(the condition of a gate, the output of the gate that a value passed)."""
Merge = tuple[Node, list[int]]
"""(a merge, which of its inputs comes from each branch)."""


def structured(graph: Graph) -> Graph:
    """The graph with structured loops and branches. Raises WireError if gates are inconsistent."""
    kinds = {node.kind for node in graph.nodes}
    if not kinds & KINDS:
        return graph
    nodes = list(graph.nodes)
    for node in nodes:
        if node.kind in KINDS and len(node.inputs) < 1 + (node.kind in GATES):
            raise WireError(f"'{node.name}' ({node.kind}) lacks an input")
    while enters := [node for node in nodes if node.kind == "Enter"]:
        nodes = _Frame(nodes, _innermost(nodes, enters)).replaced()
    return replace(graph, nodes=_branched(nodes))


def _users(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    users: dict[str, list[Node]] = {}
    for node in nodes:
        for name in dict.fromkeys(node.inputs):
            users.setdefault(name, []).append(node)
    return users


def _frame_of(node: Node) -> str:
    found = node.attributes.get("frame_name")
    return "" if found is None else bytes(found.s).decode("utf-8", "replace")


def _innermost(nodes: Sequence[Node], enters: Sequence[Node]) -> str:
    """A frame that contains no other frame."""
    users = _users(nodes)
    for frame in dict.fromkeys(map(_frame_of, enters)):
        inside = _inside(users, [node for node in enters if _frame_of(node) == frame])
        if all(node.kind != "Enter" or _frame_of(node) == frame for node in inside.values()):
            return frame
    raise WireError("frames of loops begin inside of each other")


def _inside(users: Mapping[str, list[Node]], enters: Sequence[Node]) -> dict[str, Node]:
    """The nodes between a frame's entry and its exits, by name."""
    found: dict[str, Node] = {}
    waiting = list(enters)
    while waiting:
        node = waiting.pop()
        if node.name in found:
            continue
        found[node.name] = node
        if node.kind != "Exit":
            waiting += (user for name in node.outputs for user in users.get(name, ()))
    return found


class _Frame:
    """One loop."""

    def __init__(self, nodes: list[Node], frame: str) -> None:
        self.nodes, self.frame = nodes, frame
        self.makers = {name: node for node in nodes for name in node.outputs}
        self.users = _users(nodes)
        self.enters = [n for n in nodes if n.kind == "Enter" and _frame_of(n) == frame]
        self.inside = _inside(self.users, self.enters)

    def replaced(self) -> list[Node]:
        """All nodes, with the loop as one node."""
        merges = [n for n in self.inside.values() if n.kind == "Merge" and self._starts(n)]
        conditions = [n for n in self.inside.values() if n.kind == "LoopCond"]
        if len(conditions) != 1 or not merges:
            raise WireError(f"the frame '{self.frame}' is not a loop")
        gates = {n.inputs[0]: n for n in self.inside.values() if self._is_gate(n, conditions[0])}
        parts = [self._variable(merge, gates.get(merge.outputs[0])) for merge in merges]
        inits, heads, bodies, nexts, exits = (list(column) for column in zip(*parts, strict=True))
        own = {n.name for n in (*merges, *gates.values(), *conditions, *self.enters)}
        inner = [
            node
            for node in self.inside.values()
            if node.name not in own and node.kind not in ("Exit", "NextIteration")
        ]
        loop = Node(
            "While",
            self.frame,
            inits,
            exits,
            {},
            {
                "cond": _graph(heads, _branched(inner), conditions[0].inputs[:1]),
                "body": _graph(bodies, _branched(inner), nexts),
            },
        )
        started = {self.makers[m.inputs[i]].name for m in merges if (i := self._starts(m) - 1) >= 0}
        fixed = [
            Node("Identity", node.name, node.inputs[:1], node.outputs[:1], {})
            for node in self.enters
            if node.name not in started
        ]
        return [*(n for n in self.nodes if n.name not in self.inside), *fixed, loop]

    def _starts(self, merge: Node) -> int:
        """The input of a merge, counted from 1, that comes from outside the frame; 0 for none."""
        for i, name in enumerate(merge.inputs):
            maker = self.makers.get(name)
            if maker is not None and maker.kind == "Enter" and _frame_of(maker) == self.frame:
                return i + 1
        return 0

    def _is_gate(self, node: Node, condition: Node) -> bool:
        return node.kind == "Switch" and node.inputs[1:2] == condition.outputs[:1]

    def _variable(self, merge: Node, gate: Node | None) -> tuple[str, str, str, str, str]:
        """A loop variable's names: before, in the condition, in the body, after, and at the end."""
        start = self._starts(merge) - 1
        backs = [self.makers.get(name) for i, name in enumerate(merge.inputs) if i != start]
        if len(backs) != 1 or backs[0] is None or backs[0].kind != "NextIteration":
            raise WireError(f"'{merge.name}' (Merge) has no input from a node NextIteration")
        body = f"{gate.name}:1" if gate is not None else f"{merge.name}:body"
        leaving = self.users.get(f"{gate.name}:0", ()) if gate is not None else ()
        exits = [node.outputs[0] for node in leaving if node.kind == "Exit"]
        if len(exits) > 1:
            raise WireError(f"'{merge.name}' leaves its loop twice")
        enter = self.makers[merge.inputs[start]]
        return enter.inputs[0], merge.outputs[0], body, backs[0].inputs[0], (exits or [""])[0]


def _graph(inputs: Iterable[str], nodes: Sequence[Node], outputs: Iterable[str]) -> Graph:
    """A graph of the nodes that its outputs need."""
    inputs, outputs = list(inputs), list(outputs)
    given = [Input(name, UNKNOWN) for name in inputs]
    return Graph(given, _needed(nodes, outputs, inputs), [("", value) for value in outputs])


def beginning(graph: Graph, count: int) -> Graph:
    """The graph with its first `count` outputs, and the nodes that these need."""
    if len(graph.outputs) <= count or graph.effects:
        return graph
    outputs = graph.outputs[:count]
    needed = _needed(graph.nodes, [value for _, value in outputs], ())
    return replace(graph, nodes=needed, outputs=outputs)


def _needed(nodes: Sequence[Node], outputs: Sequence[str], given: Sequence[str]) -> list[Node]:
    """The nodes that outputs need, besides given values."""
    makers = {name: node for node in nodes for name in node.outputs if name not in given}
    needed: dict[str, Node] = {}
    waiting = list(outputs)
    while waiting:
        node = makers.get(waiting.pop())
        if node is not None and node.name not in needed:
            needed[node.name] = node
            waiting += _used(node)
    return list(needed.values())


def _used(node: Node) -> Iterator[str]:
    """The values that a node uses, also in its nested graphs."""
    yield from node.inputs
    for graph in node.graphs.values():
        for inner in graph.nodes:
            yield from _used(inner)
        yield from (value for _, value in graph.outputs)


# -- branches --------------------------------------------------------------------------------------


def _branched(nodes: Sequence[Node]) -> list[Node]:
    """Nodes with branches replaced by one node for each group of merges."""
    if not any(node.kind in (*GATES, "Merge") for node in nodes):
        return list(nodes)
    return _Branches(nodes).replaced()


class _Branches:
    """Tracks which gates each value has passed."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        makers = {name: node.name for node in nodes for name in node.outputs}
        by_name = {node.name: node for node in nodes}
        graph = {
            node.name: [makers[name] for name in node.inputs if name in makers] for node in nodes
        }
        try:
            self.order = [by_name[name] for name in TopologicalSorter(graph).static_order()]
        except CycleError:
            raise WireError("the nodes form a cycle") from None
        self.same = {n.outputs[0]: n.inputs[0] for n in nodes if n.kind == "Identity" and n.inputs}
        self.tags: dict[str, tuple[Tag, ...]] = {}
        self.behind: dict[str, frozenset[str]] = {}
        """For each value: the Merge nodes that it depends on."""
        self.groups: dict[tuple[str, frozenset[Tag]], list[list[Merge]]] = {}
        self.gates: dict[str, Node] = {}
        self.placed: dict[frozenset[Tag], list[Node]] = {}

    def replaced(self) -> list[Node]:
        """The nodes outside of all branches."""
        for node in self.order:
            tags: dict[Tag, None] = {}
            behind: set[str] = set()
            for name in node.inputs:
                tags |= dict.fromkeys(self.tags.get(name, ()))
                behind |= self.behind.get(name, frozenset())
            if node.kind == "Merge":
                tags = self._merge(node, behind)
                behind.add(node.name)
            elif node.kind in GATES:
                self.gates[self._condition(node)] = node
            else:
                self.placed.setdefault(frozenset(tags), []).append(node)
            for name in node.outputs:
                own = {(self._condition(node), _number(name)): None} if node.kind in GATES else {}
                self.tags[name] = (*tags, *own)
                self.behind[name] = frozenset(behind)
            if node.kind in GATES:  # both of its values are the one that it lets through
                for name in node.outputs:
                    passing = Node("Identity", name, node.inputs[:1], [name], {})
                    self.placed.setdefault(frozenset(self.tags[name]), []).append(passing)
        for (condition, outer), groups in sorted(self.groups.items(), key=lambda g: -len(g[0][1])):
            for group in groups:
                node = self._node(condition, outer, group)
                self.placed.setdefault(outer, []).append(node)
        return self.placed.get(frozenset(), [])

    def _condition(self, gate: Node) -> str:
        """The condition of a gate; gates of one branch have it through different identities."""
        found = gate.inputs[1]
        for _ in range(len(self.same)):
            if found not in self.same:
                break
            found = self.same[found]
        return found

    def _merge(self, node: Node, behind: set[str]) -> dict[Tag, None]:
        """Add a merge to a group; returns the gates that its result still depends on."""
        given = [self.tags.get(name, ()) for name in node.inputs]
        common = frozenset.intersection(*map(frozenset, given))
        own = [tag for tags in given for tag in reversed(tags) if tag not in common]
        if not own:
            raise WireError(f"'{node.name}' merges values of no gate")
        counts = {tag[0]: sum(any(t[0] == tag[0] for t in tags) for tags in given) for tag in own}
        condition = max(counts, key=lambda name: counts[name])
        places = [next((t[1] for t in tags if t[0] == condition), -1) for tags in given]
        if places.count(-1) == 1:
            places[places.index(-1)] = next(i for i in range(len(places)) if i not in places)
        if sorted(places) != list(range(len(places))):
            raise WireError(f"'{node.name}' merges values of different gates")
        taken = [places.index(i) for i in range(len(places))]
        outer = frozenset(common)
        for group in self.groups.setdefault((condition, outer), []):
            alike = len(group[0][1]) == len(taken)
            if alike and not any(member.name in behind for member, _ in group):
                group.append((node, taken))
                break
        else:
            self.groups[condition, outer].append([(node, taken)])
        return {tag: None for tag in given[0] if tag in common}

    def _node(self, condition: str, outer: frozenset[Tag], group: Sequence[Merge]) -> Node:
        """The node of the branches whose merges have one condition."""
        count = len(group[0][1])
        graphs = [
            _merged(self.placed.get(outer | {(condition, i)}, ()), i, group) for i in range(count)
        ]
        outputs = [name for node, _ in group for name in node.outputs[:2]]
        name = group[0][0].name
        if self.gates[condition].kind == "Switch":
            named = {"then_branch": graphs[1], "else_branch": graphs[0]}
            return Node("If", name, [condition], outputs, {}, named)
        cases = {f"branches{i}": graph for i, graph in enumerate(graphs)}
        return Node("Case", name, [condition], outputs, {}, cases)


def _merged(nodes: Sequence[Node], branch: int, group: Sequence[Merge]) -> Graph:
    """The graph of a branch: what each merge takes from it, and which of its inputs that is if it
    has this as a second result.
    """
    constants: dict[str, np.ndarray] = {}
    values = []
    for node, taken in group:
        values.append(node.inputs[taken[branch]])
        if len(node.outputs) > 1:
            values.append(f"{node.name}/value_index/{branch}")
            constants[values[-1]] = np.array(taken[branch], np.int32)
    return replace(_graph((), nodes, values), constants=constants)


def _number(name: str) -> int:
    """The index of a value among its node's outputs."""
    return int(name.rpartition(":")[2])

"""Undoes `torch.vmap`, as `torch.export` keeps it: operators work on whole batches.

Between `_add_batch_dim` and `_remove_batch_dim` the mapped dimension of a value is hidden, level by
level. Here these dimensions come first, in the order of their levels, and the arguments of
operators are adjusted:

    a = _add_batch_dim(x, 1, 1)          a = movedim(x, 1, 0)
    y = sum(a, 0)                   ->   y = sum(a, 1)
    z = _remove_batch_dim(y, 1, n, 0)    z = movedim(y, 0, 0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.diagnostics import NncError
from ...ir.types import i64
from ..common.graph import Node
from .arguments import Ref, refs_in, with_refs, words
from .layout import Layout
from .rows import ROWS

PREFIX = "torch._functorch.predispatch."

_DIMS = words("dim dims dim0 dim1 start_dim end_dim source destination")


def unmapped(nodes: Sequence[Node], layouts: Mapping[str, Layout]) -> Sequence[Node]:
    """Nodes without vmap. Raises NncError for an operator without a batching rule."""
    if not any(node.kind.startswith(PREFIX) for node in nodes):
        return nodes
    return _Unmapped(layouts).run(nodes)


class _Unmapped:
    def __init__(self, layouts: Mapping[str, Layout]) -> None:
        self.ranks = {name: len(layout.shape) for name, layout in layouts.items()}
        """The rank of each value as the program sees it, without mapped dimensions."""
        self.levels: dict[str, tuple[int, ...]] = {}
        """The vmap levels of each value's mapped dimensions, which come first; absent for values
        without."""
        self.extents: list[Any] = []
        """The extents of the dimensions being mapped; level n is at index n - 1."""
        self.nodes: list[Node] = []
        self.fresh = 0

    def run(self, nodes: Sequence[Node]) -> list[Node]:
        for node in nodes:
            match node.kind.removeprefix(PREFIX):
                case "lazy_load_decompositions":
                    pass
                case "_vmap_increment_nesting":
                    self.extents.append(node.attributes["arguments"][0])
                case "_vmap_decrement_nesting":
                    self.extents.pop()
                case "_add_batch_dim":
                    self.begin(node.outputs[0], *node.attributes["arguments"])
                case "_remove_batch_dim":
                    self.end(node.outputs[0], *node.attributes["arguments"])
                case _ if any(self.levels.get(name) for name in node.inputs):
                    self.map(node)
                case _:
                    self.nodes.append(node)
        return self.nodes

    def begin(self, out: str, given: Ref, dim: int, level: int) -> None:
        """Hide a dimension at a level."""
        own = self.levels.get(given.name, ())
        place = dim % self.ranks[given.name] + len(own)
        self.emit("movedim.int", (*own, level), out, self=given, source=place, destination=len(own))

    def end(self, out: str, given: Ref, level: int, extent: Any, dim: int) -> None:
        """Show a dimension again; a value that lacks it is repeated."""
        own, rank = self.levels.get(given.name, ()), self.ranks[given.name] + 1
        left = tuple(one for one in own if one != level)
        place = len(left) + dim % rank
        if level in own:
            source = own.index(level)
            self.emit("movedim.int", left, out, self=given, source=source, destination=place)
            return
        sizes = [-1] * (len(left) + rank)
        sizes[place] = extent
        wide = self.emit("unsqueeze.default", left, self=given, dim=place)
        self.emit("expand.default", left, out, self=wide, size=sizes)

    # -- operators --------------------------------------------------------------------------------

    def map(self, node: Node) -> None:
        """Append a node that works on whole batches."""
        name, kind = node.kind.split(".")[1], node.kind
        if name.startswith("_assert"):
            return
        levels = tuple(sorted({one for key in node.inputs for one in self.levels.get(key, ())}))
        rank = max(self.ranks[key] for key in node.inputs)
        given = dict(node.attributes)
        how = ROWS.batching(node.kind)
        if how == "named" and ("other" in given or _named(given)):
            how = "along"
        match how:
            case "fresh":
                levels = ()
            case "elements":
                given = self.aligned(given, levels, rank)
            case "along" | "first" | "all" | "joined" | "gathered" | "flattened" | "permuted":
                wide = how in ("joined", "gathered")
                given = _behind(how, self.aligned(given, levels, rank, wide), len(levels), rank)
            case "turned" if rank == 2:
                kind, given = "aten.transpose.int", given | {"dim0": -2, "dim1": -1}
            case "shape":
                key = "size" if "size" in given else "shape"
                given[key] = [*map(self.extent, levels), *given[key]]
            case "products" if min(self.ranks[key] for key in node.inputs) > 1:
                kind = "aten.matmul.default"
                left, right = refs_in(self.aligned(given, levels, rank))
                given = {"self": left, "other": right}
            case "index" if None not in given["indices"]:
                given = self.indexed(given, levels)
            case "last" if not any(self.levels.get(key) for key in node.inputs[1:]):
                pass
            case _:
                raise NncError(f"{node.label} is not supported where torch.vmap maps a batch")
        self.add(kind, node.outputs, given, node.name)
        self.levels |= dict.fromkeys(node.outputs, levels)

    def indexed(self, given: dict[str, Any], levels: tuple[int, ...]) -> dict[str, Any]:
        """The arguments of an index, with indices of the tensor's batch dimensions put in front."""
        indices = given["indices"]
        rank = max(self.ranks[one.name] for one in indices)
        own = []
        for level in self.levels.get(given["self"].name, ()):
            count = self.emit("arange.default", (), end=self.extent(level), dtype=i64)
            behind = [1] * (len(levels) - 1 - levels.index(level) + rank)
            shape = [self.extent(level), *behind]
            own.append(self.emit("reshape.default", (), self=count, shape=shape))
        return given | {"indices": [*own, *self.aligned(indices, levels, rank)]}

    def aligned(self, given: Any, levels: tuple[int, ...], rank: int, wide: bool = False) -> Any:
        """Arguments whose tensors have a dimension for each level, then `rank` visible ones.

        A missing batch dimension gets the batch's extent if `wide`, else extent 1.
        """
        return with_refs(given, lambda ref: self.align(ref, levels, rank, wide))

    def align(self, ref: Ref, levels: tuple[int, ...], rank: int, wide: bool) -> Ref:
        own, shown = self.levels.get(ref.name, ()), self.ranks.get(ref.name, 0)
        if (own == levels and shown == rank) or (not own and not wide):
            return ref
        for place, level in enumerate(levels):
            if level not in own:
                ref = self.emit("unsqueeze.default", levels, self=ref, dim=place)
        for _ in range(rank - shown):
            ref = self.emit("unsqueeze.default", levels, self=ref, dim=len(levels))
        if wide:
            sizes = [*map(self.extent, levels), *[-1] * rank]
            ref = self.emit("expand.default", levels, self=ref, size=sizes)
        return ref

    def extent(self, level: int) -> Any:
        return self.extents[level - 1]

    def emit(self, kind: str, levels: tuple[int, ...], out: str = "", /, **given: Any) -> Ref:
        """Append a node with one result; returns a reference to it."""
        self.fresh += 1
        out = out or f"mapped.{self.fresh}"
        self.add(f"aten.{kind}", [out], given, out)
        self.levels[out] = levels
        return Ref(out)

    def add(self, kind: str, outputs: Sequence[str], given: dict[str, Any], name: str) -> None:
        inputs = list(dict.fromkeys(ref.name for ref in refs_in(given)))
        self.nodes.append(Node(kind, name, inputs, outputs, given))


def _named(given: Mapping[str, Any]) -> list[str]:
    """The names of the arguments that are dimensions."""
    return [key for key in _DIMS if given.get(key) not in (None, [])]


def _behind(how: str, given: dict[str, Any], lead: int, rank: int) -> dict[str, Any]:
    """Arguments with their dimensions shifted by `lead` leading ones."""

    def moved(dim: Any) -> Any:
        if isinstance(dim, list):
            return [moved(one) for one in dim]
        return dim + lead if isinstance(dim, int) and dim >= 0 else dim

    named = _named(given)
    if not named and how == "all":
        return given | {"dim": list(range(lead, lead + rank))}
    found = given | {key: moved(given[key]) for key in named}
    if not named and how in ("first", "joined"):
        found["dim"] = lead
    if how == "flattened":
        found.setdefault("start_dim", lead)
    if how == "permuted":
        found["dims"] = [*range(lead), *(one % (lead + rank) for one in found["dims"])]
    return found

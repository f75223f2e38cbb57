"""Operators of StableHLO in TensorFlow Lite's files, by the converters of `frontends/stablehlo`.

These converters read an operation's attributes, the types of its results, and its regions. Here,
attributes are TensorFlow Lite's options, and regions are graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ....ir.attributes import DenseElements
from ...common.graph import Graph, Node
from ...common.loops import branch
from ...common.vocabulary import *
from ...stablehlo.layer import HloLayer
from ...stablehlo.layer import rows as hlo
from ...wire.flatbuffers import Table
from ..layer import TfliteLayer
from ..rows import ROWS
from ..tensors import element_type

PREFIX = "STABLEHLO_"
DIRECTIONS = ["EQ", "NE", "GE", "GT", "LE", "LT"]
ORDERS = ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]

REGIONS = {
    "REDUCE": ("body",),
    "REDUCE_WINDOW": ("body",),
    "SCATTER": ("update",),
    "SORT": ("comparator",),
    "WHILE": ("condition", "body"),
}
"""The options of operators that are regions of the operation."""


@dataclass(eq=False)
class _Argument:
    """A value in a region: the operation that makes it, None for an argument, and its type."""

    owner: Any = None
    type: Any = None


@dataclass(eq=False)
class _Block:
    args: list[_Argument]
    ops: list[Described]


@dataclass(eq=False)
class _Region:
    blocks: list[_Block]


@dataclass(eq=False)
class Described:
    """What converters of StableHLO read of an operation; attributes are fields by their names."""

    name: str
    operands: Sequence[Any] = ()
    results: Sequence[_Argument] = ()
    regions: Sequence[_Region] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.attributes:
            raise AttributeError(name)
        return self.attributes[name]


@dataclass(frozen=True)
class _Numbers:
    """The dimension numbers of a gather or scatter, by their names in StableHLO."""

    table: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """The number or tuple of numbers called `name`; an empty tuple if it is not given."""
        found = self.table.get(name, ())
        return found if isinstance(found, int) else tuple(int(v) for v in found)


@dataclass(frozen=True)
class _Orders:
    """The order of a convolution's dimensions."""

    table: Mapping[str, Sequence[int]]

    def order(self, which: str, *_: str) -> list[int]:
        """The dimensions of one tensor (`which`): two named ones, then the spatial ones."""
        return list(self.table[which])


def _numbers(options: Table, names: str) -> dict[str, Any]:
    found = {}
    for name in names.split():
        value = getattr(options, name)
        found[name] = tuple(value.tolist()) if isinstance(value, np.ndarray) else value
    return found


def _pairs(values: np.ndarray) -> DenseElements:
    return DenseElements.from_numpy(np.asarray(values, np.int64).reshape(-1, 2))


def _gather(options: Table) -> dict[str, Any]:
    names = "offset_dims collapsed_slice_dims start_index_map index_vector_dim"
    numbers = _Numbers(_numbers(options, names))
    return {"dimension_numbers": numbers, **_numbers(options, "slice_sizes")}


def _scatter(options: Table) -> dict[str, Any]:
    names = "update_window_dims inserted_window_dims scatter_dims_to_operand_dims index_vector_dim"
    numbers = _Numbers(_numbers(options, names))
    return {"scatter_dimension_numbers": numbers, **_numbers(options, "unique_indices")}


def _dot(options: Table) -> dict[str, Any]:
    found = _numbers(options, "lhs_batch lhs_sum rhs_batch rhs_sum")
    lhs, rhs = ((found[f"{side}_batch"], found[f"{side}_sum"]) for side in ("lhs", "rhs"))
    return {"dims": (lhs, rhs)}


def _window(options: Table) -> dict[str, Any]:
    found = _numbers(options, "window_dimensions window_strides base_dilations window_dilations")
    padding = _pairs(options.padding) if options.padding.size else None
    return {**{name: value or None for name, value in found.items()}, "padding": padding}


def _convolution(options: Table) -> dict[str, Any]:
    o = options
    orders = {
        "lhs": [o.input_batch, o.input_feature, *o.input_spatial.tolist()],
        "rhs": [o.kernel_output, o.kernel_input, *o.kernel_spatial.tolist()],
        "out": [o.output_batch, o.output_feature, *o.output_spatial.tolist()],
    }
    found = _numbers(o, "window_strides lhs_dilation rhs_dilation")
    count = len(orders["lhs"]) - 2
    found |= _numbers(o, "feature_group_count batch_group_count")
    pads = o.padding.reshape(-1, 2).tolist() if o.padding.size else [(0, 0)] * count
    reverse = DenseElements.from_numpy(o.window_reversal) if o.window_reversal.size else None
    return {
        **found,
        "dimension_numbers": _Orders(orders),
        "pads": tuple(map(tuple, pads)),
        "steps": lambda values: values or (1,) * count,
        "window_reversal": reverse,
    }


def _compare(options: Table) -> dict[str, Any]:
    direction, order = options.comparison_direction, options.compare_type
    if not (0 <= direction < len(DIRECTIONS) and 0 <= order < len(ORDERS)):
        raise ValueError(f"comparison {direction} of type {order}")
    return {"comparison_direction": DIRECTIONS[direction], "compare_type": ORDERS[order]}


def _plain(names: str = "") -> Callable[[Table], dict[str, Any]]:
    return lambda options: _numbers(options, names)


ATTRIBUTES: dict[str, Callable[[Table], dict[str, Any]]] = {
    "ADD SUBTRACT MULTIPLY MAXIMUM MINIMUM AND OR": _plain(),
    "DIVIDE REMAINDER CLAMP SELECT CBRT CONVERT RESHAPE WHILE": _plain(),
    "DYNAMIC_UPDATE_SLICE": _plain(),
    "COMPARE": _compare,
    "CONCATENATE": _plain("dimension"),
    "BROADCAST_IN_DIM": _plain("broadcast_dimensions"),
    "SLICE": _plain("start_indices limit_indices strides"),
    "DYNAMIC_SLICE": _plain("slice_sizes"),
    "PAD": _plain("edge_padding_low edge_padding_high interior_padding"),
    "IOTA": _plain("iota_dimension"),
    "TRANSPOSE": _plain("permutation"),
    "REDUCE": _plain("dimensions"),
    "SORT": _plain("dimension is_stable"),
    "REDUCE_WINDOW": _window,
    "GATHER": _gather,
    "SCATTER": _scatter,
    "DOT_GENERAL": _dot,
    "CONVOLUTION": _convolution,
}
"""Functions from TensorFlow Lite's options to the attributes of the operations named."""
_OF = {kind: make for kinds, make in ATTRIBUTES.items() for kind in kinds.split()}


class OptionsLayer(HloLayer):
    """An operator of TensorFlow Lite's as a converter of StableHLO sees an operation."""

    def region(self, at: int, *arguments: Any) -> list[Any]:
        """What the graph of a region gives for these arguments."""
        return self.graph(self._name_of(at), *arguments)

    def region_graph(self, at: int) -> Graph:
        """The graph of a region, of nodes with TensorFlow Lite's names."""
        return self.node.graphs[self._name_of(at)]

    def region_node(self, at: int, op: Any) -> Node:
        """The node of the operation `op` in the graph of a region."""
        return self.region_graph(at).nodes[self.op.regions[at].blocks[0].ops.index(op)]

    def _name_of(self, at: int) -> str:
        return REGIONS[self.node.kind.removeprefix(PREFIX)][at]


def _described(kind: str, about: Any, **more: Any) -> Described:
    name = kind.removeprefix(PREFIX)
    attributes = _OF[name](about.options) if name in _OF else {}
    return Described(f"stablehlo.{name.lower()}", attributes=attributes, **more)


def _region(graph: Graph) -> _Region:
    """A graph as a region, for converters that look at what it does."""
    values: dict[str, Any] = {one.name: _Argument(type=one.type) for one in graph.inputs}
    args, ops = list(values.values()), []
    for node in graph.nodes:
        operands = [values.setdefault(name, _Argument()) for name in node.inputs]
        op = _described(node.kind, node.attributes, operands=operands)
        ops.append(op)
        op.results = [_Argument(op, _type(tensor)) for tensor in node.attributes.outputs]
        values |= zip(node.outputs, op.results, strict=False)
    results = [values.setdefault(name, _Argument()) for _, name in graph.outputs]
    ops.append(Described("stablehlo.return", operands=results))
    return _Region([_Block(args, ops)])


def _converted(n: TfliteLayer, *inputs: Any) -> Any:
    """The results of an operator, by the converter of the StableHLO operation of its name."""
    name = n.kind.removeprefix(PREFIX)
    types = [_type(tensor) for tensor in n.attributes.outputs]
    regions = [_region(n.node.graphs[one]) for one in REGIONS.get(name, ())]
    op = _described(
        n.kind,
        n.attributes,
        operands=list(inputs),
        results=[_Argument(type=type) for type in types],
        regions=regions,
    )
    list(n.options.fields())  # all are read: as attributes, by their names in StableHLO
    op.attributes = {**op.attributes, **dict(zip(REGIONS.get(name, ()), regions, strict=True))}
    convert = hlo.find(op.name)
    if convert is None:
        raise n.error("not supported")
    try:
        graphs = {**n.node.graphs, **_by_number(n, name)}
        node = replace(n.node, attributes=op, graphs=graphs)
        return convert(OptionsLayer(n.builder, node), *inputs)
    except (AssertionError, StopIteration):
        raise n.error("its options do not fit its tensors") from None


def _by_number(n: TfliteLayer, name: str) -> dict[str, Graph]:
    """The graphs inside of an operation, by their indices, with StableHLO's names of operators."""
    graphs = [n.node.graphs[one] for one in REGIONS.get(name, ())]
    return {
        str(i): replace(graph, nodes=[replace(v, kind=_name(v.kind)) for v in graph.nodes])
        for i, graph in enumerate(graphs)
    }


def _name(kind: str) -> str:
    return f"stablehlo.{kind.removeprefix(PREFIX).lower()}"


def _type(tensor: Table) -> TensorType:
    shape = tensor.signature if len(tensor.signature) else tensor.shape
    extents = tuple(None if d < 0 else d for d in shape.tolist())
    return TensorType(extents, element_type(tensor.type))


_HERE = {"ADD", "SUBTRACT", "MULTIPLY", "MAXIMUM", "MINIMUM", "AND", "OR"}
"""Operators that have converters of their own, which also take quantized tensors."""
ROWS.add({f"{PREFIX}{name}": _converted for name in _OF if name not in _HERE})


@ROWS("STABLEHLO_COMPOSITE")
def composite(n: TfliteLayer, *inputs: Any) -> list[Any]:
    """A composite operation, imported as its decomposition."""
    return n.graph("decomposition", *inputs)


@ROWS("STABLEHLO_CASE")
def case(n: TfliteLayer, index: Any, *inputs: Any) -> Any:
    """The results of the branch number `index`; the last one also serves indices out of range."""
    names = [name for name in n.node.graphs if name.startswith("branches")]
    number = reshape(n, index, [])

    def from_(i: int) -> list[Any]:
        if i == len(names) - 1:
            return n.graph(names[i], *inputs)
        is_it = n(nn.Equal(number, n.scalar(i, number)))
        sides = (lambda: n.graph(names[i], *inputs), lambda: from_(i + 1))
        return branch(n, is_it, sides)

    return from_(0)

"""A .tflite file as a graph: tensors by unique names, constants in place, states made explicit.

A variable that a graph reads and assigns is an input and an output of the model, of the same name:
the output is to be passed to the next run. The first run may omit it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...ir.types import TensorType, Type
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from ..common.strings import LookupTable
from ..wire.flatbuffers import FlatbufferError, Table
from .schema import CODES, MODEL, OPTIONS
from .tensors import Blocks, Tensors

VERSION = 3
STATE_OPERANDS = {"SVDF": (4,), "RNN": (4,), "LSTM": (18, 19)}
"""The operands of operators for one time step that are states, kept until the next run."""

NESTED = {
    "IF": ("then", "otherwise"),
    "WHILE": ("condition", "body"),
    "CALL": ("graph",),
    "CALL_ONCE": ("graph",),
    "STABLEHLO_REDUCE": ("body",),
    "STABLEHLO_REDUCE_WINDOW": ("body",),
    "STABLEHLO_SCATTER": ("update",),
    "STABLEHLO_SORT": ("comparator",),
    "STABLEHLO_WHILE": ("condition", "body"),
    "STABLEHLO_COMPOSITE": ("decomposition",),
    "STABLEHLO_CASE": ("branches",),
}
"""The options of operators that are numbers of nested graphs."""


CARRIES_VARIABLES = ("IF", "WHILE", "CALL")
"""Operators whose graphs may use variables."""

Handles = tuple[tuple[int, str], ...]
"""Which inputs of a graph are handles: their places, and the names of the variables."""

LOOKUPS = ("HASHTABLE_FIND", "HASHTABLE_SIZE")
"""Operators whose first operand is a table."""


HANDLING = {
    "VAR_HANDLE": (0, 1),
    "READ_VARIABLE": (1, 1),
    "ASSIGN_VARIABLE": (2, 0),
    "HASHTABLE": (0, 1),
    "HASHTABLE_IMPORT": (3, 0),
    **dict.fromkeys(LOOKUPS, (1, 0)),
}
"""The least numbers of inputs and outputs of operators on handles, which become no nodes."""


@dataclass(frozen=True)
class Operator:
    """The attributes of a node: its options, and its tensors with their quantization."""

    options: Table
    custom: np.ndarray
    inputs: list[Table | None]
    outputs: list[Table]
    table: LookupTable | None = None
    """The table that a lookup reads."""
    intermediates: Sequence[Table] = ()
    """Tensors inside of the operator, which only have quantization parameters."""
    stored: Sequence[bool] = ()
    """Whether each input is stored in the file."""
    blocks: Mapping[int, Blocks] = field(default_factory=dict)
    """The scales of the inputs that are quantized by blocks."""


@dataclass
class State:
    """A variable: its external name, its tensor's type, first value, and current value's name."""

    name: str
    value: str
    type: Type | None = None
    first: np.ndarray | None = None

    @property
    def start(self) -> np.ndarray:
        """Its initial elements; a scalar if they are equal."""
        if self.first is None or not self.first.size:
            return np.zeros(())
        one = self.first.reshape(-1)[:1]
        return one.reshape(()) if (self.first == one).all() else self.first


def read_model(source: Source) -> Graph:
    """The graph of a file. Raises NncError."""
    try:
        return _Reader(source, MODEL.read("Model", source.data)).run()
    except FlatbufferError as error:
        raise source.error(f"not a valid TensorFlow Lite model: {error}") from None


class _Reader:
    def __init__(self, source: Source, model: Table) -> None:
        self.source = source
        self.model = model
        self.tensors = Tensors(source, model)
        self.inner: dict[tuple[int, Handles], _SubGraph | None] = {}
        self.tables: dict[int, LookupTable] = {}

    def run(self) -> Graph:
        model = self.model
        if model.version != VERSION:
            raise self.source.error(f"schema version {model.version}, expected {VERSION}")
        if not model.subgraphs:
            raise self.source.error("it has no graph")
        signature = self.signature()
        one = _SubGraph(self, self.subgraph(0 if signature is None else signature.subgraph))
        one.read()
        graph = one.graph(signature)
        graph.producer = model.description
        notes = {"signature": signature.key} if signature is not None else {}
        graph.starts = {state.name: state.start for state in one.states.values()}
        graph.notes = notes | {
            f"state {name}": f"starts as {first:g}" if not first.ndim else "starts as stored"
            for name, first in graph.starts.items()
        }
        return graph

    def signature(self) -> Table | None:
        """The requested signature, else that of the first graph; None without any."""
        name, known = self.source.signature, self.model.signatures
        for one in known:
            if one.key == name if name is not None else one.subgraph == 0:
                return one
        if name is not None:
            listed = ", ".join(f"'{one.key}'" for one in known) or "none"
            raise self.source.error(f"there is no signature '{name}'; signatures: {listed}")
        return None

    def nested(self, number: int, handles: Handles) -> _SubGraph:
        """The graph of a branch, loop or function by its number, of these variables' handles.

        Each is read once.
        """
        key = number, handles
        if key in self.inner:
            if (found := self.inner[key]) is None:
                raise self.source.error(f"graph {number} calls itself")
            return found
        self.inner[key] = None
        one = _SubGraph(self, self.subgraph(number))
        own = one.table.inputs.tolist()
        one.handles.update((own[place], name) for place, name in handles if place < len(own))
        one.read()
        self.inner[key] = one
        return one

    def subgraph(self, number: int) -> Table:
        if not 0 <= number < len(self.model.subgraphs):
            raise self.source.error(f"there is no graph {number}")
        return self.model.subgraphs[number]

    def kind(self, operator: Table) -> str:
        """The operator's name; for a custom operator, the name in the file."""
        codes = self.model.operator_codes
        if operator.code >= len(codes):
            raise self.source.error(f"there is no operator code {operator.code}")
        code = codes[operator.code]
        number = max(code.code, code.old_code)
        if not 0 <= number < len(CODES):
            raise self.source.error(f"there is no operator {number} (a newer version's?)")
        return code.custom if CODES[number] == "CUSTOM" else CODES[number]


@dataclass
class _SubGraph:
    reader: _Reader
    table: Table
    nodes: list[Node] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    states: dict[str, State] = field(default_factory=dict)
    handles: dict[int, str] = field(default_factory=dict)
    """The names of variables, by the tensors that are their handles."""
    tables: dict[int, LookupTable] = field(default_factory=dict)
    """The lookup tables, by the tensors that are their handles."""
    renamed: dict[str, str] = field(default_factory=dict)

    def read(self) -> None:
        """The nodes in the order of the file, which is that of execution."""
        self.names = _unique([tensor.name for tensor in self.table.tensors])
        for number, operator in enumerate(self.table.operators):
            self.operator(number, operator)

    def operator(self, number: int, operator: Table) -> None:
        kind = self.reader.kind(operator)
        ins, outs = self.numbers(operator.inputs), self.numbers(operator.outputs)
        options = self.options(kind, operator)
        needed = HANDLING.get(kind, (0, 0))
        if len(ins) < needed[0] or len(outs) < needed[1]:
            raise self.reader.source.error(f"operator {number} ({kind}) has too few tensors")
        if kind == "CALL_ONCE":
            self.initialize(self.reader.subgraph(options.graph))
        elif kind == "VAR_HANDLE":
            self.handles[outs[0]] = options.name or self.names[outs[0]]
        elif kind == "HASHTABLE":
            name = self.names[outs[0]]
            self.tables[outs[0]] = self.reader.tables.setdefault(options.table, LookupTable(name))
        elif kind == "HASHTABLE_IMPORT":
            table = self.table_of(ins[0])
            table.keys, table.values = (self.contents(i) for i in ins[1:3])
            if len(table.keys) != len(table.values):
                raise self.reader.source.error(f"table '{table.name}' has keys without values")
        elif kind == "READ_VARIABLE":
            state = self.state(ins[0], self.table.tensors[outs[0]])
            self.renamed[self.names[outs[0]]] = state.value
        elif kind == "ASSIGN_VARIABLE":
            state = self.state(ins[0], self.table.tensors[ins[1]])
            state.value = self.name(ins[1])
        else:
            self.node(number, kind, operator, ins, outs, options)

    def node(
        self,
        number: int,
        kind: str,
        operator: Table,
        ins: list[int],
        outs: list[int],
        options: Table,
    ) -> None:
        tensors = self.table.tensors
        # Of states that start as zeros in every run nothing is given.
        inputs = ["" if i >= 0 and tensors[i].is_variable else self.name(i) for i in ins]
        outputs = [self.names[i] if i >= 0 else "" for i in outs]
        for place in STATE_OPERANDS.get(kind, ()):
            if place < len(ins) and ins[place] >= 0 and tensors[ins[place]].is_variable:
                state = self.variable_tensor(ins[place])
                inputs[place], state.value = state.value, f"{state.name}:{number}"
                outputs.append(state.value)
        graphs = self.nested(number, kind, options, ins, outs, inputs, outputs)
        about = Operator(
            options,
            self.custom(operator),
            [tensors[i] if i >= 0 else None for i in ins],
            [tensors[i] for i in outs if i >= 0],
            self.table_of(ins[0]) if kind in LOOKUPS else None,
            [tensors[i] for i in self.numbers(operator.intermediates) if i >= 0],
            [i >= 0 and self.reader.tensors.is_stored(tensors[i]) for i in ins],
            self.blocks(ins),
        )
        inputs = inputs[1:] if kind in LOOKUPS else inputs
        name = outputs[0] if outputs else f"operator {number}"
        self.nodes.append(Node(kind, name, inputs, outputs, about, graphs))

    def nested(
        self,
        operator: int,
        kind: str,
        options: Table,
        ins: list[int],
        outs: list[int],
        inputs: list[str],
        outputs: list[str],
    ) -> dict[str, Graph]:
        """The graphs inside of an operator, by their names in its options.

        The variables that they use become inputs and outputs of all of them, behind the others, and
        of the operator: `inputs` and `outputs` are changed in place, and have no handles.
        """
        numbers = {
            f"{name}{i}" if i else name: number
            for name in NESTED.get(kind, ())
            for i, number in enumerate(np.atleast_1d(getattr(options, name)).tolist())
        }
        first = int(kind == "IF")  # its condition is no input of the branches
        handles = [(place, self.handles[i]) for place, i in enumerate(ins) if i in self.handles]
        within = tuple((place - first, name) for place, name in handles if place >= first)
        found = {name: self.reader.nested(number, within) for name, number in numbers.items()}
        used = {name: state for one in found.values() for name, state in one.states.items()}
        if used and kind not in CARRIES_VARIABLES:
            raise self.reader.source.error(f"{kind} uses variable '{next(iter(used))}' inside")
        for place, _ in reversed(handles):
            del inputs[place]
        if kind in CARRIES_VARIABLES:
            self.handles_behind(kind, found, dict(handles), outs, outputs)
        for name, state in used.items():
            own = self.states.setdefault(name, State(name, name, state.type))
            inputs.append(own.value)
            own.value = f"{name}:{operator}"
            outputs.append(own.value)
        return {name: one.graph(None, used) for name, one in found.items()}

    def handles_behind(
        self,
        kind: str,
        graphs: Mapping[str, _SubGraph],
        given: Mapping[int, str],
        outs: list[int],
        outputs: list[str],
    ) -> None:
        """Record which results of an operator are handles, and remove them from `outputs`.

        `given` has the handles among a loop's operands. Raises NncError if runs may differ in the
        variables that they are handles of, or if a loop's condition assigns one.
        """
        error = self.reader.source.error
        lasts = [one for name, one in graphs.items() if name != "condition"]
        for one in graphs.values() if kind == "WHILE" else ():
            changed = [v.name for v in one.states.values() if v.value != v.name]
            if one not in lasts and changed:
                raise error(f"the condition of a loop assigns variable '{changed[0]}'")
        for place in reversed(range(len(outs))):
            ends = [one.table.outputs.tolist() for one in lasts]
            names = {
                one.handles.get(e[place])
                for one, e in zip(lasts, ends, strict=True)
                if place < len(e)
            }
            names |= {given.get(place)} if kind == "WHILE" else set()
            if names <= {None}:
                continue
            if len(names) > 1:
                raise error(f"result {place} of {kind} is a handle of one of several variables")
            self.handles[outs[place]] = names.pop() or ""
            del outputs[place]

    def blocks(self, ins: list[int]) -> dict[int, Blocks]:
        """The scales of those operands that are quantized by blocks."""
        tensors = self.table.tensors
        read = self.reader.tensors.blocks
        found = {place: read(tensors[i], tensors) for place, i in enumerate(ins) if i >= 0}
        return {place: blocks for place, blocks in found.items() if blocks is not None}

    def options(self, kind: str, operator: Table) -> Table:
        kind = kind if kind in OPTIONS.tables else "NONE"
        where = "options_2" if kind.startswith("STABLEHLO_") else "options"
        if not operator.has(where):
            return OPTIONS.empty(kind)
        return getattr(operator, where).read(kind, OPTIONS)

    def custom(self, operator: Table) -> np.ndarray:
        size, offset = operator.custom_size, operator.custom_offset
        if not operator.has("custom") and size and offset > 1:
            return self.reader.tensors.behind(offset, size, "options")
        return operator.custom

    def numbers(self, found: np.ndarray) -> list[int]:
        """Tensor indices, -1 for an omitted one."""
        count = len(self.table.tensors)
        if any(not -1 <= number < count for number in found.tolist()):
            raise self.reader.source.error(f"an operator or graph uses tensors {found.tolist()}")
        return found.tolist()

    def name(self, number: int) -> str:
        """The name of a tensor's current value; "" for an omitted one."""
        if number < 0:
            return ""
        name = self.names[number]
        return self.renamed.get(name, name)

    # -- tables ---------------------------------------------------------------------------------

    def table_of(self, handle: int) -> LookupTable:
        """The lookup table of a handle."""
        if handle not in self.tables:
            raise self.reader.source.error(f"'{self.names[handle]}' is not a table's handle")
        return self.tables[handle]

    def contents(self, number: int) -> np.ndarray:
        """The constant vector by number, with which a lookup table is filled. Raises NncError."""
        found = self.reader.tensors.array(self.table.tensors[number]) if number >= 0 else None
        if found is None or found.ndim != 1:
            raise self.reader.source.error("a table's contents are computed, or no vector")
        return found

    # -- states --------------------------------------------------------------------------------

    def state(self, handle: int, like: Table) -> State:
        """The variable of a handle; `like` is a tensor that is read from or assigned to it."""
        name = self.handles.get(handle)
        if name is None:
            raise self.reader.source.error(f"'{self.names[handle]}' is not a variable's handle")
        state = self.states.setdefault(name, State(name, name))
        if state.type is None or None in getattr(state.type, "shape", ()):
            state.type = self.reader.tensors.type(like)
        return state

    def variable_tensor(self, number: int) -> State:
        name = self.names[number]
        if name not in self.states:
            self.states[name] = State(
                name, name, self.reader.tensors.type(self.table.tensors[number])
            )
        return self.states[name]

    def initialize(self, table: Table) -> None:
        """Record initial values of variables from a graph that assigns constants to them."""
        inner = _SubGraph(self.reader, table)
        inner.names = _unique([tensor.name for tensor in table.tensors])
        for number, operator in enumerate(table.operators):
            inner.operator(number, operator)
        for name, state in inner.states.items():
            place = inner.names.index(state.value) if state.value in inner.names else -1
            first = None if place < 0 else self.reader.tensors.array(table.tensors[place])
            if first is None:
                raise self.reader.source.error(f"the first value of variable '{name}' is computed")
            self.states[name] = State(name, name, state.type, first)

    # -- the whole -------------------------------------------------------------------------------

    def graph(self, signature: Table | None, states: Mapping[str, State] | None = None) -> Graph:
        """The graph, with the names that the signature, if any, gives inputs and outputs.

        Its states are inputs and outputs behind the others: its own, or those that are given.
        """
        tensors, reader = self.table.tensors, self.reader
        own = [i for i in self.numbers(self.table.inputs) if i not in self.handles]
        outer = _outer_names(signature.inputs if signature else [], own, self.names)
        for number, name in zip(own, outer, strict=True):
            self.rename(number, name)
        results = [i for i in self.numbers(self.table.outputs) if i not in self.handles]
        outside = _outer_names(signature.outputs if signature else [], results, self.names)
        types = [reader.tensors.type(tensors[i]) for i in own]
        named = zip(outer, types, strict=True)
        inputs = [Input(name, type, _dimension_names(name, type)) for name, type in named]
        outputs = list(zip(outside, map(self.name, results), strict=True))
        for name, like in (self.states if states is None else states).items():
            assert like.type is not None
            inputs.append(Input(name, like.type))
            outputs.append((name, self.states[name].value if name in self.states else name))
        made = {name for node in self.nodes for name in node.outputs}
        constants: dict[str, np.ndarray] = {}
        for number, name in enumerate(self.names):
            array = reader.tensors.array(tensors[number]) if name not in (*outer, *made) else None
            if array is not None:
                constants[name] = array
        return Graph(inputs, self.nodes, outputs, constants)

    def rename(self, number: int, name: str) -> None:
        """Give a tensor another name wherever it is used."""
        old = self.names[number]
        if old == name:
            return
        if name in self.names:
            self.rename(self.names.index(name), _unique([*self.names, name])[-1])
        self.names[number] = name
        for node in self.nodes:
            node.inputs = [name if used == old else used for used in node.inputs]
        self.renamed = {k: name if v == old else v for k, v in self.renamed.items()}
        for state in self.states.values():
            state.value = name if state.value == old else state.value


def _outer_names(pairs: list[Table], numbers: list[int], names: list[str]) -> list[str]:
    """The names of inputs or outputs: a signature's where it has one."""
    given = {pair.tensor: pair.name for pair in pairs}
    return _unique([given.get(i) or names[i] for i in numbers])


def _unique(names: list[str]) -> list[str]:
    """The names, with numbers appended to duplicates; an empty one becomes `tensor_NUMBER`."""
    taken, found = set(names), []
    seen: set[str] = set()
    for number, name in enumerate(names):
        if not name or name in seen:
            base = name or "tensor"
            count = number
            while (name := f"{base}_{count}") in taken:
                count += 1
            taken.add(name)
        seen.add(name)
        found.append(name)
    return found


def _dimension_names(name: str, type: TensorType) -> tuple[str, ...]:
    """Each unknown dimension has a name of its own: nothing says which ones are equal."""
    return tuple(f"{name}_{i}" if d is None else "" for i, d in enumerate(type.shape))

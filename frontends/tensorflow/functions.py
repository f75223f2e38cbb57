"""Nodes and functions of TensorFlow as graphs.

A function sees only its arguments. Its values are named by node, output argument and position, as
in `split:output:1`; graphs name them `split:1`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir.diagnostics import NncError
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from ..wire.numerals import whole_number
from ..wire.protobuf import Record, WireError
from .frames import GATES, beginning, structured
from .schema import SCHEMA, array_of, type_of
from .xla import xla_module

OUTPUTS = {
    "FusedBatchNorm": "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3",
    "TopK": "values indices",
    "Unique": "y idx",
    "UniqueWithCounts": "y idx count",
    "NonMaxSuppressionV4": "selected_indices valid_outputs",
    "NonMaxSuppressionV5": "selected_indices selected_scores valid_outputs",
    "CombinedNonMaxSuppression": "nmsed_boxes nmsed_scores nmsed_classes valid_detections",
    "Switch": "output_false output_true",
    "Merge": "output value_index",
    "MaxPoolWithArgmax": "output argmax",
    "TensorListPopBack": "output_handle tensor",
    "TensorListConcat": "tensor lengths",
    "ListDiff": "out idx",
    "QuantizeV2": "output output_min output_max",
    "TensorArrayV3": "handle flow",
    "StatelessRandomGetKeyCounter": "key counter",
    "StatelessRandomGetKeyCounterAlg": "key counter alg",
    "SoftmaxCrossEntropyWithLogits": "loss backprop",
    "SparseSoftmaxCrossEntropyWithLogits": "loss backprop",
    "BroadcastGradientArgs": "r0 r1",
    "BlockLSTM": "i cs f o ci co h",
    "LSTMBlockCell": "i cs f o ci co h",
    "GRUBlockCell": "r u c h",
    "StringSplit": "indices values shape",
    "StringNGrams": "ngrams ngrams_splits",
    "RaggedTensorToSparse": "sparse_indices sparse_values sparse_dense_shape",
    "RaggedRange": "rt_nested_splits rt_dense_values",
    "RaggedGather": "output_nested_splits output_dense_values",
    "SparseReshape": "output_indices output_shape",
    "SparseFillEmptyRows": "output_indices output_values empty_row_indicator reverse_index_map",
    "SparseReorder": "output_indices output_values",
    "SparseConcat": "output_indices output_values output_shape",
    "SparseSlice": "output_indices output_values output_shape",
    "UnicodeDecode": "row_splits char_values",
    "UnicodeDecodeWithOffsets": "row_splits char_values char_to_byte_starts",
    "LookupTableExport": "keys values",
    "LogMatrixDeterminant": "sign log_abs_determinant",
    "FusedBatchNormGrad": "x_backprop scale_backprop offset_backprop reserve_space_4 "
    "reserve_space_5",
    "Lu": "lu p",
    "Qr": "q r",
    "SelfAdjointEig": "e v",
    "Eig": "e v",
    "Svd": "s u v",
    "_FusedBatchNormEx": "y batch_mean batch_variance reserve_space_1 reserve_space_2 "
    "reserve_space_3",
}
"""The names of the outputs of operators with several, valid for later versions too."""

MOST_OUTPUTS = 1 << 16

WHOLE_RESULTS = (
    "TopK", "TopKV2", "Unique", "UniqueV2", "UniqueWithCounts", "NonMaxSuppressionV4",
    "NonMaxSuppressionV5", "CombinedNonMaxSuppression", "MaxPoolWithArgmax",
)  # fmt: skip
"""Operators of which all results are wanted."""

CALLS = ("PartitionedCall", "StatefulPartitionedCall")
ASSIGNMENTS = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
"""Operators that assign a whole variable, that of their first operand."""
READERS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
"""Operators that read the variable of their first operand."""

TABLE_WRITERS = ("LookupTableImport", "LookupTableInsert", "LookupTableRemove")
"""Operators that change the table of their first operand, without their versions."""


def is_writer(kind: str) -> bool:
    """Whether an operator writes the variable or the table of its first operand.

    Of TensorFlow's operators on resources, all but those that are known to read are such. One that
    has no converter is refused then, instead of being left out because it has no results.
    """
    if kind in ASSIGNMENTS or kind.removesuffix("V2") in TABLE_WRITERS:
        return True
    return kind.startswith("Resource") and kind not in READERS


XLA_CALL = "XlaCallModule"

GRAPHS = {
    **dict.fromkeys(CALLS, ("f",)),
    **dict.fromkeys(("If", "StatelessIf"), ("then_branch", "else_branch")),
    **dict.fromkeys(("While", "StatelessWhile"), ("cond", "body")),
    **dict.fromkeys(("Case", "StatelessCase"), ("branches",)),
}
"""The attributes of operators that are functions, which become nested graphs."""


class Functions:
    """The functions of a model by name, each read on first use."""

    def __init__(self, source: Source, library: Record | None) -> None:
        self.source = source
        self._data: dict[str, Any] = {}
        self._records: dict[str, Record] = {}
        self._graphs: dict[str, Graph | None] = {}
        self._kinds: dict[tuple[str, Callable[[str], bool]], bool] = {}
        for data in library.function if library else ():
            whole = isinstance(data, Record)
            record = data if whole else SCHEMA.read("FunctionName", data)
            if record.signature is None:
                raise WireError("a function without a signature")
            if whole:
                self._records[record.signature.name] = data
            self._data[record.signature.name] = data

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def record(self, name: str) -> Record:
        """The definition. Raises NncError for an unknown function."""
        if name not in self._records:
            if name not in self._data:
                raise self.source.error(f"function '{name}' is called, but not defined")
            self._records[name] = SCHEMA.read("Function", self._data[name])
        return self._records[name]

    def writes(self, record: Record) -> bool:
        """Whether a node writes variables, directly or in a function that it calls."""
        return self.has(record, is_writer)

    def has(self, record: Record, wanted: Callable[[str], bool]) -> bool:
        """Whether a node's operator is wanted, or it calls a function with such a node."""
        if wanted(record.op):
            return True
        called = called_functions(record, self).values()
        return any(self._function_has(name, wanted) for name in called)

    def _function_has(self, name: str, wanted: Callable[[str], bool]) -> bool:
        known = (name, wanted)
        if known not in self._kinds:
            self._kinds[known] = False
            self._kinds[known] = any(self.has(node, wanted) for node in self.record(name).node_def)
        return self._kinds[known]

    def graph(self, name: str) -> Graph:
        """The function as a graph. Raises NncError if it is recursive."""
        found = self._graphs.get(name)
        if found is not None:
            return found
        if name in self._graphs:
            raise self.source.error(f"function '{name}' calls itself")
        self._graphs[name] = None
        record = self.record(name)
        values = FunctionValues(record)
        inputs = [Input(arg.name, type_of(arg.type, None)) for arg in record.signature.input_arg]
        outputs = [
            (arg.name, values.name(record.ret.get(arg.name, arg.name)))
            for arg in record.signature.output_arg
        ]
        found = graph_of(record.node_def, inputs, outputs, values, self)
        self._graphs[name] = found
        return found


class GraphValues:
    """The names of values in a graph: `node` stands for its first output."""

    def name(self, text: str) -> str:
        """The value's name, always with the output's index."""
        return text if ":" in text else f"{text}:0"

    def maker(self, text: str) -> str:
        """The name of a value's node."""
        return text.lstrip("^").partition(":")[0]


class FunctionValues(GraphValues):
    """The names of values in a function: an argument, or `node:output:position`."""

    def __init__(self, record: Record) -> None:
        self._kinds = {node.name: node.op for node in record.node_def}

    def name(self, text: str) -> str:
        """The value's name with the output's index, or an argument's name."""
        node, *rest = text.split(":")
        if not rest:
            return text
        names = output_arguments(self._kinds.get(node, ""))
        is_known = len(rest) < 2 or not names or rest[0] in names
        first = names.index(rest[0]) if rest[0] in names else 0
        last = whole_number(rest[-1])
        if len(rest) > 2 or last is None or not is_known:
            raise WireError(f"'{text}' names no value")
        return f"{node}:{first + last}"


def output_arguments(kind: str) -> Sequence[str]:
    """The output arguments of an operator that has several."""
    base = kind[:-2] if kind[-2:-1] == "V" and kind not in OUTPUTS else kind
    return OUTPUTS.get(base, "").split()


def result_count(record: Record) -> int:
    """The number of results of a node that are outputs of a model if nothing uses the node: all
    parts of a tensor, and all of `WHOLE_RESULTS`; of other nodes the first.
    """
    counted = {"Split": "num_split", "SplitV": "num_split", "Unpack": "num"}.get(record.op)
    if counted is not None:
        number = record.attr.get(counted)
        return 1 if number is None else min(max(int(number.i or 0), 1), MOST_OUTPUTS)
    return len(output_arguments(record.op)) if record.op in WHOLE_RESULTS else 1


def graph_of(
    records: Sequence[Record],
    inputs: Sequence[Input],
    outputs: Sequence[tuple[str, str]],
    values: GraphValues,
    functions: Functions,
    renamed: Mapping[str, str] | None = None,
) -> Graph:
    """The nodes that outputs need, as a graph; `renamed` values are inputs."""
    renamed = renamed or {}
    by_name = {record.name: record for record in records}

    def name(text: str) -> str:
        found = values.name(text)
        return renamed.get(found, found)

    effects = _Effects(by_name, values, functions)
    needed: dict[str, None] = {}
    used: set[str] = {value for _, value in outputs}
    inner = {*renamed.values()}
    waiting = [values.maker(value) for _, value in outputs if value not in inner]
    whole = isinstance(values, FunctionValues)
    waiting += effects.writers if whole else []  # all that stands in a function runs
    while waiting:
        one = waiting.pop()
        if one in needed or one not in by_name or f"{one}:0" in renamed:
            continue
        needed[one] = None
        waiting += effects.before(one)
        if by_name[one].op == "Const":
            gates = _gates_before(by_name[one], by_name, values)
            used.update(map(name, gates))
            waiting += map(values.maker, gates)
        for text in _data_inputs(by_name[one]):
            used.add(name(text))
            waiting.append(values.maker(text))
    last = _last_outputs(used)
    nodes, constants = [], {}
    for one in needed:
        record = by_name[one]
        if record.op == "Const":
            gates = [values.name(gate) for gate in _gates_before(record, by_name, values)]
            own = f"{one}:constant" if gates else f"{one}:0"
            constants[own] = _constant(record, functions.source)
            if gates:  # it is there in one branch only, which is told by nothing else
                nodes.append(Node("Identity", one, [own, *gates], [f"{one}:0"], {}))
            continue
        kind = "PartitionedCall" if record.op in functions else record.op
        operands = [name(text) for text in _data_inputs(record)]
        results = [f"{one}:{i}" for i in range(last.get(one, 0) + 1)]
        graphs = _graphs(record, functions)
        if record.op.removeprefix("Stateless") in ("If", "Case"):  # behind are values of gradients
            graphs = {key: beginning(graph, len(results)) for key, graph in graphs.items()}
        after = [f"{other}:0" for other in effects.before(one)]
        nodes.append(Node(kind, one, operands, results, record.attr, graphs, after))
    changes = [f"{one}:0" for one in effects.writers if one in needed]
    return structured(Graph(inputs, nodes, outputs, constants, effects=changes))


class _Effects:
    """The nodes that write variables, and the nodes that each node must follow, also old reads."""

    def __init__(self, records: Mapping[str, Record], values: GraphValues, functions: Functions):
        self.records = records
        self.values = values
        self.writers = [name for name, one in records.items() if functions.writes(one)]
        reads = (name for name, one in records.items() if one.op in (*READERS, *GRAPHS))
        self.marked = {*self.writers, *reads}
        self._found: dict[str, tuple[str, ...]] = {}

    def before(self, name: str) -> tuple[str, ...]:
        """The nodes accessing variables that a node waits for, also indirectly."""
        if not self.writers:
            return ()
        if name not in self._found:
            found: dict[str, None] = {}
            seen: set[str] = set()
            waiting = [t.lstrip("^") for t in self.records[name].input if t.startswith("^")]
            while waiting:
                one = waiting.pop()
                if one in self.marked:
                    found[one] = None
                elif one in self.records and one not in seen:
                    seen.add(one)
                    waiting += map(self.values.maker, self.records[one].input)
            self._found[name] = tuple(found)
        return self._found[name]


def _data_inputs(record: Record) -> list[str]:
    return [text for text in record.input if not text.startswith("^")]


def _gates_before(record: Record, by_name: Mapping[str, Record], values: GraphValues) -> list[str]:
    """The values of TensorFlow 1's branches that a node waits for: `cond/switch_t`, an identity of
    a gate. Those of loops are none.
    """
    found = []
    for text in record.input:
        gate = by_name.get(text.removeprefix("^")) if text.startswith("^") else None
        if gate is None or gate.op != "Identity" or not gate.input:
            continue
        switch = by_name.get(values.maker(gate.input[0]))
        if switch is None or switch.op not in GATES or len(switch.input) < 2:
            continue
        condition = by_name.get(values.maker(switch.input[1]))
        if condition is None or condition.op != "LoopCond":
            found.append(gate.name)
    return found


def _last_outputs(used: set[str]) -> dict[str, int]:
    """The largest used output index of each node, by name."""
    last: dict[str, int] = {}
    for value in used:
        node, _, number = value.partition(":")
        if number:
            place = whole_number(number)
            if place is None or place > MOST_OUTPUTS:
                raise WireError(f"'{value}' names no value")
            last[node] = max(last.get(node, 0), place)
    return last


def _constant(record: Record, source: Source) -> Any:
    value = record.attr.get("value")
    if value is None or value.tensor is None:
        raise source.error(f"layer '{record.name}' (Const): it has no value")
    try:
        return array_of(value.tensor)
    except WireError as error:
        raise source.error(f"layer '{record.name}' (Const): {error}") from None


def called_functions(record: Record, functions: Functions) -> dict[str, str]:
    """The functions that a node calls, by the names of its nested graphs."""
    if record.op in functions:
        return {"f": record.op}
    found: dict[str, str] = {}
    for attribute in GRAPHS.get(record.op, ()):
        value = record.attr.get(attribute)
        if value is None or (value.func is None and value.list is None):
            raise NncError(f"node '{record.name}': no function '{attribute}'", functions.source.loc)
        if value.func is not None:
            found[attribute] = value.func.name
            continue
        for i, one in enumerate(value.list.func):
            found[f"{attribute}{i}"] = one.name
    return found


def _graphs(record: Record, functions: Functions) -> dict[str, Graph]:
    """The graphs of the functions that a node calls."""
    if record.op == XLA_CALL:
        return {"module": xla_module(record, functions.source)}
    called = called_functions(record, functions)
    return {key: functions.graph(name) for key, name in called.items()}

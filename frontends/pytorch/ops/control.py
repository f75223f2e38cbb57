"""Operators with nested graphs: branches, loops, scans."""

from __future__ import annotations

from ...common.formulas import assured
from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..arguments import GraphRef, words
from ..autocast import CAST, with_autocast
from ..layer import AtenLayer
from ..rows import ROWS
from .elementwise import as_bool


def _values(n: AtenLayer, found: list[Any]) -> list[Value]:
    return [n.as_value(v) for v in found]


@ROWS("nnc.assured")
def checked(n: AtenLayer, self: Value, condition: Any, message: str) -> Value:
    """The value; a run fails with the message unless the condition holds."""
    return assured(Term(n, self), Term(n, as_bool(n, condition)), message).value


@ROWS("higher_order.cond")
def cond(n: AtenLayer, arguments: list[Any]) -> list[Value]:
    pred, yes, no, *rest = arguments
    operands = _values(n, rest[0] if rest else [])
    known = n.number(pred)
    if not isinstance(known, Value):
        return n.graph((yes if known else no).name, *operands)
    branches = [lambda g=g: n.graph(g.name, *operands) for g in (yes, no)]
    return branch(n, as_scalar(n, pred), branches)


@ROWS("higher_order.while_loop")
def loop(n: AtenLayer, arguments: list[Any]) -> list[Value]:
    test, body, carried, *rest = arguments
    captured = _values(n, rest[0] if rest else [])
    states = _values(n, carried)

    def holds(values: list[Value]) -> Value:
        return as_scalar(n, n.as_value(n.graph(test.name, *values, *captured)[0]))

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        following = _values(n, n.graph(body.name, *values, *captured))
        return Iteration(following, going=holds(following))

    found, _ = while_loop(n, step, states, None, holds(states))
    return found


@ROWS("higher_order.scan")
def scan(n: AtenLayer, arguments: list[Any]) -> list[Value]:
    """A scan: the final states, and the stacked results for each row."""
    body, init, rows, *rest = arguments
    captured = _values(n, rest[0] if rest else [])
    states, sources = _values(n, init), _values(n, rows)

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        parts = [gathered(n, x, number) for x in sources]
        found = _values(n, n.graph(body.name, *values, *parts, *captured))
        return Iteration(found[: len(states)], found[len(states) :])

    last, stacked = while_loop(n, step, states, extent(n, (sources[0], 0)).value)
    return [*last, *stacked]


@ROWS("higher_order.associative_scan")
def associative_scan(n: AtenLayer, arguments: list[Any]) -> list[Value]:
    """The running combination of rows, by an associative function."""
    combine, rows, *rest = arguments
    captured = _values(n, rest[0] if rest else [])
    sources = _values(n, rows)
    first = n.constant(0, i64)

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        parts = [gathered(n, x, number) for x in sources]
        found = _values(n, n.graph(combine.name, *values, *parts, *captured))
        chosen = Term(n, number).equals(0)
        kept = [
            chosen.choose(Term(n, a), Term(n, b)).value for a, b in zip(parts, found, strict=True)
        ]
        return Iteration(kept, kept)

    starts = [gathered(n, x, first) for x in sources]
    return while_loop(n, step, starts, extent(n, (sources[0], 0)).value)[1]


@ROWS("higher_order.map_impl", "higher_order.map")
def map_(n: AtenLayer, arguments: list[Any]) -> list[Value]:
    body, rows, *rest = arguments
    captured = _values(n, rest[0] if rest else [])
    sources = _values(n, rows)

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        parts = [gathered(n, x, number) for x in sources]
        return Iteration([], _values(n, n.graph(body.name, *parts, *captured)))

    return while_loop(n, step, [], extent(n, (sources[0], 0)).value)[1]


_WRAPPERS = words(
    """
    wrap_with_set_grad_enabled wrap wrap_activation_checkpoint tag_activation_checkpoint
    invoke_subgraph hints_wrapper strict_mode run_const_graph
    """
)


@ROWS(*(f"higher_order.{name}" for name in _WRAPPERS))
def wrapped(n: AtenLayer, arguments: list[Any], **hints: Any) -> list[Value]:
    """The results of a nested graph, whose mode (such as a hint) does not matter to nnc."""
    at = next(i for i, one in enumerate(arguments) if isinstance(one, GraphRef))
    operands = [v for v in arguments[at + 1 :] if not isinstance(v, str | dict)]
    if len(operands) == 1 and isinstance(operands[0], list):
        operands = operands[0]
    return n.graph(arguments[at].name, *_values(n, operands))


@ROWS("higher_order.wrap_with_autocast")
def autocast(n: AtenLayer, arguments: list[Any]) -> list[Value]:
    """A nested graph with or without autocast, by default to bf16."""
    _, element, enabled, _, body, *operands = arguments
    graph = n.node.graphs[body.name]
    if enabled:
        graph = with_autocast(graph, element or bf16)
    return n.builder.call(graph, _values(n, operands), n)


@ROWS(CAST)
def cast(n: AtenLayer, self: Any, dtype: Type) -> Any:
    """Floats other than f64, cast to another type."""
    floats = isinstance(self, Value) and isinstance(self.type.element_type, FloatType)
    return n.cast(self, dtype) if floats and self.type.element_type is not f64 else self

"""Matrix products, attention, recurrent networks and control flow."""

from __future__ import annotations

from functools import partial, reduce
from operator import matmul as product_of

from ...common.arrays import kron
from ...common.attention import causal
from ...common.loops import Iteration, branch, while_loop
from ...common.recurrent import Cells, layers
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


@rows("matmul", "matmul_v2", "bmm", "mv")
def matmul(n: PaddleLayer, x: Value, y: Value) -> Value:
    if n.flag("transpose_x") and x.type.rank > 1:
        x = swapped(n, x, x.type.rank - 2, x.type.rank - 1)
    if n.flag("transpose_y") and y.type.rank > 1:
        y = swapped(n, y, y.type.rank - 2, y.type.rank - 1)
    row, column = x.type.rank == 1, y.type.rank == 1
    left = reshape(n, x, [1, (x, 0)]) if row else x
    right = reshape(n, y, [(y, 0), 1]) if column else y
    found = n(nn.Matmul(left, right))
    extents = dims(found)
    if column:
        extents = extents[:-1]
    if row:
        extents = extents[: found.type.rank - 2] + extents[found.type.rank - 1 :]
    found = reshape(n, found, extents)
    factor = n.float("alpha", 1.0)
    return found if factor == 1 else n(nn.Mul(found, n.scalar(factor, found)))


@rows("mul")
def mul(n: PaddleLayer, x: Value, y: Value) -> Value:
    columns = n.int("x_num_col_dims", 1)
    found = n(nn.Matmul(flatten(n, x, columns), flatten(n, y, n.int("y_num_col_dims", 1))))
    return reshape(n, found, [*((x, i) for i in range(columns)), (found, 1)])


@rows("addmm", "baddbmm")
def addmm(n: PaddleLayer, c: Value, x: Value, y: Value) -> Value:
    product = Term(n, x) @ Term(n, y)
    return (Term(n, c) * n.float("beta", 1.0) + product * n.float("alpha", 1.0)).value


@rows("fc")
def fully_connected(n: PaddleLayer, x: Value, w: Value, bias: Value | None = None) -> Value:
    columns = n.int("in_num_col_dims", 1)
    found = n(nn.Matmul(flatten(n, x, columns), w))
    found = found if bias is None else n(nn.Add(found, bias))
    if name := n.text("activation_type"):
        found = activation(n, name, found)
    return reshape(n, found, [*((x, i) for i in range(columns)), (found, 1)])


rows.formulas(
    {
        "kron": lambda n, x, y: kron(Term(n, x), Term(n, y)).value,
        "dot": lambda n, x, y: (Term(n, x) * Term(n, y)).sum(x.type.rank - 1).value,
        "multi_dot": lambda n, values: reduce(product_of, [Term(n, v) for v in values]).value,
        "einsum": lambda n, values: [einsum(n, n.text("equation"), values), None, None],
        "softmax softmax_": lambda n, x: n(nn.Softmax(x, axis=n.axis(x, n.int("axis", -1)))),
        "share_var": lambda n, values: [values],
    }
)


@rows("log_softmax", "log_softmax_")
def log_softmax(n: PaddleLayer, x: Value) -> Value:
    """The logarithm of softmax; Paddle clips differences from the maximum at -64."""
    axis, t = n.axis(x, n.int("axis", -1)), Term(n, x)
    apart = (t - t.largest(axis, keep=True)).max(-64.0)
    return (apart - apart.function(nn.Exp).sum(axis, keep=True).function(nn.Log)).value


@rows("bilinear")
def bilinear(n: PaddleLayer, x: Value, y: Value, weight: Value, bias: Value | None = None) -> Value:
    found = einsum(n, "bi,oij,bj->bo", [x, weight, y])
    return found if bias is None else n(nn.Add(found, bias))


@rows("flash_attn", "memory_efficient_attention", "fused_dot_product_attention")
def attention(n: PaddleLayer, q: Value, k: Value, v: Value, *rest: Any) -> list:
    """Attention over [batch, positions, heads, features]."""
    terms = [Term(n, x).transpose(0, 2, 1, 3) for x in (q, k, v)]
    heads, size = n.extent(q, 2), n.extent(q, 3)
    keys, values = (grouped(t, heads) for t in terms[1:])
    masks = [Term(n, m) for m in rest if isinstance(m, Value) and m.type.rank == 4]
    if n.flag("causal"):
        masks.append(causal(n, terms[0], keys))
    found = attend(terms[0], keys, values, n.float("scale") or 1 / math.sqrt(size), masks)
    return [found.transpose(0, 2, 1, 3).value, None, None, None]


# -- recurrence ------------------------------------------------------------------------------------

_CELLS: dict[str, tuple[Cells, Sequence[str]]] = {
    "LSTM": (partial(lstm, order="ifgo"), ()),
    "GRU": (partial(gru, order="rzn"), ()),
    "RNN_TANH": (rnn, ()),
    "RNN_RELU": (rnn, ["relu"]),
}
"""(cell function, activations) by mode; () stands for the default activations."""


@rows("rnn")
def recurrence(
    n: PaddleLayer, x: Value, states: list, weights: list, lengths: Value | None = None, *rest: Any
) -> list:
    """Recurrent layers: x [time, batch, input], states [layers * directions, batch, hidden].

    `weights` are first the weights of all layers and directions, then all biases.
    """
    mode = n.text("mode", "LSTM")
    if mode not in _CELLS:
        raise n.error(f"mode '{mode}', expected one of {', '.join(_CELLS)}")
    cells, functions = _CELLS[mode]
    count, both = n.int("num_layers", 1), n.flag("is_bidirec")
    total = count * (2 if both else 1)
    if len(weights) != 4 * total:
        raise n.error(f"{len(weights)} weights, expected {4 * total}")

    def direction(at: int) -> Direction:
        project, recur = (swapped(n, w, 0, 1) for w in weights[2 * at : 2 * at + 2])
        biases = weights[2 * (total + at)], weights[2 * (total + at) + 1]
        return Direction(n, project, recur, activations=functions, biases=biases)

    x, lasts = layers(n, x, states, cells, direction, count, both, lengths)
    return [x, None, lasts, None]


# -- control flow ----------------------------------------------------------------------------------


@rows("if")
def if_(n: PaddleLayer, condition: Value) -> list:
    known = n.known(condition)
    if known is not None:
        return n.graph("0" if known.reshape(-1)[0] else "1")
    return branch(n, condition, [lambda: n.graph("0"), lambda: n.graph("1")])


@rows("while")
def while_(n: PaddleLayer, going: Value, *states: Value) -> list:
    """A loop whose block returns the condition and the next states."""

    def step(number: Value, flag: Value, given: list[Value]) -> Iteration:
        goes, *following = n.graph("0", *given)
        return Iteration(following, (), as_scalar(n, goes))

    found, _ = while_loop(n, step, list(states), None, as_scalar(n, going))
    return found


@rows("increment", "increment_")
def increment(n: PaddleLayer, x: Value) -> Value:
    step = n.float("value", n.float("step", 1.0))
    element = x.type.element_type
    number = step if element is f32 else int(step)
    return n(nn.Add(x, n.constant(number, element)))


@rows("select_input")
def select(n: PaddleLayer, mask: Value, values: list) -> Value:
    """The first value where the mask is 0, else the second."""
    chosen = n(nn.Equal(as_scalar(n, mask), n.scalar(0, mask)))
    return n(nn.Where(chosen, values[0], values[1]))


@rows("conditional_block")
def conditional(n: PaddleLayer) -> list:
    """A conditional block, always computed: `select_input` chooses later, and no operator has side
    effects.
    """
    return n.graph("0")

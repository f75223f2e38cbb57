"""The building blocks of decoders."""

from __future__ import annotations

from ...common.attention import distance_buckets, joined_heads, split_heads
from ...common.importer import NodeLayer
from ...common.quantization import packed_numbers
from ...common.vocabulary import *
from ..blocks import Kind
from ..layer import rows

ACTIVATIONS = {
    "silu": lambda x: x.function(nn.Swish),
    "gelu": lambda x: x.made(nn.Gelu(x.value, approximate="tanh")),
    "tanh": lambda x: x.function(nn.Tanh),
    "sigmoid": lambda x: x.function(nn.Sigmoid),
    "xielu": lambda x, *numbers: xielu(x, *numbers),
    "relu": lambda x: x.max(0.0),
    "relu_squared": lambda x: x.max(0.0) * x.max(0.0),
}


def xielu(x: Term, negative: float, positive: float, linear: float, most: float) -> Term:
    """positive * x^2 above 0, negative * (exp(min(x, most)) - 1 - x) below; plus linear * x.

    Source: arXiv:2411.13010, the expanded integral of ELU.
    """
    below = (x.min(most).function(nn.Exp) - 1.0 - x) * negative
    return (x > 0.0).choose(x * x * positive, below) + x * linear


def let_through(function: str, gate: Term, up: Term, limit: float | None = None) -> Term:
    """The activation `function` of the gate times the values `up`: a gated feed-forward network.

    With a limit, both factors are at most that, and `up` at least its negative.
    """
    if function == "clamped":
        # Source: gpt-oss: values to 7, the gate's function as GELU's approximation by a sigmoid.
        gate, up = gate.min(7.0), up.min(7.0).max(-7.0)
        return gate * (gate * 1.702).function(nn.Sigmoid) * (up + 1.0)
    if limit is not None:
        return ACTIVATIONS[function](gate).min(limit) * up.min(limit).max(-limit)
    return ACTIVATIONS[function](gate) * up


# -- weights -----------------------------------------------------------------------------------


def matrix(n: NodeLayer, weight: Value, packing: Kind, at: Term | None = None) -> Term:
    """The f32 numbers of a weight [rows, columns], or of the rows `at`.

    Packed weights stay packed in the program, and are unpacked at use.
    """
    if packing.read is None:
        return (Term(n, weight) if at is None else Term(n, weight).gather(at)).cast(f32)
    data = n.array(weight)
    assert data is not None
    return unpacked(n, data.reshape(-1, data.shape[-1]), packing, at)


def unpacked(n: NodeLayer, data: np.ndarray, packing: Kind, at: Term | None = None) -> Term:
    """The f32 numbers of packed rows, or of the rows `at`."""
    if not data.size:
        raise n.error("a packed weight has no elements")
    assert packing.read is not None
    blocks = packing.read(data.reshape(-1, packing.bytes))
    groups = data.shape[1] // packing.bytes * blocks.scale.shape[1]
    held: list[Value | None] = []
    for part in (blocks.bytes, blocks.scale, blocks.offset):
        if part is None:
            held.append(None)
            continue
        whole = constant(n, part.reshape(len(data), groups, *part.shape[2:]))
        held.append((whole if at is None else whole.gather(at)).value)
    numbers, scale, offset = held
    assert numbers is not None and scale is not None
    return packed_numbers(n, numbers, scale, offset, blocks.bits, blocks.middle)


def one_matrix(n: NodeLayer, weight: Value, packing: Kind, number: int) -> Term:
    """The f32 numbers of one of the matrices [count, rows, columns]."""
    data = n.array(weight)
    assert data is not None
    if packing.read is None:
        return constant(n, data[number]).cast(f32)
    return unpacked(n, data[number], packing)


@rows("Linear")
def linear(n: NodeLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    table = matrix(n, weight, n.attributes["packing"])
    out = Term(n, x) @ table.transpose(1, 0)
    return (out if bias is None else out + Term(n, bias).cast(f32)).value


@rows("HeadLinear")
def head_linear(n: NodeLayer, x: Value, weight: Value) -> Value:
    """The product of each head of x [1, H, S, D] with some rows of the head's own matrix.

    With the attribute `transposed`, the rows are transposed first.
    """
    table, (start, end) = matrix(n, weight, n.attributes["packing"]), n.attributes["part"]
    columns = table.shape[-1]
    assert columns is not None
    own = table.reshape(*n.attributes["apart"], columns).part(1, start, end)
    return (Term(n, x) @ (own.transpose(0, 2, 1) if n.attributes["transposed"] else own)).value


@rows("Embedding")
def embedding(n: NodeLayer, tokens: Value, weight: Value) -> Value:
    found = matrix(n, weight, n.attributes["packing"], Term(n, tokens))
    scale = n.attributes["scale"]
    return (found if scale == 1 else found * scale).value


@rows("FirstRow")
def first_row(n: NodeLayer, weight: Value) -> Value:
    """The first row of a table."""
    return matrix(n, weight, n.attributes["packing"], constant(n, [0], i64)).value


@rows("Pool")
def pool(n: NodeLayer, x: Value) -> Value:
    """One embedding [1, D] of those of all tokens [1, S, D]: their mean, the first or the last."""
    kind, term = n.attributes["form"], Term(n, x)
    if kind == "mean":
        return term.mean(1).value
    return term.column(0 if kind == "first" else -1, 1).value


# -- single elements ---------------------------------------------------------------------------


@rows("Norm")
def norm(n: NodeLayer, x: Value, weight: Value | None = None, bias: Value | None = None) -> Value:
    """A norm of the last axis. Weights may differ between the heads of [1, H, S, D]: [H, D]."""
    axes, epsilon = (x.type.rank - 1,), n.attributes["epsilon"]
    each = weight if weight is not None and weight.type.rank == 2 else None
    if n.attributes["form"] == "rms":
        found = Term(n, rms_normed(n, x, weight if each is None else None, axes, epsilon))
    elif each is None:
        return layer_normed(n, x, weight, bias, axes, epsilon)
    else:
        found = Term(n, layer_normed(n, x, None, None, axes, epsilon))
    if each is not None:
        heads, size = each.type.shape
        assert heads is not None and size is not None
        found = found * Term(n, each).reshape(heads, 1, size)
    return (found if bias is None else found + Term(n, bias)).value


rows.formulas(
    {
        "Sum": lambda n, a, b: n(nn.Add(a, b)),
        "Product": lambda n, a, b: (Term(n, a) * Term(n, b).cast(f32)).value,
        "Pick": lambda n, x: Term(n, x).column(n.attributes["index"], 1).value,
        "Activation": lambda n, x: (
            ACTIVATIONS[n.attributes["function"]](Term(n, x), *n.attributes["numbers"]).value
        ),
        "Scale": lambda n, x: (Term(n, x) * n.attributes["factor"]).value,
        "Clamp": lambda n, x: (
            Term(n, x).min(n.attributes["limit"]).max(-n.attributes["limit"]).value
        ),
        "Softcap": lambda n, x: capped(Term(n, x), n.attributes["limit"]).value,
        "Softmax": lambda n, x: n(nn.Softmax(x, axis=x.type.rank - 1)),
        "Heads": lambda n, x: split_heads(Term(n, x), n.attributes["heads"]).value,
        "JoinHeads": lambda n, x: joined_heads(Term(n, x)).value,
        "Join": lambda n, *parts: (
            joined([Term(n, one) for one in parts], parts[0].type.rank - 1).value
        ),
    }
)


@rows("Gate")
def gate(n: NodeLayer, x: Value, up: Value) -> Value:
    function, limit = n.attributes["function"], n.attributes.get("limit")
    return let_through(function, Term(n, x), Term(n, up), limit).value


def capped(x: Term, limit: float) -> Term:
    """x softly limited to (-limit, limit), by tanh."""
    return (x / limit).function(nn.Tanh) * limit


@rows("Split")
def split(n: NodeLayer, x: Value) -> list[Value]:
    sizes = n.attributes["sizes"]
    if x.type.shape[-1] != sum(sizes):
        raise n.error(f"{x.type.shape[-1]} elements do not split into {list(sizes)}")
    ends = np.cumsum(sizes).tolist()
    term = Term(n, x)
    return [term.part(-1, end - s, end).value for end, s in zip(ends, sizes, strict=True)]


# -- positions ---------------------------------------------------------------------------------


@rows("Positions")
def positions(n: NodeLayer, tokens: Value, past: Value | None = None) -> Value:
    """The positions of the tokens, which follow the past ones."""
    own = counting(n, extent(n, (tokens, 1)))
    return own.value if past is None else (own + extent(n, (past, 2))).value


@rows("Angles")
def angles(n: NodeLayer, at: Value, first: Value | None = None, long: Value | None = None):
    """Cosines and sines [positions, pairs] of the rotary embedding.

    Frequencies are divided by the factors `first`, or by `long`, if given, for texts longer than
    those of the original training. With `has_more`, the first factors count, and there may be more.
    """
    frequencies, size = n.attributes["frequencies"], n.attributes["size"]
    factors = [n.array(v) for v in (first, long) if v is not None]
    if n.attributes["has_more"]:
        factors = [None if one is None else one[: len(frequencies)] for one in factors]
    for factor in factors:
        if factor is None or factor.shape != frequencies.shape:
            raise n.error(f"expected {len(frequencies)} factors")
    turns = [constant(n, frequencies / np.asarray(f, np.float64), f32) for f in factors]
    place = Term(n, at)
    speed = turns[0] if turns else constant(n, frequencies, f32)
    if len(turns) == 2:
        original = n.attributes["original"]
        if not isinstance(original, int):
            raise n.error("the file does not say for what length of context the model was trained")
        is_long = place.largest(0) >= original
        speed = is_long.choose(turns[1], turns[0])
    turned = place.cast(f32).spread(0, 1) * speed
    found = turned.function(nn.Cos), turned.function(nn.Sin)
    return [(one if size == 1 else one * size).value for one in found]


@rows("Rotate")
def rotate(n: NodeLayer, x: Value, cosines: Value, sines: Value) -> Value:
    """The elements of heads [1, H, S, D] rotated in pairs by their position's angles."""
    size, whole = n.attributes["size"], x.type.shape[3]
    assert whole is not None
    term, cos, sin = (Term(n, v) for v in (x, cosines, sines))
    turning = term if size == whole else term.part(3, 0, size)
    if n.attributes["order"] == "halves":
        a, b = turning.part(3, 0, size // 2), turning.part(3, size // 2, size)
        found = joined([a * cos - b * sin, b * cos + a * sin], 3)
    else:
        own = [(x, i) for i in range(3)]
        pairs = turning.reshape(*own, size // 2, 2)
        a, b = pairs.column(0), pairs.column(1)
        sides = [t.spread(0, 1) for t in (a * cos - b * sin, b * cos + a * sin)]
        found = joined(sides, 4).reshape(*own, size)
    return (found if size == whole else joined([found, term.part(3, size, whole)], 3)).value


# -- attention ---------------------------------------------------------------------------------


@rows("Mask")
def mask(n: NodeLayer, at: Value) -> Value:
    """The attention mask [S, T] of queries and keys, which is added to the scores.

    It is -inf for keys after the query or before its window, else 0. If the mask is not causal,
    keys after the query count, too, and the window has the query in its middle. With `is_chunked`,
    windows do not overlap: the first has the first `window` tokens, and so on. With `slopes`, one
    for each head, keys get a bias by their distance (ALiBi): [H, S, T].
    """
    own, window = Term(n, at), n.attributes["window"]
    row = own.spread(0, 1)
    column = counting(n, own.largest(0) + 1)
    is_causal, slopes = n.attributes["is_causal"], n.attributes["slopes"]
    bias, seen = constant(n, 0.0, f32), column <= row
    if slopes is not None:
        distance = (column - row).cast(f32).function(nn.Abs)
        bias = distance * constant(n, -slopes.reshape(-1, 1, 1), f32)
    if not is_causal and window is None:
        return bias.value
    if not is_causal:
        seen = (column - row).function(nn.Abs) <= window // 2
    elif window is not None and n.attributes["is_chunked"]:
        start = (row / window) * window
        seen = seen & (column >= start)
    elif window is not None:
        seen = seen & (column > row - window)
    return seen.choose(bias, -math.inf).value


_FARTHEST = 128
"""The distance from which all have one bucket. Source: T5's; files do not tell it."""


@rows("RelativeBias")
def relative_bias(n: NodeLayer, at: Value, table: Value) -> Value:
    """The bias [H, S, S] of scores by the distances of keys, from a table [buckets, H]."""
    place, count = Term(n, at), n.extent(table, 0)
    buckets = distance_buckets(n, place - place.spread(0, 1), count, _FARTHEST, both_ways=True)
    return Term(n, table).cast(f32).gather(buckets).transpose(2, 0, 1).value


@rows("Temperature")
def temperature(n: NodeLayer, q: Value, at: Value) -> Value:
    """Queries [1, H, S, D] times 1 + scale * log(1 + floor((position + offset) / every))."""
    place = Term(n, at).cast(f32) + n.attributes["offset"]
    steps = (place / n.attributes["every"]).function(nn.Floor)
    factor = (steps + 1.0).function(nn.Log) * n.attributes["scale"] + 1.0
    return (Term(n, q) * factor.spread(0, 1)).value


@rows("Attention")
def attention(
    n: NodeLayer,
    q: Value,
    k: Value,
    v: Value | None,
    past_key: Value | None,
    past_value: Value | None,
    mask: Value | None = None,
    sinks: Value | None = None,
) -> list[Value]:
    """softmax(q k^T * scale + mask) v, with cached keys and values, if any, before the new ones.

    A head's sink [H] is one more score of each softmax, with a value of zeros. Without values, the
    first `latent` elements of the keys are the values.
    """
    query = Term(n, q) * n.attributes["scale"]
    key = Term(n, k) if past_key is None else joined([Term(n, past_key), Term(n, k)], 2)
    if v is None:
        value = key.part(3, 0, n.attributes["latent"])
    else:
        value = Term(n, v) if past_value is None else joined([Term(n, past_value), Term(n, v)], 2)
    count = query.shape[1]
    assert count is not None
    scores = query @ grouped(key, count).transpose(0, 1, 3, 2)
    if n.attributes["limit"] is not None:
        scores = capped(scores, n.attributes["limit"])
    if mask is not None:
        scores = scores + Term(n, mask)
    if sinks is None:
        weights = scores.made(nn.Softmax(scores.value, axis=3))
    else:
        sink = Term(n, sinks).cast(f32).spread(0, 2)
        most = scores.largest(3, keep=True).max(sink)
        powers = (scores - most).function(nn.Exp)
        weights = powers / (powers.sum(3, keep=True) + (sink - most).function(nn.Exp))
    out = joined_heads(weights @ grouped(value, count))
    return [out.value, key.value] + ([] if v is None else [value.value])

"""Less common elementwise operators, and norms."""

from __future__ import annotations

from ...common.formulas import cbrt
from ...common.vocabulary import *
from ..layer import Caffe2Layer, in_order, rows

_KINDS_OF_MEANS = {"Sum": nn.ReduceSum, "Mean": nn.ReduceMean, "Max": nn.ReduceMax}

rows.add(direct("Sign Rsqrt Reciprocal Erf Tan Asin Acos Atan Sinh Cosh"))
rows.add(direct("Where"))


@rows("NE")
def differs(n: Caffe2Layer, x: Value, y: Value) -> Value:
    axis = n.int("axis") if n.int("broadcast") and n.has("axis") else None
    return n(nn.Not(n(nn.Equal(x, aligned_by_axis(n, x, y, axis)))))


@rows("HardSigmoid")
def hard_sigmoid(n: Caffe2Layer, x: Value) -> Value:
    return activation(n, "hardsigmoid", x, n.float("alpha", 0.2), n.float("beta", 0.5))


@rows("Selu")
def selu(n: Caffe2Layer, x: Value) -> Value:
    given = [n.float(name) if n.has(name) else None for name in ("alpha", "scale")]
    return activation(n, "selu", x, *given)


@rows("ThresholdedRelu")
def thresholded(n: Caffe2Layer, x: Value) -> Value:
    return activation(n, "thresholdedrelu", x, n.float("alpha", 1))


rows.formulas(
    {
        "Scale": lambda n, x: n(nn.Mul(x, n.scalar(n.float("scale", 1), x))),
        "Cbrt": lambda n, x: cbrt(Term(n, x)).value,
        "Cube": lambda n, x: (Term(n, x) * Term(n, x) * Term(n, x)).value,
        "RowMul": lambda n, x, w: n(nn.Mul(x, aligned_by_axis(n, x, w, 0))),
    }
)


@rows("SumElements", "SumSqrElements")
def of_all(n: Caffe2Layer, x: Value) -> Value:
    total = Term(n, x) * Term(n, x) if "Sqr" in n.kind else Term(n, x)
    op = nn.ReduceMean if n.int("average") else nn.ReduceSum
    return reduced(n, total.value, op, tuple(range(x.type.rank)))


@rows("Logit")
def logit(n: Caffe2Layer, x: Value) -> Value:
    least = n.float("eps", 1e-6)
    inside = Term(n, clipped(n, x, least, 1 - least))
    return (inside / (1.0 - inside)).function(nn.Log).value


@rows("WeightedSum")
def weighted_sum(n: Caffe2Layer, *inputs: Value) -> Value:
    """The weighted sum of inputs; each is followed by its factor."""
    pairs = zip(inputs[::2], inputs[1::2], strict=True)
    return combined(n, nn.Add, [n(nn.Mul(x, factor)) for x, factor in pairs])


@rows("Glu")
def gated(n: Caffe2Layer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("dim", -1), x.type.rank)
    here, gate = split_evenly(n, x, axis, 2)
    return n(nn.Mul(here, n(nn.Sigmoid(gate))))


def _of_pairs(formula: Callable[[Term, Term], Term]) -> Callable[..., Value]:
    """A converter of a formula of two rows [N, ..], each as a vector."""

    def convert(n: Caffe2Layer, x: Value, y: Value) -> Value:
        return formula(*(Term(n, merge(n, v, ((0, 1), (1, v.type.rank)))) for v in (x, y))).value

    return convert


def _cosine(x: Term, y: Term) -> Term:
    lengths = ((x * x).sum(1).max(1e-12) * (y * y).sum(1).max(1e-12)).function(nn.Sqrt)
    return (x * y).sum(1) / lengths


rows.add(
    {
        "DotProduct": _of_pairs(lambda x, y: (x * y).sum(1)),
        "CosineSimilarity": _of_pairs(_cosine),
        "L1Distance": _of_pairs(lambda x, y: (x - y).function(nn.Abs).sum(1)),
        "SquaredL2Distance": _of_pairs(lambda x, y: ((x - y) * (x - y)).sum(1) * 0.5),
    }
)


@rows("Mean")
def mean(n: Caffe2Layer, *inputs: Value) -> Value:
    total = combined(n, nn.Add, inputs)
    return (Term(n, total) / float(len(inputs))).value


def _of_outer(op: Any, front: bool) -> Callable[..., Value]:
    """A converter of a reduction over the first, or last, `num_reduce_dim` dimensions."""

    def convert(n: Caffe2Layer, x: Value) -> Value:
        count, rank = n.int("num_reduce_dim", 1), x.type.rank
        if not 0 <= count <= rank:
            raise n.error(f"{count} dimensions of {shape_text(x)} are to be reduced")
        axes = range(count) if front else range(rank - count, rank)
        return reduced(n, x, op, tuple(axes))

    return convert


rows.add({f"ReduceFront{kind}": _of_outer(op, True) for kind, op in _KINDS_OF_MEANS.items()})
rows.add({f"ReduceBack{kind}": _of_outer(op, False) for kind, op in _KINDS_OF_MEANS.items()})


# -- norms -----------------------------------------------------------------------------------------


@rows("AffineChannel")
@in_order
def affine_channel(n: Caffe2Layer, x: Value, scale: Value, bias: Value) -> Value:
    scaled = Term(n, x) * Term(n, aligned_by_axis(n, x, scale, 1))
    return (scaled + Term(n, aligned_by_axis(n, x, bias, 1))).value


def _statistics(n: Caffe2Layer, x: Value, axes: Sequence[int], epsilon: float) -> list[Term]:
    """The mean along axes, with extent 1, and sqrt(variance + epsilon)."""
    spread, middle = (Term(n, v) for v in variance(n, x, tuple(axes), keep=True))
    return [middle, (spread + epsilon).function(nn.Sqrt)]


@rows("LayerNorm")
def layer_norm(
    n: Caffe2Layer, x: Value, scale: Value | None = None, bias: Value | None = None
) -> list[Value]:
    """The normalized rows, and their means and deviations, [rows.., 1]."""
    axis, epsilon = normalize_axis(n, n.int("axis", 1), x.type.rank), n.float("epsilon", 1e-5)
    if n.int("elementwise_affine") != (scale is not None):
        raise n.error("'elementwise_affine' does not agree with the number of inputs")
    axes = tuple(range(axis, x.type.rank))
    found = _statistics(n, x, axes, epsilon)
    beside = [reshape(n, one.value, [*dims(x)[:axis], 1]) for one in found]
    return [layer_normed(n, x, scale, bias, axes, epsilon), *beside]


@rows("GroupNorm")
@in_order
def group_norm(n: Caffe2Layer, x: Value, scale: Value, bias: Value) -> Value:
    return group_normed(n, x, scale, bias, n.int("group", 32), n.float("epsilon", 1e-5))


@rows("Normalize", "NormalizeL1")
def normalized(n: Caffe2Layer, x: Value) -> Value:
    """x divided by its norm along an axis; by absolute values, rows of zeros are unchanged."""
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    if n.kind == "Normalize":
        length = Term(n, reduced(n, x, nn.ReduceL2, (axis,), True))
        return (Term(n, x) / length.max(1e-12)).value
    length = Term(n, reduced(n, x, nn.ReduceL1, (axis,), True))
    return (Term(n, x) / length.equals(0.0).choose(1.0, length)).value

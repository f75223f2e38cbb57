"""Normalizations, and softmax."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .views import broadcast_tensors, numel


@ROWS(
    "aten.batch_norm",
    "aten._native_batch_norm_legit_no_training",
    "aten._native_batch_norm_legit",
    "aten.native_batch_norm",
)
def batch_normalization(
    n: AtenLayer,
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> list:
    if training or running_mean is None or running_var is None:
        element = input.type.element_type
        out, mean, spread = batch_norm_now(n, input, weight, bias, element, eps)
        return [out, mean, _inverse_root(n, spread, eps)]
    none = n.constant([], input.type.element_type)
    return [batch_norm(n, input, weight, bias, running_mean, running_var, eps), none, none]


def _inverse_root(n: AtenLayer, spread: Value, eps: float) -> Value:
    return (Term(n, spread) + eps).function(nn.Rsqrt).value


@ROWS("aten._native_batch_norm_legit_functional", "aten._batch_norm_with_update_functional")
def updated_batch_norm(
    n: AtenLayer,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
    training: bool = True,
) -> list:
    """Batch normalization by the batch's statistics; also the updated running statistics."""
    reserve = [] if "legit" in n.kind else [n.constant([], IntegerType(8, "u"))]
    if not training:
        out = batch_normalization(n, input, weight, bias, running_mean, running_var, eps=eps)
        return [*out, *reserve, running_mean, running_var]
    element = running_mean.type.element_type
    out, mean, spread = batch_norm_now(n, input, weight, bias, element, eps)
    count = Term(n, numel(n, input)) / extent(n, (input, 1))
    new = Term(n, mean), _of_sample(Term(n, spread), count)
    kept = _shared(n, (running_mean, running_var), new, momentum)
    return [out, mean, _inverse_root(n, spread, eps), *reserve, *kept]


def _of_sample(spread: Term, count: Term) -> Term:
    """The unbiased variance, from that of `count` elements."""
    return spread * (count.cast(spread.element) / (count - 1).cast(spread.element))


def _shared(
    n: AtenLayer, running: Sequence[Value], new: Sequence[Term], momentum: float
) -> list[Value]:
    """Running statistics updated by new ones with a momentum."""
    pairs = zip(running, new, strict=True)
    return [(Term(n, old) * (1 - momentum) + one * momentum).value for old, one in pairs]


@ROWS("nnc.updated_instance_norm")
def updated_instance_norm(
    n: AtenLayer,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> list:
    """Instance normalization by each image's statistics; also the updated running statistics."""
    element: Any = running_mean.type.element_type
    axes = tuple(range(2, input.type.rank))
    spread, mean = (Term(n, v) for v in variance(n, n.cast(input, element), axes))
    count = Term(n, numel(n, input)) / Term(n, numel(n, mean.value))
    new = mean.mean(0), _of_sample(spread, count).mean(0)
    kept = _shared(n, (running_mean, running_var), new, momentum)
    return [instance_normed(n, input, weight, bias, eps), *kept]


@ROWS("aten.layer_norm", "aten.native_layer_norm", batched="last")
def layer_norm(
    n: AtenLayer,
    input: Value,
    normalized_shape: list[int],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> list:
    axes = _last(input, normalized_shape)
    return [layer_normed(n, input, weight, bias, axes, eps), *_statistics(n, input, axes, eps)]


def _last(x: Value, shape: Sequence[int]) -> tuple[int, ...]:
    """The axes of the last dimensions, as many as `shape` has."""
    return tuple(range(x.type.rank - len(shape), x.type.rank))


def _statistics(n: AtenLayer, x: Value, axes: tuple[int, ...], eps: float) -> list:
    """The mean and 1 / sqrt(variance + eps), if they are used."""
    if not (n.wants(1) or n.wants(2)):
        return [None, None]
    spread, mean = variance(n, x, axes, True, 0)
    return [mean, _inverse_root(n, spread, eps)]


@ROWS("aten.rms_norm", "aten._fused_rms_norm", batched="last")
def rms_norm(
    n: AtenLayer,
    input: Value,
    normalized_shape: list[int],
    weight: Value | None = None,
    eps: float | None = None,
) -> list:
    element: Any = input.type.element_type
    if eps is None:  # of the type that is computed in
        eps = float(np.finfo(np.float64 if element == f64 else np.float32).eps)
    return [rms_normed(n, input, weight, _last(input, normalized_shape), eps), None]


@ROWS("aten.group_norm", "aten.native_group_norm")
def group_norm(
    n: AtenLayer,
    input: Value,
    num_groups: int | None = None,
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
    N: Any = None,
    C: Any = None,
    HxW: Any = None,
    group: int | None = None,
) -> list:
    groups = num_groups if num_groups is not None else group
    if groups is None:
        raise n.error("the number of groups is missing")
    out = group_normed(n, input, weight, bias, groups, eps)
    if not (n.wants(1) or n.wants(2)):
        return [out, None, None]
    apart = n.reshape(input, [n.size(input, 0), groups, -1])
    found = _statistics(n, apart, (2,), eps)
    return [out, *(Term(n, v).column(0).value for v in found)]


@ROWS("aten.instance_norm")
def instance_norm(
    n: AtenLayer,
    input: Value,
    weight: Value | None = None,
    bias: Value | None = None,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    if not use_input_stats:
        return batch_normalization(
            n, input, weight, bias, running_mean, running_var, False, momentum, eps
        )[0]
    return instance_normed(n, input, weight, bias, eps)


def _along(
    n: AtenLayer, x: Value, dim: int, dtype: Type | None, work: Callable[[Value, int], Value]
) -> Value:
    """Apply `work` along an axis; a 0-d tensor counts as one element."""
    x = n.floating(x) if dtype is None else n.cast(x, dtype)
    if x.type.rank == 0:
        return n.reshape(work(n.reshape(x, [1]), 0), [])
    return work(x, n.axis(dim, x.type.rank))


@ROWS(
    "aten.softmax", "aten._softmax", "aten._safe_softmax", "aten.special_softmax", batched="along"
)
def softmax(
    n: AtenLayer, self: Value, dim: int, dtype: Type | None = None, half_to_float: bool = False
) -> Value:
    def work(x: Value, axis: int) -> Value:
        out = n(nn.Softmax(x, axis=axis))
        if "_safe" not in n.kind:
            return out
        top = Term(n, x).largest(axis, keep=True)
        return (top > -np.inf).choose(Term(n, out), 0.0).value

    return _along(n, self, dim, f32 if half_to_float else dtype, work)


@ROWS("aten.log_softmax", "aten._log_softmax", "aten.special_log_softmax", batched="along")
def log_softmax(
    n: AtenLayer, self: Value, dim: int, dtype: Type | None = None, half_to_float: bool = False
) -> Value:
    dtype = f32 if half_to_float else dtype
    return _along(n, self, dim, dtype, lambda x, axis: n(nn.LogSoftmax(x, axis=axis)))


@ROWS("aten.cosine_similarity")
def cosine_similarity(n: AtenLayer, x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    a, b = (Term(n, v) for v in broadcast_tensors(n, n.promoted(x1, x2)))
    axis = n.axis(dim, a.rank)
    if not a.rank:
        a, b = a.spread(0, 1), b.spread(0, 1)
    sizes = [Term(n, reduced(n, x.value, nn.ReduceL2, (axis,))).max(eps) for x in (a, b)]
    return ((a * b).sum(axis) / (sizes[0] * sizes[1])).value

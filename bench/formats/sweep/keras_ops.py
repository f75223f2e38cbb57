"""Functions of `keras.ops`, with various values of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import numpy as np

from .cases import Config, Subject
from .keras_base import BATCHES, FORMS, OPEN, Inputs, subject

ops = keras.ops
YES = [False, True]
DTYPES = ["float32", "int32", "float16", "bool", "int8", "uint8", "float64", "int64", "bfloat16"]
COMMON = FORMS | BATCHES

UNARY = """abs absolute arccos arccosh arcsin arcsinh arctan arctanh bitwise_invert bitwise_not cbrt
ceil conj conjugate cos cosh deg2rad rad2deg exp exp2 expm1 fix floor imag real isfinite isinf isnan
isneginf isposinf isreal log log10 log1p log2 logical_not negative nan_to_num ones_like positive
reciprocal rint round sign signbit sin sinc sinh sqrt square tan tanh trunc zeros_like erf erfinv
rsqrt relu relu6 sigmoid silu gelu elu selu celu softplus softsign hard_sigmoid hard_silu
hard_tanh hard_shrink soft_shrink tanh_shrink sparse_plus sparse_sigmoid sparsemax squareplus
leaky_relu log_sigmoid glu softmax log_softmax angle i0 size ndim ravel transpose
stop_gradient copy digamma lgamma sparse_sigmoid view_as_real"""
BINARY = """add arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
divide divide_no_nan equal floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot
kron lcm left_shift less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor matmul
maximum minimum mod multiply nextafter not_equal outer power remainder right_shift subtract
true_divide isclose dot inner vdot copysign ldexp float_power"""
REDUCING = """all amax amin any argmax argmin average count_nonzero cumprod cumsum max mean median
min nanmax nanmean nanmin nanprod nanstd nansum nanvar prod ptp std sum var logsumexp nanargmax
nanargmin
nanmedian norm flip argsort sort"""


UNDEFINED: Mapping[str, tuple[str, Callable[[Config], bool]]] = {
    "the order of NaN": (
        "sort argsort top_k argmax argmin", lambda c: c["values"] == "special"),
    "Keras reshapes to the extents before the turn": ("rot90", lambda c: c["at"] == 2),
    "negative numbers and NaN as unsigned integers": (
        "cast concatenate_types stack_types hstack_types", lambda c: c["to"] == "uint8"),
    "integers, cut off floats of which the last bit counts": (
        "layer_normalization rms_normalization", lambda c: "int" in c["dtype"]),
    "a number that integers lack, in an empty result": (
        "nanmedian", lambda c: "float" not in c["dtype"] and c["batch"] == 0),
    "the largest of numbers and NaN": ("segment_max", lambda c: c["values"] == "special"),
    "the next f64, rounded": ("nextafter", lambda c: c["values"] == "special"),
    "sums with infinities": ("linspace", lambda c: c["values"] == "special"),
}  # fmt: skip
"""Reasons for leaving out configurations of operations (Keras 3.15 with TensorFlow), and which
ones. `argpartition` is left out entirely, as it casts to int32 first; so are indices of rank above
1 in `unravel_index`, which reads the extents in reverse.
"""


def _defined(config: Config) -> bool:
    return not any(
        config["op"] in names.split() and undefined(config)
        for names, undefined in UNDEFINED.values()
    )


def _values(config: Config, inputs: Inputs, dtype: str, *shape: int) -> Any:
    """An input of plain numbers, or of special ones: extremes, NaN, infinities, ties."""
    rng = inputs.rng

    def fill(extents: tuple[int, ...]) -> Any:
        if dtype == "bool":
            return rng.integers(0, 2, extents).astype(bool)
        if "float" not in dtype:
            low = 0 if dtype.startswith("u") else -4
            found = rng.integers(low, 5, extents)
            return found.astype(dtype)
        found = rng.standard_normal(extents)
        match config["values"]:
            case "positive":
                found = abs(found) + 0.1
            case "ties":
                found = found.round()
            case "special":
                special = [float("nan"), float("inf"), -float("inf"), -0.0, 0.5, -2.5]
                found.ravel()[:] = rng.choice([*special, 1.25, 0.0], found.size)
        return ops.convert_to_numpy(ops.cast(found.astype("float32"), dtype))

    return inputs.add(shape, fill, dtype)


def _called(name: str, *tensors: Any, **more: Any) -> Any:
    found = getattr(ops, name)(*tensors, **more)
    found = keras.tree.flatten(found)
    if not all(hasattr(one, "_keras_history") or hasattr(one, "dtype") for one in found):
        raise ValueError("no tensor")
    return found


def _unary(config: Config, inputs: Inputs) -> Any:
    return _called(config["op"], _values(config, inputs, config["dtype"], 3, 4))


def _binary(config: Config, inputs: Inputs) -> Any:
    first, second = config["shapes"]
    x = _values(config, inputs, config["dtype"], *first)
    if config["number"] is not None:
        pair = (config["number"], x) if config["swapped"] else (x, config["number"])
        return _called(config["op"], *pair)
    y = _values(config, inputs, config["other"], *second)
    return _called(config["op"], *((y, x) if config["swapped"] else (x, y)))


def _reducing(config: Config, inputs: Inputs) -> Any:
    x = _values(config, inputs, config["dtype"], 3, 4)
    axis = config["axis"]
    more: dict[str, Any] = {"axis": tuple(axis) if isinstance(axis, list) else axis}
    name = config["op"]
    if (
        name not in ("cumprod", "cumsum", "flip", "argsort", "sort", "average")
        and config["keepdims"]
    ):
        more["keepdims"] = True
    return _called(name, x, **more)


EDGES = np.array([-1.0, 0.0, 1.0], np.float32)

PLACES: dict[str, Any] = {
    "logdet": lambda x, i, c: ops.logdet(
        ops.matmul(z := ops.cast(x, "float32"), ops.swapaxes(z, 1, 2)) + 4 * ops.eye(3)),
    "cross": lambda x, i, c: ops.cross(x[..., :3], x[..., 1:]),
    "take": lambda x, i, c: ops.take(x, i, axis=c["axis"]),
    "take one": lambda x, i, c: ops.take(x, c["at"], axis=c["axis"]),
    "take_along_axis": lambda x, i, c: ops.take_along_axis(x, i, axis=c["axis"]),
    "getitem": lambda x, i, c: x[:, c["at"]],
    "slice": lambda x, i, c: x[:, c["at"] :: abs(c["at"]) + 1],
    "slice back": lambda x, i, c: x[..., ::-1],
    "newaxis": lambda x, i, c: x[:, None, c["at"] :],
    "one_hot": lambda x, i, c: ops.one_hot(i, 5, axis=c["axis"]),
    "multi_hot": lambda x, i, c: ops.multi_hot(i, num_classes=5, axis=c["axis"]),
    "where": lambda x, i, c: ops.where(ops.expand_dims(i, -1) > 1, x, c["at"]),
    "top_k": lambda x, i, c: [ops.sort(v) for v in ops.top_k(x, 2, sorted=c["flag"])],
    "in_top_k": lambda x, i, c: ops.in_top_k(i[:, 0], ops.reshape(x, (-1, 12)), 3),
    "roll": lambda x, i, c: ops.roll(x, c["at"], axis=c["axis"]),
    "repeat": lambda x, i, c: ops.repeat(x, 2, axis=c["axis"]),
    "tile": lambda x, i, c: ops.tile(x, (1, 2, abs(c["at"]) + 1)),
    "pad": lambda x, i, c: ops.pad(x, ((0, 0), (1, 2), (abs(c["at"]), 0)), mode=c["mode"]),
    "pad value": lambda x, i, c: ops.pad(x, ((0, 0), (1, 0), (2, 1)), constant_values=c["at"]),
    "split": lambda x, i, c: ops.split(x, 2 if c["flag"] else [1, 3], axis=2),
    "array_split": lambda x, i, c: ops.array_split(x, 3, axis=2),
    "stack": lambda x, i, c: ops.stack([x, x], axis=c["axis"]),
    "concatenate_types": lambda x, i, c: ops.concatenate([x, ops.cast(x, c["to"])], axis=1),
    "stack_types": lambda x, i, c: ops.stack([ops.cast(x, c["to"]), x], axis=1),
    "hstack_types": lambda x, i, c: ops.hstack([x, ops.cast(x, c["to"])]),
    "concatenate": lambda x, i, c: ops.concatenate([x, x], axis=c["axis"]),
    "expand_dims": lambda x, i, c: ops.expand_dims(x, c["axis"]),
    "squeeze": lambda x, i, c: ops.squeeze(ops.expand_dims(x, c["axis"]), c["axis"]),
    "swapaxes": lambda x, i, c: ops.swapaxes(x, 1, c["axis"]),
    "moveaxis": lambda x, i, c: ops.moveaxis(x, 1, c["axis"]),
    "reshape": lambda x, i, c: ops.reshape(x, (-1, 2, 6) if c["flag"] else (-1, 12)),
    "diagonal": lambda x, i, c: ops.diagonal(x, offset=c["at"], axis1=1, axis2=2),
    "diag": lambda x, i, c: ops.diagflat(x[0, 0], k=c["at"]),
    "trace": lambda x, i, c: ops.trace(x, offset=c["at"], axis1=1, axis2=2),
    "tril": lambda x, i, c: ops.tril(x, c["at"]),
    "triu": lambda x, i, c: ops.triu(x, c["at"]),
    "rot90": lambda x, i, c: ops.rot90(x, k=c["at"], axes=(1, 2)),
    "clip": lambda x, i, c: ops.clip(x, c["at"] - 1, 2),
    "quantile": lambda x, i, c: ops.quantile(x, 0.3, axis=c["axis"], method=c["method"]),
    "percentile": lambda x, i, c: ops.percentile(x, 30, axis=c["axis"], method=c["method"]),
    "digitize": lambda x, i, c: ops.digitize(x, EDGES),
    "searchsorted": lambda x, i, c: ops.searchsorted(EDGES, x[0, 0]),
    "bincount": lambda x, i, c: ops.bincount(i, minlength=6),
    "histogram": lambda x, i, c: ops.histogram(ops.ravel(x), bins=4, range=(-2, 2))[0],
    "segment_sum": lambda x, i, c: ops.segment_sum(x[0], i[0, :], num_segments=4),
    "segment_max": lambda x, i, c: ops.segment_max(x[0], i[0, :], num_segments=4),
    "scatter": lambda x, i, c: ops.scatter(ops.expand_dims(i, -1), x, (6, 4)),
    "scatter_update": lambda x, i, c: ops.scatter_update(x, [[0, 1], [0, 2]], ops.ones((2, 4))),
    "slice op": lambda x, i, c: ops.slice(x, [0, 1, 1], [1, 2, 2]),
    "slice_update": lambda x, i, c: ops.slice_update(x, [0, 1, 1], ops.ones((1, 1, 2))),
    "cumsum": lambda x, i, c: ops.cumsum(x, axis=c["axis"]),
    "diff": lambda x, i, c: ops.diff(x, n=1 + c["flag"], axis=c["axis"]),
    "einsum": lambda x, i, c: ops.einsum("abc,adc->abd", x, x),
    "einsum dots": lambda x, i, c: ops.einsum("...c,...c->...", x, x),
    "tensordot": lambda x, i, c: ops.tensordot(x, x, axes=[[2], [2]]),
    "associative_scan": lambda x, i, c: ops.cumprod(x, axis=c["axis"]),
    "normalize": lambda x, i, c: ops.normalize(x, axis=c["axis"], order=2 - c["flag"]),
    "logsumexp": lambda x, i, c: ops.logsumexp(x, axis=c["axis"], keepdims=c["flag"]),
    "nan_to_num": lambda x, i, c: ops.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-2.0),
    "unstack": lambda x, i, c: ops.unstack(x, axis=2),
    "hstack": lambda x, i, c: ops.hstack([x, x]),
    "vstack": lambda x, i, c: ops.vstack([x, x]),
    "broadcast_to": lambda x, i, c: ops.broadcast_to(x[0], (2, 3, 4)),
    "linspace": lambda x, i, c: ops.linspace(x, x + 1, 3, endpoint=c["flag"], axis=c["axis"]),
    "cast": lambda x, i, c: ops.cast(x, c["to"]),
    "view cast": lambda x, i, c: ops.cast(i, c["to"]),
    "arange": lambda x, i, c: ops.arange(ops.shape(x)[1]) + i,
    "full_like": lambda x, i, c: ops.full_like(x, c["at"]),
    "polar": lambda x, i, c: ops.extract_sequences(x, 3, 1),
    "meshgrid": lambda x, i, c: ops.meshgrid(
        x[0, 0], x[0, 1], indexing="ij" if c["flag"] else "xy"
    ),
    "layer_normalization": lambda x, i, c: ops.layer_normalization(x, axis=-1),
    "rms_normalization": lambda x, i, c: ops.rms_normalization(x, axis=-1),
    "unravel_index": lambda x, i, c: ops.unravel_index(i[:, 0], (2, 3)),
    "correlate": lambda x, i, c: ops.correlate(
        x[0, 0], x[0, 1], mode="full" if c["flag"] else "same"
    ),
    "vectorize": lambda x, i, c: ops.select([i[..., None] > 1, x > 0], [x, -x], c["at"]),
    "dot_product_attention": lambda x, i, c: ops.dot_product_attention(
        x[:, :, None], x[:, :, None], x[:, :, None], is_causal=c["flag"]),
    "moments": lambda x, i, c: ops.moments(x, axes=[1] if c["flag"] else [1, 2]),
    "isin": lambda x, i, c: ops.isin(i, [1, 3], invert=c["flag"]),
    "view": lambda x, i, c: ops.view(x, "int32"),
}  # fmt: skip


INDEXED = ["take", "take_along_axis", "one_hot", "multi_hot", "in_top_k", "segment_sum",
           "segment_max", "scatter", "unravel_index", "isin"]  # fmt: skip
"""Operations whose indices may be negative."""


def _placed(config: Config, inputs: Inputs) -> Any:
    x = _values(config, inputs, config["dtype"], 3, 4)
    shape = (3, 4) if config["op"] == "take_along_axis" else (3,)
    i = inputs.integers(*shape, most=3, least=config.get("least", 0), dtype=config["index"])
    return keras.tree.flatten(PLACES[config["op"]](x, i, config))


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    values = {"values": ["plain", "special", "positive", "ties"]}
    names = [name for name in UNARY.split() if hasattr(ops, name)]
    for name in names:
        yield subject(
            f"ops.{name}",
            _unary,
            {"op": [name], "dtype": DTYPES} | values | OPEN,
            _defined,
            COMMON,
        )
    shapes = [[[3, 4], [3, 4]], [[3, 4], [1, 4]], [[4], [3, 4]], [[4, 4], [4, 4]]]
    for name in (name for name in BINARY.split() if hasattr(ops, name)):
        yield subject(
            f"ops.{name}", _binary,
            {"op": [name], "dtype": DTYPES, "other": DTYPES, "shapes": shapes, "swapped": YES,
             "number": [None, 2, 1.5, -3, 300, True]} | values, _defined, COMMON,
        )  # fmt: skip
    for name in (name for name in REDUCING.split() if hasattr(ops, name)):
        yield subject(
            f"ops.{name}", _reducing,
            {"op": [name], "dtype": DTYPES, "axis": [-1, None, 1, [1, 2], 0], "keepdims": YES}
            | values | OPEN, _defined, COMMON,
        )  # fmt: skip
    for name in PLACES:
        yield subject(
            f"ops: {name}", _placed,
            {"op": [name], "dtype": DTYPES, "index": ["int32", "int64", "uint8"],
             "axis": [-1, 1, 2, 0], "at": [1, 0, -1, 2], "flag": YES,
             "mode": ["reflect", "symmetric", "constant"],
             "method": ["linear", "lower", "higher", "midpoint", "nearest"],
             "to": ["float16", "int8", "uint8", "bool", "float64", "bfloat16"]}
            | ({"least": [0, -2]} if name in INDEXED else {}) | values | OPEN, _defined, COMMON,
        )  # fmt: skip

"""Convolutions and poolings."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows

_PADDINGS = {"valid": "VALID", "same": "SAME_UPPER", "same_lower": "SAME_LOWER"}


def _per_dimension(
    n: CoreMLLayer, x: Value, name: str, default: int = 1, of: int = 1
) -> tuple[int, ...]:
    """An attribute with `of` numbers for each spatial dimension."""
    count = (x.type.rank - 2) * of
    if count < 1:
        raise n.error(f"input 'x' is {shape_text(x)}, expected at least three dimensions")
    found = n.ints(name, (default,) * count)
    if len(found) != count:
        raise n.error(f"'{name}' has {len(found)} numbers, expected {count}")
    return found


def _padding(n: CoreMLLayer, x: Value) -> Padding:
    mode = n.text("pad_type", "valid", "custom", *_PADDINGS)
    if mode != "custom":
        return _PADDINGS[mode]
    pairs = _per_dimension(n, x, "pad", 0, 2)
    return (*pairs[::2], *pairs[1::2])


def _how(n: CoreMLLayer, x: Value) -> dict:
    steps = {name: _per_dimension(n, x, name) for name in ("strides", "dilations")}
    return {**steps, "padding": _padding(n, x), "groups": n.int("groups", 1)}


@rows("conv")
def conv(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    return convolution(n, x, weight, bias, **_how(n, x))


@rows("conv_transpose")
def conv_transpose(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    how, spatial = _how(n, x), x.type.shape[2:]
    wanted = n.ints("output_shape")[-len(spatial) :] if n.has("output_shape") else None
    if wanted is None or isinstance(how["padding"], str):
        return transposed_convolution(n, x, weight, bias, extents=wanted, **how)
    if None in spatial:
        raise n.error("'output_shape' needs an input of known extents")
    begins, ends = list(how["padding"][: len(spatial)]), list(how["padding"][len(spatial) :])
    more = []
    for i, (extent, k) in enumerate(zip(spatial, weight.type.shape[2:], strict=True)):
        full = (extent - 1) * how["strides"][i] + (k - 1) * how["dilations"][i] + 1
        missing = wanted[i] - (full - begins[i] - ends[i])
        ends[i] -= min(missing, 0)
        more.append(max(missing, 0))
    how["padding"] = (*begins, *ends)
    return transposed_convolution(n, x, weight, bias, output_padding=more, **how)


def _mean_pooled(n: CoreMLLayer, x: Value, windows: Windows) -> Value:
    counts = not n.flag("exclude_padding_from_average")
    return average_pooled(n, x, windows, counts)


def _pool(pooled: Callable[[CoreMLLayer, Value, Windows], Value]) -> Callable[..., Value]:
    def convert(n: CoreMLLayer, x: Value) -> Value:
        kernel, strides = (_per_dimension(n, x, name) for name in ("kernel_sizes", "strides"))
        ceil = n.flag("ceil_mode")
        return pooled(n, x, Windows(kernel, strides, _padding(n, x), ceil=ceil))

    return convert


rows.add(
    {
        "avg_pool": _pool(_mean_pooled),
        "max_pool": _pool(max_pooled),
        "l2_pool": _pool(length_pooled),
    }
)

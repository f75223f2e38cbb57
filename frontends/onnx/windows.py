"""Padding of convolutions and poolings, from explicit numbers or `auto_pad`."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.core import Value
from ...ir.types import Dim
from .node import Node

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def spatial_ints(n: Node, name: str, count: int, default: int) -> tuple[int, ...]:
    """An attribute with a number for each spatial dimension, none below the default."""
    values = n.ints(name)
    if values is None:
        return (default,) * count
    if len(values) != count:
        raise n.error(f"attribute '{name}' has {len(values)} elements, expected {count}")
    if min(values) < default:
        raise n.error(f"attribute '{name}' is {list(values)}, expected no element below {default}")
    return values


def padding(
    n: Node,
    x: Value,
    kernel: Sequence[Dim],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...]:
    """The padding at all begins, then at all ends, of the spatial dimensions."""
    count = len(kernel)
    mode = n.string("auto_pad", "NOTSET", AUTO_PADS)
    if mode == "NOTSET":
        return spatial_ints(n, "pads", 2 * count, 0)
    if mode == "VALID":
        return (0,) * 2 * count
    begins, ends = [], []
    for i, extent in enumerate(x.type.shape[2:]):
        size = kernel[i]
        if size is None or (extent is None and strides[i] != 1):
            raise n.error(f"auto_pad {mode} needs static spatial dimensions")
        # With stride 1 the padding does not depend on the extent.
        extent = 1 if extent is None else extent
        reach = (size - 1) * dilations[i] + 1
        count_out = -(-extent // strides[i])
        total = max(0, (count_out - 1) * strides[i] + reach - extent)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return (*begins, *ends)


def spatial_rank(n: Node, x: Value) -> int:
    """The number of spatial dimensions. Raises NncError where there is none."""
    if x.type.rank < 3:
        raise n.error(
            f"input '{n.schema.inputs[0].name}' has rank {x.type.rank}, expected at least 3"
        )
    return x.type.rank - 2

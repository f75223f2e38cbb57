"""Convolutions."""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..windows import padding_of, spatial_ints, spatial_rank


@converter("Conv")
def conv(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    return convolution(n, x, weight, bias, groups=n.int("group", 1), **_windows(n, x, weight))


@converter("ConvTranspose")
def conv_transpose(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    windows = _windows(n, x, weight)
    count = len(windows["kernel"])
    extra = spatial_ints(n, "output_padding", count, 0)
    return transposed_convolution(
        n,
        x,
        weight,
        bias,
        output_padding=extra,
        groups=n.int("group"),
        extents=_output_shape(n, count),
        **windows,
    )


def _windows(n: Node, x: Value, weight: Value) -> dict[str, Any]:
    kernel = kernel_of(n, x, weight)
    return {
        "kernel": kernel,
        "strides": spatial_ints(n, "strides", len(kernel), 1),
        "dilations": spatial_ints(n, "dilations", len(kernel), 1),
        "padding": padding_of(n, len(kernel)),
    }


def kernel_of(n: Node, x: Value, weight: Value) -> tuple:
    """The kernel's extents. Raises NncError if the attribute differs from the weight's."""
    rank = spatial_rank(n, x)
    if weight.type.rank != x.type.rank:
        raise n.error(f"input 'W' has rank {weight.type.rank}, expected {x.type.rank} like 'X'")
    kernel = weight.type.shape[2:]
    given = n.ints("kernel_shape")
    if given is not None and (
        len(given) != rank
        or any(k is not None and k != g for k, g in zip(kernel, given, strict=False))
    ):
        raise n.error(
            f"attribute 'kernel_shape' is {list(given)}, but the weight's kernel is {list(kernel)}"
        )
    return given or kernel


def _output_shape(n: Node, count: int) -> tuple[int, ...] | None:
    """The spatial extents in the attribute 'output_shape', or None."""
    wanted = n.ints("output_shape")
    if wanted is None:
        return None
    if len(wanted) not in (count, count + 2):
        raise n.error(f"output_shape has {len(wanted)} elements, expected {count}")
    return wanted[-count:]  # some exporters give batch and channels too

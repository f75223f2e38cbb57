"""Arguments of ATen's operators that are not tensors, and ATen's element types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...ir.types import ComplexType, FloatType, Type, f32, f64
from ..common import elements


@dataclass(frozen=True)
class Ref:
    """A value of the graph, by its name; a symbolic integer is a 0-d i64."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"a value is named {self.name!r}")


@dataclass(frozen=True)
class GraphRef:
    """A graph nested in the node, by its name."""

    name: str


ELEMENTS: dict[str, Type] = {
    **elements.ELEMENTS,
    "complex64": ComplexType(f32),
    "complex128": ComplexType(f64),
    "float8_e4m3fn": FloatType("f8E4M3FN"),
    "float8_e5m2": FloatType("f8E5M2"),
    "float8_e4m3fnuz": FloatType("f8E4M3FNUZ"),
    "float8_e5m2fnuz": FloatType("f8E5M2FNUZ"),
}
"""Element types by PyTorch's names."""

IGNORED = frozenset(
    {"device", "layout", "pin_memory", "memory_format", "generator", "non_blocking", "copy"}
)
"""Arguments that say where a tensor lies, not what is in it."""


def words(text: str) -> tuple[str, ...]:
    """The names in a text, separated by spaces."""
    return tuple(text.split())


def refs_in(value: Any) -> Iterator[Ref]:
    """The values of the graph in an argument."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from refs_in(item)
    elif isinstance(value, dict):
        yield from refs_in(list(value.values()))


def with_refs(value: Any, change: Any) -> Any:
    """The argument with `change` applied to each value of the graph in it."""
    if isinstance(value, Ref):
        return change(value)
    if isinstance(value, list | tuple):
        return [with_refs(item, change) for item in value]
    if isinstance(value, dict):
        return {key: with_refs(item, change) for key, item in value.items()}
    return value


BY_PARTS = frozenset(
    words(
        """
        alias detach clone contiguous lift_fresh view reshape _unsafe_view
        _reshape_alias flatten unflatten squeeze unsqueeze expand expand_as broadcast_to permute
        transpose t numpy_T movedim swapaxes mT select slice narrow split split_with_sizes
        chunk unbind cat stack index index_select gather embedding repeat repeat_interleave
        flip roll constant_pad_nd pad sum mean cumsum neg fft_fftshift fft_ifftshift dropout
        copy write index_put _index_put_impl slice_scatter select_scatter index_add scatter_add
        diagonal diag_embed tril triu take_along_dim masked_scatter view_as reshape_as hstack
        vstack dstack column_stack unfold broadcast_tensors block_diag combinations cartesian_prod
        unsafe_chunk unsafe_split unsafe_split_with_sizes tensor_split hsplit vsplit dsplit
        sum_to_size positive diff diag linalg_diagonal diagonal_scatter fliplr flipud rot90
        masked_select meshgrid as_strided as_strided_scatter im2col col2im pixel_shuffle
        pixel_unshuffle channel_shuffle atleast_1d atleast_2d atleast_3d tile ravel swapdims
        moveaxis put take index_copy index_fill scatter
        upsample_nearest1d upsample_nearest2d upsample_nearest3d alias trace diagflat
        feature_dropout alpha_dropout feature_alpha_dropout new_empty_strided
        _unsafe_masked_index _unsafe_masked_index_put_accumulate assured
        """
    )
)
"""Operators that do the same to the real and to the imaginary part, each by itself."""

BY_PARTS_OF_FIRST = frozenset(words("gradient trapezoid trapz cumulative_trapezoid"))
"""Operators like those in `BY_PARTS`, provided that no operand but the first is complex."""

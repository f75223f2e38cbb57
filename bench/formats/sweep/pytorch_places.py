"""Comparison of operators that return indices of elements, several of which may be equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch


def _sorted(found: Any, x: torch.Tensor, dim: int = -1, *_: Any, **given: Any) -> Any:
    """For a stable sort its result; else the elements at the returned indices, and the sorted
    indices.
    """
    if given.get("stable"):
        return found
    at = found if isinstance(found, torch.Tensor) else found[1]
    values = [] if found is at else [found[0]]
    return *values, x.gather(dim, at), at.sort(dim)[0]


def _chosen(found: Any, x: torch.Tensor, k: int, dim: int = -1, *_: Any, **given: Any) -> Any:
    """The selected elements, and the elements at the returned indices."""
    values, at = found
    return values, x.gather(dim, at if values.dim() == x.dim() else at.unsqueeze(dim))


COMPARED: Mapping[str, Callable[..., Any]] = {
    "sort": _sorted,
    "argsort": _sorted,
    "topk": _chosen,
    "kthvalue": _chosen,
}
"""What is compared for operators that do not define which of equal elements they return. PyTorch's
documentation promises an order of equal elements only with `stable`; for `topk` it promises none;
for `kthvalue` it returns "the index location of each element found", any of several "multiple valid
k th values". (On a CPU it depends on the swaps of a partition: of 40 zeros after a -1 at index 7,
the second least is at index 27, and at 26 in reverse order.)
"""

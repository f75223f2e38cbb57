"""What is compared of operators that name places of elements, of which several are equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch


def _sorted(found: Any, x: torch.Tensor, dim: int = -1, *_: Any, **given: Any) -> Any:
    """What lies at the places of a sort, and the places in order; a stable sort as it is."""
    if given.get("stable"):
        return found
    at = found if isinstance(found, torch.Tensor) else found[1]
    values = [] if found is at else [found[0]]
    return *values, x.gather(dim, at), at.sort(dim)[0]


def _chosen(found: Any, x: torch.Tensor, k: int, dim: int = -1, *_: Any, **given: Any) -> Any:
    """The chosen elements, and what lies at their places."""
    values, at = found
    return values, x.gather(dim, at if values.dim() == x.dim() else at.unsqueeze(dim))


COMPARED: Mapping[str, Callable[..., Any]] = {
    "sort": _sorted,
    "argsort": _sorted,
    "topk": _chosen,
    "kthvalue": _chosen,
}
"""What is compared of operators that leave open which of equal elements they name.

PyTorch's documentation promises an order of equal elements where `stable` asks for it alone, of
`topk` none, and of `kthvalue` "the index location of each element found", which of several
"multiple valid k th values" may be any. (On a CPU it is that which a partition has swapped there:
of 40 zeros behind a -1 in place 7, the second least is in place 27, in 26 where they lie in
reverse.)
"""

"""Random numbers, which stay outside of a compiled PyTorch graph.

PyTorch draws them before each call, so that its generator's state advances as usual.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch  # pyright: ignore[reportMissingImports]
from torch._prims_common import (  # pyright: ignore[reportMissingImports]
    compute_elementwise_output_logical_to_physical_perm,
)
from torch.fx.node import map_arg  # pyright: ignore[reportMissingImports]

from ..ir.diagnostics import NncError
from .torch_call import Call

_LIKE = frozenset(
    f"aten.{name}"
    for name in (
        "rand_like.default",
        "randn_like.default",
        "randint_like.default",
        "randint_like.low_dtype",
        "uniform.default",
        "normal_functional.default",
        "bernoulli.p",
        "exponential.default",
        "log_normal.default",
        "cauchy.default",
        "geometric.default",
    )
)
"""Random operators that use only the shape and type of their first operand."""

MADE_OF_DRAWN = frozenset({"aten.native_dropout.default", "aten.bernoulli.default"})
"""Operators that are decomposed into random numbers and functions of them."""

Draw = Callable[[], torch.Tensor]


def with_drawn(graph: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, dict[str, Draw]]:
    """The graph with one more input for each random operator, and the functions that draw these.

    Raises NncError if the numbers depend on values of the graph.
    """
    if not any(map(_is_random, graph.graph.nodes)):
        return graph, {}
    made = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
    draws: dict[str, Draw] = {}
    first = next(node for node in made.graph.nodes if node.op != "placeholder")
    for node in filter(_is_random, list(made.graph.nodes)):
        with made.graph.inserting_before(first):
            given = made.graph.placeholder(f"drawn_{len(draws)}")
        draws[given.name] = _draw(node)
        given.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(given)
        made.graph.erase_node(node)
    made.graph.eliminate_dead_code()
    return made, draws


def drawing(call: Call, draws: Sequence[Draw]) -> Call:
    """The call with random numbers drawn anew each time."""
    return (lambda given: call([*given, *(draw() for draw in draws)])) if draws else call


def dropped(
    x: torch.Tensor, chance: float, train: bool | None = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """`aten.native_dropout` by the numbers that PyTorch draws on a CPU: the result, and what is
    kept.

    PyTorch's own decomposition draws others: for the same seed, its masks differ.
    """
    if train is False:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    order, _ = compute_elementwise_output_logical_to_physical_perm(x)  # that of memory
    like = torch.empty([x.shape[i] for i in order], dtype=torch.bool, device=x.device)
    kept = torch.bernoulli(like, 1 - chance).permute([order.index(i) for i in range(x.dim())])
    return x * kept * (0.0 if chance == 1 else 1 / (1 - chance)), kept


def _is_random(node: torch.fx.Node) -> bool:
    """Whether a node draws random numbers; dropout operators are inactive or not supported."""
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    names = {argument.name for argument in node.target._schema.arguments}  # type: ignore[union-attr]
    return names.isdisjoint({"train", "training", "dropout", "dropout_p"})


def _draw(node: torch.fx.Node) -> Draw:
    target, args, value = node.target, list(node.args), node.meta["val"]
    is_like = str(target) in _LIKE
    values: list[torch.fx.Node] = []
    map_arg((args[is_like:], dict(node.kwargs)), values.append)
    if values or not _is_known(value):
        raise NncError(f"{target}: random numbers that depend on values of the graph")
    kwargs, size, strides, dtype = dict(node.kwargs), value.shape, value.stride(), value.dtype

    def draw() -> torch.Tensor:
        # Numbers are drawn in the order of memory, which is that of the operand.
        lead = [torch.empty_strided(size, strides, dtype=dtype)] if is_like else []
        return target(*lead, *args[is_like:], **kwargs)  # type: ignore[operator]

    return draw


def _is_known(value: Any) -> bool:
    """Whether a value is a tensor whose extents and strides are numbers."""
    return isinstance(value, torch.Tensor) and all(
        type(size) is int for size in (*value.shape, *value.stride(), value.storage_offset())
    )
